"""Candidates of different families: boosters, trees and neighbours err on different rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

# No more than so many of one family, while there are others.
_MOST_OF_A_FAMILY = 2


class _Candidate(Protocol):
    estimator: Any


C = TypeVar("C", bound=_Candidate)


def family(candidate: _Candidate) -> str:
    """The family of an estimator: the package of rarefind that it, or a base of it, comes from."""
    modules = (each.__module__.split(".") for each in type(candidate.estimator).__mro__)
    return next(module[1] for module in modules if module[0] == "rarefind")


def of_different_families(candidates: Iterable[C], fill: int = 0) -> list[C]:
    """The first two of each family, in their order; then others until there are ``fill``."""
    count: Counter[str] = Counter()
    chosen: list[C] = []
    others: list[C] = []
    for candidate in candidates:
        own = family(candidate)
        count[own] += 1
        (chosen if count[own] <= _MOST_OF_A_FAMILY else others).append(candidate)
    return chosen + others[: max(0, fill - len(chosen))]
