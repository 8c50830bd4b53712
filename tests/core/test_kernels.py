"""How kernels are compiled."""

import os
import subprocess
import sys

import numpy as np

from rarefind._core.kernels import kernel, read_only, reordering_kernel


def test_a_kernel_does_not_take_on_the_options_of_its_caller():
    @kernel
    def inner(x):
        total = 0.0
        for value in x:
            total += value
        return total

    @reordering_kernel
    def outer(x):
        return inner(x)

    # Numba hands on what a kernel leaves open to those that it compiles for it.
    assert inner.targetoptions["fastmath"] is False
    assert inner.targetoptions["error_model"] == "python"
    assert outer.targetoptions["fastmath"] == {"reassoc", "contract", "nsz"}


def test_a_reordering_kernel_becomes_part_of_its_caller():
    @reordering_kernel
    def inner(x):
        total = 0.0
        for value in x:
            total += value
        return total

    @reordering_kernel
    def outer(x):
        return 2 * inner(x)

    assert outer(np.arange(4.0)) == 12.0
    # Two copies of it could differ in the last digits, by which of them a process runs.
    assert not inner.signatures


def test_what_was_never_compiled_is_known(tmp_path):
    """In a new installation nothing is; after a first call it is, also in another process."""
    script = (
        "import numpy as np\n"
        "from rarefind._core.kernels import awaits_compiling\n"
        "from rarefind.data import PositiveAwareBinner\n"
        "print(awaits_compiling('rarefind.data'), awaits_compiling('rarefind.nothing'))\n"
        "x = np.arange(20.0)[:, None]\n"
        "PositiveAwareBinner().fit(x, x[:, 0] > 15).transform(x)\n"
        "print(awaits_compiling('rarefind.data'))"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    shown = [
        subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, check=True
        ).stdout.split()
        for _ in range(2)
    ]
    assert shown == [[b"True", b"False", b"False"], [b"False", b"False", b"False"]]


def run_with_cache(script, folder):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )


def test_arrays_for_kernels_have_one_form():
    rows = np.arange(12.0).reshape(3, 4)
    fixed = rows.copy()
    fixed.flags.writeable = False
    for given in (rows, np.asfortranarray(rows), fixed, rows[:, ::-1][:, ::-1]):
        form = read_only(given)
        np.testing.assert_array_equal(form, rows)
        assert form.flags.c_contiguous
        assert not form.flags.writeable
    assert np.shares_memory(read_only(rows), rows), "nothing is copied without need"
    assert rows.flags.writeable, "the array itself stays as it is"
    assert read_only(rows[:, 1]).strides == (8,)


def test_a_kernel_is_compiled_once_for_all_layouts(tmp_path):
    script = (
        "import numpy as np\n"
        "from rarefind._core.kernels import compiled_so_far\n"
        "from rarefind._core.pairs import nearest_squared\n"
        "x = np.random.default_rng(0).random((9, 3))\n"
        "nearest_squared(x, x, 2)\n"
        "before = compiled_so_far().functions\n"
        "fixed = x.copy(); fixed.flags.writeable = False\n"
        "nearest_squared(fixed, np.asfortranarray(x), 2)\n"
        "print(before > 0, compiled_so_far().functions - before)"
    )
    assert run_with_cache(script, tmp_path).stdout == "True 0\n"
    assert run_with_cache(script, tmp_path).stdout == "False 0\n", "found on disk"


def test_long_compiling_is_said_once_and_only_if_verbose(tmp_path):
    script = (
        "import sys, numpy as np\n"
        "from rarefind._core import progress\n"
        "from rarefind.boosting import SGBAPClassifier\n"
        "progress._PATIENCE = 0.0\n"
        "X = np.random.default_rng(0).normal(size=(80, 2)); y = X[:, 0] > 1\n"
        "for verbose in map(int, sys.argv[1]):\n"
        "    SGBAPClassifier(n_estimators=3, n_jobs=1, verbose=verbose).fit(X, y)\n"
    ).replace("sys.argv[1]", "{!r}")
    silent = run_with_cache(script.replace("{!r}", "'0'"), tmp_path / "a")
    assert silent.stdout == silent.stderr == ""
    loud = run_with_cache(script.replace("{!r}", "'11'"), tmp_path / "b")
    assert loud.stderr == "Compiling once for this machine …\n"
    again = run_with_cache(script.replace("{!r}", "'1'"), tmp_path / "b")
    assert again.stderr == "", "it was compiled before"
