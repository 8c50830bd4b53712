import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from imblearn.over_sampling import SMOTE
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.metrics import f1_score

from rarefind.metrics import count_metric
from rarefind.neighbors import GammaKNNClassifier
from rarefind.neighbors._plurality import best_class_scales, votes


def naive_vote(distances, scales, k):
    """Scale, merge, take the k nearest, count; ties of distance and of the vote to the rarer."""
    merged = sorted(
        (d * scales[c], c) for c, column in enumerate(distances) for d in column if np.isfinite(d)
    )[:k]
    counts = [sum(1 for _, c in merged if c == j) for j in range(len(distances))]
    return counts, int(np.argmax(counts))


@st.composite
def held_out(draw):
    n, n_classes, k = draw(st.integers(3, 12)), draw(st.integers(3, 4)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    distances = np.sort(rng.uniform(0.1, 3, size=(n_classes, n, k)), axis=2)
    distances[rng.random(distances.shape) < 0.1] = np.inf  # fewer rows than k
    return np.sort(distances, axis=2), rng.integers(n_classes, size=n)


@given(held_out(), st.integers(0, 1000))
@settings(max_examples=60)
def test_votes_are_those_of_the_definition(held, seed):
    distances, _ = held
    scales = np.random.default_rng(seed).uniform(0.2, 1, size=len(distances))
    counted = votes(distances, scales)
    for i in range(distances.shape[1]):
        expected, _ = naive_vote(distances[:, i], scales, distances.shape[2])
        assert counted[i].tolist() == expected


def mean_metric(distances, scales, codes, metric):
    n_classes = len(distances)
    winner = np.array(
        [naive_vote(distances[:, i], scales, distances.shape[2])[1] for i in range(codes.size)]
    )
    total = 0.0
    for j in range(n_classes):
        alert, own = winner == j, codes == j
        counts = ((alert & own), (alert & ~own), (~alert & own), (~alert & ~own))
        total += float(metric(*(float(c.sum()) for c in counts)))
    return total / n_classes


@given(held_out(), st.sampled_from(["f1", "g_mean"]))
@settings(max_examples=40)
def test_no_scale_of_one_class_is_better_than_the_one_found(held, name):
    distances, codes = held
    metric = count_metric(name)
    scales, value = best_class_scales(distances, codes, np.ones(codes.size), metric)
    assert scales[-1] == 1
    assert ((scales > 0) & (scales <= 1)).all()
    assert value == pytest.approx(mean_metric(distances, scales, codes, metric))
    for c in range(len(distances) - 1):
        for g in np.linspace(0.02, 1, 50):
            other = scales.copy()
            other[c] = g
            assert mean_metric(distances, other, codes, metric) <= value + 1e-9


@given(st.integers(0, 100_000))
@settings(max_examples=60)
def test_the_value_is_that_of_the_votes_with_ties_and_copies(seed):
    rng = np.random.default_rng(seed)
    n_classes, n, k = 3, 12, 3
    distances = np.sort(rng.integers(0, 4, size=(n_classes, n, k)).astype(float), axis=2)
    codes = rng.integers(n_classes, size=n)
    metric = count_metric("f1")
    scales, value = best_class_scales(distances, codes, np.ones(n), metric)
    assert value == pytest.approx(mean_metric(distances, scales, codes, metric))


def test_a_metric_of_single_numbers_will_do():
    X, y = three_classes()

    def careful(tp, fp, fn, tn):
        return tp / (tp + fp + fn) if tp else 0.0

    plain = GammaKNNClassifier(metric=lambda tp, fp, fn, tn: tp / (tp + fp + fn + 1e-300))
    assert GammaKNNClassifier(metric=careful).fit(X, y).value_ == pytest.approx(
        plain.fit(X, y).value_
    )


def three_classes():
    X, y = make_blobs([300, 60, 20], centers=None, cluster_std=4, random_state=1)
    return X, np.array(["common", "rare", "rarest"])[y]


def test_scales_raise_the_mean_f1_on_held_out_rows():
    X, y = three_classes()
    plain = GammaKNNClassifier(gamma=None).fit(X, y)
    model = GammaKNNClassifier().fit(X, y)
    assert model.gamma_[list(model.classes_).index("common")] == 1
    leave_one_out = []
    for scales in (plain.gamma_, model.gamma_):
        table = cdist(X, X) * np.array([scales[list(model.classes_).index(c)] for c in y])
        np.fill_diagonal(table, np.inf)
        near = np.argsort(table, axis=1)[:, :3]
        by_rarity = ["rarest", "rare", "common"]
        winner = [max(by_rarity, key=[*y[row]].count) for row in near]
        leave_one_out.append(f1_score(y, winner, average="macro"))
    assert leave_one_out[1] >= leave_one_out[0]
    assert model.value_ == pytest.approx(leave_one_out[1])


def test_only_labels_and_probabilities_are_defined():
    X, y = three_classes()
    model = GammaKNNClassifier(cv=4, random_state=0).fit(X, y)
    probability = model.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[probability.argmax(axis=1)], model.predict(X))
    for method in ("priority", "decision_function", "explain"):
        with pytest.raises(AttributeError):
            getattr(model, method)


def test_scales_can_be_given():
    X, y = three_classes()
    given_scales = {"common": 1.0, "rare": 0.5, "rarest": 0.25}
    model = GammaKNNClassifier(gamma=given_scales).fit(X, y)
    assert dict(zip(model.classes_, model.gamma_, strict=True)) == given_scales
    one = GammaKNNClassifier(gamma=0.5).fit(X, y)
    assert one.gamma_.tolist() == [1.0, 0.5, 0.5]


def test_what_needs_two_classes_says_so():
    X, y = three_classes()
    with pytest.raises(ValueError, match="sampler needs two classes"):
        GammaKNNClassifier(sampler=SMOTE()).fit(X, y)
    with pytest.raises(ValueError, match="pos_label needs two classes"):
        GammaKNNClassifier(pos_label="rare").fit(X, y)
    with pytest.raises(ValueError, match="must name each of them"):
        GammaKNNClassifier(gamma={"rare": 0.5}).fit(X, y)
