"""The time at which fits give up: each step of a fit that reports its progress checks it."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real
from typing import Any

__all__ = [
    "OutOfTimeError",
    "best_effort",
    "check_time_left",
    "deadline",
    "seconds_of",
    "soft_deadline",
    "until",
]

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_END: ContextVar[float] = ContextVar("rarefind_deadline", default=math.inf)
_SHARE: ContextVar[float] = ContextVar("rarefind_share_to_try", default=math.inf)


class OutOfTimeError(Exception):
    """A fit was given up because its time was over."""


def seconds_of(limit: Any) -> float:
    """A time limit as seconds: ``"90s"``, ``"5m"``, ``"1h"``, a number, or None for none."""
    if limit is None:
        return math.inf
    if isinstance(limit, str):
        found = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([smh]?)\s*", limit.lower())
        length = float(found[1]) * _UNITS[found[2] or "s"] if found else 0.0
    else:
        length = float(limit) if isinstance(limit, Real) else 0.0
    if not 0 < length < math.inf:
        raise ValueError(f"A time limit is a length such as '90s', '5m' or '1h', not {limit!r}.")
    return length


@contextmanager
def until(end: float) -> Iterator[None]:
    """Let fits inside give up at a time of ``time.monotonic``; an earlier one around it wins."""
    token = _END.set(min(end, _END.get()))
    try:
        yield
    finally:
        _END.reset(token)


def deadline() -> float:
    """The time at which fits here give up. Threads do not know it: ask before they start."""
    return _END.get()


@contextmanager
def best_effort(share: float) -> Iterator[None]:
    """Let boosters inside stop trying rounds after this share of their time, not give up."""
    token = _SHARE.set(share)
    try:
        yield
    finally:
        _SHARE.reset(token)


def soft_deadline() -> float:
    """Until when a fit that begins here may try rounds."""
    end, share, now = _END.get(), _SHARE.get(), time.monotonic()
    return now + share * (end - now) if end < math.inf and share < 1 else math.inf


def check_time_left(end: float) -> None:
    """Raise if the time is over."""
    if time.monotonic() > end:
        raise OutOfTimeError
