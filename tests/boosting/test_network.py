import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rarefind.boosting._network import Loss, Network, NetworkBuilder, _ridge_solve

seeds = st.integers(0, 10**6)
# One score is the logistic loss of two classes, more are the softmax.
numbers_of_scores = st.sampled_from([1, 3])


def naive_scores(learned, network):
    """F = F₀ + Σ_p a_p·relu(Σ_t A_tp·h_t), a row and a score at a time."""
    scores = np.zeros((len(learned), network.start.size))
    for i, h in enumerate(learned):
        for k in range(network.start.size):
            total = network.start[k]
            for p in range(network.inner.shape[1]):
                z = sum(network.inner[t, p] * h[t] for t in range(len(h)))
                total += network.outer[p, k] * max(z, 0.0)
            scores[i, k] = total
    return scores


def random_loss(rng, n, k):
    weight = rng.uniform(0.2, 2, n)
    if k == 1:
        return Loss((rng.random((n, 1)) < 0.3).astype(float), weight)
    return Loss(np.eye(k)[rng.integers(0, k, n)], weight)


def naive_loss(loss, scores):
    """−Σ w·log(probability of the row's own class)."""
    total = 0.0
    for target, weight, score in zip(loss.target, loss.weight, scores, strict=True):
        if score.size == 1:
            chance = 1 / (1 + np.exp(-score[0]))
            own = chance if target[0] else 1 - chance
        else:
            own = np.exp(score[target.argmax()]) / np.exp(score).sum()
        total -= weight * np.log(own)
    return total


def builder(rng, n=40, k=1, block=6, learners=0, jitter=None):
    """A network in the making, with some learners that are drawn at random."""
    made = NetworkBuilder(random_loss(rng, n, k), rng.normal(size=k), block, rng)
    for t in range(learners):
        take_in(made, rng, t % k, jitter)
    return made


def take_in(made, rng, score, jitter=None, size=0.3):
    """A learner that goes downhill, with noise."""
    residual = made.loss.derivatives(made.scores)[0][:, score]
    learned = size * (residual + 0.3 * rng.normal(size=len(residual)))
    weights, _ = made.propose(score, jitter, align=True)
    made.add(learned, weights)
    return learned


def changed(network, inner):
    return Network(inner, network.outer, network.start)


@given(seeds, st.integers(1, 4), st.integers(2, 5), st.integers(1, 3))
def test_scores_are_those_of_three_loops(seed, learners, spaces, scores):
    rng = np.random.default_rng(seed)
    inner = rng.integers(-2, 3, (learners, spaces)) / 2
    network = Network(inner, rng.normal(size=(spaces, scores)), rng.normal(size=scores))
    # Halves of small numbers: z is often exactly 0, where the gate is shut.
    learned = rng.integers(-2, 3, (8, learners)) / 2
    expected = naive_scores(learned, network)
    np.testing.assert_allclose(network.scores(learned), expected, rtol=1e-12, atol=1e-12)
    fortran = np.asfortranarray(learned)
    np.testing.assert_array_equal(network.scores(fortran), network.scores(learned))


@given(seeds)
def test_the_scores_of_a_row_do_not_depend_on_others(seed):
    rng = np.random.default_rng(seed)
    network = Network(rng.normal(size=(7, 10)), rng.normal(size=(10, 2)), rng.normal(size=2))
    learned = rng.normal(size=(9, 7))
    alone = np.concatenate([network.scores(learned[i : i + 1]) for i in range(9)])
    np.testing.assert_array_equal(network.scores(learned), alone)


@given(seeds, numbers_of_scores)
def test_the_loss_and_its_derivatives_are_those_of_finite_differences(seed, k):
    rng = np.random.default_rng(seed)
    loss, scores, step = random_loss(rng, 12, k), rng.normal(size=(12, k)), 1e-4
    assert loss.value(scores) == pytest.approx(naive_loss(loss, scores), rel=1e-10)
    residual, curvature = loss.derivatives(scores)
    for i in range(12):
        for j in range(k):
            at = []
            for move in (-step, 0.0, step):
                moved = scores.copy()
                moved[i, j] += move
                at.append(naive_loss(loss, moved))
            assert -(at[2] - at[0]) / (2 * step) == pytest.approx(residual[i, j], abs=1e-6)
            second = (at[2] - 2 * at[1] + at[0]) / step**2
            assert second == pytest.approx(curvature[i, j], abs=1e-5)


