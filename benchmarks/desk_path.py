"""Processor time of one transaction on its way through a desk, stage by stage.

python benchmarks/desk_path.py            # a minute
python benchmarks/desk_path.py --print    # print the figures, and write no page

Simulated payments; histories of cards and terminals over four windows with all statistics, different
terminals and countries, and the risk of terminals; 100 rules; 300 trees of depth 6 on the columns and
features; SQLite with durability ``process``. Nothing of HTTP.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pandas as pd
from _report import write

from rarefind import TableModel
from rarefind.boosting import SGBAPClassifier
from rarefind.data import simulate_transactions
from rarefind.desk import Schema
from rarefind.desk.clock import ManualClock
from rarefind.desk.control import TableDeskModel
from rarefind.desk.database import SqliteDatabase
from rarefind.desk.decision import Decider, RuleBook
from rarefind.desk.features import FeatureState
from rarefind.desk.intake import Intake
from rarefind.desk.intake.rows import table_transactions
from rarefind.desk.ledger import Ledger
from rarefind.desk.records import Transaction
from rarefind.rules import Rule

SCHEMA = """
name = "cards"
[transaction]
id = "transaction_id"
time = "time"
amount = "amount"
outcome = "outcome"
[transaction.columns]
country = "text"
card_country = "text"
ecommerce = "boolean"
merchant_category = "text"
card_type = "text"
card_limit = "number"
[entities.card]
column = "customer"
distinct = ["terminal", "country"]
[entities.terminal]
column = "terminal"
risk = true
[alerts]
entity = "card"
[limits]
ahead = "1000D"
"""
COLUMNS = ["country", "card_country", "ecommerce", "merchant_category", "card_type", "card_limit"]
TREES, DEPTH, RULES = 300, 6, 100


class Desk(NamedTuple):
    """All that a transaction meets, and the requests that come next."""

    intake: Intake
    decider: Decider
    bodies: list[bytes]


def rules(count: int = RULES) -> list[Rule]:
    """Rules of two to four conditions, as experts write them."""
    parts = [
        "amount > {a} * card_mean_30D and country != card_country and not ecommerce",
        "card_count_1h >= {b} and card_sum_1D > {a}00",
        "merchant_category in ('electronics', 'jewellery', 'games') and amount > {a}0",
        "card_since_last < {a}0 and amount_to_card_mean > {b} and ecommerce",
        "terminal_risk_7D > 0.{b} and terminal_count_7D > {a}",
        "card_distinct_country_1D >= {b} or card_distinct_terminal_1D > {a}",
        "amount > 0.{b} * card_limit and card_type = 'prepaid'",
        "night = 1 and weekend = 1 and amount > {a}0 and country not in ('FR', 'BE', 'DE')",
        "amount < 2 and ecommerce and card_count_1h >= {b}",
        "coalesce(card_mean_last_5, 0) * {a} < amount and starts_with(merchant_category, 'j')",
    ]
    texts = [parts[i % 10].format(a=3 + i // 10, b=2 + i // 20) for i in range(count)]
    return [Rule(text, name=f"r{i}", weight=0.5) for i, text in enumerate(texts)]


def fitted(state: FeatureState, table: pd.DataFrame, made: list[Transaction]) -> TableModel:
    """A model of the columns and of the features as of arrival."""
    known = np.array([_described(state, each) for each in made])
    frame = pd.DataFrame(known, columns=state.names)
    for name in COLUMNS:
        frame[name] = table[name].to_numpy()
    frame["fraud"] = table["fraud"].to_numpy()
    trees = SGBAPClassifier(n_estimators=TREES, max_depth=DEPTH, random_state=0, n_jobs=1)
    return TableModel(trees, target="fraud").fit(frame)


def _described(state: FeatureState, transaction: Transaction) -> Any:
    found = state.describe(transaction)
    state.add(transaction)
    return found


def open_desk(folder: Path, cards: int, sent: int, rows: int = 20_000) -> Desk:
    """A desk whose histories are warm, and so many further requests."""
    schema = Schema.from_text(SCHEMA)
    table = simulate_transactions(cards, max(cards // 2, 50), 35, details=True, rate=1 / 200)
    intake, state = Intake(schema), FeatureState(schema)
    warm, last = table.iloc[: len(table) - sent], table.iloc[-sent:]
    made = list(table_transactions(warm, intake))
    for each in made[:-rows]:
        state.add(each)
    model = fitted(state, warm.iloc[-rows:], made[-rows:])
    clock = ManualClock(made[-1].time)
    database = SqliteDatabase(folder / "ledger.db", journal="wal", durability="process")
    decider = Decider(state, Ledger(database, writes=True), secret=b"s", clock=clock)
    own = rules()
    decider.rules = RuleBook(own[:20], own[20:80], own[80:])
    decider.model = TableDeskModel("m" * 64, model, 0.5)
    bodies = [each.body for each in table_transactions(last, intake)]
    return Desk(intake, decider, bodies)


class Stopwatch:
    """Adds up the processor time of methods while they are called where they belong."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.calls = 0
        begin = time.process_time()
        for _ in range(10_000):
            time.process_time()
        self._own = (time.process_time() - begin) / 10_000

    def around(self, thing: Any, name: str, stage: str) -> None:
        """Measure a method of one object from now on."""
        work = getattr(thing, name)
        self.seconds.setdefault(stage, 0.0)

        def timed(*given: Any, **named: Any) -> Any:
            begin = time.process_time()
            found = work(*given, **named)
            self.seconds[stage] += time.process_time() - begin - self._own
            self.calls += 1
            return found

        setattr(thing, name, timed)

    @property
    def own(self) -> float:
        """What it took itself, in seconds."""
        return 2 * self.calls * self._own


