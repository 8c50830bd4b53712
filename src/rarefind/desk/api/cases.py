"""The queue and its cases: take, decide, put aside, give back."""

from __future__ import annotations

from datetime import timedelta
from operator import attrgetter
from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api import examples
from rarefind.desk.api.described import described, json_answer
from rarefind.desk.api.door import Door
from rarefind.desk.api.parameters import After, Before, CaseStateFilter, Number, Rows, next_page
from rarefind.desk.api.people import Person
from rarefind.desk.api.problems import ProblemError
from rarefind.desk.api.sent import sent
from rarefind.desk.api.views import instant, stored_time
from rarefind.desk.messages import (
    CaseFile,
    CasePage,
    CaseSummary,
    NewVerdict,
    NextCase,
    QueueToday,
    Snooze,
    VerdictPage,
)

router = APIRouter(tags=["cases"])

#: So many of a case's alerts and verdicts, and of its entity's transactions, are shown with it.
_ALERTS, _VERDICTS, _TRANSACTIONS = 100, 100, 50
_LONGEST_SNOOZE = timedelta(days=366)


@router.get("/queue", **described("read", gives=QueueToday, example=examples.QUEUE))
def show_queue(door: Door) -> Response:
    """Show what there is to check today, and what is expected of it."""
    return json_answer(door.views.today(door.queue.today()))


@router.post("/queue/next", **described("check", gives=NextCase, example=examples.NEXT))
def take_next_case(door: Door, person: Person) -> Response:
    """Take the case of the highest priority that nobody has.

    Who has a case already gets the same one again, for another lease.
    """
    case = door.queue.next_for(person)
    return json_answer(NextCase(case=None if case is None else door.views.case(case)))


@router.get("/cases", **described("read", gives=CasePage, example=examples.CASES))
def list_cases(
    door: Door, state: CaseStateFilter = None, before: Before = None, limit: Rows = 100
) -> Response:
    """List cases, the newest first."""
    found = door.lists.page(state, before=before, limit=limit)
    following = next_page(found, limit, attrgetter("id"))
    return json_answer(CasePage(cases=[door.views.case(case) for case in found], next=following))


@router.get(
    "/cases/{case}",
    **described("read", gives=CaseFile, example=examples.CASE_FILE, problems=(404,)),
)
def show_case(door: Door, case: Number) -> Response:
    """Show a case with its alerts, what was found, and what its entity did last."""
    found, views = door.cases.get(case), door.views
    alerts = door.lists.last_alerts(case, _ALERTS)
    entries = door.ledger.find([alert.transaction for alert in alerts]) if alerts else {}
    decided = {each.id: each for each in views.decided(door.ledger, list(entries.values()))}
    place = list(door.schema.entities).index(door.schema.alerts.entity)
    last = door.ledger.read_entity(place, found.entity, limit=_TRANSACTIONS)
    return json_answer(
        CaseFile(
            case=views.case(found),
            alert_count=door.lists.count_alerts(case),
            alerts=[views.alert(alert, decided.get(alert.transaction)) for alert in alerts],
            verdict_count=door.lists.count_verdicts(case),
            verdicts=views.verdicts(door.lists.last_verdicts(case, _VERDICTS)),
            transactions=[views.transaction(entry) for entry in last],
        )
    )


@router.get(
    "/cases/{case}/verdicts",
    **described("read", gives=VerdictPage, example=examples.VERDICTS, problems=(404,)),
)
def list_verdicts(door: Door, case: Number, after: After = 0, limit: Rows = 100) -> Response:
    """List all that was ever found of a case, the first first."""
    door.cases.get(case)
    found = door.views.verdicts(door.lists.verdicts(case, after=after, limit=limit))
    return json_answer(VerdictPage(verdicts=found, next=next_page(found, limit, attrgetter("id"))))


@router.post(
    "/cases/{case}/take",
    **described("check", gives=CaseSummary, example=examples.TAKEN, problems=(404, 409)),
)
def take_case(door: Door, case: Number, person: Person) -> Response:
    """Take a case, so that nobody else works on it; taking it again begins a new lease."""
    return json_answer(door.views.case(door.cases.take(case, person)))


@router.post(
    "/cases/{case}/release",
    **described("check", gives=CaseSummary, example=examples.OPEN, problems=(404, 409)),
)
def release_case(door: Door, case: Number, person: Person) -> Response:
    """Give back a case that one has taken."""
    return json_answer(door.views.case(door.cases.release(case, person)))


@router.post(
    "/cases/{case}/snooze",
    **described(
        "check",
        gives=CaseSummary,
        example=examples.OPEN,
        takes=Snooze,
        sends=examples.SNOOZE,
        problems=(404, 409),
    ),
)
def snooze_case(
    door: Door, case: Number, person: Person, snooze: Annotated[Snooze, sent(Snooze)]
) -> Response:
    """Put a case aside until a time; it comes back by itself."""
    now = instant(door.clock.now())
    if not now < snooze.until <= now + _LONGEST_SNOOZE:
        raise ProblemError(
            "invalid",
            f"A case is put aside until a time that is yet to come, and for at most "
            f"{_LONGEST_SNOOZE.days} days.",
            "until",
        )
    return json_answer(door.views.case(door.cases.snooze(case, person, stored_time(snooze.until))))


@router.post(
    "/cases/{case}/verdict",
    **described(
        "check",
        gives=CaseSummary,
        example=examples.DECIDED_CASE,
        takes=NewVerdict,
        sends=examples.VERDICT,
        problems=(404, 409),
    ),
)
def give_verdict(
    door: Door, case: Number, person: Person, verdict: Annotated[NewVerdict, sent(NewVerdict)]
) -> Response:
    """Say what was found: the case is closed, and its transactions get the label.

    A case that was decided can be decided again; the first verdict stays in its history.
    """
    return json_answer(
        door.views.case(door.cases.decide(case, person, verdict.verdict, verdict.note))
    )
