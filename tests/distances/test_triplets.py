import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rarefind.distances import _triplets
from rarefind.distances._triplets import SortedDistances, hinges_above, hinges_below

whole = st.integers(-3, 3).map(float)


def hinge(gap, smooth):
    """The hinge, quadratic on (0, smooth), and its slope."""
    if smooth == 0:
        return np.maximum(gap, 0), (gap > 0).astype(float)
    bent = np.where(gap < smooth, gap**2 / (2 * smooth), gap - smooth / 2)
    return np.where(gap <= 0, 0.0, bent), np.clip(gap / smooth, 0, 1)


@given(
    arrays(float, (3, 2), elements=whole),
    arrays(float, st.tuples(st.integers(1, 80), st.just(2)), elements=whole),
    arrays(float, (3, 4), elements=st.floats(-5, 40)),
    st.sampled_from([0.0, 0.01, 1.0, 30.0]),
)
def test_sums_of_hinges_are_those_of_their_definition(anchors, points, limit, smooth):
    fixed = SortedDistances.between(anchors, points)
    distance = ((anchors[:, None] - points) ** 2).sum(axis=2)
    gap = limit[:, :, None] - distance[:, None, :]
    for sums, signed in ((hinges_below, gap), (hinges_above, -gap)):
        value, slope = hinge(signed, smooth)
        found, found_slope = sums(fixed, limit, smooth)
        assert found == pytest.approx(value.sum(), rel=1e-9, abs=1e-6)
        if smooth or (np.abs(gap) > 1e-9).all():  # the slope of a hinge at its kink is anybody's
            np.testing.assert_allclose(found_slope, slope.sum(axis=2), rtol=1e-9, atol=1e-6)


def test_sorted_distances_hold_the_running_sums():
    rng = np.random.default_rng(0)
    anchors, points = rng.normal(size=(5, 3)), rng.normal(size=(100, 3))
    fixed = SortedDistances.between(anchors, points)
    expected = np.sort(((anchors[:, None] - points) ** 2).sum(axis=2), axis=1)
    np.testing.assert_allclose(fixed.sorted, expected, atol=1e-12)
    for step, start in enumerate(range(0, 100, _triplets._STRIDE)):
        np.testing.assert_allclose(fixed.first[:, step], expected[:, start])
        np.testing.assert_allclose(fixed.sums[:, step], expected[:, :start].sum(axis=1))
        np.testing.assert_allclose(fixed.squares[:, step], (expected[:, :start] ** 2).sum(axis=1))


def test_threads_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    fixed = SortedDistances.between(rng.normal(size=(40, 3)), rng.normal(size=(70, 3)))
    limit = rng.uniform(0, 9, size=(40, 6))
    alone = hinges_above(fixed, limit, 0.1)
    monkeypatch.setattr(_triplets, "_WORTH_THREADS", 0)
    monkeypatch.setattr(_triplets, "effective_n_jobs", lambda n: 2)
    shared = hinges_above(fixed, limit, 0.1)
    assert shared[0] == pytest.approx(alone[0], rel=1e-12)
    np.testing.assert_array_equal(shared[1], alone[1])
