"""The known positives that reasons speak of: their rows, their names, and what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from rarefind.tables._model import TableModel


class KnownPositives(NamedTuple):
    """What is kept of the positives of a fit.

    Attributes
    ----------
    names : dict of int to str
        The identifier of each, by its row, where that is asked for.
    rows : dict of int to int
        The place of each among them, by its row.
    values : dict of str to list of str
        What they hold in each column, in this order; of numbers only where some are missing.
    """

    names: dict[int, str]
    rows: dict[int, int]
    values: dict[str, list[str]]

    @classmethod
    def of(cls, model: TableModel, frame: pd.DataFrame, encoded: pd.DataFrame) -> KnownPositives:
        """What reasons say of the known positives that a row is like, if they speak of them.

        Their identifiers are kept only where that is asked for.
        """
        at = np.flatnonzero(frame[model.target].to_numpy() == model.positive_)
        known = cls({}, {}, {})
        reasons = model.estimator_.explain(encoded.iloc[at[:3]])
        speak_of_them = any(reason.similar for reason in reasons)
        positives = frame.iloc[at]
        if model.keep_ids and model.id is not None:
            names = positives[model.id].astype(str).tolist()
            known.names.update(zip(at.tolist(), names, strict=True))
        if speak_of_them or known.names:
            known.rows.update((int(row), i) for i, row in enumerate(at))
        if not speak_of_them:
            return known
        for column in model.encoder_.columns_:
            values = positives[column]
            # Of numbers, which have no levels, only missing values are of interest.
            if not pd.api.types.is_numeric_dtype(values) or values.isna().any():
                codes, different = pd.factorize(values, use_na_sentinel=False)
                texts = [model.encoder_.describe_value(column, value) for value in different]
                known.values[column] = [texts[code] for code in codes]
        return known
