"""Cases as they are stored: alerts come in from the ledger, people take, decide and snooze."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from rarefind.data.clock import nanoseconds
from rarefind.desk.alerts._case import (
    ALERT_COLUMNS,
    CASE_COLUMNS,
    VERDICTS,
    Alert,
    Case,
    CaseError,
    NoSuchCase,
    Verdict,
    as_alert,
    as_case,
)
from rarefind.desk.alerts._from_ledger import (
    Added,
    add_alert,
    cut_off,
    read_position,
    set_position,
)
from rarefind.desk.alerts._notes import CaseNotes, check_text
from rarefind.desk.alerts._summaries import CaseLine, case_lines
from rarefind.desk.alerts._tables import STEPS
from rarefind.desk.alerts._waiting import WaitingCases
from rarefind.desk.clock import DeskClock
from rarefind.desk.control import Audit
from rarefind.desk.database import Database, Writer, migrate
from rarefind.desk.labels import LabelHistory
from rarefind.desk.records import Entry
from rarefind.desk.schema import Schema

__all__ = ["Cases"]


class Cases:
    """The cases of a desk.

    An entity has one case at a time that is not closed; further alerts join it. A person takes a
    case for as long as the lease says, so that two people never have the same one; a lease that
    has ended gives the case back by itself. Verdicts are only ever added: a correction is a new
    one.

    Parameters
    ----------
    database : Database
        That of the desk, not the ledger.
    schema : Schema
    labels : LabelHistory
        Where verdicts become labels.
    clock : DeskClock
    """

    def __init__(
        self, database: Database, schema: Schema, labels: LabelHistory, clock: DeskClock
    ) -> None:
        migrate(database, "alerts", STEPS)
        self._database, self._schema, self._labels, self._clock = database, schema, labels, clock
        self._lease = nanoseconds("alerts.lease", schema.alerts.lease)
        self._place = list(schema.entities).index(schema.alerts.entity)
        #: Those that are not closed, as far as a queue needs them.
        self.waiting = WaitingCases(database, clock)
        self._audit = Audit(database, clock)
        #: What people have written beside verdicts.
        self.notes = CaseNotes(database, clock, self._audit)

    @property
    def read_up_to(self) -> int:
        """The last sequence number of the ledger whose alerts are here."""
        return read_position(self._database)[0]

    @property
    def read_chain(self) -> str:
        """The ledger's chain there, in hexadecimal; empty where it was not stored."""
        return read_position(self._database)[1]

    def add(
        self,
        entries: Iterable[Entry],
        read_up_to: int,
        *,
        chain: str = "",
        tell: Callable[[Writer, Added], object] | None = None,
    ) -> int:
        """Add the alerts among entries of the ledger, each exactly once; return their number.

        Parameters
        ----------
        entries : iterable of Entry
            In the order of the ledger. Those that were added before are left out.
        read_up_to : int
            The ledger was read up to here; stored in the same transaction.
        chain : str
            The ledger's chain there, by which it is known again.
        tell : callable, optional
            Called with each alert that is added, in the same transaction.
        """
        added = 0
        with self._database.write() as transaction:
            before, _ = read_position(transaction)
            for entry in entries:
                # Of one that was erased before it was read, nobody knows whose it was.
                if entry.outcome.alert and entry.sequence > before and entry.entities:
                    found = add_alert(transaction, entry, entry.entities[self._place])
                    added += 1
                    if tell is not None:
                        tell(transaction, found)
            if read_up_to > before:
                set_position(transaction, read_up_to, chain)
        return added

    def cut_off(self, after: int, chain: str) -> int:
        """Take away alerts whose transactions are lost from the ledger; return their number."""
        with self._database.write() as transaction:
            return cut_off(transaction, after, chain)

    def get(self, case: int) -> Case:
        """Return a case."""
        return self._get(self._database, case)

    def _get(self, door: Database | Writer, case: int) -> Case:
        rows = door.read(f"SELECT {CASE_COLUMNS} FROM cases WHERE id = :id", id=case)
        if not rows:
            raise NoSuchCase(f"There is no case {case}.")
        return as_case(rows[0], self._clock.now())

    def alerts(self, case: int) -> list[Alert]:
        """Return the alerts of a case in the order in which they came."""
        rows = self._database.read(
            f"SELECT {ALERT_COLUMNS} FROM alerts WHERE case_id = :id ORDER BY sequence", id=case
        )
        return [as_alert(row) for row in rows]

    def newest_alerts(self, limit: int, before: int = 2**62) -> list[Alert]:
        """Return alerts by their place in the ledger, the last first."""
        rows = self._database.read(
            f"SELECT {ALERT_COLUMNS} FROM alerts WHERE sequence < :before "
            "ORDER BY sequence DESC LIMIT :limit",
            before=before,
            limit=limit,
        )
        return [as_alert(row) for row in rows]

    def unclosed(self) -> list[Case]:
        """Return all cases that are not decided or expired, the highest priority first."""
        rows = self._database.read(
            f"SELECT {CASE_COLUMNS} FROM cases WHERE closed IS NULL ORDER BY priority DESC, id"
        )
        now = self._clock.now()
        return [as_case(row, now) for row in rows]

    def decided_since(self, time: int) -> list[Case]:
        """Return the cases that were decided from a time on."""
        rows = self._database.read(
            f"SELECT {CASE_COLUMNS} FROM cases WHERE closed >= :time AND state = 'decided' "
            "ORDER BY closed, id",
            time=time,
        )
        now = self._clock.now()
        return [as_case(row, now) for row in rows]

    def last_found(self, verdict: Verdict, limit: int) -> list[Case]:
        """Return the cases that have a verdict, those that were closed last first."""
        rows = self._database.read(
            f"SELECT {CASE_COLUMNS} FROM cases WHERE verdict = :verdict "
            "ORDER BY closed DESC LIMIT :limit",
            verdict=verdict,
            limit=limit,
        )
        now = self._clock.now()
        return [as_case(row, now) for row in rows]

    def lines(self, cases: Sequence[Case]) -> list[CaseLine]:
        """Return what the alerts of cases add up to, in the same order."""
        return case_lines(self._database, cases)

    def take(self, case: int, person: str) -> Case:
        """Give a case to a person for the time of a lease; taking it again begins a new one.

        Raises
        ------
        CaseError
            If somebody else has it, or it is closed or snoozed.
        """
        with self._database.write() as transaction:
            self._check_free(self._get(transaction, case), person)
            transaction.execute(
                "UPDATE cases SET state = 'taken', holder = :person, held_until = :until, "
                "snoozed_until = NULL WHERE id = :id",
                id=case,
                person=person,
                until=self._clock.now() + self._lease,
            )
            return self._get(transaction, case)

    def shorten_leases(self) -> int:
        """End leases that are longer than any can be within one from now; return their number.

        They are from a time when the clock was ahead. Until then they hold: two people never have
        one case, whatever the clock does.
        """
        with self._database.write() as transaction:
            return transaction.execute(
                "UPDATE cases SET held_until = :latest "
                "WHERE state = 'taken' AND closed IS NULL AND held_until > :latest",
                latest=self._clock.now() + self._lease,
            )

    def release(self, case: int, person: str) -> Case:
        """Give a case back that the person has taken."""
        with self._database.write() as transaction:
            self._check_held(self._get(transaction, case), person)
            transaction.execute(
                "UPDATE cases SET state = 'open', holder = NULL, held_until = NULL WHERE id = :id",
                id=case,
            )
            return self._get(transaction, case)

    def snooze(self, case: int, person: str, until: int) -> Case:
        """Put a case aside until a time; it comes back by itself."""
        if until <= self._clock.now():
            raise CaseError("A case is put aside until a time that is yet to come.")
        with self._database.write() as transaction:
            self._check_free(self._get(transaction, case), person)
            transaction.execute(
                "UPDATE cases SET state = 'snoozed', holder = NULL, held_until = NULL, "
                "snoozed_until = :until WHERE id = :id",
                id=case,
                until=until,
            )
            self._audit.add(transaction, person, "snooze case", f"case {case}", {"until": until})
            return self._get(transaction, case)

    def decide(self, case: int, person: str, verdict: Verdict, note: str = "") -> Case:
        """Store what a person found; the transactions of the case get that label.

        A case that is decided can be decided again: the new verdict is added, and counts from then
        on. ``unclear`` gives no label. The same verdict once more, by the same person and in the
        same words, is the one that is there.

        Raises
        ------
        CaseError
            If somebody else has the case, or it has expired.
        """
        if verdict not in VERDICTS:
            raise CaseError(f"A verdict is one of {', '.join(VERDICTS)}, not {verdict!r}.")
        check_text(note)
        now = self._clock.now()
        with self._database.write() as transaction:
            found = self._get(transaction, case)
            if found.state != "decided":
                self._check_held(found, person)
            elif self._last_verdict(transaction, case) == (verdict, person, note):
                return found
            transaction.execute(
                "INSERT INTO verdicts (case_id, verdict, person, at, note) "
                "VALUES (:id, :verdict, :person, :now, :note)",
                id=case,
                verdict=verdict,
                person=person,
                now=now,
                note=note,
            )
            transaction.execute(
                "UPDATE cases SET state = 'decided', verdict = :verdict, closed = :now, "
                "holder = NULL, held_until = NULL, snoozed_until = NULL WHERE id = :id",
                id=case,
                verdict=verdict,
                now=now if found.closed is None else found.closed,
            )
            rows = transaction.read(
                "SELECT transaction_id FROM alerts WHERE case_id = :id ORDER BY sequence", id=case
            )
            source = "verdict" if found.state != "decided" else "correction"
            self._labels.add(transaction, [row[0] for row in rows], verdict, source)
            # Neither the entity nor the note: the log keeps for ever what it has.
            action = "give verdict" if source == "verdict" else "correct verdict"
            self._audit.add(transaction, person, action, f"case {case}", {"verdict": verdict})
            return self._get(transaction, case)

    def _last_verdict(self, transaction: Writer, case: int) -> tuple[str, str, str]:
        ((verdict, person, note),) = transaction.read(
            "SELECT verdict, person, note FROM verdicts WHERE case_id = :id "
            "ORDER BY id DESC LIMIT 1",
            id=case,
        )
        return verdict, person, note

    def set_reasons(
        self,
        found: Iterable[tuple[int, float | None, str]],
        because: Mapping[int, str] | None = None,
    ) -> None:
        """Store why transactions are proposed: sequence, probability and reason of their alerts.

        ``because`` are the parts of reasons, by sequence.
        """
        parts = because or {}
        with self._database.write() as transaction:
            transaction.executemany(
                "UPDATE alerts SET probability = :probability, reason = :reason, "
                "because = :because WHERE sequence = :sequence",
                [
                    {"sequence": sequence, "probability": probability, "reason": reason}
                    | {"because": parts.get(sequence)}
                    for sequence, probability, reason in found
                ],
            )

    def without_reason(self, limit: int = 100) -> list[Alert]:
        """Return alerts whose reason is not known yet, of the highest priority first."""
        rows = self._database.read(
            f"SELECT {ALERT_COLUMNS} FROM alerts WHERE reason IS NULL "
            "ORDER BY priority DESC, sequence LIMIT :limit",
            limit=limit,
        )
        return [as_alert(row) for row in rows]

    def expire(self, before: int) -> int:
        """Close cases that have had no alert since a time, and nobody has decided; return how many.

        What a person holds or has put aside is left to them.
        """
        with self._database.write() as transaction:
            return transaction.execute(
                "UPDATE cases SET state = 'expired', closed = :now, holder = NULL, "
                "held_until = NULL, snoozed_until = NULL "
                "WHERE closed IS NULL AND opened < :before "
                "AND NOT (state = 'taken' AND held_until > :now) "
                "AND NOT (state = 'snoozed' AND snoozed_until > :now) AND NOT EXISTS "
                "(SELECT 1 FROM alerts WHERE case_id = cases.id AND arrived >= :before)",
                now=self._clock.now(),
                before=before,
            )

    def _check_free(self, case: Case, person: str) -> None:
        if case.closed is not None:
            raise CaseError(f"Case {case.id} is {case.state}.")
        if case.holder not in (None, person):
            raise CaseError(f"Case {case.id} is taken by {case.holder}.")

    def _check_held(self, case: Case, person: str) -> None:
        self._check_free(case, person)
        if case.holder != person:
            raise CaseError(
                f"Case {case.id} is not taken by {person}, or the time for it is over: take it."
            )
