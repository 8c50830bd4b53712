import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind.boosting._surrogates import (
    SURROGATES,
    add_logistic,
    add_pairwise_exponential,
)
from rarefind.metrics import average_precision


def surrogate_loss(at_or_above):
    """Mean over positives of the share of negatives among the rows at or above, times the rows."""

    def loss(score, positive, weight, sharpness):
        n = range(len(score))
        found = 0.0
        for i in n:
            if not positive[i]:
                continue
            above = [1.0 if i == j else at_or_above(sharpness * (score[j] - score[i])) for j in n]
            total = sum(weight[j] * above[j] for j in n)
            negatives = sum(weight[j] * above[j] for j in n if not positive[j])
            found += weight[i] * negatives / total
        return sum(weight) * found / sum(weight[i] for i in n if positive[i])

    return loss


def naive_logarithm(score, positive, weight, sharpness):
    n = range(len(score))
    parts = [weight[j] * math.exp(sharpness * score[j]) for j in n]
    share = sum(parts[j] for j in n if positive[j]) / sum(parts)
    return -sum(weight[j] for j in n if positive[j]) * math.log(share)


def naive_logistic(score, positive, weight, sharpness):
    signs = [1 if p else -1 for p in positive]
    return sum(
        w * math.log1p(math.exp(-s * f)) for s, f, w in zip(signs, score, weight, strict=True)
    )


def naive_pairs(score, positive, weight, sharpness):
    n = range(len(score))
    negatives = sum(weight[j] for j in n if not positive[j])
    return sum(
        weight[i] * weight[j] * math.exp(score[j] - score[i]) / negatives
        for i in n
        for j in n
        if positive[i] and not positive[j]
    )


naive_exponential = surrogate_loss(math.exp)


def surrogate(name, n_jobs=1, share=1.0, start=0.0):
    """A surrogate as the loss, its first and its second derivatives, from what is there before."""

    def loss(score, positive, weight, sharpness):
        first, second = np.full(score.size, start), np.full(score.size, start)
        rest = (share, first, second, n_jobs)
        return SURROGATES[name](score, positive, weight, sharpness, *rest), first, second

    return loss


def logistic(score, positive, weight, sharpness=1.0):
    first, second = np.zeros(score.size), np.zeros(score.size)
    add_logistic(score, positive, weight, 1.0, first, second)
    margin = np.where(positive, score, -score)
    return float(weight @ np.logaddexp(0, -margin)), first, second


def pairwise_exponential(score, positive, weight, sharpness=1.0):
    first, second = np.zeros(score.size), np.zeros(score.size)
    return add_pairwise_exponential(score, positive, weight, first, second), first, second


exponential, logarithm, sigmoid = map(surrogate, ("exp", "log", "sigmoid"))
LOSSES = {
    "exp": (exponential, naive_exponential),
    "log": (logarithm, naive_logarithm),
    "sigmoid": (sigmoid, surrogate_loss(lambda far: 1 / (1 + math.exp(-far)))),
    "logistic": (logistic, naive_logistic),
    "pairs": (pairwise_exponential, naive_pairs),
}
RANKING = sorted(set(LOSSES) - {"logistic"})
every_loss = pytest.mark.parametrize("name", LOSSES)
ranking_losses = pytest.mark.parametrize("name", RANKING)
surrogates = pytest.mark.parametrize("name", SURROGATES)

scores = st.one_of(st.integers(-2, 2).map(float), st.floats(-3, 3))
weights = st.one_of(st.integers(1, 3).map(float), st.floats(0.1, 5))
sharpnesses = st.floats(0.2, 5)


@st.composite
def batches(draw, score=scores, weight=weights, both=True):
    """Scores with ties, which are positive, and weights; of both classes if asked for."""
    rows = draw(st.lists(st.tuples(score, st.booleans(), weight), min_size=2, max_size=8))
    f, positive, w = map(np.array, zip(*rows, strict=True))
    if both:
        positive[:2] = draw(st.permutations([True, False]))
    return f, positive, w


def naive_slopes(loss, score, *rest, step=1e-5):
    """First derivatives by central differences."""
    slopes = []
    for i in range(score.size):
        up, down = score.copy(), score.copy()
        up[i] += step
        down[i] -= step
        slopes.append((loss(up, *rest) - loss(down, *rest)) / (2 * step))
    return np.array(slopes)


