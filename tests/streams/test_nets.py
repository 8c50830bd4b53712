import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rarefind.streams._nets import LARGEST_GRADIENT, Nets, StepSize, backward, forward, step_weight

# Nets, units, columns and outputs; the larger ones fill the registers of a machine.
shapes = st.one_of(
    st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3)),
    st.sampled_from([(2, 9, 17, 1), (1, 16, 33, 5), (3, 1, 40, 2)]),
)
seeds = st.integers(0, 10**6)


def draw(seed, shape):
    """Nets with offsets of all kinds, and a row for them."""
    n, hidden, d, outputs = shape
    rng = np.random.default_rng(seed)
    nets = Nets.draw(rng, n, hidden, d, outputs)
    nets.outer[:, :, -1] = rng.normal(size=(n, outputs))
    return rng, nets, np.append(rng.normal(size=d), 1.0)


def naive_hidden(nets, x):
    return np.tanh(nets.inner @ x)


def naive_output(nets, x):
    units = naive_hidden(nets, x)
    return np.array(
        [outer[:, :-1] @ h + outer[:, -1] for outer, h in zip(nets.outer, units, strict=True)]
    )


def copy_arrays(nets):
    return Nets(*(array.copy() for array in nets))


def after_step(nets, t, x, gradient, step_size):
    """The nets after net ``t`` has learned."""
    after = copy_arrays(nets)
    backward(t, x, naive_hidden(nets, x), gradient, *after, step_size)
    return after


def slopes(function, array, step=1e-5):
    """The derivative of a function by each number of an array, which is put back as it was."""
    found = np.empty(array.shape)
    for place in np.ndindex(array.shape):
        own, at = array[place], []
        for away in (step, -step):
            array[place] = own + away
            at.append(function())
        array[place] = own
        found[place] = (at[0] - at[1]) / (2 * step)
    return found


@given(seeds, shapes)
def test_nets_are_drawn_in_shape_and_differ(seed, shape):
    n, hidden, d, outputs = shape
    nets = Nets.draw(np.random.default_rng(seed), n, hidden, d, outputs)
    assert nets.inner.shape == nets.inner_sum.shape == (n, hidden, d + 1)
    assert nets.outer.shape == nets.outer_sum.shape == (n, outputs, hidden + 1)
    assert np.unique(nets.inner).size == nets.inner.size
    assert np.unique(nets.outer[:, :, :-1]).size == n * outputs * hidden
    assert not nets.outer[:, :, -1].any()
    assert not nets.inner_sum.any()
    assert not nets.outer_sum.any()
    for array in nets:
        assert array.flags.c_contiguous
        assert array.flags.writeable


def test_inputs_of_units_and_outputs_of_nets_have_variance_1():
    rng = np.random.default_rng(0)
    nets = Nets.draw(rng, 2000, 3, 20, 2)
    x = rng.choice([-1.0, 1.0], 21)
    assert (nets.inner @ x).std() == pytest.approx(1, rel=0.05)
    output = np.einsum("tjk,tk->tj", nets.outer[:, :, :-1], rng.choice([-1.0, 1.0], (2000, 3)))
    assert output.std() == pytest.approx(1, rel=0.05)


