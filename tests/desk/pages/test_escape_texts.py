"""Texts of strangers are only text, in every field, on every page, for every role."""

import re

import pytest
from desk_full import FullDesk, Page

from rarefind.desk.pages.site import page_routes

#: Markup, a template, both quotes, an entity; 7070 * 7070 is nowhere by chance.
NASTY = "<script>alert(1)</script>{{7070*7070}}\"'>&lt;<img src=x onerror=alert(2)>"
PRODUCT = str(7070 * 7070)
#: Elements that no page has.
FOREIGN = {"b", "base", "embed", "iframe", "img", "object", "style"}
#: Kept, but on no page; or of a page that another field leads to.
NOT_SHOWN = {"digest", "value of a list", "list maker", "constant", "reason", "webhook"}


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    fields = set()

    def text(field):
        fields.add(field)
        return f"{NASTY} {field}"

    desk = FullDesk(tmp_path_factory.mktemp("desk"), text)
    desk.fields = fields
    yield desk
    desk.close()


def look(answer, where):
    """Look whether there is nothing on a page but what its template has; give the page."""
    assert answer.status_code != 500, where
    page = Page(answer)
    for tag, attributes in page.elements:
        assert tag not in FOREIGN, (where, tag)
        if tag == "script":
            assert attributes["src"].startswith("/desk/static/"), where
        for name in attributes:
            assert re.fullmatch(
                r"(?!on)[a-z][a-z0-9:-]*|viewBox|preserveAspectRatio", name, re.I
            ), (
                where,
                name,
            )
    assert PRODUCT not in answer.text, where
    assert answer.text.count("<script") == answer.text.count("<script src="), where
    return page


def test_every_field_is_text_on_every_page_of_every_role(desk):
    seen, names = "", set()
    for route, address in desk.addresses():
        for role in desk.roles(route):
            page = look(desk.visit(address, role), (address, role))
            seen += page.text
            names |= page.fields
    # Some have their quotes in another form.
    assert not {each for each in desk.fields - NOT_SHOWN if f"alert(2)> {each}" not in seen}
    assert {"name", "note", "text", "threshold", "noted"} <= names


def test_what_is_typed_into_forms_is_text_too(desk):
    """Each form is sent with such a text in all fields that any form has."""
    names = {name for _, at in desk.addresses() for name in Page(desk.visit(at, "admin")).fields}
    odd = f"{NASTY} \u202e\x1b\ufffe typed"
    fields = dict.fromkeys(names - {"csrf"}, odd)
    filled = {"case": str(desk.case), "digest": desk.models[1], "entity": "card"}
    routes = [route for route in page_routes() if route.method == "POST" and route.action]
    shown = 0
    for route in sorted(routes, key=lambda each: "sign-out" in each.path):
        path = re.sub(r"\{(\w+)\}", lambda name: filled.get(name[1], "1"), route.path)
        answer = desk.submit(path, "admin", **fields)
        if answer.headers.get("content-type", "").startswith("text/html"):
            shown += odd in look(answer, path).text
            shown += NASTY in Page(answer).text
    assert shown > 8


def test_bytes_that_are_no_text_are_refused(desk):
    for body in (b"name=%ED%A0%80", b"name=%FF", b"name=%00"):
        headers = {"content-type": "application/x-www-form-urlencoded"}
        answer = desk.visit("/desk/rules/edit", "expert", "POST", content=body, headers=headers)
        assert answer.status_code in (400, 422)
        look(answer, body)
