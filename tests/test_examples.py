"""Every example runs, draws, and computes nothing that is no number."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rarefind

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
# The rarefind under test, however it was found: a relative path says nothing in another folder.
_SOURCES = str(Path(rarefind.__file__).resolve().parents[1])

# A process of its own for each: an example leaves no figure, warning filter or file behind.
# What it draws is rendered too, as the gallery does; layouts and legends fail no earlier.
_RUN = """
import runpy, sys
runpy.run_path(sys.argv[1], run_name="__main__")
import matplotlib.pyplot as plt
figures = [plt.figure(number) for number in plt.get_fignums()]
for figure in figures:
    figure.canvas.draw()
print("figures drawn:", sum(bool(figure.axes) for figure in figures))
"""


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs_and_draws(path, tmp_path):
    result = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", _RUN, str(path)],
        cwd=tmp_path,
        env={
            **os.environ,
            "MPLBACKEND": "Agg",
            "PYTHONIOENCODING": "utf-8",
            "PYTHONPATH": os.pathsep.join([_SOURCES, os.environ.get("PYTHONPATH", "")]),
        },
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert result.returncode == 0, result.stderr
    *_, last = result.stdout.splitlines()
    assert int(last.removeprefix("figures drawn: ")) >= 1
    assert "RuntimeWarning" not in result.stderr
    assert not list(tmp_path.iterdir()), "an example leaves no file behind"
