"""The web process: its folder is opened for reading the ledger, and its door served."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import uvicorn

from rarefind.desk.api.door import WebDoor
from rarefind.desk.api.logs import Log
from rarefind.desk.api.patience import PatientProtocol
from rarefind.desk.api.probe import DecisionProbe
from rarefind.desk.api.web import web_app
from rarefind.desk.folder import DeskFolder
from rarefind.desk.pages.warming import warm_up

#: What others change of tokens and settings is known after so many seconds.
_RELOAD = 1.0


def serve_web(
    folder: DeskFolder, listener: socket.socket, decisions: str = "http://127.0.0.1:8321"
) -> None:
    """Answer people and their programs until the process is told to stop.

    Parameters
    ----------
    folder : DeskFolder
    listener : socket.socket
        Where to answer.
    decisions : str
        The address of the decision process, to which people send transactions.
    """
    log = Log("web")
    door = WebDoor(
        folder.declared,
        folder.open_desk(),
        folder.read_ledger(),
        DecisionProbe(decisions),
        folder.models,
        folder.secret,
        log,
    )

    @asynccontextmanager
    async def run() -> AsyncIterator[None]:
        task = asyncio.create_task(_follow(door))
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    app = web_app(door, run)
    warm_up(app)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            http=PatientProtocol,
            log_level="error",
            access_log=False,
            server_header=False,
        )
    )
    server.run(sockets=[listener])


async def _follow(door: WebDoor) -> None:
    while True:
        await asyncio.sleep(_RELOAD)
        for name, look in (("tokens", door.tokens.reload), ("settings", door.follow_settings)):
            try:
                await asyncio.to_thread(look)
            except Exception as error:
                door.log.seldom(name, error=type(error).__name__)
