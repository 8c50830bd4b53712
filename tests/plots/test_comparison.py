from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from rarefind.plots import ComparisonDisplay
from rarefind.selection import Comparison

VALUES = {
    "weak": [0.1, 0.2, 0.3, 0.1, 0.2, 0.1],
    "strong": [0.7, 0.8, 0.9, 0.6, 0.8, 0.7],
    "middling": [0.5, 0.9, 0.4, 0.5, 0.3, 0.6],
}


@pytest.fixture
def comparison() -> Comparison:
    rows = [
        {"model": model, "fold": fold, "metric": metric, "value": value * scale, "seconds": 0.1}
        for model, values in VALUES.items()
        for fold, value in enumerate(values)
        for metric, scale in (("average_precision", 1), ("f1", -1))
    ]
    return Comparison(pd.DataFrame(rows))


def names(display: ComparisonDisplay) -> list[str]:
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def test_the_best_model_is_at_the_top(comparison: Comparison) -> None:
    display = ComparisonDisplay.from_comparison(comparison)
    assert names(display) == ["strong", "middling", "weak"]
    bottom, top = display.ax_.get_ylim()
    assert bottom > top  # row 0 is drawn highest


def test_a_dot_a_fold(comparison: Comparison) -> None:
    display = ComparisonDisplay.from_comparison(comparison)
    for row, (model, dots) in enumerate(zip(names(display), display.dots_, strict=True)):
        offsets = np.asarray(dots.get_offsets())
        np.testing.assert_allclose(offsets[:, 0], VALUES[model])
        assert np.all(np.abs(offsets[:, 1] - row) < 0.5)


def test_the_means_are_marked(comparison: Comparison) -> None:
    display = ComparisonDisplay.from_comparison(comparison)
    means = np.asarray(display.means_.get_offsets())
    expected = [np.mean(VALUES[model]) for model in names(display)]
    np.testing.assert_allclose(means, np.column_stack([expected, [0, 1, 2]]))


def test_rank_and_p_value_stand_at_the_right(comparison: Comparison) -> None:
    display = ComparisonDisplay.from_comparison(comparison)
    table = comparison.table()
    shown = [(rank.get_text(), p.get_text()) for rank, p in display.notes_]
    ranks = [f"{rank:.2f}" for rank in (7 / 6, 11 / 6, 3)]
    p_values = ["best", *(f"{p:.3f}" for p in table["p_value"][1:])]
    assert shown == list(zip(ranks, p_values, strict=True))
    for row, notes in enumerate(display.notes_):
        assert all(note.xy == (1, row) for note in notes)


def test_a_tiny_p_value_is_not_shown_as_nothing(comparison: Comparison) -> None:
    table = comparison.table()
    table.loc["weak", "p_value"] = 1e-6
    display = ComparisonDisplay(
        values=comparison.by_fold(), table=table, metric="average_precision"
    ).plot()
    assert display.notes_[-1][1].get_text() == "< 0.001"


def test_the_metric_can_be_chosen(comparison: Comparison) -> None:
    display = ComparisonDisplay.from_comparison(comparison, "f1")
    assert names(display) == ["weak", "middling", "strong"]
    assert display.ax_.get_xlabel().startswith("F1: ")
    assert display.ax_.get_title() == "3 models on the same 6 folds"


def test_it_draws_on_the_axes_given(comparison: Comparison) -> None:
    ax = Figure().subplots()
    display = ComparisonDisplay.from_comparison(comparison, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_one_fold_and_one_model_are_enough() -> None:
    row: dict[str, Any] = {"model": "m", "fold": 0, "metric": "f1", "value": 0.5, "seconds": 1.0}
    display = ComparisonDisplay.from_comparison(Comparison(pd.DataFrame([row])))
    np.testing.assert_allclose(np.asarray(display.dots_[0].get_offsets()), [[0.5, 0]])


def test_a_metric_not_measured_is_refused(comparison: Comparison) -> None:
    with pytest.raises(ValueError, match="not measured 'auc', only average_precision, f1"):
        ComparisonDisplay.from_comparison(comparison, "auc")
