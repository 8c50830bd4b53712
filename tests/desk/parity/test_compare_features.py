"""Features that are stored are those that are computed again; one bit that differs is found."""

from datetime import date

import numpy as np
import pytest

from rarefind.desk import Schema
from rarefind.desk.clock import ManualClock
from rarefind.desk.decision import Decider
from rarefind.desk.decision.memory import make_snapshot
from rarefind.desk.features import FeatureState
from rarefind.desk.folder import DeskFolder
from rarefind.desk.intake import Intake
from rarefind.desk.parity import ParityDay, ParityDays, compare_day, compare_new

SCHEMA = Schema.from_text(
    """
name = "cards"
[transaction]
id = "id"
time = "time"
amount = "amount"
[transaction.columns]
country = "text"
[entities.card]
column = "card"
distinct = ["terminal", "country"]
[entities.terminal]
column = "terminal"
risk = true
[labels]
delay = "1D"
[alerts]
entity = "card"
"""
)
INTAKE = Intake(SCHEMA)
NOON = 1_769_860_800 * 10**9  # 2026-01-31T12:00:00Z


class Desk:
    def __init__(self, path):
        self.folder = DeskFolder.create(path, SCHEMA)
        self.clock = ManualClock(NOON)
        self.ledger = self.folder.open_ledger()
        self.decider = Decider(
            FeatureState(SCHEMA), self.ledger, secret=self.folder.secret, clock=self.clock
        )
        self.days = ParityDays(self.folder.open_desk())
        self.sent = 0

    def decide(self, count):
        rng = np.random.default_rng(self.sent)
        for number in range(self.sent, self.sent + count):
            seconds = NOON // 10**9 - 3 * 86_400 + number * 500 - int(rng.integers(0, 40_000))
            body = (
                f'{{"id": "p{number}", "time": "{np.datetime64(seconds, "s")}Z", '
                f'"amount": {rng.integers(1, 99_999) / 100}, "card": "c{rng.integers(3)}", '
                f'"terminal": "t{rng.integers(3)}", "country": "{rng.choice(["FR", "BE"])}"}}'
            )
            self.decider.decide(INTAKE.decode(body.encode()).transactions)
        self.sent += count

    def snapshot(self):
        make_snapshot(SCHEMA, self.folder.secret, self.ledger, self.folder.snapshots, NOON)


@pytest.fixture
def desk(tmp_path):
    made = Desk(tmp_path / "desk")
    yield made
    made.folder.close()


def test_all_rows_are_compared_once_and_none_differs(desk):
    desk.decide(300)
    desk.decider.add_labels([("p3", True, "claim"), ("p7", True, "verdict")])
    desk.decide(100)
    assert compare_new(desk.folder, desk.days) == 0
    desk.snapshot()
    desk.clock.advance("1D")
    desk.decide(50)
    for _ in range(2):
        assert compare_new(desk.folder, desk.days) == 0
    assert desk.days.last(9) == [
        ParityDay("2026-02-01", 50, 0, 0, None),
        ParityDay("2026-01-31", 400, 0, 0, None),
    ]
    assert str(desk.days.last()[0]) == "0 of 50 differ on 2026-02-01."
    assert desk.days.read_up_to == desk.ledger.last


def test_one_bit_is_found_whether_by_a_snapshot_or_from_the_beginning(desk):
    desk.decide(100)
    desk.snapshot()
    compare_new(desk.folder, desk.days)
    desk.decide(30)
    ((features,),) = desk.ledger._database.read("SELECT features FROM entries WHERE sequence = 117")
    changed = bytes([features[0] ^ 1]) + features[1:]
    with desk.ledger._database.write() as writer:
        writer.execute("UPDATE entries SET features = :f WHERE sequence = 117", f=changed)
    assert compare_new(desk.folder, desk.days) == 1
    wanted = ParityDay("2026-01-31", 130, 1, 0, 117)
    assert desk.days.last() == [wanted]
    assert compare_day(desk.folder, date(2026, 1, 31)) == wanted
    assert compare_day(desk.folder, date(2026, 1, 30)).compared == 0
    assert str(wanted) == "1 of 130 differ on 2026-01-31; the first is row 117."


def test_a_day_is_compared_without_the_days_around_it(desk):
    for _ in range(3):
        desk.decide(40)
        desk.clock.advance("1D")
    found = compare_day(desk.folder, date(2026, 2, 1))
    assert found == ParityDay("2026-02-01", 40, 0, 0, None)


def test_what_an_erasure_has_changed_is_left_out(desk):
    desk.decide(60)
    compare_new(desk.folder, desk.days)
    desk.decide(60)
    erased = desk.ledger.erase(0, "c1", by="ann", now=desk.clock.now())
    assert erased > 0
    assert compare_new(desk.folder, desk.days) == 0
    (day,) = desk.days.last()
    assert day.compared + day.left_out == 120
    assert day.left_out > 0


def test_rows_from_before_an_entity_was_declared_are_left_out(desk):
    desk.decide(20)
    desk.decider.add_labels([("p3", True, "claim")])
    desk.folder.close()
    path = desk.folder.path
    declared = (path / "desk.toml").read_text()
    (path / "desk.toml").write_text(
        f'{declared}\n[entities.merchant]\ncolumn = "merchant"\nrisk = true\n'
    )
    with DeskFolder(path) as folder:
        schema, ledger = folder.schema, folder.open_ledger()
        decider = Decider(
            FeatureState(schema), ledger, secret=folder.secret, clock=ManualClock(NOON)
        )
        assert decider.restore() == 21
        decider.add_labels([("p4", True, "claim")])
        body = (
            b'{"id": "new", "time": "2026-01-31T11:00:00Z", "amount": 5, "card": "c1", '
            b'"terminal": "t1", "merchant": "m1"}'
        )
        decider.decide(Intake(schema).decode(body).transactions)
        days = ParityDays(folder.open_desk())
        assert compare_new(folder, days) == 0
        assert days.last() == [ParityDay("2026-01-31", 1, 0, 20, None)]
        entry = ledger.find(["p5"])["p5"]
        decider.state.erase(entry.id, entry.time, entry.amount, entry.entities, entry.body)
