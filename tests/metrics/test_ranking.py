import math
from functools import partial
from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import average_precision_score

from rarefind.metrics import (
    amount_at_k,
    average_precision,
    budget,
    hits_by_check,
    lift_at_k,
    pos_at_top,
    precision_at_k,
    recall_at_k,
)

examples = settings(max_examples=60, deadline=None)
scores = st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 0.75, 3.0, np.inf])
labels = st.integers(0, 1)


def tables(*columns, max_size=12):
    """Lists of rows, turned into columns."""
    rows = st.lists(st.tuples(*columns), min_size=1, max_size=max_size)
    return rows.map(lambda table: tuple(map(np.array, zip(*table, strict=True))))


MEASURES = {
    "average_precision": average_precision,
    "pos_at_top": pos_at_top,
    "precision_at_2": partial(precision_at_k, k=2),
    "precision_at_40%": partial(precision_at_k, k=0.4),
    "recall_at_3": partial(recall_at_k, k=3),
    "lift_at_2": partial(lift_at_k, k=2),
}
every_measure = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)


def naive_average_precision(y, score):
    total, found_before = 0.0, 0
    for threshold in sorted(set(score), reverse=True):
        alerted = [label for label, s in zip(y, score, strict=True) if s >= threshold]
        found = sum(alerted)
        total += (found - found_before) / sum(y) * found / len(alerted)
        found_before = found
    return total


def expected_sum_of_first(k, score, column):
    """Mean over all orders of the rows of what the first k hold once they are sorted."""
    totals = []
    for order in permutations(range(len(score))):
        ranked = sorted(order, key=lambda row: -score[row])
        totals.append(sum(column[row] for row in ranked[:k]))
    return math.fsum(totals) / len(totals)


@examples
@given(tables(labels, scores))
def test_average_precision_is_the_area_under_the_steps(table):
    y, score = table
    assume(y.any())
    assert average_precision(y, score) == pytest.approx(naive_average_precision(y, score))


@examples
@given(tables(labels, st.integers(0, 4), st.floats(0.1, 5)))
def test_average_precision_agrees_with_scikit_learn(table):
    y, score, weight = table
    assume(y.any())
    assert average_precision(y, score) == pytest.approx(average_precision_score(y, score))
    weighted = average_precision_score(y, score, sample_weight=weight)
    assert average_precision(y, score, sample_weight=weight) == pytest.approx(weighted)


@examples
@given(tables(labels, scores, max_size=6), st.integers(1, 7))
def test_ties_at_the_cut_count_in_expectation(table, k):
    y, score = table
    checks = min(k, y.size)
    hits = expected_sum_of_first(checks, score, y)
    assert precision_at_k(y, score, k) == pytest.approx(hits / checks)
    if y.any():
        assert recall_at_k(y, score, k) == pytest.approx(hits / y.sum())
        assert lift_at_k(y, score, k) == pytest.approx(hits / checks / y.mean())


@examples
@given(tables(labels, scores, st.integers(0, 100), max_size=6), st.integers(1, 7))
def test_amounts_of_the_positives_in_the_first_k_are_recovered(table, k):
    y, score, amount = table
    recovered = expected_sum_of_first(k, score, y * amount)
    assert amount_at_k(y, score, amount, k) == pytest.approx(recovered)
    if (y * amount).any():
        share = recovered / (y * amount).sum()
        assert amount_at_k(y, score, amount, k, share=True) == pytest.approx(share)


@examples
@given(tables(labels, scores))
def test_pos_at_top_counts_the_positives_above_every_negative(table):
    y, score = table
    assume(y.any())
    above = [s for s in score[y == 1] if all(s > other for other in score[y == 0])]
    assert pos_at_top(y, score) == pytest.approx(len(above) / y.sum())


@every_measure
@examples
@given(table=tables(labels, scores, st.integers(0, 3)))
def test_a_row_of_weight_two_counts_as_two_rows(measure, table):
    y, score, weight = table
    assume(y @ weight > 0)
    repeated = measure(np.repeat(y, weight), np.repeat(score, weight))
    assert measure(y, score, sample_weight=weight) == pytest.approx(repeated)


@examples
@given(tables(labels, scores, st.integers(0, 3), st.integers(0, 100)), st.integers(1, 9))
def test_weighted_amounts_are_those_of_repeated_rows(table, k):
    y, score, weight, amount = table
    assume(weight.any())
    repeated = amount_at_k(*(np.repeat(a, weight) for a in (y, score, amount)), k=k)
    assert amount_at_k(y, score, amount, k, sample_weight=weight) == pytest.approx(repeated)


