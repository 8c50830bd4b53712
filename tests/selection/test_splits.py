from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from rarefind.selection import PrequentialSplit, TemporalSplit
from rarefind.selection._splits import _TimeSplit

examples = settings(max_examples=60, deadline=None)
FIRST = datetime(2026, 1, 1)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)

hours = st.lists(st.integers(0, 24 * 12), min_size=2, max_size=40)
days = st.integers(1, 4).map(lambda n: n * DAY)
halves = st.integers(1, 8).map(lambda n: n * 12 * HOUR)
periods = st.one_of(
    st.tuples(days, st.integers(0, 3).map(lambda n: n * DAY), days),
    st.tuples(halves, st.integers(0, 5).map(lambda n: n * HOUR), halves),
)


def at(hour):
    """A time that is not on a whole hour."""
    return FIRST + timedelta(hours=hour, minutes=20)


def whole(time, unit):
    return FIRST + (time - FIRST) // unit * unit


def unit_of(lengths):
    return DAY if all(length % DAY == timedelta(0) for length in lengths) else HOUR


def between(times, start, end):
    return {row for row, time in enumerate(times) if start <= time < end}


def naive_temporal(times, train, delay, test, step=None, expanding=False, cases=()):
    """Slide the three periods from the first to the last whole unit of the data."""
    unit = unit_of([train, delay, test])
    begin, end = whole(min(times), unit), whole(max(times), unit) + unit
    found, start = [], begin
    while start + train + delay + test <= end:
        trained = between(times, begin if expanding else start, start + train)
        tested = between(times, start + train + delay, start + train + delay + test)
        known = {
            entity
            for time, (entity, label) in zip(times, cases, strict=False)
            if label == 1 and time < start + train
        }
        tested -= {row for row, (entity, _) in enumerate(cases) if entity in known}
        if trained and tested:
            found.append((trained, tested))
        start += step or test
    return found


def naive_prequential(times, n_splits, test, delay, train=None):
    """Count the test periods back from the last whole unit; None where the data are too short."""
    unit = unit_of([test, delay] if train is None else [train, test, delay])
    begin, end = whole(min(times), unit), whole(max(times), unit) + unit
    found = []
    for back in reversed(range(n_splits)):
        stop = end - back * test
        cut = stop - test - delay
        first = begin if train is None else cut - train
        if cut <= begin or first < begin:
            return None
        trained, tested = between(times, first, cut), between(times, stop - test, stop)
        if trained and tested:
            found.append((trained, tested))
    return found


def sets(splits):
    return [(set(train.tolist()), set(test.tolist())) for train, test in splits]


def table(times):
    return pd.DataFrame({"when": times})


@examples
@given(hours, periods, st.one_of(st.none(), days), st.booleans())
def test_periods_slide_along_the_time(hours_of_rows, lengths, step, expanding):
    times = [at(hour) for hour in hours_of_rows]
    expected = naive_temporal(times, *lengths, step, expanding)
    assume(expected)
    split = TemporalSplit(*lengths, step, time="when", expanding=expanding)
    assert sets(split.split(table(times))) == expected
    assert split.get_n_splits(table(times)) == len(expected)


@examples
@given(hours, periods, st.integers(1, 3), st.booleans())
def test_the_newest_periods_are_tested(hours_of_rows, lengths, n_splits, rolling):
    times = [at(hour) for hour in hours_of_rows]
    test, delay, train = lengths[0], lengths[1], lengths[2] if rolling else None
    expected = naive_prequential(times, n_splits, test, delay, train)
    assume(expected)
    split = PrequentialSplit(n_splits, test, delay, train, time="when")
    assert sets(split.split(table(times))) == expected


@pytest.mark.parametrize(
    "split",
    [
        TemporalSplit("3D", "1D", "2D", time="when"),
        TemporalSplit("3D", "1D", "2D", "1D", time="when", expanding=True),
        PrequentialSplit(2, "2D", "1D", time="when"),
    ],
)
@examples
@given(hours_of_rows=hours, data=st.data())
def test_every_label_is_known_before_the_test_begins(split, hours_of_rows, data):
    every_day = range(0, 24 * 9, 24)
    times = np.array([at(hour) for hour in [*hours_of_rows, *every_day]])
    found = list(split.split(table(times)))
    for train, test in found:
        assert whole(times[test].min(), DAY) - times[train].max() > DAY
        assert times[test].max() - times[test].min() < 2 * DAY

    order = np.array(data.draw(st.permutations(range(times.size))))
    shuffled = split.split(table(times[order]))
    assert sets((order[train], order[test]) for train, test in shuffled) == sets(found)


