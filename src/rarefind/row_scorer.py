"""Scores of one row at a time, for what decides on transactions as they come."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rarefind._core.kernels import kernel
from rarefind._core.types import Floats
from rarefind.data.categories import Levels, by_place

__all__ = ["RowScorer"]


class RowScorer:
    """Scores one row at a time, without the work that a table takes.

    It is made by ``row_scorer()`` of a fitted estimator or :class:`rarefind.TableModel`, from the
    model as it is then; a model of a stream that goes on learning is scored as it is at each call.
    Everything is looked up and compiled when it is made: its first score takes no longer than
    others. Several threads may use one.

    Attributes
    ----------
    columns : list of str
        The columns that a row has to have.

    Examples
    --------
    >>> import pandas as pd
    >>> from rarefind import TableModel
    >>> from rarefind.neighbors import GammaKNNClassifier
    >>> table = pd.DataFrame({
    ...     "amount": [10, 12, 11, 13, 9, 250, 240, 14, 12, 11],
    ...     "country": ["FR", "FR", "BE", "FR", None, "XX", "XX", "BE", "FR", "FR"],
    ...     "fraud": ["no"] * 5 + ["yes"] * 2 + ["no"] * 3})
    >>> model = TableModel(GammaKNNClassifier(k=1), target="fraud").fit(table)
    >>> scorer = model.row_scorer()
    >>> row = {"amount": 245, "country": "XX", "time": "12:30"}
    >>> scorer.score(row) == float(model.priority(row)[0])
    True
    >>> scorer.probability(row) == float(model.predict_proba(row)[0, 1])
    True
    """

    def __init__(
        self,
        columns: Sequence[str],
        read: Callable[[Any], Any],
        score: Callable[[Any], float],
        probability_of: Callable[[float], float],
    ) -> None:
        self.columns = list(columns)
        self._read, self._score, self._probability_of = read, score, probability_of

    def score(self, values: Mapping[str, Any] | Sequence[float] | Floats) -> float:
        """The priority of one row, bit for bit that of the same row in a table.

        Parameters
        ----------
        values : mapping, or sequence of float
            The value of each column by its name, None or NaN where it is missing; what else is in
            it is not read. For an estimator also the numbers in the order of its columns.

        Returns
        -------
        float
        """
        return self._score(self._read(values))

    def probability(self, values: Mapping[str, Any] | Sequence[float] | Floats) -> float:
        """The calibrated probability of the positive label, bit for bit that of ``predict_proba``.

        Parameters
        ----------
        values : mapping, or sequence of float
            As in :meth:`score`.

        Returns
        -------
        float
        """
        return self._probability_of(self.score(values))

    def probability_of(self, priority: float) -> float:
        """The same of a row whose priority is known already.

        Parameters
        ----------
        priority : float
            What :meth:`score` gave.

        Returns
        -------
        float
        """
        return self._probability_of(priority)


def number_reader(names: Sequence[str], levels: Levels) -> Callable[[Any], Floats]:
    """How an estimator reads a row: numbers in order, or by name, with codes for categories."""
    n = len(names)
    codes = {
        place: {level: float(code) for code, level in enumerate(own)}
        for place, own in by_place(levels, list(names)).items()
    }

    def read(values: Any) -> Floats:
        if isinstance(values, Mapping):
            lacking = [name for name in names if name not in values]
            if lacking:
                raise ValueError(
                    f"The row lacks {', '.join(map(repr, lacking))}: give a value, or None where "
                    "it is missing."
                )
            values = [values[name] for name in names]
            for place, known in codes.items():
                value = values[place]
                if value is not None and value == value:
                    values[place] = known.get(value, float(len(known)))
        row = np.array(values, dtype=np.float64)
        if row.shape != (n,):
            raise ValueError(f"The row has the shape {row.shape}, and the model takes {n} numbers.")
        return row

    return read


@kernel
def takes_row(row: Floats, largest: float, missing: bool) -> bool:
    """Whether all values are numbers up to the largest, or missing where that may be."""
    taken = True
    for j in range(row.size):
        taken &= abs(row[j]) <= largest or (missing and np.isnan(row[j]))
    return taken
