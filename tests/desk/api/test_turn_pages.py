"""Long lists come a page at a time, and turning the pages shows each row once."""

from itertools import count

import pytest
from desk.databases import KINDS
from desk_web import WebDesk, check_problem

_numbers = count()


@pytest.fixture(params=KINDS)
def web(request, tmp_path):
    databases = None
    if request.param == "postgresql":
        from databases import postgresql_url

        from rarefind.desk.database import PostgresDatabase

        url = postgresql_url()
        ledger, desk = (f"{kind}{next(_numbers)}" for kind in ("pageledger", "pagedesk"))
        databases = (
            PostgresDatabase(url, ledger, sole=True),
            lambda: PostgresDatabase(url, ledger, read_only=True),
            PostgresDatabase(url, desk),
        )
    made = WebDesk(tmp_path, databases=databases)
    yield made
    made.close()


def pages(web, path, rows, parameter, who="admin"):
    """All rows of a list, and the sizes of its pages of two."""
    found, sizes, place = [], [], None
    while True:
        extra = {} if place is None else {parameter: place}
        page = web.ask("GET", path, who, params={"limit": 2} | extra).json()
        sizes.append(len(page[rows]))
        found += page[rows]
        place = page["next"]
        if place is None:
            return found, sizes


def test_each_row_is_on_one_page(web):
    case = web.pay("a", 2000) and web.case_of("a")
    web.post(f"/cases/{case}/take")
    for verdict in ("fraud", "genuine", "unclear", "fraud", "genuine"):
        web.post(f"/cases/{case}/verdict", {"verdict": verdict})
    found, sizes = pages(web, f"/cases/{case}/verdicts", "verdicts", "after")
    assert [each["verdict"] for each in found] == [
        "fraud",
        "genuine",
        "unclear",
        "fraud",
        "genuine",
    ]
    assert sizes == [2, 2, 1]
    file = web.get(f"/cases/{case}").json()
    assert (file["verdicts"], file["verdict_count"]) == (found, 5)

    for number in range(4):
        web.ask("PUT", "/rules/r", "expert", json={"text": f"amount > {number}"})
    found, sizes = pages(web, "/rules/r/history", "versions", "after")
    assert [each["version"] for each in found] == [1, 2, 3, 4]
    assert sizes == [2, 2, 0]

    values = ["Z", "a", "Ä", "ß", "東京", "a b", "%", "'", "<b>"]
    for name in values:
        web.ask("PUT", f"/lists/{name.replace('%', '%25')}", "expert", json={"values": values})
    found, _ = pages(web, "/lists", "names", "after")
    assert sorted(found) == sorted(values)
    found, _ = pages(web, "/lists/Z", "values", "after")
    assert sorted(found) == sorted(values)
    assert web.get("/lists/Z?limit=1").json()["count"] == len(values)

    for number in range(3):
        web.post("/blocks", {"key": f"c{number}"})
        web.post(f"/entities/card/c{number}/erase", who="admin")
    found, sizes = pages(web, "/blocks", "blocks", "before")
    assert [each["key"] for each in found] == ["c2", "c1", "c0"]
    found, sizes = pages(web, "/orders", "orders", "before")
    assert ([each["id"] for each in found], sizes) == ([3, 2, 1], [2, 1])
    found, _ = pages(web, "/tokens", "tokens", "after")
    assert {each["name"] for each in found} == set(web.tokens)
    assert len(found) == len(web.tokens)


def test_a_page_has_bounds(web):
    for path in (
        "/tokens",
        "/lists",
        "/rules/r/history",
        "/blocks",
        "/orders",
        "/cases/1/verdicts",
    ):
        for limit in (0, 1_001, "x"):
            check_problem(web.get(f"{path}?limit={limit}", "admin"), 422, "invalid")
    for path in ("/tokens", "/lists"):
        check_problem(web.get(f"{path}?after=%00", "admin"), 422, "invalid")
    check_problem(web.get("/cases/1/verdicts"), 404, "not-found")
    check_problem(web.get("/rules/r/history"), 404, "not-found")
    assert web.ask("PUT", "/rules/r", "expert", json={"text": "amount > 1"}).status_code == 200
    assert web.get("/rules/r/history?after=7").json() == {"versions": [], "next": None}
