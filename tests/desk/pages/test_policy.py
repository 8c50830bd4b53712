"""What every page says about itself to a browser."""

import re

import pytest
from desk_pages import text_of

from rarefind.desk.pages.menu import menu_of

PATHS = [*(item.path for item in menu_of("admin")), "/desk/account", "/desk/nothing"]


@pytest.mark.parametrize("path", PATHS)
def test_a_page_runs_and_loads_nothing_but_files_of_the_desk(web, path):
    answer = web.visit(path, "admin")
    policy = dict(
        each.strip().split(" ", 1) for each in answer.headers["content-security-policy"].split(";")
    )
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
    }
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["x-content-type-options"] == "nosniff"
    for place in re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="([^"]+)"', answer.text):
        file = web.visit(place, None)
        assert file.status_code == 200, place
        assert "immutable" in file.headers["cache-control"]


@pytest.mark.parametrize("path", PATHS)
def test_a_page_can_be_read_by_machines(web, path):
    text = web.visit(path, "admin").text
    assert text.count("<h1") == 1
    assert text.count("<main") == 1
    assert '<html lang="en"' in text
    assert 'href="#main"' in text
    ids = re.findall(r'\sid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    for table in re.findall(r"<table.*?</table>", text, re.DOTALL):
        assert "<caption" in table
        assert 'scope="col"' in table
    for name in re.findall(r'<label for="([^"]+)"', text):
        assert name in ids


def test_a_file_that_is_not_there_is_told(web):
    assert web.visit("/desk/static/desk.css", None).status_code == 404


def test_french_is_asked_for_by_the_browser_or_the_account(web):
    french = web.visit("/desk/users", "admin", headers={"accept-language": "fr"})
    assert "<h1>Utilisateurs</h1>" in french.text
    assert '<html lang="fr"' in french.text
    web.submit("/desk/account", "admin", language="fr", theme="dark")
    page = web.visit("/desk/users", "admin").text
    assert "<h1>Utilisateurs</h1>" in page
    assert 'data-theme="dark"' in page


def test_problems_are_pages_for_people(web, monkeypatch):
    missing = web.visit("/desk/nothing", "admin")
    assert missing.status_code == 404
    assert "There is nothing at this address" in text_of(missing)
    assert web.visit("/desk/nothing", None).status_code == 404
    partial = web.visit("/desk/nothing", "admin", headers={"hx-request": "true"})
    assert partial.headers["hx-retarget"] == "#main"
    assert web.visit("/desk/sign-out", "admin").status_code == 405
    assert web.visit("/desk/audit?before=x", "admin").status_code == 422

    def fail(*_, **__):
        raise KeyError("4111")

    monkeypatch.setattr(web.door.control.audit, "newest", fail)
    mistake = web.visit("/desk/audit", "admin")
    assert mistake.status_code == 500
    assert "The desk has made a mistake" in text_of(mistake)
    assert "4111" not in mistake.text + web.log.getvalue()


def test_a_database_that_is_away_is_a_page_too(web, monkeypatch):
    from rarefind.desk.database import DatabaseUnavailable

    def fail(*_, **__):
        raise DatabaseUnavailable("gone")

    monkeypatch.setattr(web.door.people.sessions, "find", fail)
    answer = web.visit("/desk/account", "admin")
    assert answer.status_code == 503
    assert "cannot answer now" in text_of(answer)
    assert answer.headers["retry-after"] == "1"
