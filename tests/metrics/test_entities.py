from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind.metrics import budget, entity_precision_at_k, entity_precision_by_day

examples = settings(max_examples=100, deadline=None)
alerts = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.sampled_from([-np.inf, 0.1, 0.5, 0.9, np.inf]),
        st.sampled_from("abcde"),
        st.integers(1, 5),
    ),
    min_size=1,
    max_size=25,
)


def columns(rows):
    return [np.array(column) for column in zip(*rows, strict=True)]


def naive_daily_precision(rows, k):
    """Day by day: score every entity not yet found, check the first k, remember who is found."""
    found, daily = set(), []
    for today in sorted({day for *_, day in rows}):
        best, positive = {}, {}
        for label, score, entity, day in rows:
            if day == today and entity not in found:
                best[entity] = max(best.get(entity, -np.inf), score)
                positive[entity] = positive.get(entity, False) or label == 1
        checked = sorted(best, key=lambda entity: (-best[entity], entity))
        if checked:
            checked = checked[: int(budget(k, len(checked)))]
            hits = [entity for entity in checked if positive[entity]]
            daily.append(len(hits) / len(checked))
            found.update(hits)
    return daily


@examples
@given(alerts, st.integers(1, 6))
def test_daily_precision_is_that_of_a_loop_over_the_days(rows, k):
    daily = naive_daily_precision(rows, k)
    assert entity_precision_by_day(*columns(rows), k).tolist() == daily
    assert entity_precision_at_k(*columns(rows), k) == pytest.approx(np.mean(daily))


@examples
@given(alerts, st.sampled_from([0.4, "40%"]))
def test_the_budget_may_be_a_share_of_the_entities_left(rows, k):
    assert entity_precision_by_day(*columns(rows), k).tolist() == naive_daily_precision(rows, k)


@examples
@given(alerts, st.integers(1, 4), st.data())
def test_the_order_of_the_rows_does_not_matter(rows, k, data):
    shuffled = data.draw(st.permutations(rows))
    expected = entity_precision_by_day(*columns(rows), k).tolist()
    assert entity_precision_by_day(*columns(shuffled), k).tolist() == expected


@examples
@given(alerts, st.integers(1, 4))
def test_any_days_that_sort_in_time_will_do(rows, k):
    y, score, entity, day = columns(rows)
    expected = entity_precision_by_day(y, score, entity, day, k).tolist()
    dates = [date(2026, 1, 1) + timedelta(days=int(d)) for d in day]
    for days in (dates, pd.Series(pd.to_datetime(dates)), pd.to_datetime(dates, utc=True)):
        found = entity_precision_by_day(y, score, pd.Series(entity), days, k)
        assert found.tolist() == expected


def test_an_entity_found_once_is_not_counted_again():
    case = {
        "y_true": [1, 1, 1, 0],
        "score": [9, 9, 5, 8],
        "entity": list("aabc"),
        "day": [1, 2, 2, 2],
    }
    assert entity_precision_by_day(**case, k=1).tolist() == [1, 0]
    assert entity_precision_by_day(**case, k=2).tolist() == [1, 0.5]


def test_an_entity_missed_today_can_be_found_tomorrow():
    daily = entity_precision_by_day([0, 1, 1], [9, 1, 1], ["a", "b", "b"], [1, 1, 2], k=1)
    assert daily.tolist() == [0, 1]


def test_a_day_on_which_everybody_is_known_is_not_measured():
    assert entity_precision_by_day([1, 1], [1, 1], ["a", "a"], [1, 2], k=1).tolist() == [1]


def test_the_positive_label_can_be_named():
    assert entity_precision_at_k(["fraud", "ok"], [2, 1], [7, 8], [1, 1], 1, pos_label="fraud") == 1


@pytest.mark.parametrize(
    ("entity", "day"), [(["a", None], [1, 2]), (["a", "b"], [1, np.nan]), (["a", "b"], [None, "x"])]
)
def test_missing_entities_and_days_are_refused(entity, day):
    with pytest.raises(ValueError, match="entity and day must not be missing"):
        entity_precision_at_k([0, 1], [1, 2], entity, day, 1)


def test_an_empty_list_is_refused():
    with pytest.raises(ValueError, match="no rows to measure"):
        entity_precision_at_k([], [], [], [], 1)


def test_all_columns_must_be_equally_long():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        entity_precision_at_k([0, 1], [1, 2], ["a"], [1, 1], 1)


def test_nan_scores_are_refused():
    with pytest.raises(ValueError, match="1 of 2 scores are NaN"):
        entity_precision_at_k([0, 1], [np.nan, 1], ["a", "b"], [1, 1], 1)


def test_no_check_a_day_is_refused():
    with pytest.raises(ValueError, match="number of checks"):
        entity_precision_at_k([0, 1], [1, 2], ["a", "b"], [1, 1], 0)
