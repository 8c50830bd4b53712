import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, fbeta_score, precision_score, recall_score

from rarefind.metrics import (
    AlertsAtMost,
    Cost,
    FBeta,
    RecallAtLeast,
    balanced_accuracy,
    confusion,
    count_metric,
    f_beta,
    g_mean,
    g_measure,
)

examples = settings(max_examples=80, deadline=None)
decisions = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 4)), min_size=1, max_size=12
).map(lambda rows: tuple(map(np.array, zip(*rows, strict=True))))
counts = st.tuples(*[st.integers(0, 9)] * 4)


def naive_counts(y, alert, weight):
    tp = fp = fn = tn = 0
    for actual, alerted, w in zip(y, alert, weight, strict=True):
        tp += w * (actual == 1 and alerted == 1)
        fp += w * (actual == 0 and alerted == 1)
        fn += w * (actual == 1 and alerted == 0)
        tn += w * (actual == 0 and alerted == 0)
    return tp, fp, fn, tn


def share(part, whole):
    return part / whole if whole else 0.0


@examples
@given(decisions)
def test_counts_are_those_of_a_loop_over_the_rows(rows):
    y, alert, weight = rows
    assert confusion(y, alert, sample_weight=weight) == naive_counts(y, alert, weight)
    assert confusion(y, alert) == naive_counts(y, alert, np.ones(y.size))


@examples
@given(decisions)
def test_measures_of_decisions_follow_their_definitions(rows):
    y, alert, weight = rows
    tp, fp, fn, tn = naive_counts(y, alert, weight)
    precision, recall, specificity = share(tp, tp + fp), share(tp, tp + fn), share(tn, tn + fp)
    measured = [
        measure(y, alert, sample_weight=weight)
        for measure in (g_measure, g_mean, balanced_accuracy)
    ]
    assert measured == pytest.approx(
        [
            math.sqrt(precision * recall),
            math.sqrt(recall * specificity),
            (recall + specificity) / 2,
        ]
    )


@examples
@given(decisions, st.sampled_from([0.5, 1, 2, 3.5]))
def test_the_f_measure_agrees_with_scikit_learn(rows, beta):
    y, alert, weight = rows
    assume(weight.any())
    expected = fbeta_score(y, alert, beta=beta, sample_weight=weight, zero_division=0)
    assert f_beta(y, alert, beta=beta, sample_weight=weight) == pytest.approx(expected)


@examples
@given(decisions)
def test_plain_names_agree_with_scikit_learn(rows):
    y, alert, _ = rows
    counted = np.array(confusion(y, alert))
    assert count_metric("accuracy")(*counted) == pytest.approx(accuracy_score(y, alert))
    for name, reference in {"precision": precision_score, "recall": recall_score}.items():
        assert count_metric(name)(*counted) == pytest.approx(reference(y, alert, zero_division=0))


@pytest.mark.parametrize("measure", [f_beta, g_measure, g_mean, balanced_accuracy])
@examples
@given(rows=decisions)
def test_a_row_of_weight_two_counts_as_two_rows(measure, rows):
    y, alert, weight = rows
    assume(weight.any())
    repeated = measure(np.repeat(y, weight), np.repeat(alert, weight))
    assert measure(y, alert, sample_weight=weight) == pytest.approx(repeated)


@pytest.mark.parametrize("measure", [f_beta, g_measure, g_mean, balanced_accuracy])
def test_the_positive_label_can_be_named(measure):
    y, alert = np.array([1, 1, 0, 0, 0]), np.array([1, 0, 1, 0, 0])
    named = measure(np.where(y, "fraud", "ok"), np.where(alert, "fraud", "ok"), pos_label="fraud")
    assert named == measure(y, alert) == measure(2 * y - 1, 2 * alert - 1)


def test_labels_that_are_alone_on_one_side_are_understood_by_the_other():
    assert confusion([1, 1], [-1, -1]) == (0, 0, 2, 0)
    assert confusion([-1, -1], [1, -1]) == (0, 1, 0, 1)


def test_labels_that_do_not_fit_together_need_a_positive_label():
    with pytest.raises(ValueError, match="name the positive one"):
        confusion([0, 1], [-1, 1])


def test_labels_and_decisions_must_be_equally_many():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        confusion([0, 1], [1])


@pytest.mark.parametrize(
    "metric",
    [
        *map(count_metric, ("f1", "f2", "accuracy", "balanced_accuracy", "g_mean", "g_measure")),
        Cost(c_fp=2, c_fn=7, c_tp=1, c_tn=0.5),
        RecallAtLeast(0.6),
        AlertsAtMost(5),
        AlertsAtMost(0.3),
    ],
)
@examples
@given(cuts=st.lists(counts, min_size=1, max_size=5))
def test_all_cuts_at_once_are_worth_what_each_is_alone(metric, cuts):
    columns = np.array(cuts, dtype=float).T
    assert metric(*columns).tolist() == [float(metric(*cut)) for cut in cuts]


