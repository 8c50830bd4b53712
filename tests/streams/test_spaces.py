from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rarefind.streams._nets import LARGEST_GRADIENT, Nets, StepSize, backward, forward
from rarefind.streams._spaces import (
    LOSS,
    RESIDUAL,
    SLOPE,
    LatentSpaces,
    add_spaces,
    learn_spaces,
    probabilities,
)

TARGETS = pytest.mark.parametrize("target", [RESIDUAL, SLOPE, LOSS])
# One score is the logistic loss of two classes, more are the softmax.
SCORES = pytest.mark.parametrize("classes", [1, 3])
UNITS, COLUMNS = 2, 3

seeds = st.integers(0, 10**6)
numbers_of_nets = st.integers(1, 4)
sizes = st.integers(2, 5)


class Row(NamedTuple):
    """A row, and what is known before it is learned."""

    x: np.ndarray
    label: np.ndarray
    weight: float
    start: np.ndarray
    nets: Nets
    spaces: LatentSpaces

    def forward(self):
        n, classes, _ = self.spaces.net_weights.shape
        hidden, output = np.empty((n, UNITS)), np.empty((n, classes))
        forward(self.x, self.nets.inner, self.nets.outer, hidden, output)
        return hidden, output

    def learned(self, target, step_size, mixing):
        """Nets and spaces after the row; those before it stay."""
        nets, spaces = copy_arrays(self.nets), copy_arrays(self.spaces)
        given = self.x, self.label, self.weight, self.start, *self.forward(), nets, spaces
        learn_spaces(*given, target, step_size, mixing)
        return nets, spaces


def copy_arrays(arrays):
    return type(arrays)(*(array.copy() for array in arrays))


def draw(seed, n, size, classes, weight=1.0):
    """A row in the midst of a stream: no weight is what it was at the start."""
    rng = np.random.default_rng(seed)
    nets = Nets.draw(rng, n, UNITS, COLUMNS, classes)
    nets.outer[:, :, -1] = 0.3 * rng.normal(size=(n, classes))
    spaces = LatentSpaces.draw(rng, n, classes, size, 1.0)
    spaces.space_weights[:] += 0.3 * rng.normal(size=spaces.space_weights.shape)
    label = np.zeros(classes)
    label[rng.integers(classes)] = 1.0 if classes > 1 else rng.integers(2)
    x = np.append(rng.normal(size=COLUMNS), 1.0)
    return Row(x, label, weight, rng.normal(size=classes), nets, spaces)


def z_of(output, net_weights, t):
    """z of the first t nets, (classes, P)."""
    return sum(
        (net_weights[k] * output[k][:, None] for k in range(t)), np.zeros(net_weights.shape[1:])
    )


def score(output, net_weights, space_weights, start, t):
    """F_t = F₀ + Σ_p a_p·relu(Σ_{k≤t} A_kp·h_k) of each class."""
    return start + (space_weights[0] * np.maximum(z_of(output, net_weights, t), 0)).sum(axis=1)


def loss(scores, label):
    """Minus the logarithm of the probability of the row's own class."""
    if scores.size == 1:
        return np.logaddexp(0, -scores[0] if label[0] else scores[0])
    return np.logaddexp.reduce(scores) - scores @ label


def slopes(function, array, step=1e-6):
    """The derivative of a function by each number of an array."""
    found = np.empty(array.shape)
    for place in np.ndindex(array.shape):
        up, down = array.copy(), array.copy()
        up[place] += step
        down[place] -= step
        found[place] = (function(up) - function(down)) / (2 * step)
    return found


def far_from_kinks(output, net_weights, least=1e-3):
    return all(
        np.abs(z_of(output, net_weights, t)).min() > least for t in range(1, len(net_weights) + 1)
    )


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


@SCORES
@given(seeds, numbers_of_nets, sizes)
def test_scores_are_those_of_the_definition(classes, seed, n, size):
    row = draw(seed, n, size, classes)
    _, output = row.forward()
    found, contributions = row.start.copy(), np.full((classes, size), np.nan)
    add_spaces(output, row.spaces.net_weights, row.spaces.space_weights, contributions, found)
    expected = score(output, row.spaces.net_weights, row.spaces.space_weights, row.start, n)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        row.start + contributions.sum(axis=1), expected, rtol=1e-12, atol=1e-12
    )
    np.testing.assert_array_equal(contributions != 0, z_of(output, row.spaces.net_weights, n) > 0)


