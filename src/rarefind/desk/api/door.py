"""What the web process has at hand: the desk's database, its ledger, and what is made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from fastapi import Depends
from starlette.requests import Request

from rarefind.desk.alerts import CaseLists, Cases, Queue
from rarefind.desk.api.limits import RateLimit
from rarefind.desk.api.logs import Log
from rarefind.desk.api.probe import DecisionProbe
from rarefind.desk.api.tokens import Tokens
from rarefind.desk.api.views import Views
from rarefind.desk.api.web_metrics import WebMetrics
from rarefind.desk.clock import DeskClock
from rarefind.desk.control import Control
from rarefind.desk.database import Database
from rarefind.desk.explained import OpenModels
from rarefind.desk.intake import Intake
from rarefind.desk.labels import Claims, LabelHistory
from rarefind.desk.ledger import Ledger
from rarefind.desk.measures import History, MeasuredRules, Others, Proposals, RipeLabels
from rarefind.desk.measures.figures import Figures
from rarefind.desk.parity import ParityDays
from rarefind.desk.people import Passwords, People
from rarefind.desk.schema import Schema
from rarefind.desk.similar import ConfirmedFrauds
from rarefind.desk.webhooks import Webhooks


@dataclass
class WebDoor:
    """What the web app needs.

    Parameters
    ----------
    schema : Schema
        What desk.toml says; later what counts, and ``declared`` is what it said.
    database : Database
        The desk's own, for reading and writing.
    ledger : Ledger
        For reading.
    decisions : DecisionProbe
        The process beside this one that decides.
    models : Path
        The folder of model files.
    secret : bytes
        The desk's own, which signs messages.
    log : Log
    clock : DeskClock
    passwords : Passwords
        How passwords are kept.
    """

    schema: Schema
    database: Database
    ledger: Ledger
    decisions: DecisionProbe
    models: Path
    secret: bytes
    log: Log = field(default_factory=lambda: Log("web"))
    clock: DeskClock = field(default_factory=DeskClock)
    passwords: Passwords = field(default_factory=Passwords)

    def __post_init__(self) -> None:
        self.declared = self.schema
        self.control = Control(self.database, self.declared, self.models, self.clock)
        self.tokens = Tokens(self.database, self.control.audit)
        self.people = People(self.database, self.control.audit, self.clock, self.passwords)
        self.metrics = WebMetrics()
        self.lists = CaseLists(self.database, self.clock)
        self.webhooks = Webhooks(
            self.database,
            self.secret,
            self.control.audit,
            self.clock,
            allow_private=self.schema.webhooks.allow_private,
        )
        self.parity = ParityDays(self.database)
        self.others = Others(self.control)
        self.measured = MeasuredRules(self.database)
        self.proposals = Proposals(self.database)
        self.intake = Intake(self.schema)
        self.open_models = OpenModels(self.models)
        #: What the page has counted last, and when by a clock that never goes back.
        self.page_counts: tuple[float, Any] | None = None
        self._use(self.control.settings.schema())

    def follow_settings(self) -> None:
        """Look whether people have changed settings, and go by them from the next request on."""
        schema = self.control.settings.schema()
        if schema != self.schema:
            self._use(schema)

    def _use(self, schema: Schema) -> None:
        """Make anew what goes by settings; requests that are under way have what they have."""
        self.schema = schema
        self.limit = RateLimit(schema.limits.requests)
        self.views = Views(schema)
        self.labels = LabelHistory(self.database, schema, self.clock)
        self.cases = Cases(self.database, schema, self.labels, self.clock)
        self.queue = Queue(self.cases, schema, self.clock)
        self.claims = Claims(self.database, self.labels, self.clock)
        self.history = History(
            self.models.with_name("history"),
            schema,
            self.ledger,
            RipeLabels(self.labels),
            self.clock,
        )
        self.similar = ConfirmedFrauds(self.database, self.cases, self.ledger, schema)
        self.figures = Figures(
            self.database, self.ledger, self.control.models, self.cases, schema, self.clock
        )


def _door(request: Request) -> WebDoor:
    door: WebDoor = request.app.state.door
    return door


Door: TypeAlias = Annotated[WebDoor, Depends(_door)]
