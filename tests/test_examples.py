"""Every example runs, draws, and computes nothing that is no number."""

import runpy
import warnings
from pathlib import Path

import matplotlib as mpl
import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def test_there_are_examples():
    assert EXAMPLES


@pytest.fixture
def pyplot():
    """Figures without a screen, none from before and none left behind."""
    before = mpl.get_backend()
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    with mpl.rc_context():
        yield plt
    plt.close("all")
    plt.switch_backend(before)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs_and_draws(path, tmp_path, monkeypatch, pyplot, capsys):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        # Where nothing can be shown, to show is to warn.
        warnings.filterwarnings("ignore", message=".*non-interactive.*")
        runpy.run_path(str(path), run_name="__main__")
        # What it draws is rendered too, as the gallery does; layouts and legends fail no earlier.
        figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
        for figure in figures:
            figure.canvas.draw()
    assert sum(bool(figure.axes) for figure in figures) >= 1
    assert "RuntimeWarning" not in capsys.readouterr().err
    assert not list(tmp_path.iterdir()), "an example leaves no file behind"
