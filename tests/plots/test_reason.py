from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from rarefind.boosting import SGBAPClassifier
from rarefind.neighbors import GammaKNNClassifier
from rarefind.plots import ReasonDisplay
from rarefind.plots.axes import MODEL_COLOURS, POSITIVE
from rarefind.rules import Condition, Reason


def labels(display: ReasonDisplay) -> list[str]:
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def widths(display: ReasonDisplay) -> list[float]:
    return [bar.get_width() for bar in display.bars_]


def colours(display: ReasonDisplay) -> list[str]:
    return [to_hex(bar.get_facecolor()).upper() for bar in display.bars_]


@pytest.fixture
def because() -> list[Condition]:
    return [
        Condition("amount", ">", 220.0, weight=0.7),
        Condition("hour", "≈", 3, "hour 3 ≈ 4", weight=0.3),
    ]


def test_shares_of_the_conditions_where_there_are_no_contributions(
    because: list[Condition],
) -> None:
    display = ReasonDisplay(Reason(1.8, 0.992, because)).plot()
    assert labels(display) == ["amount > 220", "hour 3 ≈ 4"]
    assert widths(display) == [0.7, 0.3]
    assert display.ax_.get_title() == "Score 1.8, above 99.2 % of the known rows"
    assert display.ax_.get_xlabel() == "Share of the reason"
    assert set(colours(display)) == {POSITIVE}
    low, high = display.ax_.get_ylim()
    assert low > high, "the weightiest stands above"


def test_contributions_by_size_those_that_lower_in_another_colour(
    because: list[Condition],
) -> None:
    added = {"age": 0.2, "amount": 2.5, "hour": 0.1, "n": -0.7}
    display = ReasonDisplay(Reason(-1.0, None, because, [], -3.1, added)).plot()
    assert labels(display) == ["amount > 220", "n", "age", "hour 3 ≈ 4"]
    assert widths(display) == [2.5, -0.7, 0.2, 0.1]
    assert colours(display) == [POSITIVE, MODEL_COLOURS[0], POSITIVE, POSITIVE]
    assert display.ax_.get_title() == "Score -1"
    assert display.ax_.get_xlabel() == "Added to the score, from -3.1"


def test_beyond_six_columns_the_rest_is_one_bar() -> None:
    added = {f"x{j}": (-1) ** j * (9.0 - j) for j in range(9)}
    display = ReasonDisplay(Reason(sum(added.values()), None, [], [], 0.0, added)).plot()
    assert labels(display) == ["x0", "x1", "x2", "x3", "x4", "x5", "other columns"]
    assert widths(display) == [9, -8, 7, -6, 5, -4, 3 - 2 + 1]
    assert sum(widths(display)) == pytest.approx(display.reason.score)
    six = dict(list(added.items())[:6])
    assert len(ReasonDisplay(Reason(0.0, None, [], [], 0.0, six)).plot().bars_) == 6


def test_a_reason_that_names_nothing_is_drawn_as_such() -> None:
    display = ReasonDisplay(Reason(2.5e100, None)).plot()
    assert labels(display) == []
    assert [text.get_text() for text in display.ax_.texts] == ["Nothing speaks for this row"]
    assert display.ax_.get_title() == "Score above all others"


def test_long_conditions_are_cut() -> None:
    reason = Reason(1.0, None, [Condition("a", "in", (), "x" * 80, 1.0)])
    display = ReasonDisplay(reason).plot()
    assert labels(display) == ["x" * 39 + "…"]
    assert list(display.values) == ["x" * 80]


def test_an_estimator_explains_one_row_on_the_axes_given() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    y = X["a"] > 1
    row = X[y].iloc[[0]]
    ax = Figure().subplots()
    display = ReasonDisplay.from_estimator(GammaKNNClassifier().fit(X, y), row, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert sum(widths(display)) == pytest.approx(1)
    model = SGBAPClassifier(n_estimators=10, random_state=0).fit(X, y)
    display = ReasonDisplay.from_estimator(model, row)
    base = display.reason.base
    assert base is not None
    assert base + sum(widths(display)) == pytest.approx(model.priority(row)[0], abs=1e-5)
    with pytest.raises(ValueError, match="One row can be drawn, and there are 2"):
        ReasonDisplay.from_estimator(model, X[:2])


def test_signs_of_money_are_no_formula():
    text = "0.5 * `amount_$` - 0.3 * `mean_$` > 3"
    because = [
        Condition("a", ">", 3, text, weight=0.7),
        Condition("a", "<", 9, "a < 9", weight=0.3),
    ]
    display = ReasonDisplay(Reason(1.0, 0.5, because, base=0.0, contributions={"a": 1.0})).plot()
    assert list(display.values) == [text]  # the weightiest names the column
    display.figure_.canvas.draw()
