"""A desk with a long history, written by SQL: millions of transactions, cases, and what is counted.

Nothing is decided, and the chain of the ledger is not computed: pages look at neither.
"""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from _desk_browser import add_person
from _desk_world import World, say

from rarefind.desk.alerts import Cases
from rarefind.desk.clock import DeskClock
from rarefind.desk.control import Control
from rarefind.desk.folder import DeskFolder
from rarefind.desk.labels import LabelHistory
from rarefind.desk.latency import LatencyDays
from rarefind.desk.ledger import Position
from rarefind.desk.ledger._tables import member_of
from rarefind.desk.measures import MeasuredRules, RuleCounts, RuleMeasures
from rarefind.desk.measures.days import Days
from rarefind.desk.measures.drift import ColumnDrift, DriftFigures
from rarefind.desk.measures.side_by_side import BIN_EDGES, Disagreement, ModelFigures, PeriodFigures
from rarefind.desk.parity import ParityDay, ParityDays

CARDS, TERMINALS, DAYS = 440_000, 20_000, 90
_DAY = 86_400 * 10**9
_PIECE = 500_000
#: Numbers from a first one up to a last one.
_NUMBERS = (
    "WITH RECURSIVE numbers (n) AS (SELECT :first UNION ALL SELECT n + 1 FROM numbers "
    "WHERE n < :last) "
)


def fill_desk(world: World, path: Path, transactions: int, cases: int, audit: int) -> None:
    """Make a desk with 100 rules, a model, two people, and all that its pages show."""
    world.make_desk(path)
    add_person(path)
    now, began = time.time_ns(), time.perf_counter()
    with DeskFolder(path) as folder:
        folder.open_ledger("process")
        features = len(folder.schema.features.names)
        control = Control.of(folder)
        models = [model.digest for model in control.models.all()]
        rules = [rule.name for rule in control.rules.all()]
        _count_days(folder, rules, models, now)
        _add_audit(folder, audit)
    with closing(_opened(path / "ledger.db")) as ledger:
        _add_entries(ledger, world, transactions, cases, features, now)
        _add_members(ledger, transactions)
    with closing(_opened(path / "desk.db")) as desk:
        _add_cases(desk, transactions, cases, now)
    say(
        f"{transactions:,} transactions and {cases:,} cases written in "
        f"{time.perf_counter() - began:.0f} s, {_size(path) / 1e9:.1f} GB"
    )


def card_name(number: int) -> str:
    """The name of a card."""
    return f"card-{number:06d}"


