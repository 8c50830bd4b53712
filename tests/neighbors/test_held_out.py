import numpy as np

from rarefind.neighbors._held_out import (
    PointSet,
    blocks,
    draw_queries,
    leave_one_out,
    out_of_fold,
)
from rarefind.search import NeighborSearch


def sets_of(X, codes, rows, k=2):
    return [
        PointSet(NeighborSearch(X[own]), k, c, own)
        for c in np.unique(codes)
        for own in [rows[codes[rows] == c]]
    ]


def naive(X, codes, rows, others, k=2):
    result = []
    for c in np.unique(codes):
        table = np.full((len(rows), k), np.inf)
        for i, row in enumerate(rows):
            pool = [j for j in others(row) if codes[j] == c]
            found = np.sort(np.linalg.norm(X[pool] - X[row], axis=1))[:k]
            table[i, : found.size] = found
        result.append(table)
    copies = [
        [sum(codes[j] == c and (X[j] == X[i]).all() for j in others(i)) for c in np.unique(codes)]
        for i in rows
    ]
    return [*result, np.array(copies)]


def test_leave_one_out_is_a_search_among_all_other_rows():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(40, 2)).astype(float)  # with copies
    codes = (rng.random(40) < 0.2).astype(int)
    rows = np.arange(0, 40, 2)
    steps = []
    found = leave_one_out(sets_of(X, codes, np.arange(40)), X, codes, rows, lambda: steps.append(1))
    expected = naive(X, codes, rows, lambda row: [j for j in range(40) if j != row])
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(steps) == len(blocks(rows)) == 1


def test_out_of_fold_is_a_search_among_the_training_rows():
    rng = np.random.default_rng(1)
    X, codes = rng.normal(size=(30, 2)), np.arange(30) % 3 // 2
    pairs = [(np.arange(15), np.arange(15, 30)), (np.arange(15, 30), np.arange(15))]
    found = out_of_fold(lambda train: sets_of(X, codes, train), X, pairs, lambda: None)
    expected = [
        np.vstack(parts)
        for parts in zip(
            *(naive(X, codes, test, lambda _, t=train: t) for train, test in pairs), strict=True
        )
    ]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b)


def test_blocks_hold_all_rows_in_order():
    rows = np.arange(40_000)
    cut = blocks(rows)
    assert len(cut) == 20
    np.testing.assert_array_equal(np.concatenate(cut), rows)


def test_drawn_rows_carry_the_weight_of_all():
    codes = (np.arange(1000) < 30).astype(int)
    weight = draw_queries(codes, 100, np.random.RandomState(0))
    assert (weight[codes == 1] == 1).all()
    assert (weight[codes == 0] > 0).sum() == 100
    np.testing.assert_allclose(weight[codes == 0].sum(), 970)
    assert draw_queries(codes, 970, np.random.RandomState(0)).tolist() == [1] * 1000
