"""Bins that see the positives: cuts where the few positives lie, not only the many rows."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, _fit_context
from sklearn.utils import ClassifierTags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from rarefind._core.checks import check_finite
from rarefind._core.fields import FloatArray, LabelValue, ListOf, NameArray, Perhaps, Size
from rarefind._core.kernels import kernel, read_only
from rarefind._core.labels import choose_positive
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Array, ArrayLike, Bools, Floats, Ints, Label, Table

# Values whose codes are looked for at the same time: as many as stay at hand.
_TOGETHER = 256
WORTH_THREADS = 1_000_000
# The difference of two numbers up to this is finite.
_LARGEST_DIFFERENCE = np.finfo(float).max / 2


@saved(
    "positive-aware-binner",
    state=State(
        {
            "n_features_in_": Size("d", low=1),
            "feature_names_in_": Perhaps(NameArray("d")),
            "pos_label_": LabelValue(),
            "cuts_": ListOf(FloatArray("*", strict=True), size="d"),
        }
    ),
)
class PositiveAwareBinner(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Turn columns into bin codes, with cuts that separate the positives.

    Histogram boosters cut each column at quantiles of all rows; with one positive in a thousand the
    rows that matter share a bin with thousands of others. Here a column is cut at quantiles of the
    positives, at quantiles of the negatives, and ever more finely towards both ends, where the
    unusual lies.

    A code is the number of cuts at or below the value, so ``code >= c`` means
    ``value >= cuts_[column][c - 1]``; :meth:`inverse` gives that value. Missing values stay so.

    Parameters
    ----------
    n_positive : int, default=150
        Quantiles of the positives; no more than there are different ones.
    n_negative : int, default=200
        Quantiles of the negatives.
    n_extreme : int, default=24
        Quantiles of all rows at each end, spaced evenly in the logarithm of what lies beyond.
    max_bins : int, default=512
        Most bins of a column; beyond it, cuts are left out evenly.
    max_negatives : int or None, default=100_000
        Cuts are taken from all positives and at most that many negatives, evenly spaced over the
        rows; None takes all.
    pos_label : label, default=None
        The positive label; by default the rarer one.
    n_jobs : int, default=None
        Columns worked on at the same time; the result is the same.

    Attributes
    ----------
    cuts_ : list of ndarray
        The cuts of each column, rising, each between two values seen in the fit.
    pos_label_ : label
        The positive label.

    Examples
    --------
    >>> import numpy as np
    >>> from rarefind.data import PositiveAwareBinner
    >>> amount = np.r_[np.arange(1000.0), 221.5, 222.5][:, None]
    >>> fraud = np.r_[np.zeros(1000), 1, 1]
    >>> binner = PositiveAwareBinner(n_negative=4, n_extreme=0).fit(amount, fraud)
    >>> [round(float(c), 2) for c in binner.cuts_[0]]
    [221.25, 221.75, 222.25, 222.75, 249.5, 499.5, 749.5]
    >>> binner.transform([[221.5], [900.0]]).tolist()
    [[1.0], [7.0]]
    >>> binner.inverse(0, 1)
    221.25
    """

    _parameter_constraints = {  # noqa: RUF012
        "n_positive": [Interval(Integral, 0, None, closed="left")],
        "n_negative": [Interval(Integral, 0, None, closed="left")],
        "n_extreme": [Interval(Integral, 0, None, closed="left")],
        "max_bins": [Interval(Integral, 2, None, closed="left")],
        "max_negatives": [Interval(Integral, 1, None, closed="left"), None],
        "pos_label": "no_validation",
        "n_jobs": [Integral, None],
    }

    cuts_: list[Floats]
    pos_label_: Label

    def __init__(
        self,
        *,
        n_positive: int = 150,
        n_negative: int = 200,
        n_extreme: int = 24,
        max_bins: int = 512,
        max_negatives: int | None = 100_000,
        pos_label: Label = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_positive = n_positive
        self.n_negative = n_negative
        self.n_extreme = n_extreme
        self.max_bins = max_bins
        self.max_negatives = max_negatives
        self.pos_label = pos_label
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Table, y: ArrayLike) -> Self:
        """Find the cuts.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows; missing values are passed over.
        y : array-like of shape (n,)
            The labels, of two classes.

        Returns
        -------
        self
        """
        X, y = validate_data(
            self, X, y, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=2
        )
        check_finite(self, X, allow_nan=True)
        labels, codes = np.unique(y, return_inverse=True)
        if labels.size != 2:
            raise ValueError(
                f"Bins that see the positives need two classes; y holds {labels.size}."
            )
        self.pos_label_ = choose_positive(labels, np.bincount(codes), self.pos_label)
        positive = np.asarray(y) == self.pos_label_
        rows = self._rows_to_cut_by(positive)
        positive = positive[rows]
        self.cuts_ = Parallel(self.n_jobs, require="sharedmem")(
            delayed(self._cuts)(X[rows, j], positive) for j in range(X.shape[1])
        )
        return self

    def transform(self, X: Table) -> Floats:
        """Codes of the values: whole numbers from 0, NaN where the value is missing."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite=False)
        check_finite(self, X, allow_nan=True)
        codes = np.empty(X.shape)
        self._code(X, codes, self.n_jobs)
        return codes

    def _code(
        self, X: Floats, codes: Array, n_jobs: int | None, columns: Ints | None = None
    ) -> None:
        """Write the codes of checked rows to an array of floats, of 32 bits or more.

        The binner's own columns are all of the table, or those at the places given.
        """
        places = range(len(self.cuts_)) if columns is None else columns.tolist()
        work = [
            (X[:, j], cuts, np.arange(cuts.size + 1.0), codes[:, j])
            for j, cuts in zip(places, self.cuts_, strict=True)
        ]
        # Threads are started each time: for a few rows that takes longer than the work.
        if X.size > WORTH_THREADS:
            Parallel(n_jobs, require="sharedmem")(delayed(fill_codes)(*each) for each in work)
        else:
            for each in work:
                fill_codes(*each)

    def inverse(self, column: int, code: float) -> float:
        """The smallest value with this code or a higher one, in the column's own units.

        Parameters
        ----------
        column : int
            Which column.
        code : float
            A code, or a threshold between two codes as trees on codes have it: ``code >= 2.5``
            is ``code >= 3``.

        Returns
        -------
        float
            ``-inf`` for code 0, which every value has or exceeds; ``inf`` beyond the last code;
            NaN for NaN.
        """
        check_is_fitted(self)
        if np.isnan(code):
            return np.nan
        cuts = self.cuts_[column]
        place = int(np.ceil(code))
        if place <= 0:
            return -np.inf
        return float(cuts[place - 1]) if place <= cuts.size else np.inf

    def _rows_to_cut_by(self, positive: Bools) -> Ints:
        negatives = np.flatnonzero(~positive)
        step = 1 if self.max_negatives is None else -(-negatives.size // self.max_negatives)
        return np.sort(np.concatenate([np.flatnonzero(positive), negatives[::step]]))

    def _cuts(self, column: Floats, positive: Bools) -> Floats:
        known = ~np.isnan(column)
        values = np.unique(column[known])
        if values.size < 2:
            return np.empty(0)
        wanted = np.concatenate(
            [
                _quantiles(column[known & positive], self.n_positive),
                _quantiles(column[known & ~positive], self.n_negative),
                _tails(column[known], self.n_extreme),
            ]
        )
        # A cut lies half-way below the value it is taken from: no value of the fit is on a cut.
        place = np.unique(np.searchsorted(values, wanted, side="left"))
        place = place[(place > 0) & (place < values.size)]
        if place.size >= self.max_bins:
            place = place[np.linspace(0, place.size - 1, self.max_bins - 1).round().astype(int)]
        below, above = values[place - 1], values[place]
        middle = below / 2 + above / 2
        return np.unique(np.where(middle > below, middle, above))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        # It learns from two classes, as a classifier would.
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


@kernel
def find_code(value: float, cuts: Floats) -> int:
    """The number of cuts at or below a value."""
    low, size = 0, cuts.size
    while size > 0:
        half = size // 2
        if cuts[low + half] <= value:
            low += half + 1
            size -= half + 1
        else:
            size = half
    return low


@kernel
def find_place(value: float, levels: Floats) -> float:
    """The place of a value among the categories, NaN where it is not one of them."""
    # Mostly levels are the numbers from 0 on.
    if 0 <= value < levels.size and levels[int(value)] == value:
        return float(int(value))
    if not np.isnan(value):
        above = find_code(value, levels)
        if above > 0 and levels[above - 1] == value:
            return float(above - 1)
    return np.nan


def fill_codes(column: Floats, cuts: Floats, names: Array, codes: Array) -> None:
    """Fill the names of many values, by the number of cuts at or below each; NaN stays.

    Each step of the search is made for many values at once. It adds half of the cuts that are left,
    or nothing, without a branch that a processor could guess wrong, and several values go in one
    instruction: three times as fast as one by one.
    """
    _fill_codes(read_only(column), read_only(cuts), read_only(names), codes)


@kernel
def _fill_codes(column: Floats, cuts: Floats, names: Array, codes: Array) -> None:
    low = np.empty(_TOGETHER, dtype=np.int32)
    for start in range(0, column.size, _TOGETHER):
        n = min(_TOGETHER, column.size - start)
        low[:] = 0
        left = np.int32(cuts.size)
        while left > 1:
            half = np.int32(left >> 1)
            for i in range(n):
                middle = np.uint32(low[i] + half - np.int32(1))
                low[i] += half * np.int32(cuts[middle] <= column[start + i])
            left -= half
        for i in range(n):
            value = column[start + i]
            if left == 1:
                low[i] += np.int32(cuts[np.uint32(low[i])] <= value)
            codes[start + i] = np.nan if np.isnan(value) else names[np.uint32(low[i])]


def _quantiles(values: Floats, n: int) -> Floats:
    """About ``n`` quantiles; each value itself, and what follows it, where there are no more."""
    distinct = np.unique(values)
    if distinct.size <= n:
        with np.errstate(over="ignore"):  # what follows the largest number is not a cut
            return np.concatenate([distinct, np.nextafter(distinct, np.inf)])
    return _at_shares(values, np.arange(1, n) / n) if n > 1 else np.empty(0)


def _tails(values: Floats, n: int) -> Floats:
    """Quantiles towards both ends, down to a single row."""
    if not n or values.size < 2:
        return np.empty(0)
    beyond = np.geomspace(1 / values.size, 0.05, n)
    return _at_shares(values, np.concatenate([beyond, 1 - beyond]))


def _at_shares(values: Floats, shares: Floats) -> Floats:
    """Quantiles; between the largest and the least number the difference would be infinite."""
    if max(values.max(), -values.min()) > _LARGEST_DIFFERENCE:
        return np.asarray(4 * np.quantile(values / 4, shares))
    return np.asarray(np.quantile(values, shares))
