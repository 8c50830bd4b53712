import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from sklearn.exceptions import UndefinedMetricWarning

from rarefind.metrics import (
    Interval,
    amount_at_k,
    average_precision,
    balanced_accuracy,
    bootstrap_interval,
    entity_precision_at_k,
    f_beta,
    g_mean,
    g_measure,
    lift_at_k,
    pos_at_top,
    precision_at_k,
    recall_at_k,
)

rng = np.random.default_rng(0)
y = np.repeat([1, 0], [12, 48])
score = rng.normal(y, 1)
alert = (score > 0.5).astype(int)
amount = rng.uniform(1, 100, y.size)
entity, day = rng.integers(0, 20, y.size), rng.integers(0, 3, y.size)

CASES = {
    "average_precision": (average_precision, score, {}),
    "pos_at_top": (pos_at_top, score, {}),
    "precision_at_k": (precision_at_k, score, {"k": 10}),
    "recall_at_k": (recall_at_k, score, {"k": "20%"}),
    "lift_at_k": (lift_at_k, score, {"k": 0.1}),
    "amount_at_k": (amount_at_k, score, {"amount": amount, "k": 10}),
    "f_beta": (f_beta, alert, {"beta": 2}),
    "g_measure": (g_measure, alert, {}),
    "g_mean": (g_mean, alert, {}),
    "balanced_accuracy": (balanced_accuracy, alert, {}),
    "entity_precision_at_k": (entity_precision_at_k, score, {"entity": entity, "day": day, "k": 4}),
}
every_measure = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@every_measure
def test_every_measure_has_an_interval_around_its_value(case):
    metric, given, arguments = case
    interval = bootstrap_interval(metric, y, given, n_resamples=200, random_state=0, **arguments)
    assert interval.value == metric(y, given, **arguments)
    assert interval.low <= interval.value <= interval.high
    assert interval.low < interval.high


@every_measure
def test_the_same_seed_gives_the_same_interval_and_another_seed_another(case):
    metric, given, arguments = case

    def interval(seed):
        return bootstrap_interval(metric, y, given, n_resamples=40, random_state=seed, **arguments)

    assert interval(1) == interval(1)
    assert len({interval(seed) for seed in range(5)}) > 1


def test_a_wider_level_gives_a_wider_interval():
    narrow, wide = (
        bootstrap_interval(
            average_precision, y, score, n_resamples=200, level=level, random_state=0
        )
        for level in (0.5, 0.9)
    )
    assert wide.low < narrow.low < narrow.high < wide.high


def test_rows_are_drawn_with_replacement():
    whole_list = {"k": y.size, "n_resamples": 2000, "level": 0.9, "random_state": 0}
    interval = bootstrap_interval(precision_at_k, y, score, **whole_list)
    expected = binom(y.size, y.mean()).ppf([0.05, 0.95]) / y.size
    assert interval[1:] == pytest.approx(expected, abs=1.01 / y.size)


def test_whole_entities_are_drawn():
    positives, size = 8, 20
    labels = np.arange(size) < positives
    rows = {"entity": np.repeat(range(size), 5), "day": np.zeros(5 * size), "k": size}
    interval = bootstrap_interval(
        entity_precision_at_k,
        np.repeat(labels, 5),
        np.zeros(5 * size),
        n_resamples=500,
        level=0.9,
        random_state=0,
        **rows,
    )
    expected = binom(size, positives / size).ppf([0.05, 0.95]) / size
    assert interval[1:] == pytest.approx(expected, abs=1.01 / size)


tables = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 3), st.integers(0, 9), st.integers(1, 3)),
    min_size=1,
    max_size=8,
)


@settings(max_examples=50, deadline=None)
@given(tables)
def test_drawing_rows_is_drawing_weights_and_keeps_the_rows_together(rows):
    resamples = []

    def metric(y, score, amount, sample_weight):
        resamples.append((y, score, amount, sample_weight))
        return 0.0

    labels, scores, amounts, weights = map(list, zip(*rows, strict=True))
    bootstrap_interval(metric, labels, scores, amount=amounts, sample_weight=weights, n_resamples=3)
    for y, score, amount, drawn in resamples[1:]:
        columns = [np.asarray(column).tolist() for column in (y, score, amount)]
        assert sorted(zip(*columns, strict=True)) == sorted(row[:3] for row in rows)
        # Each row weighs its own weight as often as it was drawn: n draws in all.
        own = {row[:3]: row[3] for row in rows}
        if len(own) == len(rows):
            times = [w / own[row] for w, row in zip(drawn, zip(*columns, strict=True), strict=True)]
            assert all(t == int(t) for t in times)
            assert sum(times) == len(rows)


@settings(max_examples=50, deadline=None)
@given(tables)
def test_an_entity_is_drawn_with_all_its_rows_and_drawn_twice_is_two(rows):
    resamples = []

    def metric(y, score, entity, day):
        resamples.append(list(zip(y, score, entity, day, strict=True)))
        return 0.0

    labels, scores, days, entities = map(list, zip(*rows, strict=True))
    bootstrap_interval(metric, labels, scores, entity=entities, day=days, n_resamples=3)
    whole = [sorted(row[:3] for row in rows if row[3] == entity) for entity in set(entities)]
    for drawn in resamples[1:]:
        names = {name for _, _, name, _ in drawn}
        assert len(names) == len(whole)
        for name in names:
            assert sorted((a, b, d) for a, b, e, d in drawn if e == name) in whole


def test_resamples_without_positives_say_nothing_about_the_positives():
    # One resample in four is drawn without the only positive; in all others its recall is 1.
    interval = bootstrap_interval(recall_at_k, [1, 0], [2, 1], k=2, random_state=0)
    assert interval == (1, 1, 1)


def test_without_any_positive_there_is_nothing_to_measure():
    with (
        pytest.warns(UndefinedMetricWarning, match="no positive row"),
        pytest.raises(ValueError, match="No resample holds a positive row"),
    ):
        bootstrap_interval(average_precision, [0, 0], [1, 2], n_resamples=5)


def test_rows_that_weigh_nothing_may_fill_a_resample():
    rows = {"sample_weight": [1, 0], "k": 1, "random_state": 0}
    assert bootstrap_interval(precision_at_k, [1, 0], [2, 1], **rows).value == 1


@pytest.mark.parametrize("level", [0, 1, -0.5, 95])
def test_the_level_is_a_share(level):
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        bootstrap_interval(average_precision, y, score, level=level)


def test_a_measure_without_weights_cannot_be_resampled():
    def accuracy(y, alert):
        return float(np.mean(y == alert))

    with pytest.raises(ValueError, match="accuracy takes no sample_weight"):
        bootstrap_interval(accuracy, y, alert)


def test_an_interval_shows_itself():
    assert str(Interval(0.5, 0.25, 0.75)) == "0.500 [0.250, 0.750]"
