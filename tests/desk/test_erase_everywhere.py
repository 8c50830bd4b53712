"""Who is erased is nowhere in a desk: not in its files, its cases, its notes or its messages."""

import io

import psycopg
import pytest
from desk_running import new_database, payment, running

from rarefind.desk.alerts import CaseLists, Cases
from rarefind.desk.api.logs import Log
from rarefind.desk.erasure import carry_out_alone
from rarefind.desk.labels import Claims
from rarefind.desk.webhooks import Webhooks
from rarefind.desk.worker._worker import make_jobs

CARD, PHONE = "5500-0000-0000-0004", "0171-4711"


@pytest.fixture(params=["sqlite", "postgresql"])
def desk(request, tmp_path, monkeypatch):
    url = new_database() if request.param == "postgresql" else None
    with running(tmp_path / "desk", monkeypatch, url=url) as desk:
        control = desk.control
        control.rules.save("all", "amount > 0", "ann", role="scoring")
        Webhooks(desk.desk, bytes(32), control.audit, desk.clock).make(
            "https://example.com/hook", ["alert.raised", "case.opened"], "ann"
        )
        desk.start()
        yield desk


def pay_and_talk(desk):
    """Payments of two cards; whatever people can write about the first of them."""
    control = desk.control
    desk.post([payment(n, card=CARD, terminal="shop-9") for n in range(3)])
    desk.post([payment(n) for n in range(3, 6)])
    for job in make_jobs(desk.people, desk.clock, Log("worker", io.StringIO())):
        while job.run():
            continue
    cases = Cases(desk.desk, desk.people.schema, desk.labels, desk.clock)
    claims = Claims(desk.desk, desk.labels, desk.clock)
    (case,) = CaseLists(desk.desk, desk.clock).of_entity(CARD)
    cases.take(case.id, "ann")
    cases.decide(case.id, "ann", "fraud", f"called {PHONE}")
    claims.make("p1", f"{CARD} is not mine, says {PHONE}")
    claims.make("p4", "nor this one")
    block = control.blocks.ask(CARD, "ann", f"confirmed on {PHONE}")
    control.blocks.lift(block.id, "ann")
    control.lists.save("watched", [CARD, "FR"], "ann")
    control.lists.remove("watched", [CARD], "ann")
    return claims


def places_of(desk, word):
    """Where a word is in the files or tables of a desk."""
    found = [
        str(each.relative_to(desk.path))
        for each in desk.path.rglob("*")
        if each.is_file() and word.encode() in each.read_bytes()
    ]
    if desk.url is None:
        return found
    with psycopg.connect(desk.url) as connection:
        tables = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_schema NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        for schema, table in tables:
            query = f'SELECT count(*) FROM "{schema}"."{table}" AS t WHERE t::text LIKE %s'
            if connection.execute(query, [f"%{word}%"]).fetchone()[0]:
                found.append(f"{schema}.{table}")
    return found


def messages(desk):
    rows = desk.desk.read("SELECT message FROM outbox ORDER BY number")
    return [name for (name,) in rows if name.startswith("alert")]


def test_nothing_of_a_card_is_left(desk):
    claims = pay_and_talk(desk)
    assert places_of(desk, CARD)
    assert places_of(desk, PHONE)
    assert len(messages(desk)) == 6
    order = desk.control.orders.erase("card", CARD, "ann").id
    desk.wait_for(lambda: desk.control.orders.get(order).state == "done")
    assert places_of(desk, CARD) == []
    assert places_of(desk, PHONE) == []
    assert messages(desk) == ["alert.raised:4", "alert.raised:5", "alert.raised:6"]
    assert [each.note for each in claims.page()] == ["", "nor this one"]
    assert desk.control.audit.verify().is_whole
    assert desk.verify().is_whole


def test_nor_where_the_desk_is_stopped_and_another_entity_is_erased(desk):
    claims = pay_and_talk(desk)
    desk.stop()
    desk.control.orders.erase("terminal", "shop-9", "ann")
    assert carry_out_alone(desk.people, desk.control, desk.desk, 1) == 1
    assert places_of(desk, "shop-9") == []
    assert messages(desk) == ["alert.raised:4", "alert.raised:5", "alert.raised:6"]
    assert claims.page()[0].note == ""
    rows = desk.desk.read("SELECT reason FROM alerts ORDER BY sequence")
    assert [reason.startswith("The transaction was erased") for (reason,) in rows] == (
        [True] * 3 + [False] * 3
    )


def test_notes_of_claims_are_kept_as_long_as_transactions(desk):
    claims = pay_and_talk(desk)
    assert claims.forget_notes(desk.clock.now()) == 0
    assert claims.forget_notes(desk.clock.now() + 1) == 2
    assert places_of(desk, "nor this one") == []
