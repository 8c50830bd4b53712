"""Users: who may sign in, and as what."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api.parameters import Name
from rarefind.desk.pages.menu import in_menu
from rarefind.desk.pages.sign_in import WELCOME, errors_of
from rarefind.desk.pages.visit import Visit, needs
from rarefind.desk.people import USER_ROLES, PeopleError

router = APIRouter(include_in_schema=False)

PATH: Final = "/desk/users"
in_menu(70, "users.title", PATH, "manage", "desk")


@router.get(PATH)
def show_users(visit: Annotated[Visit, needs("manage")]) -> Response:
    """Show all users, and what can be done about them."""
    return _users(visit)


@router.post(PATH)
def invite_user(visit: Annotated[Visit, needs("manage")]) -> Response:
    """Add a user, and show the link by which they choose a password."""
    name = visit.form["name"]
    try:
        link = visit.door.people.invite(name, visit.form["role"], visit.person)
    except PeopleError as error:
        return _users(visit, error)
    return _users(visit, link=link, linked=name)


@router.post(f"{PATH}/{{name}}/role")
def set_role(visit: Annotated[Visit, needs("manage")], name: Name) -> Response:
    """Give a user another role."""
    try:
        visit.door.people.users.set_role(name, visit.form["role"], visit.person)
    except PeopleError as error:
        return _users(visit, error, of=name)
    return visit.go(PATH, said="saved")


@router.post(f"{PATH}/{{name}}/reset")
def reset_password(visit: Annotated[Visit, needs("manage")], name: Name) -> Response:
    """Show a link by which a user chooses another password."""
    try:
        link = visit.door.people.reset(name, visit.person)
    except PeopleError as error:
        return _users(visit, error, of=name)
    return _users(visit, link=link, linked=name)


@router.post(f"{PATH}/{{name}}/disable")
def disable_user(visit: Annotated[Visit, needs("manage")], name: Name) -> Response:
    """Sign a user out everywhere and for good."""
    try:
        visit.door.people.users.disable(name, visit.person)
    except PeopleError as error:
        return _users(visit, error, of=name)
    return visit.go(PATH, said="user_disabled")


def _users(
    visit: Visit,
    error: PeopleError | None = None,
    *,
    of: str = "",
    link: str = "",
    linked: str = "",
) -> Response:
    """The page; ``of`` is the user in whose row an error belongs."""
    errors = errors_of(visit, error)
    address = str(visit.request.base_url).rstrip("/") + WELCOME.format(link=link) if link else ""
    return visit.page(
        "users.html",
        200 if error is None else 422,
        errors={} if of else errors,
        row_errors={of: next(iter(errors.values()))} if of else {},
        users=visit.door.people.users.all(),
        roles=[(role, visit.t(f"role.{role}")) for role in USER_ROLES],
        link=address,
        linked=linked,
        form={} if link else visit.form.values,
    )
