"""The world of the demo, and the payments that come while its desk runs."""

import time

import pytest

from rarefind.desk.demo import DemoSize, PaymentSender, sender
from rarefind.desk.demo.world import DAY, SCHEMA, simulate_world
from rarefind.desk.intake import Intake
from rarefind.desk.intake.rows import table_transactions

NOON = 1_769_860_800 * 10**9  # 2026-01-31T12:00:00Z


@pytest.fixture(scope="module")
def world():
    return simulate_world(DemoSize(cards=300, days=28), NOON)


def test_the_past_ends_now_and_all_of_it_can_be_decided(world):
    times = [each.time for each in table_transactions(world.past, Intake(SCHEMA))]
    assert times == sorted(times)
    assert world.begin <= times[0] < world.begin + DAY
    assert NOON - DAY < times[-1] <= NOON
    coming = [each.time for each in table_transactions(world.coming, Intake(SCHEMA))]
    assert min(coming) > NOON


def test_fraud_is_as_frequent_on_the_first_days_as_later(world):
    first = world.past["fraud"][: len(world.past) // 2].mean()
    assert 0.3 < first / world.past["fraud"].mean() < 3


def test_more_cards_more_checks_a_day():
    budgets = [DemoSize(cards).schema.alerts.budget for cards in (300, 1_500, 3_000)]
    assert budgets == [5, 20, 40]


def test_payments_are_sent_as_made_now_until_it_is_stopped(world, monkeypatch):
    received = []

    class Desk:
        def __init__(self, *_, **__):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def send(self, payment):
            received.append(payment)
            if len(received) == 2:
                raise sender.DeskError(503, sender_problem())

    monkeypatch.setattr(sender, "Client", Desk)
    begin = time.time()
    with PaymentSender("http://desk", "token", world.coming, rate=1_000) as sending:
        sending.start()
        while sending.sent < 3:
            time.sleep(0.001)
    count = len(received)
    assert count > sending.sent, "one was refused, and others came after it"
    assert all(begin <= each["time"].timestamp() <= time.time() for each in received)
    assert [each["payment"] for each in received] == world.coming["payment"].tolist()[:count]
    assert set(received[0]) == set(SCHEMA.columns)


def sender_problem():
    from rarefind.desk.client import Problem

    return Problem("about:blank", "Starting", "The desk is starting.", "")
