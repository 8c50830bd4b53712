"""wk-NN: the k nearest rows vote, the nearer the louder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rarefind._core.fields import StateError
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Bools, Floats
from rarefind.neighbors._baseline import BASELINE_STATE, BaselineClassifier, nearness
from rarefind.neighbors._ratio import ratio_of_copies
from rarefind.selection.calibration import ODDS

# The score of rows with a mixed vote is one more than the positives' share, so half of the vote:
_HALF = 1.5

# Where the zones of the priority begin and end, and the probabilities there.
_PROBABILITIES = (0.0, 1.0, 2.0, 3.0), (0.0, 0.1, 0.9, 1.0)


def _by_zone(score: Floats, threshold: float) -> Floats:
    return np.asarray(np.interp(score, *_PROBABILITIES))


def _check_votes(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    if any(s.k != state["k"] for s in state["_sets"]):
        raise StateError("'_sets' do not ask for 'k' points each")


@saved("distance-weighted-knn", state=BASELINE_STATE | State({}, _check_votes))
class DistanceWeightedKNNClassifier(BaselineClassifier):
    """Nearest neighbours that vote with the inverse of their distance (wk-NN).

    Each of the k nearest rows votes for its class with weight 1/D [1]_; where some of them are at
    distance 0, they vote alone. A row is positive where the positives' weight W⁺ reaches the
    negatives' W⁻: the decisions of scikit-learn's ``KNeighborsClassifier(weights="distance")``,
    ties going to the positive. It is a baseline of section 2.5 of [2]_.

    Most rows of imbalanced data have no positive among their k nearest, and a vote cannot rank
    them. So the ``priority`` has three zones: D⁻/(D⁺+D⁻) of the nearest positive and the nearest
    negative, squeezed into [0, 1), where no positive votes; 1 + W⁺/(W⁺+W⁻) where both classes vote;
    2 + the squeezed D⁻/(D⁺+D⁻) where only positives vote. The rule of the vote is the threshold
    1.5.

    Distances compare features, so scale the columns first.

    Parameters
    ----------
    k : int, default=3
        Neighbours that vote.
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
        The priority from which a row is positive; 1.5 by the method's own rule.
    value_ : float
        ``metric`` on the held-out rows at that threshold; NaN when nothing was held out.
    classes_, pos_label_, n_features_in_, feature_names_in_
        See :class:`rarefind.base.RareClassifier`.

    Notes
    -----
    At equal distances a positive is nearer than a negative. Where a row is a copy of more than k
    rows, of both classes, all of these vote, but for a class with less than half of a vote in k.
    Without held-out rows the probability
    is the share of the vote, squeezed into [0.1, 0.9], which leaves the ends to rows whose
    neighbours are all of one class; with them it is logistic in log s of the priority s.

    References
    ----------
    .. [1] S. A. Dudani, "The Distance-Weighted k-Nearest-Neighbor Rule", IEEE Transactions on
       Systems, Man, and Cybernetics, 1976.
    .. [2] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, sections 2.3 and 2.5. The zones of the priority are ours.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from rarefind.data import load_keel
    >>> from rarefind.metrics import get_scorer
    >>> from rarefind.neighbors import DistanceWeightedKNNClassifier
    >>> X, y = load_keel("yeast4")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = make_pipeline(MinMaxScaler(), DistanceWeightedKNNClassifier())
    >>> model = model.fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.2
    """

    _score_kind = ODDS._replace(uncalibrated=_by_zone)

    def _published_threshold(self, positive: Bools) -> float:
        return _HALF

    def _neighbor_counts(self) -> tuple[int, int]:
        return self.k, self.k

    def _scores_of(self, X: Floats, distances: list[Floats]) -> Floats:
        d_pos, d_neg, copies = distances
        w_pos, w_neg = _vote_of_copies(copies, self.k, *_vote(d_pos, d_neg))
        by_number = ratio_of_copies(copies[:, 0], copies[:, 1], (1, 1), self.n_features_in_)
        squeezed = nearness(d_pos[:, 0], d_neg[:, 0], by_number)
        with np.errstate(invalid="ignore"):
            share = w_pos / (w_pos + w_neg)
        # Rounding must not carry a vote across the half, and none lies on it: zero, in the decision
        # function, would be neither class.
        below, above = np.nextafter(_HALF, [0.0, 2.0])
        mixed = np.where(w_pos >= w_neg, np.fmax(1 + share, above), np.fmin(1 + share, below))
        return np.where(w_pos == 0, squeezed, np.where(w_neg == 0, 2 + squeezed, mixed))


def _vote_of_copies(copies: Floats, k: int, w_pos: Floats, w_neg: Floats) -> tuple[Floats, Floats]:
    """The weights, but of more than k copies of both classes those of their numbers.

    A class that would have less than half of one of the k votes has none.
    """
    pos, neg = copies.T
    many = (pos > 0) & (neg > 0) & (pos + neg > k)
    votes = k * copies / np.maximum(copies.sum(axis=1, keepdims=True), 1)
    counted = np.where(votes < 0.5, 0.0, copies).T
    return np.where(many, counted[0], w_pos), np.where(many, counted[1], w_neg)


def _vote(d_pos: Floats, d_neg: Floats) -> tuple[Floats, Floats]:
    """Weights W⁺ and W⁻ of the k nearest rows, from the distances to the k nearest of a class."""
    k = d_pos.shape[1]
    # Stable, with the positives in front: at equal distances they are nearer.
    nearest = np.argsort(np.concatenate([d_pos, d_neg], axis=1), axis=1, kind="stable")[:, :k]
    positives = (nearest < k).sum(axis=1)[:, None]
    place = np.arange(k)
    votes = place < positives, place < k - positives
    with np.errstate(divide="ignore", over="ignore"):
        weights = [np.where(v, 1 / d, 0.0) for v, d in zip(votes, (d_pos, d_neg), strict=True)]
    touching = [np.isinf(w) for w in weights]
    alone = np.any(touching[0] | touching[1], axis=1, keepdims=True)
    w_pos, w_neg = (
        np.where(alone, t, w).sum(axis=1) for w, t in zip(weights, touching, strict=True)
    )
    return w_pos, w_neg
