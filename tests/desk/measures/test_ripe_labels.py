"""Ripe labels as columns are those of the history of labels, one by one."""

import numpy as np
import pytest
from desk.control.desks import NOON, SCHEMA
from hypothesis import given
from hypothesis import strategies as st

from rarefind.desk.clock import ManualClock
from rarefind.desk.database import SqliteDatabase
from rarefind.desk.labels import LabelHistory
from rarefind.desk.measures import SOURCES, RipeLabels

IDS = tuple("abcdef")
DAY = 86_400 * 10**9


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    found = SqliteDatabase(tmp_path_factory.mktemp("desk") / "desk.db")
    yield found
    found.close()


labels = st.tuples(
    st.lists(st.sampled_from(IDS), min_size=1, max_size=3, unique=True),
    st.sampled_from(("fraud", "genuine", "unclear")),
    st.sampled_from(("verdict", "claim", "correction")),
)


@given(st.lists(st.lists(labels, max_size=4), max_size=3), st.lists(st.integers(28, 32)))
def test_they_are_what_the_history_says(database, given_labels, ages):
    clock = ManualClock(NOON)
    history = LabelHistory(database, SCHEMA, clock)
    with database.write() as writer:
        writer.execute("DELETE FROM labels")
    ripe = RipeLabels(history)
    rows = [(IDS[n % 6], NOON - age * DAY) for n, age in enumerate(ages)]
    for some in given_labels:
        with database.write() as writer:
            for ids, verdict, source in some:
                history.add(writer, ids, verdict, source)
        time = np.array([at for _, at in rows], dtype=np.int64)
        found = ripe.of([each for each, _ in rows], time)
        expected = history.ripe(rows)
        assert [SOURCES[code] for code in found.source] == [one.source for one in expected]
        assert found.fraud.tolist() == [bool(one.fraud) for one in expected]
        assert found.genuine.tolist() == [one.fraud is False for one in expected]
        assert found.not_ripe == sum(one.fraud is None for one in expected)
