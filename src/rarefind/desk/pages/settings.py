"""Settings: what counts, what desk.toml says, who changes it; and the webhooks."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, NamedTuple

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.data.clock import PERIODS, nanoseconds
from rarefind.desk.api.parameters import Name, Number
from rarefind.desk.control import ControlError, SettingRow
from rarefind.desk.pages.menu import in_menu
from rarefind.desk.pages.visit import Visit, needs
from rarefind.desk.settings import CHANGEABLE, SettingError, read_setting, setting_of
from rarefind.desk.webhooks import EVENTS, AddressError, NoSuchWebhook, WebhookError

router = APIRouter(include_in_schema=False)

PATH: Final = "/desk/settings"
in_menu(90, "settings.title", PATH, "manage", "desk")

#: How a value is written.
Kind = Literal["text", "number", "percent", "length", "yes", "days", "per"]
#: What people ask for; docs/desk/settings.md has all. Its text is ``settings.of.section_name``.
SHOWN: Final[dict[str, Kind]] = {
    "alerts.budget": "number",
    "alerts.per": "per",
    "alerts.random_share": "percent",
    "alerts.lease": "length",
    "alerts.expires": "length",
    "alerts.second_person": "yes",
    "labels.delay": "length",
    "retention.days": "days",
    "limits.rate": "number",
    "limits.requests": "number",
    "snapshots.every": "length",
    "webhooks.allow_private": "yes",
    "transaction.time_zone": "text",
    "transaction.minor_units": "number",
}
#: These stay as they are once a transaction is stored.
FIXED: Final = frozenset({"transaction.time_zone", "transaction.minor_units"})


class ShownSetting(NamedTuple):
    """A setting as the page shows it."""

    row: SettingRow
    kind: Kind
    value: str
    declared: str
    #: What the field has: what was typed where it was wrong, else the value.
    typed: str
    #: Pairs of a value and its text, where it is one of few.
    options: list[tuple[str, str]]
    #: What a change that waits would make of it.
    wanted: str

    @property
    def key(self) -> str:
        """The end of the keys of its texts."""
        return self.row.name.replace(".", "_")


@router.get(PATH)
def show_settings(visit: Annotated[Visit, needs("manage")]) -> Response:
    """Show the settings of the desk, and the addresses that are told of alerts."""
    return _settings(visit)


@router.post(f"{PATH}/change/{{name}}")
def change_setting(visit: Annotated[Visit, needs("manage")], name: Name) -> Response:
    """Let a setting have another value from now on."""
    settings, typed = visit.door.control.settings, visit.form["value"].strip()
    if SHOWN.get(name) == "percent" and not typed.endswith("%"):
        typed += "%"
    try:
        row = settings.change(name, read_setting(name, typed), visit.person)
    except (SettingError, ControlError) as error:
        return _settings(visit, {name: str(error)})
    visit.door.follow_settings()
    if row.waiting is not None:
        return visit.go(PATH, said="change_asked")
    return visit.go(PATH, said="setting_changed")


@router.post(f"{PATH}/reset/{{name}}")
def reset_setting(visit: Annotated[Visit, needs("manage")], name: Name) -> Response:
    """Let a setting be again what desk.toml says."""
    try:
        row = visit.door.control.settings.reset(name, visit.person)
    except (SettingError, ControlError) as error:
        return _settings(visit, {name: str(error)})
    visit.door.follow_settings()
    if row.waiting is not None:
        return visit.go(PATH, said="change_asked")
    return visit.go(PATH, said="setting_reset")


@router.post(f"{PATH}/webhooks")
def make_webhook(visit: Annotated[Visit, needs("manage")]) -> Response:
    """Send messages to an address from now on, and show the secret that signs them once."""
    form = visit.form
    try:
        _, secret = visit.door.webhooks.make(form["url"], form.all("events"), visit.person)
    except AddressError as error:
        return _settings(visit, {"url": str(error)})
    except WebhookError as error:
        return _settings(visit, {"events": str(error)})
    return _settings(visit, secret=secret)


@router.post(f"{PATH}/webhooks/{{webhook}}/remove")
def remove_webhook(visit: Annotated[Visit, needs("manage")], webhook: Number) -> Response:
    """Send no more messages to an address."""
    try:
        visit.door.webhooks.remove(webhook, visit.person)
    except NoSuchWebhook:
        # Somebody else was quicker: it is as it was wanted.
        return visit.go(PATH)
    return visit.go(PATH, said="webhook_removed")


def _settings(visit: Visit, errors: dict[str, str] | None = None, secret: str = "") -> Response:
    declared, wrong = visit.door.declared, errors or {}
    return visit.page(
        "settings.html",
        422 if errors else 200,
        errors=wrong,
        settings=[_shown(visit, row, wrong) for row in visit.door.control.settings.all()],
        others=[
            (name, _written(visit, name, setting_of(declared, name)), name in FIXED)
            for name in SHOWN
            if name not in CHANGEABLE
        ],
        webhooks=visit.door.webhooks.all(),
        events=EVENTS,
        chosen=visit.form.all("events") if errors else [],
        secret=secret,
        form={} if secret else visit.form.values,
    )


def _shown(visit: Visit, row: SettingRow, wrong: dict[str, str]) -> ShownSetting:
    name, kind = row.name, SHOWN[row.name]
    options: list[tuple[str, str]] = []
    if kind in ("yes", "per"):
        known = ("true", "false") if kind == "yes" else PERIODS
        options = [(each, _written(visit, name, read_setting(name, each))) for each in known]
    waiting = row.waiting
    return ShownSetting(
        row,
        kind,
        _written(visit, name, row.value),
        _written(visit, name, row.declared),
        visit.form["value"] if name in wrong else _typed(kind, row.value),
        options,
        "" if waiting is None else _written(visit, name, waiting.content["is"]),
    )


def _typed(kind: Kind, value: Any) -> str:
    """A value as people type it."""
    if kind == "percent":
        return f"{100 * value:.12g}"
    if kind == "yes":
        return "true" if value else "false"
    return str(value)


def _written(visit: Visit, name: str, value: Any) -> str:
    """The value of a setting, as people read it."""
    kind = SHOWN[name]
    if kind == "number":
        return visit.show.number(value)
    if kind == "percent":
        return visit.show.percent(value, 1)
    if kind == "length":
        return visit.show.length(nanoseconds(name, value))
    if kind == "yes":
        return visit.t("settings.yes" if value else "settings.no")
    if kind == "days":
        return visit.t("settings.days", count=value)
    if kind == "per":
        return visit.t(f"settings.per.{value}")
    return str(value)