@TARGETS
@SCORES
@given(seeds, numbers_of_nets, sizes, st.sampled_from([0.3, 1.0, 1.5]))
def test_spaces_descend_the_losses_of_partial_sums(target, classes, seed, n, size, weight):
    row = draw(seed, n, size, classes, weight)
    _, output = row.forward()
    net_weights, space_weights = row.spaces.net_weights, row.spaces.space_weights
    assume(far_from_kinks(output, net_weights))
    # The steps are long: any that began where another had ended would be seen.
    _, after = row.learned(target, StepSize(0.5, False, 1.0), StepSize(0.5, False, 1.0))

    def loss_of(net_weights, space_weights, t):
        return weight * loss(score(output, net_weights, space_weights, row.start, t), row.label)

    for t in range(n):

        def of_one_net(weights, t=t):
            changed = net_weights.copy()
            changed[t] = weights
            return loss_of(changed, space_weights, t + 1)

        close((after.net_weights[t] - net_weights[t]) / 0.5, -slopes(of_one_net, net_weights[t]))

    def mean_loss(weights):
        return np.mean([loss_of(net_weights, weights, t) for t in range(1, n + 1)])

    close((after.space_weights - space_weights) / 0.5, -slopes(mean_loss, space_weights))
    np.testing.assert_array_equal(after.net_weights_sum, row.spaces.net_weights_sum)
    np.testing.assert_array_equal(after.space_weights_sum, row.spaces.space_weights_sum)


def probability_of(scores):
    """By finite differences of the loss: its slope is probability - label."""
    nothing = np.zeros(scores.size)
    if scores.size > 1:
        nothing[0] = 1.0
    return slopes(lambda s: loss(s, nothing), scores) + nothing


def objective(row, target, t):
    """What net ``t`` descends, as a function of its output."""
    _, output = row.forward()
    net_weights, space_weights = row.spaces.net_weights, row.spaces.space_weights
    if target == LOSS:

        def lost(h):
            heard = output.copy()
            heard[t] = h
            return row.weight * loss(
                score(heard, net_weights, space_weights, row.start, t + 1), row.label
            )

        return lost
    goal = row.label - probability_of(score(output, net_weights, space_weights, row.start, t))
    if target == SLOPE:
        # What a unit of the net adds. From both sides, gates at 0 are half open.
        sides = []
        for unit in (1e-7, -1e-7):
            heard = output.copy()
            heard[t] = unit
            sides.append(score(heard, net_weights, space_weights, row.start, t + 1))
        goal = goal * (sides[0] - sides[1]) / 2e-7
    return lambda h: row.weight * ((h - goal) ** 2).sum() / 2


@TARGETS
@SCORES
@given(seeds, numbers_of_nets, sizes, st.sampled_from([0.3, 1.0, 1.5]))
def test_every_net_descends_its_target(target, classes, seed, n, size, weight):
    row = draw(seed, n, size, classes, weight)
    _, output = row.forward()
    assume(far_from_kinks(output, row.spaces.net_weights))
    after, _ = row.learned(target, StepSize(0.5, False, 1.0), StepSize(0.5, False, 1.0))
    for t in range(n):
        goal = objective(row, target, t)
        inner, outer = row.nets.inner[t], row.nets.outer[t]
        assume(np.abs(slopes(goal, output[t])).max() < LARGEST_GRADIENT)

        def of_inner(weights, outer=outer, goal=goal):
            return goal(outer @ np.append(np.tanh(weights @ row.x), 1.0))

        def of_outer(weights, inner=inner, goal=goal):
            return goal(weights @ np.append(np.tanh(inner @ row.x), 1.0))

        close((after.inner[t] - inner) / 0.5, -slopes(of_inner, inner))
        close((after.outer[t] - outer) / 0.5, -slopes(of_outer, outer))


