"""``rarefind compile``: the first fit need not wait."""

import json
import os
import subprocess
import sys

import pytest

from rarefind.auto._compile import CompiledEstimator


@pytest.fixture(scope="module")
def run_in(tmp_path_factory):
    """Python in an installation of its own, where nothing was ever compiled."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}

    def run(*arguments):
        return subprocess.run(
            [sys.executable, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )

    return run


@pytest.fixture(scope="module")
def compiled(run_in):
    """What a first call says that compiles two models."""
    done = run_in("-m", "rarefind", "compile", "gamma-knn", "sgbap", "--json")
    return json.loads(done.stdout)["compiled"]


def test_functions_are_compiled_for_each_model(compiled):
    assert [each["name"] for each in compiled] == ["gamma-knn", "sgbap"]
    assert all(each["functions"] > 0 for each in compiled)


@pytest.mark.usefixtures("compiled")
def test_a_fit_of_a_table_then_compiles_nothing(run_in):
    script = (
        "import numpy as np, pandas as pd\n"
        "from rarefind import TableModel\n"
        "from rarefind._core.kernels import compiled_so_far\n"
        "from rarefind.auto import compile_estimators, find_estimator\n"
        "rng = np.random.default_rng(0); x = rng.normal(size=200)\n"
        "table = pd.DataFrame({'x': x, 'kind': rng.choice(['a', 'b', None], 200), 'y': x > 1.2})\n"
        "table.loc[::9, 'x'] = np.nan\n"
        "names = ('sgbap', 'gamma-knn')\n"
        "for name in names:\n"
        "    model = TableModel(find_estimator(name).make(10, n_jobs=1), 'y', True)\n"
        "    model.fit(table).rank(table, 5)\n"
        "again = [each.functions for each in compile_estimators(names)]\n"
        "print(compiled_so_far().functions, again)"
    )
    assert run_in("-c", script).stdout == "0 [0, 0]\n"


@pytest.mark.parametrize(
    ("functions", "sentence"),
    [((0, 0), "Everything was compiled before.\n"), ((3, 4), "Compiled 7 functions in 5 s.\n")],
)
def test_what_was_done_is_said_in_a_line(monkeypatch, capsys, functions, sentence):
    from rarefind import auto
    from rarefind.cli._compile import compile_kernels

    def made_up(names):
        for name, count in zip(names, functions, strict=True):
            yield CompiledEstimator(name, count, 2.5)

    monkeypatch.setattr(auto, "compile_estimators", made_up, raising=False)
    compile_kernels(["sgbap", "gamma-knn"])
    said = capsys.readouterr()
    assert (said.out, said.err) == (sentence, "")


def test_its_steps_are_shown(rarefind):
    shown = rarefind("compile", "gamma-knn", "mlfp", "-v")
    assert "Compiling gamma-knn (1 of 2)" in shown.stderr
    assert "Compiling mlfp (2 of 2)" in shown.stderr
    assert shown.stdout.startswith(("Compiled ", "Everything was compiled"))


def test_an_unknown_model_is_refused(rarefind):
    result = rarefind("compile", "sgbab")
    assert result.returncode == 2
    assert "There is no model 'sgbab': did you mean sgbap?" in result.stderr
