"""What learners of flows share: rows in order, labels that come late, drift, and the file."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from scipy.special import softmax
from sklearn.base import _fit_context
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from rarefind._core.checks import check_classes_left, check_finite, training_weights
from rarefind._core.labels import choose_positive
from rarefind._core.sklearn_compat import report_progress, with_callbacks
from rarefind._core.threads import in_parts
from rarefind._core.types import Array, ArrayLike, Bools, Floats, Ints, Label, Table
from rarefind.base import RareClassifier
from rarefind.metrics import average_precision
from rarefind.rules import Reason
from rarefind.selection.calibration import COUNTED_LOG_ODDS, Reference
from rarefind.selection.cross_validation import folds_of_used
from rarefind.streams._linear import Votes
from rarefind.streams._nets import Nets, Pace
from rarefind.streams._spaces import Spaces
from rarefind.streams._stream import (
    MEMORY,
    RECORD,
    RELEARN,
    RESTART,
    Settings,
    State,
)
from rarefind.streams._stream_file import check_state
from rarefind.streams._stream_rows import (
    FlowRows,
    copied,
    learn_epochs,
    row_weights,
    run_flow,
    share_of,
)
from rarefind.streams._waiting import Waiting, identifiers

# fit goes over a small table again and again, until about so many rows were learned.
_ENOUGH_ROWS = 20_000
_BLOCK = 10_000
# The threshold and the probabilities are set anew after a tenth more rows, between these numbers.
_SOONEST, _LATEST = 20, 5000
# A risk of false alarms at which there are none.
_NEVER = 1e-300
# Squared pulls fade as fast as the rest.
KEEP = 1 - 1 / MEMORY
_POLICIES = {"record": RECORD, "relearn": RELEARN, "restart": RESTART}


class Progress(NamedTuple):
    """How a flow goes: progressive validation, in which a row fades by half in ``half_life`` rows.

    Precision, recall, alerts and error are those of the decisions as they were made, by the
    threshold of the time. With more than two classes only the error is known.
    """

    n_rows: int
    average_precision: float
    precision: float
    recall: float
    alerts: float
    error: float


class OnlineClassifier(RareClassifier):
    """Base of learners of flows; a subclass says how the learners are joined.

    Every row is scored, judged by that score, and then learned. The scores of rows before they were
    learned set the threshold and the probabilities.
    """

    _allows_missing = True
    #: Parameters that cannot change while a flow goes on.
    _fixed: ClassVar[tuple[str, ...]] = (
        "n_estimators",
        "hidden",
        "standardize",
        "positive_memory",
        "pos_label",
    )
    _score_kind = COUNTED_LOG_ODDS
    _shared_constraints: ClassVar[dict[str, Any]] = {
        "n_estimators": [Interval(Integral, 1, 10_000, closed="both")],
        "hidden": [Interval(Integral, 1, 10_000, closed="both")],
        "learning_rate": [Interval(Real, 0, 1e6, closed="right")],
        "steps": [StrOptions({"adaptive", "constant"})],
        "standardize": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "positive_memory": [Interval(Integral, 0, 1_000_000, closed="both")],
        "replay": [Interval(Real, 0, 1, closed="both")],
        "half_life": [Interval(Real, 1, None, closed="left")],
        "on_drift": [StrOptions(set(_POLICIES))],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "max_waiting": [Interval(Integral, 1, None, closed="left")],
        "overflow": [StrOptions({"forget", "negative"})],
        "epochs": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "cv": ["cv_object"],
        "threshold": [StrOptions({"auto"}), Real, None],
        "metric": [str, callable],
        "pos_label": "no_validation",
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    n_estimators: int
    hidden: int
    learning_rate: float
    steps: str
    standardize: bool
    class_weight: Any
    positive_memory: int
    replay: float
    half_life: float
    on_drift: str
    delta: float
    max_waiting: int
    overflow: str
    epochs: Any
    cv: Any
    pos_label: Label
    random_state: Any
    n_jobs: int | None
    verbose: int
    _state: State
    _fresh: tuple[Nets, Spaces, Votes]
    _waiting: Waiting
    n_forgotten_: int
    value_: float

    @abstractmethod
    def _method(self) -> int:
        """How the learners are joined."""

    @abstractmethod
    def _own_settings(self) -> dict[str, Any]:
        """Settings of the subclass."""

    @abstractmethod
    def _space_sizes(self) -> tuple[int, float]:
        """The number of representations of a class, and the noise in their first weights."""

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Table,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Forget everything and learn from a table.

        With one epoch the rows are learned in order, and each is judged before it is learned. With
        more, rows are shuffled, and judged by models of folds that do not hold them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows; NaN is a missing value.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; one of weight 0 is not there.
        groups : array-like of shape (n,), default=None
            Rows of one group are never on both sides of a fold.

        Returns
        -------
        self
        """
        with self._whole_or_not():
            self._fit(X, y, sample_weight, groups)
        return self

    def _fit(
        self, X: Table, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> None:
        X, codes = self._start_fit(X, y, self.pos_label)
        check_consistent_length(X, groups)
        weight = training_weights(X, codes, sample_weight, None)
        used = weight > 0
        check_classes_left(codes, used, self.classes_.size)
        if groups is not None:
            groups = np.asarray(groups)[used]
        rows = FlowRows(X[used], self._places(codes[used]), weight[used] / weight[used].mean())
        self._begin()
        self._check_unchanged()
        epochs = self.epochs
        if epochs == "auto":
            epochs = max(1, _ENOUGH_ROWS // len(rows.places))
        if epochs == 1:
            starts = range(0, len(rows.places), _BLOCK)
            with report_progress(self, "blocks", len(starts), X, codes, self.verbose) as step:
                for start in starts:
                    self._go_on(rows.take(slice(start, start + _BLOCK)))
                    step()
            self._settle()
            return
        settings = self._settings()
        folds = self._folds(rows, used, groups)
        steps = epochs * (1 + len(folds))
        with report_progress(self, "epochs", steps, X, codes, self.verbose) as step:
            held = [self._held_out(rows, *fold, epochs, step) for fold in folds]
            learn_epochs(self._state, self._fresh, settings, rows, epochs, step)
        # All rows of a table are of one time: none fades, and no fold is a drift.
        settings = settings._replace(growth=1.0, delta=_NEVER)
        for part in held:
            run_flow(part, self._state, self._fresh, settings, watching=True)
        self._settle()
        self._decide_in_hindsight()

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: Table,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Go on with the next rows of a flow, in order. Rows and batches of them come to the same.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows; NaN is a missing value.
        y : array-like of shape (n,)
            The labels.
        classes : array-like of shape (n_classes,), default=None
            All labels there can be; needed at the first call. Of two, the positive one is
            ``pos_label``, by default the second in order.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows.

        Returns
        -------
        self
        """
        self._learn(X, y, classes, sample_weight)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def learn(
        self,
        X: Table,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Floats:
        """Go on with the next rows, and tell the score each had before it was learned.

        Parameters
        ----------
        X, y, classes, sample_weight
            As in :meth:`partial_fit`.

        Returns
        -------
        ndarray of shape (n,)
            Priorities; of shape (n, n_classes) with more than two classes.
        """
        return self._shown(self._learn(X, y, classes, sample_weight))

    @_fit_context(prefer_skip_nested_validation=True)
    def observe(self, ids: Any, X: Table, classes: ArrayLike | None = None) -> Floats:
        """Score rows now, and keep them until their labels come.

        Where more than ``max_waiting`` rows wait, the oldest are forgotten, or learned as
        negatives, as ``overflow`` says.

        Parameters
        ----------
        ids : text, whole number, or array-like of shape (n,)
            Identifiers of the rows; none may be waiting already.
        X : array-like of shape (n, d)
            The rows.
        classes : array-like of shape (n_classes,), default=None
            As in :meth:`partial_fit`.

        Returns
        -------
        ndarray of shape (n,)
            Priorities; of shape (n, n_classes) with more than two classes.
        """
        plain = identifiers(ids)
        if not plain and hasattr(self, "_state") and len(X) == 0:
            return self._shown(np.empty((0, self._n_scores())))  # a day without rows
        with self._whole_or_not():
            X = self._next_rows(X, classes)
            if len(plain) != len(X):
                raise ValueError(f"{len(plain)} identifiers were given for {len(X)} rows.")
            for one in plain:
                if one in self._waiting:
                    raise ValueError(
                        f"A row with the identifier {one!r} waits for its label already."
                    )
            self._check_unchanged()
        scores = self._scores(X)
        alerts = scores[:, :1] >= self.threshold_
        self._waiting.put(plain, X, np.hstack([scores, alerts]))
        too_many = len(self._waiting) - self.max_waiting
        if too_many > 0:
            old, known = self._waiting.take_oldest(too_many)
            if self.overflow == "negative":
                places = np.zeros(too_many, dtype=np.intp)
                self._go_on(FlowRows(old, places, np.ones(too_many), known))
            else:
                self.n_forgotten_ += too_many
        return self._shown(scores)

    @_fit_context(prefer_skip_nested_validation=True)
    def learn_delayed(
        self, ids: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Bools:
        """Learn rows that wait, now that their labels have come; they are judged as they came.

        Parameters
        ----------
        ids : text, whole number, or array-like of shape (n,)
            Identifiers given to :meth:`observe`.
        y : label, or array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows.

        Returns
        -------
        ndarray of shape (n,)
            Whether each row was still waiting, and so was learned.
        """
        check_is_fitted(self)
        plain = identifiers(ids)
        places = self._known_places(np.atleast_1d(np.asarray(y)), len(plain))
        weight = row_weights(sample_weight, len(plain))
        self._check_unchanged()
        waited, X, scores = self._waiting.take(plain)
        self._go_on(FlowRows(X, places[waited], weight[waited], scores))
        return waited

    @property
    def n_waiting_(self) -> int:
        """Rows that wait for their labels."""
        check_is_fitted(self)
        return len(self._waiting)

    @property
    def alarms_(self) -> Ints:
        """The number of rows learned at each of the latest 100 alarms of drift."""
        check_is_fitted(self)
        return self._state.watch.latest_alarms()

    @property
    def progress_(self) -> Progress:
        """Progressive validation, in which later rows count more."""
        check_is_fitted(self)
        watch = self._state.watch
        many = self.classes_.size > 2
        (tn, fp), (fn, tp) = watch.decided.copy()
        score, positive, weight = watch.scores(self.half_life)
        one_class = many or not positive.any() or positive.all()
        return Progress(
            watch.n_rows,
            np.nan if one_class else average_precision(positive, score, sample_weight=weight),
            np.nan if many else share_of(tp, fp),
            np.nan if many else share_of(tp, fn),
            np.nan if many else share_of(tp + fp, tn + fn),
            share_of(fp + fn, tn + tp),
        )

    def _begin(self) -> None:
        """A state that has learned nothing, for the classes and columns that are known by now."""
        if self.overflow == "negative" and self.classes_.size > 2:
            raise ValueError("overflow='negative' needs two classes: which are the negatives?")
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        n_classes = self.classes_.size
        outputs = 1 if n_classes == 2 else n_classes
        rng = np.random.default_rng(seed)
        self._fresh = self._draw(rng, outputs)
        self._state = self._first_state(seed)
        self._waiting = Waiting(self.n_features_in_, outputs + 1)  # and the decision
        self.n_forgotten_ = 0
        self._begun = {name: getattr(self, name) for name in self._fixed}
        self._leave_uncalibrated()
        self._next_settling = _SOONEST

    def _draw(self, rng: np.random.Generator, outputs: int) -> tuple[Nets, Spaces, Votes]:
        n = self.n_estimators
        nets = Nets.draw(rng, n, self.hidden, self.n_features_in_, outputs)
        spaces = Spaces.draw(rng, n, outputs, *self._space_sizes())
        return nets, spaces, Votes.start(self._method(), n)

    def _first_state(self, seed: int) -> State:
        """A state that begins with the learners as they were drawn."""
        k = self.classes_.size
        memory = self.positive_memory if k == 2 else 0
        return State.start(copied(self._fresh), self.n_features_in_, k, memory, seed)

    def _settings(self) -> Settings:
        """The parameters as kernels take them."""
        adaptive = self.steps == "adaptive"
        common = self._scoring()._asdict() | {
            "pace": Pace(float(self.learning_rate), adaptive, KEEP),
            "mixing": Pace(0.0, adaptive, KEEP),
            "balanced": self.class_weight == "balanced",
            "class_weight": self._class_weights(),
            "replay": float(self.replay),
            "growth": float(2 ** (1 / self.half_life)),
            "delta": float(self.delta),
            "on_drift": _POLICIES[self.on_drift],
        }
        return Settings(**{**common, **self._own_settings()})

    def _scoring(self) -> Settings:
        """Settings that score and learn nothing."""
        none = Pace(0.0, False, 1.0)
        return Settings(
            method=self._method(),
            pace=none,
            mixing=none,
            aim=0,
            edge=0.0,
            shrink=float(self._own_settings().get("shrink", 0.0)),
            standardize=bool(self.standardize),
            balanced=False,
            class_weight=np.ones(self.classes_.size),
            replay=0.0,
            growth=1.0,
            delta=0.5,
            on_drift=RECORD,
            threshold=float(self.threshold_),
        )

    def _class_weights(self) -> Floats:
        own = np.ones(self.classes_.size)
        if not isinstance(self.class_weight, dict):
            return own
        for label, weight in self.class_weight.items():
            places = np.flatnonzero(self.classes_ == label)
            if not places.size:
                raise ValueError(f"class_weight names {label!r}, which is no class.")
            own[self._places(places)] = float(weight)
        if not (np.isfinite(own).all() and (own >= 0).all()):
            raise ValueError("class_weight holds a weight that is below 0 or no number.")
        return own

    def _places(self, codes: Array) -> Ints:
        """Of two classes, 1 for the positive one; else the code."""
        return (self._is_positive(codes) if self.classes_.size == 2 else codes).astype(np.intp)

    def _next_rows(self, X: Table, classes: ArrayLike | None) -> Floats:
        """Check the next rows of a flow; at the first call, begin."""
        first = not hasattr(self, "_state")
        if not first and classes is not None:
            given = np.unique(column_or_1d(classes))
            if given.size != self.classes_.size or (given != self.classes_).any():
                raise ValueError("classes are not those of the first call.")
        if not first:
            return self._check_rows(X)
        if classes is None:
            raise ValueError("The first rows of a flow need classes: all labels there can be.")
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite=False)
        check_finite(self, X, self._allows_missing)
        self._set_classes(np.unique(column_or_1d(classes)))
        self._begin()
        return X

    def _set_classes(self, classes: Array) -> None:
        if classes.size < 2:
            raise ValueError("A flow needs two classes or more.")
        if classes.size > 2 and not self._many_classes:
            raise ValueError(
                f"Only binary classification is supported: classes holds {classes.size}."
            )
        if classes.size > 2 and self.pos_label is not None:
            raise ValueError(f"pos_label needs two classes, and there are {classes.size}.")
        self.classes_ = classes
        if classes.size == 2:
            self.pos_label_ = choose_positive(classes, np.ones(2, dtype=int), self.pos_label)

    def _known_places(self, y: ArrayLike, n: int) -> Ints:
        labels = np.asarray(y)
        if labels.ndim != 1:
            labels = column_or_1d(labels)
        if len(labels) != n:
            raise ValueError(f"{len(labels)} labels were given for {n} rows.")
        codes = np.minimum(np.searchsorted(self.classes_, labels), self.classes_.size - 1)
        unknown = self.classes_[codes] != labels
        if unknown.any():
            raise ValueError(
                f"The label {labels[unknown].tolist()[0]!r} is none of the classes of this flow."
            )
        return self._places(codes)

    def _check_unchanged(self) -> None:
        """Refuse parameters that do not fit the flow, before anything is learned."""
        for name, value in self._begun.items():
            now = getattr(self, name)
            if now != value:
                raise ValueError(
                    f"{name} was {value!r} when this flow began and is {now!r} now: "
                    "a new flow is needed for that."
                )
        self._count_metric()
        self._settings()

    def _learn(
        self,
        X: Table,
        y: ArrayLike,
        classes: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> Floats:
        with self._whole_or_not():
            X = self._next_rows(X, classes)
            places = self._known_places(y, len(X))
            weight = row_weights(sample_weight, len(X))
            self._check_unchanged()
        return self._go_on(FlowRows(X, places, weight))

    @contextmanager
    def _whole_or_not(self) -> Iterator[None]:
        """Take back what a call has set that fails."""
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _go_on(self, rows: FlowRows) -> Floats:
        """Judge and learn rows; settle at rows whose numbers do not depend on the batches."""
        scores = np.empty((len(rows.X), self._n_scores()))
        there = np.flatnonzero(rows.weight > 0)
        away = np.flatnonzero(rows.weight <= 0)
        start = 0
        while start < there.size:
            n_rows, settings = self._state.watch.n_rows, self._settings()
            part = there[start : start + self._next_settling - n_rows]
            scores[part] = run_flow(
                rows.take(part), self._state, self._fresh, settings, learning=True, watching=True
            )
            start += part.size
            if self._state.watch.n_rows == self._next_settling:
                self._settle()
        if away.size:
            scores[away] = self._scores(rows.X[away])
        return scores

    def _settle(self) -> None:
        """Set the threshold and the probabilities by the scores of rows before learning."""
        watch = self._state.watch
        self._next_settling = watch.n_rows + min(max(watch.n_rows // 10, _SOONEST), _LATEST)
        if self.classes_.size > 2:
            self.threshold_ = np.nan
            return
        score, positive, weight = watch.scores(self.half_life)
        if not positive.any() or positive.all():
            return
        self._calibrate(score, positive, weight)
        self._reference = None  # the rows watched since are newer

    def _decide_in_hindsight(self) -> None:
        """The decisions on held-out rows of a table, which the threshold was chosen on."""
        watch = self._state.watch
        score, positive, weight = watch.scores(self.half_life)
        if self.classes_.size == 2:
            cells = 2 * positive + (score >= self.threshold_)
            found = np.bincount(cells, weights=weight, minlength=4).reshape(2, 2)
            watch.decided[:] = found * (watch.gain[1] / (found.sum() or 1.0))

    def _folds(
        self, rows: FlowRows, used: Bools, groups: ArrayLike | None
    ) -> list[tuple[Ints, Ints]]:
        """Folds to judge a table by; none where no row can be held out."""
        sizes = np.bincount(rows.places, minlength=self.classes_.size)
        auto = self.threshold == "auto" and sizes.size == 2
        if not auto and (self.threshold is None or sizes.min() < 2):
            return []
        seed = int(self._state.chance[0] % 2**31)
        return list(
            folds_of_used(rows.X, rows.places, self.cv, used, groups=groups, random_state=seed)
        )

    def _held_out(
        self, rows: FlowRows, train: Ints, held: Ints, epochs: int, step: Callable[[], None]
    ) -> FlowRows:
        """The held-out rows of a fold, with the scores of a model of the others."""
        state = self._first_state(int(self._state.chance[0]))
        settings = self._settings()
        learn_epochs(state, self._fresh, settings, rows.take(np.sort(train)), epochs, step)
        part = rows.take(np.sort(held))
        return part._replace(known=run_flow(part, state, self._fresh, settings))

    def _n_scores(self) -> int:
        return self._state.watch.shown.shape[0]

    def _scores(self, X: Floats) -> Floats:
        """Scores of shape (n, scores); nothing is learned."""
        n = len(X)
        rows = FlowRows(X, np.zeros(n, dtype=np.intp), np.ones(n))
        settings = self._scoring()

        def work(part: slice) -> Floats:
            return run_flow(rows.take(part), self._state, self._fresh, settings)

        return np.concatenate(in_parts(n, effective_n_jobs(self.n_jobs), work))

    def _shown(self, scores: Floats) -> Floats:
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _priority(self, X: Floats) -> Floats:
        return self._scores(X)[:, 0]

    def _labels(self, X: Floats) -> Array:
        if self.classes_.size == 2:
            return super()._labels(X)
        return self.classes_[self._scores(X).argmax(axis=1)]

    def _probabilities(self, X: Floats) -> Floats:
        if self.classes_.size == 2:
            return super()._probabilities(X)
        return np.asarray(softmax(self._scores(X), axis=1))

    def _explain(self, X: Floats) -> list[Reason]:
        return self._reasons_by_column(X, self._raised(X))

    def _ranks(self, scores: Floats) -> list[float] | list[None]:
        score, _, weight = self._state.watch.scores(self.half_life)
        if not score.size:
            return [None] * len(scores)
        ranks: list[float] = Reference.of(score, weight).ranks(scores).tolist()
        return ranks

    def _raised(self, X: Floats) -> Floats:
        """What each column adds to the score: how far it falls with the column at its mean."""
        d = X.shape[1]
        added = np.empty(X.shape)
        for i, row in enumerate(X):
            without = np.tile(row, (d + 1, 1))
            without[np.arange(d), np.arange(d)] = np.nan
            scores = self._scores(without)[:, 0]
            added[i] = scores[d] - scores[:d]
        return added

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        # joblib may have them as files that cannot be written to.
        for name in ("_state", "_fresh"):
            if name in state:
                setattr(self, name, copied(state[name]))
        if "_waiting" in state:
            self._waiting = state["_waiting"].copy()

    def _check_state(self) -> None:
        """Refuse what a file holds that no flow would make."""
        if self.classes_.size > 2 and not self._many_classes:
            raise ValueError("The classes of the model cannot be.")
        check_state(
            self._state, self._fresh, self._waiting, self.n_features_in_, self.classes_.size
        )
        settling = self._next_settling
        if type(settling) is not int or settling <= self._state.watch.n_rows:
            raise ValueError("The model is not to be settled again.")
        if type(self._begun) is not dict or set(self._begun) != set(self._fixed):
            raise ValueError("The model does not tell how it began.")
