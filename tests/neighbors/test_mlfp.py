import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.exceptions import NotFittedError

from rarefind.distances import MLFP
from rarefind.metrics import f_beta
from rarefind.neighbors import GammaKNNClassifier, MLFPClassifier
from rarefind.selection import folds

whole = st.integers(-3, 3).map(float)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(240, 3)), np.arange(240) < 20
    X[y] = X[y] * [3, 0.5, 1] + [0, 1.5, 0]
    return X, y


def votes(x, positives, negatives, matrix, k):
    """The k nearest by two distances vote; ties go to the positives."""
    near = [((x - p) @ matrix @ (x - p), 0) for p in positives]
    far = [((x - n) @ (x - n), 1) for n in negatives]
    nearest = sorted(near + far)[:k]
    return sum(kind == 0 for _, kind in nearest) >= k / 2


@given(
    arrays(float, st.tuples(st.integers(6, 12), st.just(2)), elements=whole),
    st.integers(1, 4),
    st.integers(0, 10),
)
@settings(max_examples=40, deadline=None)
def test_the_rule_of_the_thesis_is_a_vote_by_two_distances(X, k, seed):
    y = np.arange(len(X)) < 3
    if len(X) < k + 3:
        return
    model = MLFPClassifier(k, mu=0.05, threshold=None).fit(X, y)
    queries = np.random.default_rng(seed).normal(size=(10, 2)) * 2
    expected = [votes(x, X[y], X[~y], model.get_mahalanobis_matrix(), k) for x in queries]
    np.testing.assert_array_equal(model.predict(queries), expected)


def test_a_strong_pull_is_plain_nearest_neighbours(rows):
    X, y = rows
    queries = np.random.default_rng(1).normal(size=(50, 3))
    plain = GammaKNNClassifier(3, gamma=None).fit(X, y)
    pulled = MLFPClassifier(3, mu=1e9, threshold=None).fit(X, y)
    np.testing.assert_allclose(pulled.priority(queries), plain.priority(queries), rtol=1e-6)


@pytest.mark.parametrize("matrix", ["diagonal", "full"])
@pytest.mark.parametrize("k", [1, 3])
def test_false_negatives_never_grow_under_the_constraint(rows, matrix, k):
    """Proposition 3: with λ_max ≤ 1 positives only come closer."""
    X, y = rows
    queries = np.random.default_rng(2).normal(size=(300, 3)) * 1.5
    plain = GammaKNNClassifier(k, gamma=None).fit(X, y)
    learned = MLFPClassifier(k, mu=0.01, matrix=matrix, threshold=None).fit(X, y)
    assert (learned.predict(queries) >= plain.predict(queries)).all()
    assert (learned.predict(queries) > plain.predict(queries)).any()


def test_the_threshold_is_the_best_one_on_folds_whose_distance_was_learned_without_them(rows):
    X, y = rows
    model = MLFPClassifier(3, cv=3, random_state=0).fit(X, y)
    seed = int(np.random.RandomState(0).randint(2**31 - 1))
    score, truth = [], []
    for train, test in folds(X, y, 3, random_state=seed):
        part = MLFPClassifier(3, threshold=None).fit(X[train], y[train])
        score.append(part.priority(X[test]))
        truth.append(y[test])
    score, truth = np.concatenate(score), np.concatenate(truth)
    within = max(f_beta(truth, score >= t) for t in [*score[score <= 1], 1.0])
    beyond = max(f_beta(truth, score >= t) for t in score)
    best = beyond if beyond > 1.1 * within else within
    assert model.value_ == pytest.approx(best)
    assert f_beta(truth, score >= model.threshold_) == pytest.approx(best)


def test_the_threshold_goes_beyond_one_only_where_it_is_worth_it(rows):
    X, y = rows
    model = MLFPClassifier(1, threshold=None).fit(X, y)
    codes, weight = np.array([0, 0, 0, 0, 1, 1, 1]), np.ones(7)
    clear = np.array([2.0, 2.0, 2.0, 2.0, 4.0, 4.0, 4.0])
    model.threshold = "auto"
    assert 2 < model._best_threshold(clear, codes == 1, weight) <= 4
    close = np.array([0.5, 0.5, 0.5, 1.1, 1.2, 0.9, 0.9])
    assert 0.5 < model._best_threshold(close, codes == 1, weight) <= 0.9


