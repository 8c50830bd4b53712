import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from trees.naive import bin_cuts, random_rows, tables

from rarefind.trees._columns import EXACT_ROWS, level_codes, read_columns, shortest_between

NEXT = np.nextafter(1.0, 2.0)
LAST = np.nextafter(1e300, 0)

numbers = st.one_of(
    st.floats(-1e300, 1e300),
    st.sampled_from([1.0, NEXT, np.nextafter(NEXT, 2), -1.0, -NEXT, 1e300, LAST, -1e300, -LAST]),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e-300, np.nan]),
    st.integers(-3, 3).map(float),
)
columns_of_numbers = st.lists(numbers, min_size=2, max_size=30).map(np.array)


def read(column, splitter, max_bins=255, is_set=False):
    X = np.asarray(column)[:, None]
    positive = np.arange(len(X)) % 3 == 0
    return read_columns(X, positive, np.array([is_set]), splitter, max_bins)


def check_order(columns):
    n = columns.codes.shape[1]
    for codes, order in zip(columns.codes, columns.order, strict=True):
        assert sorted(order) == list(range(n))
        assert (np.diff(codes[order]) >= 0).all()


@given(columns_of_numbers, st.booleans())
@example(np.full(5, np.nan), False)
@example(np.full(5, np.nan), True)
@example(np.full(5, 2.0), False)
def test_codes_and_values_rebuild_the_column(column, is_set):
    columns = read(column, "exact", is_set=is_set)
    assert columns.exact
    values = columns.least[0]
    assert (np.diff(values) > 0).all()
    assert columns.n_codes[0] == values.size == np.unique(column[~np.isnan(column)]).size
    np.testing.assert_array_equal(np.append(values, np.nan)[columns.codes[0]], column)
    np.testing.assert_array_equal(columns.greatest[0], values)
    check_order(columns)


@given(columns_of_numbers)
@example(np.full(5, np.nan))
def test_levels_have_codes_of_their_own_among_bins(column):
    columns = read(column, "histogram", 2, is_set=True)
    assert not columns.exact
    np.testing.assert_array_equal(np.append(columns.least[0], np.nan)[columns.codes[0]], column)


@given(columns_of_numbers, st.sampled_from(["exact", "histogram"]), st.sampled_from([2, 4, 255]))
@example(np.array([1.0, NEXT, np.nextafter(NEXT, 2), 1.0]), "histogram", 255)
@example(np.array([1e300, -1e300, LAST, np.nan]), "histogram", 255)
@example(np.full(5, np.nan), "histogram", 255)
def test_thresholds_part_the_rows_as_the_codes_do(column, splitter, max_bins):
    columns = read(column, splitter, max_bins)
    codes, n_codes = columns.codes[0], columns.n_codes[0]
    missing = np.isnan(column)
    np.testing.assert_array_equal(codes == n_codes, missing)
    seen = np.unique(codes[~missing])
    for i, low in enumerate(seen):
        for high in [*seen[i + 1 :], n_codes]:
            t = columns.threshold(0, low, high)
            inside = ~missing & ((codes <= low) | (codes >= high))
            np.testing.assert_array_equal(column[inside] <= t, codes[inside] <= low)
            if high < n_codes:
                assert column[codes == low].max() <= t < column[codes == high].min()
            else:
                assert t == np.inf


@given(tables(kinds=("numbers", "ties")), st.sampled_from([2, 4, 255]))
def test_bins_are_those_of_the_binner(rows, max_bins):
    columns = read_columns(rows.X, rows.positive, rows.is_set, "histogram", max_bins)
    for j, cuts in enumerate(bin_cuts(rows, max_bins)):
        assert columns.n_codes[j] == cuts.size + 1 <= max_bins
        below = (rows.X[:, j][:, None] >= cuts).sum(axis=1)
        expected = np.where(np.isnan(rows.X[:, j]), cuts.size + 1, below)
        np.testing.assert_array_equal(columns.codes[j], expected)
        for code in np.unique(below[~np.isnan(rows.X[:, j])]):
            values = rows.X[columns.codes[j] == code, j]
            assert columns.least[j][code] == values.min()
            assert columns.greatest[j][code] == values.max()