@pytest.mark.parametrize("k", [1, 3])
def test_the_loss_is_finite_far_out(k):
    rng = np.random.default_rng(0)
    loss = random_loss(rng, 20, k)
    for size in (40.0, 1e3, 1e6):
        scores = size * rng.choice([-1.0, 1.0], (20, k))
        residual, curvature = loss.derivatives(scores)
        assert np.isfinite(loss.value(scores))
        assert np.isfinite(residual).all()
        assert (curvature > 0).all()


@given(seeds, st.sampled_from([2, 3, 6, 7]), st.sampled_from([None, 0.0, 0.3]), numbers_of_scores)
def test_the_first_learner_of_a_block_adds_what_it_is(seed, block, jitter, k):
    rng = np.random.default_rng(seed)
    loss = random_loss(rng, 30, k)
    made = NetworkBuilder(loss, np.zeros(k), block, rng)
    score = int(rng.integers(k))
    weights, slope = made.propose(score, jitter, align=True)
    expected = np.zeros((30, k))
    expected[:, score] = 1.0
    np.testing.assert_array_equal(slope, expected)
    # Downhill, and so small that no weight is halved.
    learned = 0.1 * loss.derivatives(made.scores)[0][:, score]
    made.add(learned, weights)
    np.testing.assert_allclose(made.scores, expected * learned[:, None], rtol=1e-12, atol=1e-15)


@given(seeds, st.booleans(), st.sampled_from([None, 0.0, 0.3]), numbers_of_scores)
def test_the_slope_is_what_a_unit_of_the_learner_adds(seed, align, jitter, k):
    rng = np.random.default_rng(seed)
    made = builder(rng, k=k, learners=3 * k, jitter=jitter)
    score = int(rng.integers(k))
    weights, slope = made.propose(score, jitter, align)
    z, step = made._z, 1e-7
    steady = (np.abs(z) > 10 * step * np.abs(weights)).all(axis=1)
    assume(steady.any())
    before = made.start + np.maximum(z, 0) @ made.outer
    after = made.start + np.maximum(z + step * weights, 0) @ made.outer
    found = (after - before) / step
    # Weights outside the block are 0, so other scores stay.
    np.testing.assert_allclose(found[steady], slope[steady], rtol=1e-5, atol=1e-6)


@given(seeds)
def test_aligned_weights_add_about_what_the_learner_is(seed):
    rng = np.random.default_rng(seed)
    made = builder(rng, n=200, learners=4)
    curvature = made.loss.derivatives(made.scores)[1][:, 0]
    state = made._rng.bit_generator.state
    drawn, plain = made.propose(0, None, align=False)
    made._rng.bit_generator.state = state
    moved, aligned = made.propose(0, None, align=True)
    assert not np.array_equal(drawn, moved)
    off, before = curvature @ (aligned[:, 0] - 1) ** 2, curvature @ (plain[:, 0] - 1) ** 2
    assert off < before


@given(seeds)
def test_aligned_weights_are_those_of_ridge_regression(seed):
    """Of what is missing to 1, weighted by curvature, on the gates times the outer weights."""
    rng = np.random.default_rng(seed)
    made = builder(rng, learners=3)
    curvature = made.loss.derivatives(made.scores)[1][:, 0]
    state = made._rng.bit_generator.state
    drawn, _ = made.propose(0, None, align=False)
    made._rng.bit_generator.state = state
    moved, _ = made.propose(0, None, align=True)
    gates = np.where(made._z > 0, made.outer[:, 0], 0.0)
    ridge = 0.1 * (curvature @ gates**2).mean()
    left = ridge * (moved - drawn)
    right = gates.T @ (curvature * (1 - gates @ moved))
    np.testing.assert_allclose(left, right, rtol=1e-6, atol=1e-7 * np.abs(right).max() + 1e-8)


def spied_step(made, learned, rate, monkeypatch):
    """The step that ``turn`` wants to take before it is clipped, with pull and curvature."""
    seen = {}

    def spy(bend, pull):
        seen["bend"], seen["pull"] = bend, pull
        seen["step"] = _ridge_solve(bend, pull)
        return seen["step"]

    monkeypatch.setattr("rarefind.boosting._network._ridge_solve", spy)
    made.turn(learned, rate)
    return seen


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [1, 3])
def test_a_turn_is_pulled_by_minus_the_gradient(monkeypatch, seed, k):
    rng = np.random.default_rng(seed)
    made = builder(rng, k=k, learners=3 * k)
    learned = take_in(made, rng, 0)
    z, outer, start = made._z.copy(), made.outer.copy(), made.start
    residual_scores = made.scores.copy()
    seen = spied_step(made, learned, 1.0, monkeypatch)
    step = 1e-6
    for p in range(len(outer)):
        at = []
        for move in (-step, step):
            there = z.copy()
            there[:, p] += move * learned
            assert ((there > 0) == (z > 0))[:, p].all()
            at.append(made.loss.value(start + np.maximum(there, 0) @ outer))
        slope = (at[1] - at[0]) / (2 * step)
        assert -slope == pytest.approx(seen["pull"][p], rel=1e-4, abs=1e-7)
    # The curvature is that of each score on its own.
    curvature = made.loss.derivatives(residual_scores)[1]
    expected = np.zeros((len(outer), len(outer)))
    for i in range(len(z)):
        for score in range(k):
            shown = (z[i] > 0) * outer[:, score] * learned[i]
            expected += curvature[i, score] * np.outer(shown, shown)
    np.testing.assert_allclose(seen["bend"], expected, rtol=1e-10, atol=1e-14)


