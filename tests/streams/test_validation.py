import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind.metrics import average_precision
from rarefind.streams._validation import (
    N_ALARMS,
    N_BINS,
    ProgressiveValidation,
    bin_of,
    bin_score,
    validate_error,
    validate_score,
)

DELTA = 0.002

# Few distinct ones, so that rows share bins; and any.
all_scores = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6))
streams = st.lists(
    st.tuples(all_scores, st.booleans(), st.sampled_from([0.3, 1.0, 1.0, 5.0])),
    min_size=1,
    max_size=30,
)
half_lives = st.sampled_from([1.0, 3.0, 20.0, 20_000.0])


def growth_of(half_life):
    return float(2 ** (1 / half_life))


def validate_all(stream, half_life):
    validation = ProgressiveValidation.start(1, 2)
    for score, positive, weight in stream:
        validate_score(validation, score, score > 0, positive, weight, growth_of(half_life), DELTA)
    return validation


def binned(score):
    return float(bin_score(bin_of(score)))


def faded(stream, half_life):
    """(score, positive, weight) of all rows so far, as the latest one sees them."""
    n = len(stream)
    return [
        (binned(score), positive, weight * 0.5 ** ((n - 1 - i) / half_life))
        for i, (score, positive, weight) in enumerate(stream)
    ]


def naive_average_precision(rows):
    """The precision down to the place of each positive, by weight."""
    found = 0.0
    for score, positive, weight in rows:
        if positive:
            at_least = [(p, w) for s, p, w in rows if s >= score]
            hits = sum(w for p, w in at_least if p)
            found += weight * hits / sum(w for _, w in at_least)
    return found / sum(w for _, p, w in rows if p)


def naive_effective_rows(n, half_life):
    weights = 0.5 ** (np.arange(n) / half_life)
    return weights.sum() ** 2 / (weights**2).sum()


@given(streams, half_lives)
def test_bins_count_the_fading_rows(stream, half_life):
    validation = validate_all(stream, half_life)
    rows = faded(stream, half_life)
    score, positive, weight = validation.scores(half_life)
    assert validation.n_rows == len(stream)
    assert weight.sum() == pytest.approx(naive_effective_rows(len(stream), half_life))
    pairs = list(zip(score, positive, strict=True))
    assert len(set(pairs)) == len(pairs)
    assert set(pairs) == {(s, p) for s, p, _ in rows}
    whole = sum(w for _, _, w in rows)
    for s, p, w in zip(score, positive, weight, strict=True):
        expected = sum(own for at, label, own in rows if (at, label) == (s, p)) / whole
        assert w / weight.sum() == pytest.approx(expected, rel=1e-9)


@given(streams, half_lives)
def test_average_precision_is_that_of_fading_rows(stream, half_life):
    score, positive, weight = validate_all(stream, half_life).scores(half_life)
    if positive.any():
        found = average_precision(positive, score, sample_weight=weight)
        expected = naive_average_precision(faded(stream, half_life))
        assert found == pytest.approx(expected, rel=1e-9)


@given(streams, half_lives)
def test_terms_of_average_precision_are_watched(stream, half_life):
    """The precision down to each positive as it comes: rows in its bin are half above it."""
    validation = validate_all(stream, half_life)
    terms = []
    for i, (_, is_positive, _) in enumerate(stream):
        if is_positive:
            *before, (place, _, own) = faded(stream[: i + 1], half_life)
            above = [(p, w * (0.5 if s == place else 1)) for s, p, w in before if s >= place]
            hits = own + sum(w for p, w in above if p)
            terms.append(hits / (hits + sum(w for p, w in above if not p)))
    assert validation.window.width == len(terms)
    assert validation.window.mean == pytest.approx(np.mean(terms) if terms else 0.0)


@given(st.integers(1, 5000), st.sampled_from([1.0, 7.5, 300.0, 20_000.0, 1e9]))
def test_the_effective_number_of_rows_falls_with_the_half_life(n, half_life):
    validation = validate_all([(0.0, True, 1.0)], half_life)
    validation.count[0] = n
    found = validation.scores(half_life)[2].sum()
    assert found == pytest.approx(naive_effective_rows(n, half_life), rel=1e-6)
    assert 1 - 1e-9 <= found <= n * (1 + 1e-6)


