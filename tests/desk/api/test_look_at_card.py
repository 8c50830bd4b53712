"""What is known of a card is shown, exported and erased, and who did it is known."""

import json

import pytest
from desk_web import SCHEMA, WebDesk, check_problem
from msgspec.structs import replace


def test_the_last_transactions_of_a_card_are_listed_a_page_at_a_time(web):
    for number in range(5):
        web.pay("4111/7 é", 10 + number)
    web.pay("other", 10)
    page = web.get("/entities/card/4111%2F7%20%C3%A9?limit=3").json()
    assert (page["entity"], page["key"]) == ("card", "4111/7 é")
    assert [each["id"] for each in page["transactions"]] == ["p5", "p4", "p3"]
    rest = web.get(f"/entities/card/4111%2F7%20%C3%A9?limit=3&before={page['next']}").json()
    assert [each["id"] for each in rest["transactions"]] == ["p2", "p1"]
    assert rest["next"] is None
    assert len(web.get("/entities/terminal/t1").json()["transactions"]) == 6
    assert web.get("/entities/card/none").json()["transactions"] == []
    problem = check_problem(web.get("/entities/shop/1"), 404, "not-found")
    assert problem["detail"] == "The entities of this desk are card, terminal."


def test_an_export_has_everything_and_is_written_down(web):
    web.pay("4111", 2000)
    web.pay("4111", 10)
    case = web.case_of("4111")
    web.post(f"/cases/{case}/take")
    web.post(f"/cases/{case}/verdict", {"verdict": "fraud", "note": "called"})
    web.door.cases.notes.add(case, "investigator", "travelling")
    web.post("/claims", {"transaction": "p1", "note": "not mine"})
    check_problem(web.get("/entities/card/4111/export"), 403, "not-allowed")
    found = web.get("/entities/card/4111/export", "expert").json()
    assert [each["id"] for each in found["transactions"]] == ["p2", "p1"]
    assert found["transactions"][0]["features"]["card_count_1h"] == 2.0
    assert found["claims"][0]["note"] == "not mine"
    assert found["cases"][0]["case"]["id"] == case
    assert found["cases"][0]["notes"][0]["note"] == "travelling"
    assert found["cases"][0]["verdicts"][0]["note"] == "called"
    rows = web.get("/audit?limit=1000", "auditor").json()["rows"]
    (row,) = [row for row in rows if row["action"] == "export"]
    assert (row["person"], row["subject"]) == ("expert", "card")
    assert row["detail"] == {"rows": 2, "first": 1, "last": 2}
    assert "4111" not in json.dumps(rows)


def test_an_erasure_is_an_order_to_the_decision_process(web):
    web.pay("4111", 10)
    check_problem(web.post("/entities/card/4111/erase", who="expert"), 403, "not-allowed")
    order = web.post("/entities/card/4111/erase", who="admin").json()
    assert (order["state"], order["kind"], order["entity"]) == ("approved", "erase", "card")
    assert web.get("/orders", "admin").json()["orders"] == [order]
    (to_do,) = web.door.control.orders.to_do()
    erased = web.writer.erase(0, to_do.key, by="admin", now=1)
    web.door.control.orders.done(to_do.id, erased)
    done = web.get(f"/orders/{order['id']}", "admin").json()
    assert (done["state"], done["key"], done["result"]) == ("done", "", {"transactions": 1})
    assert web.get("/entities/card/4111").json()["transactions"] == []
    shown = web.get("/transactions/p1").json()
    assert (shown["transaction"], shown["entities"], shown["features"]) == ({}, {}, {})
    assert shown["decision"] == "accept"
    check_problem(web.post("/entities/shop/1/erase", who="admin"), 404, "not-found")


def test_a_second_person_approves_an_erasure(tmp_path):
    alerts = replace(SCHEMA.alerts, second_person=True)
    web = WebDesk(tmp_path, replace(SCHEMA, alerts=alerts))
    order = web.post("/entities/card/4111/erase", who="admin").json()
    assert order["state"] == "asked"
    check_problem(web.post(f"/orders/{order['id']}/approve", who="admin"), 409, "conflict")
    web.tokens["max"] = web.door.tokens.make("max", "admin", 1)
    assert web.post(f"/orders/{order['id']}/approve", who="max").json()["state"] == "approved"
    other = web.post("/entities/card/4112/erase", who="admin").json()
    assert web.post(f"/orders/{other['id']}/reject", who="max").json()["state"] == "rejected"
    web.close()


@pytest.mark.parametrize("name", ["2026/17", "a b", "ünï", "100%", "a?b#c", "<script>", "'; --"])
def test_a_transaction_is_found_by_whatever_its_sender_calls_it(web, name):
    from urllib.parse import quote

    web.pay("a", 10, id=name)
    shown = web.get(f"/transactions/{quote(name, safe='')}").json()
    assert (shown["id"], shown["decision"], shown["by"]) == (name, "accept", "")
    assert shown["features"]["card_count_1h"] == 1.0
    assert len(shown["features"]) == len(SCHEMA.features.names)


def test_a_transaction_that_is_not_there_is_told(web):
    check_problem(web.get("/transactions/none"), 404, "not-found")
    check_problem(web.get("/transactions/%00"), 422, "invalid")
