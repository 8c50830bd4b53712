import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.distance import cdist

from rarefind.search import DISTANCES, NeighborSearch, feature_differences

COORDINATES = [d for d in DISTANCES if d != "precomputed"]


def naive_distances(rows, points, distance, p):
    """The definition, with rows of zeros at cosine distance 1 from other directions."""
    if distance == "cosine":
        table = np.ones((len(rows), len(points)))
        for i, x in enumerate(rows):
            for j, z in enumerate(points):
                if x.any() and z.any():
                    table[i, j] = 1 - x @ z / np.linalg.norm(x) / np.linalg.norm(z)
                elif not x.any() and not z.any():
                    table[i, j] = 0
        return table
    if distance == "minkowski":
        return cdist(rows, points, "minkowski", p=p)
    return cdist(rows, points, {"manhattan": "cityblock"}.get(distance, distance))


@st.composite
def tables(draw):
    d = draw(st.integers(1, 4))
    # A coarse grid of integers makes ties and copies common.
    values = st.integers(-3, 3).map(float)
    points = draw(hnp.arrays(float, (draw(st.integers(1, 12)), d), elements=values))
    rows = draw(hnp.arrays(float, (draw(st.integers(1, 6)), d), elements=values))
    return points, rows


@pytest.mark.parametrize("distance", COORDINATES)
@given(tables(), st.integers(1, 8), st.sampled_from([1.0, 1.5, 2.0, 3.0]))
@settings(max_examples=60)
def test_distances_are_those_of_the_definition(distance, table, k, p):
    points, rows = table
    found, index = NeighborSearch(points, distance=distance, p=p).query(rows, k)
    exact = naive_distances(rows, points, distance, p)
    expected = np.full((len(rows), k), np.inf)
    expected[:, : len(points)] = np.sort(exact, axis=1)[:, :k]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    there = index >= 0
    np.testing.assert_allclose(exact[np.nonzero(there)[0], index[there]], found[there], atol=1e-9)
    assert np.array_equal(there, np.isfinite(found))


@given(tables(), st.integers(1, 5))
@settings(max_examples=60)
def test_a_row_leaves_itself_out_by_number_and_keeps_its_copies(table, k):
    points, _ = table
    found, index = NeighborSearch(points).query(points, k, exclude=np.arange(len(points)))
    for i in range(len(points)):
        others = np.delete(np.linalg.norm(points - points[i], axis=1), i)
        expected = np.append(np.sort(others), np.full(k, np.inf))[:k]
        np.testing.assert_array_equal(found[i], expected)
        assert i not in index[i]


def test_precomputed_distances_give_the_same_neighbours():
    rng = np.random.default_rng(0)
    points, rows = rng.normal(size=(30, 3)), rng.normal(size=(7, 3))
    columns = np.arange(5, 25)
    by_table = NeighborSearch(columns, distance="precomputed").query(cdist(rows, points), 4)
    by_points = NeighborSearch(points[columns]).query(rows, 4)
    np.testing.assert_allclose(by_table[0], by_points[0])
    np.testing.assert_array_equal(by_table[1], by_points[1])


@pytest.mark.parametrize("d", [2, 20])  # a tree, and brute force
def test_a_distance_does_not_depend_on_the_other_queries(d):
    rng = np.random.default_rng(1)
    search = NeighborSearch(rng.normal(size=(2500, d)) + 1e6)
    rows = rng.normal(size=(50, d)) + 1e6
    together, _ = search.query(rows, 3)
    alone = np.vstack([search.query(rows[[i]], 3)[0] for i in range(len(rows))])
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("d", [2, 20])
def test_copies_are_at_distance_zero_far_from_the_origin(d):
    points = np.random.default_rng(2).normal(size=(2500, d)) * 1e-3 + 1e7
    found, _ = NeighborSearch(points).query(points, 1)
    assert not found.any()


