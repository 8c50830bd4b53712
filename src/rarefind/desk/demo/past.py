"""The past weeks of the demo, hour by hour: payments are decided, people check, customers claim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from rarefind.desk.alerts import Case, Cases, Queue
from rarefind.desk.api.logs import Log
from rarefind.desk.clock import ManualClock
from rarefind.desk.control import Control
from rarefind.desk.database import Database
from rarefind.desk.decision import Decider
from rarefind.desk.demo.agenda import Agenda, AgendaItem
from rarefind.desk.demo.changes import expert_agenda
from rarefind.desk.demo.models import FIRST, SECOND, fit_model, training_table
from rarefind.desk.demo.staff import EXPERT, INVESTIGATORS, SCIENTIST
from rarefind.desk.demo.world import DAY, DemoWorld
from rarefind.desk.features import FeatureState
from rarefind.desk.folder import DeskFolder
from rarefind.desk.intake import Intake
from rarefind.desk.intake.rows import table_transactions
from rarefind.desk.labels import Claims, LabelHistory
from rarefind.desk.worker import make_jobs

__all__ = ["PastWeeks"]

_HOUR: Final = DAY // 24
#: The hours of the day in which people work, and in which claims are answered.
_FIRST_HOUR, _LAST_HOUR, _CLAIMS_HOUR = 8, 17, 9
#: The share of today's checks that is done when the desk is opened.
_DONE_TODAY: Final = 0.2
#: The shares of the past after which the two models were fitted. They learn from what was paid
#: some time before, whose labels are known, and alert from a probability on that fills the budget.
_MODELS: Final = ((0.35, FIRST), (0.45, SECOND))
_UNKNOWN, _ALERT_FROM = 0.11, 0.05
#: How often a check comes to no result, and a confirmed fraud leads to a block.
_UNCLEAR, _BLOCKED = 0.04, 0.3
#: A block is lifted when the customer has another card.
_NEW_CARD: Final = 10 * DAY
_FRAUD_NOTES: Final = (
    "The customer does not know this payment.",
    "Called: the card was in the wallet, and the payment was made elsewhere.",
    "",
    "The same terminal as in three other cases of this week.",
    "",
)
_GENUINE_NOTES: Final = ("Called: it was them.", "", "On holiday, says the bank.", "", "", "")


class PastWeeks:
    """Lets the weeks before now happen to a desk.

    Parameters
    ----------
    folder : DeskFolder
        New, and open in no other process.
    database : Database
        That of the desk.
    world : DemoWorld
    clock : ManualClock
        It is set as time goes on, and stands at the world's present in the end.
    scratch : Path
        A folder for model files.
    say : callable
        Is told what comes next.
    log : Log
    seed : int
    """

    def __init__(
        self,
        folder: DeskFolder,
        database: Database,
        world: DemoWorld,
        clock: ManualClock,
        scratch: Path,
        say: Callable[[str], object],
        log: Log,
        seed: int,
    ) -> None:
        schema = folder.schema
        self._world, self.clock, self._scratch, self._say = world, clock, scratch, say
        self._frauds, self._rng = world.frauds, np.random.default_rng(seed)
        self._ledger = folder.open_ledger("process")
        self._decider = Decider(
            FeatureState(schema), self._ledger, secret=folder.secret, clock=clock
        )
        self.control = Control(database, schema, folder.models, clock)
        self._labels = LabelHistory(database, schema, clock)
        self.cases = Cases(database, schema, self._labels, clock)
        self.queue = Queue(self.cases, schema, clock)
        self._claims = Claims(database, self._labels, clock)
        self._in_force = self.control.in_force()
        self._labels_read = 0
        self._budget = schema.alerts.budget
        #: So many of today's checks are done when the desk is opened.
        self.done_today = round(_DONE_TODAY * self._budget)
        jobs = make_jobs(folder, clock, log, database=database, sparingly=False)
        self._cases_job = next(job for job in jobs if job.name == "cases")
        self._expire = next(job for job in jobs if job.name == "expiry").run
        self._transactions = list(table_transactions(world.past, Intake(schema)))
        self._agenda = Agenda(self._items())

    def run(self) -> None:
        """Let all of it happen."""
        world = self._world
        times = [each.time for each in self._transactions]
        done, told = 0, -1
        for hour in range(world.begin, world.now, _HOUR):
            end = min(hour + _HOUR, world.now)
            day = (hour - world.begin) // DAY
            if day % 7 == 0 and day != told:
                told = day
                self._say(f"Week {day // 7 + 1}: payments are decided, and people check")
            self.clock.set(end)
            count = int(np.searchsorted(times, end, side="right"))
            self._decider.decide(self._transactions[done:count])
            done = count
            self._hour(hour // _HOUR % 24)
            if end % DAY == 0:
                self._decider.rest()
        self._learn()

    def _hour(self, hour: int) -> None:
        """What people do in an hour of a day."""
        due = self._agenda.until(self.clock.now())
        for each in due:
            each.do()
        if _FIRST_HOUR <= hour <= _LAST_HOUR:
            self.follow()
            hours = _LAST_HOUR - _FIRST_HOUR + 1
            done = round(self._budget * (hour - _FIRST_HOUR + 1) / hours)
            is_today = self.clock.now() // DAY == self._world.now // DAY
            self.check(min(done, self.done_today) if is_today else done)
        if hour == _CLAIMS_HOUR:
            self._answer_claims()
            self._expire()
        if due or hour in (_FIRST_HOUR, _LAST_HOUR):
            self._learn()

    def follow(self) -> None:
        """Let all alerts by now be in cases."""
        while self._cases_job.run():
            continue

    def check(self, wanted: int) -> None:
        """Check cases until so many of the day's are done, or none is left."""
        left = wanted - self.queue.today().done
        for _ in range(left):
            person = INVESTIGATORS[int(self._rng.integers(len(INVESTIGATORS)))]
            case = self.queue.next_for(person)
            if case is None:
                return
            self._decide(case, person)

    def _decide(self, case: Case, person: str) -> None:
        is_fraud = any(each.transaction in self._frauds for each in self.cases.alerts(case.id))
        if self._rng.random() < _UNCLEAR:
            self.cases.decide(case.id, person, "unclear", "Nobody answers the phone.")
            return
        notes: Sequence[str] = _FRAUD_NOTES if is_fraud else _GENUINE_NOTES
        note = notes[int(self._rng.integers(len(notes)))]
        self.cases.decide(case.id, person, "fraud" if is_fraud else "genuine", note)
        if is_fraud and self._rng.random() < _BLOCKED:
            block = self.control.blocks.ask(case.entity, person, note)
            self._agenda.add(self.clock.now() + _NEW_CARD, partial(self._lift, block.id))

    def _lift(self, block: int) -> None:
        self.control.blocks.lift(block, EXPERT, "The customer has another card.")

    def _answer_claims(self) -> None:
        """Answer what customers claimed more than a day ago."""
        for claim in self._claims.new():
            if claim.at < self.clock.now() - DAY:
                answer = (
                    self._claims.confirm
                    if claim.transaction in self._frauds
                    else self._claims.reject
                )
                answer(claim.id, EXPERT)

    def _learn(self) -> None:
        """Let the process that decides know what people have found and changed."""
        while labels := self._labels.after(self._labels_read):
            self._labels_read = labels[-1].number
            self._decider.add_labels(
                [(each.transaction, each.fraud, each.source) for each in labels],
                labels_read=self._labels_read,
            )
        changed = self.control.changed(self._in_force)
        if changed is not None:
            self._in_force = changed
        self._decider.use(self._in_force)

    def _items(self) -> list[AgendaItem]:
        """What is to happen at which time, beside the checks."""
        world = self._world
        found = expert_agenda(self.control, world)
        past = world.past.dropna(subset=["claimed_at"])
        at = past["claimed_at"].astype("datetime64[ns]").astype("int64")
        for id, time in zip(past["payment"], at, strict=True):
            if time <= world.now:
                found.append(AgendaItem(int(time), partial(self._claims.make, id)))
        for share, name in _MODELS:
            time = world.at(share)
            found.append(AgendaItem(time, partial(self._bring_model, name)))
        return found

    def _bring_model(self, name: str) -> None:
        """Fit a model to what is known by now, and let it decide."""
        self._say(f"Fitting a model, {name!r}")
        path = self._scratch / f"{name}.rarefind"
        world = self._world
        known = self.clock.now() - int(_UNKNOWN * (world.now - world.begin))
        fit_model(name, training_table(world, known), path)
        self._say("Going on with it")
        models = self.control.models
        added = models.add(path, SCIENTIST, name)
        models.promote(added.digest, SCIENTIST, _ALERT_FROM)
