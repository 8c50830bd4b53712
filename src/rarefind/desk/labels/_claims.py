"""What customers say; a person who looks into it makes it a label."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from rarefind.desk.clock import DeskClock
from rarefind.desk.control import Audit
from rarefind.desk.database import Database, DatabaseConflict, Row, Writer, migrate
from rarefind.desk.labels._labels import LabelHistory
from rarefind.desk.labels._tables import STEPS

__all__ = ["Claim", "ClaimError", "Claims", "NoSuchClaim", "erase_notes"]

_COLUMNS = "id, transaction_id, at, note, state, person, answered"
_LONGEST_NOTE = 10_000


class ClaimError(ValueError):
    """What was asked of a claim cannot be done; the sentence says why."""


class NoSuchClaim(ClaimError):  # noqa: N818
    """There is no claim of that number."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A customer's word that a transaction was not theirs.

    ``state`` is ``new``, ``confirmed`` or ``rejected``; ``person`` answered it.
    """

    id: int
    transaction: str
    at: int
    note: str
    state: str
    person: str | None
    answered: int | None


class Claims:
    """The claims of a desk: one a transaction, which an expert confirms or rejects once."""

    def __init__(self, database: Database, labels: LabelHistory, clock: DeskClock) -> None:
        migrate(database, "labels", STEPS)
        self._database, self._labels, self._clock = database, labels, clock
        self._audit = Audit(database, clock)

    def make(self, transaction: str, note: str = "", person: str = "") -> Claim:
        """Store a claim; the same one again is the same claim.

        Parameters
        ----------
        transaction : str
        note : str
            What the customer has said.
        person : str
            Who has written it down, for the audit log; empty where nobody has.
        """
        if len(note) > _LONGEST_NOTE or "\0" in note:
            raise ClaimError(f"A note has at most {_LONGEST_NOTE:,} characters, none of them NUL.")
        # A conflict means that it was made before.
        with suppress(DatabaseConflict), self._database.write() as writer:
            ((number,),) = writer.read(
                "INSERT INTO claims (transaction_id, at, note, state) "
                "VALUES (:transaction, :now, :note, 'new') RETURNING id",
                transaction=transaction,
                now=self._clock.now(),
                note=note,
            )
            if person:
                self._audit.add(writer, person, "record claim", f"claim {number}")
        rows = self._database.read(
            f"SELECT {_COLUMNS} FROM claims WHERE transaction_id = :transaction",
            transaction=transaction,
        )
        return _as_claim(rows[0])

    def new(self, limit: int = 1_000) -> list[Claim]:
        """Return the claims that nobody has answered, the oldest first."""
        rows = self._database.read(
            f"SELECT {_COLUMNS} FROM claims WHERE state = 'new' ORDER BY id LIMIT :limit",
            limit=limit,
        )
        return [_as_claim(row) for row in rows]

    def page(self, state: str | None = None, *, after: int = 0, limit: int = 100) -> list[Claim]:
        """Return claims of a state, or of all, with a number above ``after``, the oldest first."""
        rows = self._database.read(
            f"SELECT {_COLUMNS} FROM claims WHERE id > :after "
            f"{'' if state is None else 'AND state = :state'} ORDER BY id LIMIT :limit",
            after=after,
            state=state,
            limit=limit,
        )
        return [_as_claim(row) for row in rows]

    def count_new(self) -> int:
        """Return how many claims nobody has answered."""
        ((count,),) = self._database.read("SELECT count(*) FROM claims WHERE state = 'new'")
        return int(count)

    def about(self, transactions: Sequence[str]) -> list[Claim]:
        """Return the claims about some transactions."""
        if not transactions:
            return []
        rows = self._database.read(
            f"SELECT {_COLUMNS} FROM claims WHERE transaction_id IN :ids ORDER BY id",
            ids=list(transactions),
        )
        return [_as_claim(row) for row in rows]

    def confirm(self, claim: int, person: str) -> Claim:
        """Make a claim a label: the transaction is fraud."""
        return self._answer(claim, person, "confirmed")

    def reject(self, claim: int, person: str) -> Claim:
        """Answer that the claim is not right; the transaction gets no label by it."""
        return self._answer(claim, person, "rejected")

    def forget_notes(self, before: int) -> int:
        """Let claims from before a time have no note; returns how many had one."""
        with self._database.write() as writer:
            return writer.execute(
                "UPDATE claims SET note = '' WHERE at < :before AND note <> ''", before=before
            )

    def _answer(self, claim: int, person: str, state: str) -> Claim:
        with self._database.write() as writer:
            found = _get(writer, claim)
            if found.state == state:
                return found
            if found.state != "new":
                raise ClaimError(f"Claim {claim} was {found.state} by {found.person}.")
            writer.execute(
                "UPDATE claims SET state = :state, person = :person, answered = :now "
                "WHERE id = :id",
                id=claim,
                state=state,
                person=person,
                now=self._clock.now(),
            )
            if state == "confirmed":
                self._labels.add(writer, [found.transaction], "fraud", "claim")
            action = "confirm claim" if state == "confirmed" else "reject claim"
            self._audit.add(writer, person, action, f"claim {claim}")
            return _get(writer, claim)


def erase_notes(database: Database, transactions: Sequence[str]) -> None:
    """Let claims about some transactions have no note, in which customers are quoted."""
    migrate(database, "labels", STEPS)
    with database.write() as writer:
        writer.execute(
            "UPDATE claims SET note = '' WHERE transaction_id IN :ids", ids=list(transactions)
        )


def _get(writer: Writer, claim: int) -> Claim:
    rows = writer.read(f"SELECT {_COLUMNS} FROM claims WHERE id = :id", id=claim)
    if not rows:
        raise NoSuchClaim(f"There is no claim {claim}.")
    return _as_claim(rows[0])


def _as_claim(row: Row) -> Claim:
    return Claim(*row)
