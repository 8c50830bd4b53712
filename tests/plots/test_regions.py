from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from imblearn.over_sampling import SMOTE
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rarefind.neighbors import GammaKNNClassifier
from rarefind.plots import DecisionRegionDisplay

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], [150, 20])
X = RNG.normal(size=(170, 4)) + 1.5 * Y[:, None]
FRAME = pd.DataFrame(X, columns=["a", "b", "c", "d"])


def texts(display: DecisionRegionDisplay) -> list[str]:
    legend = display.ax_.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize(
    "model",
    [
        GammaKNNClassifier(),
        LogisticRegression(),
        KNeighborsClassifier(3),
        make_pipeline(StandardScaler(), RandomForestClassifier(10, random_state=0)),
        GridSearchCV(GammaKNNClassifier(), {"k": [1, 3]}, cv=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_plane_of_two_columns_is_predicted_point_by_point(model: Any) -> None:
    model.fit(X[:, :2], Y)
    display = DecisionRegionDisplay.from_estimator(model, X[:, :2], Y, grid=30)
    points = np.column_stack([display.xx_.ravel(), display.yy_.ravel()])
    np.testing.assert_array_equal(display.found_.ravel(), model.predict(points) == 1)
    assert display.found_.shape == display.xx_.shape == (30, 30)
    assert display.region_ is not None
    assert display.labels == ("x0", "x1")


def test_positives_lie_inside_the_picture() -> None:
    far = X[:, :2].copy()
    far[0], far[-1] = [1e6, 0], [9, -9]
    model = LogisticRegression().fit(far, Y)
    display = DecisionRegionDisplay.from_estimator(model, far, Y, grid=10)
    assert display.xx_.max() < 100  # one negative does not set the scale
    np.testing.assert_array_equal(display.positives_, far[Y == 1])
    assert len(display.negatives_) == 149
    assert display.xx_.max() > 9
    assert display.yy_.min() < -9
    assert "Negatives (149 of 150)" in texts(display)
    assert "Positives (20)" in texts(display)


def test_the_ranking_is_drawn_by_its_order_alone() -> None:
    model = GammaKNNClassifier(k=1).fit(X[:, :2], Y)
    display = DecisionRegionDisplay.from_estimator(model, X[:, :2], Y, grid=40)
    points = np.column_stack([display.xx_.ravel(), display.yy_.ravel()])
    priority = model.priority(points)
    assert display.ranking_ is not None
    order = np.argsort(priority, kind="stable")
    assert (np.diff(display.ranking_.ravel()[order]) >= 0).all()
    below = (priority[:, None] > priority).mean(axis=1) + (priority[:, None] == priority).mean(
        axis=1
    ) / 2
    np.testing.assert_allclose(display.ranking_.ravel(), below)
    assert display.contours_ is not None
    assert "Ranked first: 10, 30 %" in texts(display)


class OnlyLabels(ClassifierMixin, BaseEstimator):
    """A classifier that does not rank."""

    def fit(self, X: Any, y: Any) -> OnlyLabels:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[(np.asarray(X)[:, 0] > 1).astype(int)]


@pytest.mark.parametrize("model", [OnlyLabels(), DummyClassifier()])
def test_without_a_ranking_there_are_no_lines(model: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        display = DecisionRegionDisplay.from_estimator(model.fit(X, Y), X, Y, grid=20)
    assert display.ranking_ is None
    assert display.contours_ is None
    assert not any(text.startswith("Ranked") for text in texts(display))


@pytest.mark.parametrize("constant", [0, 1])
def test_nothing_or_everything_found(constant: int) -> None:
    model = DummyClassifier(strategy="constant", constant=constant).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        display = DecisionRegionDisplay.from_estimator(model, X, Y, grid=5, pos_label=1)
        display.figure_.canvas.draw()
    assert display.found_.all() == display.found_.any() == bool(constant)
    assert (display.region_ is None) == (constant == 0)


def test_more_columns_are_predicted_on_the_plane_of_the_components() -> None:
    model = LogisticRegression().fit(X, Y)
    display = DecisionRegionDisplay.from_estimator(model, X, Y, grid=20)
    scaler = StandardScaler().fit(X)
    components = PCA(2).fit(scaler.transform(X))
    points = np.column_stack([display.xx_.ravel(), display.yy_.ravel()])
    rows = scaler.inverse_transform(components.inverse_transform(points))
    np.testing.assert_array_equal(display.found_.ravel(), model.predict(rows) == 1)
    placed = components.transform(scaler.transform(X))
    np.testing.assert_allclose(display.positives_, placed[Y == 1])
    assert display.ax_.get_xlabel().startswith("First principal component (")


def test_frames_keep_their_names_for_the_estimator() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # scikit-learn warns when names are lost
        for model in (LogisticRegression(), GammaKNNClassifier()):
            model.fit(FRAME, Y)
            DecisionRegionDisplay.from_estimator(model, FRAME, Y, grid=5)
            display = DecisionRegionDisplay.from_estimator(
                model, FRAME, Y, features=("b", "d"), grid=5
            )
    assert display.labels == ("b", "d")
    np.testing.assert_array_equal(display.positives_, X[Y == 1][:, [1, 3]])


def test_a_pipeline_that_encodes_text_is_drawn_on_two_numbers() -> None:
    table = FRAME.assign(kind=np.where(RNG.random(170) < 0.7, "u", "v"))
    encode = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    model = make_pipeline(encode, GammaKNNClassifier(sampler=SMOTE(), random_state=0))
    display = DecisionRegionDisplay.from_estimator(
        model.fit(table, Y), table, Y, features=("a", "b"), grid=10
    )
    assert display.synthetic_ is None  # an encoder has no way back


@pytest.mark.parametrize("wrapped", [False, True])
def test_synthetic_positives_come_from_the_fit(wrapped: bool) -> None:
    inner = GammaKNNClassifier(sampler=SMOTE(), random_state=0)
    model = make_pipeline(StandardScaler(), inner) if wrapped else inner
    display = DecisionRegionDisplay.from_estimator(
        model.fit(FRAME, Y), FRAME, Y, features=("a", "b"), grid=10
    )
    assert display.synthetic_ is not None
    assert display.synthetic_points_ is not None
    assert "Synthetic positives (130)" in texts(display)
    # SMOTE puts them between two positives, so within their range.
    positives = X[Y == 1][:, :2]
    assert (display.synthetic_ >= positives.min(axis=0) - 1e-9).all()
    assert (display.synthetic_ <= positives.max(axis=0) + 1e-9).all()
    np.testing.assert_array_equal(
        np.asarray(display.synthetic_points_.get_offsets()), display.synthetic_
    )


def test_synthetic_positives_come_back_from_inside_a_projection() -> None:
    model = make_pipeline(
        StandardScaler(), PCA(2), GammaKNNClassifier(sampler=SMOTE(), random_state=0)
    ).fit(X, Y)
    display = DecisionRegionDisplay.from_estimator(model, X, Y, grid=10)
    (made,) = (s.search.points for s in model[-1]._sets if s.code == -1)
    assert display.synthetic_ is not None
    # The plane is the model's own; a component may be turned round.
    np.testing.assert_allclose(np.abs(display.synthetic_), np.abs(made))


def test_synthetic_positives_can_be_given() -> None:
    model = LogisticRegression().fit(X[:, :2], Y)
    given = np.array([[0.5, 0.5], [1.0, 1.0]])
    display = DecisionRegionDisplay.from_estimator(model, X[:, :2], Y, synthetic=given, grid=5)
    assert display.synthetic_ is not None
    np.testing.assert_array_equal(display.synthetic_, given)
    without = DecisionRegionDisplay.from_estimator(model, X[:, :2], Y, grid=5)
    assert without.synthetic_ is None
    assert without.synthetic_points_ is None


def test_a_bounded_number_of_rows_is_drawn() -> None:
    rows = np.random.default_rng(1).uniform(size=(9000, 2))
    labels = np.repeat([0, 1], [6000, 3000])
    model = LogisticRegression().fit(rows, labels)
    display = DecisionRegionDisplay.from_estimator(
        model, rows, labels, grid=5, synthetic=rows[:4000]
    )
    assert display.synthetic_ is not None
    sizes = [len(p) for p in (display.negatives_, display.positives_, display.synthetic_)]
    assert sizes == [2000, 2000, 500]
    assert "Positives (2,000 of 3,000)" in texts(display)
    assert "Synthetic positives (500 of 4,000)" in texts(display)
    assert {tuple(row) for row in display.positives_} <= {tuple(row) for row in rows[6000:]}


def test_the_positive_label_can_be_chosen() -> None:
    named = np.where(Y == 1, "fraud", "honest")
    model = LogisticRegression().fit(X, named)
    honest = DecisionRegionDisplay.from_estimator(model, X, named, grid=10)
    fraud = DecisionRegionDisplay.from_estimator(model, X, named, grid=10, pos_label="fraud")
    assert len(honest.positives_) == 150  # scikit-learn's own has no positive but the second
    assert len(fraud.positives_) == 20
    own = DecisionRegionDisplay.from_estimator(GammaKNNClassifier().fit(X, named), X, named, grid=5)
    assert len(own.positives_) == 20


def test_title_and_axes() -> None:
    ax = Figure().subplots()
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    display = DecisionRegionDisplay.from_estimator(model, X, Y, grid=5, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert ax.get_title() == "LogisticRegression: rows predicted positive"
    assert display.plot(name="mine").ax_.get_title() == "mine: rows predicted positive"


def test_distances_have_no_plane() -> None:
    gaps = np.abs(X[:, :1] - X[:, 0])
    model = GammaKNNClassifier(distance="precomputed").fit(gaps, Y)
    with pytest.raises(ValueError, match="Precomputed distances have no plane"):
        DecisionRegionDisplay.from_estimator(model, gaps, Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grid": 1}, "grid=1: a side of the plane has at least 2 points"),
        ({"pos_label": 3}, "pos_label=3 is not among the labels 0 and 1"),
        ({"y": np.zeros(170)}, "None of the 170 rows is positive"),
        ({"features": ("a", "b")}, "There is no column 'a'"),
    ],
)
def test_errors_say_what_is_wrong(options: dict[str, Any], message: str) -> None:
    model = LogisticRegression().fit(X, Y)
    given = {"X": X, "y": Y, **options}
    with pytest.raises(ValueError, match=message):
        DecisionRegionDisplay.from_estimator(model, given.pop("X"), given.pop("y"), **given)