def test_brute_force_and_tree_agree():
    rng = np.random.default_rng(3)
    points, rows = rng.normal(size=(3000, 4)), rng.normal(size=(40, 4))
    tree, _ = NeighborSearch(points).query(rows, 5)
    brute, _ = NeighborSearch(points[:1999]).query(rows, 5)  # too few for a tree
    np.testing.assert_allclose(tree, np.sort(cdist(rows, points), axis=1)[:, :5])
    np.testing.assert_allclose(brute, np.sort(cdist(rows, points[:1999]), axis=1)[:, :5])


def test_no_points_no_neighbours():
    found, index = NeighborSearch(np.empty((0, 2))).query(np.zeros((3, 2)), 2)
    assert np.isinf(found).all()
    assert (index == -1).all()


def test_results_are_the_same_on_one_core():
    rng = np.random.default_rng(4)
    points, rows = rng.normal(size=(500, 12)), rng.normal(size=(20, 12))
    one = NeighborSearch(points, n_jobs=1).query(rows, 3)
    np.testing.assert_array_equal(one[0], NeighborSearch(points).query(rows, 3)[0])


@pytest.mark.parametrize(
    ("distance", "power"), [("euclidean", 2), ("manhattan", 1), ("cosine", 1), ("minkowski", 3)]
)
def test_feature_differences_sum_to_the_distance(distance, power):
    rng = np.random.default_rng(5)
    x, points = rng.normal(size=4), rng.normal(size=(6, 4))
    terms = feature_differences(x, points, distance, p=3)
    exact = naive_distances(x[None], points, distance, 3)[0]
    np.testing.assert_allclose(terms.sum(axis=1), exact**power)


def test_only_the_widest_gap_sets_the_chebyshev_distance():
    terms = feature_differences(np.zeros(3), np.array([[1.0, -4.0, 2.0]]), "chebyshev")
    assert terms.tolist() == [[0.0, 4.0, 0.0]]


@pytest.mark.parametrize("spread", [1e3, 1e6, 1e8])
def test_clusters_far_apart_are_searched_exactly(spread):
    rng = np.random.default_rng(6)
    points = rng.normal(size=(400, 12)) + spread * rng.choice([-1, 1], size=(400, 1))
    points[:200] = points[200:]  # copies
    found, _ = NeighborSearch(points).query(points, 3)
    exact = np.sort(np.sqrt(((points[:, None] - points) ** 2).sum(axis=-1)), axis=1)[:, :3]
    np.testing.assert_allclose(found, exact, rtol=1e-12)
    alone = np.vstack([NeighborSearch(points).query(row[None], 3)[0] for row in points[:40]])
    np.testing.assert_array_equal(found[:40], alone)


def test_one_long_column_does_not_blur_the_others():
    rng = np.random.default_rng(7)
    points = np.column_stack([rng.normal(size=(500, 10)), 1e8 * rng.integers(0, 2, 500)])
    found, _ = NeighborSearch(points[:400]).query(points[400:], 4)
    exact = np.sort(cdist(points[400:], points[:400]), axis=1)[:, :4]
    np.testing.assert_allclose(found, exact, rtol=1e-12)


def test_many_ties_do_not_depend_on_the_other_queries():
    rng = np.random.default_rng(8)
    points = rng.integers(0, 2, size=(800, 10)) / np.sqrt(2)
    search = NeighborSearch(points)
    together, _ = search.query(points[:100], 5)
    alone = np.vstack([search.query(points[[i]], 5)[0] for i in range(100)])
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("rank", [1, 3, 4])
def test_a_linear_map_gives_the_mahalanobis_distance(rank):
    rng = np.random.default_rng(7)
    points, rows = rng.normal(size=(60, 4)), rng.normal(size=(10, 4))
    components = rng.normal(size=(rank, 4))
    found, _ = NeighborSearch(points, components=components).query(rows, 3)
    gaps = rows[:, None] - points
    exact = np.einsum("ijk,kl,ijl->ij", gaps, components.T @ components, gaps)
    np.testing.assert_allclose(found, np.sqrt(np.sort(exact, axis=1)[:, :3]), atol=1e-12)
    terms = feature_differences(rows[0], points, "euclidean", components=components)
    np.testing.assert_allclose(terms.sum(axis=1), exact[0], atol=1e-12)


