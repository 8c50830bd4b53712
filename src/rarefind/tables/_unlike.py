"""Whether the rows of a file are unlike those of the fit, so that its list is worth little."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rarefind.data.column_reference import ColumnReference, finite
from rarefind.data.drift import DriftReference
from rarefind.tables.sinks import DriftSink

if TYPE_CHECKING:
    from rarefind.data.drift import DriftCounter
    from rarefind.tables._model import TableModel
    from rarefind.tables.scoring import ScoredPiece

# Rows of a piece that are counted: enough to see an empty column, and hardly any work.
_COUNTED = 2_048
_NAMED = 5


def score_references(model: TableModel) -> list[ColumnReference]:
    """How the scores of the fit's own rows are spread, and those of rows held out then.

    A neighbour scores its own rows higher than others, and models of the folds that scored held-out
    rows have leaves of their own: of each kind of model only one of the two is comparable. Empty
    for files that are older than this.
    """
    own: ColumnReference | None = getattr(model, "score_reference_", None)
    if own is None:
        return []
    kept = getattr(model.estimator_, "reference_", None)
    if kept is not None:
        return [own, ColumnReference.of_scores("score", kept.score, np.diff(kept.below))]
    if model.estimate_ is not None:
        score = np.asarray(model.estimate_.priority, dtype=np.float64)
        return [own, ColumnReference.of_scores("score", score, np.ones(score.size))]
    return [own]


class UnlikeSink:
    """Counts columns and scores of a sample of the rows, and says what is unlike the fit.

    Parameters
    ----------
    model : TableModel
        Fitted.
    """

    def __init__(self, model: TableModel) -> None:
        self._columns = DriftSink(model, _COUNTED)
        self._scores = [DriftReference(0, [one]).counter() for one in score_references(model)]

    def take(self, piece: ScoredPiece) -> tuple[DriftCounter | None, pd.DataFrame]:
        """The sample of a piece, counted, and its scores."""
        score = finite(piece.priority[:: max(1, piece.priority.size // _COUNTED)])
        return self._columns.take(piece), pd.DataFrame({"score": score})

    def add(self, taken: tuple[DriftCounter | None, pd.DataFrame]) -> None:
        """Add those of the next piece."""
        columns, scores = taken
        self._columns.add(columns)
        for counter in self._scores:
            counter.update(scores)

    def sentence(self) -> str:
        """What is unlike the fit; empty where nothing is."""
        said = self._columns.unseen()
        if len(said) > _NAMED:
            said = [*said[:_NAMED], f"{len(said) - _NAMED} other columns are unlike it as well"]
        said += self._high_scores()
        if not said:
            return ""
        return (
            f"The file is unlike the rows of the fit: {'; '.join(said)}. Check the units and the "
            "columns before you use this list."
        )

    def _high_scores(self) -> list[str]:
        """How many rows score as only the top of the fit did, by all references."""
        tops = []
        for counter in self._scores:
            found = counter.unseen()
            tops.append(found[found["text"].str.contains("is above")])
        if not tops or any(top.empty for top in tops):
            return []
        least = min(tops, key=lambda top: float(top["share"].iloc[0])).iloc[0]
        return [
            f"{100 * least['share']:.0f} % of the rows score as high as the top "
            f"{max(1, round(100 * least['before']))} % of the fit"
        ]
