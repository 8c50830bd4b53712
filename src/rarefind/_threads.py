"""How many threads matrix products and scikit-learn's loops take."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["threads_limited"]


def threads_limited(threads: int, kind: str | None = None) -> AbstractContextManager[Any]:
    """Have no more threads while a block runs: of all kinds, or of ``"blas"`` only."""
    found: AbstractContextManager[Any] = _libraries().limit(limits=threads, user_api=kind)
    return found


@cache
def _libraries() -> ThreadpoolController:
    # To look for them takes milliseconds, which is longer than many a fit.
    return ThreadpoolController()
