import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from rarefind.metrics import Cost, count_metric
from rarefind.selection import best_threshold

examples = settings(max_examples=50, deadline=None)
labels = st.integers(0, 1)
whole_scores = st.integers(-4, 4)
any_scores = st.one_of(whole_scores.map(float), st.sampled_from([-np.inf, np.inf]))


def tables(*columns, max_size=9):
    """Lists of rows, turned into columns."""
    rows = st.lists(st.tuples(*columns), min_size=1, max_size=max_size)
    return rows.map(lambda table: tuple(map(np.array, zip(*table, strict=True))))


METRICS = {
    "f1": ("f1", {}),
    "f0.5": ("f0.5", {}),
    "f_beta": ("f_beta", {"beta": 2}),
    "accuracy": ("accuracy", {}),
    "balanced accuracy": ("balanced_accuracy", {}),
    "g_mean": ("g_mean", {}),
    "g_measure": ("g_measure", {}),
    "recall": ("recall_at_least", {"recall": 0.6}),
    "alerts": ("alerts_at_most", {"k": 3}),
    "share of alerts": ("alerts_at_most", {"k": 0.4}),
    "cost": ("cost", {"c_fp": 2, "c_fn": 5, "c_tp": 1, "c_tn": -1}),
    "vectorised": (lambda tp, fp, fn, tn: tp * tn - fp * fn, {}),
    "one cut at a time": (lambda tp, fp, fn, tn: max(tp - fp, 1 if fn > 1 else 0), {}),
    "undefined without alerts": (lambda tp, fp, fn, tn: math.sqrt(tp) / (tp + fp), {}),
}
every_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)


def counts(y, alert, weight):
    tp = sum(w for label, a, w in zip(y, alert, weight, strict=True) if a and label)
    fp = sum(w for label, a, w in zip(y, alert, weight, strict=True) if a and not label)
    positives = sum(w for label, w in zip(y, weight, strict=True) if label)
    return tp, fp, positives - tp, sum(weight) - positives - fp


def gaps(score, bounds=(-math.inf, math.inf)):
    """All (low, high) such that low < threshold <= high gives one decision, from the top."""
    distinct = [math.inf, *sorted(set(score.tolist()), reverse=True), -math.inf]
    clipped = [(max(low, bounds[0]), min(high, bounds[1])) for high, low in pairwise(distinct)]
    return [(low, high) for low, high in clipped if low < high]


def value_at(metric, y, score, weight, threshold):
    function = count_metric(metric[0], **metric[1])
    try:
        value = float(function(*counts(y, score >= threshold, weight)))
    except ZeroDivisionError:
        return -math.inf
    return -math.inf if math.isnan(value) else value


def naive_plateaus(values, ends):
    """Runs of neighbouring gaps that are worth the most."""
    best, runs, before = max(values), [], False
    for value, gap in zip(values, ends, strict=True):
        optimal = math.isclose(value, best, rel_tol=1e-9, abs_tol=1e-12)
        if optimal and before:
            runs[-1].append(gap)
        elif optimal:
            runs.append([gap])
        before = optimal
    return runs


def finite_ends(gap, spread):
    low, high = gap
    if math.isinf(low) and math.isinf(high):
        return -spread, spread
    return (high - spread if math.isinf(low) else low), (low + spread if math.isinf(high) else high)


def assert_follows_the_plateau_rule(threshold, values, score, bounds=(-math.inf, math.inf)):
    """The middle of a gap that holds the middle of a plateau, and no plateau is wider."""
    spread = int(score.max() - score.min()) or 1
    ends = [tuple(map(Fraction, finite_ends(gap, spread))) for gap in gaps(score, bounds)]
    plateaus = naive_plateaus(values, ends)
    widths = [run[0][1] - run[-1][0] for run in plateaus]
    widest = [run for run, width in zip(plateaus, widths, strict=True) if width == max(widths)]
    allowed = [
        (low + high) / 2
        for run in widest
        for low, high in run
        if low <= (run[0][1] + run[-1][0]) / 2 <= high
    ]
    assert Fraction(threshold) in allowed


