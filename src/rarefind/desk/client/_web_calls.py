"""The calls of the web process, as requests: what is sent, and whether twice does no harm.

Both clients have each of them as a method that sends it; what is said here is what they say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from rarefind.desk.client._calls import Call, Calls, encode
from rarefind.desk.client._setting_calls import SettingCalls
from rarefind.desk.client._web_requests import path_of
from rarefind.desk.messages import (
    AuditPage,
    BlockPage,
    BlockSummary,
    CaseFile,
    CasePage,
    CaseSummary,
    ClaimPage,
    ClaimSummary,
    DecidedTransaction,
    EntityExport,
    LiftedBlock,
    ListNames,
    ListSummary,
    ListValues,
    MadeToken,
    MadeWebhook,
    ModelSummary,
    NewBlock,
    NewClaim,
    NewRole,
    NewRule,
    NewToken,
    NewVerdict,
    NewWebhook,
    NextCase,
    OrderPage,
    OrderSummary,
    Promotion,
    QueueToday,
    RuleHistory,
    RuleSummary,
    RuleTrial,
    Snooze,
    TokenPage,
    TokenSummary,
    TransactionPage,
    TriedRule,
    VerdictPage,
    WebhookSummary,
)

CaseStateName = Literal["open", "taken", "snoozed", "decided", "expired"]
ClaimStateName = Literal["new", "confirmed", "rejected"]
BlockStateName = Literal["waiting", "in force", "rejected", "lifted"]
VerdictName = Literal["fraud", "genuine", "unclear"]
RoleOfRule = Literal["off", "shadow", "scoring", "blocking"]
TokenRole = Literal["ingest", "investigator", "expert", "scientist", "admin", "auditor"]


class WebCalls(SettingCalls):
    """The calls of the web process."""

    def get(self, path: str) -> Call[Any]:
        """Read something of the web process, such as ``/queue``."""
        return Call("GET", self.web + path, msgspec.json.decode)

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Call[Any]:
        """Do something in the web process, such as ``/cases/7/take``."""
        content = encode(body or {})
        # Nobody knows whether it may be done twice.
        return Call("POST", self.web + path, msgspec.json.decode, content, is_repeatable=False)

    def queue(self) -> Call[QueueToday]:
        """Show what there is to check today, and what is expected of it."""
        return self._read(QueueToday, "/queue")

    def next_case(self) -> Call[CaseSummary | None]:
        """Take the case of the highest priority that nobody has; None where there is none."""

        def read(content: bytes) -> CaseSummary | None:
            return msgspec.json.decode(content, type=NextCase).case

        return Call("POST", f"{self.web}/queue/next", read, b"{}")

    def cases(
        self, state: CaseStateName | None = None, *, before: int | None = None, limit: int = 100
    ) -> Call[CasePage]:
        """List cases, the newest first; ``next`` of a page is the ``before`` of the next one."""
        return self._read(CasePage, "/cases", state=state, before=before, limit=limit)

    def case(self, case: int) -> Call[CaseFile]:
        """Show a case with its alerts, what was found, and what its entity did last."""
        return self._read(CaseFile, path_of("cases", case))

    def take(self, case: int) -> Call[CaseSummary]:
        """Take a case, so that nobody else works on it."""
        return self._do(CaseSummary, path_of("cases", case, "take"))

    def release(self, case: int) -> Call[CaseSummary]:
        """Give back a case that one has taken."""
        return self._do(CaseSummary, path_of("cases", case, "release"), once=True)

    def snooze(self, case: int, until: datetime) -> Call[CaseSummary]:
        """Put a case aside until a time, which has a zone; it comes back by itself."""
        return self._do(CaseSummary, path_of("cases", case, "snooze"), Snooze(until=until))

    def verdict(self, case: int, verdict: VerdictName, note: str = "") -> Call[CaseSummary]:
        """Say what was found: the case is closed, and its transactions get the label."""
        sent = NewVerdict(verdict=verdict, note=note)
        return self._do(CaseSummary, path_of("cases", case, "verdict"), sent)

    def verdicts(self, case: int, *, after: int = 0, limit: int = 100) -> Call[VerdictPage]:
        """List all that was ever found of a case, the first first."""
        path = path_of("cases", case, "verdicts")
        return self._read(VerdictPage, path, after=after, limit=limit)

    def claim(self, transaction: str, note: str = "") -> Call[ClaimSummary]:
        """Record that a customer denies a transaction."""
        return self._do(ClaimSummary, "/claims", NewClaim(transaction=transaction, note=note))

    def claim_many(self, transactions: Sequence[str]) -> Call[list[ClaimSummary]]:
        """Record that customers deny transactions, all or none."""
        sent = [NewClaim(transaction=each) for each in transactions]
        return self._do(list[ClaimSummary], "/claims", sent)

    def claims(
        self, state: ClaimStateName | None = None, *, after: int = 0, limit: int = 100
    ) -> Call[ClaimPage]:
        """List claims, the oldest first."""
        return self._read(ClaimPage, "/claims", state=state, after=after, limit=limit)

    def confirm_claim(self, claim: int) -> Call[ClaimSummary]:
        """Answer that a claim is right: its transaction is fraud."""
        return self._do(ClaimSummary, path_of("claims", claim, "confirm"))

    def reject_claim(self, claim: int) -> Call[ClaimSummary]:
        """Answer that a claim is not right."""
        return self._do(ClaimSummary, path_of("claims", claim, "reject"))

    def transaction(self, transaction: str) -> Call[DecidedTransaction]:
        """Show what was decided about a transaction, and why."""
        return self._read(DecidedTransaction, path_of("transactions", transaction))

    def entity(
        self, entity: str, key: str, *, before: int | None = None, limit: int = 100
    ) -> Call[TransactionPage]:
        """List the last transactions of an entity, such as ``"card"`` and its number."""
        return self._read(
            TransactionPage, path_of("entities", entity, key), before=before, limit=limit
        )

    def export(
        self, entity: str, key: str, *, before: int | None = None, limit: int = 1_000
    ) -> Call[EntityExport]:
        """Give all that is kept of an entity; it is written down who has asked."""
        path = path_of("entities", entity, key, "export")
        return self._read(EntityExport, path, before=before, limit=limit)

    def erase(self, entity: str, key: str) -> Call[OrderSummary]:
        """Ask to erase an entity from the ledger; the order says when it is done."""
        return self._do(OrderSummary, path_of("entities", entity, key, "erase"), once=True)

    def rules(self) -> Call[list[RuleSummary]]:
        """List the rules as they are now."""
        return self._read(list[RuleSummary], "/rules")

    def rule(self, name: str) -> Call[RuleSummary]:
        """Show a rule as it is now."""
        return self._read(RuleSummary, path_of("rules", name))

    def rule_history(self, name: str, *, after: int = 0, limit: int = 100) -> Call[RuleHistory]:
        """Show the versions of a rule after one, the first first."""
        path = path_of("rules", name, "history")
        return self._read(RuleHistory, path, after=after, limit=limit)

    def try_rule(
        self,
        text: str,
        name: str = "",
        constants: Mapping[str, bool | float | str] | None = None,
    ) -> Call[RuleTrial]:
        """Try a rule on the last weeks, without saving it."""
        rule = TriedRule(text=text, name=name, constants=dict(constants or {}))
        return self._do(RuleTrial, "/rules/try", rule)

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
        limits: Mapping[str, float] | None = None,
        sunset: str | None = None,
    ) -> Call[RuleSummary]:
        """Save a rule, or another version of it; ``based_on`` is the version that was changed."""
        rule = NewRule(
            text=text,
            role=role,
            weight=weight,
            constants=dict(constants or {}),
            note=note,
            based_on=based_on,
            limits=None if limits is None else dict(limits),
            sunset=sunset,
        )
        return self._do(RuleSummary, path_of("rules", name), rule, method="PUT", once=True)

    def set_role(self, name: str, role: RoleOfRule, note: str = "") -> Call[RuleSummary]:
        """Let a rule deny, raise alerts, be watched, or be off."""
        return self._do(RuleSummary, path_of("rules", name, "role"), NewRole(role=role, note=note))

    def lists(self, *, after: str = "", limit: int = 100) -> Call[ListNames]:
        """List the names of the lists that rules ask."""
        return self._read(ListNames, "/lists", after=after or None, limit=limit)

    def values_of_list(
        self, name: str, *, after: str = "", limit: int = 1_000
    ) -> Call[ListSummary]:
        """Show a list with its values, or with those after one."""
        return self._read(ListSummary, path_of("lists", name), after=after or None, limit=limit)

    def save_list(self, name: str, values: Sequence[str]) -> Call[ListSummary]:
        """Make a list, or give it other values."""
        sent = ListValues(values=list(values))
        return self._do(ListSummary, path_of("lists", name), sent, method="PUT")

    def add_to_list(self, name: str, values: Sequence[str]) -> Call[ListSummary]:
        """Add values to a list."""
        return self._do(ListSummary, path_of("lists", name, "add"), ListValues(values=list(values)))

    def remove_from_list(self, name: str, values: Sequence[str]) -> Call[ListSummary]:
        """Take values off a list."""
        sent = ListValues(values=list(values))
        return self._do(ListSummary, path_of("lists", name, "remove"), sent)

    def delete_list(self, name: str) -> Call[ListNames]:
        """Delete a list that no rule asks; returns the names that are left."""
        return self._do(ListNames, path_of("lists", name), method="DELETE", once=True)

    def blocks(
        self, state: BlockStateName = "in force", *, before: int | None = None, limit: int = 100
    ) -> Call[BlockPage]:
        """List blocks in a state, the newest first."""
        return self._read(BlockPage, "/blocks", state=state, before=before, limit=limit)

    def block(self, key: str, note: str = "") -> Call[BlockSummary]:
        """Ask that a card, or whatever the desk checks, is blocked."""
        return self._do(BlockSummary, "/blocks", NewBlock(key=key, note=note))

    def approve_block(self, block: int) -> Call[BlockSummary]:
        """Put a block in force that another person has asked for."""
        return self._do(BlockSummary, path_of("blocks", block, "approve"))

    def reject_block(self, block: int) -> Call[BlockSummary]:
        """Answer that an entity is not to be blocked."""
        return self._do(BlockSummary, path_of("blocks", block, "reject"))

    def lift_block(self, block: int, note: str = "") -> Call[BlockSummary]:
        """End a block."""
        return self._do(BlockSummary, path_of("blocks", block, "lift"), LiftedBlock(note=note))

    def models(self) -> Call[list[ModelSummary]]:
        """List the models, the newest first."""
        return self._read(list[ModelSummary], "/models")

    def add_model(self, path: Path, name: str | None = None) -> Call[ModelSummary]:
        """Bring a model file; it is checked, and a challenger then."""
        url = self._url("/models", name=name or path.name)
        decode = msgspec.json.Decoder(ModelSummary).decode
        return Call("POST", url, decode, path.read_bytes(), kind="application/octet-stream")

    def promote(self, digest: str, threshold: float | None = None) -> Call[ModelSummary]:
        """Let a model decide what is an alert; to roll back, promote the former one."""
        sent = Promotion(threshold=threshold)
        return self._do(ModelSummary, path_of("models", digest, "promote"), sent)

    def retire(self, digest: str) -> Call[ModelSummary]:
        """Let a model rest."""
        return self._do(ModelSummary, path_of("models", digest, "retire"))

    def orders(self, *, before: int | None = None, limit: int = 100) -> Call[OrderPage]:
        """List orders to the decision process, the newest first."""
        return self._read(OrderPage, "/orders", before=before, limit=limit)

    def order(self, order: int) -> Call[OrderSummary]:
        """Show an order, and what came of it."""
        return self._read(OrderSummary, path_of("orders", order))

    def approve_order(self, order: int) -> Call[OrderSummary]:
        """Let an order be carried out that another person has asked for."""
        return self._do(OrderSummary, path_of("orders", order, "approve"))

    def reject_order(self, order: int) -> Call[OrderSummary]:
        """Answer that an order is not to be carried out."""
        return self._do(OrderSummary, path_of("orders", order, "reject"))

    def audit(self, after: int = 0, limit: int = 100) -> Call[AuditPage]:
        """Read who did what and when, the oldest first."""
        return self._read(AuditPage, "/audit", after=after, limit=limit)

    def tokens(self, *, after: str = "", limit: int = 100) -> Call[TokenPage]:
        """List tokens by their names."""
        return self._read(TokenPage, "/tokens", after=after or None, limit=limit)

    def make_token(self, name: str, role: TokenRole) -> Call[MadeToken]:
        """Make a token, which is shown this once."""
        return self._do(MadeToken, "/tokens", NewToken(name=name, role=role), once=True)

    def revoke_token(self, name: str) -> Call[TokenSummary]:
        """End a token."""
        return self._do(TokenSummary, path_of("tokens", name, "revoke"))

    def webhooks(self) -> Call[list[WebhookSummary]]:
        """List the addresses that are told of alerts."""
        return self._read(list[WebhookSummary], "/webhooks")

    def make_webhook(self, url: str, events: Sequence[str]) -> Call[MadeWebhook]:
        """Tell an address of events; the secret that signs messages is shown this once."""
        sent = NewWebhook(url=url, events=list(events))
        return self._do(MadeWebhook, "/webhooks", sent, once=True)

    def remove_webhook(self, webhook: int) -> Call[list[WebhookSummary]]:
        """Send no more messages to an address."""
        path = path_of("webhooks", webhook)
        return self._do(list[WebhookSummary], path, method="DELETE", once=True)


class DeskCalls(Calls, WebCalls):
    """All calls of a desk: those of the process that decides, and those of the web process."""

    def __init__(self, url: str, web: str, id_column: str) -> None:
        Calls.__init__(self, url, id_column)
        WebCalls.__init__(self, web)
