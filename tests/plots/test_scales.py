from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from imblearn.over_sampling import SMOTE
from matplotlib.figure import Figure
from sklearn.datasets import make_classification

from rarefind.neighbors import GammaKNNClassifier, scale_map
from rarefind.neighbors.scale_maps import ScaleMap
from rarefind.plots import ScaleMapDisplay


@pytest.fixture
def found() -> ScaleMap:
    values = np.arange(6.0).reshape(2, 3) / 10
    return ScaleMap(np.array([0.5, 1]), np.array([0.4, 1, 2]), values, 0.7, 1.3, 0.55, "g_mean")


def test_a_cell_a_pair_real_along_and_synthetic_up(found: ScaleMap) -> None:
    display = ScaleMapDisplay.from_map(found)
    drawn = np.asarray(display.mesh_.get_array()).reshape(3, 2)
    np.testing.assert_array_equal(drawn, found.values.T)
    corners: Any = display.mesh_.get_coordinates()
    np.testing.assert_allclose(corners[0, :, 0], [0.25, 0.75, 1.25])
    np.testing.assert_allclose(corners[:, 0, 1], [0.1, 0.7, 1.5, 2.5])
    assert display.ax_.get_xlabel() == "γ of real positives"
    assert display.ax_.get_ylabel() == "γ of synthetic positives"


def test_the_pair_found_and_equal_scales_are_marked(found: ScaleMap) -> None:
    display = ScaleMapDisplay.from_map(found)
    assert display.best_.get_xdata() == [0.7]
    assert display.best_.get_ydata() == [1.3]
    line = np.asarray(display.equal_line_.get_xydata())
    np.testing.assert_array_equal(line[:, 0], line[:, 1])
    np.testing.assert_allclose(line[:, 0], [0.25, 1.25])
    assert display.ax_.get_title() == "G mean on held-out rows: 0.550 at the mark"
    legend = display.ax_.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        "Found by the fit: 0.70, 1.30",
        "Equal scales",
    ]


def test_a_pair_beyond_the_grid_stays_in_the_picture(found: ScaleMap) -> None:
    display = ScaleMapDisplay.from_map(found._replace(best_gamma=0.1, best_gamma_synthetic=3.0))
    assert display.ax_.get_xlim()[0] == 0.1
    assert display.ax_.get_ylim()[1] == 3.0


def test_one_scale_is_a_map_too(found: ScaleMap) -> None:
    one = found._replace(gammas=np.array([0.5]), values=found.values[:1])
    corners: Any = ScaleMapDisplay.from_map(one).mesh_.get_coordinates()
    np.testing.assert_allclose(corners[0, :, 0], [0.25, 0.75])


def test_holes_are_left_open(found: ScaleMap) -> None:
    found.values[0, 0] = np.nan
    drawn = np.ma.asarray(ScaleMapDisplay.from_map(found).mesh_.get_array())
    assert int(np.ma.count_masked(np.ma.masked_invalid(drawn))) == 1


def test_an_estimator_is_measured_and_drawn_on_the_axes_given() -> None:
    X, y = make_classification(120, 4, weights=[0.85], random_state=0)
    model = GammaKNNClassifier(sampler=SMOTE(), random_state=0)
    ax = Figure().subplots()
    display = ScaleMapDisplay.from_estimator(
        model, X, y, gammas=[0.2, 0.6, 1], groups=np.arange(120) // 2, ax=ax
    )
    expected = scale_map(model, X, y, gammas=[0.2, 0.6, 1], groups=np.arange(120) // 2)
    np.testing.assert_array_equal(display.found.values, expected.values)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert display.ax_.get_title().startswith("F1 on held-out rows")
