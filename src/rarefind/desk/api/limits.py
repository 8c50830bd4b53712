"""How much of a request is read, and how many requests of one sender are answered."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from time import monotonic

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rarefind.desk.api.problems import ProblemError, problem_response

#: So many seconds a sender may take to send a body, or to read an answer.
PATIENCE = 20.0
# Senders whose allowance is remembered; the longest silent one is forgotten first.
_SENDERS = 10_000


class RateLimit:
    """An allowance that fills up again: so many a second, with as many saved up at most.

    Parameters
    ----------
    rate : float
        Allowed a second for each sender; 0 for any number.
    now : callable
        Seconds of a clock that never goes back.
    """

    def __init__(self, rate: float, now: Callable[[], float] = monotonic) -> None:
        self.rate = rate
        self._now = now
        self._left: dict[str, tuple[float, float]] = {}

    def spend(self, sender: str, count: int = 1) -> None:
        """Use up a part of the allowance; a problem says when there is enough again.

        One request may ask for more than is ever saved up: it is answered when the allowance is
        full, and the next ones wait for it.
        """
        if not self.rate:
            return
        now = self._now()
        left, then = self._left.pop(sender, (self.rate, now))
        left = min(self.rate, left + (now - then) * self.rate)
        enough = min(count, self.rate)
        short = left < enough
        self._left[sender] = (left if short else left - count, now)
        if len(self._left) > _SENDERS:
            del self._left[next(iter(self._left))]
        if short:
            wait = max(1, math.ceil((enough - left) / self.rate))
            raise ProblemError(
                "too-many",
                f"This token may send {self.rate:g} a second. Try again in {wait} s, or have the "
                "limit raised in the settings of the desk.",
                retry_after=wait,
            )


def declared_length(scope: Scope) -> int | None:
    """What the request says its body's length is; None if it does not."""
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else None
    return None


def too_large(limit: int) -> ProblemError:
    """The problem of a body beyond the limit."""
    return ProblemError(
        "too-large",
        f"The body is larger than {limit:,} bytes. Send it in parts, or raise the limit in "
        "desk.toml.",
        "body",
    )


async def read_body(receive: Receive, limit: int) -> bytes:
    """Read a body, and no more of it than is allowed, for as long as there is patience."""
    parts, length = [], 0
    try:
        async with asyncio.timeout(PATIENCE):
            while length <= limit:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ConnectionResetError
                parts.append(message.get("body", b""))
                length += len(parts[-1])
                if length <= limit and not message.get("more_body"):
                    return b"".join(parts)
    except TimeoutError:
        raise ProblemError(
            "too-slow", f"The body did not arrive within {PATIENCE:g} s. Send it again.", "body"
        ) from None
    raise too_large(limit)


class BodyLimit:
    """Reads the body before an app sees the request, and refuses one that is too large or slow.

    Routes at the addresses ``but`` read it themselves, within limits of their own.
    """

    def __init__(self, app: ASGIApp, limit: int, but: frozenset[str] = frozenset()) -> None:
        self.app, self.limit, self.but = app, limit, but

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or scope["path"] in self.but:
            return await self.app(scope, receive, send)
        try:
            if (declared_length(scope) or 0) > self.limit:
                raise too_large(self.limit)
            body = await read_body(receive, self.limit)
        except ProblemError as error:
            return await problem_response(error)(scope, receive, send)
        except ConnectionResetError:
            return None
        given = False

        async def replay() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        return await self.app(scope, replay, send)
