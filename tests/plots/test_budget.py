from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.linear_model import LogisticRegression

from rarefind.metrics import (
    amount_at_k,
    precision_at_k,
    ranking_scores,
    recall_at_k,
)
from rarefind.plots import BudgetCurveDisplay

Y = [1, 0, 1, 0, 0, 1, 0, 0]
SCORE = [8, 7, 6, 6, 6, 3, 2, 1]


def drawn(line: Any) -> tuple[Any, Any]:
    return np.asarray(line.get_xdata()), np.asarray(line.get_ydata())


def test_curve_has_its_corners_where_scores_change() -> None:
    display = BudgetCurveDisplay.from_predictions(Y, SCORE)
    checks, found = drawn(display.line_)
    np.testing.assert_array_equal(checks, [0, 1, 2, 5, 6, 7, 8])
    np.testing.assert_allclose(found, np.array([0, 1, 1, 2, 3, 3, 3]) / 3)
    assert display.positives == 3
    assert display.ax_.get_xscale() == "linear"


def test_curve_is_the_recall_at_every_number_of_checks(ranking: Any) -> None:
    display = BudgetCurveDisplay.from_predictions(*ranking)
    for k in range(1, 201):
        at_k = np.interp(k, *drawn(display.line_))
        assert at_k == pytest.approx(recall_at_k(*ranking, k=k))


def test_random_order_finds_in_proportion() -> None:
    checks, found = drawn(BudgetCurveDisplay.from_predictions(Y, SCORE).random_line_)
    np.testing.assert_allclose(found, checks / 8)
    assert checks[-1] == 8


def test_a_long_tie_is_bent_on_the_logarithmic_scale() -> None:
    y = np.zeros(5000)
    y[:10] = 1
    display = BudgetCurveDisplay.from_predictions(y, np.zeros(5000))
    checks, found = drawn(display.line_)
    assert display.ax_.get_xscale() == "log"
    assert checks[0] == 1
    assert checks.size > 500
    np.testing.assert_allclose(found, checks / 5000)


def test_the_scale_can_be_chosen(ranking: Any) -> None:
    assert BudgetCurveDisplay.from_predictions(*ranking, log_scale=True).ax_.get_xscale() == "log"
    y, score = np.tile(ranking.y, 10), np.arange(2000)
    linear = BudgetCurveDisplay.from_predictions(y, score, log_scale=False)
    assert linear.ax_.get_xscale() == "linear"
    assert drawn(linear.line_)[0][0] == 0


def test_a_very_long_list_is_thinned_and_stays_on_the_curve() -> None:
    rng = np.random.default_rng(0)
    y, score = (rng.random(20_000) < 0.05).astype(int), rng.random(20_000)
    for log_scale in (True, False):
        display = BudgetCurveDisplay.from_predictions(y, score, log_scale=log_scale)
        checks, found = drawn(display.line_)
        assert checks.size <= 4000
        assert checks[-1] == 20_000
        expected = np.interp(checks, display.checks, display.hits) / display.positives
        np.testing.assert_allclose(found, expected)


def test_the_budget_is_marked_and_put_in_words(ranking: Any) -> None:
    display = BudgetCurveDisplay.from_predictions(*ranking, budget="10%")
    assert display.budget == 20
    np.testing.assert_array_equal(drawn(display.budget_line_)[0], [20, 20])
    precision, recall = (f(*ranking, k=20) for f in (precision_at_k, recall_at_k))
    hits = f"{20 * precision:.1f}".removesuffix(".0")
    assert display.annotation_ is not None
    assert display.annotation_.get_text().replace("\n", " ") == (
        f"20 checks: {hits} hits, {100 * precision:.1f}".removesuffix(".0")
        + f" % of them positive, {100 * recall:.0f} % of all positives found"
    )


def test_the_words_of_the_budget() -> None:
    y = np.zeros(1000)
    y[:37] = y[-24:] = 1
    text = BudgetCurveDisplay.from_predictions(y, -np.arange(1000), budget=200).annotation_
    assert text is not None
    assert text.get_text() == (
        "200 checks: 37 hits,\n18.5 % of them positive,\n61 % of all positives found"
    )


