"""What displays ask of an estimator: a name, and scores that put the positive label first."""

from __future__ import annotations

from typing import Any, NamedTuple

from rarefind._core.types import Floats, Label, Table
from rarefind.metrics import positive_label_of, ranking_scores
from rarefind.metrics.scorers import deciding_estimator
from rarefind.plots.axes import number


class ScoredRows(NamedTuple):
    """Scores of rows, higher for rows more likely to carry ``pos_label``."""

    score: Floats
    pos_label: Label
    flipped: bool  # whether they are the estimator's own ranking upside down


def score_rows(estimator: Any, X: Table, pos_label: Label = None) -> ScoredRows:
    """Score rows for the estimator's own positive label, or for the one given."""
    own = positive_label_of(estimator)
    label = own if pos_label is None else pos_label
    return ScoredRows(ranking_scores(estimator, X, label), label, bool(label != own))


def name_of(estimator: Any) -> str:
    """What a legend calls an estimator."""
    return type(deciding_estimator(estimator)).__name__


def check_has_positives(positives: float, rows: float) -> None:
    """Raise if there is no positive row."""
    if not positives > 0:
        raise ValueError(
            f"None of the {number(rows)} rows is positive, so there is nothing to draw: "
            "give rows of both classes, or the right pos_label."
        )
