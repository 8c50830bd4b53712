"""``rarefind compile``: the first fit need not wait."""

import json
import os
import subprocess
import sys

import pytest


@pytest.fixture
def compile_in(tmp_path):
    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "rarefind", "compile", *arguments],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_what_is_compiled_once_is_found_again(compile_in):
    first = json.loads(compile_in("gamma-knn", "sgbap", "--json").stdout)["compiled"]
    assert [each["name"] for each in first] == ["gamma-knn", "sgbap"]
    assert all(each["functions"] > 0 for each in first)
    again = compile_in("sgbap", "gamma-knn")
    assert again.stdout == "Everything was compiled before.\n"
    assert again.stderr == ""


def test_its_steps_are_shown(compile_in):
    shown = compile_in("gamma-knn", "mlfp", "-v")
    assert "Compiling gamma-knn (1 of 2)" in shown.stderr
    assert "Compiling mlfp (2 of 2)" in shown.stderr
    assert shown.stdout.startswith("Compiled ")


def test_an_unknown_model_is_refused(compile_in):
    result = compile_in("sgbab")
    assert result.returncode == 2
    assert "There is no model 'sgbab': did you mean sgbap?" in result.stderr
