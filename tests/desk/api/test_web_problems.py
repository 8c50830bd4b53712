"""Whatever is wrong with a request is told in one shape, and nothing is lost by it."""

import asyncio
import sqlite3
import threading

import httpx
import pytest
from desk_web import SCHEMA, WebDesk, check_problem
from msgspec.structs import replace

from rarefind.desk.database import CommitUnknown


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [
        ("GET", "/nothing", 404, "not-found"),
        ("GET", "/cases/", 404, "not-found"),
        ("GET", "/docs", 404, "not-found"),
        ("DELETE", "/cases", 405, "wrong-method"),
        ("PATCH", "/rules/x", 405, "wrong-method"),
        ("GET", "/cases/x", 422, "invalid"),
        ("GET", "/cases/0", 422, "invalid"),
        ("GET", "/cases/9223372036854775808", 422, "invalid"),
        ("GET", "/cases/1e3", 422, "invalid"),
        ("GET", "/cases?limit=0", 422, "invalid"),
        ("GET", "/cases?before=-1", 422, "invalid"),
        ("GET", "/transactions/" + "x" * 1001, 422, "invalid"),
        ("GET", "/cases?status=open", 422, "invalid"),
        ("GET", "/queue?%1b[2J=1", 422, "invalid"),
    ],
)
def test_a_wrong_address_has_the_one_shape(web, method, path, status, kind):
    problem = check_problem(web.ask(method, path), status, kind)
    assert "1001" not in problem["where"]


@pytest.mark.parametrize(
    ("body", "kind", "status", "problem"),
    [
        (b"{", "application/json", 400, "malformed"),
        (b"", "application/json", 400, "malformed"),
        (b"\xff\xfe", "application/json", 400, "malformed"),
        (b'{"verdict": NaN}', "application/json", 400, "malformed"),
        (b"[" * 20_000, "application/json", 422, "invalid"),
        (b'{"verdict": 1e400}', "application/json", 422, "invalid"),
        (b"verdict=fraud", "application/x-www-form-urlencoded", 415, "not-json"),
        (b" " * 50_001, "application/json", 413, "too-large"),
        (b'{"verdict": "fraud", "verdict": "genuine"}', "application/json", 422, "invalid"),
    ],
    ids=str,
)
def test_a_wrong_body_has_the_one_shape(web, body, kind, status, problem):
    web.pay("a")
    case = web.case_of("a")
    answer = web.ask("POST", f"/cases/{case}/verdict", content=body, headers={"content-type": kind})
    check_problem(answer, status, problem)


def test_a_database_that_is_away_gives_503_and_comes_back_by_itself(web):
    web.pay("a")
    case = web.case_of("a")
    web.database._wait = 0.01
    web.database.close()
    other = sqlite3.connect(web.database.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        for method, path in (("POST", f"/cases/{case}/take"), ("GET", "/queue")):
            answer = web.ask(method, path)
            problem = check_problem(answer, 503, "unavailable")
            assert answer.headers["retry-after"] == "1"
            assert "nothing was stored" in problem["detail"]
        check_problem(web.get("/readyz", None), 503, "unavailable")
        assert web.get("/healthz", None).status_code == 200
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert web.post(f"/cases/{case}/take").status_code == 200
    assert web.get("/readyz", None).status_code == 200
    assert '"event":"unavailable"' in web.log.getvalue()


def test_a_database_that_takes_its_time_does_not_keep_others_waiting(web):
    order = []

    async def ask(client, path):
        answer = await client.get(path)
        order.append(path)
        if path == "/healthz":
            go_on.set()
        return answer.status_code

    async def run():
        headers = {"authorization": f"Bearer {web.tokens['admin']}"}
        transport = httpx.ASGITransport(web.app)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://desk", headers=headers
        ) as client:
            return await asyncio.gather(ask(client, "/queue"), ask(client, "/healthz"))

    held, go_on = threading.Event(), threading.Event()

    def hold():
        with web.database._lock:
            held.set()
            go_on.wait(20)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(20)
    assert asyncio.run(run()) == [200, 200]
    holder.join()
    assert order == ["/healthz", "/queue"]


def test_nobody_is_told_that_nothing_was_stored_when_nobody_knows(web, monkeypatch):
    def fail(*_):
        raise CommitUnknown("gone")

    monkeypatch.setattr(web.door.cases, "take", fail)
    problem = check_problem(web.post("/cases/1/take"), 503, "unavailable")
    assert "it may be stored, or not" in problem["detail"]


def test_a_mistake_is_told_without_what_was_asked(web, monkeypatch):
    def fail(*_, **__):
        raise KeyError("4111")

    monkeypatch.setattr(web.door.ledger, "read_entity", fail)
    problem = check_problem(web.get("/entities/card/4111"), 500, "internal")
    assert "4111" not in str(problem) + web.log.getvalue()
    assert '"route":"/entities/{entity}/{key}"' in web.log.getvalue()


def test_too_many_requests_wait_for_their_turn(tmp_path):
    web = WebDesk(tmp_path, replace(SCHEMA, limits=replace(SCHEMA.limits, requests=2)))
    web.door.limit._now = lambda: 0.0
    assert [web.get("/queue").status_code for _ in range(2)] == [200, 200]
    answer = web.get("/queue")
    check_problem(answer, 429, "too-many")
    assert answer.headers["retry-after"] == "1"
    assert web.get("/queue", "bob").status_code == 200
    web.close()


def test_answers_are_kept_in_no_cache(web):
    for path in ("/queue", "/nothing", "/healthz"):
        headers = web.get(path).headers
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"


def test_requests_are_counted_by_route_and_never_by_card(web):
    web.get("/entities/card/4111")
    web.get("/no/such/4111")
    figures = web.get("/metrics", None).text
    assert 'route="/entities/{entity}/{key}",status="200"' in figures
    assert "4111" not in figures
