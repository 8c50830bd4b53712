from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binomtest

import rarefind
from rarefind.base import RareClassifier
from rarefind.boosting import SGBAPClassifier
from rarefind.rules import Condition, Reason
from rarefind.selection import Faithfulness, faithfulness
from rarefind.trees import MetaAPClassifier


class Weighted(RareClassifier):
    """Its priority is a weighted sum of the columns; its reasons name the columns given."""

    def __init__(self, weights: tuple[float, ...], says: tuple[int, ...]) -> None:
        self.weights = weights
        self.says = says

    def fit(self, X: Any, y: Any) -> Weighted:
        self._start_fit(X, y, None)
        self.threshold_ = 0.0
        return self

    def _priority(self, X: Any) -> Any:
        self.calls_ = [*getattr(self, "calls_", []), len(X)]
        return sum(w * X[:, j] for j, w in enumerate(self.weights))

    def _probability(self, scores: Any) -> Any:
        return 1 / (1 + np.exp(-scores))

    def _explain(self, X: Any) -> list[Reason]:
        names = self._feature_names()
        because = [Condition(names[j], "=", 0.0) for j in self.says]
        return [Reason(0.0, None, because) for _ in X]


def fitted(weights: tuple[float, ...], says: tuple[int, ...], X: Any) -> Weighted:
    return Weighted(weights, says).fit(X, np.arange(len(X)) < 2)


@pytest.fixture(name="X")
def _rows() -> Any:
    return np.random.default_rng(0).normal(size=(200, 4))


def test_true_reasons_make_alerts_fall_and_others_do_not(X: Any) -> None:
    found = faithfulness(fitted((1, 0, 0, 0), (0,), X), X, n_alerts=20, random_state=0)
    assert found.share_lowered == 1
    assert found.rank_drop > 0.5
    assert found.against_random == 0
    assert (found.columns_named, found.n_alerts) == (1, 20)


def test_reasons_that_name_what_does_not_matter_are_found_out(X: Any) -> None:
    found = faithfulness(fitted((1, 0, 0, 0), (2, 3), X), X, n_alerts=20, random_state=0)
    assert (found.share_lowered, found.rank_drop) == (0, 0)
    assert found.low == 0
    assert found.high == pytest.approx(binomtest(0, 20).proportion_ci().high)
    # Of the two others, both are replaced: one is the column that matters.
    assert found.against_random > 0.5


def test_what_speaks_against_a_row_raises_it_when_replaced(X: Any) -> None:
    X = np.abs(X)
    low = np.zeros((1, 4))
    found = faithfulness(
        fitted((1, -1, 0, 0), (1,), X), X, background=low, n_alerts=20, random_state=0
    )
    assert found.share_lowered == 0
    assert found.rank_drop < 0


@settings(max_examples=60, deadline=None)
@given(
    arrays(float, (9, 3), elements=st.integers(0, 3)),
    st.tuples(*[st.integers(-2, 2)] * 3),
    st.sets(st.integers(0, 2)),
    st.integers(1, 12),
)
def test_it_is_what_its_definition_says(
    X: Any, weights: tuple[int, ...], says: set[int], n_alerts: int
) -> None:
    """With one row in the background nothing is random."""
    model = fitted(weights, tuple(says), X)
    drawn = np.array([[0.0, 1.0, 2.0]])
    found = faithfulness(model, X, background=drawn, n_alerts=n_alerts, n_draws=2, random_state=0)
    priority = X @ np.array(weights)

    def rank(score: float) -> float:
        return np.mean([(p < score) + (p == score) / 2 for p in priority])

    alerts = sorted(range(9), key=lambda i: -priority[i])[:n_alerts]
    lowered, drops = [], []
    for i in alerts:
        row = [drawn[0, j] if j in says else X[i, j] for j in range(3)]
        score = float(np.dot(row, weights))
        lowered.append(score < priority[i])
        drops.append(rank(priority[i]) - rank(score))
    assert found.share_lowered == np.mean(lowered)
    assert found.rank_drop == pytest.approx(np.mean(drops))
    interval = binomtest(sum(lowered), len(lowered)).proportion_ci()
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.columns_named == len(says)
    assert found.n_alerts == len(alerts)
    unnamed = len(says) not in (0, 3)
    assert np.isnan(found.against_random) != unnamed


def test_all_rows_of_a_measure_are_scored_at_once(X: Any) -> None:
    model = fitted((1, 0, 0, 0), (0,), X)
    faithfulness(model, X, n_alerts=30, n_draws=7, random_state=0)
    assert model.calls_ == [200, 210, 210]


