"""Pages are written once before anybody asks: the first visitor waits no longer than the others.

Templates are compiled, the words and numbers of a language read, statements prepared, and what
pages keep in memory is there. Nothing is changed, and nothing is shown to anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.requests import Request

from rarefind.desk.api.door import WebDoor
from rarefind.desk.pages.case import show_case
from rarefind.desk.pages.entity import show_entity
from rarefind.desk.pages.forms import Form
from rarefind.desk.pages.rendering import compile_templates
from rarefind.desk.pages.site import ROUTERS
from rarefind.desk.pages.texts import LOCALES
from rarefind.desk.pages.visit import Needs, Visit
from rarefind.desk.people import Session, User

__all__ = ["warm_up"]


def warm_up(app: FastAPI) -> None:
    """Write every page that can be written, in every language; what fails is left out."""
    door: WebDoor = app.state.door
    compile_templates()
    for language in LOCALES:
        visit = _visit(app, language)
        for write in _pages(door):
            with suppress(Exception):  # who asks for that page is told what is wrong
                write(visit)


def _visit(app: FastAPI, language: str) -> Visit:
    """A visit of somebody who is not there, and who may see everything."""
    scope = {
        "type": "http",
        "method": "GET",
        "scheme": "http",
        "path": "/",
        "query_string": b"",
        "headers": [],
        "server": ("desk", 80),
        "app": app,
    }
    user = User(0, "", "admin", False, language, "", 0, "", None)
    return Visit(Request(scope), Form(), user, Session("", 0, 0, "", ""))


def _pages(door: WebDoor) -> Iterator[Callable[[Visit], Any]]:
    for router in ROUTERS:
        for route in router.routes:
            assert isinstance(route, APIRoute)
            needs = [each.call for each in route.dependant.dependencies]
            is_page = route.methods == {"GET"} and not route.param_convertors
            if is_page and any(isinstance(each, Needs) for each in needs):
                yield route.endpoint
    for case in door.cases.waiting.page(limit=1):
        yield partial(show_case, case=case.id)
        yield partial(show_entity, entity=door.schema.alerts.entity, key=case.entity)