@given(seeds, st.floats(0.01, 1))
def test_a_turn_moves_the_weights_of_the_last_learner_only(seed, rate):
    rng = np.random.default_rng(seed)
    made = builder(rng, learners=4)
    learned = take_in(made, rng, 0)
    before = np.array(made.inner)
    made.turn(learned, rate)
    after = np.array(made.inner)
    np.testing.assert_array_equal(before[:-1], after[:-1])
    assert 0 < np.abs(after - before).max() <= 1.0 + 1e-9


@given(seeds, numbers_of_scores, st.floats(0.01, 30), st.sampled_from([None, 0.0, 0.3]))
@settings(max_examples=60)
def test_the_loss_never_rises_and_what_is_kept_is_the_network(seed, k, size, jitter):
    """However wild the learners are; the rows' representations stay those of the weights."""
    rng = np.random.default_rng(seed)
    made = builder(rng, k=k, block=4)
    columns, last = [], made.value
    for t in range(4 * k):
        align = bool(rng.integers(2))
        weights, _ = made.propose(t % k, jitter, align)
        learned = size * rng.normal(size=40) * (rng.random(40) < 0.7)
        columns.append(learned)
        for move in (
            lambda w=weights, h=learned: made.add(h, w),
            lambda h=learned: made.turn(h, 1.0),
            lambda: made.weigh(1.0),
        ):
            move()
            assert made.value <= last
            last = made.value
        assert made.value == made.loss.value(made.scores)
        scores = naive_scores(np.column_stack(columns), made.network())
        scale = 1 + np.abs(scores).max()
        np.testing.assert_allclose(made.scores / scale, scores / scale, atol=1e-9)
        assert np.isfinite(made.network().inner).all()
        assert np.isfinite(made.network().outer).all()


@given(seeds)
def test_weighing_moves_outer_weights_of_open_gates_in_their_own_score(seed):
    rng = np.random.default_rng(seed)
    made = builder(rng, k=3, block=4, learners=6)
    before = made.outer.copy()
    value = made.value
    made.weigh(1.0)
    assert made.value < value
    assert ((before == 0) <= (made.outer == 0)).all()
    for score in range(3):
        own = np.zeros(12, dtype=bool)
        own[4 * score : 4 * score + 4] = True
        assert (made.outer[~own, score] == 0).all()


def test_one_weight_takes_a_newton_step():
    """With two representations of which one is shut the step is known by hand."""
    rng = np.random.default_rng(3)
    loss = random_loss(rng, 30, 1)
    made = NetworkBuilder(loss, np.zeros(1), 2, rng)
    weights, _ = made.propose(0, 0.0, align=True)
    # Downhill for positives only; nothing is below 0, so the second gate is shut.
    learned = 0.1 * loss.target[:, 0]
    made.add(learned, weights)
    before, scores = made.outer.copy(), made.scores.copy()
    residual, curvature = loss.derivatives(scores)
    step = residual[:, 0] @ learned / (1.1 * (curvature[:, 0] @ learned**2))
    made.weigh(0.25)
    assert made.outer[0, 0] - before[0, 0] == pytest.approx(0.25 * step)
    assert made.outer[1, 0] == before[1, 0] == -1.0


def test_a_learner_that_only_harms_is_left_out():
    rng = np.random.default_rng(0)
    loss = random_loss(rng, 30, 1)
    made = NetworkBuilder(loss, np.zeros(1), 6, rng)
    weights, _ = made.propose(0, 0.0, align=True)
    made.add(loss.derivatives(made.scores)[0][:, 0], weights)
    value = made.value
    weights, _ = made.propose(0, 0.0, align=True)
    made.add(-1e4 * (loss.target[:, 0] - 0.5), weights)
    assert made.value == value
    np.testing.assert_array_equal(made.inner[-1], np.zeros(6))


