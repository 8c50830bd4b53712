"""Changes of rules, models and settings that wait for a second person: approved or rejected."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api.parameters import Number
from rarefind.desk.control import ChangeKind, ControlConflict
from rarefind.desk.pages import models, rules, settings
from rarefind.desk.pages.visit import Visit, needs
from rarefind.desk.settings import SettingError
from rarefind.rules import RuleError

router = APIRouter(include_in_schema=False)

PATH = "/desk/changes"
_BACK: dict[ChangeKind, str] = {
    "rule": rules.PATH,
    "model": models.PATH,
    "setting": settings.PATH,
}


@router.post(f"{PATH}/rules/{{change}}/approve")
def approve_rule(visit: Annotated[Visit, needs("rule")], change: Number) -> Response:
    """Let a rule deny payments that another person has asked for."""
    return _approve(visit, change, "rule")


@router.post(f"{PATH}/rules/{{change}}/reject")
def reject_rule(visit: Annotated[Visit, needs("rule")], change: Number) -> Response:
    """Answer that a rule is not to deny payments, or take it back."""
    return _reject(visit, change, "rule")


@router.post(f"{PATH}/models/{{change}}/approve")
def approve_model(visit: Annotated[Visit, needs("model")], change: Number) -> Response:
    """Let a model decide that another person has asked for."""
    return _approve(visit, change, "model")


@router.post(f"{PATH}/models/{{change}}/reject")
def reject_model(visit: Annotated[Visit, needs("model")], change: Number) -> Response:
    """Answer that a model is not to decide, or take it back."""
    return _reject(visit, change, "model")


@router.post(f"{PATH}/settings/{{change}}/approve")
def approve_setting(visit: Annotated[Visit, needs("manage")], change: Number) -> Response:
    """Let a setting be what another person has asked for."""
    return _approve(visit, change, "setting")


@router.post(f"{PATH}/settings/{{change}}/reject")
def reject_setting(visit: Annotated[Visit, needs("manage")], change: Number) -> Response:
    """Answer that a setting is not to be changed, or take it back."""
    return _reject(visit, change, "setting")


def _approve(visit: Visit, change: int, kind: ChangeKind) -> Response:
    try:
        visit.door.control.requests.approve(change, visit.person, kind)
    except (ControlConflict, RuleError, SettingError):
        # It was asked for by the same person, answered already, or does not fit any more.
        return visit.go(_BACK[kind], said="change_refused")
    visit.door.follow_settings()
    return visit.go(_BACK[kind], said="change_approved")


def _reject(visit: Visit, change: int, kind: ChangeKind) -> Response:
    try:
        visit.door.control.requests.reject(change, visit.person, kind)
    except ControlConflict:
        return visit.go(_BACK[kind], said="change_refused")
    return visit.go(_BACK[kind], said="change_rejected")