@TARGETS
@SCORES
def test_gradients_of_a_heavy_row_are_clipped(target, classes):
    row = draw(0, 3, 4, classes, 1e9)
    hidden, _ = row.forward()
    nets, spaces = row.learned(target, StepSize(0.5, False, 1.0), StepSize(0.5, False, 1.0))
    expected = copy_arrays(row.nets)
    gradient = np.sign(nets.outer[:, :, -1] - row.nets.outer[:, :, -1])
    for t in range(3):
        backward(
            t, row.x, hidden, LARGEST_GRADIENT * gradient[t], *expected, StepSize(0.5, False, 1.0)
        )
    assert gradient.any()
    for now, then in zip(nets, expected, strict=True):
        np.testing.assert_allclose(now, then, rtol=1e-12)
    for now, then in zip(spaces, row.spaces, strict=True):
        assert np.abs(now - then).max() <= 0.5 * LARGEST_GRADIENT + 1e-9


@SCORES
@given(seeds, numbers_of_nets, sizes)
def test_adaptive_steps_have_the_lengths_of_adagrad(classes, seed, n, size):
    """Constant steps of rate 1 show the gradients."""
    row = draw(seed, n, size, classes)
    rng = np.random.default_rng(seed)
    for sums in (row.spaces.net_weights_sum, row.spaces.space_weights_sum):
        sums[:] = rng.random(sums.shape)
    rate_one, adaptive = StepSize(1.0, False, 1.0), StepSize(0.2, True, 0.9)
    _, plain = row.learned(LOSS, rate_one, rate_one)
    _, after = row.learned(LOSS, adaptive, adaptive)
    _, output = row.forward()
    for which in ("net_weights", "space_weights"):
        before, sums = getattr(row.spaces, which), getattr(row.spaces, which + "_sum")
        gradient = getattr(plain, which) - before
        grown = 0.9 * sums + gradient**2
        if which == "net_weights":
            # A closed gate: the weight is not touched, and its sum does not fade.
            closed = np.array([z_of(output, before, t + 1) <= 0 for t in range(n)])
            grown[closed] = sums[closed]
        moved = before + 0.2 * gradient / np.sqrt(grown + 1e-8)
        np.testing.assert_allclose(getattr(after, which + "_sum"), grown, rtol=1e-9)
        np.testing.assert_allclose(getattr(after, which), moved, rtol=1e-9, atol=1e-10)


@TARGETS
@SCORES
@given(seeds)
def test_a_row_of_no_weight_leaves_all_as_it_was(target, classes, seed):
    row = draw(seed, 3, 4, classes, 0.0)
    for before, after in zip(
        (row.nets, row.spaces),
        row.learned(target, StepSize(0.5, False, 1.0), StepSize(0.5, False, 1.0)),
        strict=True,
    ):
        for then, now in zip(before, after, strict=True):
            np.testing.assert_array_equal(now, then)


def begin(rng, n, size, classes, jitter):
    nets = Nets.draw(rng, n, UNITS, COLUMNS, classes)
    return nets, LatentSpaces.draw(rng, n, classes, size, jitter)


@given(seeds, numbers_of_nets, st.integers(1, 7), st.integers(1, 3), st.sampled_from([0.0, 0.3]))
def test_spaces_are_drawn_in_shape(seed, n, size, classes, jitter):
    spaces = LatentSpaces.draw(np.random.default_rng(seed), n, classes, size, jitter)
    assert spaces.net_weights.shape == spaces.net_weights_sum.shape == (n, classes, size)
    assert spaces.space_weights.shape == spaces.space_weights_sum.shape == (1, classes, size)
    assert not spaces.net_weights_sum.any()
    assert not spaces.space_weights_sum.any()
    distinct = np.unique(spaces.net_weights).size
    assert distinct == (spaces.net_weights.size if jitter else min(size, 2))


def weight_of_nets(row, rate=1e-3):
    """What a unit of each net adds to F_t: its gradient at the loss, over that of F_t itself."""
    nets, _ = row.learned(LOSS, StepSize(rate, False, 1.0), StepSize(0.0, False, 1.0))
    gradient = (nets.outer[:, :, -1] - row.nets.outer[:, :, -1]) / rate
    _, output = row.forward()
    net_weights, space_weights = row.spaces.net_weights, row.spaces.space_weights
    partial = [
        score(output, net_weights, space_weights, row.start, t + 1) for t in range(len(net_weights))
    ]
    return gradient / [row.label - probability_of(scores) for scores in partial]