def naive_rows(n, train, delay, test, step, expanding):
    starts = range(0, n - train - delay - test + 1, step)
    return [
        (
            list(range(0 if expanding else start, start + train)),
            list(range(start + train + delay, start + train + delay + test)),
        )
        for start in starts
    ]


sizes = st.integers(1, 5)


@examples
@given(st.integers(1, 30), sizes, st.integers(0, 4), sizes, sizes, st.booleans(), st.data())
def test_periods_may_be_numbers_of_rows(n, train, delay, test, step, expanding, data):
    expected = naive_rows(n, train, delay, test, step, expanding)
    assume(expected)
    split = TemporalSplit(train, delay, test, step, expanding=expanding)
    assert [(a.tolist(), b.tolist()) for a, b in split.split(np.zeros((n, 1)))] == expected

    clock = np.array(data.draw(st.permutations(range(n))))
    by_time = TemporalSplit(train, delay, test, step, expanding=expanding, time=clock)
    found = by_time.split(np.zeros((n, 1)))
    assert [(clock[a].tolist(), clock[b].tolist()) for a, b in found] == expected


@examples
@given(st.integers(1, 30), st.integers(1, 3), sizes, st.integers(0, 4), st.one_of(st.none(), sizes))
def test_the_newest_rows_are_tested(n, n_splits, test, delay, train):
    cuts = [n - back * test - delay for back in range(n_splits, 0, -1)]
    firsts = [0 if train is None else cut - train for cut in cuts]
    assume(min(firsts) >= 0 and min(cuts) > 0)
    split = PrequentialSplit(n_splits, test, delay, train)
    assert [(a.tolist(), b.tolist()) for a, b in split.split(np.zeros((n, 1)))] == [
        (list(range(first, cut)), list(range(cut + delay, cut + delay + test)))
        for first, cut in zip(firsts, cuts, strict=True)
    ]


entities_and_labels = st.lists(
    st.tuples(st.integers(0, 24 * 9), st.tuples(st.sampled_from("abcdef"), st.integers(0, 1))),
    min_size=20,
    max_size=40,
)


@examples
@given(entities_and_labels, st.booleans())
def test_entities_known_positive_when_training_ends_are_not_tested(rows, expanding):
    times = [at(hour) for hour, _ in rows]
    cases = [case for _, case in rows]
    expected = naive_temporal(times, 2 * DAY, DAY, 2 * DAY, expanding=expanding, cases=cases)
    assume(expected)
    y = [label for _, label in cases]
    frame = table(times).assign(card=[entity for entity, _ in cases])
    arguments = {"time": "when", "expanding": expanding, "drop_known_positives": True}
    split = TemporalSplit("2D", "1D", "2D", entity="card", **arguments)
    assert sets(split.split(frame, y)) == expected
    by_groups = TemporalSplit("2D", "1D", "2D", **arguments)
    assert sets(by_groups.split(frame, y, groups=frame["card"])) == expected


def test_a_positive_of_the_delay_is_not_yet_known():
    rows = {"drop_known_positives": True, "entity": list("abaab")}
    split = TemporalSplit(1, 1, 3, **rows)
    assert sets(split.split(np.zeros((5, 1)), [0, 1, 0, 0, 1])) == [({0}, {2, 3, 4})]
    assert sets(split.split(np.zeros((5, 1)), [1, 0, 0, 0, 1])) == [({0}, {4})]


def test_newest_periods_drop_known_positives_with_named_labels():
    split = PrequentialSplit(
        1, 2, drop_known_positives=True, entity=[1, 2, 1, 2], pos_label="fraud"
    )
    assert sets(split.split(np.zeros((4, 1)), ["fraud", "ok", "ok", "ok"])) == [({0, 1}, {3})]


def test_a_missing_entity_is_refused():
    entity = np.array([None, "a", "a", "b"], dtype=object)
    split = TemporalSplit(2, 0, 2, drop_known_positives=True, entity=entity)
    with pytest.raises(ValueError, match="entity is missing in 1 rows"):
        next(split.split(np.zeros((4, 1)), [1, 0, 0, 0]))


FOUR_WEEKS = pd.date_range("2026-03-10 15:00", periods=28, freq="D")
WEEKLY = [(set(range(7)), set(range(14, 21))), (set(range(7, 14)), set(range(21, 28)))]


@pytest.mark.parametrize("week", ["7D", "168h", timedelta(days=7), pd.Timedelta(weeks=1)], ids=str)
def test_a_period_is_written_in_many_ways(week):
    split = TemporalSplit(week, week, week, time=FOUR_WEEKS)
    assert sets(split.split(np.zeros((28, 1)))) == WEEKLY