@every_metric
@examples
@given(table=tables(labels, any_scores, st.integers(1, 3)))
def test_no_threshold_is_better_than_the_best(metric, table):
    y, score, weight = table
    thresholds = [high for _, high in gaps(score)]
    values = [value_at(metric, y, score, weight, threshold) for threshold in thresholds]
    assume(max(values) > -math.inf)
    best = best_threshold(y, score, metric[0], sample_weight=weight, **metric[1])
    assert best.value == pytest.approx(max(values))
    assert best[2:] == counts(y, score >= best.threshold, weight)
    assert best.value == pytest.approx(value_at(metric, y, score, weight, best.threshold))


@every_metric
@examples
@given(table=tables(labels, whole_scores))
def test_the_cut_is_in_the_middle_of_the_widest_plateau(metric, table):
    y, score = table
    values = [value_at(metric, y, score, np.ones(y.size), high) for _, high in gaps(score)]
    assume(max(values) > -math.inf)
    threshold = best_threshold(y, score, metric[0], **metric[1]).threshold
    assert_follows_the_plateau_rule(threshold, values, score)


@examples
@given(
    tables(labels, whole_scores),
    st.tuples(
        st.one_of(st.integers(-6, 6), st.just(-math.inf)),
        st.one_of(st.integers(-6, 6), st.just(math.inf)),
    ).filter(lambda bounds: bounds[0] < bounds[1]),
    st.sampled_from(["f1", "accuracy", "recall"]),
)
def test_bounds_leave_the_best_of_the_thresholds_within(table, bounds, name):
    y, score = table
    values = [
        value_at((name, {}), y, score, np.ones(y.size), high) for _, high in gaps(score, bounds)
    ]
    best = best_threshold(y, score, name, bounds=bounds)
    assert bounds[0] < best.threshold <= bounds[1]
    assert best.value == pytest.approx(max(values))
    assert best[2:] == counts(y, score >= best.threshold, np.ones(y.size))
    assert_follows_the_plateau_rule(best.threshold, values, score, bounds)


prices = st.integers(-3, 9)


@examples
@given(tables(labels, whole_scores, st.integers(0, 3), prices, prices, prices, prices))
def test_costs_may_differ_by_row(table):
    y, score, weight, c_fp, c_fn, c_tp, c_tn = table

    def cost(threshold):
        alerted = np.where(y == 1, c_tp, c_fp)
        passed = np.where(y == 1, c_fn, c_tn)
        return sum(weight * np.where(score >= threshold, alerted, passed))

    values = [-cost(high) for _, high in gaps(score)]
    costs = {"c_fp": c_fp, "c_fn": c_fn, "c_tp": c_tp, "c_tn": c_tn}
    best = best_threshold(y, score, "cost", sample_weight=weight, **costs)
    assert best.value == max(values)
    assert best.value == -cost(best.threshold)
    assert best[2:] == counts(y, score >= best.threshold, weight)
    assert_follows_the_plateau_rule(best.threshold, values, score)
    assert best_threshold(y, score, Cost(**costs), sample_weight=weight) == best


def test_some_costs_may_be_numbers_and_others_lists():
    best = best_threshold([1, 0, 1], [3, 2, 1], "cost", c_fp=10, c_fn=[50, 0, 5])
    assert (best.threshold, best.value) == (2.5, -5)


@every_metric
@examples
@given(table=tables(labels, whole_scores, st.integers(1, 3)))
def test_a_row_of_weight_two_counts_as_two_rows(metric, table):
    y, score, weight = table
    name, params = metric
    repeated = best_threshold(np.repeat(y, weight), np.repeat(score, weight), name, **params)
    assert best_threshold(y, score, name, sample_weight=weight, **params) == repeated


@every_metric
@examples
@given(table=tables(labels, whole_scores), data=st.data())
def test_the_order_of_the_rows_does_not_matter(metric, table, data):
    y, score = table
    name, params = metric
    order = np.array(data.draw(st.permutations(range(y.size))))
    shuffled = best_threshold(y[order], score[order], name, **params)
    assert best_threshold(y, score, name, **params) == shuffled


