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
    ),
    max_size=60,
)


class Both:
    """Does the same to the histories and to their naive twin, and compares what they say."""

    def __init__(self, features, late=None):
        self.fast, self.naive = Histories(features), NaiveHistories(features)
        self.late = late
        self.done = []

    def add(self, row):
        self.ask(row)
        id = f"{len(self.done)}"
        self.done.append((self.fast.add(*row), len(self.naive.rows), dict(self.naive.labels)))
        self.naive.add(id, *row)

    def ask(self, row):
        found = self.fast.describe(*row)
        np.testing.assert_array_equal(found, self.naive.describe(*row))

    def label(self, label):
        number, fraud = label
        if number < len(self.naive.rows):
            id, entities, time, *_ = self.naive.rows[number]
            undo = self.fast.add_label(id, entities, time, fraud)
            self.done.append((undo, len(self.naive.rows), dict(self.naive.labels)))
            self.naive.labels[id] = fraud

    def undo(self, count):
        for _ in range(min(count, len(self.done))):
            undo, rows, labels = self.done.pop()
            self.fast.undo(undo)
            del self.naive.rows[rows:]
            self.naive.labels = labels


@given(STEPS, st.sampled_from([None, "5h", "6h"]), st.sampled_from([0, 1, 3]))
@settings(max_examples=300)
def test_a_transaction_is_described_as_defined(steps, memory, last):
    both = Both(feature_list(memory, last))
    for step, value in steps:
        getattr(both, step)(value)


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
