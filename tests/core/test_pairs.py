import numpy as np
import pytest

from rarefind._core.pairs import embed, nearest_on_all_cores, nearest_squared, squared_distances


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    rows, points = (
        rng.integers(0, 4, (50, 3)).astype(float),
        rng.integers(0, 4, (70, 3)).astype(float),
    )
    return rows, points, ((rows[:, None] - points) ** 2).sum(axis=-1)


def test_distances_are_sums_of_squares(table):
    rows, points, exact = table
    at = np.random.default_rng(1).integers(0, 70, (50, 4))
    found = squared_distances(rows, points, at)
    np.testing.assert_array_equal(found, np.take_along_axis(exact, at, axis=1))


@pytest.mark.parametrize("k", [1, 5, 70])
def test_the_nearest_come_first_and_of_equals_the_first(table, k):
    rows, points, exact = table
    found, at = nearest_squared(rows, points, k)
    order = np.argsort(exact, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(at, order)
    np.testing.assert_array_equal(found, np.take_along_axis(exact, order, axis=1))


def test_threads_change_nothing(table):
    rows, points, _ = table
    alone = nearest_on_all_cores(rows, points, 3, n_jobs=1)
    shared = nearest_on_all_cores(rows, points, 3, n_jobs=2)
    np.testing.assert_array_equal(alone[0], shared[0])
    np.testing.assert_array_equal(alone[1], shared[1])


def test_a_row_is_placed_by_its_products_whatever_the_rows_beside_it():
    rng = np.random.default_rng(2)
    rows, components = rng.normal(size=(33, 7)), rng.normal(size=(5, 7))
    placed = embed(rows, components)
    np.testing.assert_allclose(placed, rows @ components.T)
    alone = np.vstack([embed(row[None], components) for row in rows])
    np.testing.assert_array_equal(placed, alone)
