"""A desk that is stopped anywhere knows afterwards what one knows that was never stopped."""

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind.desk import Schema
from rarefind.desk.clock import ManualClock
from rarefind.desk.database import SqliteDatabase
from rarefind.desk.decision import Decider
from rarefind.desk.decision.memory import make_snapshot, open_memory
from rarefind.desk.decision.upkeep import Upkeep
from rarefind.desk.features import FeatureState
from rarefind.desk.features.snapshots import snapshot_files
from rarefind.desk.intake import Intake
from rarefind.desk.ledger import Ledger

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
windows = ["1h", "1D"]
distinct = ["terminal", "country"]
[entities.terminal]
column = "terminal"
windows = ["1D"]
risk = true
distinct = ["card"]
[labels]
delay = "1D"
[limits]
late = "1D"
[retention]
days = 5
[alerts]
entity = "card"
per = "hour"
random_share = 0.5
"""
SCHEMA = Schema.from_text(TEXT)
INTAKE = Intake(SCHEMA)
NOON = 1_769_860_800  # 2026-01-31T12:00:00Z
HOUR = 3_600
_DAY = 86_400 * 10**9


def payment(number, hours, card="c1", terminal="t1", country=None, amount=5):
    sent = np.datetime64(NOON + int(hours * HOUR), "s")
    country = "null" if country is None else f'"{country}"'
    body = (
        f'{{"id": "p{number}", "time": "{sent}Z", "amount": {amount}, "card": "{card}", '
        f'"terminal": "{terminal}", "country": {country}}}'
    )
    return INTAKE.decode(body.encode()).transactions[0]


class Desk:
    """A desk whose clock goes with its newest payment, and that can be stopped and started."""

    def __init__(self, folder):
        self.folder = folder
        self.clock = ManualClock(NOON * 10**9)
        self.path = folder / "ledger.db"
        self.ledger = Ledger(
            SqliteDatabase(self.path, journal="wal", durability="process"), writes=True
        )
        self.decider = self.fresh()
        self.sent = 0

    def fresh(self):
        return Decider(FeatureState(SCHEMA), self.ledger, secret=b"s", clock=self.clock)

    @property
    def decider(self):
        return self._decider

    @decider.setter
    def decider(self, decider):
        self._decider, self.upkeep = decider, Upkeep(decider)

    def pay(self, hours, *rest):
        self.clock.set(max(self.clock.now(), (NOON + int(hours * HOUR)) * 10**9))
        self.decider.decide([payment(self.sent, hours, *rest)])
        self.sent += 1

    def label(self, number, fraud):
        self.decider.add_labels([(f"p{number}", fraud, "verdict")])

    def erase(self, entity, key):
        while self.upkeep.erase(entity, key, by="anna", order=1):
            continue

    def forget(self):
        self.upkeep.forget()

    def retain(self):
        while self.upkeep.delete_old():
            continue

    def snapshot(self):
        with closing(SqliteDatabase(self.path, read_only=True)) as database:
            reader = Ledger(database, writes=False)
            return make_snapshot(SCHEMA, b"s", reader, self.folder, self.clock.now())

    def restart(self, snapshots=True):
        """Another desk of the same ledger, which has read what there is."""
        other = self.fresh()
        other.restore(self.folder if snapshots else None)
        return other

    def close(self):
        self.ledger.close()


CARDS, TERMINALS = st.sampled_from(["c1", "c2", "c3"]), st.sampled_from(["t1", "t2"])
STEPS = st.one_of(
    st.tuples(
        st.just("pay"),
        st.integers(0, 8 * 24),
        CARDS,
        TERMINALS,
        st.sampled_from([None, "FR", "BE"]),
        st.integers(0, 9),
    ),
    st.tuples(st.just("pay"), st.integers(0, 30), CARDS, TERMINALS),
    st.tuples(st.just("label"), st.integers(0, 30), st.sampled_from([True, False, None])),
    st.tuples(st.just("erase"), st.just(0), CARDS),
    st.tuples(st.just("erase"), st.just(1), TERMINALS),
    st.tuples(st.just("forget")),
    st.tuples(st.just("retain")),
    st.tuples(st.just("snapshot")),
)


@given(st.lists(STEPS, max_size=40))
@settings(max_examples=60)
def test_a_desk_that_was_stopped_goes_on_as_one_that_was_not(steps):
    with TemporaryDirectory() as folder, closing(Desk(Path(folder))) as desk:
        for step, *values in steps:
            getattr(desk, step)(*values)
        newest = desk.decider.state.newest // 10**9
        hours = 0 if newest < 0 else (newest - NOON) / HOUR
        later = [
            payment(f"new{i}", hours + at, card, terminal, "FR", 3)
            for i, (at, card, terminal) in enumerate(
                [(-24, "c1", "t1"), (-3, "c2", "t2"), (0, "c1", "t2"), (2, "c3", "t1")]
            )
        ]
        deciders = [desk.decider, desk.restart(), desk.restart(snapshots=False)]
        found = []
        for decider in deciders:
            prepared = decider.prepare(later)
            found.append((prepared.answers, prepared.entries))
            decider.abort(prepared)
        assert found[0] == found[1] == found[2]
        assert desk.ledger.verify().is_whole


@pytest.fixture
def desk(tmp_path):
    with closing(Desk(tmp_path)) as desk:
        for n in range(40):
            desk.pay(n, f"c{n % 3}", f"t{n % 2}", "FR", n)
        yield desk


def test_a_start_reads_the_snapshot_and_only_the_rows_after_it(desk):
    assert desk.snapshot() is not None
    assert desk.snapshot() is None, "nothing has happened since"
    desk.pay(41)
    memory, restart = open_memory(SCHEMA, b"s", desk.ledger, desk.folder)
    assert restart.snapshot == memory.sequence == 40
    assert memory.follow(desk.ledger) == 1
    assert not restart.passed_over


def test_two_snapshots_are_kept(desk):
    for hours in range(41, 44):
        desk.pay(hours)
        desk.snapshot()
    assert [int(each.stem) for each in snapshot_files(desk.folder)] == [43, 42]
    assert all(each.stat().st_mode & 0o077 == 0 for each in snapshot_files(desk.folder))


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda content: b"", "does not begin"),
        (lambda content: content[: len(content) // 2], "does not fit its digest"),
        (lambda content: content[:300] + b"x" + content[301:], "does not fit its digest"),
        (lambda content: b"x" * len(content), "does not begin"),
    ],
)
def test_a_damaged_snapshot_is_passed_over(desk, damage, why):
    path = desk.snapshot()
    desk.pay(41)
    newer = desk.snapshot()
    newer.write_bytes(damage(newer.read_bytes()))
    memory, restart = open_memory(SCHEMA, b"s", desk.ledger, desk.folder)
    assert memory.sequence == int(path.stem) == 40
    assert why in restart.passed_over[newer.name]


def test_a_snapshot_of_another_ledger_is_passed_over(desk, tmp_path):
    desk.snapshot()
    (tmp_path / "other").mkdir()
    with closing(Desk(tmp_path / "other")) as other:
        for n in range(50):
            other.pay(n)
        memory, restart = open_memory(SCHEMA, b"s", other.ledger, desk.folder)
    assert memory.sequence == 0
    assert list(restart.passed_over.values()) == ["the row it was made at is not in this ledger"]


def test_a_snapshot_of_other_features_is_passed_over(desk):
    desk.snapshot()
    changed = Schema.from_text(TEXT.replace('"1h", "1D"', '"2h", "1D"'))
    _, restart = open_memory(changed, b"s", desk.ledger, desk.folder)
    assert list(restart.passed_over.values()) == [
        "the settings say something else about features now"
    ]


def test_who_was_erased_does_not_come_back_from_a_snapshot(desk):
    desk.pay(41, "5500-0000-0000-0004")
    path = desk.snapshot()
    assert b"5500-0000-0000-0004" in path.read_bytes()
    desk.erase(0, "5500-0000-0000-0004")
    assert b"5500" not in b"".join(
        array.tobytes() for array in desk.decider.state.to_arrays().values()
    )
    _, restart = open_memory(SCHEMA, b"s", desk.ledger, desk.folder)
    assert list(restart.passed_over.values()) == ["somebody was erased after it was made"]
    assert b"5500-0000-0000-0004" not in desk.snapshot().read_bytes()


def test_what_was_deleted_by_age_is_not_remembered(desk):
    desk.snapshot()
    desk.pay(9 * 24, "c9")
    desk.retain()
    assert desk.ledger.deleted().sequence == 40
    assert b"c1" not in desk.decider.state.to_arrays()["names_0"].tobytes()
    again = desk.restart()
    assert again.state.newest == desk.decider.state.newest
    counted = [each.share.to_arrays()["share_counts"].sum() for each in (desk.decider, again)]
    assert counted == [41, 41], "the random share knows how many there were"


def test_a_terminal_remembers_an_older_payment_when_one_is_erased(tmp_path):
    """The last five of a terminal are looked at; of old ones no more than these are remembered."""
    with closing(Desk(tmp_path)) as desk:
        for n in range(10):
            desk.pay(n, f"c{n}", "t1", None, n)
        desk.pay(84, "c11", "t9")
        assert desk.decider.state.forget() > 0
        desk.erase(0, "c8")
        (entry,) = desk.decider.prepare([payment("new", 84, "c12", "t1", None, 1)]).entries
        (again,) = desk.restart().prepare([payment("new", 84, "c12", "t1", None, 1)]).entries
    assert entry == again
    found = dict(zip(desk.decider.state.names, np.frombuffer(entry.features), strict=True))
    assert found["terminal_mean_last_5"] == (5 + 6 + 7 + 9 + 1) / 5


def test_an_entity_that_is_declared_later_begins_without_a_history(desk):
    more = Schema.from_text(
        TEXT.replace("[labels]", '[entities.shop]\ncolumn = "shop"\nwindows = ["1D"]\n[labels]')
    )
    assert more.added_since(SCHEMA) == ("shop",)
    desk.snapshot()
    decider = Decider(FeatureState(more), desk.ledger, secret=b"s", clock=desk.clock)
    assert decider.restore(desk.folder) == 40, "the snapshot is of other features"
    body = (
        f'{{"id": "new", "time": "{np.datetime64(NOON + 40 * HOUR, "s")}Z", "amount": 1, '
        '"card": "c1", "terminal": "t1", "shop": "s1"}'
    )
    found = dict(
        zip(
            decider.state.names,
            decider.state.describe(Intake(more).decode(body.encode()).transactions[0]),
            strict=True,
        )
    )
    assert found["shop_count_1D"] == 1
    assert found["card_count_1D"] > 1


def test_entities_in_another_order_are_refused():
    card, terminal = TEXT.index("[entities.card]"), TEXT.index("[entities.terminal]")
    end = TEXT.index("[labels]")
    turned = Schema.from_text(TEXT[:card] + TEXT[terminal:end] + TEXT[card:terminal] + TEXT[end:])
    with pytest.raises(ValueError, match="in another order"):
        turned.added_since(SCHEMA)
