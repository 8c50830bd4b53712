import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind.metrics import budget
from rarefind.metrics.inputs import as_scores, as_weights, check_rows, cumulate, is_positive

examples = settings(max_examples=80, deadline=None)


@pytest.mark.parametrize("negative", [0, -1, False, 0.0])
def test_one_is_positive_among_the_usual_labels(negative):
    assert is_positive([negative, 1, 1]).tolist() == [False, True, True]


@pytest.mark.parametrize("labels", [["fraud", "ok"], pd.Series(["fraud", "ok"])])
def test_the_positive_label_can_be_named(labels):
    assert is_positive(labels, "fraud").tolist() == [True, False]


@pytest.mark.parametrize("labels", [["fraud", "ok"], [1, 2], [-1, 0, 1], [0.0, 0.5]])
def test_other_labels_need_a_positive_label(labels):
    with pytest.raises(ValueError, match=r"name the positive one with pos_label"):
        is_positive(labels)


def test_infinite_scores_are_ranked():
    assert as_scores([np.inf, -np.inf, 1]).tolist() == [np.inf, -np.inf, 1.0]


def test_nan_scores_are_counted_and_refused():
    with pytest.raises(ValueError, match="2 of 3 scores are NaN"):
        as_scores([np.nan, 1.0, np.nan])


def test_without_weights_every_row_weighs_one():
    assert as_weights(None, 3).tolist() == [1.0, 1.0, 1.0]


def test_weights_must_be_one_a_row():
    with pytest.raises(ValueError, match="2 entries for 3 rows"):
        as_weights([1, 2], 3)


@pytest.mark.parametrize("weights", [[1, -1], [1, np.nan], [1, np.inf]])
def test_weights_must_be_finite_and_not_negative(weights):
    with pytest.raises(ValueError, match="finite and not negative"):
        as_weights(weights, 2)


def test_an_empty_list_is_refused():
    with pytest.raises(ValueError, match="no rows to measure"):
        check_rows([], [], None, None)


def test_labels_and_scores_must_be_equally_many():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        check_rows([0, 1], [0.5], None, None)


@examples
@given(st.integers(1, 1000), st.integers(1, 1000))
def test_a_number_of_checks_stops_at_the_end_of_the_list(k, n):
    assert budget(k, n) == budget(str(k), n) == min(k, n)


@examples
@given(st.floats(0.001, 0.999), st.integers(1, 1000))
def test_a_share_is_the_nearest_number_of_checks_and_at_least_one(share, n):
    checks = budget(share, n)
    assert checks == int(checks)
    assert 1 <= checks <= n
    assert checks == 1 or abs(checks - share * n) <= 0.5


@pytest.mark.parametrize(("percent", "checks"), [("0.5%", 50), ("100%", 10_000), (" 1 % ", 100)])
def test_a_percentage_is_a_share_of_the_rows(percent, checks):
    assert budget(percent, 10_000) == checks


@pytest.mark.parametrize(
    "k", [0, -1, 1.5, "0%", "101%", "-1%", "many", "%", "", None, math.nan, "nan%", [1, 2]]
)
def test_what_is_no_budget_is_refused(k):
    with pytest.raises(ValueError, match=r"number of checks \(200\) or a share"):
        budget(k, 100)


@pytest.mark.parametrize("k", [math.inf, "inf"])
def test_an_infinite_budget_is_refused(k):
    with pytest.raises(ValueError, match=r"number of checks \(200\) or a share"):
        budget(k, 100)


scored = st.lists(
    st.tuples(st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 2.0, np.inf]), st.integers(-5, 5)),
    min_size=1,
    max_size=12,
)


@examples
@given(scored)
def test_running_sums_are_those_of_the_rows_at_or_above_each_score(rows):
    score, column = map(np.array, zip(*rows, strict=True))
    distinct, sums = cumulate(score.astype(float), column)
    assert distinct.tolist() == sorted(set(score.tolist()), reverse=True)
    for threshold, total in zip(distinct, sums, strict=True):
        assert total == sum(value for s, value in rows if s >= threshold)
