"""A client for programs that wait for each answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import sleep
from typing import Any, Self, TypeVar

import httpx

from rarefind.desk.client._calls import (
    DECISION_URL,
    WEB_URL,
    Call,
    Calls,
    Retry,
    asked_wait,
    can_repeat,
    headers_of,
    is_later,
    read_response,
    unreachable,
)
from rarefind.desk.records import Answer, Problem

Returned = TypeVar("Returned")


class Client:
    """A desk that is running somewhere, from Python.

    A transaction that is sent again has the same identifier, and a desk answers the same to it:
    what is lost on the way costs time, never a payment counted twice.

    Parameters
    ----------
    url : str, default="http://127.0.0.1:8321"
        Where transactions are sent to.
    token : str, optional
        From ``rarefind desk token``; by default the environment's ``RAREFIND_TOKEN``.
    web : str, default="http://127.0.0.1:8322"
        Where the queue is.
    timeout : float, default=10
        Seconds to wait for an answer.
    retries : int, default=5
        How often a request is sent again when the desk is not reached, is starting, or asks for it;
        waits double, and are as long as its ``Retry-After`` at least.
    id_column : str, default="id"
        The column with a transaction's identifier. One without gets a random one.

    Examples
    --------
    >>> from rarefind.desk import Client
    >>> with Client(token="…") as desk:  # doctest: +SKIP
    ...     answer = desk.send({"id": "a1", "time": "2026-01-31T12:30:00Z", "amount": 12.5,
    ...                         "card": "c7", "terminal": "t3"})
    >>> answer.decision  # doctest: +SKIP
    'accept'
    """

    def __init__(
        self,
        url: str = DECISION_URL,
        token: str | None = None,
        *,
        web: str = WEB_URL,
        timeout: float = 10.0,
        retries: int = 5,
        id_column: str = "id",
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._calls = Calls(url, web, id_column)
        self._retry = Retry(retries)
        self._http = httpx.Client(timeout=timeout, headers=headers_of(token), transport=transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def send(self, transaction: Mapping[str, Any]) -> Answer:
        """Have a transaction decided; it is stored when this returns."""
        return self._run(self._calls.send(transaction))

    def send_many(self, transactions: Sequence[Mapping[str, Any]]) -> list[Answer | Problem]:
        """Have some transactions decided together, in their order.

        Those that cannot be stored, such as one that comes too late, have a
        :class:`~rarefind.desk.client.Problem` instead of an answer. If one of them cannot be read,
        all are refused.
        """
        return self._run(self._calls.send_many(transactions))

    def get(self, path: str) -> Any:
        """Read something of the web process, such as ``/queue``."""
        return self._run(self._calls.get(path))

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Do something in the web process, such as ``/cases/7/take``."""
        return self._run(self._calls.post(path, body or {}))

    def _run(self, call: Call[Returned]) -> Returned:
        waits = self._retry.waits()
        while True:
            wait = next(waits, None)
            try:
                response = self._http.request(call.method, call.url, content=call.content)
            except httpx.TransportError as error:
                if wait is None or not can_repeat(call, error):
                    raise unreachable(call, error) from error
            else:
                if wait is None or not is_later(response):
                    return read_response(call, response)
                wait = max(wait, asked_wait(response))
            sleep(wait)
