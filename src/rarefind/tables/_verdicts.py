"""Whether a list finds what is expected of it: hits among checked rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaincinv, gammaln, ndtr

from rarefind._core.types import Bools, Floats
from rarefind.metrics import Interval
from rarefind.metrics.intervals import share_interval

# Fewer hits than expected are an alarm below this p-value, and if they are much fewer.
_SIGNIFICANT, _AT_LEAST = 0.01, 0.8
_EXACT_ROWS, _NORMAL_VARIANCE, _TINY = 2000, 100.0, 1e-3
_FACTORS = 25


@dataclass(frozen=True)
class ListCheck:
    """What verdicts say of a list.

    Attributes
    ----------
    listed, checked, hits : int
        Rows on the list, those of them with a verdict, and the positives among these.
    precision : Interval
        Share of hits among checked rows, with its 95 % interval.
    expected : Interval
        Hits by the probabilities of the checked rows, with the interval that 95 % of such lists
        lie in.
    p_value : float
        Probability of so few hits, if the probabilities of the rows are right but for what the few
        hits at fit that they were learned from leave open.
    held_out : Interval or None
        Precision that the fit estimated of such a list, by rows that were held out.
    enough : bool
        Whether there are enough verdicts to tell that hits are fewer than expected.
    """

    listed: int
    checked: int
    hits: int
    precision: Interval
    expected: Interval
    p_value: float
    held_out: Interval | None
    enough: bool

    @classmethod
    def of(
        cls,
        probability: Floats,
        positive: Bools,
        listed: int,
        held_out: Interval | None = None,
        known: float = np.inf,
    ) -> ListCheck:
        """Count the hits of checked rows; ``probability`` is what the model gave them.

        ``known`` is the number of hits at fit that the probabilities were learned from.
        """
        law = expected_distribution(probability, known)
        checked, hits = positive.size, int(positive.sum())
        low, high = (int(np.searchsorted(law, level)) for level in (0.025, 0.975))
        return cls(
            listed=listed,
            checked=checked,
            hits=hits,
            precision=precision_of(hits, checked),
            expected=Interval(float(probability.sum()), low, min(high, checked)),
            p_value=float(law[min(hits, law.size - 1)]),
            held_out=held_out,
            # If no hit at all could be by chance, nothing can be shown.
            enough=float(law[0]) < _SIGNIFICANT,
        )

    @property
    def is_below(self) -> bool:
        """Whether the list found clearly less than expected.

        The p-value is below 0.01, at least a fifth of the hits is lacking, and, where rows were
        held out at fit, the two intervals of precision do not overlap.
        """
        short = self.p_value < _SIGNIFICANT and self.hits < _AT_LEAST * self.expected.value
        return short and (self.held_out is None or self.precision.high < self.held_out.low)

    def sentence(self) -> str:
        """What was found, and what was expected."""
        if not self.checked:
            return f"Of {_rows(self.listed)} on the list none has a verdict."
        found = (
            f"Of {_rows(self.listed)} on the list {self.checked:,} have a verdict and "
            f"{self.hits:,} are hits: precision {self.precision.value:.2f} "
            f"({self.precision.low:.2f} to {self.precision.high:.2f})"
        )
        expected = (
            f"the model expected {self.expected.value:.1f} hits "
            f"({self.expected.low:.0f} to {self.expected.high:.0f})"
        )
        if self.held_out is not None:
            expected += (
                f", and the fit estimated precision "
                f"{self.held_out.value:.2f} ({self.held_out.low:.2f} to {self.held_out.high:.2f})"
            )
        if not self.enough:
            return f"{found}; {expected}. Not enough verdicts to tell whether that is fewer."
        if not self.is_below:
            return f"{found}; {expected}. That is not clearly fewer."
        p_value = f"= {self.p_value:.1g}" if self.p_value >= 1e-6 else "< 0.000001"
        return f"{found}; {expected}. Fewer hits than expected (p {p_value})."

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "listed": self.listed,
            "checked": self.checked,
            "hits": self.hits,
            "precision": self.precision._asdict() if self.checked else None,
            "expected_hits": self.expected._asdict(),
            "p_value": self.p_value,
            "held_out_precision": None if self.held_out is None else self.held_out._asdict(),
            "enough": self.enough,
            "below_expected": self.is_below,
        }


def precision_of(hits: int, checked: int) -> Interval:
    """Share of hits with its 95 % interval; not a number where nothing was checked."""
    if not checked:
        return Interval(np.nan, 0.0, 1.0)
    return Interval(hits / checked, *share_interval(hits, checked))


def hits_distribution(probability: Floats) -> Floats:
    """Probability of at most 0, 1, 2, … hits: the Poisson binomial distribution.

    For many rows whose hits vary much it is the normal one. SciPy has the exact one from 1.15 on,
    which is not the oldest that rarefind runs with.
    """
    mean, variance = float(probability.sum()), float((probability * (1 - probability)).sum())
    most = min(probability.size, int(mean + 12 * np.sqrt(variance) + 20))
    if probability.size > _EXACT_ROWS and variance > _NORMAL_VARIANCE:
        return np.asarray(ndtr((np.arange(most + 1) + 0.5 - mean) / np.sqrt(variance)))
    # Of many rows, the least likely ones together are as good as Poisson's.
    tiny = probability < (_TINY if probability.size > _EXACT_ROWS else 0.0)
    law = _poisson(float(probability[tiny].sum()), most)
    for p in probability[~tiny]:
        law[1:] = law[1:] * (1 - p) + law[:-1] * p
        law[0] *= 1 - p
    return np.minimum(np.cumsum(law), 1.0)


def expected_distribution(probability: Floats, known: float) -> Floats:
    """The same, where the probabilities are as sure as the number of hits they were learned from.

    What all of them are too high or too low by is taken to be gamma distributed, with mean 1 and
    the relative error of that number.
    """
    if np.isinf(known):
        return hits_distribution(probability)
    known = max(known, 1.0)
    factors = gammaincinv(known, (np.arange(_FACTORS) + 0.5) / _FACTORS) / known
    laws = [hits_distribution(np.minimum(probability * factor, 1.0)) for factor in factors]
    longest = max(law.size for law in laws)
    return np.asarray(
        np.mean([np.pad(law, (0, longest - law.size), constant_values=1.0) for law in laws], axis=0)
    )


def _poisson(mean: float, most: int) -> Floats:
    if mean == 0:
        return np.append(1.0, np.zeros(most))
    k = np.arange(most + 1)
    return np.asarray(np.exp(k * np.log(mean) - mean - gammaln(k + 1)))


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"
