import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from rarefind.neighbors._growing import neighbourhoods
from rarefind.search import NeighborSearch

NOBODY = np.array([-1])


def slow_twin(d_pos, d_neg, k):
    """Walk through all rows, nearest first, positives before negatives at equal distances.

    Copies of the row itself belong to it, whatever their class.
    """
    walk = sorted([(d, False) for d in d_pos] + [(d, True) for d in d_neg])
    wanted, positives, negatives = min(k, len(d_pos)), 0, 0
    for distance, negative in walk:
        if positives >= wanted and negative and distance > 0:
            break
        positives, negatives = positives + (not negative), negatives + negative
    return positives, negatives


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=8),
    st.lists(st.integers(0, 5), max_size=12),
    st.integers(1, 5),
)
@settings(max_examples=200)
def test_counts_are_those_of_the_walk(positives, negatives, k):
    searches = [
        NeighborSearch(np.array(p, dtype=float).reshape(-1, 1)) for p in (positives, negatives)
    ]
    for x in range(7):
        found = neighbourhoods(np.array([[float(x)]]), *searches, k, (NOBODY, NOBODY))
        d_pos, d_neg = ([abs(a - x) for a in points] for points in (positives, negatives))
        assert (found.positives[0], found.negatives[0]) == slow_twin(d_pos, d_neg, k)
        assert found.d_pos[0] == min(d_pos)
        assert found.d_neg[0] == min(d_neg, default=np.inf)


@pytest.mark.parametrize(
    ("distance", "p"),
    [
        ("euclidean", 2),
        ("manhattan", 2),
        ("chebyshev", 2),
        ("cosine", 2),
        ("minkowski", 1),
        ("minkowski", 3),
        ("minkowski", np.inf),
    ],
)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_distance_and_a_row_left_out_of_its_own_neighbourhood(distance, p, n_jobs):
    rng = np.random.default_rng(0)
    points = [rng.normal(size=(12, 3)), rng.normal(size=(90, 3))]
    rows = np.concatenate(points)
    own = (
        np.where(np.arange(102) < 12, np.arange(102), -1),
        np.where(np.arange(102) < 12, -1, np.arange(102) - 12),
    )
    searches = [NeighborSearch(q, distance=distance, p=p, n_jobs=n_jobs) for q in points]
    found = neighbourhoods(rows, *searches, 3, own)
    name, options = {
        "manhattan": ("cityblock", {}),
        "minkowski": ("chebyshev", {}) if np.isinf(p) else ("minkowski", {"p": p}),
    }.get(distance, (distance, {}))
    table = cdist(rows, rows, name, **options)
    for i in range(102):
        others = np.arange(102) != i
        is_positive = np.arange(102) < 12
        d_pos, d_neg = table[i, others & is_positive], table[i, others & ~is_positive]
        assert (found.positives[i], found.negatives[i]) == slow_twin(d_pos, d_neg, 3)
        assert found.d_pos[i] == pytest.approx(d_pos.min())
        assert found.d_neg[i] == pytest.approx(d_neg.min())


def test_nothing_around_where_no_positive_is_left():
    search = NeighborSearch(np.zeros((1, 1)))
    found = neighbourhoods(np.zeros((1, 1)), search, search, 2, (np.array([0]), NOBODY))
    assert found.positives[0] == 0
    assert found.d_pos[0] == np.inf


@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
def test_many_negatives_are_counted_in_blocks_with_the_same_result(monkeypatch, distance):
    rng = np.random.default_rng(0)
    points = [rng.integers(0, 3, size=(n, 10)).astype(float) for n in (40, 1500)]
    points[1][:500] += rng.normal(size=(500, 10))
    rows = np.concatenate(points)[::7]
    number = np.arange(1540)[::7]
    own = np.where(number < 40, number, -1), np.where(number < 40, -1, number - 40)
    plain = neighbourhoods(rows, *(NeighborSearch(q, distance=distance) for q in points), 3, own)
    monkeypatch.setattr("rarefind.search._WORTH_BLOCKS", 100)
    searches = [NeighborSearch(q, distance=distance) for q in points]
    assert searches[1]._blocks is not None
    for a, b in zip(plain, neighbourhoods(rows, *searches, 3, own), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-15)
