"""Signing in and out, and the one-time links by which a password is set."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.pages import cookies
from rarefind.desk.pages.menu import menu_of
from rarefind.desk.pages.visit import HOME, SIGN_IN, Guest, Visit, anybody, needs, visit_of
from rarefind.desk.people import PeopleError

router = APIRouter(include_in_schema=False)

WELCOME = "/desk/welcome/{link}"


@router.get(HOME)
def show_home(visit: Annotated[Visit, needs("read")]) -> Response:
    """Go to the first page of the menu."""
    menu = menu_of(visit.user.role)
    return visit.go(menu[0].path if menu else "/desk/account")


@router.get(SIGN_IN)
async def show_sign_in(visit: Annotated[Guest, anybody]) -> Response:
    """Ask for a name and a password."""
    if await visit_of(visit.request) is not None:
        return visit.go(HOME)
    return _sign_in(visit)


@router.post(SIGN_IN)
def sign_in(visit: Annotated[Guest, anybody]) -> Response:
    """Begin a session."""
    form, people = visit.form, visit.door.people
    try:
        token = people.sign_in(form["name"], form["password"], visit.address, visit.browser)
    except PeopleError as error:
        return _sign_in(visit, error)
    response = visit.go(_safe(visit.request.query_params.get("next", "")))
    cookies.keep_session(visit.request, response, token)
    return response


@router.post("/desk/sign-out")
def sign_out(visit: Annotated[Visit, needs("read")]) -> Response:
    """End the session of this browser."""
    visit.door.people.sessions.end(visit.user, visit.session.id)
    return _leave(visit)


@router.post("/desk/sign-out-everywhere")
def sign_out_everywhere(visit: Annotated[Visit, needs("read")]) -> Response:
    """End all sessions of the user."""
    visit.door.people.sessions.end_all(visit.user)
    return _leave(visit)


@router.get(WELCOME)
def show_welcome(visit: Annotated[Guest, anybody], link: str) -> Response:
    """Ask for a password, where a link is good for one."""
    return _welcome(visit, link)


@router.post(WELCOME)
def set_password(visit: Annotated[Guest, anybody], link: str) -> Response:
    """Set a password, and sign in."""
    form, people = visit.form, visit.door.people
    try:
        if form["password"] != form["password_again"]:
            raise PeopleError("repeated", "password_again")
        token = people.follow(link, form["name"], form["password"], visit.address, visit.browser)
    except PeopleError as error:
        return _welcome(visit, link, error)
    response = visit.go(HOME)
    cookies.keep_session(visit.request, response, token)
    return response


def errors_of(visit: Guest, error: PeopleError | None) -> dict[str, str]:
    """What is wrong, by the field that it is shown at."""
    if error is None:
        return {}
    return {error.where or "form": visit.t(f"people.error.{error.kind}", **error.values)}


def _sign_in(visit: Guest, error: PeopleError | None = None) -> Response:
    status = 200 if error is None else 429 if error.kind == "too_many" else 422
    response = visit.page(
        "sign_in.html",
        status,
        errors=errors_of(visit, error),
        nobody=visit.door.people.users.is_empty,
    )
    cookies.keep_visitor(visit.request, response, visit.owner)
    return response


def _welcome(visit: Guest, link: str, error: PeopleError | None = None) -> Response:
    try:
        found = visit.door.people.links.find(link)
    except PeopleError:
        return visit.page("welcome_over.html", 410)
    response = visit.page(
        "welcome.html",
        200 if error is None else 422,
        errors=errors_of(visit, error),
        invited=found.user,
        expires=found.expires,
    )
    cookies.keep_visitor(visit.request, response, visit.owner)
    return response


def _leave(visit: Visit) -> Response:
    response = visit.go(SIGN_IN, said="signed_out")
    cookies.forget_session(visit.request, response)
    return response


def _safe(address: str) -> str:
    """Where to go after signing in: a page of this desk, and never another site."""
    return address if address.startswith(f"{HOME}/") and "\\" not in address else HOME
