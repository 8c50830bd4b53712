"""A moment at which fits give up: each step of a fit that reports its progress looks at it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["OutOfTimeError", "deadline", "refuse_after", "until"]

_END: ContextVar[float] = ContextVar("rarefind_deadline", default=math.inf)


class OutOfTimeError(Exception):
    """A fit was given up because its time was over."""


@contextmanager
def until(moment: float) -> Iterator[None]:
    """Let fits inside give up at a moment of ``time.monotonic``; an earlier one around it holds."""
    token = _END.set(min(moment, _END.get()))
    try:
        yield
    finally:
        _END.reset(token)


def deadline() -> float:
    """The moment that holds here. Threads do not know it: ask before they start."""
    return _END.get()


def refuse_after(moment: float) -> None:
    """Give up if the moment is over."""
    if time.monotonic() > moment:
        raise OutOfTimeError
