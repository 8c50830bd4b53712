"""Rules: written, changed and turned off by experts; every version stays."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api import control_examples as examples
from rarefind.desk.api.control_views import rule_summary, rule_trial, waiting_changes
from rarefind.desk.api.described import described, json_answer
from rarefind.desk.api.door import Door, WebDoor
from rarefind.desk.api.parameters import After, Name, Rows, next_page
from rarefind.desk.api.people import Person
from rarefind.desk.api.sent import sent
from rarefind.desk.control import DeskRule
from rarefind.desk.measures import try_rule
from rarefind.desk.messages import (
    NewRole,
    NewRule,
    RuleHistory,
    RuleSummary,
    RuleTrial,
    TriedRule,
)

router = APIRouter(tags=["rules"])


@router.get("/rules", **described("read", gives=list[RuleSummary], example=[examples.RULE]))
def list_rules(door: Door) -> Response:
    """List the rules as they are now."""
    waiting = waiting_changes(door.control, "rule")
    return json_answer([rule_summary(rule, waiting) for rule in door.control.rules.all()])


@router.post(
    "/rules/try",
    **described(
        "rule",
        gives=RuleTrial,
        example=examples.RULE_TRIAL,
        takes=TriedRule,
        sends=examples.TRIED_RULE,
    ),
)
def try_rule_out(door: Door, rule: Annotated[TriedRule, sent(TriedRule)]) -> Response:
    """Try a rule on the last weeks, without saving it."""
    made = door.control.rules.check(rule.text, constants=rule.constants)
    trial = try_rule(made, door.history, door.others, rule.name)
    return json_answer(rule_trial(trial, door.views))


@router.get(
    "/rules/{name}",
    **described("read", gives=RuleSummary, example=examples.RULE, problems=(404,)),
)
def show_rule(door: Door, name: Name) -> Response:
    """Show a rule as it is now."""
    return _answer(door, door.control.rules.get(name))


@router.get(
    "/rules/{name}/history",
    **described("read", gives=RuleHistory, example=examples.HISTORY, problems=(404,)),
)
def show_rule_history(door: Door, name: Name, after: After = 0, limit: Rows = 100) -> Response:
    """Show the versions of a rule after one, the first first."""
    found = door.control.rules.history(name, after=after, limit=limit)
    following = next_page(found, limit, attrgetter("version"))
    return json_answer(RuleHistory(versions=[rule_summary(rule) for rule in found], next=following))


@router.put(
    "/rules/{name}",
    **described(
        "rule",
        gives=RuleSummary,
        example=examples.RULE,
        takes=NewRule,
        sends=examples.NEW_RULE,
        problems=(409,),
    ),
)
def save_rule(
    door: Door, name: Name, person: Person, rule: Annotated[NewRule, sent(NewRule)]
) -> Response:
    """Save a new rule, or another version of one that is there.

    It is checked first: a rule that the desk could not run is not saved, and the answer says where
    it is wrong.
    """
    saved = door.control.rules.save(
        name,
        rule.text,
        person,
        role=rule.role,
        weight=rule.weight,
        constants=rule.constants,
        note=rule.note,
        based_on=rule.based_on,
        limits=rule.limits,
        sunset=rule.sunset,
    )
    return _answer(door, saved)


@router.post(
    "/rules/{name}/role",
    **described(
        "rule",
        gives=RuleSummary,
        example=examples.RULE,
        takes=NewRole,
        sends=examples.NEW_ROLE,
        problems=(404, 409),
    ),
)
def set_rule_role(
    door: Door, name: Name, person: Person, role: Annotated[NewRole, sent(NewRole)]
) -> Response:
    """Let a rule deny, raise alerts, be watched, or be off; within a second it does.

    Where the desk wants a second person, a rule that is to deny waits for one.
    """
    return _answer(door, door.control.rules.set_role(name, role.role, person, role.note))


def _answer(door: WebDoor, rule: DeskRule) -> Response:
    return json_answer(rule_summary(rule, waiting_changes(door.control, "rule")))
