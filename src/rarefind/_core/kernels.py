"""The one door to Numba: how the library compiles its kernels."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numba import njit
from numba.core import event

from rarefind._core.progress import Compiled, tell_compiled
from rarefind._core.types import Array

__all__ = ["awaits_compiling", "compiled_so_far", "kernel", "read_only", "reordering_kernel"]

P = ParamSpec("P")
R = TypeVar("R")
_KERNELS: list[Any] = []


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function of plain arrays, free of the GIL, and keep the machine code on disk.

    Where neither the package's folder nor the user's is writable, Numba refuses to cache; there
    the function is compiled anew in every process.

    What is the default is said all the same: a kernel that is first compiled for another one would
    take on its options, and its last digits would depend on which was asked for first.
    """
    return _compile(function, fastmath=False, error_model="python", inline="never")


def reordering_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile as :func:`kernel` does, and let sums be taken in any order, several at once.

    Their last digits then depend on the machine and on the code around them: what must be equal to
    the last bit comes from one and the same kernel. So one that is called by another becomes part
    of it: as a function of its own it would be compiled twice, by itself and beside its caller, and
    the process that compiles them runs the one, later processes the other. A division by 0 is as in
    NumPy: to ask about each would keep divisions from being made several at once.
    """
    reordered = {"reassoc", "contract", "nsz"}
    return _compile(function, fastmath=reordered, error_model="numpy", inline="always")


def _compile(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    compiled: Callable[P, R]
    try:
        compiled = njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:
        compiled = njit(nogil=True, **options)(function)
    _KERNELS.append(compiled)
    return compiled


def awaits_compiling(package: str) -> bool:
    """Whether a package has kernels, of which none was ever compiled: neither here nor on disk."""
    own = [k for k in _KERNELS if f"{k.__module__}.".startswith(f"{package}.")]
    return bool(own) and not any(k.signatures or _is_on_disk(k) for k in own)


def _is_on_disk(kernel: Any) -> bool:
    folder = kernel.stats.cache_path
    name = f"{kernel.__module__.rpartition('.')[2]}.{kernel.__qualname__}-"
    return folder is not None and any(
        path.name.startswith(name) for path in Path(folder).glob("*.nbi")
    )


def read_only(array: Array) -> Array:
    """An array as kernels read it: in one piece, row by row, and read-only.

    A kernel is compiled again for each layout, and for arrays that cannot be written to, such as
    those of pandas. What only reads an argument is given it in this form, from which nothing is
    copied that is in one piece already.
    """
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


class _Watch(event.Listener):
    """Counts what Numba compiles; what it finds on disk it does not compile."""

    def __init__(self) -> None:
        self.functions, self.seconds = 0, 0.0
        self._depth, self._start = 0, 0.0

    def on_start(self, event: Any) -> None:
        """Begin with a function, maybe inside another one."""
        if not self._depth:
            self._start = time.monotonic()
        self._depth += 1
        tell_compiled(self.so_far())

    def on_end(self, event: Any) -> None:
        """End with a function."""
        self._depth -= 1
        self.functions += 1
        if not self._depth:
            self.seconds += time.monotonic() - self._start
        tell_compiled(self.so_far())

    def so_far(self) -> Compiled:
        """What was compiled, and the time for it."""
        under_way = time.monotonic() - self._start if self._depth else 0.0
        return Compiled(self.functions, self.seconds + under_way)


# Numba compiles under one lock, so that its events never overlap.
_WATCH = _Watch()
event.register("numba:compile", _WATCH)  # type: ignore[no-untyped-call]


def compiled_so_far() -> Compiled:
    """What this process has compiled so far."""
    return _WATCH.so_far()