def _opened(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA synchronous = OFF")
    database.execute("PRAGMA cache_size = -500000")
    return database


def _size(path: Path) -> int:
    return sum(each.stat().st_size for each in path.glob("*.db*"))


def _add_entries(
    ledger: sqlite3.Connection, world: World, count: int, cases: int, features: int, now: int
) -> None:
    """Transactions of all cards in turn; the last ones have alerts, one of each of some cards."""
    row: dict[str, Any] = world.payment(world.rows[0], 0, "a" * 12, now)
    given: dict[str, Any] = {
        "step": DAYS * _DAY // count,
        "now": now,
        "count": count,
        "alerts": count - cases,
        "cards": CARDS,
        "terminals": TERMINALS,
        "digest": "a" * 64,
        "body": json.dumps(row, separators=(",", ":")).encode(),
        "features": np.random.default_rng(0).lognormal(2, 2, features).tobytes(),
    }
    for first in range(1, count + 1, _PIECE):
        ledger.execute("BEGIN")
        ledger.execute(
            "INSERT INTO entries (sequence, id, time, arrived, amount, decision, decided_by, "
            "rules, score, priority, alert, propensity, rule_book, model, entities, body, "
            "features, salt, chain) "
            f"{_NUMBERS} SELECT n, printf('t%09d', n), :now - (:count - n) * :step, "
            ":now - (:count - n) * :step, 100 + abs(random() % 100000), "
            "CASE WHEN n % 100 = 0 THEN 'deny' ELSE 'accept' END, '', "
            "CASE WHEN n > :alerts THEN '[\"rule 11\"]' ELSE '[]' END, 0.01, 0.01, "
            "CASE WHEN n > :alerts THEN 'risk' ELSE '' END, 0.001, :digest, :digest, "
            'printf(\'["card-%06d","terminal-%05d"]\', n % :cards, n % :terminals), '
            ":body, :features, randomblob(16), randomblob(32) FROM numbers",
            given | {"first": first, "last": min(first + _PIECE - 1, count)},
        )
        ledger.execute("COMMIT")
        ledger.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if (first + _PIECE - 1) % 1_000_000 == 0:
            say(f"{first + _PIECE - 1:,} transactions")


def _add_members(ledger: sqlite3.Connection, count: int) -> None:
    """Which transactions are whose: written in the order of the table."""
    ledger.execute("CREATE TEMP TABLE named (member INTEGER, number INTEGER, every INTEGER)")
    for place, every, name in ((0, CARDS, "card-{:06d}"), (1, TERMINALS, "terminal-{:05d}")):
        ledger.executemany(
            "INSERT INTO named VALUES (?, ?, ?)",
            ((member_of(place, name.format(n)), n, every) for n in range(min(every, count))),
        )
    ledger.execute("CREATE INDEX temp.named_member ON named (member, number, every)")
    ledger.execute("BEGIN")
    ledger.execute(
        f"INSERT INTO members {_NUMBERS} SELECT member, number + every * n FROM "
        "(SELECT * FROM named ORDER BY member) AS named CROSS JOIN numbers "
        "WHERE number + every * n BETWEEN 1 AND :count",
        {"first": 0, "last": count // TERMINALS + 1, "count": count},
    )
    ledger.execute("COMMIT")
    ledger.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _add_cases(desk: sqlite3.Connection, transactions: int, cases: int, now: int) -> None:
    """A case for each alert; six in ten are decided, and some are in hand or put aside."""
    draw = np.random.default_rng(0)
    priority, kind = draw.random(cases), draw.random(cases)
    first = transactions - cases + 1
    desk.execute("BEGIN")
    desk.executemany(
        "INSERT INTO cases (id, entity, state, opened, priority, kind, propensity, holder, "
        "held_until, snoozed_until, closed, verdict) VALUES (?, ?, ?, ?, ?, ?, 0.05, ?, ?, ?, ?, ?)",
        (_case(n, first + n, float(priority[n]), float(kind[n]), now) for n in range(cases)),
    )
    because = '[{"feature":"amount","text":"amount > 900","share":0.8,"value":4.4}]'
    desk.executemany(
        "INSERT INTO alerts (sequence, case_id, transaction_id, time, arrived, amount, score, "
        "priority, kind, propensity, rules, probability, reason, because) "
        "VALUES (?, ?, ?, ?, ?, 100000, 0.3, ?, 'risk', 0.0, 'rule 11', ?, 'Why.', ?)",
        (
            (first + n, n + 1, f"t{first + n:09d}", now, now, float(priority[n]),
             float(priority[n]) ** 2, because)
            for n in range(cases)
        ),
    )  # fmt: skip
    for statement in (
        "INSERT INTO verdicts (case_id, verdict, person, at, note) "
        "SELECT id, verdict, 'ann', closed, '' FROM cases WHERE verdict IS NOT NULL",
        "INSERT INTO notes (case_id, person, at, note) "
        "SELECT id, 'ann', opened, 'Called the customer.' FROM cases WHERE id % 5 = 0",
        "INSERT INTO labels (transaction_id, fraud, source, at) SELECT transaction_id, "
        "verdict = 'fraud', 'verdict', closed FROM alerts JOIN cases ON cases.id = case_id "
        "WHERE verdict IS NOT NULL",
        "INSERT INTO blocks (entity, state, note, asked, asked_by, answered, answered_by) "
        "SELECT entity, 'in force', '', closed, 'ann', closed, 'bob' FROM cases "
        "WHERE verdict = 'fraud' AND id % 4 = 0",
        "DELETE FROM read_up_to",
        f"INSERT INTO read_up_to (name, sequence, chain) VALUES ('alerts', {transactions}, '')",
    ):
        desk.execute(statement)
    desk.execute("COMMIT")


def _case(number: int, sequence: int, priority: float, kind: float, now: int) -> tuple[Any, ...]:
    state = ("open", "open", "open", "open", "decided")[number % 5 if number % 3 else 4]
    if number % 997 == 1:
        state = "taken"
    elif number % 97 == 1:
        state = "snoozed"
    closed = now - _DAY - number * 10**9 if state == "decided" else None
    return (
        number + 1,
        card_name(sequence % CARDS),
        state,
        now - number * 10**9,
        priority,
        "random" if kind < 0.05 else "risk",
        "ann" if state == "taken" else None,
        now + _DAY if state == "taken" else None,
        now + _DAY if state == "snoozed" else None,
        closed,
        None if closed is None else "fraud" if number % 3 == 0 else "genuine",
    )


def _count_days(folder: DeskFolder, rules: list[str], models: list[str], now: int) -> None:
    """What the worker would have counted of all days, rules and models."""
    database, clock = folder.open_desk(), DeskClock()
    Days(database, folder.schema, clock)  # these make their tables
    Cases(database, folder.schema, LabelHistory(database, folder.schema, clock), clock)
    days = [date.fromtimestamp(now // 10**9) - timedelta(days=back) for back in range(DAYS)]
    names = [day.isoformat() for day in days]
    with database.write() as writer:
        for name in names:
            own = {"day": name}
            writer.execute(
                "INSERT INTO day_counts VALUES (:day, 110000, 1100, 300, 30, 0, 0.001)", **own
            )
            writer.execute(
                "INSERT INTO day_labels VALUES "
                "(:day, 300, 280, 90, 95, 9500000, 30, 2, 2000.0, 2000000.0, 7200000000000, "
                "86400000000000)",
                **own,
            )
            writer.execute("INSERT INTO day_cases VALUES (:day, 300, 280, 90, 5, 2)", **own)
        for name in names:
            rows = [{"day": name, "name": each} for each in (*rules, *models)]
            writer.executemany(
                "INSERT INTO day_rules VALUES (:day, :name, 100, 12)", rows[: len(rules)]
            )
            writer.executemany(
                "INSERT INTO day_models VALUES (:day, :name, 110000, 250)", rows[len(rules) :]
            )
            writer.executemany(
                "INSERT INTO day_labels_of VALUES (:day, 'rule', :name, 10, 3)", rows[: len(rules)]
            )
            writer.executemany(
                "INSERT INTO day_labels_of VALUES (:day, 'model', :name, 200, 60)",
                rows[len(rules) :],
            )
        for number in range(28):
            midnight = datetime(
                *(days[0] - timedelta(days=35 + number)).timetuple()[:3], tzinfo=UTC
            )
            begins = int(midnight.timestamp()) * 10**9
            writer.execute(
                "INSERT INTO model_periods VALUES (:begins, :ends, :models, :figures)",
                begins=begins,
                ends=begins + _DAY,
                models=" ".join(models),
                figures=msgspec.json.encode(_period(models, number)).decode(),
            )
        drift = DriftFigures(
            now - 7 * _DAY,
            now,
            10_000,
            models[0],
            [ColumnDrift(name, 0.1, "stable", f"{name} is as it was.", 0.01)
             for name in folder.schema.features.names],
            None,
        )  # fmt: skip
        writer.execute(
            "INSERT INTO saved_figures VALUES ('drift', :now, :figures)",
            now=now,
            figures=msgspec.json.encode(drift).decode(),
        )
    latency, parity = LatencyDays(database), ParityDays(database)
    for name in names[:56]:
        latency.add(name, (0.001, 0.005, 0.01), (50_000, 50_000, 9_000, 100))
    parity.add([ParityDay(name, 110_000, 0, 0, None) for name in names], Position(1, b"\0" * 32), 0)
    measured = RuleMeasures(RuleCounts(300, 30, 250, 5, 90_000, 10_000, 20), 900, 600_000, 0, 1, 28)
    MeasuredRules(database).store(dict.fromkeys(rules, (1, measured)), now)


def _period(models: list[str], number: int) -> PeriodFigures:
    bins = len(BIN_EDGES) - 1
    figures = ModelFigures(
        0.3, 300, 280, 90, 100, 900_000, (10_000,) * bins, (100.0,) * bins, (9,) * bins
    )
    sequences = range(number * 1_000 + 1, number * 1_000 + 101)
    return PeriodFigures(
        110_000,
        95,
        3,
        dict.fromkeys(models, figures),
        [
            Disagreement(n, False, True, dict.fromkeys(models, 1), dict.fromkeys(models, 0.4))
            for n in sequences
        ],
    )


def _add_audit(folder: DeskFolder, count: int) -> None:
    audit = Control.of(folder).audit
    with folder.open_desk().write() as writer:
        for number in range(count):
            audit.add(writer, f"person {number % 40}", "sign in", f"person {number % 40}")
