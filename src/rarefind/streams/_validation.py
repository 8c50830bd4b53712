"""Progressive validation: each row of a stream is validated by its score before it was learned.

Scores are kept as counts in 4,096 bins for each class, in which the weight of a row halves in
``half_life`` rows. So memory is bounded, and the threshold, the probabilities, average precision
and ranks all come from the bins. Alarms of drift are raised here, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rarefind._core.fields import FloatArray, IntArray, Object
from rarefind._core.kernels import reordering_kernel
from rarefind._core.saved import rename_fields, saved
from rarefind._core.state import State
from rarefind._core.types import Bools, Floats, Ints
from rarefind.metrics import average_precision
from rarefind.streams._adwin import Adwin, adwin_add

N_BINS = 4096
_FARTHEST = 10.0  # in asinh: scores from -11,000 to 11,000 have bins of their own
_LARGEST_WEIGHT = 1e100
_LARGEST_SUM = 1e250
# The latest alarms, which are kept.
N_ALARMS = 100

# The places in ProgressiveValidation.count.
_ROWS, _ALARMS = 0, 1


class Progress(NamedTuple):
    """Progressive validation of a stream, in which a row's weight halves in ``half_life`` rows.

    Precision, recall, alerts and error are those of the decisions as they were made, by the
    threshold of the time. With more than two classes only the error is known.
    """

    n_rows: int
    average_precision: float
    precision: float
    recall: float
    alerts: float
    error: float


_FIELDS_OF_1 = {"decided": "decisions", "gain": "weights", "shown": "contributions"}


@saved(
    "stream-watch",
    2,
    state=State(
        {
            "bins": FloatArray(2, N_BINS, low=0, high=_LARGEST_SUM),
            "decisions": FloatArray(2, 2, low=0, high=_LARGEST_SUM),
            "weights": FloatArray(2, low=0, high=_LARGEST_SUM),
            "contributions": FloatArray("outputs", "spaces", low=0),
            "window": Object("adwin"),
            "alarms": IntArray(N_ALARMS, low=0, dtype=np.intp),
            "count": IntArray(2, low=0, high=2**62, dtype=np.intp),
        }
    ),
    upgrade=rename_fields(_FIELDS_OF_1),
)
class ProgressiveValidation(NamedTuple):
    """What is known of the scores of rows before they were learned."""

    bins: Floats  # (2, N_BINS): fading counts of negatives and of positives by score
    decisions: Floats  # (2, 2): fading counts by class and decision; of many classes [0, wrong]
    weights: Floats  # (2,): of the next row, and of all rows so far
    contributions: Floats  # (classes, P): fading sum of each representation's, without its sign
    window: Adwin  # of the terms of average precision, or with many classes of the errors
    alarms: Ints  # (N_ALARMS,): the number of rows at each of the latest alarms, in a ring
    count: Ints  # type: ignore[assignment]  # (2,): rows validated, alarms so far

    @classmethod
    def start(cls, n_outputs: int, n_spaces: int) -> ProgressiveValidation:
        """Before the first row."""
        return cls(
            np.zeros((2, N_BINS)),
            np.zeros((2, 2)),
            np.array([1.0, 0.0]),
            np.zeros((n_outputs, n_spaces)),
            Adwin.empty(),
            np.zeros(N_ALARMS, dtype=np.intp),
            np.zeros(2, dtype=np.intp),
        )

    @property
    def n_rows(self) -> int:
        """Rows validated so far."""
        return int(self.count[_ROWS])

    @property
    def n_alarms(self) -> int:
        """Alarms so far."""
        return int(self.count[_ALARMS])

    def latest_alarms(self) -> Ints:
        """The number of rows at each of the latest 100 alarms, oldest first."""
        n = self.n_alarms
        return np.roll(self.alarms, -(n % N_ALARMS) if n > N_ALARMS else 0)[: min(n, N_ALARMS)]

    def scores(self, half_life: float) -> tuple[Floats, Bools, Floats]:
        """The rows so far as (score, positive, weight): one for each bin in use.

        The weights sum to the effective number of rows.
        """
        negative, positive = self.bins.copy()  # another thread may be learning
        used = [np.flatnonzero(negative), np.flatnonzero(positive)]
        score = bin_score(np.concatenate(used))
        weight = np.concatenate([negative[used[0]], positive[used[1]]])
        is_positive = np.arange(score.size) >= used[0].size
        # For weights r^i it is (Σr^i)²/Σr^2i = (1 − r^n)(1 + r)/((1 − r)(1 + r^n)).
        rate = np.log(2) / half_life
        effective = np.tanh(self.n_rows * rate / 2) / np.tanh(rate / 2)
        return score, is_positive, weight * (effective / (weight.sum() or 1.0))

    def progress(self, half_life: float, n_classes: int) -> Progress:
        """How the stream goes so far."""
        (tn, fp), (fn, tp) = self.decisions.copy()
        error = _share(fp + fn, tn + tp)
        if n_classes > 2:
            return Progress(self.n_rows, np.nan, np.nan, np.nan, np.nan, error)
        score, positive, weight = self.scores(half_life)
        one_class = not positive.any() or positive.all()
        return Progress(
            self.n_rows,
            np.nan if one_class else average_precision(positive, score, sample_weight=weight),
            _share(tp, fp),
            _share(tp, fn),
            _share(tp + fp, tn + fn),
            error,
        )


def bin_score(number: Ints) -> Floats:
    """The score in the middle of each bin."""
    return np.sinh(((number + 0.5) / N_BINS * 2 - 1) * _FARTHEST)


def _share(part: float, rest: float) -> float:
    return float(part / (part + rest)) if part + rest else np.nan


@reordering_kernel
def bin_of(score: float) -> int:
    """The bin of a score; NaN has the lowest."""
    place = (np.arcsinh(score) / _FARTHEST + 1) / 2 * N_BINS
    return int(min(place, N_BINS - 1.0)) if place > 0 else 0


@reordering_kernel
def validate_score(
    validation: ProgressiveValidation,
    score: float,
    alert: bool,
    is_positive: bool,
    weight: float,
    growth: float,
    delta: float,
) -> bool:
    """Validate a row of two classes by its score and decision; return whether to raise an alarm.

    ADWIN watches the terms of average precision: for each positive, the precision of the list of
    rows so far down to it.
    """
    own = validation.weights[0] * weight
    place = bin_of(score)
    worse = False
    if is_positive:
        over = validation.bins[0, place] / 2
        found = validation.bins[1, place] / 2 + own
        for b in range(place + 1, N_BINS):
            over += validation.bins[0, b]
            found += validation.bins[1, b]
        worse = adwin_add(validation.window, found / (found + over), delta) < 0
    validation.bins[1 if is_positive else 0, place] += own
    validation.decisions[1 if is_positive else 0, 1 if alert else 0] += own
    return _count(validation, own, growth, worse)


@reordering_kernel
def validate_error(
    validation: ProgressiveValidation, wrong: bool, weight: float, growth: float, delta: float
) -> bool:
    """Validate a row of many classes by whether its predicted class is wrong."""
    own = validation.weights[0] * weight
    validation.decisions[0, 1 if wrong else 0] += own
    return _count(
        validation, own, growth, adwin_add(validation.window, 1.0 if wrong else 0.0, delta) > 0
    )


@reordering_kernel
def _count(validation: ProgressiveValidation, own: float, growth: float, worse: bool) -> bool:
    weights = validation.weights
    weights[1] += own
    validation.count[_ROWS] += 1
    weights[0] *= growth
    if weights[0] > _LARGEST_WEIGHT:
        validation.bins[:] /= weights[0]
        validation.decisions[:] /= weights[0]
        validation.contributions[:] /= weights[0]
        weights[1] /= weights[0]
        weights[0] = 1.0
    if worse:
        validation.alarms[validation.count[_ALARMS] % N_ALARMS] = validation.count[_ROWS]
        validation.count[_ALARMS] += 1
    return worse