@every_measure
@examples
@given(table=tables(labels, scores, st.integers(0, 3)), data=st.data())
def test_the_order_of_the_rows_does_not_matter(measure, table, data):
    y, score, weight = table
    assume(y @ weight > 0)
    order = np.array(data.draw(st.permutations(range(y.size))))
    shuffled = measure(y[order], score[order], sample_weight=weight[order])
    assert measure(y, score, sample_weight=weight) == pytest.approx(shuffled)


@every_measure
@examples
@given(table=tables(labels, st.integers(-3, 3)))
def test_only_the_order_of_the_scores_matters(measure, table):
    y, score = table
    assume(y.any())
    assert measure(y, score) == measure(y, np.exp(score) * 7 - 2)


@every_measure
def test_the_positive_label_can_be_named(measure):
    y, score = np.array([1, 0, 0, 1, 0, 0]), [6, 5, 4, 3, 2, 1]
    named = measure(np.where(y, "fraud", "ok"), score, pos_label="fraud")
    assert named == measure(y, score) == measure(2 * y - 1, score)


@examples
@given(tables(labels, scores), st.sampled_from([0.01, 0.3, 0.5, 0.9]))
def test_a_share_of_the_rows_is_a_number_of_checks(table, share):
    y, score = table
    checks = int(budget(share, y.size))
    assert precision_at_k(y, score, share) == precision_at_k(y, score, checks)
    assert precision_at_k(y, score, f"{share:.0%}") == precision_at_k(y, score, checks)


def test_a_budget_beyond_the_list_checks_the_whole_list():
    y, score = [1, 0, 0, 1], [1, 2, 3, 4]
    assert precision_at_k(y, score, 100) == 0.5
    assert recall_at_k(y, score, 100) == 1
    assert lift_at_k(y, score, 100) == 1


@examples
@given(tables(labels, scores, st.integers(0, 3)))
def test_the_curve_of_hits_is_what_every_number_of_checks_finds(table):
    y, score, weight = table
    assume(weight.any())
    checks, hits = hits_by_check(y, score, sample_weight=weight)
    assert (checks[0], hits[0]) == (0, 0)
    assert (checks[-1], hits[-1]) == (weight.sum(), y @ weight)
    for k in range(1, weight.sum() + 1):
        found = precision_at_k(y, score, k, sample_weight=weight) * k
        assert np.interp(k, checks, hits) == pytest.approx(found)


@pytest.mark.parametrize(
    "measure",
    [
        average_precision,
        pos_at_top,
        partial(recall_at_k, k=1),
        partial(lift_at_k, k=1),
        partial(amount_at_k, amount=[5, 5], k=1, share=True),
    ],
)
def test_without_positives_a_share_of_them_is_zero_with_a_warning(measure):
    with pytest.warns(UndefinedMetricWarning, match="no positive row"):
        assert measure([0, 0], [1, 2]) == 0


def test_without_negatives_all_positives_are_at_the_top():
    assert pos_at_top([1, 1], [-np.inf, 0]) == 1


def test_a_negative_tied_with_the_positives_keeps_them_from_the_top():
    assert pos_at_top([1, 1, 0], [2, 1, 1]) == 0.5


@every_measure
def test_rows_that_all_weigh_nothing_are_worth_nothing(measure):
    with pytest.warns(UndefinedMetricWarning, match=r"no (positive row|row that counts)"):
        assert measure([1, 0], [1, 2], sample_weight=[0, 0]) == 0


@pytest.mark.parametrize("amount", [[1.0], [1.0, np.nan], [1.0, np.inf]])
def test_every_row_needs_a_finite_amount(amount):
    with pytest.raises(ValueError, match="finite number for each of the 2 rows"):
        amount_at_k([1, 0], [1, 2], amount, 1)


@every_measure
def test_nan_scores_are_refused(measure):
    with pytest.raises(ValueError, match="1 of 2 scores are NaN"):
        measure([1, 0], [np.nan, 1])


@every_measure
def test_unknown_labels_are_refused(measure):
    with pytest.raises(ValueError, match="name the positive one"):
        measure(["fraud", "ok"], [1, 2])


def test_a_budget_that_is_none_is_refused():
    with pytest.raises(ValueError, match="number of checks"):
        precision_at_k([1, 0], [1, 2], 0)
