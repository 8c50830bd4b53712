"""A client for programs that do other things while they wait."""

from __future__ import annotations

from asyncio import sleep
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import httpx

from rarefind.desk.client._calls import (
    DECISION_URL,
    WEB_URL,
    Call,
    Retry,
    asked_wait,
    call_method,
    can_repeat,
    headers_of,
    is_later,
    read_response,
    unreachable,
)
from rarefind.desk.client._web_calls import DeskCalls

Returned = TypeVar("Returned")
Given = ParamSpec("Given")


def _sent(
    make: Callable[Concatenate[DeskCalls, Given], Call[Returned]],
) -> Callable[Concatenate[AsyncClient, Given], Coroutine[Any, Any, Returned]]:
    """The method that sends a call: what it takes, returns and says is said of the call."""

    async def send(client: AsyncClient, /, *given: Given.args, **named: Given.kwargs) -> Returned:
        return await client._run(make(client._calls, *given, **named))

    return call_method(send, make)


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
        self._calls = DeskCalls(url, web, id_column)
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

    send = _sent(DeskCalls.send)
    send_many = _sent(DeskCalls.send_many)
    get = _sent(DeskCalls.get)
    post = _sent(DeskCalls.post)
    queue = _sent(DeskCalls.queue)
    next_case = _sent(DeskCalls.next_case)
    cases = _sent(DeskCalls.cases)
    case = _sent(DeskCalls.case)
    take = _sent(DeskCalls.take)
    release = _sent(DeskCalls.release)
    snooze = _sent(DeskCalls.snooze)
    verdict = _sent(DeskCalls.verdict)
    verdicts = _sent(DeskCalls.verdicts)
    claim = _sent(DeskCalls.claim)
    claim_many = _sent(DeskCalls.claim_many)
    claims = _sent(DeskCalls.claims)
    confirm_claim = _sent(DeskCalls.confirm_claim)
    reject_claim = _sent(DeskCalls.reject_claim)
    transaction = _sent(DeskCalls.transaction)
    entity = _sent(DeskCalls.entity)
    export = _sent(DeskCalls.export)
    erase = _sent(DeskCalls.erase)
    rules = _sent(DeskCalls.rules)
    rule = _sent(DeskCalls.rule)
    rule_history = _sent(DeskCalls.rule_history)
    try_rule = _sent(DeskCalls.try_rule)
    save_rule = _sent(DeskCalls.save_rule)
    set_role = _sent(DeskCalls.set_role)
    lists = _sent(DeskCalls.lists)
    values_of_list = _sent(DeskCalls.values_of_list)
    save_list = _sent(DeskCalls.save_list)
    add_to_list = _sent(DeskCalls.add_to_list)
    remove_from_list = _sent(DeskCalls.remove_from_list)
    delete_list = _sent(DeskCalls.delete_list)
    blocks = _sent(DeskCalls.blocks)
    block = _sent(DeskCalls.block)
    approve_block = _sent(DeskCalls.approve_block)
    reject_block = _sent(DeskCalls.reject_block)
    lift_block = _sent(DeskCalls.lift_block)
    models = _sent(DeskCalls.models)
    add_model = _sent(DeskCalls.add_model)
    promote = _sent(DeskCalls.promote)
    retire = _sent(DeskCalls.retire)
    changes = _sent(DeskCalls.changes)
    approve_change = _sent(DeskCalls.approve_change)
    reject_change = _sent(DeskCalls.reject_change)
    settings = _sent(DeskCalls.settings)
    change_setting = _sent(DeskCalls.change_setting)
    reset_setting = _sent(DeskCalls.reset_setting)
    orders = _sent(DeskCalls.orders)
    order = _sent(DeskCalls.order)
    approve_order = _sent(DeskCalls.approve_order)
    reject_order = _sent(DeskCalls.reject_order)
    audit = _sent(DeskCalls.audit)
    tokens = _sent(DeskCalls.tokens)
    make_token = _sent(DeskCalls.make_token)
    revoke_token = _sent(DeskCalls.revoke_token)
    webhooks = _sent(DeskCalls.webhooks)
    make_webhook = _sent(DeskCalls.make_webhook)
    remove_webhook = _sent(DeskCalls.remove_webhook)

    async def _run(self, call: Call[Returned]) -> Returned:
        waits = self._retry.waits()
        while True:
            wait = next(waits, None)
            try:
                response = await self._http.request(
                    call.method,
                    call.url,
                    content=call.content,
                    headers={"content-type": call.kind},
                )
            except httpx.TransportError as error:
                if wait is None or not can_repeat(call, error):
                    raise unreachable(call, error) from error
            else:
                if wait is None or not is_later(call, response):
                    return read_response(call, response)
                wait = max(wait, asked_wait(response))
            await sleep(wait)
