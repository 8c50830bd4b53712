"""The short form of ``make fuzz``: mutants of the files of 0.1.0, which need no fits."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.honest import released_kinds
from fuzz.mutations import mutate
from fuzz.sealed import Parts

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a mutant is run in a fork")


def fuzz(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "fuzz", *arguments],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_mutated_files_are_refused_or_score():
    kinds = ("MetaAPForestClassifier-1", "GammaKNNClassifier-1", "SGBAPClassifier-1", "ONLB", "ME2")
    asked = [word for kind in kinds for word in ("--kind", kind)]
    found = fuzz("--released", "--count", "60", *asked)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "| all | 60 |" in found.stdout


def test_a_mutant_is_the_same_when_it_is_made_again(tmp_path):
    kind = next(kind for kind in released_kinds() if kind.group == "SGBAPClassifier")
    made = []
    for copy in ("a", "b"):
        for number in range(20):
            parts = Parts.read(kind.path)
            what = mutate(parts, kind.name, 7, number)
            parts.write(tmp_path / copy)
            made.append((what, (tmp_path / copy).read_bytes()))
    assert made[:20] == made[20:]
    assert len({what for what, _ in made}) > 15
