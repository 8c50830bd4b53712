import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive_copies import score_of_copies
from sklearn.neighbors import KNeighborsClassifier

from rarefind.neighbors import DuplicatedKNNClassifier


@st.composite
def grids(draw):
    """Rows on a coarse grid, where ties and copies are the rule; few positives."""
    d, n = draw(st.integers(1, 3)), draw(st.integers(2, 20))
    X = draw(hnp.arrays(int, (n, d), elements=st.integers(0, 4)))
    positive = np.zeros(n, dtype=bool)
    positive[: draw(st.integers(1, n - 1))] = True
    return X, positive


def naive_vote(x, X, positive, k):
    """Plain k-NN on rows that are really duplicated; ties to the positive.

    But where rows are copies of both classes, their numbers decide.
    """
    copies = max(1, round((~positive).sum() / positive.sum()))
    q, r = (k + 1) // 2, k // 2 + 1
    by_number = score_of_copies(x, X, positive, -(-q // copies), r)
    if by_number is not None:
        return by_number >= 1
    all_rows = np.concatenate([np.repeat(X[positive], copies, axis=0), X[~positive]])
    negative = np.arange(len(all_rows)) >= copies * positive.sum()
    nearest = sorted(zip(np.abs(all_rows - x).sum(axis=1), negative, strict=True))[:k]
    return sum(not n for _, n in nearest) >= k / 2


@given(grids(), st.integers(1, 12))
@settings(max_examples=200)
def test_no_row_is_duplicated_and_the_vote_is_the_same(table, k):
    X, positive = table
    model = DuplicatedKNNClassifier(k, distance="manhattan", pos_label=True).fit(X, positive)
    rows = np.array([[a] * X.shape[1] for a in range(6)])
    assert model.predict(rows).tolist() == [naive_vote(x, X, positive, k) for x in rows]


@pytest.mark.parametrize("k", [1, 3, 7, 31])
def test_against_scikit_learn_on_duplicated_rows(k):
    rng = np.random.default_rng(k)
    X, y = rng.normal(size=(110, 3)), (np.arange(110) < 10).astype(int)
    X[y == 1] += 1
    model = DuplicatedKNNClassifier(k).fit(X, y)
    assert model.copies_ == 10
    repeat = np.where(y == 1, 10, 1)
    peer = KNeighborsClassifier(k).fit(np.repeat(X, repeat, axis=0), np.repeat(y, repeat))
    rows = rng.normal(size=(80, 3))
    assert model.predict(rows).tolist() == peer.predict(rows).tolist()


def test_no_copies_where_the_positives_are_many():
    X, y = np.arange(6.0)[:, None], [1, 1, 1, 1, 0, 0]
    assert DuplicatedKNNClassifier(pos_label=1).fit(X, y).copies_ == 1
