"""The decision process: its door is opened, its ledger read, and transactions are decided."""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from uuid import uuid4

import msgspec
import uvicorn

from rarefind.desk.api.batcher import Batcher
from rarefind.desk.api.decisions import DecisionDoor, decision_app
from rarefind.desk.api.desk_watch import DeskWatch
from rarefind.desk.api.idle import IdleWork
from rarefind.desk.api.latency_count import LatencyCount
from rarefind.desk.api.limits import PATIENCE
from rarefind.desk.api.logs import Log, place_of
from rarefind.desk.api.metrics import Metrics
from rarefind.desk.api.openapi import example_transaction
from rarefind.desk.api.patience import PatientProtocol
from rarefind.desk.api.tokens import Tokens
from rarefind.desk.clock import DeskClock
from rarefind.desk.control import Control, InForce
from rarefind.desk.database import Durability
from rarefind.desk.decision import Decider
from rarefind.desk.decision.memory import open_memory
from rarefind.desk.features import FeatureState
from rarefind.desk.features.snapshots import snapshot_files
from rarefind.desk.folder import DeskFolder
from rarefind.desk.intake import Intake
from rarefind.desk.labels import LabelHistory
from rarefind.desk.latency import LatencyDays
from rarefind.desk.ledger import LedgerUnavailable

#: Seconds between two lines about the progress of a start, and two attempts of one.
_PROGRESS, _AGAIN = 5.0, 1.0
_SWITCH = 0.0005


def serve_decisions(
    folder: DeskFolder,
    listener: socket.socket,
    durability: Durability,
    clock: DeskClock | None = None,
) -> bool:
    """Decide transactions until the process is told to stop; False if it has failed.

    ``/healthz`` is answered at once, and transactions when the ledger is read.
    """
    process = DecisionProcess(folder, durability, clock)
    server_of(process).run(sockets=[listener])
    return not process.has_failed


def server_of(process: DecisionProcess) -> uvicorn.Server:
    """The server that opens the door of a decision process."""
    server = uvicorn.Server(
        uvicorn.Config(
            decision_app(process.door, process.run),
            http=PatientProtocol,
            log_level="error",
            access_log=False,
            proxy_headers=False,  # nobody asks for the address of a sender
            server_header=False,
            timeout_graceful_shutdown=round(PATIENCE),
        )
    )

    def stop() -> None:
        server.should_exit = True

    process.when_ended = stop
    return server


