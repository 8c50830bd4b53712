"""Work in threads, and how many of them matrix products and scikit-learn's loops take."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

__all__ = ["in_parts", "limit_threads"]

# Fewer rows are done before threads have started.
_WORTH_THREADS = 200_000


def limit_threads(threads: int, kind: str | None = None) -> AbstractContextManager[Any]:
    """Use no more threads while a block runs: of all kinds, or of ``"blas"`` only."""
    found: AbstractContextManager[Any] = _libraries().limit(limits=threads, user_api=kind)
    return found


@cache
def _libraries() -> ThreadpoolController:
    # Finding them takes milliseconds, which is longer than many a fit.
    return ThreadpoolController()


def in_parts(n: int, n_jobs: int, work: Callable[[slice], Any]) -> list[Any]:
    """What ``work`` makes of parts of the rows, one a thread where there are many."""
    if n_jobs == 1 or n < _WORTH_THREADS:
        return [work(slice(0, n))]
    ends = np.linspace(0, n, n_jobs + 1).astype(int)
    with ThreadPoolExecutor(n_jobs) as pool:
        return list(pool.map(work, map(slice, ends[:-1], ends[1:])))
