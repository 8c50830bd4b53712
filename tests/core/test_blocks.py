import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind._core import blocks
from rarefind._core.blocks import PointBlocks


def definition(rows, points):
    """Squared distances, the columns added one after the other."""
    table = np.zeros((len(rows), len(points)))
    for f in range(rows.shape[1]):
        table += (rows[:, [f]] - points[:, f]) ** 2
    return table


@st.composite
def tables(draw):
    """Points that lie on a grid, far from the origin, in far clusters, or anywhere."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31 - 1)))
    n, d = draw(st.integers(1, 90)), draw(st.integers(1, 5))
    points = rng.normal(size=(n, d))
    kind = draw(st.sampled_from(["plain", "grid", "far", "clusters", "long column"]))
    if kind == "grid":
        points = np.round(2 * points) / 7
    elif kind == "far":
        points += 1e6
    elif kind == "clusters":
        points += 1e5 * rng.choice([-1, 1], size=(n, 1))
    elif kind == "long column":
        points[:, 0] *= 1e7
    return points, np.vstack([points[:20], points[:20] + rng.normal(size=points[:20].shape)]), rng


@given(tables(), st.integers(1, 6), st.sampled_from([1, 7, 1024]))
@settings(max_examples=80)
def test_neighbours_and_counts_are_those_of_the_definition(table, k, leaf):
    points, rows, rng = table
    times = rng.integers(1, 4, len(points))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_LEAF", leaf)
        cut = PointBlocks.of(points, times)
    exact = definition(rows, points)
    found, at = cut.nearest(rows, k, 1)
    expected = np.full((len(rows), k), np.inf)
    expected[:, : len(points)] = np.sort(exact, axis=1)[:, :k]
    np.testing.assert_array_equal(found, expected)
    there = at >= 0
    np.testing.assert_array_equal(exact[np.nonzero(there)[0], at[there]], found[there])
    edge = exact[np.arange(len(rows)), rng.integers(len(points), size=len(rows))]
    inside, beyond = cut.count_nearer(rows, edge, 1)
    nearer = exact < edge[:, None]
    np.testing.assert_array_equal(inside, (nearer * times).sum(axis=1))
    np.testing.assert_array_equal(beyond, np.where(nearer, np.inf, exact).min(axis=1))


def test_threads_find_the_same():
    rng = np.random.default_rng(0)
    points, rows = rng.normal(size=(3000, 6)), rng.normal(size=(300, 6))
    cut = PointBlocks.of(points, np.ones(3000, dtype=np.intp))
    one, two = cut.nearest(rows, 3, 1), cut.nearest(rows, 3, 2)
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])


def test_which_of_equal_points_are_found_does_not_depend_on_the_other_rows():
    rng = np.random.default_rng(0)
    points = rng.integers(0, 3, size=(4000, 5)).astype(float)
    rows = rng.integers(0, 3, size=(100, 5)) + 0.5
    cut = PointBlocks.of(points, np.ones(4000, dtype=np.intp))
    together = cut.nearest(rows, 3, 1)[1]
    alone = np.vstack([cut.nearest(row[None], 3, 1)[1] for row in rows])
    np.testing.assert_array_equal(together, alone)


def test_single_precision_is_given_up_where_it_leaves_too_much_open():
    rng = np.random.default_rng(0)
    points, once = rng.normal(size=(3000, 6)), np.ones(3000, dtype=np.intp)
    assert PointBlocks.of(points, once).tells_apart()
    far = points + 1e9 * np.where(np.arange(3000) % 2, 1, -1)[:, None]
    assert not PointBlocks.of(far, once).tells_apart()
    with np.errstate(over="ignore"):
        assert not PointBlocks.of(1e25 * points, once).tells_apart()
