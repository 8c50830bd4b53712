"""A moment at which fits give up: each step of a fit that reports its progress looks at it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["OutOfTimeError", "deadline", "making_do", "refuse_after", "soft_deadline", "until"]

_END: ContextVar[float] = ContextVar("rarefind_deadline", default=math.inf)
_SHARE: ContextVar[float] = ContextVar("rarefind_share_to_try", default=math.inf)


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


@contextmanager
def making_do(share: float) -> Iterator[None]:
    """Let boosters inside stop to try rounds after this share of their time, not give up."""
    token = _SHARE.set(share)
    try:
        yield
    finally:
        _SHARE.reset(token)


def soft_deadline() -> float:
    """Until when a fit that begins here may try rounds."""
    end, share, now = _END.get(), _SHARE.get(), time.monotonic()
    return now + share * (end - now) if end < math.inf and share < 1 else math.inf


def refuse_after(moment: float) -> None:
    """Give up if the moment is over."""
    if time.monotonic() > moment:
        raise OutOfTimeError