@examples
@given(counts, st.tuples(*[st.integers(-5, 9)] * 4))
def test_a_cost_is_the_sum_over_the_rows_with_a_minus_sign(counted, prices):
    tp, fp, fn, tn = counted
    c_tp, c_fp, c_fn, c_tn = prices
    cost = Cost(c_fp=c_fp, c_fn=c_fn, c_tp=c_tp, c_tn=c_tn)
    assert cost(tp, fp, fn, tn) == -(tp * c_tp + fp * c_fp + fn * c_fn + tn * c_tn)


def test_costs_that_differ_by_row_need_the_rows():
    cost = Cost(c_fn=[1, 2])
    assert cost.per_row
    assert not Cost().per_row
    with pytest.raises(ValueError, match="differ by row need best_threshold"):
        cost(1, 1, 1, 1)


@examples
@given(counts, counts, st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0]))
def test_recall_comes_before_precision_until_enough_is_found(one, other, wanted):
    def preference(cut):
        tp, fp, fn, _ = cut
        enough = share(tp, tp + fn) >= wanted
        return enough, share(tp, tp + fp) if enough else share(tp, tp + fn)

    metric = RecallAtLeast(wanted)
    assert (metric(*one) > metric(*other)) == (preference(one) > preference(other))


def test_three_of_ten_positives_are_enough_whatever_the_rounding():
    assert RecallAtLeast(0.1 + 0.2)(tp=3, fp=0, fn=7, tn=0) == 1


@examples
@given(counts, counts, st.sampled_from([1, 3, 8, 0.2, 0.5]))
def test_of_decisions_within_the_budget_the_most_positives_win(one, other, k):
    rows = sum(one)
    assume(rows == sum(other) or k >= 1)
    allowed = k * rows if k < 1 else k

    def preference(cut):
        tp, fp, *_ = cut
        within = tp + fp <= allowed
        return within, tp if within else -(tp + fp)

    metric = AlertsAtMost(k)
    assert (metric(*one) > metric(*other)) == (preference(one) > preference(other))


def test_the_most_positives_win_also_where_rows_weigh_little():
    found, nothing = (0.1, 0.1, 0.0, 0.0), (0.0, 0.0, 0.1, 0.1)
    assert AlertsAtMost(1)(*found) > AlertsAtMost(1)(*nothing)


@pytest.mark.parametrize(("name", "beta"), [("f1", 1), ("f2", 2), ("f0.5", 0.5), ("f10", 10)])
def test_the_number_in_the_name_of_an_f_measure_is_beta(name, beta):
    assert count_metric(name) == FBeta(beta)


@pytest.mark.parametrize(
    ("name", "params", "metric"),
    [
        ("f_beta", {"beta": 3}, FBeta(3)),
        ("recall_at_least", {"recall": 0.9}, RecallAtLeast(0.9)),
        ("alerts_at_most", {"k": 20}, AlertsAtMost(20)),
    ],
)
def test_names_take_the_parameters_of_their_family(name, params, metric):
    assert count_metric(name, **params) == metric


def test_the_named_cost_takes_its_prices():
    assert count_metric("cost", c_fp=2, c_fn=5)(tp=0, fp=1, fn=1, tn=0) == -7


def test_a_function_is_its_own_metric():
    assert count_metric(max) is max


@pytest.mark.parametrize("name", ["fx", "F1", "nonsense", "f-1", ""])
def test_an_unknown_name_is_answered_with_the_known_ones(name):
    with pytest.raises(ValueError, match=r"Unknown metric .* known are f1, f2.*g_mean.*cost"):
        count_metric(name)


def test_a_function_takes_no_parameters():
    with pytest.raises(ValueError, match="beta go with the name of a metric"):
        count_metric(max, beta=2)


@pytest.mark.parametrize("name", ["f1", "g_mean"])
def test_a_name_without_parameters_takes_none(name):
    with pytest.raises(ValueError, match=f"'{name}' takes no beta"):
        count_metric(name, beta=2)


@pytest.mark.parametrize(
    ("name", "params"), [("recall_at_least", {}), ("alerts_at_most", {}), ("cost", {"c_np": 1})]
)
def test_a_family_without_its_parameter_says_which(name, params):
    with pytest.raises(ValueError, match=rf"Metric '{name}' takes .*(recall|k|c_fp)"):
        count_metric(name, **params)


def test_budgets_of_alerts_are_said_as_everywhere():
    counts = (3.0, 2.0, 1.0, 94.0)
    assert (
        AlertsAtMost("5%")(*counts)
        == AlertsAtMost(0.05)(*counts)
        == AlertsAtMost("5")(*counts)
        == 3
    )
    with pytest.raises(ValueError, match="A budget is a number of checks"):
        AlertsAtMost("many")


def test_parameters_out_of_range_are_refused():
    with pytest.raises(ValueError, match="recall is a share from 0 to 1, not 90"):
        RecallAtLeast(90)
    with pytest.raises(ValueError, match="beta must be above 0"):
        FBeta(0)
