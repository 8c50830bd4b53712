from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from rarefind.neighbors import ME2Classifier
from rarefind.plots import EllipsoidDisplay


def table(d: int, n: int = 200) -> tuple[Any, Any]:
    X, y = make_classification(
        n, d, n_informative=2, n_redundant=0, weights=[0.9], n_clusters_per_class=1, random_state=0
    )
    return pd.DataFrame(X, columns=[f"c{i}" for i in range(d)]), y


def fitted(X: Any, y: Any) -> Any:
    return ME2Classifier(0.2, lam=1e-2, threshold=None).fit(X, y)


def test_two_columns_are_drawn_as_they_are() -> None:
    X, y = table(2)
    model = fitted(X, y)
    display = EllipsoidDisplay.from_estimator(model, X, y)
    assert not display.shadows
    assert display.outlines.shape == (y.sum(), 100, 2)
    for ellipsoid, outline in zip(model.ellipsoids_, display.outlines, strict=True):
        np.testing.assert_allclose(ellipsoid.squared_distances(outline), ellipsoid.radius)
    assert len(display.ellipsoids_.get_paths()) == y.sum()
    assert display.labels == ("c0", "c1")
    np.testing.assert_array_equal(display.positive_points_.get_offsets(), X[y == 1])
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend[0] == f"Ellipsoids ({y.sum()})"
    assert display.ax_.get_title() == "ME2Classifier: ellipsoids around the positives"


@pytest.mark.parametrize("features", [("c3", "c1"), (3, 1), (-1, "c1")])
def test_a_shadow_holds_the_ellipsoid_and_nothing_more(features: Any) -> None:
    X, y = table(4)
    model = fitted(X, y)
    display = EllipsoidDisplay.from_estimator(model, X, y, features=features)
    assert display.shadows
    assert display.labels == ("c3", "c1")
    rng = np.random.default_rng(0)
    for ellipsoid, outline in zip(model.ellipsoids_[:5], display.outlines, strict=False):
        ball = rng.normal(size=(20_000, 4))
        ball /= np.linalg.norm(ball, axis=1, keepdims=True)
        surface = ellipsoid.centre + (ball * ellipsoid.lengths) @ ellipsoid.axes
        for direction in rng.normal(size=(10, 2)):
            reach = (surface[:, [3, 1]] @ direction).max()
            border = (outline @ direction).max()
            size = np.abs(outline - ellipsoid.centre[[3, 1]]).max() * np.abs(direction).sum()
            assert reach <= border + 0.01 * size
            assert reach >= border - 0.03 * size


def test_a_pipeline_is_drawn_as_its_last_step_sees_it() -> None:
    X, y = table(2)
    pipeline = make_pipeline(MinMaxScaler(), fitted(X, y)).fit(X, y)
    display = EllipsoidDisplay.from_estimator(pipeline, X, y, name="scaled")
    assert display.positives.min() >= 0
    assert display.positives.max() <= 1
    assert display.ax_.get_title().startswith("scaled: ")


def test_many_negatives_are_thinned() -> None:
    X, y = table(2, 6000)
    model = fitted(X[:300], y[:300])
    display = EllipsoidDisplay.from_estimator(model, X, y)
    assert len(np.asarray(display.negative_points_.get_offsets())) <= 2000
    assert " of " in str(display.negative_points_.get_label())
    assert len(display.negatives) == (y == 0).sum()


def test_it_draws_where_it_is_told() -> None:
    import matplotlib.pyplot as plt

    X, y = table(2)
    ax = plt.subplots()[1]
    display = EllipsoidDisplay.from_estimator(fitted(X, y), X, y, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_what_cannot_be_drawn_is_said() -> None:
    X, y = table(3)
    model = fitted(X, y)
    with pytest.raises(ValueError, match="There is no column 'age'"):
        EllipsoidDisplay.from_estimator(model, X, y, features=("age", "c0"))
    with pytest.raises(ValueError, match="must name two columns"):
        EllipsoidDisplay.from_estimator(model, X, y, features=("c0", 0))
    with pytest.raises(ValueError, match="LogisticRegression has no ellipsoids"):
        EllipsoidDisplay.from_estimator(LogisticRegression().fit(X, y), X, y)
    with pytest.raises(ValueError, match="None of the"):
        EllipsoidDisplay.from_estimator(model, X[y == 0], y[y == 0])
    with pytest.raises(NotFittedError):
        EllipsoidDisplay.from_estimator(ME2Classifier(), X, y)
