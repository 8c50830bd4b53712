"""A case: why it is there, what is known of its entity, and what a person finds."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Path
from starlette.responses import Response

from rarefind.data.clock import nanoseconds
from rarefind.desk.alerts import LONGEST_NOTE, VERDICTS, CaseError, NoSuchCase
from rarefind.desk.control import ControlConflict, ControlError
from rarefind.desk.explained import Explanation, explain_record
from rarefind.desk.pages.case_file import (
    CaseSheet,
    draw_timeline,
    read_case,
    reason_chart,
)
from rarefind.desk.pages.feature_words import FeatureWords
from rarefind.desk.pages.queue import QUEUE, show_next
from rarefind.desk.pages.visit import Visit, needs

__all__ = ["router"]

router = APIRouter(include_in_schema=False)

CASE: Final = "/desk/cases/{case}"
#: For how long a case can be put aside.
SNOOZES: Final = ("1h", "4h", "1D", "3D", "7D")

Number = Annotated[int, Path(ge=1, lt=2**62)]
Reader = Annotated[Visit, needs("read")]
Checker = Annotated[Visit, needs("check")]
Approver = Annotated[Visit, needs("confirm")]


@router.get(CASE)
def show_case(visit: Reader, case: Number) -> Response:
    """Show a case."""
    return _page(visit, case)


@router.get(f"{CASE}/today")
def show_todays_reason(visit: Reader, case: Number) -> Response:
    """Show what the model that decides today says of the same transaction."""
    words = FeatureWords(visit.door.schema, visit.t, visit.show)
    found = _says_today(visit, read_case(visit.door, case))
    shown = found if isinstance(found, Explanation) else None
    return visit.page(
        "case_today.html" if visit.is_partial else "case_today_page.html",
        case=case,
        now=shown,
        why_not="" if shown else found,
        bars=reason_chart(visit, words, shown.parts, visit.t("case.today_reason"))
        if shown
        else None,
    )


@router.post(f"{CASE}/take")
def take_case(visit: Checker, case: Number) -> Response:
    """Take a case."""
    try:
        visit.door.cases.take(case, visit.person)
    except NoSuchCase:
        raise
    except CaseError:
        return _page(visit, case, 409)
    return visit.go(f"/desk/cases/{case}")


@router.post(f"{CASE}/release")
def release_case(visit: Checker, case: Number) -> Response:
    """Give a case back."""
    try:
        visit.door.cases.release(case, visit.person)
    except NoSuchCase:
        raise
    except CaseError:
        return _page(visit, case, 409)
    return visit.go(QUEUE, said="released")


@router.post(f"{CASE}/snooze")
def snooze_case(visit: Checker, case: Number) -> Response:
    """Put a case aside for some time; the next one comes, unless it was done from the queue."""
    length = visit.form["length"]
    until = visit.door.clock.now() + nanoseconds(
        "length", length if length in SNOOZES else SNOOZES[2]
    )
    try:
        visit.door.cases.snooze(case, visit.person, until)
    except NoSuchCase:
        raise
    except CaseError:
        return _page(visit, case, 409)
    if visit.form["back"] == "queue":
        return visit.go(QUEUE, said="snoozed")
    return show_next(visit, said="snoozed")


@router.post(f"{CASE}/verdict")
def give_verdict(visit: Checker, case: Number) -> Response:
    """Store what was found, and show the next case."""
    cases, form, person = visit.door.cases, visit.form, visit.person
    verdict = next((each for each in VERDICTS if each == form["verdict"]), None)
    if verdict is None:
        return _page(visit, case, 422)
    try:
        before = cases.get(case)
        if before.closed is None and before.holder != person:
            cases.take(case, person)  # who decides a free case has taken it
        cases.decide(case, person, verdict, form["note"].strip())
    except NoSuchCase:
        raise
    except CaseError:
        if len(form["note"].strip()) > LONGEST_NOTE:
            return _page(visit, case, 422, visit.t("case.note_long"))
        return _page(visit, case, 409)
    if verdict == "fraud" and "block" in form:
        visit.door.control.blocks.ask(before.entity, person, f"case {case}")
    if before.closed is not None:
        return visit.go(f"/desk/cases/{case}", said="corrected")
    return show_next(visit, said="decided", decided=case)


@router.post(f"{CASE}/note")
def add_note(visit: Checker, case: Number) -> Response:
    """Write a note for others."""
    try:
        visit.door.cases.notes.add(case, visit.person, visit.form["note"].strip())
    except NoSuchCase:
        raise
    except CaseError:
        key = "case.note_long" if visit.form["note"].strip() else "case.note_empty"
        return _page(visit, case, 422, visit.t(key))
    return visit.go(f"/desk/cases/{case}", said="noted")


@router.post(f"{CASE}/block")
def ask_for_block(visit: Checker, case: Number) -> Response:
    """Ask that the entity is blocked; it is at once where the desk wants no second person."""
    entity = visit.door.cases.get(case).entity
    visit.door.control.blocks.ask(entity, visit.person, f"case {case}")
    return visit.go(f"/desk/cases/{case}", said="block_asked")


@router.post(f"{CASE}/block/{{answer}}")
def answer_block(visit: Approver, case: Number, answer: str) -> Response:
    """Approve, reject or lift the block of the entity."""
    blocks = visit.door.control.blocks
    block = blocks.current(visit.door.cases.get(case).entity)
    done = {"approve": blocks.approve, "reject": blocks.reject, "lift": blocks.lift}.get(answer)
    if block is None or done is None:
        return _page(visit, case, 409)
    try:
        done(block.id, visit.person)
    except (ControlConflict, ControlError):
        return _page(visit, case, 409)
    return visit.go(f"/desk/cases/{case}", said="block_answered")


def _page(visit: Visit, case: int, status: int = 200, problem: str = "") -> Response:
    """The page of a case; one that cannot be changed as was asked says what its state is."""
    door, t = visit.door, visit.t
    file = read_case(door, case)
    words = FeatureWords(door.schema, t, visit.show)
    entity = words.label(door.schema.alerts.entity)
    is_mine = file.case.holder == visit.person
    decided = visit.request.query_params.get("decided", "")
    return visit.page(
        "case.html",
        status,
        file=file,
        case=file.case,
        entity=entity,
        entity_name=door.schema.alerts.entity,
        words=words,
        is_mine=is_mine,
        is_free=file.case.closed is None and file.case.holder is None,
        may_decide=visit.may("check")
        and (is_mine or file.case.holder is None)
        and file.case.state != "expired",
        timeline=draw_timeline(visit, file, entity),
        bars=reason_chart(visit, words, file.parts, t("case.reason")),
        sentence=words.sentence(file.parts),
        champion=door.control.models.champion(),
        rules={rule.name: rule for rule in door.control.rules.all()},
        snoozes=[(each, t(f"case.snooze.{each}")) for each in SNOOZES],
        verdict_names=VERDICTS,
        second_person=door.schema.alerts.second_person,
        not_done=status == 409,
        problem=problem,
        decided=int(decided) if decided.isdecimal() and len(decided) < 19 else None,
    )


def _says_today(visit: Visit, file: CaseSheet) -> Explanation | str:
    """What the champion says of the features that were stored; a sentence where it cannot."""
    door, t = visit.door, visit.t
    champion, entry = door.control.models.champion(), file.entry
    if champion is None:
        return t("case.today_no_model")
    if entry is None or not entry.body:
        return t("case.erased")
    if len(entry.features) != 8 * len(door.schema.features.names):
        return t("case.today_other_features")
    model = door.open_models.get(champion.digest)
    if model is None:
        return t("case.today_gone")
    try:
        return explain_record(model, door.intake.record(entry))
    except ValueError:
        return t("case.today_cannot")
