"""The one door to Numba: how the library compiles its kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from numba import njit

__all__ = ["awaits_compiling", "kernel", "reordering_kernel"]

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
