"""A desk that keeps everything in PostgreSQL, also when it is lost for a while."""

from itertools import count

import pytest
from desk_web import WebDesk, check_problem

from rarefind.desk.database import PostgresDatabase

pytest.importorskip("psycopg", reason="there is no psycopg for this machine")
_numbers = count()


@pytest.fixture
def proxy():
    from desk.proxy import Proxy

    found = Proxy()
    yield found
    found.stop()


@pytest.fixture
def web(tmp_path, proxy):
    ledger, desk = (f"{kind}{next(_numbers)}" for kind in ("webledger", "webdesk"))
    databases = (
        PostgresDatabase(proxy.url, ledger, sole=True),
        lambda: PostgresDatabase(proxy.url, ledger, read_only=True, wait=1),
        PostgresDatabase(proxy.url, desk, wait=1),
    )
    made = WebDesk(tmp_path, databases=databases)
    yield made
    made.close()


def test_the_same_things_are_done(web):
    for card in ("a", "b/c"):
        web.pay(card, 2000)
    assert [case["key"] for case in web.get("/cases?state=open").json()["cases"]] == ["b/c", "a"]
    case = web.post("/queue/next").json()["case"]["id"]
    web.post(f"/cases/{case}/verdict", {"verdict": "fraud", "note": "called"})
    assert web.get("/queue").json()["hits"] == 1
    assert web.get(f"/cases/{case}").json()["alert_count"] == 1
    web.post("/claims", [{"transaction": "p1"}, {"transaction": "p2"}])
    assert len(web.get("/claims?state=new&limit=2").json()["claims"]) == 2
    assert web.get("/claims?after=1").json()["claims"][0]["transaction"] == "p2"
    export = web.get("/entities/card/b%2Fc/export", "admin").json()
    assert (len(export["transactions"]), len(export["cases"])) == (1, 1)
    web.ask("PUT", "/lists/countries", "expert", json={"values": ["FR"]})
    web.ask("PUT", "/rules/abroad", "expert", json={"text": "country in list('countries')"})
    assert web.post("/blocks", {"key": "a"}).json()["state"] == "in force"
    assert web.get("/audit", "auditor").json()["rows"][-1]["action"] == "block"
    page = web.get("/", None)
    assert page.status_code == 200
    assert "<dt>Alerts</dt><dd>2</dd>" in page.text


def test_a_server_that_is_away_gives_503_and_comes_back_by_itself(web, proxy):
    web.pay("a", 2000)
    case = web.case_of("a")
    proxy.stop()
    for method, path in (("POST", f"/cases/{case}/take"), ("GET", f"/cases/{case}")):
        answer = web.ask(method, path)
        check_problem(answer, 503, "unavailable")
        assert answer.headers["retry-after"] == "1"
    assert web.get("/", None).status_code == 503
    assert web.get("/healthz", None).status_code == 200
    proxy.start()
    assert web.post(f"/cases/{case}/take").json()["state"] == "taken"
    assert len(web.get(f"/cases/{case}").json()["transactions"]) == 1


def test_a_commit_that_was_lost_may_be_there(web, proxy):
    web.pay("a", 2000)
    case = web.case_of("a")
    web.post(f"/cases/{case}/take")
    web.database.close()  # a new connection has no prepared commit, which the proxy could not see
    proxy.cut_at_commit = "after"
    answer = web.post(f"/cases/{case}/verdict", {"verdict": "fraud"})
    problem = check_problem(answer, 503, "unavailable")
    assert "it may be stored, or not" in problem["detail"]
    assert "retry-after" not in answer.headers
    assert web.post(f"/cases/{case}/verdict", {"verdict": "fraud"}).status_code == 200
    assert len(web.get(f"/cases/{case}").json()["verdicts"]) == 1