def microseconds(work: Callable[[Any], Any], given: Sequence[Any]) -> float:
    """Processor time of one call."""
    begin = time.process_time()
    for each in given:
        work(each)
    return 1e6 * (time.process_time() - begin) / len(given)


def measure(desk: Desk) -> dict[str, float]:
    """The whole way of half of the requests, then of the others with each stage apart."""
    decider, bodies = desk.decider, desk.bodies
    half = len(bodies) // 2
    encode = msgspec.json.Encoder().encode

    def whole(body: bytes) -> bytes:
        return encode(decider.decide(desk.intake.decode(body).transactions)[0])

    for body in bodies[:200]:  # what is compiled is compiled now
        whole(body)
    total = microseconds(whole, bodies[200:half])
    watch = Stopwatch()
    watch.around(desk.intake, "decode", "decode")
    watch.around(decider.ledger, "find", "find a duplicate")
    watch.around(decider.state, "describe", "describe")
    watch.around(decider.rules, "fire", f"{RULES} rules")
    watch.around(decider.model, "score", f"model ({TREES} trees of depth {DEPTH})")
    watch.around(decider.state, "add", "add to the histories")
    watch.around(decider.ledger, "append", "append and commit")
    watched = microseconds(whole, bodies[half:])
    assert not decider.rules.failures
    assert not decider.model_failures
    scale = 1e6 / (len(bodies) - half)
    found = {name: scale * spent for name, spent in watch.seconds.items()}
    rest = watched - scale * watch.own - sum(found.values())
    return found | {"record, outcome, answer": rest, "the whole way, without a stopwatch": total}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cards", type=int, default=5_000)
    parser.add_argument("--sent", type=int, default=6_000)
    parser.add_argument("--print", action="store_true", help="write no page")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(open_desk(Path(folder), given.cards, given.sent))
    if given.print:
        for name, value in found.items():
            print(f"{name:40} {value:8.1f}")
        return
    table = pd.DataFrame(
        {"stage": list(found), "processor µs": [f"{v:.1f}" for v in found.values()]}
    )
    text = (
        f"One transaction at a time, of {given.cards:,} cards with a month of history: processor time "
        "of each stage, and of the whole way from the bytes of a request to those of its answer, "
        "committed (durability `process`). Nothing of HTTP."
    )
    write("desk_path", "python benchmarks/desk_path.py", [(text, table)])


if __name__ == "__main__":
    main()
