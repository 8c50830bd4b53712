"""How kernels are compiled."""

import os
import subprocess
import sys

import numpy as np

from rarefind._core.kernels import kernel, reordering_kernel


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