@settings(max_examples=200, deadline=None)
@given(tables(labels, st.floats(-1e300, 1e300)))
@example((np.array([1, 0]), np.array([5e-324, 0.0])))
@example((np.array([1, 0]), np.array([np.nextafter(1.0, 2.0), 1.0])))
def test_rounding_moves_no_row_across_the_cut(table):
    y, score = table
    best = best_threshold(y, score, "accuracy")
    assert best[2:] == counts(y, score >= best.threshold, np.ones(y.size))


def test_scores_at_both_ends_of_the_number_line_have_a_cut_between_them():
    assert best_threshold([1, 0], [1.7e308, -1.7e308]).threshold == 0


def test_weights_give_the_measure_in_money():
    amounts = [100, 1, 1, 1]
    best = best_threshold(
        [1, 0, 1, 0], [4, 3, 2, 1], "recall_at_least", recall=0.9, sample_weight=amounts
    )
    assert (best.threshold, best.tp, best.fn) == (3.5, 100, 1)


def test_few_alerts_find_the_most_positives_also_where_rows_weigh_little():
    best = best_threshold([1, 0], [2, 1], "alerts_at_most", k=1, sample_weight=[0.1, 0.1])
    assert best.tp == pytest.approx(0.1)


def test_scores_of_several_folds_are_pooled_by_joining_them():
    first, second = ([1, 0, 0], [0.9, 0.5, 0.1]), ([1, 1, 0], [0.8, 0.4, 0.3])
    pooled = best_threshold(first[0] + second[0], first[1] + second[1], "accuracy")
    assert (pooled.tp, pooled.fp, pooled.fn, pooled.tn) == (2, 0, 1, 3)
    assert pooled.threshold == pytest.approx(0.65)


def test_infinite_scores_are_cut_off_from_finite_ones():
    best = best_threshold([1, 0, 0], [np.inf, 2.0, -np.inf])
    assert (best.value, best.tp, best.fp) == (1, 1, 0)
    assert 2 < best.threshold < np.inf


def test_the_positive_label_can_be_named():
    named = best_threshold(["fraud", "ok"], [2, 1], pos_label="fraud")
    assert named == best_threshold([1, 0], [2, 1])


@pytest.mark.parametrize("bounds", [(2, 1), (1, 1), (np.inf, np.inf)])
def test_bounds_without_a_threshold_are_refused(bounds):
    with pytest.raises(ValueError, match="No threshold lies in"):
        best_threshold([1, 0], [2, 1], bounds=bounds)


def test_a_metric_that_is_never_a_number_is_refused():
    with pytest.raises(ValueError, match="not a number at any threshold"):
        best_threshold([1, 0], [2, 1], lambda tp, fp, fn, tn: math.nan)


@pytest.mark.parametrize("name", ["c_fp", "c_fn", "c_tp", "c_tn"])
@pytest.mark.parametrize("wrong", [[1], [1, 2, 3], [[1, 2]]])
def test_costs_must_be_one_a_row(name, wrong):
    with pytest.raises(ValueError, match=f"{name} must be a number or hold one for each of the 2"):
        best_threshold([1, 0], [2, 1], "cost", **{name: wrong})


def test_missing_costs_are_refused():
    with pytest.raises(ValueError, match=r"c_fn|not a number"):
        best_threshold([1, 0], [2, 1], "cost", c_fn=[np.nan, 1])


def test_nan_scores_are_refused():
    with pytest.raises(ValueError, match="1 of 2 scores are NaN"):
        best_threshold([1, 0], [np.nan, 1])


def test_an_unknown_metric_is_refused():
    with pytest.raises(ValueError, match="Unknown metric 'f_one'"):
        best_threshold([1, 0], [2, 1], "f_one")


def test_parameters_go_with_a_name():
    with pytest.raises(ValueError, match="go with the name of a metric"):
        best_threshold([1, 0], [2, 1], lambda tp, fp, fn, tn: tp, beta=2)
