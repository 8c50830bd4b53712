"""A candidate in the search, and what is known about it so far."""

from __future__ import annotations

from typing import Any, NamedTuple

from rarefind._core.kernels import awaits_compiling
from rarefind._core.types import Floats
from rarefind.auto._judge import Quality
from rarefind.auto._member import Member
from rarefind.auto._rungs import FEW_ROWS
from rarefind.auto._time_limit import FitTime

# Share of its time in which a fit of fewer rounds is still worth having.
_LEAST_OF_EFFORT = 0.3
# The settings of one booster of few rounds, on many rows.
BROAD: dict[str, Any] = {
    "n_estimators": 60,
    "learning_rate": 0.2,
    "early_stopping_rounds": None,
    "threshold": None,
    "bins": "quantile",
}
# Seconds to compile what a package needs, once in an installation, which cannot be stopped.
_COMPILING, _COMPILING_OTHERS = {"rarefind.trees": 45.0}, 8.0


class Judged(NamedTuple):
    """A model, and what it makes of the rows held out."""

    member: Member
    size: int
    score: Floats
    quality: Quality
    seconds: float
    #: Whether it made few rounds, in a hurry.
    is_broad: bool = False


class Contender:
    """A candidate with its last model of each fold, and how long its fits take."""

    def __init__(self, name: str, estimator: Any, *, is_quick: bool = False) -> None:
        self.name, self.estimator = name, estimator
        self.stops = is_quick or estimator.stops_quickly
        self._best_effort = is_quick or estimator.fits_in_time
        # Rounds of boosting take a time that hardly depends on rows while these are few; what
        # stops on its way may be taken at its best.
        self.fit_time = FitTime(0.5, 0.8) if self.stops else FitTime(1.0, 2.0)
        # Such a fit makes fewer rounds where the prediction was too short.
        self.broad_time = FitTime(0.5, 0.8, margin=1.0)
        self.by_fold: dict[int, Judged] = {}
        self.seconds = 0.0
        self.failure: Exception | None = None

    def needs(self, rows: int) -> float | None:
        """Seconds that a fit to so many rows cannot do without, as far as is known."""
        predicted = self.fit_time.predict_seconds(rows)
        if predicted is None or not (self._best_effort and rows >= FEW_ROWS):
            return predicted
        return _LEAST_OF_EFFORT * predicted

    def compiling(self) -> float:
        """Seconds to compile, where that was never done."""
        package = type(self.estimator).__module__.rpartition(".")[0]
        if not awaits_compiling(package):
            return 0.0
        return _COMPILING.get(package, _COMPILING_OTHERS)

    @property
    def can_be_broad(self) -> bool:
        """Whether it could make few rounds on many rows."""
        return self._best_effort and BROAD.keys() <= self.estimator.get_params(deep=False).keys()

    @property
    def size(self) -> int:
        """Rows of its largest model."""
        return max((judged.size for judged in self.by_fold.values()), default=0)

    def largest(self) -> tuple[int, Judged]:
        """The fold of its largest model, and that model."""
        fold = max(self.by_fold, key=lambda f: (self.by_fold[f].size, -f))
        return fold, self.by_fold[fold]
