from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.neighbors import KNeighborsClassifier

from rarefind.metrics import precision_at_k
from rarefind.plots import TopKDisplay
from rarefind.plots.axes import NEGATIVE, POSITIVE, TIED


def colours(display: TopKDisplay) -> list[str]:
    return [to_hex(bar.get_facecolor()).upper() for bar in display.bars_]


def texts(display: TopKDisplay) -> list[str]:
    legend = display.ax_.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def test_each_row_has_a_bar_in_the_colour_of_its_class() -> None:
    display = TopKDisplay.from_predictions([0, 1, 1, 0, 1], [1, 5, 3, 4, 2], k=4)
    assert colours(display) == [POSITIVE, NEGATIVE, POSITIVE, POSITIVE]
    centres = [bar.get_x() + bar.get_width() / 2 for bar in display.bars_]
    np.testing.assert_allclose(centres, [1, 2, 3, 4])
    assert texts(display) == ["Precision", "Random order", "Positive row", "Negative row"]
    assert display.ax_.get_title() == "3 positives in the first 4 rows"


def test_ties_of_both_classes_are_neither() -> None:
    y, score = [1, 1, 0, 1, 0, 0, 0], [9, 7, 7, 7, 5, 5, 1]
    display = TopKDisplay.from_predictions(y, score, k=6, name="model")
    assert colours(display) == [POSITIVE, TIED, TIED, TIED, NEGATIVE, NEGATIVE]
    np.testing.assert_allclose(display.hit_probability, [1, 2 / 3, 2 / 3, 2 / 3, 0, 0])
    assert "Tied rows of both classes" in texts(display)
    assert display.ax_.get_title() == "model: 3 positives in the first 6 rows"


def test_a_tie_cut_by_the_end_of_the_list_is_an_expectation() -> None:
    display = TopKDisplay.from_predictions([1, 1, 0, 0], [9, 7, 7, 1], k=2)
    assert display.ax_.get_title() == "1.5 positives expected in the first 2 rows"


def test_the_curve_is_the_precision_at_every_rank(ranking: Any) -> None:
    display = TopKDisplay.from_predictions(*ranking)
    np.testing.assert_array_equal(display.line_.get_xdata(), np.arange(1, 51))
    expected = [precision_at_k(*ranking, k=k) for k in range(1, 51)]
    np.testing.assert_allclose(np.asarray(display.line_.get_ydata()), expected)
    np.testing.assert_allclose(np.asarray(display.prevalence_line_.get_ydata()), ranking.y.mean())


def test_the_order_of_the_rows_given_does_not_matter(ranking: Any) -> None:
    shuffled = np.random.default_rng(3).permutation(200)
    one = TopKDisplay.from_predictions(*ranking)
    other = TopKDisplay.from_predictions(ranking.y[shuffled], ranking.score[shuffled])
    assert colours(one) == colours(other)
    np.testing.assert_array_equal(one.precision, other.precision)


@pytest.mark.parametrize(("k", "shown"), [(7, 7), ("10%", 20), (0.5, 100), (1000, 200)])
def test_as_many_rows_as_asked_for_and_there_are(ranking: Any, k: Any, shown: int) -> None:
    assert len(TopKDisplay.from_predictions(*ranking, k=k).bars_) == shown


def test_the_strip_lies_under_the_curve(ranking: Any) -> None:
    display = TopKDisplay.from_predictions(*ranking)
    assert all(bar.get_y() + bar.get_height() < 0 for bar in display.bars_)


def test_an_estimator_gives_scores_label_and_name(ranking: Any) -> None:
    X, y = ranking.score.reshape(-1, 1), np.where(ranking.y, "fraud", "honest")
    model = KNeighborsClassifier(7).fit(X, y)
    display = TopKDisplay.from_estimator(model, X, y, k=20, pos_label="fraud")
    score = model.predict_proba(X)[:, 0]
    expected = [precision_at_k(y, score, k, pos_label="fraud") for k in range(1, 21)]
    np.testing.assert_allclose(display.precision, expected)
    assert display.ax_.get_title().startswith("KNeighborsClassifier: ")


def test_it_draws_on_the_axes_given(ranking: Any) -> None:
    first = TopKDisplay.from_predictions(*ranking)
    first.ax_.clear()
    again = first.plot(first.ax_, name="again")
    assert again is first
    assert again.figure_ is first.ax_.figure
    assert again.ax_.get_title().startswith("again: ")


def test_errors_say_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="None of the 3 rows is positive"):
        TopKDisplay.from_predictions([0, 0, 0], [1, 2, 3])
    with pytest.raises(ValueError, match="A budget is a number of checks"):
        TopKDisplay.from_predictions([0, 1, 0], [1, 2, 3], k=0)
