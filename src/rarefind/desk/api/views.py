"""From what is stored to what is told: names for features and entities, times in UTC."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from struct import iter_unpack
from typing import Any

import msgspec

from rarefind.desk.alerts import Alert, Case, Note, StoredVerdict, Today
from rarefind.desk.labels import Claim
from rarefind.desk.ledger import Ledger
from rarefind.desk.messages import (
    AlertSummary,
    CaseSummary,
    ClaimSummary,
    DecidedTransaction,
    ExpectedHits,
    GivenLabel,
    GivenVerdict,
    QueueToday,
    TransactionSummary,
    WrittenNote,
)
from rarefind.desk.records import Entry, LabelEntry
from rarefind.desk.schema import Schema

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def instant(nanoseconds: int) -> datetime:
    """A stored time as it is told."""
    return _EPOCH + timedelta(microseconds=nanoseconds // 1_000)


def instant_or_none(nanoseconds: int | None) -> datetime | None:
    """A stored time that may be missing."""
    return None if nanoseconds is None else instant(nanoseconds)


def stored_time(time: datetime) -> int:
    """A time that was sent, as it is stored."""
    return (time - _EPOCH) // _MICROSECOND * 1_000


class Views:
    """Shows what a desk of one schema has stored."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._names = schema.features.names
        self._entities = tuple(schema.entities)
        self._unit = 10**schema.transaction.minor_units

    def amount(self, minor: int) -> float:
        """An amount in the unit in which it was sent."""
        return minor / self._unit

    def case(self, case: Case) -> CaseSummary:
        """A case."""
        return CaseSummary(
            id=case.id,
            entity=self.schema.alerts.entity,
            key=case.entity,
            state=case.state,
            opened=instant(case.opened),
            priority=case.priority,
            kind="random" if case.kind == "random" else "risk",
            propensity=case.propensity,
            holder=case.holder,
            until=instant_or_none(case.until),
            closed=instant_or_none(case.closed),
            verdict=case.verdict,  # type: ignore[arg-type]
        )

    def today(self, today: Today) -> QueueToday:
        """The queue."""
        expected = today.expected
        return QueueToday(
            begins=instant(today.begins),
            ends=instant(today.ends),
            budget=today.budget,
            done=today.done,
            hits=today.hits,
            expected=ExpectedHits(
                hits=expected.hits, low=expected.low, high=expected.high, known=expected.known
            ),
            amount=self.amount(today.amount),
            waiting=today.waiting,
            cases=[self.case(case) for case in today.cases],
        )

    def alert(self, alert: Alert, transaction: DecidedTransaction | None) -> AlertSummary:
        """An alert with its transaction."""
        return AlertSummary(
            id=alert.transaction,
            priority=alert.priority,
            kind="random" if alert.kind == "random" else "risk",
            probability=alert.probability,
            reason=alert.reason,
            transaction=transaction,
        )

    def verdicts(self, found: Iterable[StoredVerdict]) -> list[GivenVerdict]:
        """What was found of a case."""
        return [
            GivenVerdict(
                id=each.id,
                verdict=each.verdict,
                person=each.person,
                at=instant(each.at),
                note=each.note,
            )
            for each in found
        ]

    def notes(self, found: Iterable[Note]) -> list[WrittenNote]:
        """All that was written about a case."""
        return [WrittenNote(person=e.person, at=instant(e.at), note=e.text) for e in found]

    def claim(self, claim: Claim) -> ClaimSummary:
        """A claim."""
        return ClaimSummary(
            id=claim.id,
            transaction=claim.transaction,
            at=instant(claim.at),
            note=claim.note,
            state=claim.state,  # type: ignore[arg-type]
            person=claim.person,
            answered=instant_or_none(claim.answered),
        )

    def transaction(self, entry: Entry) -> TransactionSummary:
        """A transaction without what its decision was made from."""
        return TransactionSummary(**self._parts(entry))

    def decided(self, ledger: Ledger, entries: Sequence[Entry]) -> list[DecidedTransaction]:
        """Transactions with all that is known of them."""
        labels: dict[str, list[LabelEntry]] = defaultdict(list)
        if entries:
            for label in ledger.labels_of([entry.id for entry in entries]):
                labels[label.id].append(label)
        return [self._decided(entry, labels[entry.id]) for entry in entries]

    def _decided(self, entry: Entry, labels: list[LabelEntry]) -> DecidedTransaction:
        values = [value for (value,) in iter_unpack("<d", entry.features)]
        return DecidedTransaction(
            **self._parts(entry),
            priority=entry.outcome.priority,
            propensity=entry.outcome.propensity,
            rule_book=entry.outcome.rule_book,
            model=entry.outcome.model,
            # A feature that is missing is NaN, which JSON writes as null.
            features=dict(zip(self._names, values, strict=False)),
            labels=[
                GivenLabel(fraud=each.fraud, source=each.source, arrived=instant(each.arrived))
                for each in labels
            ],
        )

    def _parts(self, entry: Entry) -> dict[str, Any]:
        outcome = entry.outcome
        return {
            "sequence": entry.sequence,
            "id": entry.id,
            "time": instant(entry.time),
            "arrived": instant(entry.arrived),
            "amount": self.amount(entry.amount),
            "entities": dict(zip(self._entities, entry.entities, strict=False)),
            "transaction": msgspec.json.decode(entry.body) if entry.body else {},
            "decision": outcome.decision,
            "by": outcome.by,
            "rules": list(outcome.rules),
            "score": outcome.score,
            "alert": outcome.alert,
        }
