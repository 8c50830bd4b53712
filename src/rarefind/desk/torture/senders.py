"""Senders that do not give up: what is not answered is sent again, with the same identifier."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Self

import msgspec

from rarefind.desk.torture.connection import Connection, Received
from rarefind.desk.torture.served import ServedDesk

#: Seconds until something that was not answered is sent again.
_PAUSE = 0.02


class Senders:
    """Some threads that send transactions one after another, until each is answered.

    Parameters
    ----------
    desk : ServedDesk
        It may be killed and started again meanwhile.
    token : str
    bodies : iterator of bytes
        What is sent; it must not end.
    count : int
        How many threads send.

    Attributes
    ----------
    answers : dict of str to bytes
        What was told about each transaction, by its identifier.
    unanswered : int
        How often one was sent and not answered: nobody knew then whether it was stored.
    refused : list of bytes
        What was answered by anything but a decision or a 503, which should not happen.
    """

    def __init__(
        self, desk: ServedDesk, token: str, bodies: Iterator[bytes], count: int = 8
    ) -> None:
        self._desk, self._token, self._bodies = desk, token, bodies
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(count)]
        self.answers: dict[str, bytes] = {}
        self.unanswered = 0
        self.refused: list[bytes] = []

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        for thread in self._threads:
            thread.join(30)

    def some(self, draw: Random, count: int) -> list[str]:
        """Identifiers of some transactions that were answered."""
        with self._lock:
            known = list(self.answers)
        return draw.sample(known, min(count, len(known)))

    def wait(self, patience: float = 120.0) -> None:
        """Wait until a transaction is answered from now on; a desk may compile kernels first."""
        before, end = len(self.answers), time.monotonic() + patience
        while len(self.answers) == before and time.monotonic() < end:
            time.sleep(_PAUSE)

    def _run(self) -> None:
        connection: Connection | None = None
        while not self._ending.is_set():
            with self._lock:
                body = next(self._bodies)
            answered = False
            while not answered and not self._ending.is_set():
                connection, received = self._try(connection, body)
                answered = received is not None and self._take(received)
                if not answered:
                    self._ending.wait(_PAUSE)
        if connection is not None:
            connection.close()

    def _try(
        self, connection: Connection | None, body: bytes
    ) -> tuple[Connection | None, Received | None]:
        """Send a transaction, if there is a desk, and wait for its answer."""
        address = self._desk.address
        if connection is None and address is not None:
            with suppress(OSError):
                connection = Connection(address, self._token, patience=10.0)
        if connection is None:
            return None, None
        try:
            return connection, connection.ask(body)
        except OSError:
            connection.close()
            with self._lock:
                self.unanswered += 1
            return None, None

    def _take(self, received: Received) -> bool:
        """Keep an answer; False if the same is to be sent again."""
        if received.status == 503:
            return False
        with self._lock:
            if received.status == 200:
                self.answers[msgspec.json.decode(received.content)["id"]] = received.content
            else:
                self.refused.append(received.content)
        return True


def steady_times(ahead: float = 0.0) -> Iterator[int]:
    """This machine's clock, asked when a transaction is made, so many seconds ahead of it."""
    while True:
        yield time.time_ns() + int(ahead * 1e9)
