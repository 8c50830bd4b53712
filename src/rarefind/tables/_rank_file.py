"""The rows of a file to check first: the columns that are needed, read piece by piece."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from joblib import parallel_config

from rarefind._core.budget import budget_share
from rarefind.data.columns import LevelCodesPlan, LevelsPlan
from rarefind.data.decode import texts
from rarefind.data.frames import part_of
from rarefind.data.read import file_columns, file_rows, read_pieces
from rarefind.data.types import OtherTypeError, infer_type
from rarefind.tables._ranking import (
    Budget,
    Chunk,
    Periods,
    Scorer,
    Wanted,
    merged_list,
    period_counts,
    pieces,
)

if TYPE_CHECKING:
    from rarefind.tables._model import TableModel

# Small enough for a few at a time to stay far below 2 GiB, 300 columns of numbers each.
CHUNK_ROWS = 32_768
# Rows that show whether a column of text holds text still.
_GLANCE = 1_000
# Pieces that are scored at the same time; more would need more memory than they save time.
_MOST_THREADS = 4


def rank_file(
    model: TableModel,
    path: str | Path,
    budget: Budget,
    *,
    per: str | None = None,
    one_per: str | bool | None = None,
    reasons: bool = True,
    chunk_rows: int = CHUNK_ROWS,
    on_rows: Callable[[int], object] | None = None,
) -> pd.DataFrame:
    """List the rows of a file to check first, whatever its size.

    Parameters
    ----------
    model : TableModel
        A fitted model.
    path : str or Path
        A file as :func:`rarefind.data.read_table` takes it. Only the columns that the model needs
        are read, and given the types they had at the fit.
    budget, per, one_per, reasons
        As in :meth:`TableModel.rank <rarefind.TableModel.rank>`. A number of checks beyond the
        rows of the file is an error.
    chunk_rows : int, default=32_768
        Rows read at a time; a few times as many are in memory.
    on_rows : callable, default=None
        Called with the number of rows done since the last call.

    Returns
    -------
    DataFrame
        As from :meth:`TableModel.rank <rarefind.TableModel.rank>`; the index counts the rows of the
        file from 0.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from rarefind import TableModel
    >>> from rarefind.tables._rank_file import rank_file
    >>> from rarefind.neighbors import GammaKNNClassifier
    >>> table = pd.DataFrame({"amount": [9, 12, 250, 11, 240, 13], "fraud": [0, 0, 1, 0, 1, 0]})
    >>> model = TableModel(GammaKNNClassifier(k=1), target="fraud").fit(table)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table.drop(columns="fraud").to_parquet(Path(folder) / "today.parquet")
    ...     listed = rank_file(model, Path(folder) / "today.parquet", 2, reasons=False)
    >>> listed.index.tolist()
    [2, 4]
    """
    model._fitted()
    wanted = Wanted(budget, per, one_per)
    columns, levels = _needed(model, path, wanted)
    share, rows = budget_share(budget), file_rows(path)
    checks = None if share is not None or per is not None else int(float(budget))
    _check_budget_fits(path, checks, rows)

    def read(names: list[str], with_levels: list[str]) -> Iterator[Any]:
        return read_pieces(path, chunk_rows, model.types_, names, with_levels)

    total = 0

    def done(rows: int) -> None:
        nonlocal total
        total += rows
        if on_rows is not None:
            on_rows(rows)

    try:
        if share is None:
            counts = None
        elif per is None and rows is not None:
            counts = {0: rows}
        else:
            periods = Periods(model, per)
            seen = columns[0] if per is None else periods.column(columns)
            counts = period_counts(pieces(read([seen], []), periods))
        chunks = _checked(model, pieces(read(columns, levels), Periods(model, per)))
        scorer = Scorer(model, wanted, counts)
        listed = merged_list(model, scorer, _in_threads(scorer, chunks, done), reasons)
    except OtherTypeError as error:
        raise ValueError(
            f"Column {error.column!r} of {path} holds {error.value!r} in row {error.row}, and held "
            f"{error.expected} when the model was fitted: correct the column, or fit the model "
            "again."
        ) from None
    _check_budget_fits(path, checks, total)
    return listed


def _needed(model: TableModel, path: str | Path, wanted: Wanted) -> tuple[list[str], list[str]]:
    """The columns to read, and those of them that hold levels."""
    names = file_columns(path)
    plans = model.encoder_._plans
    features = [plan.column for plan in plans]
    roles = [model.id, model.entity, model.time, model.amount]
    one = wanted.column_of_one(model, names)
    # What is no feature is listed where it is there; a feature has to be.
    others = [name for name in (*roles, one) if name in names]
    levels = [plan.column for plan in plans if isinstance(plan, LevelsPlan | LevelCodesPlan)]
    shown = {*roles, one}
    return list(dict.fromkeys([*features, *others])), [n for n in levels if n not in shown]


def _check_budget_fits(path: str | Path, checks: int | None, rows: int | None) -> None:
    if checks is not None and rows is not None and checks > rows:
        raise ValueError(
            f"The budget is {checks} checks and {path} has {rows} rows: give a smaller one, or a "
            "share of the rows (0.5%)."
        )


def _checked(model: TableModel, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """The chunks, if columns that held text at the fit do not hold numbers or dates now."""
    first = next(chunks, None)
    if first is None:
        return
    plans = [
        plan for plan in model.encoder_._plans if isinstance(plan, LevelsPlan | LevelCodesPlan)
    ]
    head = part_of(
        first.table, [plan.column for plan in plans], np.arange(min(_GLANCE, len(first.table)))
    )
    for plan in plans:
        text = texts(head[plan.column])
        kind = infer_type(text)
        if kind in ("text", "missing", "boolean") or plan.has_other:
            continue
        levels = pa.array(plan.levels, pa.string())
        if infer_type(levels) == "text" and not set(text.to_pylist()) & set(plan.levels):
            known = text.is_valid().to_numpy(zero_copy_only=False)
            row = int(known.argmax())
            value, held = text[row].as_py(), f"text such as {plan.levels[0]!r}"
            raise OtherTypeError("another type", plan.column, held, value, row + 1)
    yield first
    yield from chunks


def _in_threads(
    scorer: Scorer, chunks: Iterable[Chunk], done: Callable[[int], None]
) -> Iterator[Any]:
    """The best rows of each chunk, in order: while some are scored, the next is read."""
    threads = min(os.cpu_count() or 1, _MOST_THREADS)
    waiting: deque[tuple[int, Future[Any]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for chunk in chunks:
                waiting.append((len(chunk.table), pool.submit(_score, scorer, chunk)))
                if len(waiting) > threads:
                    yield _next(waiting, done)
            while waiting:
                yield _next(waiting, done)
        finally:
            pool.shutdown(cancel_futures=True)


def _next(waiting: deque[tuple[int, Future[Any]]], done: Callable[[int], None]) -> Any:
    rows, best = waiting.popleft()
    found = best.result()
    done(rows)
    return found


def _score(scorer: Scorer, chunk: Chunk) -> Any:
    try:
        # Chunks share the cores among them: threads inside of each would wait for one another.
        with parallel_config(backend="sequential"):
            return scorer(chunk)
    except OtherTypeError as error:
        # Pieces in Arrow do not know where in the file they stand.
        error.row += 0 if isinstance(chunk.table, pd.DataFrame) else chunk.start
        raise
