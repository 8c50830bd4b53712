"""What a stream's state says of rows, and of the stream itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from rarefind._core.threads import in_parts
from rarefind._core.types import Array, Floats, Ints
from rarefind.rules import Reason
from rarefind.selection.calibration import Reference
from rarefind.streams._late_labels import WaitingRows
from rarefind.streams._loop import StreamSettings
from rarefind.streams._parameters import StreamParameters
from rarefind.streams._rows import StreamRows, run_stream
from rarefind.streams._state import Learners, StreamState, copy_arrays
from rarefind.streams._turns import in_turn
from rarefind.streams._validation import Progress

# Numbers of rows that are made up to see what columns add, at a time.
_CELLS = 1_000_000


class StreamScorer(StreamParameters):
    """Base of learners of streams: scores, labels, probabilities, reasons and progress."""

    _state: StreamState
    _fresh: Learners
    _waiting: WaitingRows
    #: The number of rows at which threshold and probabilities are set again.
    _next_calibration: int

    @property
    def n_waiting_(self) -> int:
        """Rows that wait for their labels."""
        check_is_fitted(self)
        return len(self._waiting)

    @property
    @in_turn
    def alarms_(self) -> Ints:
        """The number of rows learned at each of the latest 100 drift alarms."""
        check_is_fitted(self)
        return self._state.validation.latest_alarms()

    @property
    @in_turn
    def progress_(self) -> Progress:
        """Progressive validation, in which later rows count more."""
        check_is_fitted(self)
        return self._state.validation.progress(self.half_life, self.classes_.size)

    def _n_scores(self) -> int:
        return self._state.validation.contributions.shape[0]

    @in_turn
    def _scores(self, X: Floats, settings: StreamSettings | None = None) -> Floats:
        """Scores of shape (n, scores); nothing is learned."""
        n = len(X)
        rows = StreamRows(X, np.zeros(n, dtype=np.intp), np.ones(n))
        given = self._scoring_settings() if settings is None else settings

        def work(part: slice) -> Floats:
            return run_stream(rows.take(part), self._state, self._fresh, given)

        parts = in_parts(n, effective_n_jobs(self.n_jobs), work)
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

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

    @in_turn
    def _explain(self, X: Floats) -> list[Reason]:
        return self._reasons_by_column(X, self._column_effects(X))

    @in_turn
    def _ranks(self, scores: Floats) -> list[float] | list[None]:
        score, _, weight = self._state.validation.scores(self.half_life)
        if not score.size:
            return [None] * len(scores)
        ranks: list[float] = Reference.of(score, weight).ranks(scores).tolist()
        return ranks

    def _column_effects(self, X: Floats) -> Floats:
        """What each column adds to the score: how far it falls with the column at its mean."""
        d = X.shape[1]
        added = np.empty(X.shape)
        whole = self._scores(X)[:, 0]
        for columns in np.array_split(np.arange(d), max(1, d * d // _CELLS)):
            for i, row in enumerate(X):
                without = np.tile(row, (columns.size, 1))
                without[np.arange(columns.size), columns] = np.nan
                added[i, columns] = whole[i] - self._scores(without)[:, 0]
        return added

    @in_turn
    def __getstate__(self) -> dict[str, Any]:
        # A copy, so that other threads may go on learning.
        state = dict(super().__getstate__())
        if isinstance(state.get("_state"), StreamState):
            state["_state"] = copy_arrays(state["_state"])
        if isinstance(state.get("_waiting"), WaitingRows):
            state["_waiting"] = state["_waiting"].copy()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        # joblib may have mapped them from read-only files.
        for name in ("_state", "_fresh"):
            if name in state:
                setattr(self, name, copy_arrays(state[name]))
        if "_waiting" in state:
            self._waiting = state["_waiting"].copy()
