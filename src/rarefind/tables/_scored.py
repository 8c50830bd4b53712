"""New rows scored, counted and joined with their verdicts, piece by piece."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rarefind._core.types import Array, Floats, Label
from rarefind.data.drift import DriftReference
from rarefind.data.target import check_column, same_label
from rarefind.tables._model import TableModel


@dataclass(frozen=True)
class Monitored:
    """What is kept of the new rows.

    ``verdict`` is 1 for a positive, 0 for a negative and -1 where a row was not checked; ``drift``
    is the table of a drift counter, None of a model without a reference.
    """

    priority: Floats
    probability: Floats
    verdict: NDArray[np.int8]
    time: Array | None
    drift: pd.DataFrame | None
    notes: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.priority)


def gather(model: TableModel, chunks: Iterable[pd.DataFrame], verdicts: str | None) -> Monitored:
    """Score and count all pieces."""
    reference: DriftReference | None = getattr(model, "drift_reference_", None)
    counter = None if reference is None else reference.counter()
    at_positive = list(model.classes_).index(model.positive_)
    pieces: list[tuple[Floats, Floats, NDArray[np.int8], Array | None]] = []
    notes: list[str] = []
    for chunk in chunks:
        encoded = model._encode(chunk)
        pieces.append(
            (
                np.asarray(model.estimator_.priority(encoded)),
                np.asarray(model.estimator_.predict_proba(encoded))[:, at_positive],
                _verdicts(model, chunk, verdicts),
                _times(model, chunk, notes),
            )
        )
        if counter is not None:
            counter.update(chunk)
    if not pieces:
        raise ValueError("There are no rows to monitor.")
    priority, probability, verdict, times = zip(*pieces, strict=True)
    timed = all(part is not None for part in times)
    return Monitored(
        np.concatenate(priority),
        np.concatenate(probability),
        np.concatenate(verdict),
        np.concatenate([part for part in times if part is not None]) if timed else None,
        None if counter is None else counter.table(),
        list(dict.fromkeys(notes)),
    )


def _verdicts(model: TableModel, chunk: pd.DataFrame, name: str | None) -> NDArray[np.int8]:
    unknown = np.full(len(chunk), -1, dtype=np.int8)
    if name is None:
        if model.target not in chunk.columns:
            return unknown
        name = model.target
    check_column(chunk, name)
    negative = next(label for label in model.classes_.tolist() if label != model.positive_)
    codes, values = pd.factorize(chunk[name])
    found = np.array(
        [_code(value, model.positive_, negative, name) for value in values] + [-1], dtype=np.int8
    )
    return found[codes]  # a hole has the code -1: the last


def _code(value: Any, positive: Label, negative: Label, name: str) -> int:
    value = value.item() if isinstance(value, np.generic) else value
    for code, label in ((1, positive), (0, negative)):
        if same_label(label, value):
            return code
    raise ValueError(
        f"Column {name!r} holds the verdict {value!r}, where the target's values are "
        f"{positive!r} and {negative!r}: write one of them, or nothing where it is not known."
    )


def _times(model: TableModel, chunk: pd.DataFrame, notes: list[str]) -> Array | None:
    """When each row was, where the model has a time and the piece its dates."""
    if model.time is None:
        return None
    if model.time not in chunk.columns:
        notes.append(f"The file has no column {model.time!r}, so there are no weeks to compare.")
        return None
    times = chunk[model.time]
    if pd.api.types.is_numeric_dtype(times) or pd.api.types.is_bool_dtype(times):
        notes.append(f"{model.time} holds numbers and no dates: there are no weeks to compare.")
        return None
    times = pd.to_datetime(times)
    if times.dt.tz is not None:
        times = times.dt.tz_localize(None)
    return times.to_numpy(dtype="datetime64[us]")
