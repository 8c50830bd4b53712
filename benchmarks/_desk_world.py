"""The desk of the benchmark: simulated payments, 100 rules, an SGBAP model, cards with a history."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
from msgspec.structs import replace

import rarefind
from rarefind import TableModel
from rarefind.boosting import SGBAPClassifier
from rarefind.data import simulate_transactions
from rarefind.data.feature_table import feature_table
from rarefind.desk import Schema
from rarefind.desk.api.tokens import Tokens
from rarefind.desk.clock import DeskClock
from rarefind.desk.control import Control
from rarefind.desk.database import SqliteDatabase
from rarefind.desk.folder import DeskFolder
from rarefind.desk.intake import Intake
from rarefind.desk.intake.guess import guess_schema
from rarefind.desk.intake.rows import table_transactions
from rarefind.desk.ledger import Ledger
from rarefind.desk.records import Entry, Outcome
from rarefind.desk.torture.trial_desk import TrialDesk

CARDS = 440_000
_CUSTOMERS, _DAYS, _TRAINED = 5_000, 40, 60_000
_GROUP = 20_000
_FRAUD = ("fraud", "fraud_kind", "claimed_at")


class World:
    """Payments to draw from, and the model that was fitted to them; made once in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.table = self._simulated()
        found = guess_schema(self.table.drop(columns=["fraud_kind"]), "bench").schema
        # One token sends everything.
        self.schema: Schema = replace(found, limits=replace(found.limits, rate=0))
        self.model = folder / "sgbap.rarefind"
        if not self.model.exists():
            self._fit()
        intake = Intake(self.schema)
        last = self.table[self.table["time"] >= self.table["time"].max() - pd.Timedelta("4D")]
        self.rows: list[dict[str, Any]] = [
            msgspec.json.decode(each.body) for each in table_transactions(last, intake)
        ]
        self._own = self.schema.transaction
        self._card, self._terminal = (each.column for each in self.schema.entities.values())
        self.customers = len({row[self._card] for row in self.rows})

    def _simulated(self) -> pd.DataFrame:
        path = self.folder / "payments.parquet"
        if not path.exists():
            say(f"Simulating {_DAYS} days of {_CUSTOMERS:,} customers")
            simulate_transactions(
                _CUSTOMERS, 2 * _CUSTOMERS, _DAYS, rate=1 / 700, details=True
            ).to_parquet(path)
        return pd.read_parquet(path)

    def _fit(self) -> None:
        say("Fitting SGBAP to the desk's features")
        described = feature_table(self.table, self.schema.features, label="fraud")
        extra = list(self.schema.transaction.columns)
        own = [name for name in extra if name not in described.columns]
        rows = described.join(self.table[[*own, "fraud"]]).iloc[len(described) // 2 :]
        genuine = rows[rows["fraud"] == 0].sample(_TRAINED, random_state=0)
        rows = pd.concat([rows[rows["fraud"] == 1], genuine]).sort_index()
        model = TableModel(SGBAPClassifier(random_state=0), target="fraud").fit(rows)
        rarefind.save(model, self.model)

    def make_desk(self, path: Path, budget: int | None = None) -> TrialDesk:
        """A new desk with the rules and the model, and so many checks a day."""
        shutil.rmtree(path, ignore_errors=True)
        schema = self.schema
        if budget is not None:
            schema = replace(schema, alerts=replace(schema.alerts, budget=budget))
        with DeskFolder.create(path, schema) as folder:
            control = Control.of(folder)
            control.lists.save("risky", ["XX", "YY"], "bench")
            for name, text, role in hundred_rules(self._card, self._terminal):
                control.rules.save(name, text, "bench", role=role, weight=0.1)
            model = control.models.add(self.model, "bench")
            control.models.promote(model.digest, "bench")
            token = Tokens(folder.open_desk()).make("bench", "ingest", DeskClock().now())
        return TrialDesk(path, schema, token)

    def bodies(self, times: Iterator[int], prefix: str, seed: int = 0) -> Iterator[bytes]:
        """Payments of all cards at these times, in no order of cards.

        Two may have one time, to the nanosecond: identifiers are counted.
        """
        encode, numbers = msgspec.json.Encoder().encode, count()
        draw = np.random.default_rng(seed)
        replicas = -(-CARDS // self.customers)
        while True:
            picked = draw.integers(len(self.rows), size=10_000).tolist()
            copies = draw.integers(replicas, size=10_000).tolist()
            for row, copy in zip(picked, copies, strict=True):
                at = next(times, None)
                if at is None:
                    return
                yield encode(self.payment(self.rows[row], copy, f"{prefix}{next(numbers)}", at))

    def payment(self, row: dict[str, Any], copy: int, id: str, at: int) -> dict[str, Any]:
        """A payment like one of the table, with a copy of its card and at another time."""
        return row | {
            self._own.id: id,
            self._own.time: f"{np.datetime64(at // 1_000, 'us')}Z",
            self._card: f"{row[self._card]}-{copy}",
            self._terminal: f"{row[self._terminal]}-{copy % 8}",
        }

    def cards_of(self, rows: int) -> int:
        """How many cards a history of so many rows has."""
        replicas = -(-CARDS // self.customers)
        used = self.rows[: -(-rows // replicas)]
        return min(rows, len({row[self._card] for row in used}) * replicas)

    def fill(self, path: Path, rows: int, days: float) -> dict[str, float]:
        """Write a history into the ledger of a desk that is not running, with its own code.

        Times are spread evenly over the days until now. Features and outcomes are not computed:
        nothing reads them when a desk is started.
        """
        now = time.time_ns()
        step = int(days * 86_400e9 / rows)
        features = bytes(8 * len(self.schema.features.names))
        outcome = Outcome("accept", "", (), 0.01, 0.01, "", 0.001, "a" * 64, "b" * 64)
        began = time.perf_counter()
        replicas, encode = -(-CARDS // self.customers), msgspec.json.Encoder().encode
        scale = 10**self._own.minor_units
        with DeskFolder(path) as folder:
            ledger = folder.open_ledger("process")
            for first in range(0, rows, _GROUP):
                entries = []
                for number in range(first, min(first + _GROUP, rows)):
                    # All cards in turn, so that each has its share of the history.
                    row = self.rows[number // replicas % len(self.rows)]
                    at, id = now - (rows - number) * step, f"h{number:09}"
                    made = self.payment(row, number % replicas, id, at)
                    entities = (made[self._card], made[self._terminal])
                    amount, body = round(made[self._own.amount] * scale), encode(made)
                    entries.append(
                        Entry(number + 1, id, at, at, amount, entities, body, features, outcome)
                    )
                ledger.append(entries)
                if (first + _GROUP) % 1_000_000 == 0:
                    spent = time.perf_counter() - began
                    say(f"{first + _GROUP:,} rows of history, {spent:.0f} s")
            ledger.idle()
        seconds = time.perf_counter() - began
        return {"rows": rows, "seconds": seconds, "bytes a row": _size(path) / rows}


def hundred_rules(card: str, terminal: str) -> Iterator[tuple[str, str, Any]]:
    """Rules as experts write them: 10 that deny, 60 that raise alerts, 30 that are watched."""
    shapes = (
        "amount > {a} * {card}_mean_30D and country != card_country and not ecommerce",
        "{card}_count_1h > {b} and amount > {c}",
        "ecommerce and {card}_distinct_country_1D > {b} and amount > {card}_max_7D",
        "{terminal}_risk_7D > 0.{b} and amount > {c}",
        "amount > card_limit / {a} and {card}_since_last < {c}",
        "upper(country) in list('risky') and amount > {c}",
        "merchant_category = 'travel' and {card}_mean_last_5 * {a} < amount",
        "{card}_sum_1D > {c} * 40 and {card}_distinct_terminal_1D > {b}",
        "amount = 0 and ecommerce and {card}_count_1D > {a}",
        "amount > {c} * 10 and {card}_count_30D < {b}",
    )
    for number in range(100):
        text = shapes[number % len(shapes)].format(
            a=20 + number, b=5 + number % 5, c=300 + 10 * number, card=card, terminal=terminal
        )
        role = "blocking" if number < 10 else "scoring" if number < 70 else "shadow"
        yield f"rule {number}", text, role


def copy_ledger(source: Path, target: Path) -> None:
    """Give a desk the ledger of another one with the same schema, as if it were its own."""
    own = SqliteDatabase(target / "ledger.db", journal="wal")
    about = own.read("SELECT desk, declared, version FROM about")
    own.close()
    for name in ("ledger.db", "ledger.db-wal", "ledger.db-shm"):
        (target / name).unlink(missing_ok=True)
    shutil.copyfile(source / "ledger.db", target / "ledger.db")
    own = SqliteDatabase(target / "ledger.db", journal="wal")
    with own.write() as writer:
        desk, declared, version = about[0]
        writer.execute(
            "UPDATE about SET desk = :desk, declared = :declared, version = :version",
            desk=desk,
            declared=declared,
            version=version,
        )
    own.checkpoint()
    own.close()
    with DeskFolder(target) as folder:
        assert isinstance(folder.read_ledger(), Ledger)


def _size(path: Path) -> int:
    return sum(each.stat().st_size for each in path.glob("ledger.db*"))


def say(what: str) -> None:
    """Show what is done, with the time."""
    print(f"{time.strftime('%H:%M:%S')} {what}", flush=True)
