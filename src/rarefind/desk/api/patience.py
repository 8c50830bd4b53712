"""A sender that stops reading its answer is let go: it keeps no memory, and holds up no stop.

Nor does one that sends requests without waiting for their answers: no more is read of it than fits
into one read, until these are answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.http.flow_control import FlowControl

from rarefind.desk.api.limits import PATIENCE

__all__ = ["KEPT", "PatientProtocol"]

#: Seconds for which a connection that is not used is kept. Clients and proxies close theirs sooner
#: (httpx after 5, nginx after 60): who sends while the desk closes would never be answered.
KEPT = 75.0


class _InTurn(FlowControl):
    """Reads on when no request waits for the answer to one before it.

    uvicorn itself would read on after each answer, and a sender that is faster than the desk
    would fill its memory.
    """

    def __init__(self, transport: asyncio.Transport, waiting: Collection[Any]) -> None:
        super().__init__(transport)
        self._waiting = waiting

    def resume_reading(self) -> None:
        if not self._waiting:
            super().resume_reading()


class PatientProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """HTTP as uvicorn speaks it, to senders that read what they are answered."""

    patience, kept = PATIENCE, KEPT
    _leaving: asyncio.TimerHandle | None = None
    _newest: Any = None
    #: Requests that were not answered when the next one came.
    _unanswered: tuple[Any, ...] = ()

    @property
    def cycle(self) -> Any:
        """The newest request of the connection."""
        return self._newest

    @cycle.setter
    def cycle(self, cycle: Any) -> None:
        if self._newest is not None and not self._newest.response_complete:
            left = (each for each in self._unanswered if not each.response_complete)
            self._unanswered = (*left, self._newest)
        self._newest = cycle

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Somebody has come."""
        super().connection_made(transport)
        self.timeout_keep_alive = self.kept
        self.flow = _InTurn(transport, getattr(self, "pipeline", ()))

    def pause_writing(self) -> None:
        """The sender does not read: wait for it, but not for ever."""
        super().pause_writing()
        self._leaving = asyncio.get_running_loop().call_later(self.patience, self._leave)

    def resume_writing(self) -> None:
        """The sender reads again."""
        self._stay()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """The sender is gone."""
        self._stay()
        super().connection_lost(exc)

    def _leave(self) -> None:
        # Nothing more is written to it.
        for each in (*self._unanswered, self._newest):
            if each is not None:
                each.disconnected = True
        # A plain close would wait for what the sender does not read.
        self.transport.abort()

    def _stay(self) -> None:
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None
