"""The calls of the web process, as requests: what is sent, and whether twice does no harm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, urlencode

import msgspec

from rarefind.desk.client._calls import Call, encode
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
    LiftedBlock,
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
    OrderSummary,
    Promotion,
    QueueToday,
    RuleSummary,
    Snooze,
    TokenSummary,
    TransactionPage,
    WebhookSummary,
)

CaseStateName = Literal["open", "taken", "snoozed", "decided", "expired"]
ClaimStateName = Literal["new", "confirmed", "rejected"]
BlockStateName = Literal["waiting", "in force", "rejected", "lifted"]
VerdictName = Literal["fraud", "genuine", "unclear"]
RoleOfRule = Literal["off", "shadow", "scoring", "blocking"]
TokenRole = Literal["ingest", "investigator", "expert", "scientist", "admin", "auditor"]


def _path(*parts: str | int) -> str:
    return "".join(f"/{quote(str(part), safe='')}" for part in parts)


class WebCalls:
    """The calls of the web process.

    Parameters
    ----------
    web : str
        Its address.
    """

    def __init__(self, web: str) -> None:
        self.web = web.rstrip("/")

    def get(self, path: str) -> Call[Any]:
        """Something to read."""
        return Call("GET", self.web + path, msgspec.json.decode)

    def post(self, path: str, body: Mapping[str, Any]) -> Call[Any]:
        """Something to do once, so that it is not sent again without an answer."""
        content = encode(body)
        return Call("POST", self.web + path, msgspec.json.decode, content, is_repeatable=False)

    def queue(self) -> Call[QueueToday]:
        """What there is to check today."""
        return self._read(QueueToday, "/queue")

    def next_case(self) -> Call[CaseSummary | None]:
        """The next case: who has one gets the same again."""

        def read(content: bytes) -> CaseSummary | None:
            return msgspec.json.decode(content, type=NextCase).case

        return Call("POST", f"{self.web}/queue/next", read, b"{}")

    def cases(self, state: CaseStateName | None, before: int | None, limit: int) -> Call[CasePage]:
        """Some cases."""
        return self._read(CasePage, "/cases", state=state, before=before, limit=limit)

    def case(self, case: int) -> Call[CaseFile]:
        """A case with all that helps to decide it."""
        return self._read(CaseFile, _path("cases", case))

    def take(self, case: int) -> Call[CaseSummary]:
        """Take a case; taking it again begins a new lease."""
        return self._do(CaseSummary, _path("cases", case, "take"))

    def release(self, case: int) -> Call[CaseSummary]:
        """Give a case back, which can be done once."""
        return self._do(CaseSummary, _path("cases", case, "release"), once=True)

    def snooze(self, case: int, until: datetime) -> Call[CaseSummary]:
        """Put a case aside."""
        return self._do(CaseSummary, _path("cases", case, "snooze"), Snooze(until=until))

    def verdict(self, case: int, verdict: VerdictName, note: str) -> Call[CaseSummary]:
        """Say what was found; the same verdict again is the one that is there."""
        sent = NewVerdict(verdict=verdict, note=note)
        return self._do(CaseSummary, _path("cases", case, "verdict"), sent)

    def claim(self, transaction: str, note: str) -> Call[ClaimSummary]:
        """Record a claim; the same again is the same claim."""
        return self._do(ClaimSummary, "/claims", NewClaim(transaction=transaction, note=note))

    def claim_many(self, transactions: Sequence[str]) -> Call[list[ClaimSummary]]:
        """Record several claims, all or none."""
        sent = [NewClaim(transaction=each) for each in transactions]
        return self._do(list[ClaimSummary], "/claims", sent)

    def claims(self, state: ClaimStateName | None, after: int, limit: int) -> Call[ClaimPage]:
        """Some claims."""
        return self._read(ClaimPage, "/claims", state=state, after=after, limit=limit)

    def confirm_claim(self, claim: int) -> Call[ClaimSummary]:
        """Answer that a claim is right."""
        return self._do(ClaimSummary, _path("claims", claim, "confirm"))

    def reject_claim(self, claim: int) -> Call[ClaimSummary]:
        """Answer that a claim is not right."""
        return self._do(ClaimSummary, _path("claims", claim, "reject"))

    def transaction(self, transaction: str) -> Call[DecidedTransaction]:
        """What was decided about a transaction, and why."""
        return self._read(DecidedTransaction, _path("transactions", transaction))

    def entity(
        self, entity: str, key: str, before: int | None, limit: int
    ) -> Call[TransactionPage]:
        """The last transactions of a card or another entity."""
        return self._read(
            TransactionPage, _path("entities", entity, key), before=before, limit=limit
        )

    def export(self, entity: str, key: str, before: int | None, limit: int) -> Call[EntityExport]:
        """All that is kept of an entity."""
        path = _path("entities", entity, key, "export")
        return self._read(EntityExport, path, before=before, limit=limit)

    def erase(self, entity: str, key: str) -> Call[OrderSummary]:
        """Ask to erase an entity: each time is another order."""
        return self._do(OrderSummary, _path("entities", entity, key, "erase"), once=True)

    def rules(self) -> Call[list[RuleSummary]]:
        """All rules."""
        return self._read(list[RuleSummary], "/rules")

    def rule(self, name: str) -> Call[RuleSummary]:
        """A rule."""
        return self._read(RuleSummary, _path("rules", name))

    def rule_history(self, name: str) -> Call[list[RuleSummary]]:
        """All versions of a rule."""
        return self._read(list[RuleSummary], _path("rules", name, "history"))

    def save_rule(
        self,
        name: str,
        text: str,
        role: RoleOfRule | None,
        weight: float | None,
        constants: Mapping[str, bool | float | str] | None,
        note: str,
        based_on: int | None,
    ) -> Call[RuleSummary]:
        """Save a rule: each time is another version."""
        rule = NewRule(
            text=text,
            role=role,
            weight=weight,
            constants=dict(constants or {}),
            note=note,
            based_on=based_on,
        )
        return self._do(RuleSummary, _path("rules", name), rule, method="PUT", once=True)

    def set_role(self, name: str, role: RoleOfRule, note: str) -> Call[RuleSummary]:
        """Say what a rule shall do; the role that it has changes nothing."""
        return self._do(RuleSummary, _path("rules", name, "role"), NewRole(role=role, note=note))

    def lists(self) -> Call[list[str]]:
        """The names of all lists."""
        return self._read(list[str], "/lists")

    def values_of_list(self, name: str) -> Call[ListSummary]:
        """A list with its values."""
        return self._read(ListSummary, _path("lists", name))

    def save_list(self, name: str, values: Sequence[str]) -> Call[ListSummary]:
        """Make a list, or give it other values."""
        sent = ListValues(values=list(values))
        return self._do(ListSummary, _path("lists", name), sent, method="PUT")

    def add_to_list(self, name: str, values: Sequence[str]) -> Call[ListSummary]:
        """Add values; those that are there stay."""
        return self._do(ListSummary, _path("lists", name, "add"), ListValues(values=list(values)))

    def remove_from_list(self, name: str, values: Sequence[str]) -> Call[ListSummary]:
        """Remove values; those that are not there change nothing."""
        sent = ListValues(values=list(values))
        return self._do(ListSummary, _path("lists", name, "remove"), sent)

    def delete_list(self, name: str) -> Call[list[str]]:
        """Delete a list, which can be done once."""
        return self._do(list[str], _path("lists", name), method="DELETE", once=True)

    def blocks(self, state: BlockStateName, limit: int) -> Call[list[BlockSummary]]:
        """Blocks in a state."""
        return self._read(list[BlockSummary], "/blocks", state=state, limit=limit)

    def block(self, key: str, note: str) -> Call[BlockSummary]:
        """Ask for a block; one that is there is answered as it is."""
        return self._do(BlockSummary, "/blocks", NewBlock(key=key, note=note))

    def approve_block(self, block: int) -> Call[BlockSummary]:
        """Put a block in force."""
        return self._do(BlockSummary, _path("blocks", block, "approve"))

    def reject_block(self, block: int) -> Call[BlockSummary]:
        """Answer that an entity is not to be blocked."""
        return self._do(BlockSummary, _path("blocks", block, "reject"))

    def lift_block(self, block: int, note: str) -> Call[BlockSummary]:
        """End a block."""
        return self._do(BlockSummary, _path("blocks", block, "lift"), LiftedBlock(note=note))

    def models(self) -> Call[list[ModelSummary]]:
        """All models."""
        return self._read(list[ModelSummary], "/models")

    def add_model(self, path: Path, name: str | None) -> Call[ModelSummary]:
        """Bring a model file; the same again is the same model."""
        url = self._url("/models", name=name or path.name)
        decode = msgspec.json.Decoder(ModelSummary).decode
        return Call("POST", url, decode, path.read_bytes(), kind="application/octet-stream")

    def promote(self, digest: str, threshold: float | None) -> Call[ModelSummary]:
        """Let a model decide."""
        sent = Promotion(threshold=threshold)
        return self._do(ModelSummary, _path("models", digest, "promote"), sent)

    def retire(self, digest: str) -> Call[ModelSummary]:
        """Let a model rest."""
        return self._do(ModelSummary, _path("models", digest, "retire"))

    def orders(self, limit: int) -> Call[list[OrderSummary]]:
        """The last orders."""
        return self._read(list[OrderSummary], "/orders", limit=limit)

    def order(self, order: int) -> Call[OrderSummary]:
        """An order."""
        return self._read(OrderSummary, _path("orders", order))

    def approve_order(self, order: int) -> Call[OrderSummary]:
        """Let an order be carried out."""
        return self._do(OrderSummary, _path("orders", order, "approve"))

    def reject_order(self, order: int) -> Call[OrderSummary]:
        """Answer that an order is not to be carried out."""
        return self._do(OrderSummary, _path("orders", order, "reject"))

    def audit(self, after: int, limit: int) -> Call[AuditPage]:
        """Who did what."""
        return self._read(AuditPage, "/audit", after=after, limit=limit)

    def tokens(self) -> Call[list[TokenSummary]]:
        """All tokens by their names."""
        return self._read(list[TokenSummary], "/tokens")

    def make_token(self, name: str, role: TokenRole) -> Call[MadeToken]:
        """Make a token, whose name can be given once."""
        return self._do(MadeToken, "/tokens", NewToken(name=name, role=role), once=True)

    def revoke_token(self, name: str) -> Call[TokenSummary]:
        """End a token."""
        return self._do(TokenSummary, _path("tokens", name, "revoke"))

    def webhooks(self) -> Call[list[WebhookSummary]]:
        """All webhooks."""
        return self._read(list[WebhookSummary], "/webhooks")

    def make_webhook(self, url: str, events: Sequence[str]) -> Call[MadeWebhook]:
        """Make a webhook: each time is another one."""
        sent = NewWebhook(url=url, events=list(events))
        return self._do(MadeWebhook, "/webhooks", sent, once=True)

    def remove_webhook(self, webhook: int) -> Call[list[WebhookSummary]]:
        """Remove a webhook, which can be done once."""
        path = _path("webhooks", webhook)
        return self._do(list[WebhookSummary], path, method="DELETE", once=True)

    def _url(self, path: str, **query: str | int | None) -> str:
        found = {name: value for name, value in query.items() if value is not None}
        return f"{self.web}{path}{'?' if found else ''}{urlencode(found)}"

    def _read(self, kind: Any, path: str, **query: str | int | None) -> Call[Any]:
        return Call("GET", self._url(path, **query), msgspec.json.Decoder(kind).decode)

    def _do(
        self, kind: Any, path: str, sent: Any = None, *, method: str = "POST", once: bool = False
    ) -> Call[Any]:
        """Something to do; what is done once is not sent again without an answer."""
        return Call(
            method,
            self.web + path,
            msgspec.json.Decoder(kind).decode,
            encode({} if sent is None else sent),
            is_repeatable=not once,
        )
