"""Local γk-NN: a γ for each region of the space."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from rarefind._core.fields import BoolArray, FloatArray, Object, RealNumber, Size
from rarefind._core.saved import saved
from rarefind._core.sklearn_compat import with_callbacks
from rarefind._core.state import State
from rarefind._core.types import ArrayLike, Floats, Ints, Label, Table
from rarefind.neighbors._classifier import NEIGHBOUR_STATE, NeighbourClassifier
from rarefind.neighbors._held_out import PointSet
from rarefind.neighbors._ratio import voters
from rarefind.neighbors._regions import HeldOutRatios, LocalScales, Regions, best_gamma
from rarefind.search import DISTANCES


@saved(
    "local-gamma-knn",
    state=NEIGHBOUR_STATE
    | State(
        {
            "threshold_": RealNumber(above=0),
            "global_gamma_": RealNumber(above=0),
            "_regions": Object("regions", n="regions", d="d"),
            "centres_": FloatArray("regions", "d"),
            "gammas_": FloatArray("regions", above=0),
            "fell_back_": BoolArray("regions"),
            "n_regions_": Size("regions", low=1),
        }
    ),
)
class LocalGammaKNNClassifier(NeighbourClassifier):
    """γk-NN with a γ for each region of the space.

    One γ for all rows cannot follow an imbalance that differs from place to place. So k-means cuts
    the space into regions, and the distances to the positives are multiplied by the γ of the region
    that a row falls into (sections 2.4.4 and 2.5.4 of [1]_). The ``priority`` is the ratio of
    γk-NN, D⁻₍r₎/D⁺₍q₎, over that γ: its ``threshold_`` is 1 everywhere.

    Distances compare features, so scale the columns first.

    Parameters
    ----------
    k : int, default=3
        Neighbours that vote.
    version : {"V1", "V2"}, default="V2"
        ``"V1"`` tunes γ inside each region. ``"V2"`` makes several clusterings, each of all rows
        but one fold, tunes γ inside the regions of each, gives every row the mean of the values of
        its regions, and a region the mean of its rows: neighbouring regions then differ less.
    n_regions : int or "auto", default="auto"
        Regions of the space; ``"auto"`` chooses among 1, 2, 4 and 8 by 3 folds.
    min_positives : int, default=8
        A region with fewer held-out positives takes the global γ.
    n_clusterings : int, default=10
        Clusterings of version 2, each of all rows but one fold.
    metric : str or callable, default="f1"
        What each γ maximises in its region: a name for :func:`rarefind.metrics.count_metric` or a
        function of ``(tp, fp, fn, tn)``.
    distance : {"euclidean", "manhattan", "chebyshev", "minkowski", "cosine"}, default="euclidean"
        The distance of the search. Regions are always Euclidean.
    p : float, default=2
        Power of the Minkowski distance.
    cv : None, int or splitter, default=None
        How rows are held out to score them: None leaves one row out at a time (5 folds where groups
        are given); a number makes that many folds, fewer when a class has fewer rows.
    max_queries : int, default=50_000
        At most this many rows of a class are held out, drawn at random and weighted to stand for
        all.
    pos_label : label, default=None
        The positive label; by default the rarer one.
    random_state : int, RandomState instance or None, default=None
        Seed of the clusterings, the folds and the drawn rows.
    n_jobs : int, default=None
        Cores for the search; None uses all.
    verbose : int, default=0
        Above 0, show progress.

    Attributes
    ----------
    gammas_ : ndarray of shape (n_regions,)
        The scale of each region.
    centres_ : ndarray of shape (n_regions, d)
        The centres of the regions; a row belongs to the nearest.
    n_regions_ : int
        As many regions as there are; fewer than asked for where rows coincide.
    fell_back_ : ndarray of bool of shape (n_regions,)
        Which regions take ``global_gamma_`` because too few positives tell.
    global_gamma_ : float
        The best γ for all rows.
    threshold_ : float
        1, as the priority is divided by the γ of the region.
    value_ : float
        ``metric`` on the rows that were held out from the search, at these scales, which were tuned
        on them.
    classes_, pos_label_, n_features_in_, feature_names_in_
        See :class:`rarefind.base.RareClassifier`.

    Notes
    -----
    Held-out ratios are computed once, by a search among all other rows, and tuned exactly where the
    thesis tries a grid: clusterings and numbers of regions cost no further search. The ratio is
    that to all rows, not only to those of the region. The regions of a clustering are tuned on its
    own rows: the fold that it leaves out, on which the thesis may be read to tune them, seldom
    holds enough positives of a region.

    References
    ----------
    .. [1] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, chapter 2.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from rarefind.data import load_keel
    >>> from rarefind.metrics import get_scorer
    >>> from rarefind.neighbors import LocalGammaKNNClassifier
    >>> X, y = load_keel("yeast4")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = make_pipeline(MinMaxScaler(), LocalGammaKNNClassifier(n_regions=3, random_state=0))
    >>> model = model.fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.28
    """

    _parameter_constraints = {  # noqa: RUF012
        "k": [Interval(Integral, 1, None, closed="left")],
        "version": [StrOptions({"V1", "V2"})],
        "n_regions": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "min_positives": [Interval(Integral, 1, None, closed="left")],
        "n_clusterings": [Interval(Integral, 2, None, closed="left")],
        "metric": [str, callable],
        "distance": [StrOptions(set(DISTANCES) - {"precomputed"})],
        "p": [Interval(Real, 1, None, closed="both")],
        "cv": ["cv_object"],
        "max_queries": [Interval(Integral, 1, None, closed="left")],
        "pos_label": "no_validation",
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        k: int = 3,
        version: str = "V2",
        n_regions: Any = "auto",
        *,
        min_positives: int = 8,
        n_clusterings: int = 10,
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
        self.k = k
        self.version = version
        self.n_regions = n_regions
        self.min_positives = min_positives
        self.n_clusterings = n_clusterings
        self.metric = metric
        self.distance = distance
        self.p = p
        self.cv = cv
        self.max_queries = max_queries
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Table, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Store the rows, cut the space into regions and find the γ of each.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        y : array-like of shape (n,)
            The labels.
        groups : array-like of shape (n,), default=None
            Rows of one group are held out together.

        Returns
        -------
        self
        """
        table = X
        X, codes = self._start_fit(X, y, self.pos_label)
        metric = self._count_metric()
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(2**30))
        self._start_sets(X, codes, seed)
        rows, weight, distances = self._hold_out(table, X, codes, groups, rng, seed)
        pair, positive = self._pair(distances), self._is_positive(codes[rows])
        findable = np.isfinite(pair.positive()[positive])
        self._check_findable(findable, "give GammaKNNClassifier a gamma")
        group = None if groups is None else np.asarray(groups)[rows]
        held_out = HeldOutRatios(X[rows], pair.score(), positive, weight, group)
        self.global_gamma_ = best_gamma(held_out, metric)
        local = LocalScales(
            metric,
            self.min_positives,
            self.global_gamma_,
            self.n_clusterings if self.version == "V2" else None,
        )
        self._keep(
            local.chosen(held_out, seed)
            if self.n_regions == "auto"
            else local.regions(held_out, self.n_regions, seed)
        )
        score = self._regions.scale(held_out.X, held_out.score)
        self._calibrate(score, positive, weight, 1.0)
        return self

    def _point_sets(self, X: Floats, codes: Ints, rows: Ints, seed: int) -> list[PointSet]:
        return self._two_sets(X, codes, rows, voters(self.k), distance=self.distance, p=self.p)

    def _scores_of(self, X: Floats, distances: list[Floats]) -> Floats:
        return self._regions.scale(X, super()._scores_of(X, distances))

    def _keep(self, regions: Regions) -> None:
        self._regions = regions
        self.centres_, self.gammas_, self.fell_back_ = regions
        self.n_regions_ = len(self.gammas_)
