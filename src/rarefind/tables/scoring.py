"""One pass over a table of any size: each piece is encoded and scored once, for several sinks."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import local
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
import pandas as pd
from joblib import parallel_config

from rarefind._core.types import Floats, Ints, Table
from rarefind.data.frames import as_piece
from rarefind.data.types import OtherTypeError
from rarefind.tables.lists import Groups

if TYPE_CHECKING:
    from rarefind.tables._model import TableModel

# Pieces that are scored at the same time; more would need more memory than they save time.
_MOST_THREADS = 4


class Piece(NamedTuple):
    """Some rows of a table, how many came before them, and the group of each."""

    table: pd.DataFrame | Any
    start: int
    group: Ints


class ScoredPiece(NamedTuple):
    """A piece with the scores of its rows; ``probability`` is None where no sink needs it."""

    table: pd.DataFrame | Any
    start: int
    group: Ints
    priority: Floats
    probability: Floats | None


class Sink(Protocol):
    """Takes what it needs of each scored piece."""

    def take(self, piece: ScoredPiece) -> Any:
        """What is kept of a piece; pieces may be taken by several threads at a time."""

    def add(self, taken: Any) -> None:
        """Add what was taken of the next piece; pieces come in order, in one thread."""


def pieces_of(tables: Iterable[Table], groups: Groups | None = None) -> Iterator[Piece]:
    """The pieces of a table in order; those without rows are passed over."""
    start = 0
    for table in tables:
        piece = as_piece(table, start)
        if len(piece):
            group = np.zeros(len(piece), dtype=np.int64) if groups is None else groups.of(piece)
            yield Piece(piece, start, group)
            start += len(piece)


def score_pieces(
    model: TableModel,
    pieces: Iterable[Piece],
    sinks: Sequence[Sink],
    *,
    probability: bool = False,
    in_threads: bool = False,
    on_rows: Callable[[int], object] | None = None,
) -> int:
    """Score a table piece by piece, and give each scored piece to all sinks.

    Parameters
    ----------
    model : TableModel
        Fitted.
    pieces : iterable of Piece
        From :func:`pieces_of`.
    sinks : sequence of Sink
        What is done with the rows.
    probability : bool, default=False
        Whether the sinks need probabilities as well as priorities.
    in_threads : bool, default=False
        Score several pieces at a time, while the next one is read.
    on_rows : callable, default=None
        Called with the number of rows done since the last call.

    Returns
    -------
    int
        The rows of all pieces.
    """
    memory = _Memory()

    def score(piece: Piece) -> list[Any]:
        found = model._scores(piece.table, memory.empty, probability=probability)
        scored = ScoredPiece(*piece, *found)
        return [sink.take(scored) for sink in sinks]

    taken = _in_threads(score, pieces) if in_threads else ((len(p.table), score(p)) for p in pieces)
    total = 0
    for rows, parts in taken:
        for sink, part in zip(sinks, parts, strict=True):
            sink.add(part)
        total += rows
        if on_rows is not None:
            on_rows(rows)
    return total


class _Memory(local):
    """Memory of each thread for the piece that it scores, and for the next one."""

    def __init__(self) -> None:
        self._held = np.empty(0)

    def empty(self, shape: tuple[int, int], order: Literal["C", "F"]) -> Floats:
        """An array, of use until the next one is asked for."""
        size = shape[0] * shape[1]
        if self._held.size < size:
            self._held = np.empty(size)
        return self._held[:size].reshape(shape, order=order)


def _in_threads(
    score: Callable[[Piece], list[Any]], pieces: Iterable[Piece]
) -> Iterator[tuple[int, list[Any]]]:
    """What the sinks take of each piece, in order: while some are scored, the next is read."""
    threads = min(os.cpu_count() or 1, _MOST_THREADS)
    waiting: deque[tuple[int, Future[list[Any]]]] = deque()

    def alone(piece: Piece) -> list[Any]:
        try:
            # Pieces share the cores among them: threads inside of each would wait for one another.
            with parallel_config(backend="sequential"):
                return score(piece)
        except OtherTypeError as error:
            # Pieces in Arrow do not know where in the file they stand.
            error.position += 0 if isinstance(piece.table, pd.DataFrame) else piece.start
            raise

    def next_done() -> tuple[int, list[Any]]:
        rows, found = waiting.popleft()
        return rows, found.result()

    with ThreadPoolExecutor(threads) as pool:
        try:
            for piece in pieces:
                waiting.append((len(piece.table), pool.submit(alone, piece)))
                if len(waiting) > threads:
                    yield next_done()
            while waiting:
                yield next_done()
        finally:
            pool.shutdown(cancel_futures=True)