def test_an_endless_stream_has_an_effective_size_of_three_half_lives():
    validation = validate_all([(0.0, True, 1.0)], 1000.0)
    validation.count[0] = 10**15
    assert validation.scores(1000.0)[2].sum() == pytest.approx(2000 / np.log(2), rel=1e-3)


def test_before_the_first_row_there_is_nothing():
    validation = ProgressiveValidation.start(3, 4)
    assert validation.n_rows == validation.n_alarms == 0
    assert validation.latest_alarms().size == 0
    assert validation.contributions.shape == (3, 4)
    assert all(part.size == 0 for part in validation.scores(100.0))


@pytest.mark.parametrize("rows", [3, 6, 7, 14])
def test_the_weights_of_rows_may_grow_without_end(rows):
    """Each row weighs so much less that all count the same, and weights overflow on the way."""
    growth = 1e20
    validation, plain = ProgressiveValidation.start(1, 2), ProgressiveValidation.start(1, 2)
    score = [1.0, -2.0, 0.5, 0.5, 3.0, -2.0, 1.0, 2.0, 0.0, -1.0, 4.0, 0.2, 0.3, 0.4][:rows]
    for i, s in enumerate(score):
        own = growth ** (-i)
        validation.contributions[:] += validation.weights[0] * own
        validate_score(validation, s, s > 0, i % 3 == 0, own, growth, DELTA)
        validate_score(plain, s, s > 0, i % 3 == 0, 1.0, 1.0, DELTA)
    assert validation.weights[0] <= 1e100
    np.testing.assert_allclose(
        validation.bins / validation.weights[1], plain.bins / rows, rtol=1e-9
    )
    np.testing.assert_allclose(validation.contributions / validation.weights[1], 1.0, rtol=1e-9)
    np.testing.assert_allclose(
        validation.decisions / validation.weights[1], plain.decisions / rows, rtol=1e-9
    )
    assert validation.window.mean == pytest.approx(plain.window.mean)
    for now, then in zip(validation.scores(1e9), plain.scores(1e9), strict=True):
        np.testing.assert_allclose(now, then, rtol=1e-9)


def test_a_long_stream_with_the_shortest_half_life_keeps_its_numbers():
    rng = np.random.default_rng(0)
    stream = [(float(s), bool(s + rng.normal() > 1), 1.0) for s in rng.normal(size=1500)]
    validation = validate_all(stream, 1.0)
    assert validation.weights[0] <= 1e100
    assert np.isfinite(validation.bins).all()
    score, positive, weight = validation.scores(1.0)
    assert weight.sum() == pytest.approx(3)
    found = average_precision(positive, score, sample_weight=weight)
    expected = naive_average_precision(faded(stream[-200:], 1.0))
    assert found == pytest.approx(expected, rel=1e-9)


def test_the_middle_of_a_bin_is_in_it():
    scores = bin_score(np.arange(N_BINS))
    assert (np.diff(scores) > 0).all()
    np.testing.assert_allclose(scores, -scores[::-1], rtol=1e-9, atol=1e-12)
    assert [bin_of(score) for score in scores] == list(range(N_BINS))


@given(st.lists(st.floats(allow_nan=False), min_size=2))
def test_higher_scores_are_in_higher_bins(scores):
    places = [bin_of(score) for score in sorted(scores)]
    assert places == sorted(places)
    assert places[0] >= 0
    assert places[-1] < N_BINS


@given(st.floats(-1e4, 1e4))
def test_scores_are_kept_to_half_a_percent(score):
    assert binned(score) == pytest.approx(score, rel=0.005, abs=0.003)


def test_scores_beyond_the_bins_are_in_the_last_ones():
    for far in (2e4, 1e308, np.inf):
        assert bin_of(far) == N_BINS - 1
        assert bin_of(-far) == 0


