"""What the neighbour classifiers share: points of each class, held-out scores, reasons."""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rarefind._core.fields import ListOf, Object, StateError
from rarefind._core.sklearn_compat import report_progress
from rarefind._core.state import State
from rarefind._core.types import ArrayLike, Bools, Floats, Ints, Table
from rarefind.base import CLASSIFIER_STATE, RareClassifier
from rarefind.neighbors._held_out import (
    MOST_ASKED,
    Measure,
    PointSet,
    blocks,
    distances_and_copies,
    draw_queries,
    leave_one_out,
    out_of_fold,
    query,
)
from rarefind.neighbors._ratio import TwoDistances, voters
from rarefind.neighbors._reasons import explain
from rarefind.rules import Reason
from rarefind.search import NeighborSearch
from rarefind.selection import folds
from rarefind.selection.calibration import ODDS

# Scores that stand for infinite ones lie far above: a threshold near them would leave no digits to
# the differences of all others.
THRESHOLDS = (0.0, 1e3)


def _check_sets(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    """Points of each class, and as many of them asked for as the parameters say."""
    sets, classes = state["_sets"], sizes["classes"]
    codes = [s.code for s in sets]
    plain = codes if len(codes) == classes else codes[:1] + codes[2:]
    if sorted(plain) != list(range(classes)) or (plain != codes and codes[1] != -1):
        raise StateError("'_sets' are not those of the classes")
    kinds = {(s.search.distance, s.search.p) for s in sets}
    if len(kinds) > 1:
        raise StateError("'_sets' do not measure one distance")
    if sets[0].search.distance == "precomputed" and any(
        s.search.points.max(initial=-1) >= sizes["d"] for s in sets
    ):
        raise StateError("'_sets' name columns that are not there")
    if state["k"] > max(MOST_ASKED, sum(s.search.size for s in sets)):
        raise StateError("'k' is larger than the number of points")


#: What every neighbour classifier keeps in a model file.
NEIGHBOUR_STATE = CLASSIFIER_STATE | State(
    {"_sets": ListOf(Object("point-set", d="d"), low=2)}, _check_sets
)


# Seconds of a fit from which on the log is told beforehand.
_LONG = 10.0
_LOG = logging.getLogger("rarefind.neighbors")


class NeighbourClassifier(RareClassifier):
    """Base of classifiers that score a row by its distances to points of each class.

    A subclass writes :meth:`_point_sets`, which makes the searches (positives, synthetic ones if
    any, negatives), and may replace :meth:`_scores_of`, by default the ratio of the distance to the
    last negative asked for to that to the last positive.
    """

    k: int
    cv: Any
    max_queries: int
    n_jobs: int | None
    verbose: int

    #: Uncalibrated, the probability is η̂ = D⁻/(D⁺+D⁻) of section 2.4.3 at γ = 1.
    _score_kind = ODDS
    _squares_values = True
    _threshold_bounds = THRESHOLDS
    #: How much further synthetic positives count than they are.
    _relative = 1.0
    #: Folds where none are asked for.
    _folds = 5

    @abstractmethod
    def _point_sets(self, X: Floats, codes: Ints, rows: Ints, seed: int) -> list[PointSet]:
        """Make the searches among the given rows."""

    def _scores_of(self, X: Floats, distances: list[Floats]) -> Floats:
        """Score rows by their distances to the nearest points of each set, and their copies."""
        return self._pair(distances).score(self._relative)

    def _priority(self, X: Floats) -> Floats:
        return self._scores_of(X, query(self._sets, X))

    def _explain(self, X: Floats) -> list[Reason]:
        found = [s.search.query_and_count(X, s.k) for s in self._sets]
        scores = self._scores_of(X, distances_and_copies(found))
        return explain(
            X,
            scores,
            self._ranks(scores),
            self._sets,
            [(distance, at) for distance, at, _ in found],
            self._relative,
            None if self._sets[0].search.distance == "precomputed" else self._feature_names(),
        )

    def _start_sets(self, X: Floats, codes: Ints, seed: int) -> None:
        """Make the searches among all rows; nothing is held out yet."""
        self._sets = self._point_sets(X, codes, np.arange(codes.size), seed)
        self._calibration, self._reference, self.value_ = None, None, np.nan

    def _two_sets(
        self, X: Floats, codes: Ints, rows: Ints, asked: tuple[int, int], **options: Any
    ) -> list[PointSet]:
        """Searches for that many positives and negatives; ``options`` are of the search."""
        positive = self._is_positive(codes[rows])
        return [
            PointSet(
                NeighborSearch(X[own], n_jobs=self.n_jobs, **options), k, int(codes[own[0]]), own
            )
            for own, k in zip((rows[positive], rows[~positive]), asked, strict=True)
        ]

    def _pair(self, distances: list[Floats]) -> TwoDistances:
        """The distances that decide; real positives and negatives are counted where copies are."""
        real, *made, negative, copies = distances
        given = self._sets[0].search.distance == "precomputed"
        made_for_each = self._sets[1].search.size / max(1, self._sets[0].search.size)
        return TwoDistances(
            real,
            made[0] if made else None,
            negative[:, -1],
            negative.shape[1],
            copies[:, [0, -1]],
            None if given else self.n_features_in_,
            made_for_each if made else 0.0,
        )

    def _hold_out(
        self,
        table: Table,
        X: Floats,
        codes: Ints,
        groups: ArrayLike | None,
        rng: Any,
        seed: int,
        *,
        one_by_one: bool = True,
        measure: Measure = query,
    ) -> tuple[Ints, Floats, list[Floats]]:
        """Rows, their weights, and their distances to the sets without themselves.

        One at a time where ``one_by_one`` allows it and neither folds nor groups are given. Another
        ``measure`` than the distances is taken in the same way.
        """
        weight = draw_queries(codes, self.max_queries, rng)
        if self.cv is None and one_by_one and groups is None:
            rows = np.flatnonzero(weight)
            steps = len(blocks(rows))
            with report_progress(self, "leave one out", steps, X, codes, self.verbose) as step:
                step = self._say_if_long(step, steps, rows.size, codes.size)
                distances = leave_one_out(self._sets, X, codes, rows, step, measure)
            return rows, weight[rows], distances
        cv = self._folds if self.cv is None else self.cv
        pairs = [
            (train, test[weight[test] > 0])
            for train, test in folds(
                table, self.classes_[codes], cv, groups=groups, random_state=seed
            )
        ]
        with report_progress(self, "folds", len(pairs), X, codes, self.verbose) as step:
            distances = out_of_fold(
                lambda train: self._point_sets(X, codes, train, seed), X, pairs, step, measure
            )
        rows = np.concatenate([test for _, test in pairs])
        return rows, weight[rows], distances

    def _say_if_long(
        self, step: Callable[[], None], steps: int, held_out: int, n: int
    ) -> Callable[[], None]:
        """The same step, which after the first tells the log how long the others will take."""
        start, waiting = time.monotonic(), [True]

        def next_step() -> None:
            step()
            if waiting:
                waiting.clear()
                seconds = (time.monotonic() - start) * (steps - 1)
                if seconds > _LONG:
                    drawn = "all" if held_out == n else f"{held_out:,} drawn at random of"
                    _LOG.info(
                        "%s searches the neighbours of %s %s rows without themselves, about %.0f s "
                        "more: lower max_queries to search fewer.",
                        type(self).__name__,
                        drawn,
                        f"{n:,}",
                        seconds,
                    )

        return next_step

    def _needs_no_held_out(self, codes: Ints) -> bool:
        """Whether the threshold is the method's own, or given and no row can be held out.

        A row that is alone in its class cannot be.
        """
        alone = bool(np.bincount(codes).min() < 2)
        return self.threshold is None or (alone and self.threshold != "auto")

    def _check_findable(self, findable: Bools, otherwise: str) -> None:
        """Nothing can be tuned where no held-out positive is found whatever the threshold."""
        if not findable.any():
            q, _ = voters(self.k)
            smaller = ", set k=1" if q > 1 and findable.size > 1 else ""
            raise ValueError(
                f"The vote of k={self.k} neighbours takes {q} positive{'' if q == 1 else 's'}, and "
                f"of {findable.size} too few are left when some are held out: add "
                f"positives{smaller}, or {otherwise}."
            )

    def _calibrate_rows(
        self, score: Floats, codes: Ints, weight: Floats, threshold: float | None = None
    ) -> None:
        """Set threshold, probabilities and ranks by the scores of held-out rows."""
        positive = self._is_positive(codes)
        if threshold is None and self.threshold == "auto":
            self._check_findable(score[positive] > 0, "give threshold a number")
        self._calibrate(score, positive, weight, threshold)