def test_the_identity_is_the_plain_search_to_the_last_bit():
    rng = np.random.default_rng(8)
    points, rows = rng.normal(size=(60, 4)), rng.normal(size=(10, 4))
    plain = NeighborSearch(points).query(rows, 3)
    mapped = NeighborSearch(points, components=np.eye(4)).query(rows, 3)
    for one, other in zip(plain, mapped, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_feature_in_another_unit_and_its_metric_inversely_change_nothing():
    rng = np.random.default_rng(9)
    points, rows, components = (rng.normal(size=(n, 4)) for n in (60, 10, 4))
    unit = np.array([1.0, 1000.0, 0.001, 4.0])
    plain = NeighborSearch(points, components=components).query(rows, 3)
    other = NeighborSearch(points * unit, components=components / unit).query(rows * unit, 3)
    np.testing.assert_array_equal(other[1], plain[1])
    np.testing.assert_allclose(other[0], plain[0])


def test_a_linear_map_of_another_distance_is_refused():
    with pytest.raises(ValueError, match="Euclidean distance, not a manhattan one"):
        NeighborSearch(np.eye(2), distance="manhattan", components=np.eye(2))


@pytest.mark.parametrize("distance", COORDINATES)
@given(tables(), st.integers(1, 4))
@settings(max_examples=40)
def test_copies_are_counted_however_many_they_are(distance, table, k):
    points, rows = table
    search = NeighborSearch(points, distance=distance, p=3)
    exact = naive_distances(rows, points, distance, 3)
    np.testing.assert_array_equal(search.query_and_count(rows, k)[2], (exact < 1e-12).sum(axis=1))
    own = np.arange(len(points))
    among = naive_distances(points, points, distance, 3)
    here = search.query_and_count(points, k, exclude=own)[2]
    np.testing.assert_array_equal(here, (among < 1e-12).sum(axis=1) - 1)


def test_precomputed_zeros_are_counted():
    table = np.array([[0.0, 0.0, 0.0, 2.0], [1.0, 0.0, 3.0, 4.0]])
    search = NeighborSearch(np.array([0, 1, 3]), distance="precomputed")
    assert search.query_and_count(table, 1)[2].tolist() == [2, 1]
    assert search.query_and_count(table, 1, exclude=np.array([1, -1]))[2].tolist() == [1, 1]


def test_rows_that_differ_by_rounding_alone_are_copies():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(200, 6))
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    rows = np.array([points[i] @ turn @ turn.T for i in range(200)])
    assert (rows != points).any()
    found, _, here = NeighborSearch(points).query_and_count(rows, 2)
    assert not found[:, 0].any()
    assert found[:, 1].all()
    assert (here == 1).all()
    longer = NeighborSearch(points, distance="cosine").query_and_count(3.3 * points, 1)
    assert not longer[0].any()
    # What can be told apart stays apart.
    assert NeighborSearch(points).query(points + 1e-13, 1)[0].all()


@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
def test_many_points_are_searched_in_blocks_with_the_same_result(monkeypatch, distance):
    rng = np.random.default_rng(0)
    points = np.vstack([rng.normal(size=(900, 10)), rng.integers(0, 2, size=(900, 10))])
    rows, own = points[::9], np.arange(0, 1800, 9)
    plain = NeighborSearch(points, distance=distance)
    monkeypatch.setattr("rarefind.search._WORTH_BLOCKS", 100)
    blocks = NeighborSearch(points, distance=distance)
    assert blocks._blocks is not None
    assert plain._blocks is None
    for exclude in (None, own):
        expected = plain.query_and_count(rows, 4, exclude)
        found = blocks.query_and_count(rows, 4, exclude)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[2], expected[2])
