"""Tokens, settings and the audit log, as an admin and an auditor see them."""

import re

from desk_pages import text_of

from rarefind.desk.control import Audit


def test_a_token_is_shown_once_works_and_ends(web):
    answer = web.submit("/desk/tokens", "admin", name="till/1", role="ingest")
    (token,) = re.findall(r"rarefind_ingest_[\w-]+", answer.text)
    assert token not in web.visit("/desk/tokens", "admin").text
    assert web.door.tokens.check(f"Bearer {token}".encode(), "send").name == "till/1"
    for fields, field in (
        ({"name": "till/1", "role": "ingest"}, "name"),
        ({"name": " x", "role": "ingest"}, "name"),
        ({"name": "new", "role": "boss"}, "role"),
    ):
        wrong = web.submit("/desk/tokens", "admin", **fields)
        assert wrong.status_code == 422
        assert f'id="field-{field}-error"' in wrong.text
    web.submit("/desk/tokens/till%2F1/revoke", "admin")
    assert {row.name: row.revoked is not None for row in web.door.tokens.rows()}["till/1"]
    last = web.door.control.audit.newest(limit=1)[0]
    assert (last.person, last.action, last.subject) == ("admin", "revoke token", "till/1")


def test_a_webhook_is_added_and_removed(web):
    wrong = web.submit("/desk/settings/webhooks", "admin", url="ftp://x", events="alert.raised")
    assert 'id="field-url-error"' in wrong.text
    wrong = web.submit("/desk/settings/webhooks", "admin", url="https://example.com/in")
    assert 'id="field-events-error"' in wrong.text
    assert 'value="https://example.com/in"' in wrong.text
    made = web.submit(
        "/desk/settings/webhooks", "admin", url="https://example.com/in", events="alert.raised"
    )
    (secret,) = re.findall(r"rarefind_webhook_\w+", made.text)
    page = web.visit("/desk/settings", "admin")
    assert "https://example.com/in" in page.text
    assert secret not in page.text
    (webhook,) = web.door.webhooks.all()
    for _ in range(2):
        path = f"/desk/settings/webhooks/{webhook.id}/remove"
        assert web.submit(path, "admin").status_code == 303
    assert web.door.webhooks.all() == []


def test_the_audit_log_is_read_page_by_page_and_by_who_and_what(web):
    audit = web.door.control.audit
    with web.database.write() as writer:
        for number in range(120):
            audit.add(writer, "ann" if number % 2 else "bob", "save rule", f"rule {number}")
    shown, path = [], "/desk/audit?person=ann"
    while path:
        page = web.visit(path, "auditor").text
        shown += re.findall(r"<bdi>rule (\d+)</bdi>", page)
        older = re.findall(r'rel="next" href="([^"]+)"', page)
        path = older[0].replace("&amp;", "&") if older else ""
    assert shown == [str(number) for number in range(119, 0, -2)]
    text = text_of(web.visit("/desk/audit?action=make+token", "auditor"))
    assert "make token" in text
    assert "rule 119" not in text
    assert "Nothing in the log is like that." in text_of(web.visit("/desk/audit?person=x", "admin"))


def test_a_page_of_the_log_reads_no_more_rows_than_it_shows(web):
    plans = []

    class Planned:
        def read(self, sql, **values):
            plans.extend(row[3] for row in web.database.read(f"EXPLAIN QUERY PLAN {sql}", **values))
            return []

    audit = Audit.__new__(Audit)
    audit._database = Planned()
    for who in ({}, {"person": "ann"}, {"action": "make token"}, {"subject": "block 1"}):
        audit.newest(10, limit=5, **who)
    assert len(plans) == 4
    assert all(plan.startswith("SEARCH audit USING") for plan in plans), plans
    assert not any("TEMP B-TREE" in plan for plan in plans)


def test_the_log_is_verified_from_its_first_row_to_one_that_was_written_down(web):
    audit = web.door.control.audit
    noted, rows = str(audit.last), audit.last.sequence
    whole = web.submit("/desk/audit/verify", "auditor", noted=f" {noted} ")
    assert f"All {rows} rows are as they were written." in text_of(whole)
    wrong = web.submit("/desk/audit/verify", "auditor", noted="7:<b>")
    assert wrong.status_code == 422
    assert 'id="field-noted-error"' in wrong.text
    assert 'value="7:&lt;b&gt;"' in wrong.text
    with web.database.write() as writer:
        writer.execute("UPDATE audit SET person = 'nobody' WHERE number = 2")
    assert "row 2 is missing, or is not as" in text_of(web.submit("/desk/audit/verify", "admin"))
    with web.database.write() as writer:
        writer.execute("DELETE FROM audit WHERE number > 1")
    assert "All" not in text_of(web.submit("/desk/audit/verify", "admin", noted=noted))
