"""Copies of rows: what stands at a point in which numbers decides, for every method alike."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from imblearn.over_sampling import SMOTE, RandomOverSampler
from naive_copies import score_of_copies
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.metrics import average_precision_score
from sklearn.neighbors import KNeighborsClassifier

from rarefind.neighbors import (
    ClassWeightedKNNClassifier,
    DistanceWeightedKNNClassifier,
    DuplicatedKNNClassifier,
    GammaKNNClassifier,
    IMLClassifier,
    KRNNClassifier,
    LocalGammaKNNClassifier,
    ME2Classifier,
    MLFPClassifier,
)

METHODS = [
    GammaKNNClassifier(),
    LocalGammaKNNClassifier(n_regions=2, random_state=0),
    MLFPClassifier(threshold=None, max_negatives=300, random_state=0),
    ME2Classifier(0.05, lam=1.0, threshold=None, random_state=0),
    ClassWeightedKNNClassifier(),
    DistanceWeightedKNNClassifier(),
    DuplicatedKNNClassifier(),
    KRNNClassifier(),
]


@st.composite
def crowded(draw):
    """Rows on so few points that most are copies."""
    n, d = draw(st.integers(6, 40)), draw(st.integers(1, 2))
    rng = np.random.default_rng(draw(st.integers(0, 2**31 - 1)))
    X = rng.integers(0, draw(st.integers(1, 3)), size=(n, d)).astype(float)
    positive = rng.random(n) < draw(st.sampled_from([0.1, 0.3, 0.5]))
    positive[:4], positive[4:6] = True, False
    return X, positive


def naive_priority(x, X, positive, k):
    """D⁻/D⁺, or the numbers of the copies; infinite where there are positive copies alone."""
    q = (k + 1) // 2
    r = k - q + 1
    by_number = score_of_copies(x, X, positive, q, r)
    if by_number is not None:
        return by_number
    to_pos, to_neg = (np.sort(cdist([x], X[c])[0]) for c in (positive, ~positive))
    if to_pos.size < q:
        return 0.0
    if to_neg.size < r or to_pos[q - 1] == 0:
        return np.inf
    return to_neg[r - 1] / to_pos[q - 1]


@given(crowded(), st.integers(1, 6))
@settings(max_examples=100)
def test_the_priority_is_that_of_the_definition(table, k):
    X, positive = table
    model = GammaKNNClassifier(k, gamma=None, pos_label=True).fit(X, positive)
    rows = np.unique(np.vstack([X, X + 0.25]), axis=0)
    priority = model.priority(rows)
    expected = np.array([naive_priority(x, X, positive, k) for x in rows])
    np.testing.assert_allclose(np.where(priority > 1e100, np.inf, priority), expected, rtol=1e-12)
    assert model.predict(rows).tolist() == (expected >= 1).tolist()
    assert [r.score for r in model.explain(rows)] == priority.tolist()


@given(crowded(), st.integers(1, 3))
@settings(max_examples=60)
def test_gamma_is_the_best_threshold_of_the_scores_without_each_row(table, k):
    X, positive = table
    model = GammaKNNClassifier(k, pos_label=True).fit(X, positive)
    others = ~np.eye(len(X), dtype=bool)
    score = np.array(
        [naive_priority(X[i], X[others[i]], positive[others[i]], k) for i in range(len(X))]
    )

    def f1(gamma):
        alert = score >= gamma
        return 2 * (alert & positive).sum() / (alert.sum() + positive.sum())

    assert model.value_ == pytest.approx(f1(model.gamma_))
    candidates = np.append(np.unique(score[(score > 0) & (score <= 1)]), 1.0)
    assert f1(model.gamma_) >= max(map(f1, candidates)) - 1e-12


@given(crowded(), st.integers(1, 4))
@settings(max_examples=40)
def test_leaving_a_row_out_is_a_fit_without_it(table, k):
    X, positive = table
    model = GammaKNNClassifier(k, gamma=0.5, pos_label=True).fit(X, positive)
    whole = []
    for i in range(len(X)):
        others = np.arange(len(X)) != i
        part = GammaKNNClassifier(k, gamma=None, pos_label=True).fit(X[others], positive[others])
        whole.append(part.priority(X[[i]])[0])
    np.testing.assert_array_equal(model.reference_.score, np.sort(whole))


@given(crowded(), st.integers(1, 5))
@settings(max_examples=60)
def test_of_three_classes_copies_vote_by_their_numbers(table, k):
    X, positive = table
    y = np.where(positive, 0, np.arange(len(X)) % 2 + 1)
    model = GammaKNNClassifier(k, gamma=None).fit(X, y)
    order = np.argsort(np.bincount(y), kind="stable")
    for x, share in zip(X, model.predict_proba(X), strict=True):
        here = np.array([(y[(x == X).all(axis=1)] == c).sum() for c in order])
        if here.sum() <= k:
            continue
        counted = share[order] * (k + 0.5)
        counted[counted.argmax()] -= 0.5
        assert (np.abs(counted - k * here / here.sum()) < 1 + 1e-9).all()
        assert counted.sum() == pytest.approx(k)


def one_in_a_thousand(d=2):
    """A point with two positives and 998 negatives, and another with positives alone."""
    rng = np.random.default_rng(0)
    X = np.vstack([np.zeros((1000, d)), np.full((5, d), 9.0), rng.normal(4, 1, size=(300, d))])
    y = np.zeros(len(X), dtype=int)
    y[:2] = y[1000:1005] = 1
    y[1005:1020] = 1
    return X, y


@pytest.mark.parametrize("method", [*METHODS, IMLClassifier(1)], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("k", [1, 3])
def test_one_positive_among_a_thousand_copies_is_no_alert(method, k):
    X, y = one_in_a_thousand()
    model = clone(method)
    if "k" in model.get_params():
        model.set_params(k=k)
    model.fit(X, y)
    crowd, alone, beside = model.priority([[0.0, 0.0], [9.0, 9.0], [4.0, 4.0]])
    assert alone > crowd
    assert model.predict([[0.0, 0.0]]) == 0
    reason = model.explain([[0.0, 0.0]])[0]
    assert reason.score == crowd
    assert np.isfinite([crowd, alone, beside]).all()


@pytest.mark.parametrize("sampler", [SMOTE(random_state=0), RandomOverSampler(random_state=0)])
def test_synthetic_positives_do_not_outvote_a_crowd(sampler):
    X, y = one_in_a_thousand()
    model = GammaKNNClassifier(1, gamma=1.0, gamma_synthetic=1.0, sampler=sampler, cv=2)
    crowd, alone = model.fit(X, y).priority([[0.0, 0.0], [9.0, 9.0]])
    assert crowd < 1 < alone


def test_precomputed_distances_count_their_zeros():
    X, y = one_in_a_thousand()
    table = cdist(X, X)
    model = GammaKNNClassifier(1, gamma=None, distance="precomputed").fit(table, y)
    crowd, alone = model.priority(table[[0, 1000]])
    assert crowd == pytest.approx(2.5 / 998.5)
    assert alone > 1e100


def categories(seed, n=1500, share=0.06):
    """Whole numbers, with 30 % of the rows on ten points where one in 20 is positive."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    X = rng.normal(size=(n, 5))
    X[y] += 1.1
    crowd = rng.random(n) < 0.3
    y[crowd] = rng.random(crowd.sum()) < 0.05
    X[crowd] = rng.normal(0.5, 1, size=(10, 5))[rng.integers(10, size=crowd.sum())]
    return np.round(3 * X), y


def test_the_table_has_30_percent_copies():
    shares = [1 - len(np.unique(categories(s)[0], axis=0)) / 1500 for s in range(4)]
    assert 0.2 < min(shares) < max(shares) < 0.45


@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_copies_never_make_it_worse_than_plain_nearest_neighbours(method, k):
    gaps = []
    for seed in range(6):
        X, y = categories(seed)
        model = clone(method)
        if "k" in model.get_params():
            model.set_params(k=k)
        half = len(X) // 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X[:half], y[:half])
        # ME² looks at the nearest row alone; duplicated rows are compared with the plain method on
        # rows that are really duplicated.
        times = np.where(y[:half], getattr(model, "copies_", 1), 1)
        asked = k if "k" in model.get_params() else 1
        peer = KNeighborsClassifier(asked).fit(
            X[:half].repeat(times, axis=0), y[:half].repeat(times)
        )
        plain = peer.predict_proba(X[half:])[:, 1]
        found = model.priority(X[half:])
        gaps.append(
            average_precision_score(y[half:], found) - average_precision_score(y[half:], plain)
        )
    noise = np.std(gaps, ddof=1) / np.sqrt(len(gaps))
    assert np.mean(gaps) > -2 * noise, np.round(gaps, 3)
