import numpy as np
import pandas as pd
import pytest
from imblearn.over_sampling import SMOTE
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rarefind.data import load_keel
from rarefind.neighbors import GammaKNNClassifier, gamma_by_imbalance

X, y = make_classification(
    300, 4, n_informative=3, n_redundant=0, weights=[0.6], class_sep=0.6, random_state=0
)
POSITIVES, NEGATIVES = int(y.sum()), int((y == 0).sum())


def test_a_row_a_fit_with_the_positives_that_are_left():
    found = gamma_by_imbalance(
        GammaKNNClassifier(), X, y, ratios=[10, 3], repeats=4, random_state=0
    )
    assert list(found.columns) == ["ratio", "positives", "repeat", "gamma", "value"]
    assert len(found) == 8
    for ratio, kept in found[["ratio", "positives"]].itertuples(index=False):
        assert ratio == NEGATIVES / kept
    assert sorted(found["positives"].unique()) == [round(NEGATIVES / 10), round(NEGATIVES / 3)]
    assert sorted(found["repeat"].unique()) == [0, 1, 2, 3]
    assert found["gamma"].between(0, 1, inclusive="right").all()


def test_gamma_is_that_of_a_fit_to_the_positives_left():
    found = gamma_by_imbalance(GammaKNNClassifier(), X, y, ratios=[5], repeats=2, random_state=7)
    rng = np.random.RandomState(7)
    for row in found.itertuples():
        kept = rng.permutation(np.flatnonzero(y == 1))[: row.positives]
        rows = np.sort(np.append(kept, np.flatnonzero(y == 0)))
        fitted = GammaKNNClassifier().fit(X[rows], y[rows])
        assert (row.gamma, row.value) == (fitted.gamma_, fitted.value_)


def test_the_default_goes_from_the_table_down_to_ten_positives():
    found = gamma_by_imbalance(GammaKNNClassifier(), X, y, repeats=2, random_state=0)
    left = found["positives"].unique()
    assert (left[0], left[-1]) == (POSITIVES, 10)
    assert len(left) == 8
    whole = found[found["positives"] == POSITIVES]
    assert set(whole["gamma"]) == {GammaKNNClassifier().fit(X, y).gamma_}


def test_gamma_falls_as_in_figure_2_4():
    table = load_keel("yeast1")
    model = make_pipeline(StandardScaler(), GammaKNNClassifier(k=3))
    found = gamma_by_imbalance(model, *table, ratios=[2.5, 15, 100], random_state=0)
    medians = found.groupby("ratio")["gamma"].median().to_numpy()
    assert (np.diff(medians) < 0).all()


def test_frames_samplers_searches_and_other_labels():
    frame = pd.DataFrame(X, columns=list("abcd"))
    named = np.where(y == 1, "fraud", "honest")
    search = GridSearchCV(GammaKNNClassifier(sampler=SMOTE(), random_state=0), {"k": [1, 3]}, cv=2)
    found = gamma_by_imbalance(search, frame, named, ratios=[6], repeats=2, random_state=0)
    assert found["gamma"].notna().all()


def test_the_frequent_class_can_be_the_positive_one():
    found = gamma_by_imbalance(
        GammaKNNClassifier(pos_label=0), X, y, ratios=[2], repeats=1, random_state=0
    )
    assert found["positives"].tolist() == [round(POSITIVES / 2)]


def test_the_seed_repeats_the_series():
    first, second = (
        gamma_by_imbalance(GammaKNNClassifier(), X, y, ratios=[8], repeats=3, random_state=1)
        for _ in range(2)
    )
    pd.testing.assert_frame_equal(first, second)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ratios": [1.0]}, "thinning the positives cannot give a ratio of 1"),
        ({"ratios": [1000]}, "A ratio of 1000 leaves 0 of"),
        ({"ratios": []}, "ratios must be finite numbers above 0"),
        ({"ratios": [-1]}, "ratios must be finite numbers above 0"),
        ({"repeats": 0}, "repeats=0: give at least 1"),
        ({"y": np.arange(300) % 3}, "Thinning needs two classes, and y has 3"),
        ({"estimator": LogisticRegression()}, "LogisticRegression has no single γ"),
    ],
)
def test_errors_say_what_is_wrong(options, message):
    given = {"estimator": GammaKNNClassifier(), "X": X, "y": y, **options}
    with pytest.raises(ValueError, match=message):
        gamma_by_imbalance(given.pop("estimator"), given.pop("X"), given.pop("y"), **given)
