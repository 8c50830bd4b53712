"""IML: a distance learned anew around every row that is scored."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from rarefind._core.checks import check_matrices
from rarefind._core.fields import StateError
from rarefind._core.pairs import embed, nearest_squared
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.threads import limit_threads
from rarefind._core.types import Bools, Floats, Ints, Label
from rarefind.distances import LMNN
from rarefind.neighbors._baseline import BASELINE_STATE, SurroundingsClassifier
from rarefind.neighbors._held_out import PointSet
from rarefind.neighbors._ratio import voters
from rarefind.neighbors._reasons import explain
from rarefind.rules import Reason
from rarefind.search import NeighborSearch

# Each LMNN is a step on the way, so it is stopped early, and the warning of that kept quiet.
_MAX_ITER, _TOL = 50, 1e-3

# Square matrices of the columns that LMNN has at a time, with the map of all rows.
_MATRICES = 5

# Bytes of maps that are kept, as the next row may need the same.
_MAPS_KEPT = 2**27

# Fewer rows than this are not worth another process.
_ROWS_A_PROCESS = 100


def _check_selected(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    asked = 5 * state["k"] if state["n_selected"] == "auto" else state["n_selected"]
    if asked < state["k"] or any(s.k != asked for s in state["_sets"]):
        raise StateError("'_sets' are not as large as 'n_selected'")


@saved("iml", state=BASELINE_STATE | State({}, _check_selected))
class IMLClassifier(SurroundingsClassifier):
    """Nearest neighbours in a space learned around each row (iterative metric learning).

    For every row to score, the nearest training rows of each class are selected, LMNN learns a
    distance from them, the nearest rows of each class by that distance are selected, and so on
    until a selection is nearly the one before it [1]_. The k nearest selected rows then vote in the
    last space, ties going to the positive. The first selection is made in the space that LMNN
    learns from all rows. It is a baseline of section 3.5 of [2]_.

    As in γk-NN the ``priority`` is the ratio D⁻₍r₎/D⁺₍q₎ of the distances to the r-th negative and
    to the q-th positive, q = ⌈k/2⌉ and r = k − q + 1, and the vote its threshold 1.

    **It is slow by nature**: to score one row it fits LMNN several times, some hundredths of a
    second each, and ``threshold="auto"`` scores held-out rows in the same way. The fit itself, with
    the default threshold, is a single LMNN.

    Distances compare features, so scale the columns first.

    Parameters
    ----------
    k : int, default=3
        Neighbours that vote, and the targets of LMNN.
    n_selected : "auto" or int, default="auto"
        Rows of each class selected around a row, k at least; ``"auto"`` is 5k.
    matching : float, default=0.8
        A selection is final when this share of it was in the one before.
    max_rounds : int, default=10
        Selections made at most.
    mu : float, default=0.5
        Weight of the push in LMNN, from 0 to 1.
    threshold : None, "auto" or float, default=None
        ``None`` is the method's own rule, fitted without any held-out search; ``"auto"`` takes the
        exact maximum of ``metric`` on held-out rows; a number fixes it, and held-out rows give the
        probabilities and the ranks.
    metric : str or callable, default="f1"
        What ``threshold="auto"`` maximises: a name for :func:`rarefind.metrics.count_metric` or a
        function of ``(tp, fp, fn, tn)``.
    cv : None, int or splitter, default=None
        The folds by which rows are held out: None makes 5; a number makes that many, fewer when a
        class has fewer rows.
    max_queries : int, default=500
        At most this many rows of a class are held out, drawn at random and weighted to stand for
        all.
    pos_label : label, default=None
        The positive label; by default the rarer one.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, of the rows drawn, and of LMNN where it draws from many rows.
    n_jobs : int, default=None
        Processes for the rows to score; None uses all cores.
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
    Each row is worked on by one thread, whatever ``n_jobs`` is, so that its priority is the same
    alone and among others.

    References
    ----------
    .. [1] N. Wang et al., "Iterative Metric Learning for Imbalance Data Classification", IJCAI
       2018.
    .. [2] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, sections 3.2 and 3.5, whose 5k and 0.8 are the defaults.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from rarefind.data import load_keel
    >>> from rarefind.metrics import get_scorer
    >>> from rarefind.neighbors import IMLClassifier
    >>> X, y = load_keel("ecoli3")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.15, random_state=0)
    >>> model = make_pipeline(MinMaxScaler(), IMLClassifier()).fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.66
    """

    _parameter_constraints = {  # noqa: RUF012
        **{
            name: allowed
            for name, allowed in SurroundingsClassifier._parameter_constraints.items()
            if name not in ("distance", "p")
        },
        "n_selected": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "matching": [Interval(Real, 0, 1, closed="both")],
        "max_rounds": [Interval(Integral, 1, None, closed="left")],
        "mu": [Interval(Real, 0, 1, closed="both")],
    }

    # Without a row the whole space changes, so rows are held out by folds.
    _leaves_one_out = False

    def __init__(
        self,
        k: int = 3,
        *,
        n_selected: Any = "auto",
        matching: float = 0.8,
        max_rounds: int = 10,
        mu: float = 0.5,
        threshold: Any = None,
        metric: Any = "f1",
        cv: Any = None,
        max_queries: int = 500,
        pos_label: Label = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.k = k
        self.n_selected = n_selected
        self.matching = matching
        self.max_rounds = max_rounds
        self.mu = mu
        self.threshold = threshold
        self.metric = metric
        self.cv = cv
        self.max_queries = max_queries
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _published_threshold(self, positive: Bools) -> float:
        if self.n_selected != "auto" and self.n_selected < self.k:
            raise ValueError(
                f"n_selected={self.n_selected} rows of a class are fewer than the k={self.k} that "
                "vote: raise it."
            )
        return 1.0

    def _neighbor_counts(self) -> tuple[int, int]:
        asked = 5 * self.k if self.n_selected == "auto" else self.n_selected
        return asked, asked

    def _point_sets(self, X: Floats, codes: Ints, rows: Ints, seed: int) -> list[PointSet]:
        check_matrices(self, X.shape[1], _MATRICES)
        components = self._learner(seed).learn(X[rows], codes[rows])
        return self._two_sets(X, codes, rows, self._neighbor_counts(), components=components)

    def _learner(self, seed: int | None = None) -> _Learner:
        return _Learner(self.k, self.mu, seed)

    def _score(
        self, sets: Sequence[PointSet], X: Floats, exclude: Sequence[Ints] | None = None
    ) -> Floats:
        q, r = voters(self.k)
        pairs = [
            _distances_of(space, q, r) for space in self._last_spaces(sets, X, with_maps=False)
        ]
        return self._pair([np.concatenate(arrays) for arrays in zip(*pairs, strict=True)]).score()

    def _explain(self, X: Floats) -> list[Reason]:
        reasons = []
        for x, space in zip(X, self._last_spaces(self._sets, X, with_maps=True), strict=True):
            local = [
                s._replace(
                    search=NeighborSearch(s.search.points[at], components=space.components),
                    k=k,
                    rows=s.rows[at],
                )
                for s, at, k in zip(self._sets, space.selected, voters(self.k), strict=True)
            ]
            row = x[None]
            found = [s.search.query(row, s.k) for s in local]
            score = self._pair(_distances_of(space, *voters(self.k))).score()
            names = self._feature_names()
            reasons += explain(row, score, self._ranks(score), local, found, 1.0, names)
        return reasons

    def _last_spaces(self, sets: Sequence[PointSet], X: Floats, *, with_maps: bool) -> list[_Space]:
        """Where each row's selections came to rest, the rows shared among processes.

        The maps of all rows are only given where they are asked for: each is a matrix.
        """
        first = [s.search.query(X, s.k)[1] for s in sets]
        # One layout, so that the kernels are compiled once.
        X, *points = map(np.ascontiguousarray, (X, *(s.search.points for s in sets)))
        jobs = effective_n_jobs(-1 if self.n_jobs is None else self.n_jobs)
        jobs = min(jobs, max(1, len(X) // _ROWS_A_PROCESS))
        rounds = _SelectionRounds(
            self._learner(), self._neighbor_counts()[0], self.matching, self.max_rounds
        )
        parts = np.array_split(np.arange(len(X)), 1 if jobs == 1 else 4 * jobs)
        done = Parallel(n_jobs=jobs)(
            delayed(_last_spaces)(rounds, X[part], [f[part] for f in first], points, with_maps)
            for part in parts
        )
        return [space for part in done for space in part]


class _Learner(NamedTuple):
    """How LMNN is fitted."""

    k: int
    mu: float
    seed: int | None

    def learn(self, X: Floats, codes: Ints) -> Floats:
        """The map into the learned space; the space as it is where no class has two rows."""
        if np.bincount(codes).max() < 2:
            return np.eye(X.shape[1])
        model = LMNN(self.k, self.mu, max_iter=_MAX_ITER, tol=_TOL, random_state=self.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return np.asarray(model.fit(X, codes).components_)


class _Space(NamedTuple):
    """The last space of a row and the rows selected in it, of each class, nearest first."""

    components: Floats
    selected: list[Ints]
    distances: list[Floats]  # filled up with inf where a class has fewer rows than wanted
    copies: list[int]  # how many rows of each class are at distance 0


def _distances_of(space: _Space, q: int, r: int) -> list[Floats]:
    """Distances of one row to the rows that decide, and its copies, as other searches give them."""
    d_pos, d_neg = space.distances
    return [d_pos[None, :q], d_neg[None, :r], np.array([space.copies], dtype=float)]


class _SelectionRounds(NamedTuple):
    """How selections are repeated."""

    learner: _Learner
    n_selected: int
    matching: float
    max_rounds: int

    def last_space(
        self,
        x: Floats,
        selected: list[Ints],
        points: list[Floats],
        learned: dict[bytes, Floats],
    ) -> _Space:
        """Learn and select until the selection stays; maps once ``learned`` are not again."""
        for _ in range(self.max_rounds):
            key = np.concatenate([np.sort(at) for at in selected]).tobytes()
            if key not in learned:
                if len(learned) * 8 * x.size**2 >= _MAPS_KEPT:
                    learned.clear()
                learned[key] = self._learn(selected, points)
            components = learned[key]
            place = embed(x[None], components)
            placed = [embed(p, components) for p in points]
            nearest = [nearest_squared(place, p, self.n_selected) for p in placed]
            before, selected = selected, [at[0][at[0] >= 0] for _, at in nearest]
            stayed = sum(np.isin(a, b).sum() for a, b in zip(selected, before, strict=True))
            if stayed >= self.matching * sum(at.size for at in selected):
                break
        copies = [int((p == place).all(axis=1).sum()) for p in placed]
        return _Space(components, selected, [np.sqrt(found[0]) for found, _ in nearest], copies)

    def _learn(self, selected: list[Ints], points: list[Floats]) -> Floats:
        """LMNN of the rows in their order: a selection has one space, however it was found."""
        parts = [p[np.sort(at)] for p, at in zip(points, selected, strict=True)]
        codes = np.repeat(np.arange(2), [len(part) for part in parts])
        return self.learner.learn(np.concatenate(parts), codes)


def _last_spaces(
    rounds: _SelectionRounds, X: Floats, first: list[Ints], points: list[Floats], with_maps: bool
) -> list[_Space]:
    learned: dict[bytes, Floats] = {}
    found = []
    # On so few rows threads cost more than they give, and could change the last digits.
    with limit_threads(1):
        for i, x in enumerate(X):
            space = rounds.last_space(x, [f[i][f[i] >= 0] for f in first], points, learned)
            found.append(space if with_maps else space._replace(components=np.empty((0, x.size))))
    return found
