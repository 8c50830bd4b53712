"""An entity such as a card: what it has paid, its cases and verdicts, and whether it is blocked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal
from urllib.parse import quote

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.alerts import Case
from rarefind.desk.api.described import json_answer
from rarefind.desk.api.entities import read_export
from rarefind.desk.api.parameters import EntityName, Key
from rarefind.desk.api.problems import ProblemError
from rarefind.desk.charts import Chart, Payment, timeline
from rarefind.desk.pages.chart_words import chart_words
from rarefind.desk.pages.visit import Visit, needs
from rarefind.desk.records import Entry

router = APIRouter(include_in_schema=False)

PATH: Final = "/desk/entities"
_ROWS, _CASES = 50, 50
#: Of an entity that has paid often the picture shows the last ones.
_DRAWN = 300
#: So many transactions are in a file; where there are more, its ``next`` is not null.
_EXPORTED = 10_000


@router.get(f"{PATH}/{{entity}}/{{key}}")
def show_entity(visit: Annotated[Visit, needs("read")], entity: EntityName, key: Key) -> Response:
    """Show what is known of an entity."""
    door = visit.door
    names = list(door.schema.entities)
    if entity not in names:
        raise ProblemError("not-found", f"The entities of this desk are {', '.join(names)}.")
    place, is_checked = names.index(entity), entity == door.schema.alerts.entity
    asked = visit.request.query_params.get("before", "")
    before = int(asked) if asked.isdecimal() and len(asked) < 19 else None
    drawn = door.ledger.read_entity(place, key, before=before, limit=_DRAWN)
    if not drawn and before is None:
        raise ProblemError("not-found", visit.t("entity.unknown", entity=entity))
    rows = drawn[:_ROWS]
    labels = _labels(visit, drawn)
    cases = door.lists.of_entity(key, _CASES) if is_checked else []
    address = f"{PATH}/{quote(entity, safe='')}/{quote(key, safe='')}"
    return visit.page(
        "entity.html",
        entity=entity,
        key=key,
        rows=rows,
        labels=labels,
        places=[(at, name) for at, name in enumerate(names) if name != entity],
        older=f"{address}?before={rows[-1].sequence}" if len(drawn) > _ROWS else "",
        newest="" if before is None else address,
        cases=cases,
        verdicts={case.id: _last_verdict(visit, case) for case in cases},
        case_of=door.lists.cases_of([row.sequence for row in rows]),
        blocks=door.control.blocks.history(key) if is_checked else [],
        picture=_picture(visit, drawn, labels),
    )


@router.post(f"{PATH}/{{entity}}/{{key}}/export")
def export(visit: Annotated[Visit, needs("export")], entity: EntityName, key: Key) -> Response:
    """Send all that is kept of an entity as a file, and write down who has asked for it."""
    found = read_export(visit.door, entity, key, visit.person, None, _EXPORTED)
    response = json_answer(found)
    # The key stays out of the name, which browsers and their histories keep.
    response.headers["content-disposition"] = 'attachment; filename="export.json"'
    return response


def _labels(visit: Visit, rows: Sequence[Entry]) -> dict[str, tuple[bool | None, str]]:
    """What is known of transactions by now: fraud or not, and from where."""
    known = visit.door.labels.ripe([(row.id, row.time) for row in rows])
    return {row.id: (label.fraud, label.source) for row, label in zip(rows, known, strict=True)}


def _last_verdict(visit: Visit, case: Case) -> str:
    """Who gave the verdict that counts; empty without one."""
    found = visit.door.lists.last_verdicts(case.id, 1) if case.verdict else []
    return found[-1].person if found else ""


def _picture(
    visit: Visit, rows: Sequence[Entry], labels: dict[str, tuple[bool | None, str]]
) -> Chart:
    scale = 10**visit.door.schema.transaction.minor_units
    payments = [
        Payment(row.time, row.amount / scale, _kind(row, labels[row.id][0])) for row in rows
    ]
    return timeline(
        payments,
        name="timeline",
        title=visit.t("entity.timeline"),
        when=visit.show.time,
        amount=lambda amount: visit.show.amount(round(amount * scale)),
        words=chart_words(visit.t),
    )


def _kind(row: Entry, fraud: bool | None) -> Literal["fraud", "denied", "alert", "payment"]:
    if fraud:
        return "fraud"
    if row.outcome.decision == "deny":
        return "denied"
    return "alert" if row.outcome.alert == "risk" else "payment"
