"""One pass over a file of any size: all scores, an even sample of the rows, and the top of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from rarefind._core.types import Array, Bools, Floats
from rarefind.data import read_chunks
from rarefind.data.read import with_progress

if TYPE_CHECKING:
    from rarefind.tables import TableModel

#: Rows kept for what needs whole rows (the profile, chances), and values kept at most.
_SAMPLE, _SAMPLE_VALUES = 200_000, 12_000_000
_CHUNK, _CHUNK_VALUES = 100_000, 5_000_000


class Labels(NamedTuple):
    """The rows of a file whose target is known."""

    known: Bools
    positive: Bools


class Scan(NamedTuple):
    """What a report needs of a file; arrays hold one entry for each of its rows."""

    priority: Floats
    labels: Labels | None
    time: Array | None  # nanoseconds; the smallest integer where it is missing
    amount: Floats | None
    sample: pd.DataFrame
    top: pd.DataFrame  # the rows with the highest priorities, the highest first
    drift: pd.DataFrame | None
    known_again: int  # rows that carry the id of a positive that the model learned from

    @property
    def rows(self) -> int:
        """Rows of the file."""
        return int(self.priority.size)


def scan(model: TableModel, path: Path, top: int) -> Scan:
    """Read and score a file, piece by piece."""
    width = max(1, len(model.encoder_.columns_))
    size = min(_CHUNK, max(1000, _CHUNK_VALUES // width))
    chunks = read_chunks(path, size, like=model.types_ or None)
    return scan_chunks(model, with_progress(chunks, path), top)


def scan_chunks(model: TableModel, chunks: Iterable[pd.DataFrame], top: int) -> Scan:
    """Score the pieces of a table, whose indices count its rows."""
    reference = getattr(model, "drift_reference_", None)
    drift = None if reference is None else reference.counter()
    sample, best, known_again = _Sample(), _Best(top), 0
    columns: dict[str, list[Any]] = {"priority": [], "label": [], "time": [], "amount": []}
    for chunk in chunks:
        priority = model.priority(chunk)
        columns["priority"].append(priority)
        for role, values in _roles(model, chunk).items():
            columns[role].append(values)
        sample.add(chunk)
        best.add(chunk, priority)
        known_again += _known_again(model, chunk)
        if drift is not None:
            drift.update(chunk)
    whole = {role: np.concatenate(parts) if parts else None for role, parts in columns.items()}
    return Scan(
        priority=np.asarray(whole["priority"]),
        labels=_labels(model, whole["label"]),
        time=whole["time"],
        amount=whole["amount"],
        sample=sample.rows(),
        top=best.rows(),
        drift=None if drift is None else drift.table(),
        known_again=known_again,
    )


def nanoseconds(column: pd.Series[Any]) -> Array | None:
    """Moments as numbers; None for a column of numbers, which are no dates."""
    if pd.api.types.is_numeric_dtype(column):
        return None
    try:
        moments = pd.to_datetime(column)
    except (ValueError, TypeError):
        example = column.dropna().iloc[0]
        raise ValueError(
            f"The column {column.name!r} holds no dates that can be read, such as {example!r}: "
            "write them as 2026-01-31 12:00."
        ) from None
    if moments.dt.tz is not None:
        moments = moments.dt.tz_convert(None)
    return moments.astype("datetime64[ns]").to_numpy().astype(np.int64)


def _roles(model: TableModel, chunk: pd.DataFrame) -> dict[str, Any]:
    """What the rows are labelled, when they were and what they are worth, where the file says."""
    found: dict[str, Any] = {}
    if model.target in chunk.columns:
        found["label"] = _coded(model, chunk[model.target])
    if model.time is not None and model.time in chunk.columns:
        moments = nanoseconds(chunk[model.time])
        if moments is not None:
            found["time"] = moments
    if model.amount is not None:
        found["amount"] = pd.to_numeric(chunk[model.amount], errors="coerce").to_numpy(float)
    return found


def _coded(model: TableModel, column: pd.Series[Any]) -> Array:
    """1 for the positive label, 0 for the other, -1 where there is none."""
    codes = np.full(len(column), -1, dtype=np.int64)
    for label in model.classes_:
        codes[(column == label).to_numpy(dtype=bool, na_value=False)] = label == model.positive_
    strange = column[(codes < 0) & column.notna().to_numpy()]
    if len(strange):
        names = " and ".join(repr(label) for label in model.classes_.tolist())
        raise ValueError(
            f"The target {model.target!r} holds {strange.iloc[0]!r} in row {strange.index[0] + 1}: "
            f"the model knows {names}; leave it empty where it is not known."
        )
    return codes


def _labels(model: TableModel, codes: Array | None) -> Labels | None:
    if codes is None or not (codes >= 0).any():
        return None
    return Labels(codes >= 0, codes == 1)


def _known_again(model: TableModel, chunk: pd.DataFrame) -> int:
    if model.id is None or model.id not in chunk.columns:
        return 0
    return int(chunk[model.id].astype(str).isin(set(model.known_names_.values())).sum())


class _Sample:
    """Every so many-th row; fewer of them as the file goes on."""

    def __init__(self) -> None:
        self.step = 1
        self.parts: list[pd.DataFrame] = []

    def add(self, chunk: pd.DataFrame) -> None:
        self.parts.append(self._thinned(chunk))
        limit = min(_SAMPLE, max(1000, _SAMPLE_VALUES // max(1, chunk.shape[1])))
        while sum(map(len, self.parts)) > limit:
            self.step *= 2
            self.parts = [self._thinned(part) for part in self.parts]

    def _thinned(self, part: pd.DataFrame) -> pd.DataFrame:
        return part[part.index.to_numpy() % self.step == 0]

    def rows(self) -> pd.DataFrame:
        return pd.concat(self.parts)


class _Best:
    """The rows with the highest priorities so far."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.kept: pd.DataFrame | None = None
        self.priority: Floats = np.empty(0)

    def add(self, chunk: pd.DataFrame, priority: Floats) -> None:
        first = np.argsort(-priority, kind="stable")[: self.count]
        rows, scores = chunk.iloc[first], priority[first]
        if self.kept is not None:
            rows = pd.concat([self.kept, rows])
            scores = np.concatenate([self.priority, scores])
        # Earlier rows stand first, and stay so among equals.
        order = np.argsort(-scores, kind="stable")[: self.count]
        self.kept, self.priority = rows.iloc[order], scores[order]

    def rows(self) -> pd.DataFrame:
        assert self.kept is not None, "a file without rows is refused by its reader"
        return self.kept
