from math import comb, exp, floor, sqrt

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rarefind.streams._linear import (
    ADABOOST,
    ADABOOST_W,
    BBM,
    GRADIENT,
    STREAM,
    Votes,
    linear_learn,
    linear_score,
)
from rarefind.streams._nets import LARGEST_GRADIENT, Nets, StepSize, forward

UNITS = 2
METHODS = pytest.mark.parametrize("method", [BBM, ADABOOST, ADABOOST_W, GRADIENT, STREAM])
SGD = StepSize(0.1, False, 1.0)
ADAGRAD = StepSize(0.1, True, 1.0)

sizes = st.floats(-3, 3, width=32)
rows = st.lists(
    st.tuples(st.tuples(sizes, sizes), st.booleans(), st.sampled_from([0.0, 0.3, 1.0, 1.0, 4.0])),
    min_size=2,
    max_size=8,
)
step_sizes = st.sampled_from([SGD, ADAGRAD, StepSize(0.05, True, 0.9)])


class Booster:
    """The kernels, as an estimator would call them."""

    def __init__(self, method, n, n_features=2, seed=0, edge=0.1, shrink=0.5, step_size=ADAGRAD):
        self.method, self.edge, self.shrink, self.step_size = method, edge, shrink, step_size
        self.nets = Nets.draw(np.random.default_rng(seed), n, UNITS, n_features, 1)
        self.votes = Votes.start(method, n)
        self.hidden, self.output = np.empty((n, UNITS)), np.empty((n, 1))

    def score(self, x):
        self.x = np.append(x, 1.0)
        forward(self.x, self.nets.inner, self.nets.outer, self.hidden, self.output)
        return linear_score(self.method, self.output, self.votes, self.shrink)

    def learn(self, is_positive, weight=1.0):
        given = self.x, is_positive, weight, self.hidden, self.output, self.nets, self.votes
        linear_learn(self.method, *given, self.edge, self.shrink, self.step_size)

    @property
    def arrays(self):
        return [*self.nets, *self.votes]


def clip(value, low, high):
    return min(max(value, low), high)


def sigmoid(z):
    return 1 / (1 + exp(-z)) if z > -700 else 0.0


def sign(z):
    return 1 if z >= 0 else -1


class NaiveNet:
    def __init__(self, inner, outer, step_size):
        self.inner, self.outer, self.step_size = inner.copy(), outer[0].copy(), step_size
        self.inner_sum, self.outer_sum = np.zeros_like(self.inner), np.zeros_like(self.outer)

    def output_of(self, x):
        self.x = x
        self.hidden = np.append(np.tanh(self.inner @ x), 1.0)
        return float(self.outer @ self.hidden)

    def learn(self, gradient):
        if gradient == 0:
            return
        gradient = clip(gradient, -LARGEST_GRADIENT, LARGEST_GRADIENT)
        back = gradient * self.outer[:-1] * (1 - self.hidden[:-1] ** 2)
        self.inner += self.step(self.inner_sum, np.outer(back, self.x))
        self.outer += self.step(self.outer_sum, gradient * self.hidden)

    def step(self, sums, slope):
        if not self.step_size.adaptive:
            return self.step_size.rate * slope
        sums *= self.step_size.keep
        sums += slope**2
        return self.step_size.rate * slope / np.sqrt(sums + 1e-8)


class Naive:
    """What all methods share. The papers count nets from 1 to N, and so do the formulas here."""

    def __init__(self, nets, edge, shrink, step_size):
        self.learners = [
            NaiveNet(*of_one, step_size) for of_one in zip(nets[0], nets[1], strict=True)
        ]
        self.N = len(self.learners)
        self.gamma, self.eta = edge, shrink
        self.t = 0
        self.alpha, self.mistakes = np.zeros(self.N), np.zeros(self.N)

    def forward(self, x):
        self.output = [learner.output_of(x) for learner in self.learners]
        self.votes = [sign(z) for z in self.output]

    @property
    def partial_sums(self):
        return [sum(self.alpha[j] * self.votes[j] for j in range(i)) for i in range(self.N + 1)]

    def score(self):
        return self.partial_sums[-1]

    def learn(self, y, u):
        if u == 0:
            return
        self.t += 1
        gradients = self.update(y, u)
        for learner, gradient in zip(self.learners, gradients, strict=True):
            learner.learn(gradient)

    def by_weight(self, y, u, weights):
        pairs = zip(self.output, weights, strict=True)
        return [u * w * y * sigmoid(-y * output) for output, w in pairs]

    @property
    def arrays(self):
        def stack(name):
            return np.array([getattr(learner, name) for learner in self.learners])

        weights = stack("inner"), stack("outer")[:, None]
        sums = stack("inner_sum"), stack("outer_sum")[:, None]
        return [*weights, *sums, self.alpha, -self.mistakes, np.array([self.t])]


