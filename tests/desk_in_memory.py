"""A desk without a ledger on disk, for tests of its doors: what it stores is a dictionary."""

import asyncio
import io
from contextlib import asynccontextmanager

import httpx
import msgspec

from rarefind.desk import Schema
from rarefind.desk.api.batcher import Batcher
from rarefind.desk.api.decisions import DecisionDoor, decision_app
from rarefind.desk.api.logs import Log
from rarefind.desk.api.metrics import Metrics
from rarefind.desk.api.tokens import Tokens
from rarefind.desk.database import SqliteDatabase
from rarefind.desk.intake import Intake
from rarefind.desk.records import Answer, Refusal

TEXT = """
name = "cards"
[transaction]
id = "id"
time = "time"
amount = "amount"
[transaction.columns]
country = "text"
ecommerce = "boolean"
[entities.card]
column = "card"
[entities.terminal]
column = "terminal"
[alerts]
entity = "card"
[limits]
batch = 100
body = 50_000
waiting = 200
rate = 0
"""
SCHEMA = Schema.from_text(TEXT)


def payment(number=1, **changed):
    return {
        "id": f"p{number}",
        "time": "2026-01-31T12:30:00Z",
        "amount": 12.5,
        "card": "c7",
        "terminal": "t3",
    } | changed


class MemoryDecider:
    """Denies amounts above 1,000, and does not know more; set ``broken`` to lose its store."""

    def __init__(self):
        self.stored = {}
        self.broken = None
        self.groups = []
        self.undone = 0

    def prepare(self, batch):
        prepared = []
        for each in batch:
            known = self.stored.get(each.id)
            if known is not None and known[0] != each.body:
                prepared.append(Refusal("conflict", "Another transaction has this id.", "id"))
            else:
                denied = each.amount > 100_000
                by = "large" if denied else ""
                decision = "deny" if denied else "accept"
                prepared.append((each.body, Answer(each.id, decision, by, None, "")))
        return prepared

    def commit(self, prepared):
        if self.broken is not None:
            raise self.broken
        self.groups.append(len(prepared))

    def finish(self, prepared):
        self.stored |= {each[1].id: each for each in prepared if not isinstance(each, Refusal)}
        return [each if isinstance(each, Refusal) else each[1] for each in prepared]

    def needs_rest(self, waiting):
        return False

    def abort(self, prepared):
        self.undone += len(prepared)


class Desk:
    """A decision app with its parts in reach."""

    def __init__(self, folder, schema=SCHEMA, threaded=False):
        self.database = SqliteDatabase(folder / "desk.db")
        self.log = io.StringIO()
        self.decider = MemoryDecider()
        self.threaded = threaded
        self.door = DecisionDoor(
            Intake(schema), Tokens(self.database), Metrics(), Log("decision", self.log)
        )
        self.token = self.door.tokens.make("till", "ingest", 1)
        self.app = decision_app(self.door, self.run)

    @asynccontextmanager
    async def run(self):
        self.door.batcher = Batcher(
            self.decider,
            threaded=self.threaded,
            room=self.door.intake.schema.limits.waiting,
            metrics=self.door.metrics,
            log=self.door.log,
        )
        self.door.batcher.start()
        yield
        await self.door.batcher.stop()

    def client(self, token=None):
        headers = {"authorization": f"Bearer {token or self.token}"}
        return httpx.AsyncClient(
            transport=httpx.ASGITransport(self.app), base_url="http://desk", headers=headers
        )

    def do(self, action):
        """Run ``await action(client)`` while the desk runs."""

        async def run():
            async with self.run(), self.client() as client:
                return await action(client)

        return asyncio.run(run())

    def post(self, body, **headers):
        """The answer to one request, which need not be right."""

        async def action(client):
            content = body if isinstance(body, bytes) else msgspec.json.encode(body)
            sent = {"content-type": "application/json"} | {
                name.replace("_", "-"): value for name, value in headers.items()
            }
            return await client.post("/transactions", content=content, headers=sent)

        return self.do(action)
