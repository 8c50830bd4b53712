"""An administrator names addresses that are told of alerts."""

import pytest
from desk_web import check_problem


def test_a_webhook_is_made_listed_and_removed(web):
    sent = {"url": "https://example.com/alerts", "events": ["alert.raised"]}
    made = web.post("/webhooks", sent, "admin")
    assert made.status_code == 200, made.text
    webhook, secret = made.json()["webhook"], made.json()["secret"]
    assert (webhook["url"], webhook["made_by"]) == (sent["url"], "admin")
    assert web.get("/webhooks", "admin").json() == [webhook]
    assert secret not in web.get("/webhooks", "admin").text
    assert web.ask("DELETE", f"/webhooks/{webhook['id']}", "admin").json() == []
    check_problem(web.ask("DELETE", f"/webhooks/{webhook['id']}", "admin"), 404, "not-found")
    actions = [row.action for row in web.door.control.audit.read()][-2:]
    assert actions == ["make webhook", "remove webhook"]


@pytest.mark.parametrize(
    ("url", "events"),
    [
        ("http://127.0.0.1/", ["alert.raised"]),
        ("ftp://example.com", ["alert.raised"]),
        ("not an address", ["alert.raised"]),
        ("https://example.com", ["birthday"]),
        ("https://example.com", []),
    ],
)
def test_mistakes_get_a_sentence(web, url, events):
    answer = web.post("/webhooks", {"url": url, "events": events}, "admin")
    check_problem(answer, 422, "invalid")
    assert web.get("/webhooks", "admin").json() == []
