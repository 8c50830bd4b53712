"""A sender that stops reading its answer is let go: it keeps no memory, and holds up no stop."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from rarefind.desk.api.limits import PATIENCE

__all__ = ["PatientProtocol"]


class PatientProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """HTTP as uvicorn speaks it, to senders that read what they are answered."""

    patience = PATIENCE
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
