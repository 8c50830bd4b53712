"""ME²: an ellipsoid around each positive, as large as the negatives near it allow."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rarefind._core.checks import check_matrices
from rarefind._core.deadline import check_time_left, deadline
from rarefind._core.fields import (
    BoolArray,
    Either,
    FloatArray,
    ListOf,
    Object,
    RealNumber,
    StateError,
    Whole,
)
from rarefind._core.saved import saved
from rarefind._core.sklearn_compat import report_progress, with_callbacks
from rarefind._core.state import State
from rarefind._core.types import Array, ArrayLike, Bools, Floats, Ints, Label, Table
from rarefind.base import CLASSIFIER_STATE, RareClassifier
from rarefind.metrics import CountMetric
from rarefind.neighbors._classifier import THRESHOLDS
from rarefind.neighbors._covering import (
    EllipsoidScores,
    Layers,
    choose_layers,
    explain_inside,
    in_threads,
    score_rows,
)
from rarefind.neighbors._held_out import draw_queries
from rarefind.neighbors._stability import EllipsoidBounds, stability_bounds
from rarefind.neighbors.ellipsoids import (
    Ellipsoid,
    EllipsoidRows,
    Setting,
    excluding_ellipsoids,
)
from rarefind.rules import Reason
from rarefind.selection import folds
from rarefind.selection.calibration import ODDS
from rarefind.selection.cross_validation import check_positives_held_out

# Tried in this order, in which each solution is a good start for the next.
_QUANTILES = (0.002, 0.01, 0.05, 0.2)
_MUS = (1.0, 0.1, 0.01)
_LAMS = (1.0, 1e-2, 1e-4)
# Square matrices of the columns beside one for each ellipsoid: those of the one that is solved.
_MATRICES = 3


class _HeldOutRows(NamedTuple):
    """Folds, of which only drawn rows are scored, with the class and weight of all rows."""

    pairs: list[tuple[Ints, Ints]]
    positive: Bools
    weight: Floats


def _upgrade(version: int, state: dict[str, Any]) -> dict[str, Any]:
    """Version 1 held out all rows."""
    return {"max_queries": 50_000, **state}


def _check_ellipsoids(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    rows = state["_rows"]
    for one, row in zip(state["ellipsoids_"], rows.positives.tolist(), strict=True):
        last = max(part.max(initial=-1) for part in (one.positives, one.negatives))
        if one.row != row or last >= sizes["n"]:
            raise StateError("'ellipsoids_' are not those of the rows")


_SETTING = Either(RealNumber(0), FloatArray("positives", low=0))


@saved(
    "me2",
    2,
    upgrade=_upgrade,
    state=CLASSIFIER_STATE
    | State(
        {
            "_rows": Object(
                "ellipsoid-rows", n="n", d="d", positives="positives", negatives="negatives"
            ),
            "threshold_": RealNumber(above=0),
            "tuned_locally_": BoolArray("positives"),
            "ellipsoids_": ListOf(Object("ellipsoid", d="d"), size="positives", low=1),
            "max_radius_": _SETTING,
            "mu_": _SETTING,
            "lam_": _SETTING,
            "n_iter_": Whole(),
        },
        _check_ellipsoids,
    ),
)
class ME2Classifier(RareClassifier):
    """An ellipsoid around each positive, as large as the negatives near it allow.

    For each positive a radius and a metric are learned together, problem (2) of [1]_: the ellipsoid
    grows up to a largest radius B, pays for each negative inside by its depth, and for a shape far
    from a ball. A row goes to the positive nearest to it. It is predicted positive if it is inside
    that one's ellipsoid and, of the training rows inside, a positive is nearest to it under the
    learned metric (section 4.2). The ``priority`` is the smaller of two ratios of squared
    distances, R / d²(centre) and d²(nearest negative) / d²(nearest positive) of the rows inside: it
    reaches 1 exactly where that rule says positive.

    Distances compare features, so scale the columns first.

    Parameters
    ----------
    max_radius : "auto" or float in (0, 1], default="auto"
        The largest radius B, as a share of the negatives: for each positive, B is the smallest
        squared distance that this share of all negatives is within. ``"auto"`` tunes it. It is the
        parameter that matters most: with the paper's μ the radius hardly differs from B.
    mu : "auto" or float, default=1.0
        Price of a radius below B, in units of 1/B: the paper's μ is ``mu / B``. The radius is at
        least ``1 - max_radius / (2 * mu)`` of B.
    lam : "auto" or float, default="auto"
        Price of a shape that is not a ball, in units of B: the paper's λ is ``lam * B``. Large
        values give balls. Measured so, neither price depends on the unit of the columns.
    combine : {"nearest", "union"}, default="nearest"
        Whether a row is scored by the ellipsoid of its nearest positive alone, as in the paper, or
        by the one of all that scores it highest.
    tuning : {"global", "local"}, default="global"
        Whether what is ``"auto"`` is chosen once for all positives, by ``metric`` on the pooled
        held-out rows, or for each positive on the held-out rows nearest to it, as in the paper.
    threshold : "auto", float or None, default="auto"
        The priority from which a row is predicted positive. ``"auto"`` takes the exact best for
        ``metric`` on the held-out rows; ``None`` is 1, the paper's rule.
    metric : str or callable, default="f1"
        What tuning maximises: a name for :func:`rarefind.metrics.count_metric` or a function of
        ``(tp, fp, fn, tn)``.
    cv : int or splitter, default=2
        Folds for tuning and probabilities, fewer when a class has fewer rows. Nothing is held out
        if the three parameters are numbers and ``threshold=None``: probabilities are then
        s / (1 + s) for a priority s, and reasons name no rank.
    max_queries : int, default=50_000
        At most this many rows of a class are held out, drawn at random and weighted to stand for
        all.
    tol : float, default=1e-6
        Duality gap, relative to the objective, at which an ellipsoid is done.
    max_iter : int, default=1000
        Most rounds of the solver for one ellipsoid.
    pos_label : label, default=None
        The positive label; by default the rarer one.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds.
    n_jobs : int, default=None
        Cores, each at the ellipsoid of one positive; None uses all.
    verbose : int, default=0
        Above 0, show progress.

    Attributes
    ----------
    ellipsoids_ : list of Ellipsoid
        One for each positive, in the order of the rows: ``row``, ``centre``, ``radius`` (R, a
        squared distance), ``matrix``, ``axes`` and their half ``lengths``, the rows inside, and
        how it was solved.
    max_radius_, mu_, lam_ : float or ndarray of shape (n_positives,)
        What was given or chosen; for each positive with ``tuning="local"``.
    tuned_locally_ : ndarray of shape (n_positives,)
        Whether a positive's parameters were chosen on its own held-out rows: with
        ``tuning="local"`` those that no held-out positive fell to take the choice for all.
    threshold_ : float
        The priority from which ``predict`` says positive.
    value_ : float
        ``metric`` on the held-out rows, at the chosen parameters and threshold, so rather high;
        NaN when nothing was held out.
    n_iter_ : int
        Most rounds that an ellipsoid took.
    classes_, pos_label_, n_features_in_, feature_names_in_
        See :class:`rarefind.base.RareClassifier`.

    Notes
    -----
    Each problem is solved in its dual by coordinate ascent over the negatives closer than B, the
    only ones that can matter as the metric is never below the Euclidean one. Its time grows with
    their number and the square of the number of columns; all positives make P · N distances.

    The constraint of problem (2) is on the squared distance, so a row is inside if its squared
    distance is at most R, where section 4.2 compares the distance itself. A tie between a positive
    and a negative goes to the positive; one between nearest positives to the earlier row. Where a
    row is a copy of n⁺ positives and n⁻ negatives, the second ratio is
    ((n⁺ + ½)/(n⁻ + ½))^(2/√d) in d columns, as in :class:`GammaKNNClassifier`. B by
    positive, its tuning, the scores, the threshold and the union are ours; the union is what the
    conclusion of [1]_ asks for.

    References
    ----------
    .. [1] G. Metzler et al., "Learning maximum excluding ellipsoids from imbalanced data with
       theoretical guarantees", Pattern Recognition Letters 112, 2018.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from rarefind.data import load_keel
    >>> from rarefind.metrics import get_scorer
    >>> from rarefind.neighbors import ME2Classifier
    >>> X, y = load_keel("ecoli4")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = make_pipeline(MinMaxScaler(), ME2Classifier(random_state=0))
    >>> model = model.fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.82
    """

    _parameter_constraints = {  # noqa: RUF012
        "max_radius": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="right")],
        "mu": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "lam": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "combine": [StrOptions({"nearest", "union"})],
        "tuning": [StrOptions({"global", "local"})],
        "threshold": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither"), None],
        "metric": [str, callable],
        "cv": ["cv_object"],
        "max_queries": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "pos_label": "no_validation",
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    _score_kind = ODDS
    _squares_values = True
    _threshold_bounds = THRESHOLDS
    _own_threshold = 1.0

    ellipsoids_: list[Ellipsoid]
    mu_: Any
    lam_: Any
    max_radius_: Any
    tuned_locally_: Bools
    n_iter_: int

    def __init__(
        self,
        max_radius: Any = "auto",
        *,
        mu: Any = 1.0,
        lam: Any = "auto",
        combine: str = "nearest",
        tuning: str = "global",
        threshold: Any = "auto",
        metric: Any = "f1",
        cv: Any = 2,
        max_queries: int = 50_000,
        tol: float = 1e-6,
        max_iter: int = 1000,
        pos_label: Label = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_radius = max_radius
        self.mu = mu
        self.lam = lam
        self.combine = combine
        self.tuning = tuning
        self.threshold = threshold
        self.metric = metric
        self.cv = cv
        self.max_queries = max_queries
        self.tol = tol
        self.max_iter = max_iter
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Table, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Choose the settings and learn an ellipsoid for each positive.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
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
        metric = self._count_metric()
        check_matrices(self, X.shape[1], int(self._is_positive(codes).sum()) + _MATRICES)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        positive = self._is_positive(codes)
        # A copy: the rows inside an ellipsoid are looked up again when others are scored.
        self._rows = _training_rows(np.array(X, order="C"), positive, np.arange(codes.size))
        settings = self._settings()
        pairs: list[tuple[Ints, Ints]] = []
        if len(settings) > 1 or self.threshold == "auto" or self._can_calibrate(positive):
            labels = self.classes_[codes]
            pairs = folds(table, labels, self.cv, groups=groups, random_state=seed)
        weight = draw_queries(codes, self.max_queries, np.random.RandomState(seed))
        parts = _HeldOutRows(
            [(train, test[weight[test] > 0]) for train, test in pairs], positive, weight
        )
        once = sum(int(positive[train].sum()) for train, _ in pairs)
        tried = len(settings) if len(settings) > 1 else 0
        steps = once * (tried + 1) + int(positive.sum())
        with report_progress(self, "ellipsoids", steps, X, codes, self.verbose) as step:
            chosen = self._choose_settings(settings, parts, metric, step)
            self._hold_out_and_calibrate(chosen, parts, step)
            self.ellipsoids_ = self._learn(chosen, step)
        self._summarise(chosen)
        return self

    def bound(self, delta: float = 0.05) -> EllipsoidBounds:
        """Bound the loss of each ellipsoid on new negatives, by Theorem 2 of the paper.

        Parameters
        ----------
        delta : float, default=0.05
            All bounds hold together with probability ``1 - delta``.

        Returns
        -------
        EllipsoidBounds
            Arrays with one entry an ellipsoid; ``str()`` of it says whether they say anything.

        Notes
        -----
        The theorem takes the settings and the largest norm as known beforehand. Here the settings
        are tuned, B is a quantile and the norm is that of the training rows, all from the same
        data, so the bounds are a guide to the order of magnitude.
        """
        check_is_fitted(self)
        if not 0 < delta < 1:
            raise ValueError(f"delta is a probability between 0 and 1, not {delta}.")
        return stability_bounds(self.ellipsoids_, self._rows, delta)

    def _priority(self, X: Floats) -> Floats:
        return self._score(X, self.n_jobs).score[0]

    def _explain(self, X: Floats) -> list[Reason]:
        # In one thread, so that of ellipsoids with the same score always the first decides.
        scored = self._score(X, 1)
        names, ranks = self._feature_names(), self._ranks(scored.score[0])
        return explain_inside(X, self._rows, self.ellipsoids_, scored, ranks, names)

    def _score(self, X: Floats, n_jobs: int | None) -> EllipsoidScores:
        # Kernels are compiled for one kind of array.
        return score_rows(
            self._rows,
            lambda j: [self.ellipsoids_[j]],
            1,
            np.require(X, requirements=["C", "W"]),
            union=self.combine == "union",
            n_jobs=n_jobs,
        )

    def _settings(self) -> list[Setting]:
        """All settings to choose among."""

        def values(given: Any, grid: tuple[float, ...]) -> tuple[float, ...]:
            return grid if given == "auto" else (float(given),)

        return [
            Setting(*each)
            for each in product(
                values(self.max_radius, _QUANTILES), values(self.mu, _MUS), values(self.lam, _LAMS)
            )
        ]

    def _can_calibrate(self, positive: Bools) -> bool:
        """Whether a fixed threshold is worth held-out rows: a lone positive cannot be held out."""
        return self.threshold is not None and 1 < positive.sum() < positive.size - 1

    def _hold_out(
        self,
        settings_of: Callable[[int], list[Setting]],
        layers: int,
        parts: _HeldOutRows,
        step: Callable[[], None],
    ) -> Layers:
        """Score the test rows of each fold by ellipsoids of its training rows."""
        X, end = self._rows.X, deadline()
        scores, owners = [], []
        for train, test in parts.pairs:
            rows = _training_rows(X, parts.positive, train)

            def solve_for(j: int, rows: EllipsoidRows = rows) -> Iterator[Ellipsoid]:
                check_time_left(end)
                row = int(rows.positives[j])
                return excluding_ellipsoids(rows, row, settings_of(row), self.tol, self.max_iter)

            found = score_rows(
                rows,
                solve_for,
                layers,
                X[test],
                union=self.combine == "union",
                n_jobs=self.n_jobs,
                step=step,
            )
            scores.append(found.score)
            owners.append(rows.positives[found.nearest])
        held = np.concatenate([test for _, test in parts.pairs])
        return Layers(
            np.hstack(scores), np.concatenate(owners), parts.positive[held], parts.weight[held]
        )

    def _choose_settings(
        self,
        settings: list[Setting],
        parts: _HeldOutRows,
        metric: CountMetric,
        step: Callable[[], None],
    ) -> list[Setting]:
        """The setting of each positive."""
        positives = self._rows.positives
        self.tuned_locally_ = np.zeros(positives.size, dtype=bool)
        if len(settings) == 1:
            return settings * positives.size
        held = self._hold_out(lambda _: settings, len(settings), parts, step)
        fixed = None if self.threshold == "auto" else self._fixed_threshold()
        layers, self.tuned_locally_ = choose_layers(
            held, positives, metric, fixed, local=self.tuning == "local"
        )
        return [settings[layer] for layer in layers]

    def _hold_out_and_calibrate(
        self,
        chosen: list[Setting],
        parts: _HeldOutRows,
        step: Callable[[], None],
    ) -> None:
        """The threshold, and probabilities and ranks where rows are held out."""
        if not parts.pairs:
            self._leave_uncalibrated()
            return
        own = dict(zip(self._rows.positives.tolist(), chosen, strict=True))
        held = self._hold_out(lambda row: [own[row]], 1, parts, step)
        if self.threshold == "auto":
            check_positives_held_out(held.positive)
        self._calibrate(held.score[0], held.positive, held.weight)

    def _learn(self, chosen: list[Setting], step: Callable[[], None]) -> list[Ellipsoid]:
        rows = self._rows
        found: dict[int, Ellipsoid] = {}

        def learn(j: int) -> None:
            row = int(rows.positives[j])
            (found[j],) = excluding_ellipsoids(rows, row, [chosen[j]], self.tol, self.max_iter)

        in_threads(learn, np.arange(rows.positives.size), self.n_jobs, step)
        return [found[j] for j in range(rows.positives.size)]

    def _summarise(self, chosen: list[Setting]) -> None:
        columns = np.array(chosen).T
        quantile, mu, lam = columns if self.tuning == "local" else columns[:, 0].tolist()
        self.max_radius_, self.mu_, self.lam_ = quantile, mu, lam
        self.n_iter_ = max(e.n_iter for e in self.ellipsoids_)
        late = sum(e.gap > self.tol for e in self.ellipsoids_)
        if late:
            warnings.warn(
                f"{late} of {len(self.ellipsoids_)} ellipsoids did not reach tol={self.tol:g} in "
                f"max_iter={self.max_iter} rounds: raise max_iter, or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )


def _training_rows(X: Array, positive: Bools, rows: Ints) -> EllipsoidRows:
    """Put the rows in order, so that ties do not depend on how a splitter lists them."""
    rows = np.sort(rows)
    return EllipsoidRows(X, rows[positive[rows]], rows[~positive[rows]])