@SCORES
@given(seeds, st.integers(1, 20), st.integers(2, 7))
def test_at_first_the_nets_are_added_and_every_row_is_learned(classes, seed, n, size):
    rng = np.random.default_rng(seed)
    nets, spaces = begin(rng, n, size, classes, 0.0)
    label = np.zeros(classes)
    label[-1] = 1.0
    # Near 0, or the probability by finite differences is too rough to divide by.
    start = rng.normal(size=classes)
    row = Row(np.append(rng.normal(size=COLUMNS), 1.0), label, 1.0, start, nets, spaces)
    _, output = row.forward()
    assume(np.abs(output.cumsum(axis=0)).min() > 1e-6)
    found, contributions = start.copy(), np.empty((classes, size))
    add_spaces(output, spaces.net_weights, spaces.space_weights, contributions, found)
    np.testing.assert_allclose(found, start + output.sum(axis=0), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(weight_of_nets(row), 1.0, rtol=1e-4)


@pytest.mark.parametrize("start", [-12.0, 12.0, 0.0])
@pytest.mark.parametrize("size", [2, 5, 10])
def test_no_row_finds_all_gates_closed_however_rare_the_positives(start, size):
    rng = np.random.default_rng(1)
    nets, spaces = begin(rng, 20, size, 1, 0.01)
    missed = np.array([1.0 if start < 0 else 0.0])
    slope = []
    for x in rng.normal(size=(200, COLUMNS)):
        row = Row(np.append(x, 1.0), missed, 1.0, np.array([start]), nets, spaces)
        _, output = row.forward()
        # Jitter decides where the nets say 0 in sum.
        if np.abs(output.cumsum(axis=0)).min() > 0.01 * np.abs(output).sum():
            slope.append(weight_of_nets(row)[:, 0])
    assert len(slope) > 50
    np.testing.assert_allclose(slope, 1.0, atol=0.05)


def probability(*scores):
    found = np.full(len(scores), np.nan)
    probabilities(np.array(scores, dtype=float), found)
    return found


@given(st.lists(st.floats(-30, 30), min_size=1, max_size=5))
def test_probabilities_are_those_of_the_losses(scores):
    expected = 1 / (1 + np.exp(-scores[0]))
    if len(scores) > 1:
        expected = np.exp(scores) / np.exp(scores).sum()
    np.testing.assert_allclose(probability(*scores), expected, rtol=1e-10)


def test_probabilities_are_right_far_out():
    assert probability(1e4) == [1.0]
    assert probability(-1e4) == [0.0]
    assert probability(0.0) == [0.5]
    assert probability(-700.0) == pytest.approx(np.exp(-700.0), rel=1e-12)
    np.testing.assert_array_equal(probability(1e4, -1e4, -1e4), [1, 0, 0])
    np.testing.assert_array_equal(probability(-1e4, -1e4, 1e4), [0, 0, 1])
    np.testing.assert_allclose(probability(-1e4, -1e4), 0.5)
    np.testing.assert_allclose(probability(1e4, 1e4, 1e4), 1 / 3)
    assert probability(-1e4, -1e4 + 1)[1] == pytest.approx(1 / (1 + np.exp(-1)))


@TARGETS
@SCORES
@pytest.mark.parametrize("adaptive", [False, True])
def test_the_loss_of_rows_to_come_falls(target, classes, adaptive):
    rng = np.random.default_rng(3)
    nets, spaces = begin(rng, 10, 6, classes, 0.3)
    start = np.zeros(classes)
    mixing = StepSize(0.01, adaptive, 1.0)
    lost = np.empty(4000)
    for i, x in enumerate(rng.normal(size=(lost.size, COLUMNS))):
        side = int(x[0] * x[1] > 0) + int(x[2] > 1)
        label = np.eye(3)[side] if classes > 1 else np.array([float(side > 0)])
        row = Row(np.append(x, 1.0), label, 1.0, start, nets, spaces)
        hidden, output = row.forward()
        lost[i] = loss(score(output, spaces.net_weights, spaces.space_weights, start, 10), label)
        learn_spaces(
            *row[:4], hidden, output, nets, spaces, target, StepSize(0.1, adaptive, 1.0), mixing
        )
    assert lost[-1000:].mean() < 0.8 * lost[:200].mean()
    assert lost[-1000:].mean() < 0.9 * (np.log(3) if classes > 1 else np.log(2))