class NaiveBBM(Naive):
    """ICML 2015, Algorithm 1."""

    def __init__(self, *given):
        super().__init__(*given)
        self.alpha += 1

    def update(self, y, u):
        s = [y * partial for partial in self.partial_sums]
        weights = []
        for i in range(1, self.N + 1):
            largest = max(self.w(i, possible) for possible in range(-(i - 1), i, 2))
            weights.append(self.w(i, s[i - 1]) / largest)
        return self.by_weight(y, u, weights)

    def w(self, i, s):
        k = floor((self.N - i - s + 1) / 2)
        if not 0 <= k <= self.N - i:
            return 0.0
        right, wrong = (0.5 + self.gamma) ** k, (0.5 - self.gamma) ** (self.N - i - k)
        return comb(self.N - i, k) * right * wrong


class NaiveAdaBoostW(Naive):
    """ICML 2015, Algorithm 2 with weights, and the sum of all votes."""

    def update(self, y, u):
        s = [y * partial for partial in self.partial_sums]
        for i in range(1, self.N + 1):
            slope = clip(u * sigmoid(-s[i]), 0, LARGEST_GRADIENT) * y * self.votes[i - 1]
            self.alpha[i - 1] = clip(self.alpha[i - 1] + 4 / sqrt(self.t) * slope, -2, 2)
        return self.by_weight(y, u, [sigmoid(-margin) for margin in s[:-1]])


class NaiveAdaBoost(NaiveAdaBoostW):
    """The same, with a mean of the partial sums by what is left of each after exp(-mistakes)."""

    def score(self):
        trust = np.exp(self.mistakes.min() - self.mistakes)
        return trust @ self.partial_sums[1:] / trust.sum()

    def update(self, y, u):
        self.mistakes += [u * (sign(partial) != y) for partial in self.partial_sums[1:]]
        return super().update(y, u)


class NaiveGradient(Naive):
    """NIPS 2015, Algorithm 1, with D = L = 1; ``alpha`` is its sigma."""

    @property
    def bound(self):
        return max(1.0, self.eta * self.N)

    @property
    def partial_sums(self):
        sums = [0.0]
        for sigma, output in zip(self.alpha, self.output, strict=True):
            grown = (1 - sigma * self.eta) * sums[-1] + self.eta * output
            sums.append(clip(grown, -self.bound, self.bound))
        return sums

    def update(self, y, u):
        before = self.partial_sums[:-1]
        slopes = [-y * sigmoid(-y * partial) for partial in before]
        for i in range(self.N):
            slope = clip(u * slopes[i], -LARGEST_GRADIENT, LARGEST_GRADIENT)
            step = slope * before[i] / (self.bound * sqrt(self.t))
            self.alpha[i] = clip(self.alpha[i] + step, 0, 1)
        return [u * (-slope - output) for slope, output in zip(slopes, self.output, strict=True)]


class NaiveStream(Naive):
    """AISTATS 2017, Algorithm 1."""

    @property
    def partial_sums(self):
        return [-self.eta * sum(self.output[:i]) for i in range(self.N + 1)]

    def update(self, y, u):
        slopes = [-y * sigmoid(-y * partial) for partial in self.partial_sums[:-1]]
        return [u * (slope - output) for slope, output in zip(slopes, self.output, strict=True)]


NAIVE = dict(enumerate([NaiveBBM, NaiveAdaBoost, NaiveAdaBoostW, NaiveGradient, NaiveStream], 1))


def check_same(booster, naive, stream):
    for x, is_positive, weight in stream:
        score = booster.score(x)
        naive.forward(booster.x)
        assert score == pytest.approx(naive.score(), rel=1e-9, abs=1e-9)
        booster.learn(is_positive, weight)
        naive.learn(1 if is_positive else -1, weight)
        for ours, theirs in zip(booster.arrays, naive.arrays, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@METHODS
@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(1, 6),
    seed=st.integers(0, 999),
    edge=st.floats(0.01, 0.45),
    shrink=st.floats(0.05, 1),
    loud=st.sampled_from([1, 1, 20]),
    seen=st.sampled_from([0, 0, 10**5]),
    step_size=step_sizes,
    stream=rows,
)
@example(1, 0, 0.1, 0.05, 1, 0, SGD, [((0.5, -1.0), True, 1.0), ((2.0, 1.0), False, 3.0)])
def test_every_row_moves_all_as_the_papers_say(
    method, n, seed, edge, shrink, loud, seen, step_size, stream
):
    booster = Booster(method, n, 2, seed, edge, shrink, step_size)
    booster.nets.outer[:] *= loud
    naive = NAIVE[method](booster.nets, edge, shrink, step_size)
    booster.votes.seen[0] = naive.t = seen
    check_same(booster, naive, stream)


