"""From scores to probabilities and ranks, by the scores of held-out rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from rarefind._core.fields import FloatArray, RealNumber
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Bools, Floats
from rarefind.metrics import CountMetric
from rarefind.selection.thresholds import ANY_THRESHOLD, best_threshold


@saved(
    "score-reference",
    state=State(
        {
            "score": FloatArray("n", rising=True),
            "below": FloatArray("n+1", low=0, high=1 + 1e-9, rising=True),
        }
    ),
)
class Reference(NamedTuple):
    """Sorted scores of held-out rows, and the share of rows below each (one more for the end)."""

    score: Floats
    below: Floats

    @classmethod
    def of(cls, score: Floats, weight: Floats) -> Reference:
        """Sort the held-out scores."""
        order = np.argsort(score, kind="stable")
        total = np.cumsum(weight[order])
        return cls(score[order], np.append(0.0, total) / total[-1])

    def ranks(self, score: Floats) -> Floats:
        """Share of the reference with a lower score, of each score."""
        return np.asarray(self.below[np.searchsorted(self.score, score, side="left")])


@saved("calibration", state=State({"slope": RealNumber(above=0), "offset": RealNumber()}))
class OddsCalibration(NamedTuple):
    """Probability of the positive class from a score like odds: logistic in its logarithm.

    Distances make the odds a power of their ratio, odds ∝ (D⁻/D⁺)^d, and the odds in a leaf are too
    far from even by a power: log-odds are linear in log s. Slope and offset are fitted to held-out
    rows.
    """

    slope: float
    offset: float

    def probability(self, score: Floats) -> Floats:
        """Probability of the positive class; never falls where the score rises."""
        return np.asarray(1 / (1 + np.exp(-(self.slope * _squash(score) + self.offset))))

    @classmethod
    def fit(cls, score: Floats, positive: Bools, weight: Floats) -> OddsCalibration:
        """Weighted logistic regression by Newton's method, with Platt's smoothed targets.

        These count rows, so weights are scaled to 1 on average.
        """
        weight = weight / weight.mean()
        p, n = weight[positive].sum(), weight[~positive].sum()
        target = np.where(positive, (p + 1) / (p + 2), 1 / (n + 2))
        x = np.column_stack([_squash(score), np.ones(score.size)])
        beta = np.array([1.0, np.log((p + 1) / (n + 1))])
        for _ in range(50):
            fitted = 1 / (1 + np.exp(-np.clip(x @ beta, -500, 500)))
            gradient = x.T @ (weight * (target - fitted))
            hessian = (x * (weight * fitted * (1 - fitted) + 1e-10)[:, None]).T @ x
            step = np.linalg.solve(hessian + 1e-9 * np.eye(2), gradient)
            beta = beta + step / max(1.0, np.abs(step).max())
            if np.abs(step).max() < 1e-8:
                break
        if beta[0] < 1e-3:  # the held-out rows rank no better than chance
            return cls(1e-3, float(np.log((p + 1) / (n + 1))))
        return cls(float(beta[0]), float(beta[1]))


@saved(
    "beta-calibration",
    state=State(
        {
            "slope": RealNumber(above=0),
            "offset": RealNumber(),
            "low": RealNumber(above=0),
            "high": RealNumber(above=0),
            "shift": RealNumber(),
        }
    ),
)
class BetaCalibration(NamedTuple):
    """Probability of the positive class from a score like log-odds; rises wherever the score does.

    The score is brought to log-odds u by slope and offset first. Beta calibration [1]_ then lets
    the low and the high end have slopes of their own: the new log-odds are
    ``shift − low·log(1 + exp(−u)) + high·log(1 + exp(u))``. Both fits are logistic regressions on
    held-out rows with Platt's smoothed targets. Slopes stay above 0, so that the ranking is kept,
    and the two ends are drawn to a slope of 1: of few positives the highest tell little.

    References
    ----------
    .. [1] M. Kull, T. Silva Filho and P. Flach, "Beta calibration", AISTATS 2017.
    """

    slope: float
    offset: float
    low: float
    high: float
    shift: float

    def probability(self, score: Floats) -> Floats:
        """Probability of the positive class."""
        u = self.slope * score + self.offset
        ends = self.shift - self.low * np.logaddexp(0, -u) + self.high * np.logaddexp(0, u)
        return np.asarray(expit(ends))

    @classmethod
    def fit(cls, score: Floats, positive: Bools, weight: Floats) -> BetaCalibration:
        """Fit to the scores of held-out rows, one score a row.

        Targets are smoothed by the number of rows, so weights are scaled to 1 on average.
        """
        return cls.fit_counts(score, positive, weight * (score.size / weight.sum()))

    @classmethod
    def fit_counts(cls, score: Floats, positive: Bools, weight: Floats) -> BetaCalibration:
        """Fit to scores that each stand for as many rows as their weight."""
        p, n = weight[positive].sum(), weight[~positive].sum()
        target = np.where(positive, (p + 1) / (p + 2), 1 / (n + 2))
        prior = float(np.log((p + 1) / (n + 1)))
        centre = float(np.median(score))
        spread = float(np.std(score)) if np.ptp(score) else 1.0
        slope, offset = _rising_logistic(
            [(score - centre) / spread], target, weight, np.array([1.0, prior]), 0.0
        )
        slope, offset = slope / spread, offset - slope * centre / spread
        u = slope * score + offset
        parts = [-np.logaddexp(0, -u), np.logaddexp(0, u)]
        low, high, shift = _rising_logistic(parts, target, weight, np.array([1.0, 1.0, 0.0]), 1.0)
        return cls(slope, offset, low, high, shift)


# Slopes of a calibration stay above this: scores that rank no better than chance keep their order.
_FLATTEST = 1e-3


def _rising_logistic(
    columns: list[Floats], target: Floats, weight: Floats, start: Floats, draw: float
) -> list[float]:
    """Slopes, all above 0, and offset of the weighted logistic regression on the columns.

    Slopes are drawn to 1 by their squared distance times ``draw``.
    """
    x = np.column_stack([*columns, np.ones(target.size)])
    total = min(weight @ target, weight @ (1 - target))

    def loss(beta: Floats) -> tuple[float, Floats]:
        u = x @ beta
        away = np.append(beta[:-1] - 1, 0.0)
        value = weight @ (np.logaddexp(0, u) - target * u) + draw * (away @ away)
        slope = x.T @ (weight * (expit(u) - target)) + 2 * draw * away
        return value / total, slope / total

    bounds = [(_FLATTEST, None)] * len(columns) + [(None, None)]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return [float(value) for value in found.x]


def _squash(score: Floats) -> Floats:
    """log s, flattening beyond a ratio of a thousand: a copy of a known row is not a certainty.

    It is log((s + ε)/(1 + εs)) for ε = 1/1000, in a form that never falls by rounding.
    """
    end = 1e3
    return np.asarray(np.log(end) + np.log1p(-(end - 1 / end) / (score + end)))


#: A fitted calibration.
ScoreCalibration = OddsCalibration | BetaCalibration


class ScoreKind(NamedTuple):
    """How scores of one kind become probabilities.

    A family of estimators names its kind in ``RareClassifier._score_kind``.
    """

    #: Fits a calibration to transformed scores of held-out rows.
    fit: Callable[[Floats, Bools, Floats], ScoreCalibration]
    #: Probability of scores that no held-out rows calibrate, given the threshold.
    uncalibrated: Callable[[Floats, float], Floats]
    #: Brings scores to the form that the calibration takes.
    transform: Callable[[Floats], Floats] = np.asarray

    def calibrate(self, score: Floats, positive: Bools, weight: Floats) -> ScoreCalibration:
        """Fit a calibration to the scores of held-out rows."""
        return self.fit(self.transform(score), positive, weight)

    def probability(
        self, score: Floats, calibration: ScoreCalibration | None, threshold: float
    ) -> Floats:
        """Probability of the positive class."""
        if calibration is None:
            return self.uncalibrated(score, threshold)
        return calibration.probability(self.transform(score))


def _as_log_odds(score: Floats, threshold: float) -> Floats:
    return np.asarray(expit(score))


def _as_odds(score: Floats, threshold: float) -> Floats:
    return np.asarray(score / (score + threshold))


def _as_share(score: Floats, threshold: float) -> Floats:
    return score


def _odds_of_share(score: Floats) -> Floats:
    """Share as odds, at most a hundred to one: a pure leaf is not a certainty."""
    return np.asarray(score / (1.01 - score))


#: Sums of contributions, as boosters make them.
LOG_ODDS = ScoreKind(BetaCalibration.fit, _as_log_odds)
#: The same where one score stands for many rows.
COUNTED_LOG_ODDS = ScoreKind(BetaCalibration.fit_counts, _as_log_odds)
#: Ratios, such as of the distances to negatives and to positives.
ODDS = ScoreKind(OddsCalibration.fit, _as_odds)
#: Shares of positives, such as those in leaves: from 0 to 1.
SHARE = ScoreKind(OddsCalibration.fit, _as_share, _odds_of_share)


class Calibrated(NamedTuple):
    """What held-out rows say of the scores of new rows."""

    #: The score from which a row is predicted positive.
    threshold: float
    #: What the threshold is worth on the held-out rows, by the metric.
    value: float
    calibration: ScoreCalibration
    reference: Reference

    @classmethod
    def fit(
        cls,
        score: Floats,
        positive: Bools,
        weight: Floats,
        kind: ScoreKind,
        metric: CountMetric,
        bounds: tuple[float, float] = ANY_THRESHOLD,
    ) -> Calibrated:
        """Take the best threshold within the bounds, calibrate and sort the scores."""
        best = best_threshold(positive, score, metric, sample_weight=weight, bounds=bounds)
        return cls(
            best.threshold,
            best.value,
            kind.calibrate(score, positive, weight),
            Reference.of(score, weight),
        )
