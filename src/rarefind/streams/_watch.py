"""Progressive validation of a flow: each row is judged by the score it had before it was learned.

Scores are kept as counts in 4,096 bins a class, in which a row weighs half after ``half_life`` more
rows: bounded memory, and the threshold, the probabilities, average precision and ranks all come
from them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rarefind._core.kernels import reordering_kernel
from rarefind._core.saved import saved
from rarefind._core.types import Bools, Floats, Ints
from rarefind.streams._adwin import Adwin, adwin_add

N_BINS = 4096
_FARTHEST = 10.0  # in asinh: scores up to 11,000 either way have bins of their own
_LARGEST_WEIGHT = 1e100
# Alarms that are remembered, the latest.
N_ALARMS = 100

# The places in Watch.count.
_ROWS, _ALARMS = 0, 1


@saved("stream-watch")
class Watch(NamedTuple):
    """What is known of the scores of rows before they were learned."""

    bins: Floats  # (2, N_BINS): fading counts of negatives and of positives by score
    decided: Floats  # (2, 2): fading counts by class and decision; with many classes [0, wrong]
    gain: Floats  # (2,): the weight of the next row, and of all rows so far
    shown: Floats  # (classes, P): fading sum of what each representation added, without its sign
    window: Adwin  # of the terms of average precision, or of the errors with many classes
    alarms: Ints  # (N_ALARMS,): the rows at which it alarmed, in a ring
    count: Ints  # type: ignore[assignment]  # (2,): rows judged, alarms so far

    @classmethod
    def start(cls, n_outputs: int, n_spaces: int) -> Watch:
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
        """Rows judged so far."""
        return int(self.count[_ROWS])

    @property
    def n_alarms(self) -> int:
        """Alarms so far."""
        return int(self.count[_ALARMS])

    def latest_alarms(self) -> Ints:
        """The rows at which it alarmed, the latest 100, oldest first."""
        n = self.n_alarms
        return np.roll(self.alarms, -(n % N_ALARMS) if n > N_ALARMS else 0)[: min(n, N_ALARMS)]

    def scores(self, half_life: float) -> tuple[Floats, Bools, Floats]:
        """The rows so far as (score, positive, weight): one for each bin in use.

        Weights sum to the number of rows that fading ones are worth.
        """
        negative, positive = self.bins.copy()  # another thread may learn meanwhile
        used = [np.flatnonzero(negative), np.flatnonzero(positive)]
        score = bin_score(np.concatenate(used))
        weight = np.concatenate([negative[used[0]], positive[used[1]]])
        is_positive = np.arange(score.size) >= used[0].size
        # Of n rows with weights r^i that is (Σr^i)²/Σr^2i = (1 − r^n)(1 + r)/((1 − r)(1 + r^n)).
        rate = np.log(2) / half_life
        worth = np.tanh(self.n_rows * rate / 2) / np.tanh(rate / 2)
        return score, is_positive, weight * (worth / (weight.sum() or 1.0))


def bin_score(number: Ints) -> Floats:
    """The score in the middle of each bin."""
    return np.sinh(((number + 0.5) / N_BINS * 2 - 1) * _FARTHEST)


@reordering_kernel
def bin_of(score: float) -> int:
    """The bin of a score; what is no number has the lowest."""
    place = (np.arcsinh(score) / _FARTHEST + 1) / 2 * N_BINS
    return int(min(place, N_BINS - 1.0)) if place > 0 else 0


@reordering_kernel
def watch_score(
    watch: Watch,
    score: float,
    alert: bool,
    is_positive: bool,
    weight: float,
    growth: float,
    delta: float,
) -> bool:
    """Judge a row of two classes by its score and decision; whether the list has become worse.

    What is watched are the terms of average precision: the precision of the list of rows so far
    down to each positive.
    """
    own = watch.gain[0] * weight
    place = bin_of(score)
    worse = False
    if is_positive:
        over = watch.bins[0, place] / 2
        found = watch.bins[1, place] / 2 + own
        for b in range(place + 1, N_BINS):
            over += watch.bins[0, b]
            found += watch.bins[1, b]
        worse = adwin_add(watch.window, found / (found + over), delta) < 0
    watch.bins[1 if is_positive else 0, place] += own
    watch.decided[1 if is_positive else 0, 1 if alert else 0] += own
    return _count(watch, own, growth, worse)


@reordering_kernel
def watch_error(watch: Watch, wrong: bool, weight: float, growth: float, delta: float) -> bool:
    """Judge a row of many classes by the class it was given."""
    own = watch.gain[0] * weight
    watch.decided[0, 1 if wrong else 0] += own
    return _count(watch, own, growth, adwin_add(watch.window, 1.0 if wrong else 0.0, delta) > 0)


@reordering_kernel
def _count(watch: Watch, own: float, growth: float, worse: bool) -> bool:
    gain = watch.gain
    gain[1] += own
    watch.count[_ROWS] += 1
    gain[0] *= growth
    if gain[0] > _LARGEST_WEIGHT:
        watch.bins[:] /= gain[0]
        watch.decided[:] /= gain[0]
        watch.shown[:] /= gain[0]
        gain[1] /= gain[0]
        gain[0] = 1.0
    if worse:
        watch.alarms[watch.count[_ALARMS] % N_ALARMS] = watch.count[_ROWS]
        watch.count[_ALARMS] += 1
    return worse
