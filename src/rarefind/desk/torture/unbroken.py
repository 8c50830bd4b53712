"""What is in a ledger beside what a desk would have written that nothing ever happened to."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from rarefind.desk.clock import DeskClock, ManualClock
from rarefind.desk.control import Control
from rarefind.desk.database import SqliteDatabase
from rarefind.desk.decision import Decider
from rarefind.desk.features import FeatureState
from rarefind.desk.folder import DeskFolder
from rarefind.desk.intake import Intake
from rarefind.desk.ledger import Ledger
from rarefind.desk.records import Answer, Entry, LabelEntry

_PIECE = 5_000
#: So many rows are decided together at most.
_GROUP = 200


class LedgerCheck(NamedTuple):
    """How a ledger compares with what its senders were told, and with an unbroken run.

    Attributes
    ----------
    transactions : int
        In the ledger.
    missing : int
        Transactions that were answered and are not in the ledger.
    contradicted : int
        Transactions whose answer is not what the ledger says.
    broken : str
        What is wrong with the ledger itself; empty if it is whole.
    different : int
        Rows that an unbroken run over the same transactions has otherwise.
    """

    transactions: int
    missing: int
    contradicted: int
    broken: str
    different: int


def check_ledger(folder: DeskFolder, answers: Mapping[str, bytes]) -> LedgerCheck:
    """Look whether all that was answered is stored once, whole, and as it should be.

    Parameters
    ----------
    folder : DeskFolder
        Of a desk that is not running.
    answers : mapping of str to bytes
        What senders were told, by the identifier of their transactions.
    """
    ledger = folder.read_ledger()
    left, contradicted, count = dict(answers), 0, 0
    for row in _rows(ledger):
        if isinstance(row, Entry):
            count += 1
            told = left.pop(row.id, None)
            contradicted += told is not None and told != _encode(_answer(row))
    verified = ledger.verify()
    broken = "" if verified.is_whole and verified.transactions == count else str(verified)
    broken = broken or _half_there(folder.path / "ledger.db", count, len(folder.schema.entities))
    return LedgerCheck(count, len(left), contradicted, broken, differences(folder, ledger))


def differences(
    folder: DeskFolder, ledger: Ledger, clock_of: Callable[[int], int] = lambda arrived: arrived
) -> int:
    """Count the rows that a run which nothing ever happened to has otherwise.

    Parameters
    ----------
    folder : DeskFolder
    ledger : Ledger
    clock_of : callable
        What that run's clock says when a transaction arrives, by when it did arrive. All but that
        time is compared.
    """
    intake, clock, different = Intake(folder.schema), ManualClock(), 0
    with tempfile.TemporaryDirectory() as name:
        database = SqliteDatabase(Path(name, "ledger.db"), journal="wal", durability="process")
        decider = in_process_decider(folder, Ledger(database, writes=True), clock)
        for arrived, rows in _groups(ledger):
            clock.set(clock_of(arrived))
            before = decider.ledger.last.sequence
            for is_label, part in groupby(rows, lambda row: isinstance(row, LabelEntry)):
                if is_label:
                    decider.add_labels((r.id, r.fraud, r.source) for r in part)  # type: ignore[union-attr]
                else:
                    decider.decide([intake.stored(row.body) for row in part])  # type: ignore[union-attr]
            found = decider.ledger.read(before, len(rows) + 1)
            different += sum(not _same(*pair) for pair in zip(rows, found, strict=False))
            different += abs(len(rows) - len(found))
        database.close()
    return different


def in_process_decider(folder: DeskFolder, ledger: Ledger, clock: DeskClock) -> Decider:
    """What decides as the process of the desk does, in this process and over another ledger."""
    decider = Decider(FeatureState(folder.schema), ledger, secret=folder.secret, clock=clock)
    decider.use(Control.of(folder).in_force())
    return decider


def _same(one: Entry | LabelEntry, other: Entry | LabelEntry) -> bool:
    def bits(row: Entry | LabelEntry) -> Any:
        known = msgspec.to_builtins(row)
        del known["arrived"]
        return _encode(known)

    return type(one) is type(other) and bits(one) == bits(other)


def _rows(ledger: Ledger) -> Iterator[Entry | LabelEntry]:
    after = 0
    while rows := ledger.read(after, _PIECE):
        yield from rows
        after = rows[-1].sequence


def _groups(ledger: Ledger) -> Iterator[tuple[int, list[Entry | LabelEntry]]]:
    """The rows of a ledger that arrived together, as far as they are decided together here."""
    for arrived, rows in groupby(_rows(ledger), lambda row: row.arrived):
        group: list[Entry | LabelEntry] = []
        for row in rows:
            group.append(row)
            if len(group) == _GROUP:
                yield arrived, group
                group = []
        if group:
            yield arrived, group


def _half_there(path: Path, count: int, entities: int) -> str:
    """What SQLite itself finds wrong, or a transaction that is not found by all its entities."""
    database = SqliteDatabase(path, read_only=True)
    try:
        ((found,),) = database.read("PRAGMA integrity_check(1)")
        ((members,),) = database.read("SELECT count(*) FROM members")
    finally:
        database.close()
    if found != "ok":
        return str(found)
    if members != count * entities:
        return f"{count:,} transactions of {entities} entities have {members:,} places."
    return ""


_encode = msgspec.json.Encoder().encode


def _answer(entry: Entry) -> Answer:
    known = entry.outcome
    return Answer(entry.id, known.decision, known.by, known.score, known.alert)