def test_many_draws_are_scored_in_blocks_and_give_the_same(
    X: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = fitted((1, 0.5, 0, 0), (0,), X)
    whole = faithfulness(model, X, n_alerts=30, n_draws=7, random_state=0)
    monkeypatch.setattr("rarefind.selection._faithfulness._BLOCK", 50)
    model.calls_ = []
    assert faithfulness(model, X, n_alerts=30, n_draws=7, random_state=0) == whole
    assert model.calls_ == [200, *[49, 49, 49, 49, 14] * 2]


def test_the_seed_decides(X: Any) -> None:
    model = fitted((1, 0.5, 0, 0), (0,), X)
    first, again, other = (faithfulness(model, X, random_state=seed) for seed in (0, 0, 1))
    assert first == again
    assert first.rank_drop != other.rank_drop


def test_arrays_frames_and_other_tables_give_the_same(X: Any) -> None:
    names = ["a", "b", "c", "d"]
    frame = pd.DataFrame(X, columns=names, index=np.arange(200)[::-1])
    by_array = faithfulness(fitted((1, 0.5, 0, 0), (0,), X), X, random_state=0)
    named = fitted((1, 0.5, 0, 0), (0,), frame)
    assert faithfulness(named, frame, random_state=0) == by_array
    assert faithfulness(named, pl.DataFrame(X, schema=names), random_state=0) == by_array
    numbered = pd.DataFrame(X)
    plain = fitted((1, 0.5, 0, 0), (0,), numbered)
    assert faithfulness(plain, numbered, random_state=0) == by_array


def test_ties_at_the_bottom_leave_a_background() -> None:
    X = np.array([[1.0, 5.0]] * 3 + [[0.0, 7.0]] * 9)
    found = faithfulness(fitted((1, 0), (0,), X), X, n_alerts=3, random_state=0)
    assert found.share_lowered == 1


@pytest.mark.parametrize(
    "estimator",
    [MetaAPClassifier(random_state=0), SGBAPClassifier(n_estimators=20, random_state=0), None],
    ids=["tree", "boosting", "neighbours"],
)
def test_models_of_tables_with_text_dates_and_holes(estimator: Any) -> None:
    rng = np.random.default_rng(0)
    hours = rng.integers(0, 24 * 60, 500)
    table = pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(500)],
            "amount": np.where(rng.random(500) < 0.1, np.nan, rng.gamma(2, 30, 500)),
            "country": rng.choice(["FR", "BE", "XX", None], 500, p=[0.5, 0.2, 0.2, 0.1]),
            "time": pd.Timestamp("2026-01-01") + pd.to_timedelta(hours, unit="h"),
        }
    )
    fraud = (table["country"] == "XX") & (table["time"].dt.hour < 12)
    model = rarefind.TableModel(estimator, target="fraud", id="id")
    model.fit(table[:300].assign(fraud=fraud[:300]))
    found = faithfulness(model, table[300:], n_alerts=20, n_draws=5, random_state=0)
    assert found.share_lowered > 0.5
    assert found.rank_drop > max(0.2, found.against_random)
    # The identifier of a row is not a column of the model, and is not drawn.
    assert found.columns_named <= 3


def test_it_says_what_it_found() -> None:
    found = Faithfulness(0.9, 0.7, 0.99, 0.5, -0.001, 2.0, 30)
    assert str(found) == (
        "90% [70%, 99%] of 30 alerts fall, by 50% of the list; with other columns by 0%"
    )
    alone = Faithfulness(0.9, 0.7, 0.99, 0.5, float("nan"), 2.0, 30)
    assert str(alone) == "90% [70%, 99%] of 30 alerts fall, by 50% of the list"


def test_what_cannot_be_measured_is_refused(X: Any) -> None:
    model = fitted((1, 0, 0, 0), (0,), X)
    with pytest.raises(ValueError, match="with 0 alerts, 20 draws"):
        faithfulness(model, X, n_alerts=0)
    with pytest.raises(ValueError, match="with 5 alerts, 0 draws"):
        faithfulness(model, X, n_alerts=5, n_draws=0)
    with pytest.raises(ValueError, match="dict gives no priority and no reasons"):
        faithfulness({}, X)
    with pytest.raises(ValueError, match="The background has no column 'x3'"):
        faithfulness(model, X, background=X[:, :3])
    frame = pd.DataFrame(X, columns=list("abcd"))
    with pytest.raises(ValueError, match="The background has no rows"):
        faithfulness(fitted((1, 0, 0, 0), (0,), frame), frame, background=frame[:0])
