import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from rarefind.metrics import count_metric
from rarefind.selection.calibration import LOG_ODDS, ODDS, SHARE, Calibrated, OddsCalibration
from rarefind.selection.thresholds import bounds_at


def test_calibration_is_the_logistic_regression_on_the_log_ratio():
    rng = np.random.default_rng(0)
    score = np.exp(rng.normal(size=4000))
    positive = rng.random(4000) < 1 / (1 + np.exp(-(2 * np.log(score) - 2)))
    weight = rng.integers(1, 4, size=4000).astype(float)
    found = OddsCalibration.fit(score, positive, weight)
    peer = LogisticRegression(C=1e10).fit(
        np.log(score + 1e-3)[:, None] - np.log1p(1e-3 * score)[:, None], positive, weight
    )
    # Platt's smoothing of the targets moves it by little at this size.
    assert found.slope == pytest.approx(peer.coef_[0, 0], rel=0.02)
    assert found.offset == pytest.approx(peer.intercept_[0], rel=0.02)


def test_probabilities_never_fall_where_the_score_rises():
    score = np.sort(np.concatenate([np.logspace(-8, 20, 400), [0.0, 2e100, 3e100]]))
    positive = np.arange(score.size) % 3 == 0
    probability = OddsCalibration.fit(score, positive, np.ones(score.size)).probability(score)
    assert np.all(np.diff(probability) >= 0)
    assert ((probability >= 0) & (probability <= 1)).all()


def test_scores_that_rank_backwards_give_the_base_rate():
    score = np.concatenate([np.full(50, 0.1), np.full(50, 10.0)])
    positive = np.arange(100) < 50
    found = OddsCalibration.fit(score, positive, np.ones(100))
    np.testing.assert_allclose(found.probability(score), 0.5, atol=0.01)
    assert found.slope > 0


def test_perfect_separation_has_finite_probabilities():
    score = np.concatenate([np.full(20, 0.01), np.full(20, 100.0)])
    positive = np.arange(40) >= 20
    probability = OddsCalibration.fit(score, positive, np.ones(40)).probability(score)
    assert probability[positive].min() > 0.9
    assert probability[~positive].max() < 0.1
    assert ((probability > 0) & (probability < 1)).all()


def test_the_unit_of_the_weights_does_not_matter():
    rng = np.random.default_rng(0)
    score, weight = np.exp(rng.normal(size=200)), rng.uniform(0.5, 2, size=200)
    positive = rng.random(200) < 1 / (1 + 1 / score)
    found = OddsCalibration.fit(score, positive, weight).probability(score)
    for unit in (1e-4, 1e6):
        scaled = OddsCalibration.fit(score, positive, unit * weight).probability(score)
        np.testing.assert_allclose(scaled, found, rtol=1e-6)


def test_equal_scores_of_any_weight_give_the_base_rate():
    positive = np.arange(60) % 6 == 0
    found = OddsCalibration.fit(np.ones(60), positive, np.full(60, 1e6)).probability(np.ones(1))
    assert found[0] == pytest.approx(1 / 6, abs=0.02)


def test_held_out_rows_give_threshold_probabilities_and_ranks():
    positive = np.array([True, True, False, False])
    score, weight = np.array([3.0, 0.9, 2.0, 0.1]), np.ones(4)
    best = Calibrated.fit(score, positive, weight, ODDS, count_metric("f1"))
    assert best.value == pytest.approx(0.8)
    assert 0.1 < best.threshold < 0.9
    fixed = Calibrated.fit(score, positive, weight, ODDS, count_metric("f1"), bounds_at(1.0))
    assert fixed.threshold == 1
    assert fixed.value == pytest.approx(0.5)
    assert fixed.calibration == OddsCalibration.fit(score, positive, weight)
    assert fixed.reference.ranks(score).tolist() == [0.75, 0.25, 0.5, 0]


@pytest.mark.parametrize(
    ("kind", "half"),
    [(LOG_ODDS, 0.0), (ODDS, 2.0), (SHARE, 0.5)],
    ids=["log-odds", "odds", "share"],
)
def test_without_held_out_rows_scores_are_probabilities_of_their_kind(kind, half):
    score = np.sort(np.append(np.random.default_rng(0).random(9), half))
    found = kind.probability(score, None, 2.0)
    assert found[score == half] == pytest.approx(0.5)
    assert (np.diff(found) > 0).all()
    positive = score > half - 0.1
    held = kind.calibrate(score, positive, np.ones(10))
    assert (np.diff(kind.probability(score, held, 2.0)) > 0).all()
