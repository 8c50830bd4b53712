import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind.metrics import count_metric
from rarefind.neighbors._ratio import (
    TwoDistances,
    best_scales,
    ratio,
    voters,
)


@pytest.mark.parametrize(("k", "q", "r"), [(1, 1, 1), (2, 1, 2), (3, 2, 2), (4, 2, 3), (9, 5, 5)])
def test_the_neighbours_that_decide(k, q, r):
    assert voters(k) == (q, r)


def test_edges_come_in_order():
    few_positives = ratio(np.array([np.inf]), np.array([np.inf]))
    assert few_positives == 0
    infinite = ratio(np.array([0.0, 0.0, 0.0, 2.0]), np.array([0.0, 1.0, 5.0, np.inf]))
    assert np.all(np.diff(infinite) > 0), "further negatives, higher priority"
    largest_finite = ratio(np.array([1e-300]), np.array([1e300]))
    assert infinite[0] > largest_finite
    assert np.isfinite(infinite).all()
    assert ratio(np.array([2.0]), np.array([1.0])) == 0.5


def weighted_points(draw):
    n = draw(st.integers(4, 25))
    grid = st.integers(1, 6).map(float)
    column = st.lists(grid, min_size=n, max_size=n).map(np.array)
    positive = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    positive[0], positive[1] = True, False
    return (draw(column)[:, None], draw(column)[:, None], draw(column)), positive


@st.composite
def held_out(draw):
    (real, synthetic, negative), positive = weighted_points(draw)
    return TwoDistances(real, synthetic, negative), positive


def counts_at(alert, positive):
    return (
        float((alert & positive).sum()),
        float((alert & ~positive).sum()),
        float((~alert & positive).sum()),
        float((~alert & ~positive).sum()),
    )


def best_of_the_papers_grid(distances, positive, metric):
    """Steps of 0.1 for both scales, decided for k = 1 in whole numbers, so without rounding."""
    real, synthetic, negative = distances.real[:, 0], distances.synthetic[:, 0], distances.negative
    return max(
        float(
            metric(
                *counts_at((g * real <= 10 * negative) | (s * synthetic <= 10 * negative), positive)
            )
        )
        for g in range(1, 11)
        for s in range(1, 21)
    )


@given(held_out(), st.sampled_from(["f1", "g_mean", "balanced_accuracy"]))
@settings(max_examples=30)
def test_the_two_scales_are_in_their_ranges_and_worth_what_they_say(held, name):
    distances, positive = held
    metric = count_metric(name)
    weight = np.ones(positive.size)
    found = best_scales(distances, positive, weight, metric)
    gamma_synthetic = found.gamma * found.relative
    assert 0 < found.gamma <= 1
    assert 0 < gamma_synthetic <= 2 + 1e-12
    alert = distances.score(found.relative) >= found.gamma
    assert found.value == pytest.approx(float(metric(*counts_at(alert, positive))))
    assert found.value >= best_of_the_papers_grid(distances, positive, metric) - 1e-9


@given(held_out(), st.floats(0.05, 1), st.floats(0.05, 2))
@settings(max_examples=15)
def test_fixed_scales_are_kept(held, gamma, gamma_synthetic):
    distances, positive = held
    arguments = (distances, positive, np.ones(positive.size), count_metric("f1"))
    both = best_scales(*arguments, gamma, gamma_synthetic)
    assert both.gamma == gamma
    assert both.gamma * both.relative == pytest.approx(gamma_synthetic)
    one = best_scales(*arguments, gamma)
    assert one.gamma == gamma
    assert one.gamma * one.relative <= 2 + 1e-9
    other = best_scales(*arguments, None, gamma_synthetic)
    assert 0 < other.gamma <= 1
    assert other.gamma * other.relative == pytest.approx(gamma_synthetic)


def test_scales_out_of_range_are_refused():
    distances = TwoDistances(np.ones((2, 1)), np.ones((2, 1)), np.ones(2))
    with pytest.raises(ValueError, match="no scale of the other kind"):
        best_scales(distances, np.array([True, False]), np.ones(2), count_metric("f1"), None, 100.0)


def test_without_synthetic_positives_the_scale_is_exact():
    real = np.array([[1.0], [2.0], [4.0], [8.0]])
    distances = TwoDistances(real, None, np.ones(4))
    positive = np.array([True, True, False, False])
    found = best_scales(distances, positive, np.ones(4), count_metric("f1"))
    assert found.value == 1
    assert 0.25 < found.gamma <= 0.5
