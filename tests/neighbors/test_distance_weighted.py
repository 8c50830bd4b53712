from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive_copies import copies_at
from sklearn.neighbors import KNeighborsClassifier

from rarefind.neighbors import DistanceWeightedKNNClassifier


@st.composite
def grids(draw):
    """Rows on a coarse grid, where ties and copies are the rule."""
    d, n = draw(st.integers(1, 3)), draw(st.integers(2, 16))
    X = draw(hnp.arrays(int, (n, d), elements=st.integers(0, 4)))
    positive = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    positive[0], positive[1] = True, False
    return X, positive


def naive_vote(x, X, positive, k):
    """Weights of the k nearest, positives first where distances are equal; exact.

    Where more than k rows are copies of it, of both classes, all of them vote, but a class that has
    less than half of a vote in k.
    """
    here, others = copies_at(x, X, positive)
    if here and others and here + others > k:
        votes = [k * Fraction(n, here + others) for n in (here, others)]
        return tuple(n * (v >= Fraction(1, 2)) for n, v in zip((here, others), votes, strict=True))
    nearest = sorted((int(np.abs(x - z).sum()), not p) for z, p in zip(X, positive, strict=True))
    nearest = nearest[:k]
    touching = [(d, negative) for d, negative in nearest if d == 0]
    votes = [(1, n) for _, n in touching] or [(Fraction(1, d), n) for d, n in nearest]
    return (
        sum(weight for weight, negative in votes if not negative),
        sum(weight for weight, negative in votes if negative),
    )


@given(grids(), st.integers(1, 9))
@settings(max_examples=150)
def test_the_vote_is_that_of_the_definition(table, k):
    X, positive = table
    model = DistanceWeightedKNNClassifier(k, distance="manhattan", pos_label=True)
    model.fit(X, positive)
    rows = np.array([[a] * X.shape[1] for a in range(6)])
    priority = model.priority(rows)
    above = model.decision_function(rows)
    for i, x in enumerate(rows):
        w_pos, w_neg = naive_vote(x, X, positive, k)
        if w_pos == 0:
            assert 0 <= priority[i] < 1
        elif w_neg == 0:
            assert 2 <= priority[i] < 3
        else:
            assert priority[i] == pytest.approx(1 + float(w_pos / (w_pos + w_neg)), rel=1e-12)
        # Sums of rounded weights may not see that two different fractions are equal.
        if w_pos == w_neg and k > 3:
            continue
        assert model.predict([x])[0] == (w_pos >= w_neg)
        assert (above[i] > 0) == (w_pos >= w_neg)


@given(st.integers(0, 10_000), st.integers(1, 9), st.sampled_from([0.1, 0.3, 0.5]))
@settings(max_examples=60)
def test_predictions_are_those_of_scikit_learn(seed, k, share):
    rng = np.random.default_rng(seed)
    X, rows = rng.normal(size=(60, 3)), rng.normal(size=(20, 3))
    rows[15:] = X[:5]  # rows that touch a known one
    y = (rng.random(60) < share).astype(int)
    y[:2] = 0, 1
    model = DistanceWeightedKNNClassifier(k, pos_label=1).fit(X, y)
    peer = KNeighborsClassifier(k, weights="distance").fit(X, y)
    assert model.predict(rows).tolist() == peer.predict(rows).tolist()
    # Within the mixed votes the order is that of the peer's shares.
    share_of = peer.predict_proba(rows)[:, 1]
    mixed = (share_of > 0) & (share_of < 1)
    np.testing.assert_allclose(model.priority(rows)[mixed], 1 + share_of[mixed])


def test_a_vote_of_two_equals_goes_to_the_positive():
    model = DistanceWeightedKNNClassifier(2).fit([[0.0], [2.0], [9.0]], [1, 0, 0])
    assert model.predict([[1.0]])[0] == 1
    assert model.decision_function([[1.0]])[0] > 0
    assert model.predict([[1.1]])[0] == 0


def test_rows_without_a_positive_in_their_vote_are_still_ranked():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [10.0]])
    model = DistanceWeightedKNNClassifier(1).fit(X, [0, 0, 0, 0, 1])
    assert (np.diff(model.priority([[0.1], [1.1], [2.1], [3.1]])) > 0).all()


def test_fewer_rows_than_votes():
    model = DistanceWeightedKNNClassifier(9).fit([[0.0], [4.0]], [0, 1])
    assert model.predict([[1.0], [3.0]]).tolist() == [0, 1]


def test_without_held_out_rows_the_probability_is_the_share_of_the_vote():
    X = np.array([[0.0], [1.0], [3.0], [10.0], [11.0], [12.0]])
    model = DistanceWeightedKNNClassifier(2, pos_label=1).fit(X, [1, 0, 0, 1, 1, 1])
    share = (1 / 0.25) / (1 / 0.25 + 1 / 0.75)
    probability = model.predict_proba([[0.25], [2.0], [11.4]])[:, 1]
    assert probability[0] == pytest.approx(0.1 + 0.8 * share)
    assert probability[1] < 0.1
    assert probability[2] > 0.9