@METHODS
def test_a_long_row_of_nets(method):
    rng = np.random.default_rng(0)
    booster = Booster(method, 500, shrink=0.05, edge=0.05)
    stream = [(rng.normal(size=2), i % 2 == 0, 1.0) for i in range(3)]
    check_same(booster, NAIVE[method](booster.nets, 0.05, 0.05, ADAGRAD), stream)


@METHODS
def test_errors_fall_far_below_those_of_a_constant(method):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 3))
    y = X[:, 0] + X[:, 1] > 1.6
    booster = Booster(method, 10, n_features=3, shrink=1.0)
    wrong = np.empty(y.size, dtype=bool)
    for i, x in enumerate(X):
        wrong[i] = (booster.score(x) >= 0) != y[i]
        booster.learn(bool(y[i]))
    assert wrong[-1000:].mean() < y.mean() / 3


@METHODS
def test_a_row_of_no_weight_leaves_all_as_it_was(method):
    booster = Booster(method, 4, step_size=StepSize(0.1, True, 0.9))
    booster.score([1.0, -1.0])
    booster.learn(True)
    before = [array.copy() for array in booster.arrays]
    booster.score([0.5, 2.0])
    booster.learn(False, 0.0)
    for now, then in zip(booster.arrays, before, strict=True):
        np.testing.assert_array_equal(now, then)


@METHODS
@pytest.mark.parametrize("n", [1, 2, 500])
@pytest.mark.parametrize("step_size", [SGD, ADAGRAD])
def test_loud_nets_and_heavy_rows_stay_finite(method, n, step_size):
    booster = Booster(method, n, shrink=1.0, edge=0.49, step_size=step_size)
    booster.score([1.0, -1.0])
    for loud in (1e4, -1e4):
        for is_positive in (True, False):
            booster.output[:] = loud
            booster.output[::3] = -loud
            booster.learn(is_positive, 1e6)
            assert np.isfinite(linear_score(method, booster.output, booster.votes, booster.shrink))
            assert all(np.isfinite(array).all() for array in booster.arrays)


@METHODS
def test_a_longer_stream_gives_the_same_as_its_parts(method):
    """The arrays are all there is: a copy of them goes on as they would."""
    rng = np.random.default_rng(2)
    booster, other = Booster(method, 5), Booster(method, 5, seed=1)
    for i, x in enumerate(rng.normal(size=(20, 2))):
        booster.score(x)
        booster.learn(bool(x[0] > 0))
        if i == 9:
            for ours, theirs in zip(other.arrays, booster.arrays, strict=True):
                ours[:] = theirs
        if i > 9:
            other.score(x)
            other.learn(bool(x[0] > 0))
    for ours, theirs in zip(other.arrays, booster.arrays, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_one_net_by_majority_is_that_net():
    booster = Booster(BBM, 1, step_size=SGD)
    vote = booster.score([0.4, 0.8])
    output, offset = booster.output[0, 0], booster.nets.outer[0, 0, -1]
    booster.learn(True)
    assert vote == np.sign(output)
    assert booster.nets.outer[0, 0, -1] - offset == pytest.approx(SGD.rate / (1 + np.exp(output)))


def test_the_first_net_of_a_majority_learns_every_row_in_full():
    booster = Booster(BBM, 500, edge=0.2, step_size=SGD)
    booster.score([0.4, 0.8])
    output, offset = booster.output[0, 0], booster.nets.outer[0, 0, -1]
    booster.learn(False)
    assert booster.nets.outer[0, 0, -1] - offset == pytest.approx(-SGD.rate / (1 + np.exp(-output)))


def test_a_row_whose_majority_is_settled_is_not_learned():
    booster = Booster(BBM, 5, step_size=StepSize(0.1, True, 0.9))
    booster.score([0.4, 0.8])
    booster.nets.outer_sum[:] = 1.0
    booster.output[:] = 1.0
    before = booster.nets.outer.copy()
    booster.learn(True)
    for moved in (booster.nets.outer != before, booster.nets.outer_sum != 1.0):
        np.testing.assert_array_equal(moved.any(axis=(1, 2)), [True, True, True, False, False])


def test_ol_scores_by_the_partial_sum_without_mistakes():
    votes = Votes(np.array([1.0, 2.0, -0.5]), np.array([-1000.0, 0.0, -1000.0]), np.ones(1))
    output = np.array([[0.3], [-0.1], [4.0]])
    assert linear_score(ADABOOST, output, votes, 1.0) == pytest.approx(-1.0)
    assert linear_score(ADABOOST_W, output, votes, 1.0) == pytest.approx(-1.5)
