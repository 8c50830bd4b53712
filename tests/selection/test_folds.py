import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from rarefind.neighbors import GammaKNNClassifier
from rarefind.selection import TemporalSplit, folds, out_of_fold_scores

examples = settings(max_examples=60, deadline=None)
X, y = make_classification(n_samples=80, n_features=4, weights=[0.8], random_state=0)
words = np.where(y, "fraud", "ok")
groups = np.arange(80) % 13

rows = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 7)), min_size=4, max_size=30)
numbers = st.integers(2, 6)


@examples
@given(rows, numbers, st.integers(0, 3))
def test_every_row_is_held_out_once_and_every_fold_has_its_share_of_positives(table, wanted, seed):
    labels = np.array([label for label, _ in table])
    rarest = min(labels.sum(), (1 - labels).sum())
    assume(rarest >= 2)
    found = folds(np.zeros((labels.size, 1)), labels, wanted, random_state=seed)
    assert len(found) == min(wanted, rarest)
    assert sorted(np.concatenate([test for _, test in found])) == list(range(labels.size))
    for train, test in found:
        assert sorted([*train, *test]) == list(range(labels.size))
        share = labels.sum() / len(found)
        assert np.floor(share) <= labels[test].sum() <= np.ceil(share)


@examples
@given(rows, numbers, st.integers(0, 3))
def test_groups_are_never_on_both_sides(table, wanted, seed):
    labels, group = map(np.array, zip(*table, strict=True))
    groups_of = {label: set(group[labels == label]) for label in (0, 1)}
    assume(min(map(len, groups_of.values())) >= 2)
    rarest = min((0, 1), key=lambda label: (labels == label).sum())
    found = folds(np.zeros((labels.size, 1)), labels, wanted, groups=group, random_state=seed)
    assert 1 <= len(found) <= min(wanted, len(groups_of[rarest]))
    for train, test in found:
        assert not set(group[train]) & set(group[test])
        assert set(labels[train]) == {0, 1}
        assert test.size


def test_the_seed_decides_the_folds():
    def held_out(seed):
        return [test.tolist() for _, test in folds(X, y, 3, random_state=seed)]

    assert held_out(1) == held_out(1) != held_out(2)


@pytest.mark.parametrize(
    "cv", [StratifiedKFold(4), KFold(3, shuffle=True, random_state=0), TemporalSplit(40, 5, 10)]
)
def test_a_splitter_is_taken_as_it_is(cv):
    found = folds(X, y, cv)
    expected = list(cv.split(X, y))
    assert len(found) == len(expected)
    for pair, (train, test) in zip(found, expected, strict=True):
        assert pair[0].tolist() == train.tolist()
        assert pair[1].tolist() == test.tolist()


def test_a_list_of_folds_is_taken_as_it_is():
    pairs = [(np.arange(40), np.arange(40, 80)), (np.arange(40, 80), np.arange(40))]
    found = folds(X, y, pairs)
    assert [(a.tolist(), b.tolist()) for a, b in found] == [
        (a.tolist(), b.tolist()) for a, b in pairs
    ]


def test_a_fold_that_cannot_be_trained_on_is_left_out():
    labels = np.repeat([1, 0], [3, 9])  # in the first fold all positives are held out
    assert [test.tolist() for _, test in folds(np.zeros((12, 1)), labels, KFold(4))] == [
        [3, 4, 5],
        [6, 7, 8],
        [9, 10, 11],
    ]


def test_an_empty_fold_is_left_out():
    pairs = [(np.arange(80), []), (np.arange(40), np.arange(40, 80))]
    assert len(folds(X, y, pairs)) == 1


def test_nothing_left_to_train_on_is_an_error():
    labels = np.repeat([1, 0], [2, 2])
    with pytest.raises(ValueError, match="No fold leaves rows of every class to train on"):
        folds(np.zeros((4, 1)), labels, KFold(2))


def test_one_positive_cannot_be_held_out():
    with pytest.raises(
        ValueError, match=r"The rarer label \(fraud\) has 1 row: holding some out needs at least 2"
    ):
        folds(np.zeros((4, 1)), ["fraud", "ok", "ok", "ok"])


def test_positives_of_one_group_cannot_be_held_out():
    with pytest.raises(
        ValueError, match="The rarer label has 1 group: holding some out needs at least 2"
    ):
        folds(np.zeros((6, 1)), [1, 1, 0, 0, 0, 0], groups=[1, 1, 2, 2, 3, 3])


def by_hand(model, labels, pairs, score):
    total, times = np.zeros(len(labels)), np.zeros(len(labels))
    for train, test in pairs:
        fitted = clone(model).fit(X[train], labels[train])
        for row, value in zip(test, score(fitted, X[test]), strict=True):
            total[row] += value
            times[row] += 1
    return [t / n if n else np.nan for t, n in zip(total, times, strict=True)]


