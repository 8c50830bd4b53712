"""What is to happen when: done in the order of time."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count

__all__ = ["Plan", "Planned"]


@dataclass(frozen=True)
class Planned:
    """Something to do at a time, in nanoseconds since 1970."""

    at: int
    do: Callable[[], object]


@dataclass
class Plan:
    """Things to do, to which more may be added.

    Examples
    --------
    >>> plan = Plan([Planned(20, lambda: "later"), Planned(10, lambda: "first")])
    >>> plan.add(15, lambda: "then")
    >>> [each.do() for each in plan.until(15)]
    ['first', 'then']
    """

    first: Iterable[Planned] = ()
    _waiting: list[tuple[int, int, Planned]] = field(default_factory=list, init=False)
    _numbers: count[int] = field(default_factory=count, init=False)

    def __post_init__(self) -> None:
        for each in self.first:
            self.add(each.at, each.do)

    def add(self, at: int, do: Callable[[], object]) -> None:
        """Plan something."""
        heapq.heappush(self._waiting, (at, next(self._numbers), Planned(at, do)))

    def until(self, time: int) -> list[Planned]:
        """Take out what is due by a time, the first first."""
        due = []
        while self._waiting and self._waiting[0][0] <= time:
            due.append(heapq.heappop(self._waiting)[2])
        return due
