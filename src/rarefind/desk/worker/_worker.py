"""The worker: the process that does what can wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from rarefind._core.threads import limit_threads
from rarefind.data.clock import nanoseconds
from rarefind.desk.alerts import Cases, delete_closed
from rarefind.desk.api.logs import Log
from rarefind.desk.clock import DeskClock
from rarefind.desk.control import Control
from rarefind.desk.database import Database
from rarefind.desk.folder import DeskFolder
from rarefind.desk.intake import Intake
from rarefind.desk.labels import Claims, LabelHistory
from rarefind.desk.measures import (
    History,
    HistoryKeeper,
    MeasuredRules,
    Proposals,
    RuleWatch,
)
from rarefind.desk.webhooks import Outbox
from rarefind.desk.worker._figures import figure_jobs
from rarefind.desk.worker._follower import Follower
from rarefind.desk.worker._jobs import Job, run_jobs
from rarefind.desk.worker._messages import MessageThread
from rarefind.desk.worker._proposals import ProposalJob
from rarefind.desk.worker._reasons import Reasons
from rarefind.desk.worker._snapshots import Snapshots

__all__ = ["make_jobs", "work"]

#: So many old cases are deleted at a time.
_CASES = 200
#: For so long it is kept what became of a message.
_MESSAGES_KEPT = "30D"
_DAY = 86_400 * 10**9


def work(
    folder: DeskFolder,
    stop: threading.Event,
    *,
    on_ready: Callable[[], object] | None = None,
    clock: DeskClock | None = None,
) -> None:
    """Do what can wait, until told to stop; it goes on from there at the next start.

    Settings that people change count within a second.

    Parameters
    ----------
    folder : DeskFolder
    stop : threading.Event
        Set by another thread or a signal.
    on_ready : callable, optional
        Called when everything is open.
    clock : DeskClock, optional
    """
    clock, log = clock or DeskClock(), Log("worker")
    snapshots = Snapshots(folder, folder.read_ledger(), clock, log)
    proposals = ProposalJob(folder, Proposals(folder.open_desk()), clock, log)
    own_jobs = [
        Job("snapshots", snapshots.run, every=1.0),
        Job("proposals", proposals.run, every=2.0),
    ]
    messages = MessageThread(
        folder.open_desk(),
        folder.secret,
        clock,
        log,
        allow_private=folder.schema.webhooks.allow_private,
    )
    messages.start()
    log.info("started")
    if on_ready is not None:
        on_ready()
    try:
        # Decisions need the cores more than a reason does.
        with limit_threads(1):
            _run_by_settings(folder, own_jobs, stop, clock, log)
    finally:
        messages.stop()
        snapshots.stop()
        proposals.stop()
        log.info("stopped")


def _run_by_settings(
    folder: DeskFolder, others: Sequence[Job], stop: threading.Event, clock: DeskClock, log: Log
) -> None:
    """Run jobs until told to stop; where settings change, they are made anew by these."""
    while not stop.is_set():
        with DeskFolder(folder.path, folder.database_url) as own:
            settings = _SettingsJob(own)
            jobs = [
                Job("settings", settings.run, every=1.0),
                *make_jobs(own, clock, log),
                *others,
            ]
            run_jobs(jobs, stop, log, settings.has_changed)
        if not stop.is_set():
            log.info("settings")


class _SettingsJob:
    """Looks whether people have changed settings since the folder was opened."""

    def __init__(self, folder: DeskFolder) -> None:
        self._folder, self._desk = folder, folder.open_desk()
        self._changed = False

    def run(self) -> bool:
        """Look once; there is never more to do."""
        self._changed = self._changed or self._folder.follow_settings(self._desk)
        return False

    def has_changed(self) -> bool:
        """Whether a look has found other settings."""
        return self._changed


def make_jobs(
    folder: DeskFolder,
    clock: DeskClock,
    log: Log,
    *,
    database: Database | None = None,
    sparingly: bool = True,
) -> list[Job]:
    """The jobs of a worker that it does itself, the most urgent first.

    Parameters
    ----------
    folder : DeskFolder
    clock : DeskClock
    log : Log
    database : Database, optional
        That of the desk; by default a connection of their own.
    sparingly : bool
        Whether decisions are made beside them, which need the machine more.
    """
    schema, ledger = folder.schema, folder.read_ledger()
    database = database or folder.open_desk()
    labels = LabelHistory(database, schema, clock)
    cases, claims = Cases(database, schema, labels, clock), Claims(database, labels, clock)
    outbox = Outbox(database, clock)
    expires = nanoseconds("alerts.expires", schema.alerts.expires)
    kept = nanoseconds("messages", _MESSAGES_KEPT)

    def expire() -> bool:
        expired = cases.expire(clock.now() - expires)
        if expired:
            log.info("expired", cases=expired)
        return False

    def shorten() -> bool:
        shortened = cases.shorten_leases()
        if shortened:
            log.warning("leases-shortened", cases=shortened)
        return False

    def delete_old() -> bool:
        claims.forget_notes(clock.now() - schema.retention.days * _DAY)
        deleted = delete_closed(database, ledger.deleted().sequence, _CASES)
        if deleted:
            log.info("deleted", cases=deleted)
        return deleted == _CASES

    intake = Intake(schema)
    watch = RuleWatch(
        Control(database, folder.declared, folder.models, clock),
        History.of(folder, clock, memory=0),
        MeasuredRules(database),
        schema.transaction.time_zone,
        clock,
        log,
    )
    return [
        Job("cases", Follower(ledger, cases, outbox, schema, log).run, every=0.25),
        Job("reasons", Reasons(ledger, cases, intake, folder.models).run, every=0.5),
        Job("history", HistoryKeeper(folder.history, ledger, intake, clock, log).run, every=1.0),
        Job("rules", watch.run, every=5.0),
        Job("leases", shorten, every=60.0),
        Job("expiry", expire, every=60.0),
        Job("old-cases", delete_old, every=600.0),
        Job("outbox", lambda: outbox.forget(clock.now() - kept) > 0, every=600.0),
        *figure_jobs(folder, database, ledger, clock, sparingly=sparingly),
    ]
