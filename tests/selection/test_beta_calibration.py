import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit

from rarefind.selection.calibration import BetaCalibration


def simulated(n, offset, bend=lambda u: u, seed=0):
    """Scores that rise with the log-odds, the true probabilities, and who is positive."""
    rng = np.random.default_rng(seed)
    u = offset + 1.5 * rng.normal(size=n)
    return bend(u), expit(u), rng.random(n) < expit(u)


# Each rises, and takes log-odds to scores that are not.
BENDS = {
    "stretched": lambda u: 3 * u + 5,
    "squeezed": lambda u: 0.01 * u,
    "steeper above": lambda u: np.where(u > -2, 3 * (u + 2), u + 2),
    "steeper below": lambda u: np.where(u > -2, u + 2, 3 * (u + 2)),
    "curved": lambda u: np.sinh((u + 2) / 2),
}
every_bend = pytest.mark.parametrize("bend", BENDS.values(), ids=BENDS)


@every_bend
def test_probabilities_come_nearer_to_the_true_ones(bend):
    score, truth, positive = simulated(20_000, -2.0, bend)
    found = BetaCalibration.fit(score, positive, np.ones(score.size)).probability(score)
    error, raw = np.abs(found - truth).mean(), np.abs(expit(score) - truth).mean()
    assert error < 0.03
    assert error < raw / 2
    assert found.mean() == pytest.approx(positive.mean(), rel=0.01)


def naive_fit(score, positive, weight):
    """Both fits by a search that knows no derivatives; the ends are drawn to a slope of 1."""
    weight = weight / weight.mean()
    p, n = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (p + 1) / (p + 2), 1 / (n + 2))

    def fit(columns, start, draw):
        def loss(beta):
            u = sum(b * c for b, c in zip(beta, columns, strict=False)) + beta[-1]
            distance = sum((b - 1) ** 2 for b in beta[:-1])
            return weight @ (np.logaddexp(0, u) - target * u) + draw * distance

        options = {"xatol": 1e-6, "fatol": 1e-8, "maxiter": 5000}
        found = minimize(loss, start, method="Nelder-Mead", options=options).x
        return sum(b * c for b, c in zip(found, columns, strict=False)) + found[-1]

    u = fit([score], [1.0, np.log(p / n)], 0.0)
    return expit(fit([-np.logaddexp(0, -u), np.logaddexp(0, u)], [1.0, 1.0, 0.0], 1.0))


@pytest.mark.parametrize("offset", [0.0, -2.0, -4.0, -6.0, -7.0])
def test_both_fits_are_logistic_regressions_also_where_positives_are_rare(offset):
    """At −7 about a row in 400 is positive."""
    score, _, positive = simulated(
        20_000, offset, lambda u: np.where(u > offset, u - offset, 3 * (u - offset))
    )
    found = BetaCalibration.fit(score, positive, np.ones(score.size)).probability(score)
    expected = naive_fit(score, positive, np.ones(score.size))
    middle = (score > np.quantile(score, 0.01)) & (score < np.quantile(score, 0.999))
    np.testing.assert_allclose(logit(found[middle]), logit(expected[middle]), atol=0.1)


scores = st.one_of(st.integers(-3, 3).map(float), st.floats(-20, 20).map(lambda f: round(f, 3)))


@st.composite
def held_out(draw, score=scores):
    rows = st.lists(st.tuples(score, st.booleans(), st.floats(0.1, 5)), min_size=2, max_size=40)
    found, positive, weight = map(np.array, zip(*draw(rows), strict=True))
    positive[:2] = True, False
    return found, positive, weight


@given(held_out())
@settings(deadline=None)
def test_probabilities_rise_wherever_the_score_does(table):
    score, positive, weight = table
    found = BetaCalibration.fit(score, positive, weight)
    assert found.slope > 0
    assert found.low > 0
    assert found.high > 0
    probability = found.probability(np.unique(score))
    assert ((probability > 0) & (probability < 1)).all()
    assert (np.diff(probability) > 0).all()
    far = found.probability(np.linspace(-1e4, 1e4, 101))
    assert (np.diff(far) >= 0).all()


@given(held_out(score=st.sampled_from([-1e4, -1e4 + 1, -3.0, 0.0, 2.0, 9999.0, 1e4])))
@settings(deadline=None)
def test_far_scores_have_probabilities(table):
    score, positive, weight = table
    order = np.argsort(score)
    found = BetaCalibration.fit(score, positive, weight).probability(score)
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found[order]) >= 0).all()


def test_scores_that_rank_backwards_give_the_base_rate():
    rng = np.random.default_rng(0)
    score = rng.normal(size=2000)
    positive = rng.random(2000) < expit(-2 - 2 * score)
    found = BetaCalibration.fit(score, positive, np.ones(2000)).probability(np.sort(score))
    np.testing.assert_allclose(found, positive.mean(), rtol=0.05)
    assert (np.diff(found) > 0).all()


@pytest.mark.parametrize("gap", [1e-3, 1.0, 1e4])
def test_perfect_separation_has_finite_probabilities(gap):
    score = np.repeat([-gap, gap], 20)
    positive = np.arange(40) >= 20
    found = BetaCalibration.fit(score, positive, np.ones(40)).probability(score)
    assert found[positive].min() > 0.9
    assert found[~positive].max() < 0.1
    assert ((found > 0) & (found < 1)).all()


@pytest.mark.parametrize("constant", [0.0, 1.0, 0.1, 1 / 3, -2.7, 1e4, -1e4, 1e-300])
@pytest.mark.parametrize("n", [60, 66])
def test_equal_scores_give_the_base_rate(constant, n):
    positive = np.arange(n) % 6 == 0
    found = BetaCalibration.fit(np.full(n, constant), positive, np.ones(n))
    assert found.probability(np.full(1, constant))[0] == pytest.approx(1 / 6, abs=0.03)
    assert np.isfinite(found).all()


def test_a_score_apart_from_equal_ones_is_no_certainty():
    """Rounding must not make a spread of scores that have none."""
    positive = np.arange(60) % 6 == 0
    for constant in (0.1, 1 / 3, 0.7):
        found = BetaCalibration.fit(np.full(60, constant), positive, np.ones(60))
        near = found.probability(np.array([constant - 0.01, constant + 0.01]))
        assert ((near > 0.1) & (near < 0.3)).all()


def test_a_row_of_weight_two_counts_as_two_rows():
    """But for Platt's smoothing, which counts the rows that there are."""
    score, _, positive = simulated(3000, -1.0, BENDS["curved"])
    times = np.random.default_rng(1).integers(1, 4, size=3000)
    weighted = BetaCalibration.fit(score, positive, times.astype(float)).probability(score)
    repeated = BetaCalibration.fit(
        np.repeat(score, times), np.repeat(positive, times), np.ones(times.sum())
    ).probability(score)
    np.testing.assert_allclose(weighted, repeated, atol=0.005)


def test_the_units_of_weights_and_scores_do_not_matter():
    score, _, positive = simulated(2000, -1.0, BENDS["curved"])
    weight = np.random.default_rng(1).uniform(0.5, 2, size=2000)
    found = BetaCalibration.fit(score, positive, weight).probability(score)
    for unit in (1e-4, 1e6):
        scaled = BetaCalibration.fit(score, positive, unit * weight).probability(score)
        np.testing.assert_allclose(scaled, found, rtol=1e-6)
        other = BetaCalibration.fit(unit * score + unit, positive, weight)
        np.testing.assert_allclose(other.probability(unit * score + unit), found, rtol=1e-3)
