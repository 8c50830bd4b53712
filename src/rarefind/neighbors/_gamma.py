"""γk-NN: nearest neighbours with the distance to the positives scaled, the scale found exactly."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rarefind._core.fields import Either, FloatArray, IntArray, Perhaps, RealNumber, StateError
from rarefind._core.saved import saved
from rarefind._core.sklearn_compat import with_callbacks
from rarefind._core.state import State
from rarefind._core.types import Array, ArrayLike, Floats, Ints, Label, Table
from rarefind.metrics import CountMetric
from rarefind.neighbors._classifier import NEIGHBOUR_STATE, NeighbourClassifier
from rarefind.neighbors._held_out import PointSet, query
from rarefind.neighbors._plurality import best_class_scales, share_votes, votes
from rarefind.neighbors._ratio import (
    Scales,
    TwoDistances,
    best_scales,
    voters,
)
from rarefind.neighbors._sampling import resample
from rarefind.search import DISTANCES, NeighborSearch


def _check_scales(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    two, order = sizes["classes"] == 2, state["_rare_first"].tolist()
    if sorted(order) != list(range(len(order))):
        raise StateError("'_rare_first' is not an order of the classes")
    if [s.code for s in state["_sets"] if s.code >= 0] != order:
        raise StateError("'_sets' are not in the order of the classes")
    if two != isinstance(state["gamma_"], float):
        raise StateError("'gamma_' is not that of the classes")
    if two and not {"_relative", "threshold_"} <= state.keys():
        raise StateError("the threshold is missing")
    if not two and len({s.k for s in state["_sets"]}) > 1:
        raise StateError("'_sets' ask for another number of rows of each class")


@saved(
    "gamma-knn",
    state=NEIGHBOUR_STATE
    | State(
        {
            "_rare_first": IntArray("classes"),
            "gamma_": Either(RealNumber(above=0), FloatArray("classes", above=0)),
            "threshold_": Perhaps(RealNumber(above=0)),
            "cost_ratio_": Perhaps(RealNumber(above=0)),
            "_relative": Perhaps(RealNumber(above=0)),
            "gamma_synthetic_": Perhaps(RealNumber(above=0)),
        },
        _check_scales,
    ),
)
class GammaKNNClassifier(NeighbourClassifier):
    """Nearest neighbours that bring the positives closer by a factor γ.

    Distances to positives are multiplied by γ ≤ 1 before the k nearest rows vote, which widens the
    region of influence of the few positives (Algorithm 2.1 of [1]_, Algorithm 1 of [2]_). With
    q = ⌈k/2⌉ and r = k − q + 1 the vote is positive if and only if γ ≤ D⁻₍r₎/D⁺₍q₎, the distance to
    the r-th nearest negative over that to the q-th nearest positive. The ratio is the ``priority``;
    one search gives the ranking, the decision for every γ, and the exact best γ, where the papers
    tried a grid.

    Distances compare features, so scale the columns first.

    Parameters
    ----------
    k : int, default=3
        Neighbours that vote.
    gamma : "auto", float or None, default="auto"
        Scale of the distance to the positives, the ``threshold_`` of the priority. ``"auto"`` takes
        the exact maximum of ``metric`` over (0, 1] on held-out rows; a number fixes it; ``None`` is
        plain k-NN (γ = 1), fitted without any held-out search: probabilities are then the ratio's
        own D⁻/(D⁺+D⁻), and reasons name no rank. With more than two classes, a mapping gives the
        scale of each class.
    metric : str or callable, default="f1"
        What γ maximises: a name for :func:`rarefind.metrics.count_metric` or a function of
        ``(tp, fp, fn, tn)``. With more than two classes, its mean over the classes.
    distance : {"euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "precomputed"}, \
            default="euclidean"
        The distance. With ``"precomputed"``, ``fit`` takes the square table of distances and the
        other methods the distances to the rows fitted.
    p : float, default=2
        Power of the Minkowski distance.
    sampler : imbalanced-learn sampler, default=None
        Adds synthetic positives, which get a scale of their own. Samplers that also delete rows
        are fine.
    gamma_synthetic : "auto" or float, default="auto"
        Scale of the distance to synthetic positives, tuned over (0, 2].
    cv : None, int or splitter, default=None
        How rows are held out to tune γ and the probabilities: None leaves one row out at a time, or
        makes 5 folds where a sampler or groups are given; a number makes that many folds, fewer
        when a class has fewer rows.
    max_queries : int, default=50_000
        At most this many rows of a class are held out, drawn at random and weighted to stand for
        all. Up to this size γ is exact.
    pos_label : label, default=None
        The positive label; by default the rarer one.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, the sampler (unless it has one) and the drawn negatives.
    n_jobs : int, default=None
        Cores for the search; None uses all.
    verbose : int, default=0
        Above 0, show progress.

    Attributes
    ----------
    gamma_ : float or ndarray of shape (n_classes,)
        The scale, or that of each class when there are more than two.
    gamma_synthetic_ : float
        The scale of synthetic positives; only with a sampler and two classes.
    threshold_ : float
        Equal to ``gamma_``.
    value_ : float
        ``metric`` on the held-out rows at that scale; NaN when nothing was held out.
    cost_ratio_ : float
        The costs that γ implies, c_fn / c_fp = 1/γ: what a missed positive weighs in false alarms.
        With c_fp + c_fn = 1, c_fp = γ/(1+γ).
    synthetic_positives_ : ndarray or None
        Rows that the sampler made; None without a sampler.
    classes_, pos_label_, n_features_in_, feature_names_in_
        See :class:`rarefind.base.RareClassifier`.

    Notes
    -----
    Edges, in this order: fewer than q positives give priority 0, fewer than r negatives one above
    all others. A row that is a copy of n⁺ positives and n⁻ negatives, n⁺ ≥ q or n⁻ ≥ r of them, has
    the priority (((n⁺ + ½)/q)/((n⁻ + ½)/r))^(1/√d) in d columns (1 for given distances): the ratio
    of copies spread out a little. With q positives at distance 0 and no negative it is above all
    others, the higher the further the negatives. Other ties between a positive and a negative go to
    the positive. A training row is left out of its own search by its number, so its copies still
    count.

    Probabilities are logistic in log s, fitted to the held-out rows. With more than two classes the
    k nearest rows vote by plurality, ties go to the rarer class, and probabilities are the shares
    of the vote; of more than k copies of a row the k votes are shared out by their numbers.

    A fit that takes long says so after its first rows: in the progress bar, to callbacks, and in
    the log ``rarefind.neighbors``.

    References
    ----------
    .. [1] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, chapter 2. The ratio and the exact γ are ours.
    .. [2] R. Viola et al., "An Adjusted Nearest Neighbor Algorithm Maximizing the F-Measure from
       Imbalanced Data", ICTAI 2019.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from rarefind.data import load_keel
    >>> from rarefind.metrics import get_scorer
    >>> from rarefind.neighbors import GammaKNNClassifier
    >>> X, y = load_keel("yeast4")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = make_pipeline(MinMaxScaler(), GammaKNNClassifier()).fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.28
    """

    _many_classes = True
    _parameter_constraints = {  # noqa: RUF012
        "k": [Interval(Integral, 1, None, closed="left")],
        "gamma": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither"), dict, None],
        "metric": [str, callable],
        "distance": [StrOptions(set(DISTANCES))],
        "p": [Interval(Real, 1, None, closed="both")],
        "sampler": [HasMethods("fit_resample"), None],
        "gamma_synthetic": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "cv": ["cv_object"],
        "max_queries": [Interval(Integral, 1, None, closed="left")],
        "pos_label": "no_validation",
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    gamma_: Any
    value_: float

    def __init__(
        self,
        k: int = 3,
        gamma: Any = "auto",
        *,
        metric: Any = "f1",
        distance: str = "euclidean",
        p: float = 2,
        sampler: Any = None,
        gamma_synthetic: Any = "auto",
        cv: Any = None,
        max_queries: int = 50_000,
        pos_label: Label = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.k = k
        self.gamma = gamma
        self.metric = metric
        self.distance = distance
        self.p = p
        self.sampler = sampler
        self.gamma_synthetic = gamma_synthetic
        self.cv = cv
        self.max_queries = max_queries
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Table, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Store the rows and find γ.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows; the square table of their distances with ``distance="precomputed"``.
        y : array-like of shape (n,)
            The labels.
        groups : array-like of shape (n,), default=None
            Rows of one group are held out together while tuning.

        Returns
        -------
        self
        """
        table = X
        X, codes = self._start_fit(X, y, self.pos_label)
        metric = self._check_choices(X)
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(2**31 - 1))
        # The classes in the order in which ties go: the positive one, or the rarest, first.
        self._rare_first = np.argsort(np.bincount(codes), kind="stable")
        if self.classes_.size == 2:
            self._rare_first = np.argsort(~self._is_positive(np.arange(2)))
        self._start_sets(X, codes, seed)
        if self._given_scales(alone=np.bincount(codes).min() < 2):
            return self
        rows, weight, distances = self._hold_out(
            table, X, codes, groups, rng, seed, one_by_one=self.sampler is None
        )
        if self.classes_.size > 2:
            self._choose_class_scales(share_votes(distances), codes[rows], weight, metric)
        else:
            self._choose_scales(self._pair(distances), codes[rows], weight, metric)
        return self

    @property
    def synthetic_positives_(self) -> Array | None:
        """Rows that the sampler made; None without a sampler."""
        check_is_fitted(self)
        return next((s.search.points for s in self._sets if s.code == -1), None)

    def _labels(self, X: Floats) -> Array:
        if self.classes_.size == 2:
            return super()._labels(X)
        return self.classes_[self._rare_first[self._votes(X).argmax(axis=1)]]

    def _probabilities(self, X: Floats) -> Floats:
        if self.classes_.size == 2:
            return super()._probabilities(X)
        counts = self._votes(X).astype(float)
        # Half a vote to the winner, so that ties of the vote end as in predict.
        counts[np.arange(len(counts)), counts.argmax(axis=1)] += 0.5
        shares = np.empty_like(counts)
        shares[:, self._rare_first] = counts / counts.sum(axis=1, keepdims=True)
        return shares

    def _votes(self, X: Floats) -> Ints:
        """Votes of each class, from the rarest on."""
        return votes(share_votes(query(self._sets, X)), self.gamma_[self._rare_first])

    def _check_choices(self, X: Floats) -> CountMetric:
        metric = self._count_metric()
        many = self.classes_.size > 2
        if many and self.sampler is not None:
            raise ValueError(
                f"A sampler needs two classes, and y has {self.classes_.size}: leave sampler out."
            )
        if isinstance(self.gamma, dict) and not (many and set(self.gamma) == set(self.classes_)):
            raise ValueError(
                "gamma as a mapping is for more than two classes, and must name each of them: give "
                "all of them, or a number, None or 'auto'."
            )
        if self.distance == "precomputed":
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"Precomputed distances of the fit must be a square table, not {X.shape}."
                )
            if self.sampler is not None:
                raise ValueError(
                    "A sampler makes new rows, which have no precomputed distances: leave sampler "
                    "out."
                )
            if (X < 0).any():
                raise ValueError("Precomputed distances must not be negative.")
        return metric

    def _point_sets(self, X: Floats, codes: Ints, rows: Ints, seed: int) -> list[PointSet]:
        """Search among the given rows: positives, synthetic ones if any, negatives; or by class."""

        def among(chosen: Ints, k: int, code: int, points: Array | None = None) -> PointSet:
            if points is None:
                points = chosen if self.distance == "precomputed" else X[chosen]
            search = NeighborSearch(points, distance=self.distance, p=self.p, n_jobs=self.n_jobs)
            return PointSet(search, k, code, chosen)

        if self.classes_.size > 2:
            return [among(rows[codes[rows] == c], self.k, int(c)) for c in self._rare_first]
        q, r = voters(self.k)
        rare, common = self._rare_first
        positive = codes[rows] == rare
        if self.sampler is None:
            return [among(rows[positive], q, rare), among(rows[~positive], r, common)]
        drawn = resample(self.sampler, X[rows], positive, seed)
        real, made = drawn.row >= 0, drawn.positive & (drawn.row < 0)
        nowhere = np.full(drawn.row.size, -1, dtype=np.intp)
        return [
            among(rows[drawn.row[real]], q, rare, drawn.X[real]),
            among(nowhere[made], q, -1, drawn.X[made]),
            among(nowhere[~drawn.positive], r, common, drawn.X[~drawn.positive]),
        ]

    def _given_scales(self, *, alone: bool) -> bool:
        """Take the scales that need no held-out rows; False where there are some to find.

        A row that is ``alone`` in its class cannot be held out to calibrate a given scale.
        """
        if self.classes_.size > 2 and self.gamma != "auto":
            scales = self.gamma if isinstance(self.gamma, dict) else {}
            most_frequent = self.classes_[self._rare_first[-1]]
            one = 1.0 if self.gamma is None else self.gamma
            self.gamma_ = np.array(
                [scales.get(c, 1.0 if c == most_frequent else one) for c in self.classes_], float
            )
            self.value_ = np.nan
            return True
        if self.gamma is None or (alone and self.gamma != "auto"):
            gamma = 1.0 if self.gamma is None else float(self.gamma)
            synthetic = gamma if self.gamma_synthetic == "auto" else self.gamma_synthetic
            self._keep(Scales(gamma, synthetic / gamma, np.nan))
            return True
        return False

    def _choose_scales(
        self, distances: TwoDistances, codes: Ints, weight: Floats, metric: CountMetric
    ) -> None:
        """Two classes: γ, the scale of synthetic positives, the probabilities and the reference."""
        positive = codes == self._rare_first[0]
        given = None if self.gamma == "auto" else self.gamma
        synthetic = None if self.gamma_synthetic == "auto" else self.gamma_synthetic
        if given is None:
            findable = np.isfinite(distances.positive()[positive])
            self._check_findable(findable, "give gamma a number")
        scales = best_scales(distances, positive, weight, metric, given, synthetic)
        self._calibrate(distances.score(scales.relative), positive, weight, scales.gamma)
        self._keep(scales)

    def _keep(self, scales: Scales) -> None:
        self.gamma_ = self.threshold_ = scales.gamma
        self.cost_ratio_ = 1 / scales.gamma
        self.value_ = scales.value
        self._relative = scales.relative
        if self.sampler is not None:
            self.gamma_synthetic_ = scales.gamma * scales.relative

    def _choose_class_scales(
        self, distances: Floats, codes: Ints, weight: Floats, metric: CountMetric
    ) -> None:
        """More than two classes: one scale a class, the most frequent one's being 1."""
        place = np.argsort(self._rare_first)
        scales, self.value_ = best_class_scales(distances, place[codes], weight, metric)
        self.gamma_ = scales[place]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.distance == "precomputed"
        return tags