@every_loss
@given(batch=batches(), sharpness=sharpnesses)
@settings(deadline=None)
def test_every_loss_is_its_slow_twin(name, batch, sharpness):
    loss, naive = LOSSES[name]
    found = loss(*batch, sharpness)[0]
    assert isinstance(found, float)
    assert found == pytest.approx(naive(*batch, sharpness), rel=1e-9, abs=1e-12)


@every_loss
@given(batch=batches(), sharpness=sharpnesses)
@settings(deadline=None)
def test_first_derivatives_are_those_of_the_slow_twin(name, batch, sharpness):
    loss, naive = LOSSES[name]
    value, first, _ = loss(*batch, sharpness)
    expected = naive_slopes(naive, *batch, sharpness)
    np.testing.assert_allclose(first, expected, rtol=1e-4, atol=1e-6 * (1 + value))


@every_loss
@given(batch=batches(), sharpness=sharpnesses)
@settings(deadline=None)
def test_second_derivatives_are_never_negative(name, batch, sharpness):
    _, first, second = LOSSES[name][0](*batch, sharpness)
    assert first.shape == second.shape == batch[0].shape
    assert np.isfinite(second).all()
    assert (second >= 0).all()


@pytest.mark.parametrize("name", ["exp", "log", "pairs"])
@given(batch=batches(), sharpness=sharpnesses)
def test_xgboost_is_given_the_size_of_the_slope(name, batch, sharpness):
    _, first, second = LOSSES[name][0](*batch, sharpness)
    np.testing.assert_array_equal(second, np.abs(first))


@pytest.mark.parametrize("name", ["logistic", "pairs"])
@given(batch=batches())
def test_some_second_derivatives_are_the_true_ones(name, batch):
    score, positive, weight = batch
    loss, _ = LOSSES[name]
    second = loss(*batch, 1.0)[2]
    for i in range(score.size):
        expected = naive_slopes(lambda f, i=i: loss(f, positive, weight, 1.0)[1][i], score)[i]
        assert second[i] == pytest.approx(expected, rel=1e-4, abs=1e-6)


@given(batch=batches(), sharpness=sharpnesses)
def test_second_ones_of_the_sigmoid_are_at_least_the_sharpness_times_the_slope(batch, sharpness):
    _, first, second = sigmoid(*batch, sharpness)
    assert (second >= sharpness * np.abs(first) * (1 - 1e-9)).all()


