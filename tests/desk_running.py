"""A whole decision process of a folder, in a thread: stopped, started again and asked over HTTP."""

import io
import socket
import threading
import time
from contextlib import closing
from itertools import count

import httpx
import psycopg
from databases import postgresql_url

from rarefind.desk import Schema
from rarefind.desk.api import desk_watch, idle
from rarefind.desk.api.process import DecisionProcess, server_of
from rarefind.desk.api.tokens import Tokens
from rarefind.desk.clock import DeskClock
from rarefind.desk.control import Control
from rarefind.desk.folder import DeskFolder
from rarefind.desk.labels import LabelHistory

TEXT = """
name = "cards"
[transaction]
id = "id"
time = "time"
amount = "amount"
[transaction.columns]
country = "text"
[entities.card]
column = "card"
distinct = ["country"]
[entities.terminal]
column = "terminal"
risk = true
[labels]
delay = "1D"
[limits]
waiting = 200
rate = 0
[alerts]
entity = "card"
random_share = 0.0
"""
SCHEMA = Schema.from_text(TEXT)
NOON = 1_769_860_800 * 10**9  # 2026-01-31T12:00:00Z
_numbers = count()


def new_database():
    """The address of an empty database on the server of the tests."""
    name = f"running{next(_numbers)}"
    with psycopg.connect(postgresql_url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return postgresql_url().replace("/postgres?", f"/{name}?")


def payment(number=1, **changed):
    return {
        "id": f"p{number}",
        "time": "2026-01-31T12:00:00Z",
        "amount": 12.5,
        "card": "c7",
        "terminal": "t3",
    } | changed


class SteppedClock(DeskClock):
    """A clock that stands at noon, and goes by what it is told."""

    def __init__(self):
        self.time = NOON

    def now(self):
        return self.time


class RunningDesk:
    """Looks often at what people change, so that tests need not wait."""

    def __init__(self, path, monkeypatch, schema=SCHEMA, url=None, durability="process"):
        monkeypatch.setattr(desk_watch, "EVERY", 0.01)
        monkeypatch.setattr(idle, "_EVERY", 0.01)
        monkeypatch.setattr(idle, "_QUIET", 0.0)
        self.path, self.url, self.durability = path, url, durability
        self.clock, self.log = SteppedClock(), io.StringIO()
        self.people = DeskFolder.create(path, schema, url)
        desk = self.people.open_desk()
        self.token = Tokens(desk).make("till", "ingest", 1)
        self.control = Control(desk, schema, self.people.models, self.clock)
        self.labels = LabelHistory(desk, schema, self.clock)
        self.desk = desk
        self.process = None

    def start(self, wait=True, send_buffer=None):
        self.folder = DeskFolder(self.path, self.url)
        self.process = DecisionProcess(self.folder, self.durability, self.clock)
        self.process.log.stream = self.log
        self.server = server_of(self.process)
        listener = socket.create_server(("127.0.0.1", 0))
        if send_buffer is not None:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        self.address = listener.getsockname()
        self._thread = threading.Thread(
            target=self.server.run, kwargs={"sockets": [listener]}, daemon=True
        )
        self._thread.start()
        self.client = httpx.Client(
            base_url=f"http://127.0.0.1:{self.address[1]}",
            headers={"authorization": f"Bearer {self.token}"},
            timeout=20,
        )
        self.wait_for(self.is_ready if wait else self.is_alive)
        return self

    def stop(self):
        if self.process is not None:
            self.client.close()
            self.server.should_exit = True
            self._thread.join(20)
            assert not self._thread.is_alive()
            self.folder.close()
            self.process = None

    def close(self):
        self.stop()
        self.people.close()

    def restart(self):
        self.stop()
        return self.start()

    def is_alive(self):
        try:
            return self.client.get("/healthz").status_code == 200
        except httpx.TransportError:
            return False

    def is_ready(self):
        return self.is_alive() and self.client.get("/readyz").status_code == 200

    def wait_for(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < end, f"it never happened; the log:\n{self.log.getvalue()}"
            time.sleep(0.005)
        return found

    def post(self, body):
        return self.client.post("/transactions", json=body)

    def notes(self):
        return self.client.get("/readyz").json()["notes"]

    def metric(self, name):
        lines = self.client.get("/metrics").text.splitlines()
        return next(float(each.split()[1]) for each in lines if each.startswith(f"{name} "))

    def rows(self):
        """All rows of the ledger, read as another process does."""
        with DeskFolder(self.path, self.url) as folder:
            return folder.read_ledger().read(0, 10_000)

    def label(self, ids, verdict, source="verdict"):
        with self.desk.write() as writer:
            self.labels.add(writer, ids, verdict, source)

    def verify(self):
        with DeskFolder(self.path, self.url) as folder:
            return folder.read_ledger().verify()


def running(path, monkeypatch, **settings):
    """A desk that is closed at the end of a ``with`` block."""
    return closing(RunningDesk(path, monkeypatch, **settings))
