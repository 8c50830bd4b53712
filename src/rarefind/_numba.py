"""The one door to Numba: how the library compiles its kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from numba import njit

__all__ = ["kernel"]

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function of plain arrays, free of the GIL, and keep the machine code on disk.

    Where neither the package's folder nor the user's is writable, Numba refuses to cache; there
    the function is compiled anew in every process.
    """
    compiled: Callable[P, R]
    try:
        compiled = njit(cache=True, nogil=True)(function)
    except RuntimeError:
        compiled = njit(nogil=True)(function)
    return compiled