@given(seeds, shapes)
def test_outputs_are_those_of_two_layers(seed, shape):
    n, hidden, _, outputs = shape
    _, nets, x = draw(seed, shape)
    before = copy_arrays(nets)
    units, output = np.full((n, hidden), np.nan), np.full((n, outputs), np.nan)
    forward(x, nets.inner, nets.outer, units, output)
    np.testing.assert_allclose(units, naive_hidden(nets, x), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(output, naive_output(nets, x), rtol=1e-12, atol=1e-13)
    for now, then in zip(nets, before, strict=True):
        np.testing.assert_array_equal(now, then)


@given(seeds, shapes, st.sampled_from([1e-3, 0.5]))
def test_a_constant_step_goes_along_the_gradient(seed, shape, rate):
    rng, nets, x = draw(seed, shape)
    t = int(rng.integers(shape[0]))
    gradient = rng.normal(size=shape[3])
    after = after_step(nets, t, x, gradient, StepSize(rate, False, 0.5))

    def loss():
        return -gradient @ naive_output(nets, x)[t]

    inner, outer = slopes(loss, nets.inner), slopes(loss, nets.outer)
    # Nets other than t are in these, too: they stay.
    np.testing.assert_allclose((after.inner - nets.inner) / rate, -inner, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose((after.outer - nets.outer) / rate, -outer, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(after.inner_sum, nets.inner_sum)
    np.testing.assert_array_equal(after.outer_sum, nets.outer_sum)


def naive_step(weights, sums, g, step_size):
    sums = step_size.keep * sums + g**2
    return weights + step_size.rate * g / np.sqrt(sums + 1e-8), sums


@given(seeds, shapes, st.sampled_from([1.0, 0.9, 0.0]), st.sampled_from([1e-6, 1.0, 8.0]))
def test_adaptive_steps_are_over_the_root_of_the_squares_so_far(seed, shape, keep, size):
    rng, nets, x = draw(seed, shape)
    t, step_size = int(rng.integers(shape[0])), StepSize(0.3, True, keep)
    ours, (inner, outer, inner_sum, outer_sum) = nets, copy_arrays(nets)
    for _ in range(4):
        gradient = np.clip(size * rng.normal(size=shape[3]), -LARGEST_GRADIENT, LARGEST_GRADIENT)
        ours = after_step(ours, t, x, gradient, step_size)
        units = np.tanh(inner[t] @ x)
        back = np.outer((gradient @ outer[t, :, :-1]) * (1 - units**2), x)
        ahead = np.outer(gradient, np.append(units, 1.0))
        inner[t], inner_sum[t] = naive_step(inner[t], inner_sum[t], back, step_size)
        outer[t], outer_sum[t] = naive_step(outer[t], outer_sum[t], ahead, step_size)
        for now, then in zip(ours, (inner, outer, inner_sum, outer_sum), strict=True):
            np.testing.assert_allclose(now, then, rtol=1e-9, atol=1e-10)


@given(st.floats(-1e300, 1e300), st.floats(0, 100), st.sampled_from([1.0, 0.9]), st.booleans())
def test_one_weight_moves_alone_along_its_clipped_gradient(gradient, before, keep, adaptive):
    step_size = StepSize(0.3, adaptive, keep)
    weights, sums = np.arange(3.0), np.full(3, before)
    step_weight(weights, sums, 1, gradient, step_size)
    held = np.clip(gradient, -LARGEST_GRADIENT, LARGEST_GRADIENT)
    moved, grown = 1 + 0.3 * held, before
    if adaptive:
        moved, grown = naive_step(1.0, before, held, step_size)
    np.testing.assert_allclose(weights, [0, moved, 2], rtol=1e-12)
    np.testing.assert_allclose(sums, [before, grown, before], rtol=1e-14)


@pytest.mark.parametrize("step_size", [StepSize(0.1, False, 1.0), StepSize(0.1, True, 0.99)])
def test_a_net_learns_what_one_hidden_layer_can(step_size):
    """Whether a row is off the middle in either column: no straight line separates these."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(-2, 2, (20_000, 2)), np.ones(20_000)])
    Y = (np.abs(X[:, :2]) > 1).astype(float)
    nets = Nets.draw(rng, 1, 12, 2, 2)
    units, output = np.empty((1, 12)), np.empty((1, 2))
    wrong = np.empty(len(X))
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        forward(x, nets.inner, nets.outer, units, output)
        wrong[i] = ((y - output[0]) ** 2).mean()
        backward(0, x, units, y - output[0], *nets, step_size)
    assert wrong[-2000:].mean() < 0.08 < 0.2 < wrong[:100].mean()
