"""All that a case's page shows, read from the two databases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from rarefind.desk.alerts import Alert, Case, Note, StoredVerdict
from rarefind.desk.api.door import WebDoor
from rarefind.desk.charts import Chart, Payment, reason_bars, timeline
from rarefind.desk.control import Block
from rarefind.desk.explained import Because, read_parts
from rarefind.desk.pages.chart_words import chart_words
from rarefind.desk.pages.feature_words import FeatureWords
from rarefind.desk.pages.visit import Visit
from rarefind.desk.records import Entry
from rarefind.desk.similar import SimilarFraud

__all__ = ["CaseSheet", "draw_timeline", "read_case", "reason_chart"]

#: So many of a case's alerts, of its entity's transactions, and of its earlier cases are shown.
_ALERTS: Final = 20
_TRANSACTIONS: Final = 200
_EARLIER: Final = 20


@dataclass(frozen=True, slots=True)
class CaseSheet:
    """A case with what is known of it.

    ``best`` is the alert of the highest priority, which the page is about; ``entry`` its
    transaction, None where it was deleted; ``sent`` what was sent of it, empty where it was erased.
    """

    case: Case
    alerts: list[Alert]
    alert_count: int
    best: Alert | None
    entry: Entry | None
    sent: dict[str, Any]
    parts: tuple[Because, ...]
    payments: list[Payment]
    verdicts: list[StoredVerdict]
    notes: list[Note]
    earlier: list[tuple[Case, list[StoredVerdict]]]
    similar: list[SimilarFraud]
    block: Block | None


def read_case(door: WebDoor, number: int) -> CaseSheet:
    """Read a case; one that is not there is an error."""
    case = door.cases.get(number)
    (line,) = door.cases.lines([case])
    best = line.best
    found = {} if best is None else door.ledger.find([best.transaction])
    entry = None if best is None else found.get(best.transaction)
    parts = () if best is None else read_parts(best.because)
    place = list(door.schema.entities).index(door.schema.alerts.entity)
    entries = door.ledger.read_entity(place, case.entity, limit=_TRANSACTIONS)
    earlier = [each for each in door.lists.of_entity(case.entity, _EARLIER + 1) if each != case]
    return CaseSheet(
        case=case,
        alerts=door.lists.last_alerts(number, _ALERTS),
        alert_count=line.alerts,
        best=best,
        entry=entry,
        sent=msgspec.json.decode(entry.body) if entry is not None and entry.body else {},
        parts=parts,
        payments=_payments(door, entries, best),
        verdicts=door.lists.last_verdicts(number),
        notes=door.cases.notes.of(number),
        earlier=[(each, door.lists.last_verdicts(each.id)) for each in earlier[:_EARLIER]],
        similar=_similar(door, entry, parts),
        block=door.control.blocks.current(case.entity),
    )


def draw_timeline(visit: Visit, file: CaseSheet, entity: str) -> Chart:
    """What the entity has paid over time."""
    unit = 10**visit.door.schema.transaction.minor_units
    return timeline(
        file.payments,
        name="timeline",
        title=visit.t("case.timeline", entity=entity),
        when=visit.show.time,
        amount=lambda amount: visit.show.amount(round(amount * unit)),
        words=chart_words(visit.t),
    )


def reason_chart(
    visit: Visit, words: FeatureWords, parts: Sequence[Because], title: str
) -> Chart | None:
    """A reason as bars; None where it has no parts."""
    if not parts:
        return None
    return reason_bars(
        words.pushes(parts), title=title, share=visit.show.percent, words=chart_words(visit.t)
    )


def _payments(door: WebDoor, entries: Sequence[Entry], best: Alert | None) -> list[Payment]:
    labels = {each.id: each.fraud for each in door.ledger.labels_of([e.id for e in entries])}
    unit = 10**door.schema.transaction.minor_units
    found = []
    for entry in entries:
        if best is not None and entry.id == best.transaction:
            kind = "this"
        elif labels.get(entry.id):
            kind = "fraud"
        elif entry.outcome.decision == "deny":
            kind = "denied"
        else:
            kind = "alert" if entry.outcome.alert else "payment"
        found.append(Payment(entry.time, entry.amount / unit, kind))  # type: ignore[arg-type]
    return found


def _similar(door: WebDoor, entry: Entry | None, parts: Sequence[Because]) -> list[SimilarFraud]:
    if entry is None:
        return []
    shares = {part.feature: part.share for part in parts if not part.lowers}
    return door.similar.nearest(entry, shares)
