"""What each model says of each transaction, also of those that another one has decided.

Scores are kept in blocks of rows of the ledger, as plain numbers: no card, no amount. A row that
was erased before a model has scored it has no score of that model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from rarefind._core.types import Array, Floats, Ints
from rarefind.data.clock import nanoseconds
from rarefind.desk.clock import DeskClock
from rarefind.desk.control import Models, digest_of, model_path
from rarefind.desk.database import Database, Writer, migrate
from rarefind.desk.intake import Intake
from rarefind.desk.ledger import Ledger
from rarefind.desk.measures._figure_tables import STEPS
from rarefind.desk.measures._figures_read import read_place, save_place
from rarefind.desk.records import Entry

__all__ = ["BLOCK", "NO_TIME", "ShadowScores", "read_blocks"]

#: Rows of the ledger in one block, and rows that are scored in one turn.
BLOCK, _ROWS = 4_096, 1_024
#: The time of a place in a block at which there is no transaction.
NO_TIME = -(2**63)
_DAY = 86_400 * 10**9
#: So many days are scored before the first whose labels are not ripe, and a period of the budget.
_DAYS_BACK = 35
_PREFIX = "scores "

Score = Callable[[dict[str, Any]], float]


class ShadowScores:
    """Scores the ledger's rows by all models that are not retired.

    Of the model that has decided a row the score is the one that is stored there.

    Parameters
    ----------
    database : Database
        That of the desk, not the ledger.
    ledger : Ledger
        Opened to be read.
    models : Models
    folder : Path
        Where model files are.
    intake : Intake
    clock : DeskClock
    """

    def __init__(
        self,
        database: Database,
        ledger: Ledger,
        models: Models,
        folder: Path,
        intake: Intake,
        clock: DeskClock,
    ) -> None:
        migrate(database, "figures", STEPS)
        self._database, self._ledger, self._models = database, ledger, models
        self._folder, self._intake, self._clock = folder, intake, clock
        schema = intake.schema
        self._length = 8 * len(schema.features.names)
        unripe = max(
            nanoseconds("labels.delay", schema.labels.delay),
            nanoseconds("limits.late", schema.limits.late),
        )
        self._back = _DAYS_BACK * _DAY + schema.alerts.period + unripe
        self._scorers: dict[str, Score | None] = {}

    def run(self) -> bool:
        """Score the next rows by the models that have come least far; True if there are more."""
        digests = self._digests()
        self._forget(digests)
        last = self._ledger.last.sequence
        places = {digest: self._place(digest) for digest in digests}
        behind = {digest: place for digest, place in places.items() if place < last}
        if not behind:
            return False
        after = min(behind.values())
        together = [digest for digest, place in behind.items() if place == after]
        block = (after + 1) // BLOCK
        upto = min(after + _ROWS, (block + 1) * BLOCK - 1, last)
        entries = [
            row
            for row in self._ledger.read(after, upto - after)
            if isinstance(row, Entry) and row.sequence <= upto
        ]
        scores = {digest: self._score(digest, entries) for digest in together}
        at = np.array([row.sequence for row in entries], dtype=np.int64) - block * BLOCK
        with self._database.write() as writer:
            _add_times(writer, block, at, [row.time for row in entries])
            for digest, own in scores.items():
                _add_scores(writer, digest, block, at, own)
                save_place(writer, _PREFIX + digest, upto)
        return len(behind) > len(together) or upto < last

    def _digests(self) -> list[str]:
        """The models that can be scored by: those not retired whose file is there."""
        wanted = [model.digest for model in self._models.all() if model.state != "retired"]
        for digest in wanted:
            if self._scorers.get(digest) is None:
                self._scorers[digest] = self._open(digest)
        self._scorers = {digest: self._scorers[digest] for digest in wanted}
        return [digest for digest in wanted if self._scorers[digest] is not None]

    def _open(self, digest: str) -> Score | None:
        from rarefind.tables import open_model

        path = model_path(self._folder, digest)
        try:
            if digest_of(path) != digest:
                return None
            model = open_model(path)
        except (OSError, ValueError):
            return None
        save_card(self._database, digest, model, self._clock.now())
        return model.row_scorer().probability

    def _place(self, digest: str) -> int:
        """The last row that a model has scored, or the one before the first that is of use."""
        found = read_place(self._database, _PREFIX + digest)
        first = self._ledger.deleted().sequence
        if found is None:
            return max(first, self._ledger.arrived_since(self._clock.now() - self._back)[1])
        return max(first, found[0])

    def _score(self, digest: str, entries: Sequence[Entry]) -> Floats:
        score, known = self._scorers[digest], np.full(len(entries), np.nan)
        assert score is not None
        for place, entry in enumerate(entries):
            if entry.outcome.model == digest and entry.outcome.score is not None:
                known[place] = entry.outcome.score
            elif entry.body and len(entry.features) == self._length:
                try:
                    known[place] = score(self._intake.record(entry))
                except (ValueError, TypeError, ArithmeticError):
                    continue  # what it cannot score it is not compared by
        return known

    def _forget(self, digests: Sequence[str]) -> None:
        """Delete scores of models that are not there any more, and of rows that are deleted."""
        rows = self._database.read("SELECT name FROM figures_read WHERE name LIKE 'scores %'")
        gone = [name for (name,) in rows if name.removeprefix(_PREFIX) not in digests]
        upto = (self._ledger.deleted().sequence + 1) // BLOCK
        first = self._database.read("SELECT min(block) FROM row_times")[0][0]
        if not gone and (first is None or first >= upto):
            return
        with self._database.write() as writer:
            for name in gone:
                digest = name.removeprefix(_PREFIX)
                writer.execute("DELETE FROM figures_read WHERE name = :name", name=name)
                writer.execute("DELETE FROM row_scores WHERE model = :model", model=digest)
            writer.execute("DELETE FROM row_times WHERE block < :upto", upto=upto)
            writer.execute("DELETE FROM row_scores WHERE block < :upto", upto=upto)


def save_card(database: Database, digest: str, model: Any, now: int) -> None:
    """Keep the card of a model, so that a page need not open its file."""
    card = model.card().as_dict()
    estimate = model.estimate_
    if estimate is not None and estimate.time is not None and estimate.time.size:
        card["held_out"] = [int(estimate.time.min()), int(estimate.time.max())]
    if estimate is not None:
        card["estimate"] = estimate.how
    with database.write() as writer:
        writer.execute(
            "INSERT INTO saved_figures (name, at, figures) VALUES (:name, :at, :figures) "
            "ON CONFLICT (name) DO UPDATE SET at = excluded.at, figures = excluded.figures",
            name=f"card {digest}",
            at=now,
            figures=msgspec.json.encode(card).decode(),
        )


def read_blocks(
    database: Database, models: Sequence[str], begins: int, ends: int
) -> tuple[Ints, Ints, dict[str, Floats]]:
    """Return sequence, time and scores of the rows of some time; NaN where there is no score."""
    sequence: list[Array] = []
    times: list[Array] = []
    scores: dict[str, list[Array]] = {model: [] for model in models}
    nothing = np.full(BLOCK, np.nan)
    for block, blob in database.read(
        "SELECT block, times FROM row_times WHERE latest >= :begins AND earliest < :ends "
        "ORDER BY block",
        begins=begins,
        ends=ends,
    ):
        time_of = np.frombuffer(blob, dtype="<i8")
        at = np.flatnonzero((time_of >= begins) & (time_of < ends))
        sequence.append(block * BLOCK + at)
        times.append(time_of[at])
        found: dict[str, bytes] = dict(
            database.read("SELECT model, scores FROM row_scores WHERE block = :block", block=block)
        )
        for model in models:
            own = np.frombuffer(found[model], dtype="<f8") if model in found else nothing
            scores[model].append(own[at])
    empty: list[Array] = [np.empty(0)]
    return (
        np.concatenate(sequence or empty).astype(np.int64),
        np.concatenate(times or empty).astype(np.int64),
        {model: np.concatenate(own or empty) for model, own in scores.items()},
    )


def _add_times(writer: Writer, block: int, at: Ints, times: Sequence[int]) -> None:
    rows = writer.read("SELECT times FROM row_times WHERE block = :block", block=block)
    known = np.full(BLOCK, NO_TIME, dtype="<i8")
    if rows:
        known = np.frombuffer(rows[0][0], dtype="<i8").copy()
    known[at] = times
    there = known[known != NO_TIME]
    writer.execute("DELETE FROM row_times WHERE block = :block", block=block)
    writer.execute(
        "INSERT INTO row_times VALUES (:block, :earliest, :latest, :times)",
        block=block,
        earliest=int(there.min()) if there.size else 0,
        latest=int(there.max()) if there.size else 0,
        times=known.tobytes(),
    )


def _add_scores(writer: Writer, model: str, block: int, at: Ints, scores: Floats) -> None:
    rows = writer.read(
        "SELECT scores FROM row_scores WHERE model = :model AND block = :block",
        model=model,
        block=block,
    )
    known = np.frombuffer(rows[0][0], dtype="<f8").copy() if rows else np.full(BLOCK, np.nan)
    known[at] = scores
    writer.execute(
        "DELETE FROM row_scores WHERE model = :model AND block = :block", model=model, block=block
    )
    writer.execute(
        "INSERT INTO row_scores VALUES (:model, :block, :scores)",
        model=model,
        block=block,
        scores=known.astype("<f8").tobytes(),
    )
