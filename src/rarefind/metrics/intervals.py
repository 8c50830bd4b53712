"""How sure a share of counted rows is."""

from __future__ import annotations

from scipy.stats import beta


def share_interval(hits: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's interval of a share: it holds the true one at least so often."""
    tail = (1 - level) / 2
    low = beta.ppf(tail, hits, n - hits + 1) if hits else 0.0
    high = beta.ppf(1 - tail, hits + 1, n - hits) if hits < n else 1.0
    return float(low), float(high)
