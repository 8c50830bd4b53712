"""The decision process as the web process sees it: whether it decides, and what it says."""

from __future__ import annotations

from time import monotonic
from typing import Final

import httpx
import msgspec

#: For so many seconds an answer is not asked for again.
_FRESH: Final = 1.0
_PATIENCE: Final = 1.0


class DecisionState(msgspec.Struct, frozen=True):
    """What the decision process says of itself."""

    ready: bool = False
    notes: list[str] = []
    #: What an answer survives: ``process`` or ``disk``; empty where it is not known.
    durability: str = ""


class DecisionProbe:
    """Asks the process beside this one that decides transactions how it is.

    Parameters
    ----------
    url : str
        Its address, as people send transactions to it.
    transport : httpx.AsyncBaseTransport, optional
        For tests.
    """

    def __init__(self, url: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.url = url.rstrip("/")
        self._transport = transport
        self._known: tuple[float, DecisionState] | None = None

    async def state(self) -> DecisionState:
        """What it says now, or has said within the last second; not ready if nothing."""
        now = monotonic()
        if self._known is None or now - self._known[0] > _FRESH:
            self._known = (now, await self._ask())
        return self._known[1]

    async def _ask(self) -> DecisionState:
        try:
            # A proxy of the environment is for the world outside, not for a neighbour.
            async with httpx.AsyncClient(
                timeout=_PATIENCE, transport=self._transport, trust_env=False
            ) as client:
                answer = await client.get(f"{self.url}/readyz")
            if answer.status_code == 200:
                return msgspec.json.decode(answer.content, type=DecisionState)
        except (httpx.HTTPError, msgspec.DecodeError, UnicodeDecodeError):
            return DecisionState()
        return DecisionState()