class DecisionProcess:
    """What runs behind the door of a decision process.

    Parameters
    ----------
    folder : DeskFolder
    durability : {"process", "disk"}
    clock : DeskClock, optional

    Attributes
    ----------
    door : DecisionDoor
    has_failed : bool
        Whether it ended by itself.
    when_ended : callable
        Called when nothing more will be decided.
    """

    def __init__(
        self, folder: DeskFolder, durability: Durability, clock: DeskClock | None = None
    ) -> None:
        self.folder, self.log, self.has_failed = folder, Log("decision"), False
        self.when_ended: Callable[[], None] = lambda: None
        self._threaded = durability == "disk" or folder.is_remote
        schema, clock = folder.schema, clock or DeskClock()
        ledger, desk = folder.open_ledger(durability), folder.open_desk()
        self.decider = Decider(FeatureState(schema), ledger, secret=folder.secret, clock=clock)
        tokens, metrics = Tokens(desk), Metrics()
        zone = schema.transaction.time_zone
        latency = LatencyCount(LatencyDays(desk), metrics.seconds, zone, clock)
        self.watch = DeskWatch(
            desk,
            Control(desk, folder.declared, folder.models, clock),
            LabelHistory(desk, schema, clock),
            tokens,
            self.decider,
            folder.snapshots,
            folder.history,
            self.log,
            latency.look,
            self._take_settings,
        )
        self.idle = IdleWork(ledger, self.watch.upkeep, folder.snapshots, self.log)
        self.door = DecisionDoor(
            Intake(schema), tokens, metrics, self.log, self.notes, durability, self.measure
        )
        self._stopping = threading.Event()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Live for as long as the server does."""
        life = asyncio.create_task(self._live())
        yield
        self._stopping.set()
        if self.door.batcher is not None:
            await self.door.batcher.stop()
        await life

    def notes(self) -> list[str]:
        """Sentences for people about what decides, and what is wrong with it."""
        in_force, decider = self.watch.in_force, self.decider
        found = [] if in_force is None else list(in_force.notes)
        found += [
            f"The rule {name!r} could not be run on {count:,} transactions since it was read."
            for name, count in list(decider.rules.failures.items())
        ]
        if decider.model_failures:
            found.append(
                f"The model could not score {decider.model_failures:,} transactions since the "
                "start: rules alone have decided these."
            )
        return found + list(self.watch.trouble.values())

    def _take_settings(self, in_force: InForce) -> None:
        if in_force.schema is not None:
            self.door.limit.rate = in_force.schema.limits.rate

    def measure(self) -> None:
        """Bring those figures up to date that are not counted as they happen."""
        own, decider = self.door.metrics, self.decider
        own.sequence.set(decider.ledger.last.sequence)
        own.rule_errors.set(decider.rule_failures)
        own.model_errors.set(decider.model_failures)
        own.labels_waiting.set(self.watch.labels_waiting)
        own.revision.set(self.watch.in_force.revision if self.watch.in_force else 0)
        files = snapshot_files(self.folder.snapshots)
        try:
            own.snapshot_age.set(time.time() - files[0].stat().st_mtime if files else float("nan"))
        except FileNotFoundError:
            own.snapshot_age.set(float("nan"))

    async def _live(self) -> None:
        try:
            if not await asyncio.to_thread(self._start):
                return
        except Exception as error:
            self.log.error("not started", error=type(error).__name__, at=place_of(error))
            self.has_failed = True
            self.when_ended()
            return
        batcher = Batcher(
            self.decider,
            threaded=self._threaded,
            room=self.folder.schema.limits.waiting,
            metrics=self.door.metrics,
            log=self.log,
        )
        batcher.start()
        _favour_answers()
        self.door.batcher = batcher
        if self._stopping.is_set():
            await batcher.stop()
        await asyncio.gather(self.watch.run(batcher), self.idle.run(batcher))
        self.has_failed = batcher.has_failed
        self.when_ended()

    def _start(self) -> bool:
        """Read the ledger and the settings; False if the desk was stopped meanwhile."""
        begin = time.monotonic()
        while not self._stopping.is_set():
            try:
                self._restore(begin)
                self.watch.start()
                self._warm_up()
            except LedgerUnavailable as error:
                self.log.seldom("starting", detail=str(error))
                self._stopping.wait(_AGAIN)
            except _Stopped:
                return False
            else:
                return True
        return False

    def _warm_up(self) -> None:
        """Decide a transaction and take it back: nothing is left to compile for the first one."""
        decider, intake = self.decider, self.door.intake
        own = intake.schema.transaction
        now = datetime.fromtimestamp(decider.clock.now() / 1e9, UTC)
        example = example_transaction(intake.schema)
        example |= {own.id: uuid4().hex, own.time: now, own.amount: 1}
        decider.abort(decider.prepare([intake.stored(msgspec.json.encode(example))]))
        decider.rules.failures.clear()
        decider.model_failures = 0

    def _restore(self, begin: float) -> None:
        decider = self.decider
        memory, restart = open_memory(
            self.folder.schema, self.folder.secret, decider.ledger, self.folder.snapshots
        )
        for name, why in restart.passed_over.items():
            self.log.warning("snapshot passed over", name=name, detail=why)
        last, said = decider.ledger.last.sequence, time.monotonic()

        def step(sequence: int) -> None:
            nonlocal said
            if self._stopping.is_set():
                raise _Stopped
            if time.monotonic() - said > _PROGRESS:
                said = time.monotonic()
                self.log.info("starting", sequence=sequence, of=last)

        rows = memory.follow(decider.ledger, step)
        decider.use_memory(memory)
        seconds = round(time.monotonic() - begin, 3)
        self.log.info("ready", snapshot=restart.snapshot, rows=rows, seconds=seconds)


def _favour_answers() -> None:
    """Let nothing in this process hold up an answer for long.

    What was read at the start stays for good, so that looking for garbage in it each time is in
    vain; and threads that look after something else give way ten times sooner than by default.
    """
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(_SWITCH)


class _Stopped(Exception):  # noqa: N818
    """The desk was stopped before it was ready."""
