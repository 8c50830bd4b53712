"""A client for programs that wait for each answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
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
from rarefind.desk.client._web_calls import (
    BlockStateName,
    CaseStateName,
    ClaimStateName,
    RoleOfRule,
    TokenRole,
    VerdictName,
    WebCalls,
)
from rarefind.desk.messages import (
    AuditPage,
    BlockSummary,
    CaseFile,
    CasePage,
    CaseSummary,
    ClaimPage,
    ClaimSummary,
    DecidedTransaction,
    EntityExport,
    ListSummary,
    MadeToken,
    MadeWebhook,
    ModelSummary,
    OrderSummary,
    QueueToday,
    RuleSummary,
    TokenSummary,
    TransactionPage,
    WebhookSummary,
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
        self._calls, self._web = Calls(url, id_column), WebCalls(web)
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
        return self._run(self._web.get(path))

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Do something in the web process, such as ``/cases/7/take``."""
        return self._run(self._web.post(path, body or {}))

    def queue(self) -> QueueToday:
        """Show what there is to check today, and what is expected of it."""
        return self._run(self._web.queue())

    def next_case(self) -> CaseSummary | None:
        """Take the case of the highest priority that nobody has; None where there is none."""
        return self._run(self._web.next_case())

    def cases(
        self, state: CaseStateName | None = None, *, before: int | None = None, limit: int = 100
    ) -> CasePage:
        """List cases, the newest first; ``next`` of a page is the ``before`` of the next one."""
        return self._run(self._web.cases(state, before, limit))

    def case(self, case: int) -> CaseFile:
        """Show a case with its alerts, what was found, and what its entity did last."""
        return self._run(self._web.case(case))

    def take(self, case: int) -> CaseSummary:
        """Take a case, so that nobody else works on it."""
        return self._run(self._web.take(case))

    def release(self, case: int) -> CaseSummary:
        """Give back a case that one has taken."""
        return self._run(self._web.release(case))

    def snooze(self, case: int, until: datetime) -> CaseSummary:
        """Put a case aside until a time, which has a zone; it comes back by itself."""
        return self._run(self._web.snooze(case, until))

    def verdict(self, case: int, verdict: VerdictName, note: str = "") -> CaseSummary:
        """Say what was found: the case is closed, and its transactions get the label."""
        return self._run(self._web.verdict(case, verdict, note))

    def claim(self, transaction: str, note: str = "") -> ClaimSummary:
        """Record that a customer denies a transaction."""
        return self._run(self._web.claim(transaction, note))

    def claim_many(self, transactions: Sequence[str]) -> list[ClaimSummary]:
        """Record that customers deny transactions, all or none."""
        return self._run(self._web.claim_many(transactions))

    def claims(
        self, state: ClaimStateName | None = None, *, after: int = 0, limit: int = 100
    ) -> ClaimPage:
        """List claims, the oldest first."""
        return self._run(self._web.claims(state, after, limit))

    def confirm_claim(self, claim: int) -> ClaimSummary:
        """Answer that a claim is right: its transaction is fraud."""
        return self._run(self._web.confirm_claim(claim))

    def reject_claim(self, claim: int) -> ClaimSummary:
        """Answer that a claim is not right."""
        return self._run(self._web.reject_claim(claim))

    def transaction(self, transaction: str) -> DecidedTransaction:
        """Show what was decided about a transaction, and why."""
        return self._run(self._web.transaction(transaction))

    def entity(
        self, entity: str, key: str, *, before: int | None = None, limit: int = 100
    ) -> TransactionPage:
        """List the last transactions of an entity, such as ``"card"`` and its number."""
        return self._run(self._web.entity(entity, key, before, limit))

    def export(
        self, entity: str, key: str, *, before: int | None = None, limit: int = 1_000
    ) -> EntityExport:
        """Give all that is kept of an entity; it is written down who has asked."""
        return self._run(self._web.export(entity, key, before, limit))

    def erase(self, entity: str, key: str) -> OrderSummary:
        """Ask to erase an entity from the ledger; the order says when it is done."""
        return self._run(self._web.erase(entity, key))

    def rules(self) -> list[RuleSummary]:
        """List the rules as they are now."""
        return self._run(self._web.rules())

    def rule(self, name: str) -> RuleSummary:
        """Show a rule as it is now."""
        return self._run(self._web.rule(name))

    def rule_history(self, name: str) -> list[RuleSummary]:
        """Show all versions of a rule, the first first."""
        return self._run(self._web.rule_history(name))

    def save_rule(
        self,
        name: str,
        text: str,
        *,
        role: RoleOfRule | None = None,
        weight: float | None = None,
        constants: Mapping[str, bool | float | str] | None = None,
        note: str = "",
        based_on: int | None = None,
    ) -> RuleSummary:
        """Save a rule, or another version of it; ``based_on`` is the version that was changed."""
        return self._run(self._web.save_rule(name, text, role, weight, constants, note, based_on))

    def set_role(self, name: str, role: RoleOfRule, note: str = "") -> RuleSummary:
        """Let a rule deny, raise alerts, be watched, or be off."""
        return self._run(self._web.set_role(name, role, note))

    def lists(self) -> list[str]:
        """List the names of all lists that rules ask."""
        return self._run(self._web.lists())

    def values_of_list(self, name: str) -> ListSummary:
        """Show a list with its values."""
        return self._run(self._web.values_of_list(name))

    def save_list(self, name: str, values: Sequence[str]) -> ListSummary:
        """Make a list, or give it other values."""
        return self._run(self._web.save_list(name, values))

    def add_to_list(self, name: str, values: Sequence[str]) -> ListSummary:
        """Add values to a list."""
        return self._run(self._web.add_to_list(name, values))

    def remove_from_list(self, name: str, values: Sequence[str]) -> ListSummary:
        """Take values off a list."""
        return self._run(self._web.remove_from_list(name, values))

    def delete_list(self, name: str) -> list[str]:
        """Delete a list that no rule asks; returns the names that are left."""
        return self._run(self._web.delete_list(name))

    def blocks(self, state: BlockStateName = "in force", *, limit: int = 100) -> list[BlockSummary]:
        """List blocks in a state, the newest first."""
        return self._run(self._web.blocks(state, limit))

    def block(self, key: str, note: str = "") -> BlockSummary:
        """Ask that a card, or whatever the desk checks, is blocked."""
        return self._run(self._web.block(key, note))

    def approve_block(self, block: int) -> BlockSummary:
        """Put a block in force that another person has asked for."""
        return self._run(self._web.approve_block(block))

    def reject_block(self, block: int) -> BlockSummary:
        """Answer that an entity is not to be blocked."""
        return self._run(self._web.reject_block(block))

    def lift_block(self, block: int, note: str = "") -> BlockSummary:
        """End a block."""
        return self._run(self._web.lift_block(block, note))

    def models(self) -> list[ModelSummary]:
        """List the models, the newest first."""
        return self._run(self._web.models())

    def add_model(self, path: Path, name: str | None = None) -> ModelSummary:
        """Bring a model file; it is checked, and a challenger then."""
        return self._run(self._web.add_model(path, name))

    def promote(self, digest: str, threshold: float | None = None) -> ModelSummary:
        """Let a model decide what is an alert; to roll back, promote the former one."""
        return self._run(self._web.promote(digest, threshold))

    def retire(self, digest: str) -> ModelSummary:
        """Let a model rest."""
        return self._run(self._web.retire(digest))

    def orders(self, limit: int = 100) -> list[OrderSummary]:
        """List orders to the decision process, the newest first."""
        return self._run(self._web.orders(limit))

    def order(self, order: int) -> OrderSummary:
        """Show an order, and what came of it."""
        return self._run(self._web.order(order))

    def approve_order(self, order: int) -> OrderSummary:
        """Let an order be carried out that another person has asked for."""
        return self._run(self._web.approve_order(order))

    def reject_order(self, order: int) -> OrderSummary:
        """Answer that an order is not to be carried out."""
        return self._run(self._web.reject_order(order))

    def audit(self, after: int = 0, limit: int = 100) -> AuditPage:
        """Read who did what and when, the oldest first."""
        return self._run(self._web.audit(after, limit))

    def tokens(self) -> list[TokenSummary]:
        """List all tokens by their names."""
        return self._run(self._web.tokens())

    def make_token(self, name: str, role: TokenRole) -> MadeToken:
        """Make a token, which is shown this once."""
        return self._run(self._web.make_token(name, role))

    def revoke_token(self, name: str) -> TokenSummary:
        """End a token."""
        return self._run(self._web.revoke_token(name))

    def webhooks(self) -> list[WebhookSummary]:
        """List the addresses that are told of alerts."""
        return self._run(self._web.webhooks())

    def make_webhook(self, url: str, events: Sequence[str]) -> MadeWebhook:
        """Tell an address of events; the secret that signs messages is shown this once."""
        return self._run(self._web.make_webhook(url, events))

    def remove_webhook(self, webhook: int) -> list[WebhookSummary]:
        """Send no more messages to an address."""
        return self._run(self._web.remove_webhook(webhook))

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
