"""The transactions of a file are sent to a desk in their order, at the speed of their times."""

import datetime as dt
import json

import httpx
import pandas as pd
import pytest
from desk_in_memory import Desk, payment
from desk_served import served

from rarefind.desk import Client
from rarefind.desk.client import DeskError
from rarefind.desk.client.described import described_schema
from rarefind.desk.client.replay import Timetable, replay

BEGIN = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)


def payments(count, **changed):
    times = [BEGIN + dt.timedelta(minutes=n) for n in range(count)]
    return [
        payment(n, time=time.isoformat(), country="FR") | changed for n, time in enumerate(times)
    ]


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "payments.csv"
    rows = payments(150)
    rows[3]["amount"], rows[7]["amount"], rows[9]["amount"] = 5_000, 1.234, float("nan")
    pd.DataFrame(rows).assign(fraud=0).to_csv(path, index=False)
    return path


def test_a_file_is_sent_in_its_order_and_again_without_being_counted_twice(desk, file):
    with served(desk.app) as url:
        schema = described_schema(url)
        assert schema.columns == desk.door.intake.schema.columns
        assert (schema.limits.batch, schema.limits.text) == (100, 256)
        found = []
        for _ in range(2):
            with Client(url, desk.token) as client:
                found.append(replay(file, client, schema))
    for each in found:
        assert (each.sent, each.accepted, each.denied) == (148, 147, 1)
        assert each.refused == 2
        assert each.reasons == [
            "row 9.amount: The column 'amount' has more than 2 digits after the decimal point.",
            "row 11.amount: The column 'amount' is missing: send it.",
        ]
    assert list(desk.decider.stored) == [f"p{n}" for n in range(150) if n not in (7, 9)]


def test_times_are_moved_together_and_are_the_same_when_sent_again(desk, file):
    begin = dt.datetime(2026, 6, 30, 23, tzinfo=dt.UTC)
    with served(desk.app) as url, Client(url, desk.token) as client:
        for _ in range(2):
            found = replay(file, client, described_schema(url), shift_to=begin)
        assert found.accepted == 147
        assert replay(file, client, described_schema(url)).reasons[2:] == [
            f"p{n}: Another transaction has this id." for n in range(3)
        ]
    assert json.loads(desk.decider.stored["p90"][0])["time"] == "2026-07-01T00:30:00Z"


class StandingClock:
    """Time goes on by waiting only."""

    def __init__(self):
        self.time, self.waits = 100.0, []

    def wait(self, seconds):
        self.waits.append(round(seconds, 6))
        self.time += seconds


def test_transactions_are_due_by_their_own_times(desk, file):
    clock = StandingClock()
    timetable = Timetable(60.0, now=lambda: clock.time, sleep=clock.wait)
    seen = []
    with served(desk.app) as url, Client(url, desk.token) as client:
        replay(file, client, described_schema(url), timetable=timetable, on_sent=seen.append)
    assert clock.waits == [1.0] * 6 + [2.0, 2.0] + [1.0] * 139
    assert seen[-1] == 1
    assert sum(seen) == 150


def test_what_is_not_a_desk_is_told_in_a_sentence():
    for answer, sentence in [
        (httpx.Response(200, text="<html>"), "is not the description of a desk"),
        (httpx.Response(200, json={"components": {}}), "is not the description of a desk"),
        (httpx.Response(404), "is this the address of a desk"),
    ]:
        with pytest.raises(DeskError, match=sentence):
            described_schema("http://desk", transport=httpx.MockTransport(lambda _, a=answer: a))
    with pytest.raises(DeskError, match="did not answer"):
        described_schema("http://127.0.0.1:1")
