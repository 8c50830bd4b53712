"""How long decisions take is kept by day, from what a process has counted since its start."""

import pytest
from prometheus_client import CollectorRegistry, Histogram

from rarefind.desk.api.latency_count import LatencyCount
from rarefind.desk.clock import ManualClock
from rarefind.desk.database import SqliteDatabase
from rarefind.desk.latency import LatencyDays

NOON = 1_769_860_800 * 10**9  # 2026-01-31T12:00:00Z


@pytest.fixture
def days(tmp_path):
    database = SqliteDatabase(tmp_path / "desk.db")
    yield LatencyDays(database)
    database.close()


def test_each_answer_is_counted_once_on_its_day(days):
    clock = ManualClock(NOON)
    seconds = Histogram("s", "s", buckets=(0.005, 0.01, 0.1), registry=CollectorRegistry())
    count = LatencyCount(days, seconds, "Europe/Paris", clock)
    for each in (0.001, 0.005, 0.009, 0.05, 3.0):
        seconds.observe(each)
    count.store()
    count.store()
    seconds.observe(0.002)
    clock.advance("11h")  # 23:00 in UTC, and the next day in Paris
    count.store()
    # Another process, or the same one after a restart, begins anew.
    LatencyCount(days, seconds, "Europe/Paris", clock).store()
    first, second = days.since("2026-01-30")
    assert (first.day, first.total) == ("2026-01-31", 5)
    assert (first.bounds, first.counts) == ((0.005, 0.01, 0.1), (2, 1, 1, 1))
    assert (second.day, second.total) == ("2026-02-01", 7)
    assert days.since("2026-02-02") == []


def test_a_share_is_within_the_least_bound_that_holds_it(days):
    days.add("2026-01-31", (0.005, 0.01), (98, 1, 1))
    (day,) = days.since("2026-01-31")
    assert [day.within(share) for share in (0.5, 0.98, 0.99, 1.0)] == [0.005, 0.005, 0.01, None]
    assert day.share_within(0.01) == 0.99
