"""Rules: what each is worth, and where they are written, tried and let decide."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.control import (
    LIMITS,
    ROLES,
    THE_DESK,
    ChangeRequest,
    ControlConflict,
    ControlError,
    DeskRule,
    rule_columns,
)
from rarefind.desk.measures import HistoryTrial, MeasuredRule, try_rule
from rarefind.desk.pages.menu import in_menu
from rarefind.desk.pages.rule_form import SHARES, FormError, RuleForm, mark
from rarefind.desk.pages.visit import Visit, needs
from rarefind.rules import RuleError

router = APIRouter(include_in_schema=False)

PATH: Final = "/desk/rules"
EDIT: Final = f"{PATH}/edit"
in_menu(20, "rules.title", PATH, "read")


@router.get(PATH)
def show_rules(visit: Annotated[Visit, needs("read")]) -> Response:
    """Show all rules with what they are worth over the ripe weeks."""
    rules, measured = visit.door.control.rules.all(), visit.door.measured.all()
    rows = [(rule, measured.get(rule.name)) for rule in rules]
    return visit.page(
        "rules.html",
        live=[row for row in rows if row[0].role != "off"],
        off=[row for row in rows if row[0].role == "off"],
        waiting=visit.door.control.requests.waiting("rule"),
        last=max(measured.values(), key=_at) if measured else None,
        the_desk=THE_DESK,
        shares=SHARES,
    )


@router.get(EDIT)
def edit_rule(
    visit: Annotated[Visit, needs("read")], name: str = "", version: int = 0, text: str = ""
) -> Response:
    """Show a rule, one of its versions or a new one, to be changed and tried."""
    if not name:
        return _editor(visit, RuleForm(text=text), None)
    versions = visit.door.control.rules.history(name)
    now = versions[-1]
    shown = next((each for each in versions if each.version == version), now)
    return _editor(visit, RuleForm.of(shown, now.version), now)


@router.post(EDIT)
def save_rule(visit: Annotated[Visit, needs("rule")]) -> Response:
    """Save a rule: a new one is only watched, another version does what the one before did."""
    form, door = RuleForm.sent(visit.form), visit.door
    try:
        saved = door.control.rules.save(form.name, form.text, visit.person, **form.read())
    except ValueError as error:
        return _editor(visit, form, _rule_of(visit, form.name), error)
    if _waiting(visit, saved.name):
        return visit.go(EDIT, said="change_asked", name=saved.name)
    return visit.go(EDIT, said="saved", name=saved.name)


@router.post(f"{PATH}/try")
def try_out(visit: Annotated[Visit, needs("rule")]) -> Response:
    """Try a rule on the last weeks, without saving it."""
    form, door = RuleForm.sent(visit.form), visit.door
    now = _rule_of(visit, form.name)
    try:
        given = form.read()
        rule = door.control.rules.check(
            form.text, constants=given["constants"], weight=given["weight"]
        )
        trial = try_rule(rule, door.history, door.others, form.name)
    except ValueError as error:
        return _editor(visit, form, now, error)
    return _editor(visit, form, now, trial=trial)


@router.post(f"{PATH}/role")
def set_role(visit: Annotated[Visit, needs("rule")]) -> Response:
    """Take a rule a step on or back: watched, raising alerts, denying, or off."""
    name, role = visit.form["name"], visit.form["role"]
    rules = visit.door.control.rules
    before = rules.get(name)
    try:
        if role not in ROLES:
            raise ControlError(f"A role is one of {', '.join(ROLES)}, not {role!r}.", "role")
        rules.set_role(name, role, visit.person, visit.form["note"])
    except ValueError as error:
        return _editor(visit, RuleForm.of(before, before.version), before, error, at_step=True)
    if role == "blocking" and _waiting(visit, name):
        return visit.go(EDIT, said="change_asked", name=name)
    return visit.go(EDIT, said="rule_step", name=name)


def _editor(
    visit: Visit,
    form: RuleForm,
    now: DeskRule | None,
    error: ValueError | None = None,
    trial: HistoryTrial | None = None,
    *,
    at_step: bool = False,
) -> Response:
    """The page; ``at_step`` says that the error is about the form that takes a rule a step on."""
    door, errors = visit.door, _errors(visit, error)
    if at_step:
        errors = {f"step_{where}": said for where, said in errors.items()}
    status = 200 if error is None else 409 if isinstance(error, ControlConflict) else 422
    return visit.page(
        "rule_edit.html",
        status,
        rule=form,
        now=now,
        steps=ROLES,
        limits=LIMITS,
        shares=SHARES,
        errors=errors,
        marked=mark(form.text, str(error)) if isinstance(error, RuleError) else None,
        trial=trial,
        waiting=[] if now is None else _waiting(visit, now.name),
        measured=door.measured.all().get(now.name) if now is not None else None,
        columns=rule_columns(door.schema),
        budget=door.schema.alerts.budget,
        per=door.schema.alerts.per,
        the_desk=THE_DESK,
    )


def _errors(visit: Visit, error: ValueError | None) -> dict[str, Any]:
    if error is None:
        return {}
    if isinstance(error, FormError):
        return {error.field: visit.t(error.key)}
    if isinstance(error, ControlError):
        return {error.where or "form": str(error)}
    # Names and values stand in quotes.
    is_constant = "constant" in re.sub("'[^']*'", "", str(error))
    return {"constants" if is_constant else "text": str(error)}


def _rule_of(visit: Visit, name: str) -> DeskRule | None:
    """The rule of a name as it is now; None where there is none."""
    found = visit.door.control.rules.all()
    return next((rule for rule in found if rule.name == name), None)


def _waiting(visit: Visit, name: str) -> list[ChangeRequest]:
    """The change of a rule that waits for a second person, if there is one."""
    return visit.door.control.requests.waiting("rule", name)


def _at(measured: MeasuredRule) -> int:
    return measured.at
