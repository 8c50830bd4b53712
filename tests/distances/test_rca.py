import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind.distances import RCA


def naive_within(X, chunks):
    """The covariance of the paper, row by row; rows of no chunklet do not count."""
    total, count = np.zeros((X.shape[1],) * 2), 0
    for chunk in set(chunks) - {-1}:
        rows = X[chunks == chunk]
        for row in rows:
            gap = row - rows.mean(axis=0)
            total += np.outer(gap, gap)
            count += 1
    return total / count


@st.composite
def tables(draw):
    n, d = draw(st.integers(8, 30)), draw(st.integers(1, 4))
    seed = draw(st.integers(0, 2**31 - 1))
    X = np.random.default_rng(seed).normal(size=(n, d))
    chunks = np.array(draw(st.lists(st.integers(-1, 1), min_size=n, max_size=n)))
    chunks[:7] = 0
    return X, chunks


@given(tables())
@settings(max_examples=50)
def test_the_matrix_is_the_inverse_of_the_covariance_within_chunklets(table):
    X, chunks = table
    model = RCA(reg=0).fit(X, chunks=chunks)
    found = model.get_mahalanobis_matrix() @ naive_within(X, chunks)
    np.testing.assert_allclose(found, np.eye(X.shape[1]), atol=1e-6)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 4)) @ rng.normal(size=(4, 4))
    X[:, 0] += 3 * y
    return X, y


def test_labels_are_chunklets(data):
    X, y = data
    labels = np.array(["a", "b", "c"])[y]
    np.testing.assert_array_equal(
        RCA().fit(X, labels).components_, RCA().fit(X, chunks=y).components_
    )


def test_rows_are_white_within_chunklets(data):
    X, y = data
    placed = RCA(reg=0).fit(X, y).transform(X)
    np.testing.assert_allclose(naive_within(placed, y), np.eye(4), atol=1e-9)


def test_the_scale_of_the_columns_changes_no_distance(data):
    X, y = data
    scale = np.array([1.0, 1000.0, 0.01, 5.0])
    for model in (RCA(), RCA(reg=0.1), RCA(2)):  # three classes tell two directions apart
        plain = model.fit(X, y).get_mahalanobis_matrix()
        scaled = model.fit(X * scale, y).get_mahalanobis_matrix()
        np.testing.assert_allclose(scaled * np.outer(scale, scale), plain, rtol=1e-6, atol=1e-9)


def test_fewer_components_are_the_most_relevant_and_white(data):
    X, y = data
    model = RCA(1, reg=0).fit(X, y)
    placed = model.transform(X)
    assert placed.shape == (90, 1)
    assert naive_within(placed, y)[0, 0] == pytest.approx(1)
    rng = np.random.default_rng(0)
    for direction in rng.normal(size=(200, 4)):
        along = (X @ direction)[:, None]
        assert along.var() / naive_within(along, y)[0, 0] <= placed.var() + 1e-9


def test_the_map_is_the_cholesky_factor_of_the_inverse(data):
    X, y = data
    for labels in (y, y > 0):
        inverse = np.linalg.inv(naive_within(X, labels))
        factor = np.linalg.cholesky(inverse)
        np.testing.assert_allclose(RCA(reg=0).fit(X, labels).components_, factor.T, rtol=1e-7)


def test_directions_do_not_depend_on_the_last_digits(data):
    """Two classes have one Fisher axis; the others of a generalised eigenproblem are arbitrary."""
    X, y = data
    labels = y > 0
    plain = RCA(reg=0).fit(X, labels).components_
    shaken = (
        RCA(reg=0).fit(X * (1 + 1e-8 * np.sin(np.arange(360)).reshape(90, 4)), labels).components_
    )
    np.testing.assert_allclose(shaken, plain, rtol=1e-5, atol=1e-6)


def test_more_directions_than_the_classes_tell_apart_are_refused(data):
    X, y = data
    assert RCA(1).fit(X, y > 0).components_.shape == (1, 4)
    with pytest.raises(ValueError, match=r"n_components=2 .* 2 classes .* at most that many"):
        RCA(2).fit(X, y > 0)
    with pytest.raises(ValueError, match="n_components=3"):
        RCA(3).fit(X, y)


def test_singular_covariances(data):
    X, y = data
    dependent = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(90), y])
    assert np.isfinite(RCA().fit(dependent, y).transform(dependent)).all()
    with pytest.raises(ValueError, match="raise reg"):
        RCA(reg=0).fit(np.column_stack([X, np.ones(90)]), y)
    with pytest.raises(ValueError, match="raise reg"):
        RCA(reg=0).fit(np.column_stack([X, X @ [1.0, -2.0, 0.5, 3.0]]), y)


def test_errors_tell_what_to_do(data):
    X, y = data
    with pytest.raises(ValueError, match="requires y to be passed"):
        RCA().fit(X)
    with pytest.raises(ValueError, match="whole number for each row"):
        RCA().fit(X, chunks=y / 2)
    with pytest.raises(ValueError, match="whole number for each row"):
        RCA().fit(X, chunks=y - 2)
    with pytest.raises(ValueError, match="No chunklet holds two rows"):
        RCA().fit(X[:3], chunks=[0, 1, -1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        RCA().fit(X, chunks=y[:5])
    with pytest.raises(ValueError, match="more than the 4 columns"):
        RCA(5).fit(X, y)
