"""A client for programs that do other things while they wait."""

from __future__ import annotations

from asyncio import sleep
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
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
        self._calls, self._web = Calls(url, id_column), WebCalls(web)
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
        return await self._run(self._web.get(path))

    async def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Do something in the web process, such as ``/cases/7/take``."""
        return await self._run(self._web.post(path, body or {}))

    async def queue(self) -> QueueToday:
        """Show what there is to check today, and what is expected of it."""
        return await self._run(self._web.queue())

    async def next_case(self) -> CaseSummary | None:
        """Take the case of the highest priority that nobody has; None where there is none."""
        return await self._run(self._web.next_case())

    async def cases(
        self, state: CaseStateName | None = None, *, before: int | None = None, limit: int = 100
    ) -> CasePage:
        """List cases, the newest first; ``next`` of a page is the ``before`` of the next one."""
        return await self._run(self._web.cases(state, before, limit))

    async def case(self, case: int) -> CaseFile:
        """Show a case with its alerts, what was found, and what its entity did last."""
        return await self._run(self._web.case(case))

    async def take(self, case: int) -> CaseSummary:
        """Take a case, so that nobody else works on it."""
        return await self._run(self._web.take(case))

    async def release(self, case: int) -> CaseSummary:
        """Give back a case that one has taken."""
        return await self._run(self._web.release(case))

    async def snooze(self, case: int, until: datetime) -> CaseSummary:
        """Put a case aside until a time, which has a zone; it comes back by itself."""
        return await self._run(self._web.snooze(case, until))

    async def verdict(self, case: int, verdict: VerdictName, note: str = "") -> CaseSummary:
        """Say what was found: the case is closed, and its transactions get the label."""
        return await self._run(self._web.verdict(case, verdict, note))

    async def claim(self, transaction: str, note: str = "") -> ClaimSummary:
        """Record that a customer denies a transaction."""
        return await self._run(self._web.claim(transaction, note))

    async def claim_many(self, transactions: Sequence[str]) -> list[ClaimSummary]:
        """Record that customers deny transactions, all or none."""
        return await self._run(self._web.claim_many(transactions))

    async def claims(
        self, state: ClaimStateName | None = None, *, after: int = 0, limit: int = 100
    ) -> ClaimPage:
        """List claims, the oldest first."""
        return await self._run(self._web.claims(state, after, limit))

    async def confirm_claim(self, claim: int) -> ClaimSummary:
        """Answer that a claim is right: its transaction is fraud."""
        return await self._run(self._web.confirm_claim(claim))

    async def reject_claim(self, claim: int) -> ClaimSummary:
        """Answer that a claim is not right."""
        return await self._run(self._web.reject_claim(claim))

    async def transaction(self, transaction: str) -> DecidedTransaction:
        """Show what was decided about a transaction, and why."""
        return await self._run(self._web.transaction(transaction))

    async def entity(
        self, entity: str, key: str, *, before: int | None = None, limit: int = 100
    ) -> TransactionPage:
        """List the last transactions of an entity, such as ``"card"`` and its number."""
        return await self._run(self._web.entity(entity, key, before, limit))

    async def export(
        self, entity: str, key: str, *, before: int | None = None, limit: int = 1_000
    ) -> EntityExport:
        """Give all that is kept of an entity; it is written down who has asked."""
        return await self._run(self._web.export(entity, key, before, limit))

    async def erase(self, entity: str, key: str) -> OrderSummary:
        """Ask to erase an entity from the ledger; the order says when it is done."""
        return await self._run(self._web.erase(entity, key))

    async def rules(self) -> list[RuleSummary]:
        """List the rules as they are now."""
        return await self._run(self._web.rules())

    async def rule(self, name: str) -> RuleSummary:
        """Show a rule as it is now."""
        return await self._run(self._web.rule(name))

    async def rule_history(self, name: str) -> list[RuleSummary]:
        """Show all versions of a rule, the first first."""
        return await self._run(self._web.rule_history(name))

    async def save_rule(
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
        return await self._run(
            self._web.save_rule(name, text, role, weight, constants, note, based_on)
        )

    async def set_role(self, name: str, role: RoleOfRule, note: str = "") -> RuleSummary:
        """Let a rule deny, raise alerts, be watched, or be off."""
        return await self._run(self._web.set_role(name, role, note))

    async def lists(self) -> list[str]:
        """List the names of all lists that rules ask."""
        return await self._run(self._web.lists())

    async def values_of_list(self, name: str) -> ListSummary:
        """Show a list with its values."""
        return await self._run(self._web.values_of_list(name))

    async def save_list(self, name: str, values: Sequence[str]) -> ListSummary:
        """Make a list, or give it other values."""
        return await self._run(self._web.save_list(name, values))

    async def add_to_list(self, name: str, values: Sequence[str]) -> ListSummary:
        """Add values to a list."""
        return await self._run(self._web.add_to_list(name, values))

    async def remove_from_list(self, name: str, values: Sequence[str]) -> ListSummary:
        """Take values off a list."""
        return await self._run(self._web.remove_from_list(name, values))

    async def delete_list(self, name: str) -> list[str]:
        """Delete a list that no rule asks; returns the names that are left."""
        return await self._run(self._web.delete_list(name))

    async def blocks(
        self, state: BlockStateName = "in force", *, limit: int = 100
    ) -> list[BlockSummary]:
        """List blocks in a state, the newest first."""
        return await self._run(self._web.blocks(state, limit))

    async def block(self, key: str, note: str = "") -> BlockSummary:
        """Ask that a card, or whatever the desk checks, is blocked."""
        return await self._run(self._web.block(key, note))

    async def approve_block(self, block: int) -> BlockSummary:
        """Put a block in force that another person has asked for."""
        return await self._run(self._web.approve_block(block))

    async def reject_block(self, block: int) -> BlockSummary:
        """Answer that an entity is not to be blocked."""
        return await self._run(self._web.reject_block(block))

    async def lift_block(self, block: int, note: str = "") -> BlockSummary:
        """End a block."""
        return await self._run(self._web.lift_block(block, note))

    async def models(self) -> list[ModelSummary]:
        """List the models, the newest first."""
        return await self._run(self._web.models())

    async def add_model(self, path: Path, name: str | None = None) -> ModelSummary:
        """Bring a model file; it is checked, and a challenger then."""
        return await self._run(self._web.add_model(path, name))

    async def promote(self, digest: str, threshold: float | None = None) -> ModelSummary:
        """Let a model decide what is an alert; to roll back, promote the former one."""
        return await self._run(self._web.promote(digest, threshold))

    async def retire(self, digest: str) -> ModelSummary:
        """Let a model rest."""
        return await self._run(self._web.retire(digest))

    async def orders(self, limit: int = 100) -> list[OrderSummary]:
        """List orders to the decision process, the newest first."""
        return await self._run(self._web.orders(limit))

    async def order(self, order: int) -> OrderSummary:
        """Show an order, and what came of it."""
        return await self._run(self._web.order(order))

    async def approve_order(self, order: int) -> OrderSummary:
        """Let an order be carried out that another person has asked for."""
        return await self._run(self._web.approve_order(order))

    async def reject_order(self, order: int) -> OrderSummary:
        """Answer that an order is not to be carried out."""
        return await self._run(self._web.reject_order(order))

    async def audit(self, after: int = 0, limit: int = 100) -> AuditPage:
        """Read who did what and when, the oldest first."""
        return await self._run(self._web.audit(after, limit))

    async def tokens(self) -> list[TokenSummary]:
        """List all tokens by their names."""
        return await self._run(self._web.tokens())

    async def make_token(self, name: str, role: TokenRole) -> MadeToken:
        """Make a token, which is shown this once."""
        return await self._run(self._web.make_token(name, role))

    async def revoke_token(self, name: str) -> TokenSummary:
        """End a token."""
        return await self._run(self._web.revoke_token(name))

    async def webhooks(self) -> list[WebhookSummary]:
        """List the addresses that are told of alerts."""
        return await self._run(self._web.webhooks())

    async def make_webhook(self, url: str, events: Sequence[str]) -> MadeWebhook:
        """Tell an address of events; the secret that signs messages is shown this once."""
        return await self._run(self._web.make_webhook(url, events))

    async def remove_webhook(self, webhook: int) -> list[WebhookSummary]:
        """Send no more messages to an address."""
        return await self._run(self._web.remove_webhook(webhook))

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
