"""A client for programs that wait for each answer."""

from __future__ import annotations

from collections.abc import Callable
from time import sleep
from typing import Concatenate, ParamSpec, Self, TypeVar

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
) -> Callable[Concatenate[Client, Given], Returned]:
    """The method that sends a call: what it takes, returns and says is said of the call."""

    def send(client: Client, /, *given: Given.args, **named: Given.kwargs) -> Returned:
        return client._run(make(client._calls, *given, **named))

    return call_method(send, make)


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
        self._calls = DeskCalls(url, web, id_column)
        self._retry = Retry(retries)
        self._http = httpx.Client(timeout=timeout, headers=headers_of(token), transport=transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

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

    def _run(self, call: Call[Returned]) -> Returned:
        waits = self._retry.waits()
        while True:
            wait = next(waits, None)
            try:
                response = self._http.request(
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
            sleep(wait)
