"""What the documents say is there, and runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import rarefind.auto
import rarefind.base
import rarefind.boosting
import rarefind.conditions
import rarefind.data
import rarefind.distances
import rarefind.metrics
import rarefind.neighbors
import rarefind.plots
import rarefind.rules
import rarefind.search
import rarefind.selection
import rarefind.trees

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_lines_of_the_readme_work_when_pasted():
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len([line for line in code.splitlines() if line]) == 5
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.count("because") == 3


def test_pictures_and_pages_named_in_the_readme_are_there():
    named = re.findall(r"\]\(([^)]+)\)", README)
    assert named
    for path in named:
        assert (ROOT / path).exists(), path


# Types and lists of names that pages speak of in passing, and need no entry of their own.
_IN_PASSING = {"COUNT_METRIC_NAMES", "REGISTERED_SCORERS", "CountMetric", "DISTANCES"}


@pytest.mark.parametrize(
    "package",
    [
        rarefind.auto,
        rarefind.base,
        rarefind.boosting,
        rarefind.conditions,
        rarefind.data,
        rarefind.distances,
        rarefind.metrics,
        rarefind.neighbors,
        rarefind.plots,
        rarefind.rules,
        rarefind.search,
        rarefind.selection,
        rarefind.trees,
    ],
    ids=lambda package: package.__name__,
)
def test_everything_public_is_in_the_reference_and_documented(package):
    reference = (ROOT / "docs" / "api.rst").read_text(encoding="utf-8")
    short = package.__name__.removeprefix("rarefind.")
    for name in set(package.__all__) - _IN_PASSING:
        assert re.search(rf"^   {short}\.{name}$", reference, re.MULTILINE), f"{short}.{name}"
        assert getattr(package, name).__doc__
