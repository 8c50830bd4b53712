from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_features import NaiveHistories

from rarefind.data.feature_list import STATISTICS, EntityFeatures, FeatureList
from rarefind.data.histories import Histories

MINUTE = 60 * 10**9
START = 1_774_742_400 * 10**9  # the night in which the clocks of Paris go forward


def feature_list(memory=None, last=3):
    windows = ("30min", "90min", "4h")
    return FeatureList(
        time="time",
        amount="amount",
        minor_units=2,
        entities=(
            EntityFeatures(
                "card", "card", windows, STATISTICS, True, last, True, ("shop", "country")
            ),
            EntityFeatures("shop", "shop", windows, ("max", "count"), risk=True),
            EntityFeatures("city", "city", ("1h",), (), False, distinct=("country",)),
        ),
        delay="60min",
        memory=memory,
        time_zone="Europe/Paris",
    )


AMOUNTS = st.sampled_from([0, 1, 333, -250, 10**9, 2**53])
#: Few entities and times, so that ties and edges of windows are the rule.
ROWS = st.tuples(
    st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.just("z")),
    st.integers(0, 60).map(lambda n: START + n * 10 * MINUTE),
    AMOUNTS,
).flatmap(
    lambda row: st.tuples(
        st.just(row[0]),
        st.just(row[1]),
        st.just(row[2]),
        st.tuples(st.just(row[0][1]), st.sampled_from(["FR", "BE", None])),
    )
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), ROWS),
        st.tuples(st.just("ask"), ROWS),
        st.tuples(st.just("label"), st.tuples(st.integers(0, 50), st.booleans())),
        st.tuples(st.just("undo"), st.integers(1, 4)),
        st.tuples(st.just("restore"), st.none()),
        st.tuples(st.just("erase"), st.integers(0, 50)),
        st.tuples(st.just("extend"), st.lists(ROWS, max_size=4)),
        st.tuples(
            st.just("forget"), st.tuples(st.integers(-40, 20), st.sampled_from([None, 1, 2]))
        ),
    ),
    max_size=60,
)


class Both:
    """Does the same to the histories and to their naive twin, and compares what they say."""

    def __init__(self, features):
        self.fast, self.naive = Histories(features), NaiveHistories(features)
        self.done = []
        self.earliest = None
        self.ids = count()

    def add(self, row):
        self.ask(row)
        if self.is_too_old(row):
            with pytest.raises(ValueError, match="older than what is remembered"):
                self.fast.add(*row)
            return
        id = f"{next(self.ids)}"
        self.done.append((self.fast.add(*row), len(self.naive.rows), dict(self.naive.labels)))
        self.naive.add(id, *row)

    def ask(self, row):
        if self.is_too_old(row):
            with pytest.raises(ValueError, match="older than what is remembered"):
                self.fast.describe(*row)
            return
        found = self.fast.describe(*row)
        np.testing.assert_array_equal(found, self.naive.describe(*row))

    def label(self, label):
        number, fraud = label
        if number < len(self.naive.rows):
            id, entities, time, *_ = self.naive.rows[number]
            undo = self.fast.add_label(id, entities, time, fraud)
            self.done.append((undo, len(self.naive.rows), dict(self.naive.labels)))
            self.naive.labels[id] = fraud

    def extend(self, rows):
        """Add many at once; they are not taken back."""
        rows = [row for row in rows if not self.is_too_old(row)]
        self.done.clear()
        self.fast.extend(*columns(self.fast.features, rows))
        for row in rows:
            self.naive.add(f"{next(self.ids)}", *row)

    def erase(self, number):
        if number >= len(self.naive.rows):
            return
        self.done.clear()
        id, who, *rest = self.naive.rows.pop(number)
        self.naive.labels.pop(id, None)
        for i in self.fast.erase(id, who, *rest):
            self.replace(i, who[i])
        for i, name in enumerate(who):
            if not any(row[1][i] == name for row in self.naive.rows):
                self.replace(i, name)
                assert name not in self.fast._keys[i]

    def replace(self, i, name):
        left = [row[1:] for row in self.naive.rows if row[1][i] == name]
        _, time, amount, distinct = columns(self.fast.features, left)
        self.fast.replace(i, name, time, amount, distinct)

    def undo(self, number):
        for _ in range(min(number, len(self.done))):
            undo, rows, labels = self.done.pop()
            self.fast.undo(undo)
            del self.naive.rows[rows:]
            self.naive.labels = labels

    def forget(self, sweep):
        """The twin keeps everything: what is forgotten must not be missed."""
        tens, entities = sweep
        before = START + tens * 10 * MINUTE
        self.done.clear()  # what was there before cannot be taken back
        self.fast.forget(before, entities)
        earliest = before + self.fast.features.reach
        self.earliest = max(earliest, self.earliest or earliest)

    def restore(self, _):
        self.done.clear()
        self.fast = Histories.from_arrays(self.fast.features, self.fast.to_arrays())

    def is_too_old(self, row):
        return self.earliest is not None and row[1] < self.earliest


def columns(features, rows):
    """Rows as the columns that many at once are given in."""
    return (
        [[row[0][i] for row in rows] for i in range(len(features.entities))],
        np.array([row[1] for row in rows], dtype=np.int64),
        np.array([row[2] for row in rows], dtype=np.int64),
        [[row[3][i] for row in rows] for i in range(len(features.distinct))],
    )


