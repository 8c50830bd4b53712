"""How long it takes to try a rule on the last weeks of a desk, on one core.

    python benchmarks/desk_try_rule.py [--rows 1000000] [--rules 30]

The ledger is real, its transactions are drawn; the history is made from it by the worker's own
keeper. Writes benchmarks/results/desk_try_rule.md.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

os.environ["POLARS_MAX_THREADS"] = "1"
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import msgspec
import numpy as np
import pandas as pd
from _report import write

from rarefind.desk import Schema
from rarefind.desk.api.logs import Log
from rarefind.desk.clock import ManualClock
from rarefind.desk.control import Control
from rarefind.desk.folder import DeskFolder
from rarefind.desk.intake import Intake
from rarefind.desk.labels import LabelHistory
from rarefind.desk.measures import History, HistoryKeeper, Others, RipeLabels, try_rule
from rarefind.desk.records import Entry, Outcome

DAY = 86_400 * 10**9
START = 1_769_860_800 * 10**9
GROUP = 5_000
SCHEMA = Schema.from_text(
    """
name = "cards"
[transaction]
id = "id"
time = "time"
amount = "amount"
[transaction.columns]
country = "text"
card_country = "text"
ecommerce = "boolean"
[entities.card]
column = "card"
[entities.terminal]
column = "terminal"
risk = true
[alerts]
entity = "card"
"""
)
TRIED = {
    "one number": "amount > 900",
    "the example of seed 001": (
        "amount > 5 * card_mean_30D and country != card_country and ecommerce = false"
    ),
    "texts and a time": "country in ('US', 'BR') and hour(time) < 5 and lower(card_country) = 'fr'",
    "ten parts": (
        "(amount > 500 or card_count_1D > 6) and card_sum_7D > 800 and terminal_count_1h > 2 and "
        "coalesce(card_since_last, 0) < 3600 and country != 'FR' and not ecommerce and "
        "card_max_30D < amount and terminal_mean_7D > 20 and card_min_7D < 50"
    ),
}


def entries(first: int, count: int, total: int) -> list[Entry]:
    """Transactions of sixty days, whose features are drawn."""
    draw = np.random.default_rng(first)
    names = SCHEMA.features.names
    features = draw.lognormal(2, 2, (count, len(names)))
    features[draw.random(features.shape) < 0.05] = np.nan
    amounts = draw.integers(1, 100_000, count).tolist()
    countries = draw.choice(["FR", "US", "BR", "DE"], (count, 2)).tolist()
    found = []
    for n in range(count):
        at = START + 60 * DAY * (first + n) // total // 1_000 * 1_000
        card, terminal = f"card {draw.integers(440_000)}", f"terminal {draw.integers(20_000)}"
        sent = {
            "id": f"payment {first + n:012d}",
            "time": pd.Timestamp(at, tz="UTC").isoformat(),
            "amount": amounts[n] / 100,
            "card": card,
            "terminal": terminal,
            "country": countries[n][0],
            "card_country": countries[n][1],
            "ecommerce": bool(n % 3),
        }
        outcome = Outcome("accept", "", (), 0.25, 0.25, "", 0.001, "a" * 64, "b" * 64)
        found.append(
            Entry(
                first + n,
                str(sent["id"]),
                at,
                at,
                amounts[n],
                (card, terminal),
                msgspec.json.encode(sent),
                features[n].astype("<f8").tobytes(),
                outcome,
            )
        )
    return found


def timed(work) -> tuple[float, object]:
    begin = time.perf_counter()
    found = work()
    return time.perf_counter() - begin, found


def main() -> None:
    """Make a desk, and try rules on it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rules", type=int, default=30)
    asked = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as name,
        DeskFolder.create(Path(name) / "desk", SCHEMA) as folder,
    ):
        ledger, database = folder.open_ledger("process"), folder.open_desk()
        for first in range(1, asked.rows + 1, GROUP):
            ledger.append(entries(first, min(GROUP, asked.rows + 1 - first), asked.rows))
            ledger.idle()
        clock = ManualClock(START + 75 * DAY)
        control = Control(database, SCHEMA, folder.models, clock)
        for number in range(asked.rules):
            text = f"amount > {900 + number} and card_count_7D > {number} and country = 'US'"
            control.rules.save(f"rule {number}", text, "ann", role="scoring")
        labels = LabelHistory(database, SCHEMA, clock)
        frauds = [f"payment {n:012d}" for n in range(700, asked.rows, 700)]
        with database.write() as writer:
            labels.add(writer, frauds, "fraud", "verdict")
        reader = folder.read_ledger()
        keeper = HistoryKeeper(folder.history, reader, Intake(SCHEMA), clock, Log("worker"))

        def keep() -> None:
            while keeper.run():
                continue

        kept, _ = timed(keep)
        size = sum(path.stat().st_size for path in folder.history.iterdir())
        history = History(folder.history, SCHEMA, reader, RipeLabels(labels), clock)
        others = Others(control)
        rows = [_row("the first of a process", TRIED["one number"], control, history, others)]
        rows += [_row(what, text, control, history, others) for what, text in TRIED.items()]
        control.rules.save("rule 0", "amount > 990", "ann")
        rows.append(_row("after a rule was changed", TRIED["one number"], control, history, others))
        parts = [
            (
                f"{asked.rows:,} transactions of 60 days, {len(SCHEMA.features.names)} features, "
                f"{asked.rules} rules in force, {len(frauds):,} frauds; one core, one thread. The "
                f"history was made from the ledger in {kept:,.0f} s "
                f"({1e6 * kept / asked.rows:.0f} µs a row), and has {size / asked.rows:,.0f} bytes "
                "a row. A try counts all measures, what the rule adds to the others, and the "
                "first 20 cases.",
                pd.DataFrame(rows),
            )
        ]
    command = f"python benchmarks/desk_try_rule.py --rows {asked.rows} --rules {asked.rules}"
    write("desk_try_rule", command, parts)


def _row(what, text, control, history, others) -> dict[str, object]:
    rule = control.rules.check(text)
    seconds, trial = timed(lambda: try_rule(rule, history, others))
    return {
        "a try": what,
        "seconds": f"{seconds:.2f}",
        "alerts": f"{trial.measures.counts.alerts:,}",
        "hits": f"{trial.measures.counts.hits:,}",
        "adds": f"{trial.measures.counts.added:,}",
    }


if __name__ == "__main__":
    main()
