"""How sure a share of counted rows is."""

from __future__ import annotations

from scipy.stats import beta

# Probability that the interval misses the true share, on each side.
_TAIL = (1 - 0.95) / 2


def share_interval(hits: float, n: float) -> tuple[float, float]:
    """Clopper and Pearson's 95 % interval of a share; weighted counts need not be whole numbers."""
    low = beta.ppf(_TAIL, hits, n - hits + 1) if hits else 0.0
    high = beta.ppf(1 - _TAIL, hits + 1, n - hits) if hits < n else 1.0
    return float(low), float(high)
