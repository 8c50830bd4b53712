"""Learning from a stream: rows in order, labels that come late, and tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from rarefind._core.checks import (
    check_classes_left,
    check_finite,
    clear_errors,
    training_weights,
)
from rarefind._core.labels import choose_positive
from rarefind._core.sklearn_compat import report_progress, with_callbacks
from rarefind._core.types import Array, ArrayLike, Bools, Floats, Ints, Table
from rarefind.data.frames import rows_of_dicts
from rarefind.selection.cross_validation import folds_of_used
from rarefind.streams._late_labels import WaitingRows, identifiers
from rarefind.streams._linear import Votes
from rarefind.streams._nets import Nets
from rarefind.streams._rows import StreamRows, learn_epochs, row_weights, run_stream
from rarefind.streams._scorer import StreamScorer
from rarefind.streams._spaces import LatentSpaces
from rarefind.streams._state import Learners, StreamState, copy_arrays
from rarefind.streams._turns import in_turn

# fit goes over a small table again and again, until about so many rows were learned.
_ENOUGH_ROWS = 20_000
_BLOCK = 10_000
# Threshold and probabilities are set again after a tenth more rows, between these numbers.
_SOONEST, _LATEST = 20, 5000
# A risk of false alarms at which there are none.
_NEVER = 1e-300

#: Attributes of version 1 of the classes below by their present names.
ATTRIBUTES_OF_1 = {"_begun": "_fixed_values", "_next_settling": "_next_calibration"}


class OnlineClassifier(StreamScorer):
    """Base of learners of streams; a subclass says how the nets are combined.

    Every row is scored, validated by that score, and then learned. The scores of rows before they
    were learned set the threshold and the probabilities. Threads that learn or score take turns.
    """

    n_forgotten_: int

    @abstractmethod
    def _space_sizes(self) -> tuple[int, float]:
        """The number of representations of a class, and the noise in their first weights."""

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    @in_turn
    def fit(
        self,
        X: Table,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Forget everything and learn from a table.

        With one epoch the rows are learned in order, each after it was validated. With more, rows
        are shuffled, and validated by models of folds that did not learn them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows; NaN is a missing value.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; rows of weight 0 are left out.
        groups : array-like of shape (n,), default=None
            Rows of one group are never on both sides of a fold.

        Returns
        -------
        self
        """
        with self._undo_on_error():
            self._fit(X, y, sample_weight, groups)
        return self

    def _fit(
        self, X: Table, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> None:
        X, places = self._start_fit(X, y, self.pos_label)
        check_consistent_length(X, groups)
        weight = training_weights(X, places, sample_weight, None)
        used = weight > 0
        check_classes_left(places, used, self.classes_.size)
        if groups is not None:
            groups = np.asarray(groups)[used]
        rows = StreamRows(X[used], self._codes(places[used]), weight[used] / weight[used].mean())
        self._begin()
        settings = self._check_parameters().settings
        epochs = self.epochs
        if epochs == "auto":
            epochs = max(1, _ENOUGH_ROWS // len(rows.codes))
        if epochs == 1:
            starts = range(0, len(rows.codes), _BLOCK)
            with report_progress(self, "blocks", len(starts), X, places, self.verbose) as step:
                for start in starts:
                    self._process(rows.take(slice(start, start + _BLOCK)))
                    step()
            self._recalibrate()
            return
        folds = self._folds(rows, used, groups)
        steps = epochs * (1 + len(folds))
        with report_progress(self, "epochs", steps, X, places, self.verbose) as step:
            held_out = [self._score_fold(rows, *fold, epochs, step) for fold in folds]
            learn_epochs(self._state, self._fresh, settings, rows, epochs, step)
        # All rows of a table are of one time: none fades, and no fold is a drift.
        settings = settings._replace(growth=1.0, delta=_NEVER)
        for part in held_out:
            run_stream(part, self._state, self._fresh, settings, validating=True)
        self._recalibrate()
        self._redo_decisions()

    @in_turn
    def partial_fit(
        self,
        X: Table,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the next rows of a stream, in order. How they are cut into calls does not matter.

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

    @in_turn
    def learn(
        self,
        X: Table,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Floats:
        """Learn the next rows, and return the score each had before it was learned.

        Parameters
        ----------
        X, y, classes, sample_weight
            As in :meth:`partial_fit`.

        Returns
        -------
        ndarray of shape (n,)
            Priorities; of shape (n, n_classes) with more than two classes.
        """
        return _one_or_many(self._learn(X, y, classes, sample_weight))

    @in_turn
    def observe(self, ids: Any, X: Table, classes: ArrayLike | None = None) -> Floats:
        """Score rows now, and keep them until their labels come.

        When more than ``max_waiting`` rows wait, the oldest are forgotten, or learned as
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
        if not plain and self._has_begun() and len(X) == 0:
            return _one_or_many(np.empty((0, self._n_scores())))  # a day without rows
        with self._undo_first_call_on_error():
            X = self._next_rows(X, classes)
            if len(plain) != len(X):
                raise ValueError(f"{len(plain)} identifiers were given for {len(X)} rows.")
            for one in plain:
                if one in self._waiting:
                    raise ValueError(f"A row with the identifier {one!r} is already waiting.")
            settings = self._check_parameters().settings
        scores = self._scores(X, settings)
        known = np.empty((len(X), scores.shape[1] + 1))
        known[:, :-1] = scores
        known[:, -1] = scores[:, 0] >= self.threshold_
        self._waiting.put(plain, X, known)
        too_many = len(self._waiting) - self.max_waiting
        if too_many > 0:
            self._drop_oldest(too_many)
        return _one_or_many(scores)

    @in_turn
    def learn_delayed(
        self, ids: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Bools:
        """Learn rows whose labels have come; they are validated by their scores at arrival.

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
        if not self._has_begun():
            check_is_fitted(self)
        plain = identifiers(ids)
        codes = self._known_codes(np.atleast_1d(np.asarray(y)), len(plain))
        weight = row_weights(sample_weight, len(plain))
        self._check_parameters()
        waiting, X, known = self._waiting.take(plain)
        if not waiting.all():
            codes, weight = codes[waiting], weight[waiting]
        self._process(StreamRows(X, codes, weight, known))
        return waiting

    def _drop_oldest(self, n: int) -> None:
        """Forget the rows that have waited longest, or learn them as negatives."""
        X, known = self._waiting.take_oldest(n)
        if self.overflow == "negative":
            self._process(StreamRows(X, np.zeros(n, dtype=np.intp), np.ones(n), known))
        else:
            self.n_forgotten_ += n

    def _has_begun(self) -> bool:
        return hasattr(self, "_state")

    def _begin(self) -> None:
        """Start with nothing learned, for the classes and columns that are known by now."""
        if self.overflow == "negative" and self.classes_.size > 2:
            raise ValueError("overflow='negative' needs two classes: which are the negatives?")
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        n_classes = self.classes_.size
        outputs = 1 if n_classes == 2 else n_classes
        self._fresh = self._draw(np.random.default_rng(seed), outputs)
        self._state = self._first_state(seed)
        self._waiting = WaitingRows(self.n_features_in_, outputs + 1)  # and the decision
        self.n_forgotten_ = 0
        self._fixed_values = {name: getattr(self, name) for name in self._fixed}
        self._leave_uncalibrated()
        self._next_calibration = _SOONEST

    def _draw(self, rng: np.random.Generator, outputs: int) -> Learners:
        n = self.n_estimators
        nets = Nets.draw(rng, n, self.hidden, self.n_features_in_, outputs)
        spaces = LatentSpaces.draw(rng, n, outputs, *self._space_sizes())
        return nets, spaces, Votes.start(self._method(), n)

    def _first_state(self, seed: int) -> StreamState:
        """A state with fresh learners."""
        k = self.classes_.size
        memory = self.positive_memory if k == 2 else 0
        return StreamState.start(copy_arrays(self._fresh), self.n_features_in_, k, memory, seed)

    def _next_rows(self, X: Table, classes: ArrayLike | None) -> Floats:
        """Check the next rows of a stream; at the first call, begin."""
        if not self._has_begun():
            return self._first_rows(X, classes)
        if classes is not None:
            self._check_same_classes(classes)
        return self._check_more_rows(X)

    def _first_rows(self, X: Table, classes: ArrayLike | None) -> Floats:
        self._check_constraints()
        if classes is None:
            raise ValueError("The first rows of a stream need classes: all labels there can be.")
        with clear_errors(self, X):
            X = validate_data(self, rows_of_dicts(X), dtype=np.float64, ensure_all_finite=False)
        check_finite(self, X, self._allows_missing)
        self._set_classes(np.unique(column_or_1d(classes)))
        self._begin()
        return X

    def _set_classes(self, classes: Array) -> None:
        if classes.size < 2:
            raise ValueError("A stream needs two classes or more.")
        if classes.size > 2 and not self._many_classes:
            raise ValueError(f"Only binary classification is supported: {classes.size} classes.")
        if classes.size > 2 and self.pos_label is not None:
            raise ValueError(f"pos_label needs two classes, and there are {classes.size}.")
        self.classes_ = classes
        if classes.size == 2:
            self.pos_label_ = choose_positive(classes, np.ones(2, dtype=int), self.pos_label)

    def _check_same_classes(self, classes: ArrayLike) -> None:
        if isinstance(classes, list) and classes == self.classes_.tolist():
            return  # as calls in a loop have it
        given = np.unique(column_or_1d(classes))
        if given.size != self.classes_.size or (given != self.classes_).any():
            raise ValueError("classes differ from those of the first call.")

    def _known_codes(self, y: ArrayLike, n: int) -> Ints:
        labels = np.asarray(y)
        if labels.ndim != 1:
            labels = column_or_1d(labels)
        if len(labels) != n:
            raise ValueError(f"{len(labels)} labels were given for {n} rows.")
        if n == 1 and labels.dtype.kind != "O":
            code = self._check_parameters().codes.get(labels.item())
            if code is not None:
                return np.array([code], dtype=np.intp)
        places = np.minimum(np.searchsorted(self.classes_, labels), self.classes_.size - 1)
        unknown = self.classes_[places] != labels
        if unknown.any():
            label = labels[unknown].tolist()[0]
            raise ValueError(f"The label {label!r} is not one of the classes of this stream.")
        return self._codes(places)

    def _learn(
        self,
        X: Table,
        y: ArrayLike,
        classes: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> Floats:
        with self._undo_first_call_on_error():
            X = self._next_rows(X, classes)
            codes = self._known_codes(y, len(X))
            weight = row_weights(sample_weight, len(X))
            self._check_parameters()
        return self._process(StreamRows(X, codes, weight))

    def _undo_first_call_on_error(self) -> AbstractContextManager[None]:
        """Checks of later calls set nothing that would have to be undone."""
        return nullcontext() if self._has_begun() else self._undo_on_error()

    @contextmanager
    def _undo_on_error(self) -> Iterator[None]:
        """Undo what a call has set, if it fails."""
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _process(self, rows: StreamRows) -> Floats:
        """Validate and learn rows; recalibrate at rows that do not depend on the batches."""
        if not rows.weight.all():
            return self._process_some(rows, rows.weight > 0)
        scores = []
        start, n = 0, len(rows.X)
        while start < n:
            settings = self._check_parameters().settings
            end = start + self._next_calibration - self._state.validation.n_rows
            part = rows if start == 0 and end >= n else rows.take(slice(start, end))
            scores.append(run_stream(part, self._state, self._fresh, settings, True, True))
            start = end
            if self._state.validation.n_rows == self._next_calibration:
                self._recalibrate()
        if len(scores) == 1:
            return scores[0]
        return np.concatenate([np.empty((0, self._n_scores())), *scores])

    def _process_some(self, rows: StreamRows, learned: Bools) -> Floats:
        """Learn some rows; the others are only scored, after that."""
        scores = np.empty((len(rows.X), self._n_scores()))
        scores[learned] = self._process(rows.take(learned))
        scores[~learned] = self._scores(rows.X[~learned])
        return scores

    def _recalibrate(self) -> None:
        """Set the threshold and the probabilities by the scores of rows before learning."""
        validation = self._state.validation
        n = validation.n_rows
        self._next_calibration = n + min(max(n // 10, _SOONEST), _LATEST)
        if self.classes_.size > 2:
            self.threshold_ = np.nan
            return
        score, positive, weight = validation.scores(self.half_life)
        if not positive.any() or positive.all():
            return
        self._calibrate(score, positive, weight)
        self._reference = None  # ranks are among the rows so far, also those after this

    def _redo_decisions(self) -> None:
        """Decide on the held-out rows of a table by the threshold that was chosen on them."""
        validation = self._state.validation
        score, positive, weight = validation.scores(self.half_life)
        if self.classes_.size == 2:
            cells = 2 * positive + (score >= self.threshold_)
            found = np.bincount(cells, weights=weight, minlength=4).reshape(2, 2)
            validation.decisions[:] = found * (validation.weights[1] / (found.sum() or 1.0))

    def _folds(
        self, rows: StreamRows, used: Bools, groups: ArrayLike | None
    ) -> list[tuple[Ints, Ints]]:
        """Folds to validate a table by; none where no row can be held out."""
        sizes = np.bincount(rows.codes, minlength=self.classes_.size)
        auto = self.threshold == "auto" and sizes.size == 2
        if not auto and (self.threshold is None or sizes.min() < 2):
            return []
        seed = int(self._state.generator[0] % 2**31)
        return list(
            folds_of_used(rows.X, rows.codes, self.cv, used, groups=groups, random_state=seed)
        )

    def _score_fold(
        self, rows: StreamRows, train: Ints, held_out: Ints, epochs: int, step: Callable[[], None]
    ) -> StreamRows:
        """The held-out rows of a fold, with the scores of a model of the others."""
        state = self._first_state(int(self._state.generator[0]))
        settings = self._check_parameters().settings
        learn_epochs(state, self._fresh, settings, rows.take(np.sort(train)), epochs, step)
        part = rows.take(np.sort(held_out))
        return part._replace(known=run_stream(part, state, self._fresh, settings))


def _one_or_many(scores: Floats) -> Floats:
    """Scores as they are returned: of two classes, one number for each row."""
    return scores[:, 0] if scores.shape[1] == 1 else scores