def fraud_is_the_first_class(model, X):
    return -model.decision_function(X) + model.threshold_


MODELS = {
    "probability": (GaussianNB(), y, lambda model, X: model.predict_proba(X)[:, 1]),
    "decision": (LogisticRegression(), y, lambda model, X: model.decision_function(X)),
    "priority": (GammaKNNClassifier(), words, fraud_is_the_first_class),
}


@pytest.mark.parametrize("case", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("arguments", [{"cv": 4}, {"cv": 3, "groups": groups}], ids=["", "groups"])
def test_scores_are_those_of_models_that_have_not_seen_the_row(case, arguments):
    model, labels, score = case
    pairs = folds(X, labels, random_state=0, **arguments)
    expected = by_hand(model, labels, pairs, score)
    assert out_of_fold_scores(model, X, labels, **arguments) == pytest.approx(expected)


def test_rows_held_out_twice_get_the_mean_of_their_scores():
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    expected = by_hand(*MODELS["probability"][:2], cv.split(X, y), MODELS["probability"][2])
    assert out_of_fold_scores(GaussianNB(), X, y, cv=cv) == pytest.approx(expected)


def test_rows_never_held_out_have_no_score():
    scores = out_of_fold_scores(GaussianNB(), X, y, cv=TemporalSplit(40, 10, 15))
    assert np.flatnonzero(~np.isnan(scores)).tolist() == list(range(50, 80))


def test_folds_fitted_at_the_same_time_give_the_same_scores():
    one, two = (out_of_fold_scores(LogisticRegression(), X, y, n_jobs=n) for n in (1, 2))
    assert one.tolist() == two.tolist()


def test_frames_and_lists_are_taken():
    expected = out_of_fold_scores(GaussianNB(), X, y)
    frame = pd.DataFrame(X, index=range(100, 180))
    assert out_of_fold_scores(GaussianNB(), frame, pd.Series(y, frame.index)) == pytest.approx(
        expected
    )
    assert out_of_fold_scores(GaussianNB(), X.tolist(), y.tolist()) == pytest.approx(expected)


def test_the_model_given_is_not_fitted():
    model = GaussianNB()
    out_of_fold_scores(model, X, y)
    assert not hasattr(model, "classes_")


def test_scores_need_two_classes():
    with pytest.raises(ValueError, match="needs two classes, and there are 3"):
        out_of_fold_scores(GaussianNB(), X, np.arange(80) % 3)


def test_one_fold_holds_nothing_out():
    with pytest.raises(ValueError, match="cv=1: rows are held out in at least 2 folds"):
        folds(np.zeros((4, 1)), [0, 0, 1, 1], 1)


def text_labels(n=200):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, 2))
    fraud = np.arange(n) % 10 == 0
    rows[fraud] += 2
    return rows, np.where(fraud, "fraud", "ok"), fraud


def test_the_rarer_label_is_positive_also_where_it_comes_first_in_the_alphabet():
    rows, labels, fraud = text_labels()
    named = out_of_fold_scores(LogisticRegression(), rows, labels)
    numbered = out_of_fold_scores(LogisticRegression(), rows, fraud.astype(int))
    np.testing.assert_allclose(named, numbered)
    other = out_of_fold_scores(LogisticRegression(), rows, labels, pos_label="ok")
    np.testing.assert_allclose(other, -named)


def test_nearly_equal_classes_are_positive_in_the_same_way_in_every_fold():
    rng = np.random.default_rng(1)
    rows, labels = rng.normal(size=(21, 2)), np.arange(21) % 2
    rows[labels == 1] += 6
    scores = out_of_fold_scores(GammaKNNClassifier(k=1), rows, labels, cv=KFold(7))
    assert scores[labels == 0].max() < 1 < scores[labels == 1].min()


def test_precomputed_distances_are_cut_both_ways():
    rows, labels, _ = text_labels()
    table = cdist(rows, rows)
    by_table = out_of_fold_scores(GammaKNNClassifier(distance="precomputed"), table, labels)
    np.testing.assert_allclose(by_table, out_of_fold_scores(GammaKNNClassifier(), rows, labels))


def test_groups_reach_the_estimator_too():
    class Seen(LogisticRegression):
        def fit(self, X, y, groups=None):
            assert groups is not None
            assert len(groups) == len(X)
            return super().fit(X, y)

    rows, labels, _ = text_labels()
    scores = out_of_fold_scores(Seen(), rows, labels, groups=np.arange(200) // 2)
    assert np.isfinite(scores).all()


def test_groups_of_another_length_are_refused():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        folds(np.zeros((6, 1)), [0, 0, 0, 1, 1, 1], 2, groups=[1, 2, 3])
