"""A client for programs that do other things while they wait."""

from __future__ import annotations

from asyncio import sleep
from collections.abc import Mapping, Sequence
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


class AsyncClient:
    """A desk that is running somewhere, from Python with ``await``; see :class:`Client`.

    Examples
    --------
    >>> from rarefind.desk import AsyncClient
    >>> async def send(transactions):
    ...     async with AsyncClient(token="…") as desk:
    ...         return [await desk.send(each) for each in transactions]
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
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._calls = Calls(url, web, id_column)
        self._retry = Retry(retries)
        self._http = httpx.AsyncClient(
            timeout=timeout, headers=headers_of(token), transport=transport
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def send(self, transaction: Mapping[str, Any]) -> Answer:
        """Have a transaction decided; it is stored when this returns."""
        return await self._run(self._calls.send(transaction))

    async def send_many(self, transactions: Sequence[Mapping[str, Any]]) -> list[Answer | Problem]:
        """Have some transactions decided together, in their order.

        Those that cannot be stored, such as one that comes too late, have a
        :class:`~rarefind.desk.client.Problem` instead of an answer. If one of them cannot be read,
        all are refused.
        """
        return await self._run(self._calls.send_many(transactions))

    async def get(self, path: str) -> Any:
        """Read something of the web process, such as ``/queue``."""
        return await self._run(self._calls.get(path))

    async def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Do something in the web process, such as ``/cases/7/take``."""
        return await self._run(self._calls.post(path, body or {}))

    async def _run(self, call: Call[Returned]) -> Returned:
        waits = self._retry.waits()
        while True:
            wait = next(waits, None)
            try:
                response = await self._http.request(call.method, call.url, content=call.content)
            except httpx.TransportError as error:
                if wait is None or not can_repeat(call, error):
                    raise unreachable(call, error) from error
            else:
                if wait is None or not is_later(response):
                    return read_response(call, response)
                wait = max(wait, asked_wait(response))
            await sleep(wait)
