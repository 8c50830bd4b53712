from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier

from rarefind.plots import MetaTreeDisplay
from rarefind.trees import MetaAPClassifier
from rarefind.trees.svg import COLOURS


def table(n: int = 400) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = ((X[:, 0] > 1) & (X[:, 1] > 0) | (X[:, 2] > 2.2)).astype(int)
    return pd.DataFrame(X, columns=["alm", "$mcg$", "gvh"]), y


def fitted() -> Any:
    return MetaAPClassifier(2, outer_depth=2, prune=False, threshold=None, smoothing=4).fit(
        *table()
    )


@pytest.fixture(scope="module")
def model() -> Any:
    return fitted()


def test_every_condition_and_leaf_has_its_box(model: Any) -> None:
    display = MetaTreeDisplay.from_estimator(model)
    n = model.n_conditions_ + model.n_leaves_
    assert len(display.boxes_) == n == len(display.layout.boxes)
    texts = [text.get_text() for text in display.texts_]
    assert texts == [line for box in display.layout.boxes for line in box.lines]
    assert f"leaf {model.n_leaves_}" in texts
    assert any(text.startswith("$mcg$ ≤ ") for text in texts)
    title = f"MetaAPClassifier: {model.n_conditions_} conditions, {model.n_leaves_} leaves"
    assert display.ax_.get_title() == title


def test_texts_stay_within_their_boxes_on_small_axes_too(model: Any) -> None:
    import matplotlib.pyplot as plt

    ax = plt.subplots(1, 2, figsize=(9, 4))[1][1]
    for display in (
        MetaTreeDisplay.from_estimator(model),
        MetaTreeDisplay.from_estimator(model, ax=ax),
    ):
        display.figure_.canvas.draw()
        texts = iter(display.texts_)
        for box, patch in zip(display.layout.boxes, display.boxes_, strict=True):
            frame = patch.get_window_extent()
            for _ in box.lines:
                inside = next(texts).get_window_extent()
                assert frame.x0 <= inside.x0 <= inside.x1 <= frame.x1
                assert frame.y0 <= inside.y0 + 2 <= inside.y1 - 2 <= frame.y1
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_the_legend_fits_on_the_figure(model: Any) -> None:
    small = MetaAPClassifier(1, outer_depth=1, prune=False, threshold=None, smoothing=4)
    for drawn in (small.fit(*table()), model):
        display = MetaTreeDisplay.from_estimator(drawn)
        display.figure_.canvas.draw()
        legend = display.ax_.get_legend()
        assert legend is not None
        extent = legend.get_window_extent()
        assert extent.x0 >= 0
        assert extent.x1 <= display.figure_.bbox.x1
        assert extent.y0 >= -1


def test_what_does_not_hold_is_red_and_dashed(model: Any) -> None:
    from matplotlib.colors import to_hex

    display = MetaTreeDisplay.from_estimator(model)
    for line, patch in zip(display.layout.lines, display.lines_, strict=True):
        assert to_hex(patch.get_edgecolor()).upper() == COLOURS[line.holds]
        assert (patch.get_linestyle() in ("-", "solid")) == bool(line.holds)
    legend = display.ax_.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()][:2] == [
        "the condition holds",
        "it does not",
    ]


def test_a_pipeline_and_a_name(model: Any) -> None:
    pipeline = make_pipeline(MinMaxScaler(), fitted()).fit(*table())
    display = MetaTreeDisplay.from_estimator(pipeline, name="scaled")
    assert display.ax_.get_title().startswith("scaled: ")
    assert display.plot(name="again").ax_.get_title().startswith("again: ")


def test_where_holes_go_is_said_when_asked(model: Any) -> None:
    display = MetaTreeDisplay.from_estimator(model, has_missing=np.ones(3, dtype=bool))
    assert any(" or missing" in text.get_text() for text in display.texts_)


def test_what_cannot_be_drawn_is_said() -> None:
    X, y = table()
    for other in (LogisticRegression(), DecisionTreeClassifier()):
        with pytest.raises(ValueError, match=f"{type(other).__name__} has no tree of trees"):
            MetaTreeDisplay.from_estimator(other.fit(X, y))
    with pytest.raises(NotFittedError):
        MetaTreeDisplay.from_estimator(MetaAPClassifier())
