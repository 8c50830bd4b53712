"""The three processes of a desk: what each does, and how to ask whether it is ready."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rarefind.desk.database import Durability
from rarefind.desk.folder import DeskFolder, FolderInUseError
from rarefind.desk.processes._life import READY, Life
from rarefind.desk.processes.child import ChildSpec

__all__ = ["DeskSettings", "ProcessName", "ask_notes", "desk_processes", "run_one", "take_port"]

ProcessName = Literal["decision", "web", "worker"]
#: Seconds to wait for the processes of a desk that was killed: they notice, and end.
_WAIT = 5.0
#: Decisions come first, then people, wherever the system can be told so.
_NICE = {"web": 5, "worker": 10}
_GRACE = {"decision": 30.0, "web": 10.0, "worker": 10.0}


@dataclass(frozen=True)
class DeskSettings:
    """Which desk is served, and how."""

    path: Path
    database: str | None = None
    durability: Durability = "disk"
    #: The address of the decision process, which pages name and the web process asks.
    decisions: str = "http://127.0.0.1:8321"


def desk_processes(
    settings: DeskSettings, transactions: socket.socket, people: socket.socket
) -> list[ChildSpec]:
    """The processes of a desk, the decision process first."""

    def ask(listener: socket.socket) -> bool:
        return ask_notes(listener) is not None

    return [
        ChildSpec(
            "decision",
            _decide,
            (settings, transactions),
            lambda: ask(transactions),
            _GRACE["decision"],
        ),
        ChildSpec("web", _serve_web, (settings, people), lambda: ask(people), _GRACE["web"]),
        ChildSpec("worker", _work, (settings,), None, _GRACE["worker"]),
    ]


def run_one(name: ProcessName, settings: DeskSettings, listener: socket.socket | None) -> bool:
    """Be one of the processes, until a signal says to stop; False if it has failed."""
    if name == "worker":
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        return work(settings, stop)
    assert listener is not None
    return (decide if name == "decision" else serve_web)(settings, listener)


def decide(settings: DeskSettings, listener: socket.socket) -> bool:
    """Be the decision process."""
    from rarefind.desk.api.process import serve_decisions

    deadline = time.monotonic() + _WAIT
    while True:
        try:
            with DeskFolder(settings.path, settings.database) as folder:
                return serve_decisions(folder, listener, settings.durability)
        except FolderInUseError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def serve_web(settings: DeskSettings, listener: socket.socket) -> bool:
    """Be the web process."""
    from rarefind.desk.api import web_process

    _be_nice("web")
    with DeskFolder(settings.path, settings.database) as folder:
        web_process.serve_web(folder, listener, settings.decisions)
    return True


def work(
    settings: DeskSettings,
    stop: threading.Event,
    on_ready: Callable[[], object] | None = None,
) -> bool:
    """Be the worker."""
    import rarefind.desk.worker as room

    _be_nice("worker")
    with DeskFolder(settings.path, settings.database) as folder:
        room.work(folder, stop, on_ready=on_ready)
    return True


def _be_nice(name: ProcessName) -> None:
    if hasattr(os, "nice"):
        os.nice(_NICE[name])


def _decide(_life: Life, settings: DeskSettings, listener: socket.socket) -> bool:
    return decide(settings, listener)


def _serve_web(_life: Life, settings: DeskSettings, listener: socket.socket) -> bool:
    return serve_web(settings, listener)


def _work(life: Life, settings: DeskSettings) -> bool:
    stop = threading.Event()
    life.on_stop(stop.set)
    return work(settings, stop, lambda: life.say(READY))


def ask_notes(listener: socket.socket, seconds: float = 1.0) -> list[str] | None:
    """What the process behind a listener says when it is ready; None while it is not."""
    address = listener.getsockname()
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address[0], address[0])
    connection = http.client.HTTPConnection(host, address[1], timeout=seconds)
    try:
        connection.request("GET", "/readyz", headers={"Connection": "close"})
        answer = connection.getresponse()
        if answer.status != 200:
            return None
        notes = json.loads(answer.read(1_000_000)).get("notes", [])
        return [str(note) for note in notes]
    except (OSError, http.client.HTTPException, ValueError, AttributeError):
        return None
    finally:
        connection.close()


def take_port(
    host: str, port: int, option: str = "--port", *, patience: float | None = None
) -> socket.socket:
    """Take a port of this machine; one that is taken for longer than a restart is an error."""
    wait = _WAIT if patience is None else patience
    deadline = time.monotonic() + (wait if port else 0)
    while True:
        try:
            return socket.create_server((host, port), family=_family(host), backlog=2_048)
        except OSError as error:
            if time.monotonic() > deadline:
                raise ValueError(
                    f"The desk cannot have {host}:{port} ({error.strerror or error}): "
                    f"give another {option}."
                ) from None
        time.sleep(0.1)


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
