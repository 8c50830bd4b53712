"""Settings: what desk.toml says, when a change of it counts, and the webhooks."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, NamedTuple

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.data.clock import nanoseconds
from rarefind.desk.api.parameters import Number
from rarefind.desk.pages.menu import in_menu
from rarefind.desk.pages.visit import Visit, needs
from rarefind.desk.webhooks import EVENTS, AddressError, NoSuchWebhook, WebhookError

router = APIRouter(include_in_schema=False)

PATH: Final = "/desk/settings"
in_menu(90, "settings.title", PATH, "manage", "desk")

#: How a value is written.
Kind = Literal["text", "number", "percent", "length", "yes", "days", "per"]


class ShownSetting(NamedTuple):
    """A setting of desk.toml; its text is ``settings.of.section_name``."""

    section: str
    name: str
    kind: Kind
    #: Whether it stays as it is once a transaction is stored.
    is_fixed: bool = False


#: What people ask for; docs/desk/settings.md has all.
SHOWN: Final = (
    ShownSetting("alerts", "budget", "number"),
    ShownSetting("alerts", "per", "per"),
    ShownSetting("alerts", "random_share", "percent"),
    ShownSetting("alerts", "lease", "length"),
    ShownSetting("alerts", "expires", "length"),
    ShownSetting("alerts", "second_person", "yes"),
    ShownSetting("labels", "delay", "length"),
    ShownSetting("retention", "days", "days"),
    ShownSetting("snapshots", "every", "length"),
    ShownSetting("limits", "rate", "number"),
    ShownSetting("limits", "requests", "number"),
    ShownSetting("webhooks", "allow_private", "yes"),
    ShownSetting("transaction", "time_zone", "text", is_fixed=True),
    ShownSetting("transaction", "minor_units", "number", is_fixed=True),
)


@router.get(PATH)
def show_settings(visit: Annotated[Visit, needs("manage")]) -> Response:
    """Show the settings of the desk, and the addresses that are told of alerts."""
    return _settings(visit)


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
    return visit.page(
        "settings.html",
        422 if errors else 200,
        errors=errors or {},
        settings=[(each, _written(visit, each)) for each in SHOWN],
        webhooks=visit.door.webhooks.all(),
        events=EVENTS,
        chosen=visit.form.all("events") if errors else [],
        secret=secret,
        form={} if secret else visit.form.values,
    )


def _written(visit: Visit, setting: ShownSetting) -> str:
    """The value of a setting, as people read it."""
    value: Any = getattr(getattr(visit.door.schema, setting.section), setting.name)
    if setting.kind == "number":
        return visit.show.number(value)
    if setting.kind == "percent":
        return visit.show.percent(value, 1)
    if setting.kind == "length":
        return visit.show.length(nanoseconds(setting.name, value))
    if setting.kind == "yes":
        return visit.t("settings.yes" if value else "settings.no")
    if setting.kind == "days":
        return visit.t("settings.days", count=value)
    if setting.kind == "per":
        return visit.t(f"settings.per.{value}")
    return str(value)
