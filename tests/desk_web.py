"""A web process with a real ledger beside it, for tests of what people do at a desk."""

import asyncio
import io
import json

import httpx

from rarefind.desk import Schema
from rarefind.desk.api.door import WebDoor
from rarefind.desk.api.logs import Log
from rarefind.desk.api.probe import DecisionProbe
from rarefind.desk.api.web import web_app
from rarefind.desk.clock import ManualClock
from rarefind.desk.database import SqliteDatabase
from rarefind.desk.decision import Decider, RuleBook
from rarefind.desk.features import FeatureState
from rarefind.desk.intake import Intake
from rarefind.desk.ledger import Ledger
from rarefind.rules import Rule

SCHEMA = Schema.from_text(
    """
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
budget = 3
random_share = 0.0
[limits]
body = 50_000
requests = 0
"""
)
NOON = 1_769_860_800 * 10**9  # 2026-01-31T12:00:00Z
ROLES = ("ingest", "investigator", "expert", "scientist", "admin", "auditor")
SHAPE = {"type", "title", "detail", "where"}
READY = {"ready": True, "durability": "disk", "notes": ["There is no model: rules alone decide."]}


def check_problem(answer, status, kind):
    """Look whether an answer is a problem in the one shape; give it."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert set(body) == SHAPE
    assert body["type"] == kind
    assert body["detail"].endswith((".", "?"))
    return body


class WebDesk:
    """A desk at noon: amounts from 1,000 on raise an alert, and those from 5,000 are denied."""

    def __init__(self, folder, schema=SCHEMA, databases=None):
        if databases is None:
            writer = SqliteDatabase(folder / "ledger.db", journal="wal")
            databases = (writer, lambda: SqliteDatabase(folder / "ledger.db", read_only=True))
            self.database = SqliteDatabase(folder / "desk.db")
        else:
            *databases, self.database = databases
        self.schema, self.clock = schema, ManualClock(NOON)
        self.intake, self.log = Intake(schema), io.StringIO()
        self.writer = Ledger(databases[0], writes=True)
        self.decider = Decider(
            FeatureState(schema), self.writer, secret=bytes(32), clock=self.clock
        )
        self.decider.rules = RuleBook(
            blocking=[Rule("amount >= 5000", name="very large")],
            scoring=[Rule("amount >= 1000", name="large", weight=1.0)],
        )
        self.neighbour = READY
        self.door = WebDoor(
            schema,
            self.database,
            Ledger(databases[1](), writes=False),
            DecisionProbe("http://127.0.0.1:8321", httpx.MockTransport(self._neighbour)),
            folder / "models",
            bytes(32),
            Log("web", self.log),
            self.clock,
        )
        self.app = web_app(self.door)
        self.tokens = {role: self.door.tokens.make(role, role, NOON) for role in ROLES}
        self.tokens["bob"] = self.door.tokens.make("bob", "investigator", NOON)

    def close(self):
        self.writer.close()
        self.door.ledger.close()
        self.database.close()

    def _neighbour(self, request):
        assert request.url.path == "/readyz"
        return httpx.Response(200 if self.neighbour else 503, json=self.neighbour)

    def pay(self, card, amount=1000, **more):
        """A payment of a card, decided and stored; its alert becomes a case."""
        number = self.writer.last.sequence + 1
        sent = {
            "id": f"p{number}",
            "time": "2026-01-31T12:00:00Z",
            "amount": amount,
            "card": card,
            "terminal": "t1",
        } | more
        transactions = self.intake.decode(json.dumps(sent).encode()).transactions
        (answer,) = self.decider.decide(transactions)
        last = self.writer.last.sequence
        self.door.cases.add(self.writer.read(last - 1, 1), last)
        return answer

    def case_of(self, card):
        (found,) = [case for case in self.door.cases.unclosed() if case.entity == card]
        return found.id

    def ask(self, method, path, who="investigator", **content):
        """The answer to a request with the token of a role, of bob, or of nobody (None)."""
        headers = {} if who is None else {"authorization": f"Bearer {self.tokens[who]}"}
        headers |= content.pop("headers", {})

        async def send():
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://desk") as client:
                return await client.request(method, path, headers=headers, **content)

        return asyncio.run(send())

    def get(self, path, who="investigator"):
        return self.ask("GET", path, who)

    def post(self, path, body=None, who="investigator"):
        return self.ask("POST", path, who, json={} if body is None else body)
