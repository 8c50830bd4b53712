"""How kernels are compiled."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from numba import njit

from rarefind._core import progress
from rarefind._core.kernels import kernel, read_only, reordering_kernel
from rarefind.boosting import SGBAPClassifier


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


@pytest.fixture(scope="module")
def first_and_second(tmp_path_factory):
    """What a process tells of its compiling in a new installation, and then what another does."""
    script = (
        "import json, numpy as np\n"
        "from rarefind._core.kernels import awaits_compiling, compiled_so_far\n"
        "from rarefind._core.pairs import nearest_squared\n"
        "from rarefind.data import PositiveAwareBinner\n"
        "before = [awaits_compiling('rarefind.data'), awaits_compiling('rarefind.nothing')]\n"
        "x = np.arange(20.0)[:, None]\n"
        "PositiveAwareBinner().fit(x, x[:, 0] > 15).transform(x)\n"
        "waits = [*before, awaits_compiling('rarefind.data')]\n"
        "x = np.random.default_rng(0).random((9, 3))\n"
        "start = compiled_so_far().functions\n"
        "nearest_squared(x, x, 2)\n"
        "one = compiled_so_far().functions\n"
        "fixed = x.copy(); fixed.flags.writeable = False\n"
        "nearest_squared(fixed, np.asfortranarray(x), 2)\n"
        "two = compiled_so_far().functions\n"
        "print(json.dumps({'waits': waits, 'one': one - start, 'more': two - one}))"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}
    command = [sys.executable, "-c", script]
    return [
        json.loads(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
        for _ in range(2)
    ]


def test_what_was_never_compiled_is_known(first_and_second):
    """In a new installation nothing is; after a first call it is, also in another process."""
    first, second = first_and_second
    assert first["waits"] == [True, False, False]
    assert second["waits"] == [False, False, False]


def test_a_kernel_is_compiled_once_for_all_layouts(first_and_second):
    first, second = first_and_second
    assert first["one"] > 0
    assert second["one"] == 0, "found on disk"
    assert first["more"] == second["more"] == 0


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


def test_long_compiling_is_said_once_and_only_if_verbose(monkeypatch, capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_said", [])

    def said(verbose, compiles=True):
        """What a fit says that has something to compile in each of its rounds."""

        def listener(done, total):
            if compiles:
                njit(lambda x: x + 1)(1.0)

        with progress.listen_to_progress(listener):
            SGBAPClassifier(n_estimators=3, n_jobs=1, verbose=verbose).fit(X, X[:, 0] > 1)
        return capsys.readouterr()

    silent = said(verbose=0)
    assert silent.out == silent.err == ""
    assert said(verbose=1, compiles=False).err == "", "it was compiled before"
    assert said(verbose=1).err == "Compiling once for this machine …\n"
    assert said(verbose=1).err == ""
