import asyncio
import datetime as dt
import json
from decimal import Decimal

import httpx
import numpy as np
import pandas as pd
import pytest

from rarefind.desk import AsyncClient, Client
from rarefind.desk.client import Answer, DeskError, Problem
from rarefind.desk.client._calls import Retry

ANSWER = {"id": "p1", "decision": "accept", "by": "", "score": 0.5, "alert": ""}
PROBLEM = {"type": "invalid", "title": "Wrong", "detail": "The amount is wrong.", "where": "amount"}


def busy():
    return httpx.Response(503, json=PROBLEM, headers={"retry-after": "3"})


class Server:
    """Answers with what it was given, one after another; an exception is raised."""

    def __init__(self, *answers):
        self.answers, self.requests = list(answers), []

    def __call__(self, request):
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(200, json=answer) if isinstance(answer, dict | list) else answer

    @property
    def bodies(self):
        return [json.loads(each.content) for each in self.requests]


@pytest.fixture
def waits(monkeypatch):
    found = []

    async def sleep(seconds):
        found.append(seconds)

    monkeypatch.setattr("rarefind.desk.client._sync.sleep", found.append)
    monkeypatch.setattr("rarefind.desk.client._async.sleep", sleep)
    return found


@pytest.fixture(params=["sync", "async"])
def call(request, waits):
    """Do something with a client of each kind: ``call(server, "send", {...})``."""

    def run(server, method, *arguments, **options):
        options = {"transport": httpx.MockTransport(server), "token": "secret"} | options
        if request.param == "sync":
            with Client("http://desk", **options) as client:
                return getattr(client, method)(*arguments)

        async def wait():
            async with AsyncClient("http://desk", **options) as client:
                return await getattr(client, method)(*arguments)

        return asyncio.run(wait())

    return run


def test_a_transaction_is_sent_with_its_token_and_answered(call):
    server = Server(ANSWER)
    assert call(server, "send", {"id": "p1", "amount": 3}) == Answer("p1", "accept", "", 0.5, "")
    (request,) = server.requests
    assert str(request.url) == "http://desk/transactions"
    assert request.headers["authorization"] == "Bearer secret"
    assert server.bodies == [{"id": "p1", "amount": 3}]


def test_it_is_sent_again_with_the_same_id(call, waits):
    server = Server(httpx.ReadError("gone"), httpx.ConnectError("gone"), busy(), ANSWER)
    call(server, "send", {"amount": 3})
    assert len(server.bodies) == 4
    (same,) = {each["id"] for each in server.bodies}
    assert same
    assert 0 < waits[0] <= 0.1
    assert waits[2] == 3.0


def test_it_gives_up_after_so_many_times(call, waits):
    server = Server(*[httpx.ConnectError("refused")] * 3)
    with pytest.raises(DeskError, match="Is `rarefind serve` running there") as caught:
        call(server, "send", {}, retries=2)
    assert caught.value.status == 0
    assert len(waits) == 2
    with pytest.raises(DeskError) as caught:
        call(Server(busy()), "send", {}, retries=0)
    assert caught.value.status == 503


def test_what_is_wrong_is_told_at_once(call, waits):
    server = Server(httpx.Response(422, json=PROBLEM))
    with pytest.raises(DeskError, match=r"The amount is wrong\. \(amount\)") as caught:
        call(server, "send", {"id": "p1"})
    assert caught.value.problem == Problem(**PROBLEM)
    assert not waits


def test_an_address_that_is_not_a_desk_is_told(call):
    with pytest.raises(DeskError, match="is this the address of a desk"):
        call(Server(httpx.Response(404, text="<html>")), "send", {})


def test_of_many_each_has_an_answer_or_a_problem(call):
    server = Server([ANSWER, {"id": "p2", "problem": PROBLEM}])
    answers = call(server, "send_many", [{"id": "p1"}, {"id": "p2"}])
    assert answers == [Answer(**ANSWER), Problem(**PROBLEM)]


def test_values_of_pandas_and_numpy_are_sent_as_what_they_are(call):
    server = Server(ANSWER)
    sent = {
        "id": "p1",
        "time": pd.Timestamp("2026-01-31 12:30", tz="UTC"),
        "made": dt.datetime(2026, 1, 31, 12, 30, tzinfo=dt.UTC),
        "amount": np.float64(12.5),
        "tip": Decimal("1.10"),
        "is_new": np.bool_(True),
        "limit": float("nan"),
    }
    call(server, "send", sent)
    (body,) = server.bodies
    times = {name: body.pop(name) for name in ("time", "made")}
    assert {dt.datetime.fromisoformat(time) for time in times.values()} == {sent["made"]}
    assert body == {"id": "p1", "amount": 12.5, "tip": 1.10, "is_new": True, "limit": None}


def test_what_is_done_once_is_not_sent_again_without_an_answer(call):
    server = Server(httpx.ReadError("gone"))
    with pytest.raises(DeskError):
        call(server, "post", "/cases/7/verdict", {"verdict": "fraud"})
    assert len(server.requests) == 1
    server = Server(httpx.ConnectError("not there yet"), busy(), {"state": "taken"})
    assert call(server, "post", "/cases/7/take") == {"state": "taken"}


def test_the_token_may_come_from_the_environment(call, monkeypatch):
    monkeypatch.setenv("RAREFIND_TOKEN", "from outside")
    server = Server(ANSWER)
    call(server, "send", {}, token=None)
    assert server.requests[0].headers["authorization"] == "Bearer from outside"


def test_waits_double_and_have_an_end():
    waits = list(Retry(10, lambda: 1.0).waits())
    assert waits[:3] == [0.1, 0.2, 0.4]
    assert max(waits) == 10.0