def test_weights_of_a_learner_that_goes_too_far_are_halved():
    rng = np.random.default_rng(0)
    loss = random_loss(rng, 200, 1)
    made = NetworkBuilder(loss, np.zeros(1), 2, rng)
    weights, _ = made.propose(0, 0.0, align=True)
    noise = rng.normal(size=200)
    learned = 8 * ((loss.target[:, 0] - 0.5) + noise)
    made.add(learned, weights)
    halvings = -np.log2(np.abs(made.inner[0]))
    assert (halvings == np.round(halvings)).all()
    assert halvings[0] > 0
    # One halving less would have made the loss rise.
    twice = 2 * np.array(made.inner)
    worse = naive_scores(learned[:, None], changed(made.network(), twice))
    assert loss.value(worse) > loss.value(np.zeros((200, 1)))


def test_a_first_learner_that_is_nothing_leaves_the_gates_to_the_next():
    rng = np.random.default_rng(0)
    loss = random_loss(rng, 20, 1)
    made = NetworkBuilder(loss, np.zeros(1), 4, rng)
    weights, _ = made.propose(0, None, align=True)
    made.add(np.zeros(20), weights)  # a tree without a split and without a value
    value = made.value
    made.turn(np.zeros(20), 1.0)
    made.weigh(1.0)
    assert made.value == value
    weights, slope = made.propose(0, None, align=True)
    np.testing.assert_array_equal(slope, np.ones((20, 1)))
    learned = 0.1 * loss.derivatives(made.scores)[0][:, 0]
    made.add(learned, weights)
    np.testing.assert_allclose(made.scores[:, 0], learned, atol=1e-12)
    assert made.value < value


def test_with_all_gates_shut_nothing_moves_and_nothing_is_nan():
    rng = np.random.default_rng(0)
    loss = random_loss(rng, 20, 1)
    made = NetworkBuilder(loss, np.zeros(1), 4, rng)
    made.propose(0, None, align=True)
    made.inner.append(np.full(4, -1.0))
    made._z = np.full((20, 4), -1.0)
    value = made.value
    weights, slope = made.propose(0, None, align=True)
    assert np.isfinite(weights).all()
    np.testing.assert_array_equal(slope, np.zeros((20, 1)))
    made.turn(np.full(20, 0.1), 1.0)
    made.weigh(1.0)
    assert made.value == value
    assert np.isfinite(made.network().inner).all()
    assert np.isfinite(made.network().outer).all()


def test_a_representation_without_curvature_takes_the_mean_of_the_others():
    bend, pull = np.diag([4.0, 0.0]), np.array([1.0, 1.0])
    # A tenth of the mean curvature, 2, stands in behind the shut gate.
    np.testing.assert_allclose(_ridge_solve(bend, pull), [1 / 4.2, 1 / 0.2], rtol=1e-8)
    np.testing.assert_array_equal(_ridge_solve(np.zeros((2, 2)), np.zeros(2)), np.zeros(2))
    assert np.isfinite(_ridge_solve(np.zeros((2, 2)), pull)).all()


@given(seeds)
def test_slopes_are_what_a_unit_of_each_learner_adds_to_the_first_score(seed):
    rng = np.random.default_rng(seed)
    network = Network(rng.normal(size=(4, 6)), rng.normal(size=(6, 2)), rng.normal(size=2))
    learned, step = rng.normal(size=(10, 4)), 1e-7
    slopes = network.slopes(learned)
    z = learned @ network.inner
    steady = (np.abs(z) > 1e-5).all(axis=1)
    for t in range(4):
        moved = learned.copy()
        moved[:, t] += step
        found = (network.scores(moved) - network.scores(learned))[:, 0] / step
        np.testing.assert_allclose(found[steady], slopes[steady, t], rtol=1e-5, atol=1e-6)
    # Where no gate moves the score is the slopes times the learners.
    whole = network.start[0] + (slopes * learned).sum(axis=1)
    np.testing.assert_allclose(whole, network.scores(learned)[:, 0], rtol=1e-9, atol=1e-9)


@given(seeds, st.sampled_from([2, 4, 6]))
def test_mirrored_weights_without_noise_are_a_sum_of_learners(seed, block):
    rng = np.random.default_rng(seed)
    loss = random_loss(rng, 40, 1)
    made = NetworkBuilder(loss, np.zeros(1), block, rng)
    total = np.zeros(40)
    for _ in range(4):
        weights, slope = made.propose(0, 0.0, align=True)
        if total.any():
            np.testing.assert_allclose(slope[:, 0], 1.0, rtol=1e-9)
        learned = 0.1 * loss.derivatives(made.scores)[0][:, 0]
        made.add(learned, weights)
        total += learned
    np.testing.assert_allclose(made.scores[:, 0], total, rtol=1e-9, atol=1e-12)
