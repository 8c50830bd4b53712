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


def test_a_fit_of_a_table_then_compiles_nothing(compile_in, tmp_path):
    compile_in("sgbap", "gamma-knn", "-q")
    script = (
        "import numpy as np, pandas as pd\n"
        "from rarefind import TableModel\n"
        "from rarefind._core.kernels import compiled_so_far\n"
        "from rarefind.auto import find_estimator\n"
        "rng = np.random.default_rng(0); x = rng.normal(size=200)\n"
        "table = pd.DataFrame({'x': x, 'kind': rng.choice(['a', 'b', None], 200), 'y': x > 1.2})\n"
        "table.loc[::9, 'x'] = np.nan\n"
        "for name in ('sgbap', 'gamma-knn'):\n"
        "    model = TableModel(find_estimator(name).make(10, n_jobs=1), 'y', True)\n"
        "    model.fit(table).rank(table, 5)\n"
        "print(compiled_so_far().functions)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout == "0\n"