def test_without_budget_nothing_is_marked() -> None:
    display = BudgetCurveDisplay.from_predictions(Y, SCORE)
    assert display.annotation_ is None
    assert display.budget_line_ is None
    assert display.money_line_ is None


def test_money_has_a_curve_of_its_own(ranking: Any) -> None:
    amount = np.random.default_rng(1).exponential(size=200)
    display = BudgetCurveDisplay.from_predictions(*ranking, amount=amount, budget=30)
    for k in (1, 7, 30, 120, 200):
        expected = amount_at_k(*ranking, amount, k, share=True)
        assert np.interp(k, *drawn(display.money_line_)) == pytest.approx(expected)
    share = amount_at_k(*ranking, amount, 30, share=True)
    assert display.annotation_ is not None
    assert display.annotation_.get_text().endswith(f"{100 * share:.0f} % of the money recovered")
    assert display.ax_.get_ylabel() == "Share of all positives found (dashed: of all money)"


def test_a_row_of_weight_two_counts_as_two_rows() -> None:
    weighted = BudgetCurveDisplay.from_predictions(
        Y, SCORE, amount=np.ones(8), sample_weight=[2] * 8
    )
    doubled = BudgetCurveDisplay.from_predictions(Y * 2, SCORE * 2, amount=np.ones(16))
    np.testing.assert_allclose(drawn(weighted.line_), drawn(doubled.line_))
    np.testing.assert_allclose(drawn(weighted.money_line_), drawn(doubled.money_line_))


def test_models_on_the_same_axes_are_told_apart(ranking: Any) -> None:
    first = BudgetCurveDisplay.from_predictions(*ranking, budget=20, name="one")
    second = BudgetCurveDisplay.from_predictions(
        ranking.y, -ranking.score, budget=20, name="two", ax=first.ax_
    )
    assert second.ax_ is first.ax_
    assert second.figure_ is first.figure_
    assert second.random_line_ is first.random_line_
    assert second.budget_line_ is first.budget_line_
    assert first.line_.get_color() != second.line_.get_color()
    assert first.annotation_ is not None
    assert second.annotation_ is not None
    assert first.annotation_.xyann != second.annotation_.xyann
    legend = first.ax_.get_legend()
    assert legend is not None
    assert [t.get_text() for t in legend.get_texts()] == ["one", "two", "Random order"]


def test_a_second_curve_keeps_the_scale_of_the_first(ranking: Any) -> None:
    first = BudgetCurveDisplay.from_predictions(*ranking, log_scale=True)
    second = BudgetCurveDisplay.from_predictions(*ranking, ax=first.ax_)
    assert second.ax_.get_xscale() == "log"
    assert drawn(second.line_)[0][0] == 1


def test_an_estimator_gives_scores_label_and_name() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.where(X[:, 0] + rng.normal(size=120) > 1.5, "a", "b")
    model = LogisticRegression().fit(X, y)
    own = BudgetCurveDisplay.from_estimator(model, X, y)
    other = BudgetCurveDisplay.from_estimator(model, X, y, pos_label="a", name="mine", c="#123456")
    score = ranking_scores(model, X)
    for display, label, ranked in ((own, "b", score), (other, "a", -score)):
        for k in (5, 40):
            expected = recall_at_k(y, ranked, k, pos_label=label)
            assert np.interp(k, *drawn(display.line_)) == pytest.approx(expected)
    assert own.line_.get_label() == "LogisticRegression"
    assert other.line_.get_label() == "mine"
    assert to_hex(other.line_.get_color()) == "#123456"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y_true": [0] * 8}, "None of the 8 rows is positive"),
        ({"budget": "many"}, "A budget is a number of checks"),
        ({"amount": [1.0, 2.0]}, "amount must have a finite number for each of the 8 rows"),
        ({"amount": [np.nan] * 8}, "amount must have a finite number"),
        ({"amount": [0.0] * 8}, "sum to 0: there is no money to recover"),
        ({"y_true": ["a", "b"] * 4}, "name the positive one"),
    ],
)
def test_errors_say_what_is_wrong(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BudgetCurveDisplay.from_predictions(**{"y_true": Y, "score": SCORE, **arguments})
