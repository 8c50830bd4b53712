"""Two counts of the same bins: how far apart they are, and whether noise alone could do that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincc

from rarefind._core.types import Floats

#: Population stability index from which on a column has moved, and has changed.
MOVED, CHANGED = 0.1, 0.25
# Probability of a false alarm, over all columns of a table.
FALSE_ALARMS = 0.001
# Rows of each bin that empty ones are smoothed by.
_PSEUDO = 0.5
# Fewer rows out of place are not an alarm: one of a rare level is not drift, however rare it is.
HANDFUL = 5


@dataclass(frozen=True)
class Shift:
    """How far the shares of bins went.

    ``index`` is the population stability index Σ (q − p) log(q/p), ``noise`` what it is expected
    to be between samples of one distribution, and ``p_value`` how likely they differ as much.
    ``displaced`` is how many rows are where they would not be, and ``added`` what each bin adds to
    the index.
    """

    index: float
    noise: float
    p_value: float
    displaced: float
    added: Floats

    def verdict(self, tests: int) -> str:
        """``stable``, ``moved`` or ``changed``, where so many comparisons are made."""
        beyond = self.index - self.noise
        is_noise = self.p_value * tests > FALSE_ALARMS or self.displaced < HANDFUL
        if is_noise or beyond < MOVED:
            return "stable"
        return "changed" if beyond >= CHANGED else "moved"


def shift_between(before: Floats, now: Floats) -> Shift:
    """Compare counts of the same bins at two times."""
    used = before + now > 0
    bins, n, m = int(used.sum()), float(before.sum()), float(now.sum())
    added = np.zeros(before.size)
    if bins < 2 or not n or not m:
        return Shift(0.0, 0.0, 1.0, 0.0, added)
    share = (before[used] + _PSEUDO) / (n + _PSEUDO * bins)
    # Drawn to the shares before, so that bins as rare as ever add nothing in a small file.
    current = (now[used] + _PSEUDO * bins * share) / (m + _PSEUDO * bins)
    added[used] = (current - share) * np.log(current / share)
    noise = (bins - 1) * (1 / n + 1 / m)
    p_value = _p_value(before[used], now[used])
    displaced = float(np.abs(now / m - before / n).sum() / 2 * m)
    return Shift(float(added.sum()), noise, p_value, displaced, added)


def _p_value(before: Floats, now: Floats) -> float:
    """Pearson's test of homogeneity, its law a gamma with the statistic's own mean and variance.

    With rare bins the statistic varies far more than a χ² does: Var = 2(k−1) + (Σ 1/π − k² − 2k +
    2)/N under one multinomial (Haldane 1937); N is taken to be the smaller sample.
    """
    n, m, bins = float(before.sum()), float(now.sum()), before.size
    pooled = (before + now) / (n + m)
    statistic = sum(
        float(((counts - rows * pooled) ** 2 / (rows * pooled)).sum())
        for counts, rows in ((before, n), (now, m))
    )
    mean = bins - 1.0
    rare = float((1 / pooled).sum()) - bins**2 - 2 * bins + 2
    variance = 2 * mean + max(0.0, rare / min(n, m))
    return float(gammaincc(mean**2 / variance, statistic * mean / variance))
