"""What the tree classifiers share: rows with weights, categories and missing values."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils._param_validation import Interval, StrOptions

from rarefind._core.checks import training_weights
from rarefind._core.fields import BoolArray
from rarefind._core.state import State
from rarefind._core.types import Array, ArrayLike, Bools, Floats, Label, Table
from rarefind.base import CLASSIFIER_STATE, RareClassifier
from rarefind.rules.branches import Branch, BranchList
from rarefind.selection.calibration import SHARE
from rarefind.trees._training import TrainingRows

MAX_BINS = 512
#: Where ``threshold=None`` cuts positions, which are 1/2 for the last leaf of the first half.
ABOVE_HALF = float(np.nextafter(0.5, 1.0))


def upgrade_trees(version: int, state: dict[str, Any]) -> dict[str, Any]:
    """Rename the attributes that older files of tree classifiers have under other names."""
    names = {"_holes": "_has_missing"}
    return {names.get(name, name): value for name, value in state.items()}


#: What every classifier made of trees keeps in a model file.
TREE_STATE = CLASSIFIER_STATE | State({"_has_missing": BoolArray("d")})


class Start(NamedTuple):
    """What a fit begins with: the rows that have weight."""

    rows: TrainingRows
    codes: Array  # the class of each row
    own_weight: Floats  # without the weights of classes: what held-out rows are measured by
    groups: Array | None
    used: Bools  # which of the rows given these are

    @property
    def one_is_alone(self) -> bool:
        """Whether a class has a single row, which cannot be held out."""
        return bool(np.bincount(self.codes).min() < 2)


class TreeClassifier(RareClassifier):
    """Base of classifiers made of trees: scores are precisions, from 0 to 1."""

    _allows_missing = True
    reads_columns = True
    _score_kind = SHARE
    #: A row is positive where half of its leaf is.
    _own_threshold = 0.5
    #: Parameters that all of them have.
    _shared_constraints: ClassVar[dict[str, Any]] = {
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "categorical_features": ["array-like", None],
        "splitter": [StrOptions({"auto", "exact", "histogram"})],
        "max_bins": [Interval(Integral, 2, MAX_BINS, closed="both")],
        "threshold": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both"), None],
        "metric": [str, callable],
        "pos_label": "no_validation",
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    class_weight: Any
    categorical_features: Any
    splitter: str
    max_bins: int
    pos_label: Label

    def _start(
        self, X: Table, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> Start:
        """Check the rows and leave those without weight out."""
        self._count_metric()
        X, codes = self._start_fit(X, y, self.pos_label)
        check_consistent_length(X, groups)
        own = training_weights(X, codes, sample_weight, None)
        weight = own
        if self.class_weight is not None:
            weight = training_weights(X, self.classes_[codes], sample_weight, self.class_weight)
        used = weight > 0
        if np.unique(codes[used]).size < 2:
            raise ValueError(
                "All rows with a weight above 0 are of one class: learning needs two classes."
            )
        # Shrinkage and smoothing speak of rows, so a row weighs 1 on average.
        own, weight = (w[used] / w[used].mean() for w in (own, weight))
        self._has_missing: Bools = np.isnan(X[used]).any(axis=0)
        rows = TrainingRows(
            X[used],
            self._is_positive(codes[used]),
            weight,
            self._level_columns(),
            self.splitter,
            self.max_bins,
        )
        kept_groups = None if groups is None else np.asarray(groups)[used]
        return Start(rows, codes[used], own, kept_groups, used)

    @abstractmethod
    def _branches(self) -> list[Branch]:
        """Every way to a leaf of every tree."""

    def tree_branches(self) -> BranchList:
        """Every way to a leaf of every tree, as tests on columns."""
        return BranchList(self._branches(), [])
