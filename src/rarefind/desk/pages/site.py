"""All pages: whoever adds one names its module here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from fastapi import APIRouter
from fastapi.routing import APIRoute

from rarefind.desk.api.roles import Action
from rarefind.desk.pages import (
    account,
    assets,
    audit,
    case,
    changes,
    entity,
    models,
    monitoring,
    queue,
    rule_history,
    rules,
    search,
    settings,
    sign_in,
    tokens,
    users,
)
from rarefind.desk.pages.visit import Needs

__all__ = ["ROUTERS", "PageRoute", "page_routes"]

#: In the order in which addresses are looked up.
ROUTERS: Final[tuple[APIRouter, ...]] = (
    assets.router,
    sign_in.router,
    account.router,
    queue.router,
    case.router,
    rules.router,
    rule_history.router,
    audit.router,
    users.router,
    tokens.router,
    settings.router,
    changes.router,
    models.router,
    monitoring.router,
    search.router,
    entity.router,
)


class PageRoute(NamedTuple):
    """A route of the pages: ``action`` is what one must be allowed to do, None for anybody."""

    method: str
    path: str
    action: Action | None
    does: str


def page_routes() -> Iterator[PageRoute]:
    """All routes of the pages."""
    for router in ROUTERS:
        for route in router.routes:
            assert isinstance(route, APIRoute)
            needed = [
                each.call.action
                for each in route.dependant.dependencies
                if isinstance(each.call, Needs)
            ]
            (does, *_) = (route.endpoint.__doc__ or "").strip().splitlines()
            for method in sorted(route.methods or ()):
                yield PageRoute(method, route.path, needed[0] if needed else None, does)
