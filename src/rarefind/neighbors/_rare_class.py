"""kRNN: a neighbourhood that grows until it has k positives, and how dense they are in it."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.utils._param_validation import Interval

from rarefind._core.saved import saved
from rarefind._core.types import Bools, Floats, Ints, Label
from rarefind.neighbors._baseline import BASELINE_STATE, SurroundingsClassifier, nearness
from rarefind.neighbors._growing import neighbourhoods
from rarefind.neighbors._held_out import PointSet
from rarefind.neighbors._ratio import ratio

# Equal posteriors differ in the last digits: odds grow by at most this share of themselves.
_LAST_DIGITS = 2.0**-36


@saved("k-rare-nn", state=BASELINE_STATE)
class KRNNClassifier(SurroundingsClassifier):
    """Nearest neighbours until k of them are positive (kRNN).

    The neighbourhood of a row grows until it has k positives, and then as long as the next
    nearest row is positive too [1]_: k_q ≥ k positives and n_q negatives. Without a negative in it
    the posterior of the positive class is 1. Else it is (k_q + 1/m)/(k_q + n + 2/m) for m training
    rows, with n = n_q; but where the positives are denser in the neighbourhood than among all rows
    (the lower end of the Wilson interval of k_q/(k_q + n_q) above the upper end of the Wald
    interval of m₊/m), n is n_q/λ, with λ = (k_q/n_q)/(m₊/m₋) the local odds over the global ones. A
    row is positive where the posterior reaches one half. It is a baseline of section 2.5 of [2]_.

    The odds of the posterior are (k_q + 1/m)/(n + 1/m), which is the ``priority``, with the
    threshold 1: k_q ≥ n_q, or (k_q/n_q)² ≥ m₊/m₋ where the positives are denser. Counts are whole
    numbers, so many rows are equal; among those the one nearer to a positive than to a negative
    goes first, by less than the tenth digit of the odds.

    Distances compare features, so scale the columns first.

    Parameters
    ----------
    k : int, default=3
        Positives that make a neighbourhood; all of them where there are fewer.
    c_global, c_local : float, default=0.1
        Probabilities that the intervals of the positives' share among all rows, and in the
        neighbourhood, miss it.
    threshold : None, "auto" or float, default=None
        ``None`` is the method's own rule, fitted without any held-out search; ``"auto"`` takes the
        exact maximum of ``metric`` on held-out rows; a number fixes it, and held-out rows give the
        probabilities and the ranks.
    metric : str or callable, default="f1"
        What ``threshold="auto"`` maximises: a name for :func:`rarefind.metrics.count_metric` or a
        function of ``(tp, fp, fn, tn)``.
    distance : {"euclidean", "manhattan", "chebyshev", "minkowski", "cosine"}, default="euclidean"
        The distance.
    p : float, default=2
        Power of the Minkowski distance.
    cv : None, int or splitter, default=None
        How rows are held out: None leaves one row out at a time, or makes 5 folds where groups are
        given; a number makes that many folds, fewer when a class has fewer rows.
    max_queries : int, default=50_000
        At most this many rows of a class are held out, drawn at random and weighted to stand for
        all.
    pos_label : label, default=None
        The positive label; by default the rarer one.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the rows drawn.
    n_jobs : int, default=None
        Cores for the search; None uses all.
    verbose : int, default=0
        Above 0, show progress.

    Attributes
    ----------
    threshold_ : float
        The priority from which a row is positive; 1 by the method's own rule.
    value_ : float
        ``metric`` on the held-out rows at that threshold; NaN when nothing was held out.
    classes_, pos_label_, n_features_in_, feature_names_in_
        See :class:`rarefind.base.RareClassifier`.

    Notes
    -----
    At equal distances a positive is nearer than a negative, but all rows that a row is a copy of
    belong to its neighbourhood. The negatives that are nearer than the
    k-th positive are counted, not sorted, so that time grows with the product of the rows scored
    and stored, and memory only with their sum.

    Without held-out rows the probability is the posterior; with them it is logistic in the
    logarithm of the odds.

    References
    ----------
    .. [1] X. Zhang et al., "KRNN: k Rare-class Nearest Neighbour classification", Pattern
       Recognition 62, 2017.
    .. [2] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, sections 2.3 and 2.5. The order of equal posteriors is ours.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from rarefind.data import load_keel
    >>> from rarefind.metrics import get_scorer
    >>> from rarefind.neighbors import KRNNClassifier
    >>> X, y = load_keel("yeast4")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = make_pipeline(MinMaxScaler(), KRNNClassifier()).fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.22
    """

    _parameter_constraints = {  # noqa: RUF012
        **SurroundingsClassifier._parameter_constraints,
        "c_global": [Interval(Real, 0, 1, closed="neither")],
        "c_local": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        k: int = 3,
        *,
        c_global: float = 0.1,
        c_local: float = 0.1,
        threshold: Any = None,
        metric: Any = "f1",
        distance: str = "euclidean",
        p: float = 2,
        cv: Any = None,
        max_queries: int = 50_000,
        pos_label: Label = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            k,
            threshold=threshold,
            metric=metric,
            distance=distance,
            p=p,
            cv=cv,
            max_queries=max_queries,
            pos_label=pos_label,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.c_global = c_global
        self.c_local = c_local

    def _published_threshold(self, positive: Bools) -> float:
        return 1.0

    def _neighbor_counts(self) -> tuple[int, int]:
        return self.k, self.k

    def _score(
        self, sets: Sequence[PointSet], X: Floats, exclude: Sequence[Ints] | None = None
    ) -> Floats:
        nobody = np.full(len(X), -1, dtype=np.intp)
        own = (nobody, nobody) if exclude is None else exclude
        around = neighbourhoods(X, sets[0].search, sets[1].search, self.k, own)
        positives, negatives = (
            s.search.size - (o >= 0).astype(float) for s, o in zip(sets, own, strict=True)
        )
        odds = self._odds(around.positives, around.negatives, positives, negatives)
        inside = nearness(around.d_pos, around.d_neg)
        # More than the odds in any case, so that a posterior of one half is above the threshold.
        score = odds * (1 + _LAST_DIGITS * (1 + inside) / 2)
        score = np.where(odds < 1, np.minimum(score, np.nextafter(1.0, 0.0)), score)
        certain = ratio(np.zeros(len(X)), inside)
        score = np.where(around.negatives == 0, certain, score)
        return np.where(around.positives == 0, 0.0, score)

    def _odds(self, k_q: Floats, n_q: Floats, positives: Floats, negatives: Floats) -> Floats:
        """Odds of the posterior, of neighbourhoods among that many positives and negatives."""
        m = positives + negatives
        with np.errstate(divide="ignore", invalid="ignore"):
            dense = _wilson_low(k_q, k_q + n_q, self.c_local) > _wald_high(
                positives, m, self.c_global
            )
            n = np.where(dense, n_q * (n_q * positives) / (k_q * negatives), n_q)
        odds = (k_q + 1 / m) / (n + 1 / m)
        # On which side of the half they lie, whole numbers decide, free of rounding.
        half = np.where(dense, k_q * k_q * negatives >= n_q * n_q * positives, k_q >= n_q)
        below = np.nextafter(1.0, 0.0)
        return np.where(half, np.fmax(odds, 1.0), np.fmin(odds, below))


def _wald_high(hits: Floats, rows: Floats, level: float) -> Floats:
    """Upper end of the Wald interval of a share."""
    share = hits / rows
    return np.asarray(share + norm.isf(level / 2) * np.sqrt(share * (1 - share) / rows))


def _wilson_low(hits: Floats, rows: Floats, level: float) -> Floats:
    """Lower end of the Wilson interval of a share."""
    z, share = norm.isf(level / 2), hits / rows
    half_width = z * np.sqrt(share * (1 - share) / rows + z * z / (4 * rows * rows))
    return np.asarray((share + z * z / (2 * rows) - half_width) / (1 + z * z / rows))
