"""What is to happen when: done in the order of time."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count

__all__ = ["Agenda", "AgendaItem"]


@dataclass(frozen=True)
class AgendaItem:
    """Something to do at a time, in nanoseconds since 1970."""

    at: int
    do: Callable[[], object]


@dataclass
class Agenda:
    """Things to do, to which more may be added.

    Examples
    --------
    >>> agenda = Agenda([AgendaItem(20, lambda: "later"), AgendaItem(10, lambda: "first")])
    >>> agenda.add(15, lambda: "then")
    >>> [each.do() for each in agenda.until(15)]
    ['first', 'then']
    """

    first: Iterable[AgendaItem] = ()
    _waiting: list[tuple[int, int, AgendaItem]] = field(default_factory=list, init=False)
    _numbers: count[int] = field(default_factory=count, init=False)

    def __post_init__(self) -> None:
        for each in self.first:
            self.add(each.at, each.do)

    def add(self, at: int, do: Callable[[], object]) -> None:
        """Put something on it."""
        heapq.heappush(self._waiting, (at, next(self._numbers), AgendaItem(at, do)))

    def until(self, time: int) -> list[AgendaItem]:
        """Take out what is due by a time, the first first."""
        due = []
        while self._waiting and self._waiting[0][0] <= time:
            due.append(heapq.heappop(self._waiting)[2])
        return due
