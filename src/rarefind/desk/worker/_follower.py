"""Follows the ledger: its alerts become cases, and messages for those who want to hear of them."""

from __future__ import annotations

from rarefind.desk.alerts import Added, Cases
from rarefind.desk.api.logs import Log
from rarefind.desk.database import Writer
from rarefind.desk.ledger import Ledger
from rarefind.desk.schema import Schema
from rarefind.desk.webhooks import Outbox

__all__ = ["Follower"]

_ROWS = 2_000
#: So many alerts are compared with the ledger at a time.
_ALERTS = 100


class Follower:
    """Adds the ledger's alerts to cases, each exactly once.

    How far the ledger was read is stored in the same transaction as what was found there, so that
    a process that is killed loses nothing and doubles nothing.

    Parameters
    ----------
    ledger : Ledger
        Opened to be read.
    cases : Cases
    outbox : Outbox
    schema : Schema
    log : Log
    rows : int
        So many rows of the ledger are looked through at a time.
    """

    def __init__(
        self,
        ledger: Ledger,
        cases: Cases,
        outbox: Outbox,
        schema: Schema,
        log: Log,
        *,
        rows: int = _ROWS,
    ) -> None:
        self._ledger, self._cases, self._outbox, self._log = ledger, cases, outbox, log
        self._rows = rows
        self._scale = 10**schema.transaction.minor_units
        self._is_checked = False
        self._erasures = 0

    def run(self) -> bool:
        """Read the next rows; True if there are many more.

        Rows that arrive meanwhile wait for the next turn: a commit for each alert would keep the
        disk busy that decisions are written to.
        """
        if not self._is_checked:
            self._check_place()
            self._is_checked = True
        self._erasures = self._ledger.erasures
        before = self._cases.read_up_to
        alerts, last = self._ledger.read_alerts(before, self._rows)
        if last.sequence <= before:
            return False
        try:
            added = self._cases.add(alerts, last.sequence, chain=last.chain.hex(), tell=self._tell)
        except _ErasedMeanwhile:
            return True
        if added:
            self._log.info("alerts", added=added, read_up_to=last.sequence)
        return last.sequence - before >= self._rows

    def _check_place(self) -> None:
        """Look whether the ledger is the one that was read, and go back to where it still is."""
        place, chain = self._cases.read_up_to, self._cases.read_chain
        found = self._ledger.position_of(place)
        if not place or not chain or (found is not None and found.chain.hex() == chain):
            return
        if found is None and place <= self._ledger.last.sequence:
            return  # retention has deleted that row
        place = self._last_known(place)
        known = self._ledger.position_of(place)
        lost = self._cases.cut_off(place, "" if known is None else known.chain.hex())
        self._log.warning("ledger-shorter", read_up_to=place, alerts_lost=lost)

    def _last_known(self, before: int) -> int:
        """The last alert that is in the ledger as it was read; 0 if there is none."""
        before += 1
        while alerts := self._cases.newest_alerts(_ALERTS, before):
            entries = self._ledger.find([alert.transaction for alert in alerts])
            for alert in alerts:
                entry = entries.get(alert.transaction)
                same = entry is not None and entry.sequence == alert.sequence
                if entry is not None and same and entry.arrived == alert.arrived:
                    return alert.sequence
            before = alerts[-1].sequence
        return 0

    def _tell(self, writer: Writer, added: Added) -> None:
        """Store a message for all who want one: no personal data, and how to ask for the rest."""
        # Who is erased after this is taken out of the cases as well, when we have committed.
        if self._ledger.erasures != self._erasures:
            raise _ErasedMeanwhile
        entry, outcome = added.entry, added.entry.outcome
        content = {
            "case": added.case,
            "transaction": entry.id,
            "amount": entry.amount / self._scale,
            "decision": outcome.decision,
            "score": outcome.score,
            "priority": outcome.priority,
            "alert": outcome.alert,
            "rules": outcome.rules,
        }
        if added.is_new:
            self._outbox.add(writer, "case.opened", entry.sequence, content)
        self._outbox.add(writer, "alert.raised", entry.sequence, content)


class _ErasedMeanwhile(Exception):  # noqa: N818
    """Somebody was erased after the rows were read: they may not be stored anywhere else."""
