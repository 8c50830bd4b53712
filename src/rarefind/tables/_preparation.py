"""From a table as people have it to what an estimator is fitted to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_consistent_length, column_or_1d, get_tags

from rarefind._core.types import ArrayLike
from rarefind.data import TableEncoder


def default_estimator() -> Any:
    from rarefind.neighbors import GammaKNNClassifier  # takes its time, and is not always needed

    return GammaKNNClassifier()


def with_target(frame: pd.DataFrame, target: str, y: ArrayLike) -> pd.DataFrame:
    """The table with its target; one that has it already must have the same values there."""
    labels = column_or_1d(y)
    check_consistent_length(frame, labels)
    if target in frame.columns and not np.array_equal(frame[target].to_numpy(), labels):
        raise ValueError(f"The table has a column {target!r} that differs from y: leave y out.")
    attributes = frame.attrs
    frame = frame.assign(**{target: labels})
    frame.attrs = attributes
    return frame


def encoder_for(estimator: Any) -> TableEncoder:
    """How an estimator needs a table.

    Trees, which take missing values as they are, need no scale and can split on sets of levels;
    what measures distances needs missing values filled in, and a scale.
    """
    if not get_tags(estimator).input_tags.allow_nan:
        return TableEncoder(missing="fill", scale=True)
    # Columns that a user names are those of the encoded table without numbers of levels.
    by_sets = estimator.get_params().get("categorical_features", ()) is None
    return TableEncoder(levels="code" if by_sets else "one-hot")
