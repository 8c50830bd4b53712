from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.datasets import make_classification

from rarefind.neighbors import GammaKNNClassifier, gamma_by_imbalance
from rarefind.plots import ImbalanceDisplay


@pytest.fixture
def table() -> pd.DataFrame:
    gammas = np.random.default_rng(0).uniform(0.2, 1, size=30)
    return pd.DataFrame({"ratio": np.repeat([50.0, 2.5, 10.0], 10), "gamma": gammas})


def texts(display: ImbalanceDisplay) -> list[str]:
    legend = display.ax_.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def test_medians_and_quartiles_by_ratio(table: pd.DataFrame) -> None:
    display = ImbalanceDisplay.from_table(table)
    ratios = [2.5, 10, 50]
    np.testing.assert_array_equal(display.line_.get_xdata(), ratios)
    by_ratio = [table.loc[table["ratio"] == ratio, "gamma"] for ratio in ratios]
    quartiles = np.array([np.quantile(gammas, [0.25, 0.5, 0.75]) for gammas in by_ratio])
    np.testing.assert_allclose(display.line_.get_ydata(), quartiles[:, 1])
    np.testing.assert_allclose(display.summary[["low", "median", "high"]], quartiles)
    band = display.band_.get_paths()[0].vertices
    assert {*np.round(quartiles[:, [0, 2]].ravel(), 9)} <= {*np.round(np.asarray(band)[:, 1], 9)}


def test_the_ratios_are_on_a_logarithmic_scale_with_plain_numbers(table: pd.DataFrame) -> None:
    display = ImbalanceDisplay.from_table(table)
    display.figure_.canvas.draw()
    assert display.ax_.get_xscale() == "log"
    low, high = display.ax_.get_xlim()
    ticks = [tick for tick in display.ax_.get_xticks() if low <= tick <= high]
    np.testing.assert_allclose(ticks, [5, 10, 20, 50])
    shown = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert {"5", "10", "20", "50"} <= set(shown)
    assert display.ax_.get_ylim()[0] == 0
    assert display.ax_.get_ylim()[1] >= 1


def test_ratios_close_together_have_ticks_too() -> None:
    table = pd.DataFrame({"ratio": [11.0, 14.0, 17.5], "gamma": [0.9, 0.8, 0.7]})
    display = ImbalanceDisplay.from_table(table)
    low, high = display.ax_.get_xlim()
    assert sum(low <= tick <= high for tick in display.ax_.get_xticks()) >= 2


def test_plain_nearest_neighbours_are_a_line(table: pd.DataFrame) -> None:
    display = ImbalanceDisplay.from_table(table)
    np.testing.assert_array_equal(display.plain_line_.get_ydata(), [1, 1])
    assert texts(display) == ["Median", "Middle half of the repeats", "Plain k-NN"]


def test_series_on_the_same_axes_are_told_apart(table: pd.DataFrame) -> None:
    first = ImbalanceDisplay.from_table(table, name="F1")
    second = ImbalanceDisplay.from_table(table.assign(gamma=0.5), name="G", ax=first.ax_)
    assert first.line_.get_color() != second.line_.get_color()
    assert second.plain_line_ is first.plain_line_
    assert texts(second) == ["F1", "G", "Plain k-NN"]
    third = ImbalanceDisplay.from_table(table, ax=first.ax_, color="#123456")
    assert to_hex(third.line_.get_color()) == "#123456"


def test_an_estimator_is_fitted_and_drawn_on_the_axes_given() -> None:
    X, y = make_classification(150, 4, weights=[0.6], random_state=0)
    options: dict[str, Any] = {"ratios": [2, 5], "repeats": 2, "random_state": 0}
    ax = Figure().subplots()
    display = ImbalanceDisplay.from_estimator(GammaKNNClassifier(), X, y, ax=ax, **options)
    expected = gamma_by_imbalance(GammaKNNClassifier(), X, y, **options)
    pd.testing.assert_frame_equal(display.table, expected)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


@pytest.mark.parametrize("columns", [{"ratio": [2.0]}, {"ratio": [], "gamma": []}])
def test_a_table_without_fits_is_refused(columns: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="needs rows with the columns ratio and gamma"):
        ImbalanceDisplay.from_table(pd.DataFrame(columns))