@given(tables(), st.sampled_from(["exact", "histogram"]), st.data())
def test_taking_rows_is_reading_them(rows, splitter, data):
    n = rows.positive.size
    chosen = data.draw(st.lists(st.integers(0, n - 1), unique=True, min_size=1).map(sorted))
    whole = read_columns(rows.X, rows.positive, rows.is_set, splitter, 4)
    part = whole.take(np.array(chosen))
    assert part.n_codes is whole.n_codes
    np.testing.assert_array_equal(part.codes, whole.codes[:, chosen])
    assert part.codes.flags.c_contiguous
    if splitter == "histogram":
        assert not part.exact
        return
    check_order(part)
    fresh = read_columns(rows.X[chosen], rows.positive[chosen], rows.is_set, splitter, 4)
    for j in range(rows.X.shape[1]):
        ranks = np.unique(part.codes[j], return_inverse=True)[1]
        np.testing.assert_array_equal(ranks, np.unique(fresh.codes[j], return_inverse=True)[1])
        np.testing.assert_array_equal(
            rows.X[chosen, j][part.order[j]], rows.X[chosen, j][fresh.order[j]]
        )


def test_few_rows_are_read_exactly_and_many_by_bins():
    for n, exact in ((EXACT_ROWS, True), (EXACT_ROWS + 1, False)):
        assert read(np.arange(n) % 7.0, "auto").exact == exact


def test_numbers_and_levels_side_by_side():
    rows = random_rows(0, 30, ["numbers", "levels", "ties"])
    columns = read_columns(rows.X, rows.positive, rows.is_set, "histogram", 4)
    alone = read_columns(rows.X[:, [2]], rows.positive, rows.is_set[[2]], "histogram", 4)
    np.testing.assert_array_equal(columns.codes[2], alone.codes[0])
    assert columns.n_codes[1] == np.unique(rows.X[~np.isnan(rows.X[:, 1]), 1]).size


@given(
    st.lists(st.one_of(st.integers(-3, 3).map(float), st.just(np.nan)), max_size=20),
    st.lists(st.integers(-3, 3).map(float), unique=True, max_size=6).map(sorted),
)
def test_codes_of_levels(column, levels):
    new = len(levels) + 1
    expected = [
        np.nan if np.isnan(value) else levels.index(value) if value in levels else new
        for value in column
    ]
    found = level_codes(np.array(column, dtype=float), np.array(levels, dtype=float))
    np.testing.assert_array_equal(found, expected)


@given(numbers, numbers)
@example(1.0, NEXT)
@example(-NEXT, -1.0)
@example(LAST, 1e300)
@example(-1e300, 1e300)
@example(-5e-324, 0.0)
@example(1.0, 2.0)
def test_the_shortest_number_between(one, other):
    if np.isnan(one) or np.isnan(other) or one == other:
        return
    low, high = min(one, other), max(one, other)
    found = shortest_between(low, high)
    assert isinstance(found, float)
    assert low <= found < high
    assert float(repr(found)) == found
    middle = low / 2 + high / 2
    roundings = [float(f"{middle:.{digits}g}") for digits in range(1, 18)]
    first = next((r for r in roundings if low <= r < high), low)
    assert found == first


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (221.0, 221.5, 221.0),
        (221.1, 221.5, 221.3),
        (0.1, 0.9, 0.5),
        (99.5, 101.2, 100.0),
        (-7.2, -6.9, -7.0),
        (1, 2, 1.5),
    ],
)
def test_people_can_read_thresholds(low, high, expected):
    assert shortest_between(low, high) == expected