def test_the_learned_distance_is_at_hand(rows):
    X, y = rows
    model = MLFPClassifier(mu=0.02, matrix="full", threshold=None).fit(X, y)
    distance = MLFP(mu=0.02, matrix="full").fit(X, y)
    np.testing.assert_array_equal(model.get_mahalanobis_matrix(), distance.get_mahalanobis_matrix())
    np.testing.assert_array_equal(model.transform(X[:5]), distance.transform(X[:5]))
    assert model.objective_ == distance.objective_
    assert model.bound(0.1) == distance.bound(0.1)
    gaps = model.transform(X[:1]) - model.transform(X[y])
    nearest = np.sqrt((gaps**2).sum(axis=1)).min()
    assert model.explain(X[:1])[0].similar[0].distance == pytest.approx(nearest)


def test_what_is_auto_is_tuned_and_the_rest_kept(rows):
    X, y = rows
    model = MLFPClassifier(mu="auto", c=0.25, n_trials=4, cv=2, random_state=0).fit(X, y)
    assert model.c_ == 0.25
    assert 1e-3 <= model.mu_ <= 1e2
    assert model.get_params()["mu"] == "auto"
    again = MLFPClassifier(mu="auto", c=0.25, n_trials=4, cv=2, random_state=0).fit(X, y)
    assert again.mu_ == model.mu_
    by_rule = MLFPClassifier(mu="auto", c="auto", n_trials=3, cv=2, threshold=None).fit(X, y)
    assert by_rule.threshold_ == 1


def test_a_given_threshold_is_kept_and_measured(rows):
    X, y = rows
    model = MLFPClassifier(threshold=0.8, cv=3, random_state=0).fit(X, y)
    assert model.threshold_ == 0.8
    assert 0 < model.value_ <= 1
    assert model.explain(X[:1])[0].rank_in_reference is not None


def test_a_reason_names_the_features_that_the_learned_distance_sees(rows):
    X, y = rows
    model = MLFPClassifier(1, mu=1e-3).fit(X, y)
    reasons = model.explain(X[y][:5] + 0.01)
    for reason in reasons:
        weights = [c.weight for c in reason.because]
        assert sum(weights) == pytest.approx(1)
        assert reason.similar


def test_a_rows_priority_does_not_depend_on_the_others(rows):
    X, y = rows
    model = MLFPClassifier(matrix="full", threshold=None).fit(X, y)
    queries = np.random.default_rng(3).normal(size=(64, 3))
    alone = np.concatenate([model.priority(x[None]) for x in queries])
    np.testing.assert_array_equal(model.priority(queries), alone)


def test_where_no_positive_can_be_found_it_is_said(rows):
    X, _ = rows
    two = np.arange(len(X)) < 2
    with pytest.raises(ValueError, match="set k=1, or give threshold a number"):
        MLFPClassifier(3).fit(X, two)
    one = np.arange(len(X)) < 1
    assert MLFPClassifier(1, threshold=0.7).fit(X, one).threshold_ == 0.7


def test_a_bootstrap_fold_is_not_taken_for_the_whole_table(rows, monkeypatch):
    X, y = rows
    rng = np.random.default_rng(0)
    drawn = [rng.integers(len(X), size=len(X)) for _ in range(2)]
    pairs = [(rows_in, np.setdiff1d(np.arange(len(X)), rows_in)) for rows_in in drawn]
    learned = []
    plain = MLFPClassifier._learn_distance

    def spied(self, X, codes, seed):
        learned.append(len(X))
        return plain(self, X, codes, seed)

    monkeypatch.setattr(MLFPClassifier, "_learn_distance", spied)
    MLFPClassifier(1, cv=pairs).fit(X, y)
    assert len(learned) == 3


@pytest.mark.parametrize("ask", [lambda m: m.transform([[0.0]]), lambda m: m.bound()])
def test_before_the_fit_it_says_so(ask):
    with pytest.raises(NotFittedError):
        ask(MLFPClassifier())
