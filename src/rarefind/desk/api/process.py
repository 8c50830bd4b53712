"""The decision process: its folder is opened, its ledger read, and its door served."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

from rarefind.desk.api.batcher import Batcher
from rarefind.desk.api.decisions import DecisionDoor, decision_app
from rarefind.desk.api.logs import Log
from rarefind.desk.api.metrics import Metrics
from rarefind.desk.api.tokens import Tokens
from rarefind.desk.clock import DeskClock
from rarefind.desk.database import Durability
from rarefind.desk.decision import Decider
from rarefind.desk.features import FeatureState
from rarefind.desk.folder import DeskFolder
from rarefind.desk.intake import Intake

#: Tokens that others make and revoke are known after so many seconds.
_RELOAD = 1.0


def serve_decisions(
    folder: DeskFolder,
    listener: socket.socket,
    durability: Durability,
    clock: DeskClock | None = None,
) -> bool:
    """Decide transactions until the process is told to stop; False if it has failed."""
    intake, log = Intake(folder.schema), Log("decision")
    decider = Decider(
        FeatureState(folder.schema),
        folder.open_ledger(durability),
        secret=folder.secret,
        clock=clock,
    )
    decider.restore(folder.snapshots)
    tokens = Tokens(folder.open_desk())
    door = DecisionDoor(
        intake,
        tokens,
        Metrics(),
        log,
        lambda: [] if decider.model else ["There is no model yet."],
        durability,
    )

    @asynccontextmanager
    async def run() -> AsyncIterator[None]:
        door.batcher = batcher = Batcher(
            decider,
            threaded=durability == "disk" or folder.is_remote,
            room=folder.schema.limits.waiting,
            metrics=door.metrics,
            log=log,
        )
        batcher.start()
        watch = asyncio.create_task(_watch(batcher))
        yield
        await batcher.stop()
        await watch

    async def _watch(batcher: Batcher[Any, Any]) -> None:
        while not batcher.ended.is_set():
            try:
                await asyncio.wait_for(batcher.ended.wait(), _RELOAD)
            except TimeoutError:
                try:
                    tokens.reload()
                except Exception as error:
                    log.seldom("tokens", error=type(error).__name__)
        server.should_exit = True

    server = uvicorn.Server(
        uvicorn.Config(
            decision_app(door, run), log_level="error", access_log=False, server_header=False
        )
    )
    server.run(sockets=[listener])
    return door.batcher is not None and not door.batcher.has_failed
