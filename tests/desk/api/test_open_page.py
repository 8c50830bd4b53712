"""The page of a desk: what it says, and what it never shows."""

import re

import httpx
from desk_web import WebDesk

from rarefind.desk.database import DatabaseUnavailable
from rarefind.desk.ledger import Position
from rarefind.desk.parity import ParityDay


def counts(text):
    found = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", text)
    return {name: int(number.replace(",", "")) for name, number in found}


def test_the_page_counts_today_and_needs_no_token(web):
    web.clock.advance("-1D")
    web.pay("old", 2000, time="2026-01-30T12:00:00Z")
    web.clock.advance("1D")
    for card in ("4111-a", "4111-b", "4111-c", "4111-d"):
        web.pay(card, 1000)
    web.pay("4111-e", 5)
    web.door.claims.make("p1")
    page = web.get("/", None)
    assert page.status_code == 200
    assert counts(page.text) == {
        "Transactions": 5,
        "Alerts": 4,
        "Budget": 3,
        "To check now": 3,
        "Checked": 0,
        "Hits": 0,
        "Beyond the budget": 2,
        "Claims to answer": 1,
    }
    assert "<h1>cards</h1>" in page.text
    assert "It decides transactions." in page.text
    assert "survives a loss of power" in page.text
    assert "There is no model: rules alone decide." in page.text
    assert "curl http://127.0.0.1:8321/transactions" in page.text
    assert "4111" not in page.text


def test_the_page_says_whether_features_are_as_they_were(web):
    assert "computed again" not in web.get("/", None).text
    web.door.parity.add([ParityDay("2026-01-30", 680_000, 0, 0, None)], Position(1, b""), 0)
    web.door.page_counts = None
    assert "<p>0 of 680,000 differ on 2026-01-30.</p>" in web.get("/", None).text


def test_the_page_is_whole_and_runs_nothing(web):
    page = web.get("/", None)
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "<script" not in page.text
    assert not re.search(r'(src|href)="(?!/|http://127\.0\.0\.1:8321/)', page.text)
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["x-content-type-options"] == "nosniff"


def test_the_page_says_when_nothing_is_decided(web):
    web.neighbour = None
    assert "It does not decide transactions now." in web.get("/", None).text


def test_a_neighbour_that_is_not_there_or_talks_nonsense_is_not_ready(web):
    def refuse(request):
        raise httpx.ConnectError("refused")

    for answer in (refuse, lambda request: httpx.Response(200, text="<html>")):
        web.door.decisions._transport = httpx.MockTransport(answer)
        web.door.decisions._known = None
        assert "It does not decide transactions now." in web.get("/", None).text


def test_the_page_is_there_when_a_database_is_not(web, monkeypatch):
    def fail(*_):
        raise DatabaseUnavailable("the disk is gone")

    monkeypatch.setattr(web.door.ledger, "arrived_since", fail)
    page = web.get("/", None)
    assert page.status_code == 503
    assert "cannot be read now" in page.text
    monkeypatch.undo()
    assert web.get("/", None).status_code == 200


def test_the_name_of_a_desk_is_only_text(tmp_path):
    from desk_web import SCHEMA
    from msgspec.structs import replace

    desk = WebDesk(tmp_path, replace(SCHEMA, name="<script>alert(1)</script>"))
    assert "<script>" not in desk.get("/", None).text + desk.get("/routes", None).text
    desk.close()


def test_all_routes_are_shown_to_people(web):
    page = web.get("/routes", None)
    assert page.status_code == 200
    assert "POST /cases/{case}/take" in page.text
    assert "(investigator, expert, admin)" in page.text
