import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_classification

from rarefind.distances import LMNN
from rarefind.neighbors import IMLClassifier
from rarefind.neighbors._iml import _MAX_ITER, _TOL


def imbalanced(n=120, seed=0, d=4):
    return make_classification(
        n, d, n_informative=3, n_redundant=0, weights=[0.8], class_sep=0.9, random_state=seed
    )


def learn(X, y, k, mu):
    return LMNN(k, mu, max_iter=_MAX_ITER, tol=_TOL).fit(X, y).components_


def naive_priority(x, X, y, k, n_selected, matching, max_rounds, mu=0.5):
    """Select, learn, select, learn... and the ratio in the last space."""

    def nearest(components):
        table = cdist([x @ components.T], X @ components.T)[0]
        return table, [
            np.flatnonzero(y == c)[np.argsort(table[y == c], kind="stable")[:n_selected]]
            for c in (1, 0)
        ]

    _, selected = nearest(learn(X, y, k, mu))
    for _ in range(max_rounds):
        rows = np.concatenate([np.sort(s) for s in selected])
        before = set(rows)
        # Positives first, as the rows of a selection are given to LMNN.
        table, selected = nearest(learn(X[rows], 1 - y[rows], k, mu))
        after = set(np.concatenate(selected))
        if len(after & before) >= matching * len(after):
            break
    q = (k + 1) // 2
    return table[selected[1][k - q]] / table[selected[0][q - 1]]


@pytest.mark.parametrize(
    ("k", "matching", "max_rounds"), [(1, 1.0, 1), (1, 0.8, 4), (3, 0.8, 3), (3, 1.0, 5)]
)
def test_priority_is_that_of_the_definition(k, matching, max_rounds):
    X, y = imbalanced()
    model = IMLClassifier(k, n_selected=6, matching=matching, max_rounds=max_rounds)
    rows = X[:6] + 0.1
    expected = [naive_priority(x, X, y, k, 6, matching, max_rounds) for x in rows]
    np.testing.assert_allclose(model.fit(X, y).priority(rows), expected, rtol=1e-6)


def test_a_row_is_scored_alone_as_among_others_and_by_any_number_of_processes(monkeypatch):
    X, y = imbalanced()
    model = IMLClassifier(k=1, max_rounds=2).fit(X, y)
    rows = X[:12] + 0.05
    together = model.priority(rows)
    alone = np.concatenate([model.priority(row[None]) for row in rows])
    np.testing.assert_array_equal(together, alone)
    monkeypatch.setattr("rarefind.neighbors._iml._ROWS_A_PROCESS", 4)
    np.testing.assert_array_equal(model.set_params(n_jobs=2).priority(rows), together)


def test_labels_and_signs():
    X, y = imbalanced()
    rows = X[:10] + 0.05
    model = IMLClassifier(k=1, max_rounds=1).fit(X, y)
    assert np.isnan(model.value_)
    renamed = IMLClassifier(k=1, max_rounds=1).fit(X, np.where(y == 1, "a fraud", "ok"))
    np.testing.assert_allclose(renamed.priority(rows), model.priority(rows))
    assert ((renamed.decision_function(rows) < 0) == (renamed.predict(rows) == "a fraud")).all()
    common = IMLClassifier(k=1, max_rounds=1, pos_label=0).fit(X, y)
    np.testing.assert_allclose(common.priority(rows), 1 / model.priority(rows), rtol=1e-5)


def test_thresholds_are_tuned_on_folds():
    X, y = imbalanced()
    options = {"k": 1, "n_selected": 3, "max_rounds": 1, "cv": 3, "random_state": 0}
    model = IMLClassifier(threshold="auto", max_queries=40, **options).fit(X, y)
    assert 0.3 < model.value_ <= 1
    fixed = IMLClassifier(threshold=model.threshold_, max_queries=40, **options).fit(X, y)
    assert fixed.value_ == pytest.approx(model.value_)
    assert 0 < model.predict_proba(X[:5])[0, 1] < 1


def test_reasons_speak_of_the_last_space():
    X, y = imbalanced()
    frame = pd.DataFrame(X, columns=["amount", "hour", "age", "speed"])
    model = IMLClassifier(max_rounds=2).fit(frame, y)
    rows = frame[y == 1][:3] + 0.001
    reasons = model.explain(rows)
    np.testing.assert_array_equal([r.score for r in reasons], model.priority(rows))
    for reason, row in zip(reasons, np.flatnonzero(y == 1), strict=False):
        assert len(reason.similar) == 2
        assert row in {similar.row for similar in reason.similar}
        assert {c.feature for c in reason.because} <= set(frame.columns)


def test_classes_with_a_single_row():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [5.0, 5.0]])
    model = IMLClassifier(k=1).fit(X, [0, 0, 0, 1])
    assert model.predict([[4.0, 4.5], [0.2, 0.1]]).tolist() == [1, 0]
    pair = IMLClassifier(k=1).fit(X[[0, 3]], [0, 1])
    assert pair.predict([[4.0, 4.5], [0.2, 0.1]]).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_selected": 2}, "n_selected=2 rows of a class are fewer than the k=3"),
        ({"matching": 1.5}, "'matching' parameter"),
        ({"max_rounds": 0}, "'max_rounds' parameter"),
        ({"mu": -0.1}, "'mu' parameter"),
        ({"metric": "f_one"}, "Unknown metric"),
    ],
)
def test_mistakes_get_a_sentence(change, message):
    X, y = imbalanced()
    with pytest.raises(ValueError, match=message):
        IMLClassifier(**change).fit(X, y)