@given(STEPS, st.sampled_from([None, "5h", "6h"]), st.sampled_from([0, 1, 3]))
@settings(max_examples=300)
def test_a_transaction_is_described_as_defined(steps, memory, last):
    both = Both(feature_list(memory, last))
    for step, value in steps:
        getattr(both, step)(value)


PAST = (
    st.lists(ROWS, min_size=3, max_size=40),
    st.sets(st.integers(0, 39), min_size=1),
    st.lists(st.tuples(st.integers(-15, 20), st.sampled_from([None, 1, 2])), min_size=1),
    st.lists(ROWS, min_size=1, max_size=10),
    st.sampled_from([None, "5h", "6h"]),
)


@given(*PAST)
@settings(max_examples=300)
def test_what_is_saved_is_described_the_same(rows, frauds, sweeps, later, memory):
    both = Both(feature_list(memory))
    for row in rows:
        both.add(row)
    for number in frauds:
        both.label((number, True))
    if len(later) % 2:
        both.forget(sweeps[0])
    saved, both.fast = both.fast, Histories.from_arrays(both.fast.features, both.fast.to_arrays())
    assert len(saved) == len(both.fast)
    for row in later:
        both.add(row)
    both.label((min(frauds), False))
    for row in later:
        both.ask(row)


@given(*PAST)
@settings(max_examples=300)
def test_what_is_forgotten_is_not_missed(rows, frauds, sweeps, later, memory):
    both = Both(feature_list(memory))
    for row in rows:
        both.add(row)
    for number in frauds:
        both.label((number, True))
    for sweep, (who, time, *rest) in zip(sweeps, later, strict=False):
        both.forget(sweep)
        both.ask((who, both.earliest - 1, *rest))
        for after in (0, 10 * MINUTE, (time - START) // 6):
            both.add((who, both.earliest + after, *rest))


def test_histories_that_are_long_are_described_as_defined():
    rng = np.random.default_rng(0)
    both = Both(feature_list())
    rows = []
    for i in range(1_500):
        time = START + int(rng.integers(0, 3_000) if rng.random() < 0.05 else 2 * i) * MINUTE // 20
        shop = f"{rng.integers(40)}"
        country = f"{int(rng.pareto(0.5)) % 100}"
        rows.append((("a", shop, "z"), time, int(rng.integers(-50, 10_000)), (shop, country)))
    for i, row in enumerate(rows):
        if i % 97 == 0 or i > 1_480:
            both.ask(row)
        both.naive.add(f"{i}", *row)
        both.done.append(both.fast.add(*row))
    for undo in reversed(both.done[750:]):
        both.fast.undo(undo)
    del both.naive.rows[750:]
    for row in rows[750::50]:
        both.ask(row)


def test_what_is_forgotten_makes_room():
    both = Both(feature_list("6h"))
    for i in range(3_000):
        row = (("a", f"{i % 5}", "z"), START + i * MINUTE, i, (f"{i % 5}", f"{i % 7}"))
        both.naive.add(f"{i}", *row)
        both.fast.add(*row)
    assert len(both.fast) == 9_000
    last = 2_999 * MINUTE
    gone = both.fast.forget(START + last - 360 * MINUTE)
    # 360 rows are left of each kind; the last two before them of a card, and one of a shop.
    assert 9_000 - gone == len(both.fast) == 3 * 360 + 2 + 5
    both.earliest = START + last - 60 * MINUTE
    for minutes in range(-62, 200, 13):
        both.add((("a", "3", "z"), START + last + minutes * MINUTE, 5, ("3", "2")))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("time_0", [START + 1, START]),
        ("time_0", [START, START + 10**15]),
        ("time_0", [START]),
        ("time_0", [1.0, 2.0]),
        ("size_0", [3]),
        ("size_0", [-1, 3]),
        ("size_0", [0, 2]),
        ("codes_0", [[0, 0], [0, 7]]),
        ("codes_0", [[0, 0], [-2, 0]]),
        ("fraud_entities", [[0, 9, 0]]),
        ("name_lengths_0", [99]),
        ("amount_0", None),
    ],
)
def test_arrays_that_contradict_each_other_are_refused(name, value):
    histories = Histories(feature_list())
    for i in range(2):
        histories.add(("a", "x", "z"), START + i, 1, ("x", "FR"))
    histories.add_label("1", ("a", "x", "z"), START, True)
    arrays = histories.to_arrays()
    assert len(Histories.from_arrays(histories.features, arrays)) == 6
    arrays.pop(name)
    if value is not None:
        arrays[name] = np.array(value)
    with pytest.raises(ValueError, match=r"order|another|add up|no name|no entity"):
        Histories.from_arrays(histories.features, arrays)


def test_what_was_never_added_cannot_be_taken_back():
    histories = Histories(feature_list())
    undo = histories.add(("a", "x", "z"), START, 1, ("x", None))
    histories.undo(undo)
    with pytest.raises(ValueError, match="no transaction of that time"):
        histories.undo(undo)


def test_names_are_as_many_as_numbers():
    features = feature_list()
    found = Histories(features).describe(("a", "x", "z"), START, 1, ("x", None))
    assert len(found) == len(features.names) == len(set(features.names))
    said = dict(zip(features.names, found, strict=True))
    assert said["card_count_4h"] == said["card_distinct_shop_30min"] == 1
    assert said["card_distinct_country_30min"] == 0, "a missing value is not one"
    assert said["amount"] == said["card_mean_last_3"] == 0.01
