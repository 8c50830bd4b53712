"""API tokens: by which programs come in; each is shown once."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api.parameters import Name
from rarefind.desk.api.roles import ROLES
from rarefind.desk.names import LONGEST_NAME
from rarefind.desk.pages.menu import in_menu
from rarefind.desk.pages.visit import Visit, needs

router = APIRouter(include_in_schema=False)

PATH: Final = "/desk/tokens"
in_menu(80, "tokens.title", PATH, "manage", "desk")


@router.get(PATH)
def show_tokens(visit: Annotated[Visit, needs("manage")]) -> Response:
    """Show all tokens by their names."""
    return _tokens(visit)


@router.post(PATH)
def make_token(visit: Annotated[Visit, needs("manage")]) -> Response:
    """Make a token, and show it this once."""
    form, door = visit.form, visit.door
    role = form["role"]
    if role not in ROLES:
        return _tokens(visit, {"role": visit.t("tokens.error.role")})
    if any(row.name == form["name"] for row in door.tokens.rows()):
        return _tokens(visit, {"name": visit.t("tokens.error.taken", name=form["name"])})
    try:
        made = door.tokens.make(form["name"], role, door.clock.now(), visit.person)
    except ValueError:
        return _tokens(visit, {"name": visit.t("people.error.name", most=LONGEST_NAME)})
    return _tokens(visit, made=made)


@router.post(f"{PATH}/{{name}}/revoke")
def revoke_token(visit: Annotated[Visit, needs("manage")], name: Name) -> Response:
    """End a token: within a second no process of the desk takes it."""
    tokens = visit.door.tokens
    if any(row.name == name and row.revoked is None for row in tokens.rows()):
        tokens.revoke(name, visit.door.clock.now(), visit.person)
    return visit.go(PATH, said="token_revoked")


def _tokens(visit: Visit, errors: dict[str, str] | None = None, made: str = "") -> Response:
    return visit.page(
        "tokens.html",
        422 if errors else 200,
        errors=errors or {},
        rows=visit.door.tokens.rows(),
        roles=[(role, visit.t(f"role.{role}")) for role in ROLES],
        made=made,
        form={} if made else visit.form.values,
    )
