"""Candidates of different kinds: boosters, trees and neighbours err on different rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

# No more than so many of one kind, while there are others.
_MOST_OF_A_KIND = 2


class _Candidate(Protocol):
    estimator: Any


C = TypeVar("C", bound=_Candidate)


def kind(candidate: _Candidate) -> str:
    """The family of the estimator: the package of rarefind that it comes from, or is made of."""
    modules = (each.__module__.split(".") for each in type(candidate.estimator).__mro__)
    return next(module[1] for module in modules if module[0] == "rarefind")


def of_different_kinds(candidates: Iterable[C], fill: int = 0) -> list[C]:
    """The first two of each kind, in their order; others at the end, until there are so many."""
    count: Counter[str] = Counter()
    chosen: list[C] = []
    others: list[C] = []
    for candidate in candidates:
        own = kind(candidate)
        count[own] += 1
        (chosen if count[own] <= _MOST_OF_A_KIND else others).append(candidate)
    return chosen + others[: max(0, fill - len(chosen))]