@ranking_losses
@given(batch=batches(), sharpness=sharpnesses, shift=st.floats(-20, 20))
def test_only_differences_of_scores_count(name, batch, sharpness, shift):
    score, positive, weight = batch
    loss, _ = LOSSES[name]
    value, first, second = loss(score, positive, weight, sharpness)
    assert first.sum() == pytest.approx(0, abs=1e-9 * (1 + np.abs(first).sum()))
    moved = loss(score + shift, positive, weight, sharpness)
    assert moved[0] == pytest.approx(value, rel=1e-8, abs=1e-10)
    np.testing.assert_allclose(moved[1], first, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(moved[2], second, rtol=1e-8, atol=1e-10)


@every_loss
@given(batch=batches(), sharpness=sharpnesses, data=st.data())
def test_the_order_of_the_rows_does_not_matter(name, batch, sharpness, data):
    order = np.array(data.draw(st.permutations(range(batch[0].size))))
    loss, _ = LOSSES[name]
    value, first, second = loss(*batch, sharpness)
    shuffled = loss(*(column[order] for column in batch), sharpness)
    assert shuffled[0] == pytest.approx(value)
    np.testing.assert_allclose(shuffled[1], first[order], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(shuffled[2], second[order], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["exp", "log", "logistic", "pairs"])
@given(batch=batches(weight=st.integers(1, 3).map(float)), sharpness=sharpnesses)
def test_a_row_of_weight_two_counts_as_two_rows(name, batch, sharpness):
    score, positive, weight = batch
    times = weight.astype(int)
    loss, _ = LOSSES[name]
    value, first, second = loss(*batch, sharpness)
    repeated = loss(
        np.repeat(score, times), np.repeat(positive, times), np.ones(times.sum()), sharpness
    )
    assert repeated[0] == pytest.approx(value, rel=1e-9, abs=1e-12)
    starts = np.cumsum(times) - times
    np.testing.assert_allclose(np.add.reduceat(repeated[1], starts), first, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.add.reduceat(repeated[2], starts), second, rtol=1e-9, atol=1e-12)


@given(batch=batches(), sharpness=sharpnesses)
def test_exp_and_log_have_the_same_direction(batch, sharpness):
    positive, weight = batch[1:]
    value, exp, _ = exponential(*batch, sharpness)
    _, log, _ = logarithm(*batch, sharpness)
    share = value / weight.sum()
    ratio = (1 - share) * weight.sum() / weight[positive].sum()
    np.testing.assert_allclose(exp, ratio * log, rtol=1e-9, atol=1e-12 * weight.sum() ** 2)


def test_log_does_not_vanish_when_a_negative_leads():
    batch = np.array([0.0, 50.0]), np.array([True, False]), np.ones(2)
    assert np.abs(exponential(*batch, 1.0)[1]).max() < 1e-12
    np.testing.assert_allclose(logarithm(*batch, 1.0)[1], [-1, 1])


@given(batch=batches(score=st.just(0.0), weight=st.just(1.0)))
def test_gradients_are_of_the_size_of_the_logistic_ones_where_all_scores_are_equal(batch):
    """The logistic loss begins at the base rate: there each positive pulls by 1 − P/n."""
    positive = batch[1]
    rate = positive.mean()
    at_the_prior = np.full(positive.size, math.log(rate / (1 - rate)))
    expected = logistic(at_the_prior, *batch[1:])[1]
    for name in ("exp", "log"):
        np.testing.assert_allclose(surrogate(name)(*batch, 1.0)[1], expected, atol=1e-12)


@given(batch=batches(score=st.integers(-4, 4).map(float)), sharpness=sharpnesses)
@settings(deadline=None, max_examples=30)
def test_threads_change_nothing(batch, sharpness):
    value, first, second = sigmoid(*batch, sharpness)
    for n_jobs in (2, 3):
        other = surrogate("sigmoid", n_jobs)(*batch, sharpness)
        assert other[0] == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(other[1], first, rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(other[2], second, rtol=1e-9, atol=1e-13)


@given(
    order=st.permutations(range(9)),
    positives=st.integers(1, 8),
    weight=st.lists(st.floats(0.1, 5), min_size=9, max_size=9),
)
def test_a_sharp_sigmoid_is_average_precision(order, positives, weight):
    score, weight = np.array(order, dtype=float), np.array(weight)
    positive = np.arange(9) < positives
    value, first, _ = sigmoid(score, positive, weight, 100.0)
    expected = 1 - average_precision(positive, score, pos_label=True, sample_weight=weight)
    assert value == pytest.approx(weight.sum() * expected, abs=1e-9)
    np.testing.assert_array_equal(first, 0)


@every_loss
@given(batch=batches(), sharpness=sharpnesses)
@settings(deadline=None)
def test_a_small_step_against_the_slope_lowers_the_loss(name, batch, sharpness):
    score, positive, weight = batch
    loss, naive = LOSSES[name]
    value, first, _ = loss(*batch, sharpness)
    size = np.abs(first).max()
    if size < 1e-4 * (1 + value):
        return
    step = 1e-3 * first @ first / (size * np.abs(first).sum()) / (1 + weight.sum())
    assert naive(score - step * first / size, positive, weight, sharpness) < value


@every_loss
@pytest.mark.parametrize("sharpness", [0.2, 1.0, 5.0])
@given(
    batch=batches(score=st.sampled_from([-1e4, -1e4 + 1, -50.0, 0.0, 1.0, 1e4 - 1, 1e4])),
)
@settings(deadline=None, max_examples=50)
def test_far_scores_stay_finite(name, sharpness, batch):
    with warnings.catch_warnings(), np.errstate(over="raise", invalid="raise", divide="raise"):
        warnings.simplefilter("error")
        value, first, second = LOSSES[name][0](*batch, sharpness)
    assert math.isfinite(value)
    assert value >= 0
    assert np.isfinite(first).all()
    assert np.isfinite(second).all()
    assert (second >= 0).all()
    assert (first[~batch[1]] >= 0).all()
    if name != "sigmoid":  # there a positive may stand in the way of another
        assert (first[batch[1]] <= 0).all()


@surrogates
@given(batch=batches(both=False), sharpness=sharpnesses)
def test_positives_alone_are_in_order(name, batch, sharpness):
    score, _, weight = batch
    value, first, second = surrogate(name)(score, np.ones(score.size, bool), weight, sharpness)
    assert value == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(first, 0, atol=1e-9)
    np.testing.assert_allclose(second, 0, atol=1e-9)


@pytest.mark.parametrize(("name", "share"), [("exp", 1.0), ("log", 0.0), ("sigmoid", 0.0)])
@given(batch=batches(both=False), sharpness=sharpnesses)
def test_negatives_alone_pull_nowhere(name, share, batch, sharpness):
    """Nothing is above a positive that is not there, but exp sees only the share of negatives."""
    score, _, weight = batch
    value, first, second = surrogate(name)(score, np.zeros(score.size, bool), weight, sharpness)
    assert value == pytest.approx(share * weight.sum())
    np.testing.assert_allclose(first, 0, atol=1e-9)
    np.testing.assert_allclose(second, 0, atol=1e-9)


@pytest.mark.parametrize("only", [True, False])
@given(batch=batches(both=False))
def test_rows_of_one_class_make_no_pairs(only, batch):
    score, _, weight = batch
    value, first, second = pairwise_exponential(score, np.full(score.size, only), weight)
    assert value == 0
    np.testing.assert_array_equal(first, 0)
    np.testing.assert_array_equal(second, 0)


@every_loss
@given(batch=batches(), sharpness=sharpnesses)
def test_what_is_given_is_left_as_it_is(name, batch, sharpness):
    before = [column.copy() for column in batch]
    LOSSES[name][0](*batch, sharpness)
    for column, copy in zip(batch, before, strict=True):
        np.testing.assert_array_equal(column, copy)


@surrogates
@given(batch=batches(), sharpness=sharpnesses, share=st.floats(0, 1), start=st.floats(-2, 2))
def test_a_share_is_added_to_what_is_there(name, batch, sharpness, share, start):
    value, first, second = surrogate(name)(*batch, sharpness)
    part = surrogate(name, share=share, start=start)(*batch, sharpness)
    assert part[0] == pytest.approx(share * value)
    np.testing.assert_allclose(part[1], start + share * first, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(part[2], start + share * second, rtol=1e-9, atol=1e-12)


def test_logistic_and_pairs_are_added_as_well():
    score, positive, weight = np.array([0.5, -1.0]), np.array([True, False]), np.array([1.0, 2.0])
    first, second = np.ones(2), np.ones(2)
    _, slope, bend = logistic(score, positive, weight)
    add_logistic(score, positive, weight, 0.25, first, second)
    np.testing.assert_allclose(first, 1 + slope / 4)
    np.testing.assert_allclose(second, 1 + bend / 4)
    _, more, bend_more = pairwise_exponential(score, positive, weight)
    add_pairwise_exponential(score, positive, weight, first, second)
    np.testing.assert_allclose(first, 1 + slope / 4 + more)
    np.testing.assert_allclose(second, 1 + bend / 4 + bend_more)


far_scores = st.sampled_from([-1e4, -60.0, -1.0, 0.0, 2.0, 60.0, 1e4])


@every_loss
@given(batch=batches(), sharpness=sharpnesses, unused=batches(score=far_scores, both=False))
@settings(deadline=None)
def test_a_row_of_weight_zero_is_not_there(name, batch, sharpness, unused):
    loss, _ = LOSSES[name]
    n = batch[0].size
    score, positive = (np.append(a, b) for a, b in zip(batch[:2], unused[:2], strict=True))
    weight = np.append(batch[2], np.zeros(unused[2].size))
    expected, found = loss(*batch, sharpness), loss(score, positive, weight, sharpness)
    assert found[0] == pytest.approx(expected[0])
    for with_them, alone in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_allclose(with_them[:n], alone, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(with_them[n:], 0)


@every_loss
@given(batch=batches(), sharpness=sharpnesses)
@settings(deadline=None, max_examples=30)
def test_derivatives_fit_into_32_bits(name, batch, sharpness):
    score, positive, weight = batch
    _, first, second = LOSSES[name][0](*batch, sharpness)
    small = np.zeros(score.size, np.float32), np.zeros(score.size, np.float32)
    if name in SURROGATES:
        SURROGATES[name](score, positive, weight, sharpness, 1.0, *small, 1)
    elif name == "logistic":
        add_logistic(score, positive, weight, 1.0, *small)
    else:
        add_pairwise_exponential(score, positive, weight, *small)
    np.testing.assert_allclose(small[0], first, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(small[1], second, rtol=1e-4, atol=1e-5)
