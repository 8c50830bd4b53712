import numpy as np
import pytest

from rarefind.metrics import count_metric
from rarefind.neighbors._covering import Layers, choose_layers, score_rows
from rarefind.neighbors.ellipsoids import EllipsoidRows, Setting, excluding_ellipsoids

SETTINGS = [Setting(0.05, 1.0, 1e-2), Setting(0.3, 1.0, 1e-3)]


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    positive = rng.random(150) < 0.1
    rows = EllipsoidRows(X, np.flatnonzero(positive), np.flatnonzero(~positive))
    return rows, rng.normal(size=(80, 3))


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("union", [False, True])
def test_scores_are_those_of_the_ellipsoids_one_by_one(union, n_jobs):
    rows, queries = table()
    layers = [
        list(excluding_ellipsoids(rows, int(row), SETTINGS, 1e-9, 1000)) for row in rows.positives
    ]
    found = score_rows(rows, lambda j: layers[j], 2, queries, union=union, n_jobs=n_jobs)
    every, floor = np.arange(80), np.zeros(80)
    alone = np.array([[e.score(rows.X, queries, every, floor) for e in of] for of in layers])
    to_positives = ((queries[:, None] - rows.X[rows.positives]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(found.nearest, to_positives.argmin(axis=1))
    expected = alone.max(axis=0) if union else alone[found.nearest, :, every].T
    np.testing.assert_array_equal(found.score, expected)
    for layer in range(2):
        np.testing.assert_array_equal(
            alone[found.deciding[layer], layer, every], found.score[layer]
        )


def test_only_positives_that_decide_are_asked():
    rows, queries = table()
    asked = []

    def ellipsoids_of(j):
        asked.append(j)
        return excluding_ellipsoids(rows, int(rows.positives[j]), SETTINGS[:1], 1e-9, 1000)

    found = score_rows(rows, ellipsoids_of, 1, queries[:3], union=False, n_jobs=1)
    assert sorted(asked) == sorted(set(found.nearest))


def test_layers_are_compared_at_a_fixed_threshold():
    positive = np.array([True, True, False, False])
    score = np.array([[3.0, 0.9, 2.0, 0.1], [0.9, 0.9, 0.5, 0.1]])
    held = Layers(score, np.zeros(4, dtype=np.intp), positive, np.ones(4))
    chosen = [
        choose_layers(held, np.zeros(1, dtype=np.intp), count_metric("f1"), fixed, local=False)
        for fixed in (1.0, 0.8)
    ]
    assert [choice.layer.tolist() for choice in chosen] == [[0], [1]]


def test_layers_are_chosen_for_each_positive_where_it_has_held_out_positives():
    owner = np.array([0, 0, 0, 1, 1, 2, 2])
    positive = np.array([1, 0, 0, 1, 1, 0, 0], dtype=bool)
    score = np.array(
        [
            [2, 2, 0, 2, 2, 0, 0],  # best of all
            [2, 0, 0, 0, 0, 0, 2],  # best for the first
            [0, 0, 0, 2, 2, 2, 2],  # as good for the second
        ],
        dtype=float,
    )
    held = Layers(score, owner, positive, np.ones(positive.size))
    everyone = choose_layers(held, np.arange(3), count_metric("f1"), 1.0, local=False)
    assert everyone.layer.tolist() == [0, 0, 0]
    local = choose_layers(held, np.arange(3), count_metric("f1"), 1.0, local=True)
    assert local.layer.tolist() == [1, 0, 0]
    assert local.own.tolist() == [True, True, False]