@pytest.mark.parametrize("week", [np.timedelta64(7, "D"), np.timedelta64(7 * 86_400 * 10**9, "ns")])
def test_a_numpy_period_is_a_period_of_time(week):
    split = TemporalSplit(week, week, week, time=FOUR_WEEKS)
    assert sets(split.split(np.zeros((28, 1)))) == WEEKLY


@pytest.mark.parametrize(
    "time",
    [
        FOUR_WEEKS,
        list(FOUR_WEEKS),
        FOUR_WEEKS.to_numpy(),
        FOUR_WEEKS.to_numpy().astype("datetime64[s]"),
        FOUR_WEEKS.to_pydatetime(),
        [str(time) for time in FOUR_WEEKS],
        FOUR_WEEKS.tz_localize("UTC"),
        FOUR_WEEKS.tz_localize("Europe/Paris"),  # across the change to summer time
        pd.Series(FOUR_WEEKS.tz_localize("Europe/Paris")),
    ],
    ids=["index", "list", "numpy", "seconds", "datetime", "text", "UTC", "Paris", "Paris column"],
)
def test_time_is_given_in_many_ways(time):
    split = TemporalSplit("7D", "7D", "7D", time=time)
    assert sets(split.split(np.zeros((28, 1)))) == WEEKLY


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_time_and_entity_are_columns_of_any_frame(library):
    frame = library.DataFrame({"when": FOUR_WEEKS.to_numpy(), "card": ["a", "b"] * 14})
    y = np.arange(28) == 0
    split = TemporalSplit("7D", "7D", "14D", time="when", drop_known_positives=True, entity="card")
    assert sets(split.split(frame, y)) == [(set(range(7)), set(range(15, 28, 2)))]


def test_the_last_day_counts_as_whole():
    times = pd.to_datetime(["2026-01-01 23:00", "2026-01-02 01:00", "2026-01-03 00:00"])
    split = TemporalSplit("1D", 0, "2D", time=times)
    assert sets(split.split(np.zeros((3, 1)))) == [({0}, {1, 2})]


def test_an_incomplete_test_period_is_not_used():
    split = TemporalSplit("7D", "7D", "7D", time=FOUR_WEEKS[:27])
    assert sets(split.split(np.zeros((27, 1)))) == WEEKLY[:1]


def test_a_period_without_rows_is_passed_over():
    times = FIRST + np.array([0, 1, 3, 4]) * DAY
    split = TemporalSplit("1D", 0, "1D", time=times)
    assert sets(split.split(np.zeros((4, 1)))) == [({0}, {1}), ({2}, {3})]


def test_a_search_takes_a_split_in_time():
    X, y = np.arange(40.0).reshape(-1, 1), np.arange(40) % 4 == 0
    search = GridSearchCV(
        DecisionTreeClassifier(),
        {"max_depth": [1, 2]},
        cv=TemporalSplit(20, 4, 8),
        error_score="raise",
    ).fit(X, y)
    assert search.n_splits_ == 2


TWO = np.zeros((2, 1))
THREE_DAYS = pd.date_range("2026-01-01", periods=3)


