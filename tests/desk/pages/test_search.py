"""People search for cards, transactions and cases, and nobody who was erased is found."""

from urllib.parse import quote

import pytest
from desk_pages import text_of
from desk_web import NOON

from rarefind.desk.erasure import end_order

NASTY = "<script>alert(1)</script>{{7*7}}'\"&/..;#?"


def test_what_is_written_down_is_found(web):
    web.pay("4711 0001", id="pay-1")
    web.pay("4711 0002", id="pay-2")
    web.pay("9999", amount=5, id="other")
    for text, expected in (
        ("4711", ["4711 0001", "4711 0002"]),
        ("4711 0002", ["4711 0002"]),
        ("pay-", ["pay-1", "pay-2"]),
        ("9999", ["9999"]),  # without a case, by the whole key
        ("t1", ["terminal"]),
        (str(web.case_of("4711 0001")), ["Case"]),
        (f"#{web.case_of('4711 0001')}", ["4711 0001"]),
    ):
        said = text_of(web.visit(f"/desk/search?q={quote(text)}"))
        for each in expected:
            assert each in said, (text, each)
    for text in ("999", "nothing", "%", "pay-3", "x" * 300, "9" * 40, "\0"):
        assert "Nothing found" in text_of(web.visit(f"/desk/search?q={quote(text)}")), text
    assert "Nothing found" not in text_of(web.visit("/desk/search"))


def test_long_lists_are_cut_and_say_so(web):
    for number in range(25):
        web.pay(f"card {number:02}", id=f"p-{number:02}")
    page = web.visit("/desk/search?q=p-")
    assert "There is more: write more of it." in text_of(page)
    assert page.text.count(">p-") == 20


def test_who_was_erased_is_not_found(web):
    web.pay("4711", id="pay-1")
    case = web.case_of("4711")
    order = web.door.control.orders.erase("card", "4711", "admin")
    web.writer.erase(0, "4711", by="admin", now=NOON, order=order.id)
    end_order(web.door.control, web.database, web.schema, order, 1)
    for text in ("4711", "pay-1", "erased", f"erased {order.id}", str(case)):
        assert "Nothing found" in text_of(web.visit(f"/desk/search?q={quote(text)}")), text
    assert web.visit("/desk/entities/card/4711").status_code == 404


@pytest.mark.parametrize("name", [NASTY, "x" * 200, "שלום card", "a/b//c"], ids=str.__len__)
def test_any_name_is_shown_as_it_is_written(web, name):
    web.pay(name)
    found = web.visit(f"/desk/search?q={quote(name)}")
    path = f"/desk/entities/card/{quote(name, safe='')}"
    for page in (found, web.visit(path)):
        assert page.status_code == 200
        assert name in text_of(page).replace("  ", " ")
        assert "<script>alert" not in page.text
        assert "49" not in text_of(page)


def test_an_entity_has_its_transactions_cases_and_blocks(web):
    for number in range(55):
        web.pay("c1", amount=5000 if number == 54 else 1000 if number > 50 else 10)
    case = web.case_of("c1")
    web.door.cases.take(case, "ann")
    web.door.cases.decide(case, "ann", "fraud")
    web.door.control.blocks.ask("c1", "ann", "seen before")
    page = web.visit("/desk/entities/card/c1")
    said = text_of(page)
    for each in ("Amounts over time", "Blocked", "seen before", "Fraud ann", "Denied", "t1"):
        assert each in said, each
    assert page.text.count('class="mono small"') == 50
    assert "?before=6" in page.text
    older = web.visit("/desk/entities/card/c1?before=6")
    assert older.text.count('class="mono small"') == 5
    assert web.visit("/desk/entities/terminal/t1").status_code == 200
    assert web.visit("/desk/entities/card/nobody").status_code == 404
    assert web.visit("/desk/entities/shop/t1").status_code == 404


def test_all_that_is_kept_of_a_card_is_sent_as_a_file(web):
    name = "a/b c"
    web.pay(name)
    web.door.control.blocks.ask(name, "ann")
    path = f"/desk/entities/card/{quote(name, safe='')}"
    page = web.visit(path, "auditor").text
    assert f'action="{path}/export"' in page
    assert 'href="/desk/audit?about=block+1"' in page
    sent = web.submit(f"{path}/export", "auditor")
    assert sent.headers["content-disposition"] == 'attachment; filename="export.json"'
    assert [each["id"] for each in sent.json()["transactions"]] == ["p1"]
    (row,) = web.door.control.audit.of_actions(["export"])
    assert (row.person, row.detail["rows"]) == ("auditor", 1)
    assert "/export" not in web.visit(path, "investigator").text
    assert web.submit("/desk/entities/shop/x/export", "auditor").status_code == 404