def half_right(n, seed, right):
    """Negatives about 0, and positives above them with a probability."""
    rng = np.random.default_rng(seed)
    above = np.where(rng.random(n) < right, 3.0, -3.0)
    positive = np.arange(n) % 2 == 1
    score = np.where(positive, above, 0.0) + 0.1 * rng.normal(size=n)
    return [(float(s), bool(p), 1.0) for s, p in zip(score, positive, strict=True)]


def alarms_of(stream, delta=DELTA):
    """The numbers of rows after which it was output that the list has become worse."""
    validation = ProgressiveValidation.start(1, 2)
    worse = [
        validate_score(validation, row[0], True, *row[1:], growth_of(2000.0), delta)
        for row in stream
    ]
    found = 1 + np.flatnonzero(worse)
    np.testing.assert_array_equal(validation.latest_alarms(), found[-N_ALARMS:])
    assert validation.n_alarms == found.size
    return found


@pytest.mark.parametrize("seed", range(3))
def test_a_list_that_becomes_worse_raises_an_alarm_and_one_that_becomes_better_does_not(seed):
    good, bad = half_right(2000, seed, 0.95), half_right(2000, seed + 9, 0.3)
    assert alarms_of(good).size == 0
    fallen = alarms_of(good + bad)
    assert 2000 < fallen[0] < 2400
    assert alarms_of(bad + good).size == 0


def validate_errors(validation, wrong, delta=DELTA, growth=1.0):
    return np.array([validate_error(validation, bool(w), 1.0, growth, delta) for w in wrong])


@pytest.mark.parametrize("seed", range(3))
def test_errors_that_rise_raise_an_alarm_and_those_that_fall_do_not(seed):
    rng = np.random.default_rng(seed)
    few, many = rng.random(1500) < 0.1, rng.random(1500) < 0.6
    validation = ProgressiveValidation.start(3, 2)
    alarms = np.flatnonzero(validate_errors(validation, [*few, *many]))
    assert 1500 < alarms[0] < 1700
    np.testing.assert_array_equal(validation.latest_alarms(), alarms + 1)
    assert not validate_errors(ProgressiveValidation.start(3, 2), [*many, *few]).any()


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from([0.3, 1.0, 5.0])), min_size=1, max_size=31),
    half_lives,
)
def test_the_error_is_that_of_fading_rows(rows, half_life):
    validation = ProgressiveValidation.start(3, 2)
    for wrong, weight in rows:
        validate_error(validation, wrong, weight, growth_of(half_life), DELTA)
    by = [w * 0.5 ** ((len(rows) - 1 - i) / half_life) for i, (_, w) in enumerate(rows)]
    expected = np.average([wrong for wrong, _ in rows], weights=by)
    assert validation.decisions[0, 1] / validation.weights[1] == pytest.approx(
        expected, rel=1e-9, abs=1e-12
    )
    assert validation.decisions.sum() == pytest.approx(validation.weights[1])
    assert validation.n_rows == len(rows)
    assert validation.window.mean == pytest.approx(np.mean([wrong for wrong, _ in rows]))


@settings(max_examples=20)
@given(st.integers(0, 350))
def test_the_latest_hundred_alarms_are_remembered(earlier):
    validation = ProgressiveValidation.start(3, 2)
    for _ in range(earlier):
        validation.alarms[validation.count[1] % N_ALARMS] = -1
        validation.count[1] += 1
    alarms = 1 + np.flatnonzero(validate_errors(validation, ([0] * 64 + [1] * 64) * 12, delta=0.5))
    assert alarms.size >= 10
    assert validation.n_alarms == earlier + alarms.size
    expected = [*[-1] * earlier, *alarms][-N_ALARMS:]
    np.testing.assert_array_equal(validation.latest_alarms(), expected)


def test_a_ring_that_went_round_twice():
    validation = ProgressiveValidation.start(3, 2)
    alarms = 1 + np.flatnonzero(validate_errors(validation, ([0] * 64 + [1] * 64) * 250, delta=0.5))
    assert alarms.size > 2 * N_ALARMS
    np.testing.assert_array_equal(validation.latest_alarms(), alarms[-N_ALARMS:])


def test_nan_has_a_bin_too():
    assert bin_of(np.nan) == 0