@pytest.mark.parametrize(
    ("split", "X", "message"),
    [
        (
            TemporalSplit("7D", 7, "7D", time=FOUR_WEEKS),
            np.zeros((28, 1)),
            "all periods of time or all",
        ),
        (
            TemporalSplit(7, 0, "7D", time=FOUR_WEEKS),
            np.zeros((28, 1)),
            "all periods of time or all",
        ),
        (
            PrequentialSplit(1, "7D", 7, time=FOUR_WEEKS),
            np.zeros((28, 1)),
            "all periods of time or",
        ),
        (
            TemporalSplit("7D", "7D", "7D"),
            TWO,
            "need time=: the name of a column, or one time a row",
        ),
        (
            TemporalSplit("7D", 0, "7D", time=[1, 2]),
            TWO,
            "has numbers, such as .* pandas.to_datetime",
        ),
        (TemporalSplit("7D", 0, "7D", time=[FIRST, None]), TWO, "time is missing in 1 rows"),
        (TemporalSplit("7D", 0, "7D", time=[FIRST, pd.NaT]), TWO, "time is missing in 1 rows"),
        (
            TemporalSplit("7D", 0, "7D", time=["2026-01-01", ""]),
            TWO,
            "1 missing time of 2, the first in row 1",
        ),
        (TemporalSplit("7D", 0, "7D", time="when"), TWO, "no column 'when' for time="),
        (TemporalSplit("7D", 0, "7D", time="day"), table([FIRST]), "no column 'day' for time="),
        (TemporalSplit("7D", 0, "7D", time=[FIRST]), TWO, "time= has 1 entries for 2 rows"),
        (TemporalSplit(1, -1, 1), TWO, "cannot be negative: -1"),
        (TemporalSplit(1, 0, 1, -1), TWO, "cannot be negative: -1"),
        (
            TemporalSplit("-1D", 0, "1D", time=THREE_DAYS),
            np.zeros((3, 1)),
            "cannot be negative: -1D",
        ),
        (PrequentialSplit(1, 1, -1), TWO, "cannot be negative: -1"),
        (TemporalSplit(0, 0, 1), TWO, "train, test and step must be longer than zero"),
        (TemporalSplit(1, 0, 0), TWO, "train, test and step must be longer than zero"),
        (TemporalSplit(1, 0, 1, 0), TWO, "train, test and step must be longer than zero"),
        (PrequentialSplit(1, 0), TWO, "test must be longer than zero"),
        (TemporalSplit(2, 1, 1), TWO, "2 rows, are too short for train=2, delay=1, test=1"),
        (
            TemporalSplit("3D", 0, "1D", time=THREE_DAYS),
            np.zeros((3, 1)),
            "from 2026-01-01 00:00:00 to 2026-01-03 00:00:00, are too short for train=3D",
        ),
        (PrequentialSplit(2, 1), TWO, "2 rows, are too short for 2 test periods of 1"),
        (PrequentialSplit(1, 1, 0, 2), TWO, "too short for 1 test periods of 1 .* train=2"),
        (PrequentialSplit(1, 1, 1), TWO, "too short for 1 test periods of 1 with delay=1"),
    ],
)
def test_what_cannot_be_split_is_refused(split, X, message):
    with pytest.raises(ValueError, match=message):
        next(split.split(X))


@pytest.mark.parametrize(
    "split",
    [
        TemporalSplit("7D", 0, "7D", 1, time=FOUR_WEEKS),
        TemporalSplit(7, 0, 7, "7D", time=FOUR_WEEKS),
    ],
    ids=["rows among times", "time among rows"],
)
def test_the_step_is_measured_as_the_periods_are(split):
    with pytest.raises(ValueError, match="all periods of time or all counts of rows"):
        next(split.split(np.zeros((28, 1))))


def test_missing_times_are_refused_also_where_rows_are_counted():
    time = FOUR_WEEKS.where(FOUR_WEEKS.day != 12)
    with pytest.raises(ValueError, match="time is missing in 1 rows"):
        next(TemporalSplit(7, 0, 7, time=time).split(np.zeros((28, 1))))


@pytest.mark.parametrize(
    ("entity", "y"), [(None, [1, 0]), (["a", "b"], None)], ids=["no entity", "no labels"]
)
def test_dropping_known_positives_needs_labels_and_entities(entity, y):
    split = TemporalSplit(1, 0, 1, drop_known_positives=True, entity=entity)
    with pytest.raises(ValueError, match="needs y and entity="):
        next(split.split(TWO, y))


def test_entities_must_be_one_a_row():
    split = TemporalSplit(1, 0, 1, drop_known_positives=True, entity=["a"])
    with pytest.raises(ValueError, match="entity= has 1 entries for 2 rows"):
        next(split.split(TWO, [1, 0]))


def test_nobody_left_to_test_is_too_short():
    split = TemporalSplit(1, 0, 1, drop_known_positives=True, entity=["a", "a"])
    with pytest.raises(ValueError, match="too short"):
        next(split.split(TWO, [1, 0]))


def test_the_number_of_splits_needs_the_rows():
    with pytest.raises(ValueError, match="give X"):
        TemporalSplit(1, 0, 1).get_n_splits()


def test_the_kind_of_split_must_be_chosen():
    split = _TimeSplit()
    split.train, split.delay, split.test = 1, 0, 1
    split.time, split.drop_known_positives = None, False
    with pytest.raises(TypeError, match="Use TemporalSplit or PrequentialSplit"):
        next(split.split(TWO))


def test_a_period_of_time_names_its_unit():
    with pytest.raises(ValueError, match='needs its unit, as in "7D"'):
        next(TemporalSplit("7", "0D", "7", time=FOUR_WEEKS).split(np.zeros((28, 1))))


def test_there_is_at_least_one_test_period():
    with pytest.raises(ValueError, match="n_splits must be at least 1, not 0"):
        next(PrequentialSplit(0, 7).split(np.zeros((28, 1))))
