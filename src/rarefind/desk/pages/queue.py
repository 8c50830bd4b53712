"""The queue: what there is to check today, who works on what, and the way to the next case."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.alerts import CaseLine
from rarefind.desk.explained import read_parts
from rarefind.desk.pages.feature_words import FeatureWords
from rarefind.desk.pages.menu import in_menu
from rarefind.desk.pages.queue_list import SHOWN, QueueFilter, list_cases, why_empty
from rarefind.desk.pages.visit import Visit, needs

__all__ = ["QUEUE", "first_reason", "router", "show_next"]

router = APIRouter(include_in_schema=False)

QUEUE: Final = "/desk/queue"
in_menu(10, "queue.title", QUEUE, "read")


@router.get(QUEUE)
def show_queue(visit: Annotated[Visit, needs("read")]) -> Response:
    """Show what there is to check."""
    door, unit = visit.door, 10**visit.door.schema.transaction.minor_units
    wanted = QueueFilter.read(dict(visit.request.query_params), unit)
    today = door.queue.today()
    listed = list_cases(door, today, wanted, visit.person)
    words = FeatureWords(door.schema, visit.t, visit.show)
    return visit.page(
        "queue.html",
        today=today,
        track=door.queue.track(),
        listed=listed,
        reasons={line.case.id: first_reason(visit, words, line) for _, line in listed.lines},
        wanted=wanted,
        tabs=[(each, QueueFilter(each).address(QUEUE, unit)) for each in SHOWN],
        here=wanted.address(QUEUE, unit, after=None),
        more=wanted.address(QUEUE, unit, after=listed.more) if listed.more else "",
        amount="" if wanted.amount is None else f"{wanted.amount / unit:g}",
        rules=_rule_choices(visit, wanted.rule),
        counts={
            "today": len(today.cases),
            "mine": sum(case.holder == visit.person for case in today.cases),
            "others": sum(case.holder not in (None, visit.person) for case in today.cases),
            "snoozed": door.cases.waiting.count_snoozed(),
            "all": today.waiting + len(today.cases),
        },
        period=door.schema.alerts.per,
        why_empty=None if listed.lines else why_empty(door, today, wanted),
        entity=words.label(door.schema.alerts.entity),
        is_free=any(case.holder in (None, visit.person) for case in today.cases),
    )


@router.post(f"{QUEUE}/next")
def take_next(visit: Annotated[Visit, needs("check")]) -> Response:
    """Take the case of the highest priority that nobody has, and show it."""
    return show_next(visit)


def show_next(visit: Visit, said: str = "", **query: str | int) -> Response:
    """Take the next case and show it; the queue, which says why, where there is none."""
    case = visit.door.queue.next_for(visit.person)
    if case is None:
        return visit.go(QUEUE, said=said, **query)
    return visit.go(f"/desk/cases/{case.id}", said=said, **query)


def first_reason(visit: Visit, words: FeatureWords, line: CaseLine) -> str:
    """Why a case is there, in a few words."""
    alert = line.best
    if alert is None:
        return ""
    parts = [part for part in read_parts(alert.because) if not part.lowers]
    if parts:
        return words.part(parts[0])
    if alert.rules:
        return visit.t("queue.rule", rule=alert.rules[0])
    if alert.kind == "random":
        return visit.t("queue.drawn")
    return visit.t("queue.no_reason") if alert.reason is None else visit.tell(alert.reason)


def _rule_choices(visit: Visit, chosen: str) -> list[tuple[str, str]]:
    """Rules to choose from, the one that was chosen among them whatever has become of it."""
    names = [rule.name for rule in visit.door.control.rules.all()]
    if chosen and chosen not in names:
        names.append(chosen)
    return [("", visit.t("queue.any")), *((name, name) for name in names)]
