"""The rows of a file to check first: the columns that are needed, read piece by piece."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

from rarefind._core.budget import budget_share, check_budget
from rarefind.data.columns import LevelCodesPlan, LevelsPlan
from rarefind.data.decode import texts
from rarefind.data.frames import part_of
from rarefind.data.read import file_columns, file_rows, read_pieces
from rarefind.data.row_numbers import rows_named_by
from rarefind.data.table_file import AnyFile
from rarefind.data.types import OtherTypeError, infer_type
from rarefind.tables._ranking import ListSink, group_sizes
from rarefind.tables._unlike import UnlikeSink
from rarefind.tables.lists import Budget, Groups, ListRequest, request_for
from rarefind.tables.scoring import Piece, pieces_of, score_pieces

if TYPE_CHECKING:
    from rarefind.tables._model import TableModel

# Small enough for a few at a time to stay far below 2 GiB, 300 columns of numbers each.
CHUNK_ROWS = 32_768
# Rows that show whether a column of text holds text still.
_GLANCE = 1_000


def rank_file(
    model: TableModel,
    path: AnyFile,
    budget: Budget | None = None,
    *,
    per: str | None = None,
    one_per: str | bool | None = None,
    reasons: bool = True,
    chunk_rows: int = CHUNK_ROWS,
    on_rows: Callable[[int], object] | None = None,
    on_warning: Callable[[str], object] | None = None,
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
        rows of the file is an error. Without a budget, that of the fit and its ``per`` and
        ``one_per``.
    chunk_rows : int, default=32_768
        Rows read at a time; a few times as many are in memory.
    on_rows : callable, default=None
        Called with the number of rows done since the last call.
    on_warning : callable, default=None
        Called with a sentence if the file is unlike the rows of the fit: a column is empty, has
        new levels or numbers in another unit, or most rows score as only the top did. By default
        it is a warning of Python.

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
    >>> from rarefind.tables import rank_file
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
    request = request_for(model, budget, per, one_per)
    if request is None:
        raise ValueError(
            "The model was not fitted for a budget: give one (200 checks, or 0.5% of the rows)."
        )
    groups = Groups(request.per, model.time)
    columns, levels = _needed(model, path, request, groups)
    share, rows = budget_share(request.budget), file_rows(path)
    # What a period or group cannot fill is left over, as is what a small file cannot of the fit's.
    most = None if request.per is not None else budget
    if most is not None:
        check_budget(most, rows, str(path))

    def read(names: list[str], with_levels: list[str]) -> Iterator[Any]:
        return read_pieces(path, chunk_rows, model.types_, names, with_levels)

    with _errors_of(path):
        sizes: dict[int, int] | None = None
        if share is not None and request.per is None and rows is not None:
            sizes = {0: rows}
        elif share is not None:
            seen = groups.column(columns) or columns[0]
            sizes = group_sizes(pieces_of(read([seen], []), groups))
        pieces = _checked(model, pieces_of(read(columns, levels), groups))
        sink, unlike = ListSink(model, request, groups, sizes), UnlikeSink(model)
        total = score_pieces(model, pieces, [sink, unlike], in_threads=True, on_rows=on_rows)
        if most is not None:
            check_budget(most, total, str(path))
        if said := unlike.sentence():
            (on_warning or _warn)(said)
        return sink.listed(reasons)


@contextmanager
def _errors_of(path: AnyFile) -> Iterator[None]:
    """Errors inside name the file, and a row of it."""
    try:
        with rows_named_by(path):
            yield
    except OtherTypeError as error:
        raise ValueError(
            f"Column {error.column!r} of {path} has {error.value!r} in {error.row}, and had "
            f"{error.expected} when the model was fitted: correct the column, or fit the model "
            "again."
        ) from None


def _warn(said: str) -> None:
    warnings.warn(said, UserWarning, stacklevel=3)


def _needed(
    model: TableModel, path: AnyFile, request: ListRequest, groups: Groups
) -> tuple[list[str], list[str]]:
    """The columns to read, and those of them that hold levels."""
    names = file_columns(path, model.types_)
    plans = model.encoder_.plans_
    features = [plan.column for plan in plans]
    roles = [model.id, model.entity, model.time, model.amount]
    asked = [request.owner_column(model.entity, names), groups.column(names)]
    # Columns that are not features are listed where the file has them; a feature has to be there.
    others = [name for name in (*roles, *asked) if name in names]
    levels = [plan.column for plan in plans if isinstance(plan, LevelsPlan | LevelCodesPlan)]
    shown = {*roles, *asked}
    return list(dict.fromkeys([*features, *others])), [n for n in levels if n not in shown]


def _checked(model: TableModel, pieces: Iterator[Piece]) -> Iterator[Piece]:
    """The pieces, if columns that held text at the fit do not hold numbers or dates now."""
    first = next(pieces, None)
    if first is None:
        return
    plans = [
        plan for plan in model.encoder_.plans_ if isinstance(plan, LevelsPlan | LevelCodesPlan)
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
            raise OtherTypeError(": another type", plan.column, held, value, row)
    yield first
    yield from pieces
