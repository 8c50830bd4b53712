"""The ledger: appended to by one process, read by all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from heapq import merge
from operator import attrgetter
from typing import Any, TypeAlias

from rarefind.desk.database import (
    Database,
    Parameters,
    check_migrations,
    migrate,
)
from rarefind.desk.ledger import _tables as tables
from rarefind.desk.ledger._arrivals import arrived_since
from rarefind.desk.ledger._outcomes import (
    Listed,
    OutcomeRow,
    find_beginning,
    read_listed,
    read_outcomes,
)
from rarefind.desk.ledger._personal import erase, export, read_entity
from rarefind.desk.ledger._retention import Day, delete_before, oldest_before, read_days
from rarefind.desk.ledger._tail import Deleted, Tail, read_deleted, read_tail
from rarefind.desk.ledger._verify import Verification, verify
from rarefind.desk.ledger.chain import (
    SALT,
    START,
    Position,
    chain_of_entry,
    chain_of_label,
    personal_digest,
)
from rarefind.desk.records import Entry, LabelEntry

__all__ = ["AnyEntry", "Ledger"]

AnyEntry: TypeAlias = Entry | LabelEntry
#: So many rows are worth a checkpoint in an idle time; after so many it cannot wait for one.
_WORTH_A_CHECKPOINT, _NEEDS_A_CHECKPOINT = 1_000, 50_000
#: Under a load that leaves no idle time many short checkpoints are better than a long one: so many
#: rows are moved between two groups when nobody waits, and so many when somebody does.
_SMALL_CHECKPOINT, _LARGE_CHECKPOINT = 32, 5_000
_sequence = attrgetter("sequence")

_LAST = """
SELECT sequence, chain FROM (
    SELECT * FROM (SELECT sequence, chain FROM entries ORDER BY sequence DESC LIMIT 1) AS e
    UNION ALL
    SELECT * FROM (SELECT sequence, chain FROM labels ORDER BY sequence DESC LIMIT 1) AS l
    UNION ALL
    SELECT * FROM (SELECT sequence, chain FROM anchors ORDER BY sequence DESC LIMIT 1) AS a
) AS last_rows ORDER BY sequence DESC LIMIT 1
"""

_CHAIN_AT = """
SELECT chain FROM entries WHERE sequence = :sequence
UNION ALL SELECT chain FROM labels WHERE sequence = :sequence
UNION ALL SELECT chain FROM anchors WHERE sequence = :sequence
"""


class Ledger:
    """The ledger in a database.

    Parameters
    ----------
    database : Database
        Of the one process that writes, or ``read_only``.
    writes : bool
        Whether this is the process that writes.
    """

    def __init__(self, database: Database, *, writes: bool) -> None:
        self._database = database
        self._writes = writes
        if writes:
            migrate(database, "ledger", tables.STEPS)
        else:
            check_migrations(database, "ledger", tables.STEPS)
        self._last = self._read_last()
        self._unknown = False
        self._since_checkpoint = 0
        # A process that was killed may have left something in the log.
        self._must_clear = writes

    @property
    def last(self) -> Position:
        """The last row that was committed."""
        return self._last if self._writes else self._read_last()

    @property
    def labels_read(self) -> int:
        """The number of the desk's last label that was copied here, or passed over."""
        ((number,),) = self._database.read("SELECT number FROM labels_read")
        return int(number)

    def append(
        self,
        entries: Sequence[Entry],
        labels: Sequence[LabelEntry] = (),
        *,
        labels_read: int | None = None,
    ) -> None:
        """Store rows in one transaction; when this returns they are as durable as was asked.

        Their sequences go on from ``last`` without gaps. With ``labels_read``, also that the
        desk's labels up to that number were seen.

        Raises
        ------
        LedgerUnavailable
            If nothing was stored.
        LedgerUnknown
            If the database was lost during the commit: call ``recover``, whose position says
            whether the rows are there.
        """
        if self._unknown:
            self.recover()
        own_entries, own_labels, last = self._rows(entries, labels)
        members = [
            one
            for entry in entries
            for one in tables.member_parameters(entry.sequence, entry.entities)
        ]
        try:
            with self._database.write() as writer:
                if own_entries:
                    writer.executemany(tables.ADD_ENTRY, own_entries)
                    writer.executemany(tables.ADD_MEMBER, members)
                if own_labels:
                    writer.executemany(tables.ADD_LABEL, own_labels)
                if labels_read is not None:
                    writer.execute("UPDATE labels_read SET number = :number", number=labels_read)
        except BaseException:
            # What happened to a commit that was broken off is asked before the next one.
            self._unknown = True
            raise
        self._last = last
        self._since_checkpoint += len(own_entries) + len(own_labels)
        if self._since_checkpoint >= _NEEDS_A_CHECKPOINT:
            self._checkpoint()

    def recover(self) -> Position:
        """Find out from the database what was stored last."""
        found = self._read_last()
        self._last, self._unknown = found, False
        return found

    def find(self, ids: Sequence[str]) -> dict[str, Entry]:
        """Return the transactions with these identifiers, as far as there are any."""
        if len(ids) == 1:
            rows = self._database.read(
                f"SELECT {tables.ENTRY} FROM entries WHERE id = :id", id=ids[0]
            )
        else:
            rows = self._database.read(
                f"SELECT {tables.ENTRY} FROM entries WHERE id IN :ids", ids=list(ids)
            )
        return {row[1]: tables.to_entry(row) for row in rows}

    def read(self, after: int, limit: int) -> list[AnyEntry]:
        """Return the next rows after a sequence, transactions and labels in one order."""
        bounds: Parameters = {"after": after, "last": self.last.sequence, "limit": limit}
        # Rows that are appended between the two questions are left for the next time.
        entries = self._database.read(
            f"SELECT {tables.ENTRY} FROM entries WHERE sequence > :after AND sequence <= :last "
            "ORDER BY sequence LIMIT :limit",
            **bounds,
        )
        labels = self._database.read(
            f"SELECT {tables.LABEL} FROM labels WHERE sequence > :after AND sequence <= :last "
            "ORDER BY sequence LIMIT :limit",
            **bounds,
        )
        found: list[AnyEntry] = [tables.to_entry(row) for row in entries]
        if labels:
            found += [tables.to_label(row) for row in labels]
            found.sort(key=_sequence)
        return found[:limit]

    def arrived_since(self, time: int) -> tuple[int, int]:
        """Return how many transactions have arrived since a time, and the row before them.

        It is found by halving, without reading all rows: where the clock of the machine was set
        back it may be off by as many as arrived meanwhile.
        """
        return arrived_since(self._database, time, self.last.sequence)

    def read_alerts(self, after: int, rows: int) -> tuple[list[Entry], Position]:
        """Return the alerts among the next rows after a sequence, and the last row looked at."""
        last = self.last.sequence
        if last <= after:
            return [], Position(after, START)
        # Rows that retention has deleted are passed over at once.
        found = self._database.read(
            "SELECT min(sequence) FROM entries WHERE sequence > :after", after=after
        )
        first = last if found[0][0] is None else int(found[0][0])
        upto = min(first - 1 + rows, last)
        alerts = self._database.read(
            f"SELECT {tables.ENTRY} FROM entries WHERE sequence > :after AND sequence <= :upto "
            "AND alert <> '' ORDER BY sequence",
            after=after,
            upto=upto,
        )
        return [tables.to_entry(row) for row in alerts], Position(upto, self.chain_at(upto) or b"")

    def read_outcomes(self, after: int, limit: int) -> list[OutcomeRow]:
        """Return what was decided in the next transactions after a sequence."""
        return read_outcomes(self._database, after, self.last.sequence, limit)

    def listed(self, sequences: Sequence[int]) -> dict[int, Listed]:
        """Return identifier, time, amount and entities of transactions, by their sequences."""
        return read_listed(self._database, sequences)

    def find_beginning(self, beginning: str, limit: int) -> list[Entry]:
        """Return transactions whose identifiers begin so, without those that were erased."""
        return find_beginning(self._database, beginning, limit)

    def chain_at(self, sequence: int) -> bytes | None:
        """Return the chain up to a row; None if it is not there, or was deleted by retention."""
        rows = self._database.read(_CHAIN_AT, sequence=sequence)
        return bytes(rows[0][0]) if rows else None

    def labels_of(self, ids: Sequence[str]) -> list[LabelEntry]:
        """Return all labels that these transactions were given, the oldest first."""
        return tables.labels_of(self._database, ids)

    def read_entity(
        self, entity: int, key: str, *, before: int | None = None, limit: int = 100
    ) -> list[Entry]:
        """Return the last transactions of a card or another entity, the newest first.

        Parameters
        ----------
        entity : int
            The place of the entity among ``Schema.entities``.
        key : str
            Its value, such as the number of a card.
        before : int, optional
            Only those with a smaller sequence.
        limit : int
        """
        bound = {} if before is None else {"before": before}
        found = read_entity(self._database, entity, key, limit=limit, **bound)
        return [entry for entry, _ in found]

    def export(self, entity: int, key: str) -> list[dict[str, Any]]:
        """Return all that is known of an entity, the oldest first, ready to be written as JSON."""
        return export(self._database, entity, key)

    def tail(self, after: int, limit: int, *, bodies: bool, upto: int | None = None) -> Tail | None:
        """Return the next rows after a sequence as columns; see :func:`read_tail`."""
        last = self.last.sequence if upto is None else min(upto, self.last.sequence)
        return read_tail(self._database, after, last, limit, bodies=bodies)

    def deleted(self) -> Deleted:
        """Return what later rows still need to know of those that retention has deleted."""
        return read_deleted(self._database)

    def position_of(self, sequence: int) -> Position | None:
        """Return the position of a row that is there, or was deleted last."""
        chain = self.chain_at(sequence)
        if chain is not None:
            return Position(sequence, chain)
        return Position(0, START) if sequence == 0 == self.deleted().sequence else None

    @property
    def erasures(self) -> int:
        """The number of the last erasure; 0 if there was none."""
        ((number,),) = self._database.read("SELECT max(number) FROM erasures")
        return int(number or 0)

    def erased_since(self, time: int) -> int:
        """Return how many erasures there were since a time."""
        ((count,),) = self._database.read(
            "SELECT count(*) FROM erasures WHERE arrived >= :time", time=time
        )
        return int(count)

    def erased_by(self, order: int) -> int:
        """Return how many transactions were erased for an order."""
        ((count,),) = self._database.read(
            "SELECT sum(transactions) FROM erasures WHERE for_order = :order", order=order
        )
        return int(count or 0)

    def erased_rows(self, order: int) -> list[int]:
        """Return the sequences of transactions that were erased for an order, the first first."""
        rows = self._database.read(
            "SELECT erased.sequence FROM erasures JOIN erased ON erased.erasure = erasures.number "
            "WHERE erasures.for_order = :order ORDER BY erased.sequence",
            order=order,
        )
        return [int(sequence) for (sequence,) in rows]

    def erase(
        self,
        entity: int,
        key: str,
        *,
        by: str,
        now: int,
        limit: int = 2**62,
        order: int | None = None,
    ) -> int:
        """Erase who made the transactions of an entity, what was sent, and its features.

        The chain stays whole: the digest of what was erased is kept, without the salt that would
        let it be guessed. Times, amounts, identifiers and outcomes stay.

        Parameters
        ----------
        entity, key
            See ``read_entity``.
        by : str
            Who has approved it; kept with the time and the number of transactions.
        now : int
        limit : int
            How many at most, the newest first; call it again for the others.
        order : int, optional
            The number of the order that is carried out.

        Returns
        -------
        int
            How many transactions were erased. The log may have them until ``clean`` is True.
        """
        self._must_clear = True
        return erase(self._database, entity, key, by=by, now=now, limit=limit, order=order)

    def oldest_before(self, before: int, limit: int) -> list[Entry]:
        """Return what ``delete_before`` would delete."""
        return oldest_before(self._database, before, limit)

    def delete_before(self, before: int, *, now: int, limit: int = 1_000) -> int:
        """Delete up to ``limit`` of the oldest transactions, if they are from before a time.

        Return how many; call it again in idle times until it returns 0. What they add up to stays
        in ``days``, and an anchor keeps the chain of the others.
        """
        deleted = delete_before(self._database, before, now, limit)
        self._since_checkpoint += deleted
        self._must_clear |= deleted > 0
        return deleted

    def days(self) -> list[Day]:
        """Return what is left of the days whose transactions were deleted."""
        return read_days(self._database)

    def verify(self, expected: Position | None = None) -> Verification:
        """Look whether every row is as it was written; with a position that was written down
        elsewhere, also whether that one is still there.
        """
        return verify(self._database, self._read_last(), expected)

    def needs_rest(self, waiting: int) -> bool:
        """Whether ``rest`` should be called before the next rows; ``waiting`` are as many."""
        return self._since_checkpoint >= (_LARGE_CHECKPOINT if waiting else _SMALL_CHECKPOINT)

    def rest(self) -> None:
        """Move what the log has into the file, so that no later move takes long."""
        self._checkpoint()

    def idle(self) -> None:
        """Do what can wait for a time when nobody does."""
        if self._since_checkpoint >= _WORTH_A_CHECKPOINT:
            self._checkpoint()

    def clean(self) -> bool:
        """Empty the log, which has what was erased or deleted; False while a reader needs it."""
        if self._must_clear:
            self._must_clear = not self._database.clear_log()
        return not self._must_clear

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def _rows(
        self, entries: Sequence[Entry], labels: Sequence[LabelEntry]
    ) -> tuple[list[Parameters], list[Parameters], Position]:
        """Return what is written of rows that go on from the last one, each in the chain."""
        sequence, chain = self._last
        salts = os.urandom(SALT * len(entries))
        own_entries: list[Parameters] = []
        own_labels: list[Parameters] = []
        together: Sequence[AnyEntry] = (
            list(merge(entries, labels, key=_sequence)) if labels else entries
        )
        for row in together:
            sequence += 1
            if row.sequence != sequence:
                raise ValueError(
                    f"The next row of the ledger has sequence {sequence}, not {row.sequence}."
                )
            if isinstance(row, Entry):
                salt = salts[SALT * len(own_entries) : SALT * (len(own_entries) + 1)]
                chain = chain_of_entry(chain, personal_digest(row, salt), row)
                own_entries.append(tables.entry_parameters(row, salt, chain))
            else:
                chain = chain_of_label(chain, row)
                own_labels.append(tables.label_parameters(row, chain))
        return own_entries, own_labels, Position(sequence, chain)

    def _read_last(self) -> Position:
        rows = self._database.read(_LAST)
        return Position(rows[0][0], bytes(rows[0][1])) if rows else Position(0, START)

    def _checkpoint(self) -> None:
        self._since_checkpoint = 0
        self._database.checkpoint()
