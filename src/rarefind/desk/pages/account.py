"""The account: password, language, look, and the browsers that are signed in."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.pages.sign_in import errors_of
from rarefind.desk.pages.visit import HOME, Visit, needs
from rarefind.desk.people import LANGUAGES, THEMES, PeopleError

router = APIRouter(include_in_schema=False)

PATH: Final = "/desk/account"


@router.get(PATH)
def show_account(visit: Annotated[Visit, needs("read")]) -> Response:
    """Show what a user can set for themselves."""
    return _account(visit)


@router.post(PATH)
def set_preferences(visit: Annotated[Visit, needs("read")]) -> Response:
    """Set the language and the look of the pages."""
    try:
        visit.door.people.users.set_preferences(
            visit.user, visit.form["language"], visit.form["theme"]
        )
    except PeopleError as error:
        return _account(visit, error)
    return visit.go(PATH, said="saved")


@router.post(f"{PATH}/theme")
def set_theme(visit: Annotated[Visit, needs("read")]) -> Response:
    """Set the look of the pages, from any of them."""
    try:
        visit.door.people.users.set_preferences(
            visit.user, visit.user.language, visit.form["theme"]
        )
    except PeopleError as error:
        return _account(visit, error)
    back = visit.form["back"]
    return visit.go(back if back.startswith(f"{HOME}/") and "\\" not in back else PATH)


@router.post(f"{PATH}/password")
def change_password(visit: Annotated[Visit, needs("read")]) -> Response:
    """Set another password."""
    form = visit.form
    try:
        if form["password"] != form["password_again"]:
            raise PeopleError("repeated", "password_again")
        visit.door.people.change_password(
            visit.user, visit.session, form["present_password"], form["password"]
        )
    except PeopleError as error:
        return _account(visit, error)
    return visit.go(PATH, said="password_changed")


@router.post(f"{PATH}/sessions/{{session}}/end")
def end_session(visit: Annotated[Visit, needs("read")], session: str) -> Response:
    """Sign out in another browser."""
    visit.door.people.sessions.end(visit.user, session)
    return visit.go(PATH, said="session_ended")


def _account(visit: Visit, error: PeopleError | None = None) -> Response:
    return visit.page(
        "account.html",
        200 if error is None else 422,
        errors=errors_of(visit, error),
        sessions=visit.door.people.sessions.of(visit.user),
        languages=LANGUAGES,
        themes=THEMES,
    )
