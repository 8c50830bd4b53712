"""The worker as a whole: what can wait is done, it stops at once, and goes on where it was."""

import io
import threading
import time
from contextlib import contextmanager

import pytest
from desk.webhooks.test_send_messages import receiving

from rarefind.desk import Schema
from rarefind.desk.alerts import Cases
from rarefind.desk.api.logs import Log
from rarefind.desk.clock import DeskClock, ManualClock
from rarefind.desk.control import Control
from rarefind.desk.decision import Decider
from rarefind.desk.decision.memory import make_snapshot
from rarefind.desk.features import FeatureState
from rarefind.desk.features.snapshots import snapshot_files
from rarefind.desk.folder import DeskFolder
from rarefind.desk.intake import Intake
from rarefind.desk.labels import LabelHistory
from rarefind.desk.parity import ParityDays
from rarefind.desk.webhooks import Webhooks
from rarefind.desk.worker import _worker, work
from rarefind.desk.worker._jobs import Job, run_jobs
from rarefind.desk.worker._snapshots import Snapshots

SCHEMA = Schema.from_text(
    """
name = "cards"
[transaction]
id = "id"
time = "time"
amount = "amount"
[entities.card]
column = "card"
[alerts]
entity = "card"
random_share = 0.0
expires = "2D"
[webhooks]
allow_private = true
"""
)
INTAKE = Intake(SCHEMA)
NOON = 1_769_860_800 * 10**9  # 2026-01-31T12:00:00Z


class Desk:
    def __init__(self, path):
        self.folder = DeskFolder.create(path, SCHEMA)
        self.clock = ManualClock(NOON)
        self.database, self.ledger = self.folder.open_desk(), self.folder.open_ledger()
        self.decider = Decider(
            FeatureState(SCHEMA), self.ledger, secret=self.folder.secret, clock=self.clock
        )
        self.control = Control(self.database, SCHEMA, self.folder.models, self.clock)
        self.control.rules.save("large", "amount > 100", "ann", role="scoring")
        self.decider.rules = self.control.in_force().rules
        labels = LabelHistory(self.database, SCHEMA, self.clock)
        self.cases = Cases(self.database, SCHEMA, labels, self.clock)

    def decide(self, number, amount=400):
        body = (
            f'{{"id": "p{number}", "time": "2026-01-31T11:00:{number:02}Z", "amount": {amount}, '
            f'"card": "c{number}"}}'
        )
        self.decider.decide(INTAKE.decode(body.encode()).transactions)

    def snapshot(self):
        make_snapshot(SCHEMA, self.folder.secret, self.ledger, self.folder.snapshots, NOON)

    @contextmanager
    def working(self):
        """A worker in a thread; it has ended at the end of the block."""
        stop, ready = threading.Event(), threading.Event()
        with DeskFolder(self.folder.path) as folder:
            thread = threading.Thread(
                target=work,
                args=(folder, stop),
                kwargs={"on_ready": ready.set, "clock": self.clock},
            )
            thread.start()
            assert ready.wait(60)
            try:
                yield
            finally:
                stop.set()
                thread.join(60)
                assert not thread.is_alive()


@pytest.fixture
def desk(tmp_path):
    made = Desk(tmp_path / "desk")
    yield made
    made.folder.close()


def until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def test_alerts_get_cases_reasons_and_messages_and_a_restart_goes_on(desk):
    with receiving() as server:
        Webhooks.of(desk.folder).make(server.url, ["alert.raised"], "ann")
        for number in range(3):
            desk.decide(number)
        desk.snapshot()
        with desk.working():
            until(lambda: len(server.received) == 3 and not desk.cases.without_reason())
        desk.decide(3)
        desk.decide(4, amount=5)
        desk.snapshot()
        with desk.working():
            until(lambda: len(server.received) == 4 and desk.cases.read_up_to == 5)
    ids = [headers["X-Rarefind-Id"] for headers, _ in server.received]
    assert ids == [f"alert.raised:{number}" for number in (1, 2, 3, 4)]
    assert [case.entity for case in desk.cases.unclosed()] == ["c0", "c1", "c2", "c3"]


def test_cases_without_a_new_alert_expire_and_those_that_are_held_do_not(desk):
    for number in range(3):
        desk.decide(number)
    desk.snapshot()
    with desk.working():
        until(lambda: len(desk.cases.unclosed()) == 3)
    desk.clock.advance("1D")
    desk.cases.snooze(desk.cases.unclosed()[0].id, "ann", NOON + 10 * 86_400 * 10**9)
    desk.clock.advance("47h")
    held = desk.cases.take(desk.cases.unclosed()[1].id, "bob")
    desk.clock.advance("10min")
    with desk.working():
        until(lambda: len(desk.cases.unclosed()) == 2)
    assert [case.state for case in desk.cases.unclosed()] == ["snoozed", "taken"]
    assert desk.cases.get(held.id).holder == "bob"


def test_a_snapshot_is_made_in_a_process_of_its_own_and_rows_are_compared(desk):
    desk.decide(0)
    snapshots = Snapshots(desk.folder, desk.ledger, DeskClock(), Log("worker"))
    assert snapshots.is_due()
    snapshots.run()
    days = ParityDays(desk.database)
    until(lambda: days.read_up_to.sequence == 1)
    assert [path.name for path in snapshot_files(desk.folder.snapshots)] == [f"{1:020d}.snapshot"]
    assert str(days.last()[0]) == "0 of 1 differ on 2026-01-31."
    assert not snapshots.is_due()
    desk.decide(1)
    assert not snapshots.is_due()  # it can wait an hour
    snapshots.stop()


def test_jobs_are_made_anew_when_settings_change(desk, monkeypatch):
    made, stop = [], threading.Event()

    def jobs(folder, clock, log):
        made.append(folder.schema.alerts.expires)
        if len(made) == 1:
            desk.control.settings.change("alerts.expires", "3D", "ada")
        else:
            stop.set()
        return []

    monkeypatch.setattr(_worker, "make_jobs", jobs)
    _worker._run_by_settings(desk.folder, [], stop, desk.clock, Log("worker", io.StringIO()))
    assert made == ["2D", "3D"]


def test_a_job_that_fails_waits_and_others_go_on():
    done, stop = [], threading.Event()

    def fail():
        done.append("failed")
        raise ValueError("a mistake")

    def run():
        done.append("ran")
        if done.count("ran") == 20:
            stop.set()
        return True

    run_jobs([Job("bad", fail, 1.0), Job("good", run, 1.0)], stop, Log("worker"))
    assert done.count("ran") == 20
    assert done.count("failed") < 20
