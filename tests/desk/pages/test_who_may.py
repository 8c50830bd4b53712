"""Each role at each route of the pages: who may is let in, and nobody else."""

import re

import pytest
from desk_pages import text_of

from rarefind.desk.api.roles import is_allowed
from rarefind.desk.pages.menu import menu_of
from rarefind.desk.pages.site import page_routes
from rarefind.desk.people import USER_ROLES

ROUTES = list(page_routes())
CLOSED = [route for route in ROUTES if route.action is not None]
#: What nobody has to sign in for: signing in itself, and files without personal data.
OPEN = {
    "GET /desk/sign-in",
    "POST /desk/sign-in",
    "GET /desk/welcome/{link}",
    "POST /desk/welcome/{link}",
    "GET /desk/static/{name}",
}


def filled(path):
    """An address with something in the place of its names."""
    return re.sub(r"\{\w+\}", "1", path)


def test_only_signing_in_is_open_to_all():
    assert {f"{route.method} {route.path}" for route in ROUTES if route.action is None} == OPEN


@pytest.mark.parametrize("role", USER_ROLES)
def test_a_role_is_let_in_where_it_may_and_nowhere_else(web, role):
    # Signing out is last: it ends what the others need.
    for route in sorted(CLOSED, key=lambda each: "sign-out" in each.path):
        before = web.door.control.audit.last.sequence
        if route.method == "GET":
            answer = web.visit(filled(route.path), role)
        else:
            answer = web.submit(filled(route.path), role)
        may = is_allowed(role, route.action)
        assert (answer.status_code == 403) == (not may), (route, answer.status_code)
        assert answer.status_code != 500, route
        if not may:
            assert "Your role may not do this" in text_of(answer)
            assert web.door.control.audit.last.sequence == before
        if "sign-out" in route.path:
            link = web.door.people.reset(role, "admin")
            web.sessions[role] = web.door.people.follow(link, "", "three grey herons", "", "")


def test_nobody_is_let_in_without_signing_in(web):
    before = web.door.control.audit.last.sequence
    for route in CLOSED:
        answer = web.visit(filled(route.path), None, route.method)
        assert answer.status_code == 303, route
        assert answer.headers["location"].startswith("/desk/sign-in")
    assert web.door.control.audit.last.sequence == before


def test_a_form_without_its_token_does_nothing_whoever_sends_it(web):
    before = web.door.control.audit.last.sequence
    for route in CLOSED:
        if route.method != "GET":
            answer = web.visit(filled(route.path), "admin", route.method, data={"csrf": "x"})
            assert answer.status_code == 400, route
    assert web.door.control.audit.last.sequence == before


@pytest.mark.parametrize("role", USER_ROLES)
def test_the_menu_has_what_a_role_may_open(web, role):
    page = web.visit("/desk/account", role).text
    menu = page.partition("<nav")[2].partition("</nav>")[0]
    shown = re.findall(r'href="([^"]+)"', menu)
    assert sorted(shown) == sorted(item.path for item in menu_of(role))
    for path in shown:
        assert web.visit(path, role).status_code == 200, path


def test_a_role_counts_from_the_next_request_on(web):
    assert web.visit("/desk/users", "admin").status_code == 200
    web.add_user("eve", "admin")
    web.door.people.users.set_role("admin", "auditor", "eve")
    assert web.visit("/desk/users", "admin").status_code == 403
    web.door.people.users.disable("admin", "eve")
    assert web.visit("/desk/account", "admin").status_code == 303
