"""Features as a desk stored them beside those of the whole table as of arrival: how many differ.

python benchmarks/desk_parity.py                 # a million transactions, some minutes
python benchmarks/desk_parity.py --rows 20000

Simulated payments are sent through the door and the decider of a desk with a ledger in a temporary
folder: 5 % of them late by up to a week, 1 % out of order, 2 % twice, in batches of different
sizes, with labels that become known in between. Every stored feature is then compared, bit for bit,
with ``transaction_features(..., arrival=, known_at=)`` of the same payments.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pandas as pd

from rarefind.data import simulate_transactions, transaction_features
from rarefind.desk import Schema
from rarefind.desk.clock import ManualClock
from rarefind.desk.database import SqliteDatabase
from rarefind.desk.decision import Decider
from rarefind.desk.features import FeatureState
from rarefind.desk.intake import Intake
from rarefind.desk.ledger import Ledger
from rarefind.desk.records import Answer, Entry

SCHEMA = """
name = "cards"
[transaction]
id = "transaction_id"
time = "time"
amount = "amount"
[transaction.columns]
country = "text"
[entities.customer]
column = "customer"
distinct = ["terminal", "country"]
[entities.terminal]
column = "terminal"
ratio = false
risk = true
[labels]
delay = "5D"
[alerts]
entity = "customer"
"""
LATE, TWICE, OUT_OF_ORDER = 0.05, 0.02, 0.01
#: Of genuine payments somebody says so, which changes nothing.
CLEARED = 0.01
ROWS = 1_000_000
COLUMNS = ["transaction_id", "time", "amount", "country", "customer", "terminal"]
# What happens to a payment.
ARRIVES, COMES_AGAIN, IS_LABELLED = range(3)
_SECOND, _DAY = 10**9, 86_400 * 10**9
_PIECE = 10_000
# After so many events, the histories of so many entities are swept of what is too old to count.
_SWEEP, _SWEPT = 200, 500


class Parity(NamedTuple):
    """What was sent, and how much of what was stored differs."""

    rows: int
    late: int
    out_of_order: int
    twice: int
    labels: int
    #: Entries that the histories no longer had at the end: too old to count.
    forgotten: int
    stored: int
    features: int
    #: Rows with a feature that differs, and rows that are not stored exactly once.
    differ: int
    not_once: int


class Events(NamedTuple):
    """What reaches the desk, in its order: a row of the table each."""

    kind: Any
    row: Any
    when: Any


def payments(rows: int, seed: int) -> pd.DataFrame:
    """So many simulated payments, in order of time, with texts as a desk takes them."""
    customers = int(np.clip(rows // 200, 60, 5_000))
    days = int(rows / customers / 1.4) + 5
    radius = max(5.0, 300 / customers**0.5)  # so that a small world, too, has terminals near homes
    made = simulate_transactions(
        customers, 2 * customers, days, radius=radius, details=True, rate=1 / 100, random_state=seed
    )
    table = made.iloc[:rows].reset_index(drop=True)
    if len(table) < rows:
        raise ValueError(f"Only {len(table):,} of {rows:,} payments were made.")
    for name in ("transaction_id", "customer", "terminal"):
        table[name] = table[name].astype(str)
    return table


def events(table: pd.DataFrame, rng: np.random.Generator) -> tuple[Events, dict[str, Any]]:
    """Each payment once, some again, labels after them; and which rows were late or out of order."""
    n = len(table)
    made = table["time"].to_numpy().astype("datetime64[ns]").astype(np.int64)
    drawn = rng.random(n)
    late, odd = drawn < LATE, (drawn >= LATE) & (drawn < LATE + OUT_OF_ORDER)
    arrives = made + np.where(late, rng.integers(300 * _SECOND, int(6.9 * _DAY), n), 0)
    arrives += np.where(odd, rng.integers(_SECOND, 300 * _SECOND, n), 0)
    twice = np.flatnonzero(rng.random(n) < TWICE)
    again = arrives[twice] + rng.choice([0, _SECOND, _DAY], len(twice))
    fraud = table["fraud"].to_numpy() == 1
    labelled = np.flatnonzero((fraud & (rng.random(n) < 0.9)) | (rng.random(n) < CLEARED))
    known = arrives[labelled] + rng.integers(_SECOND, 12 * _DAY, len(labelled))
    kind = np.repeat([ARRIVES, COMES_AGAIN, IS_LABELLED], [n, len(twice), len(labelled)])
    row = np.concatenate([np.arange(n), twice, labelled])
    when = np.concatenate([arrives, again, known])
    order = np.lexsort((kind, when))
    counts = {"late": int(late.sum()), "out_of_order": int(odd.sum())}
    counts |= {"twice": len(twice), "labels": len(labelled)}
    return Events(kind[order], row[order], when[order]), counts


def send(table: pd.DataFrame, sent: Events, ledger: Ledger, rng: np.random.Generator) -> int:
    """Let all of it reach a desk, in batches of different sizes; returns what it forgot by then."""
    schema = Schema.from_text(SCHEMA)
    intake, clock = Intake(schema), ManualClock(0)
    decider = Decider(FeatureState(schema), ledger, secret=b"s", clock=clock)
    encode = msgspec.json.Encoder().encode
    columns = [table[name].tolist() for name in COLUMNS]
    columns[1] = table["time"].dt.strftime("%Y-%m-%dT%H:%M:%SZ").tolist()
    fraud, ids = (table["fraud"] == 1).tolist(), columns[0]
    sizes = rng.integers(1, 33, len(sent.row)).tolist()
    labels = (sent.kind == IS_LABELLED).tolist()
    rows, whens = sent.row.tolist(), sent.when.tolist()
    begin = forgotten = 0
    while begin < len(rows):
        end = min(begin + sizes[begin], len(rows))
        end = next((i for i in range(begin, end) if labels[i] != labels[begin]), end)
        clock.set(whens[end - 1])
        batch = rows[begin:end]
        if labels[begin]:
            added = decider.add_labels([(ids[row], fraud[row], "verdict") for row in batch])
            assert added == len(batch)
        else:
            body = encode(
                [dict(zip(COLUMNS, (c[row] for c in columns), strict=True)) for row in batch]
            )
            answers = decider.decide(intake.decode(body).transactions)
            assert all(isinstance(each, Answer) for each in answers)
        if begin // _SWEEP < end // _SWEEP:  # as a desk does in idle times
            forgotten += decider.state.forget(_SWEPT)
            ledger.idle()
        begin = end
    return forgotten


def expected(table: pd.DataFrame, sent: Events) -> pd.DataFrame:
    """The features of the table as of arrival, by the batch definition."""
    place = np.arange(len(sent.row))
    known = table[[*COLUMNS, "fraud"]].copy()
    for name, kind in (("arrival", ARRIVES), ("known_at", IS_LABELLED)):
        own = sent.kind == kind
        known[name] = np.nan
        known.loc[sent.row[own], name] = place[own]
    return transaction_features(
        known,
        delay="5D",
        statistics=("count", "mean", "sum", "min", "max"),
        last=5,
        distinct={"customer": ["terminal", "country"]},
        minor_units=2,
        arrival="arrival",
        known_at="known_at",
    )


def compare(ledger: Ledger, wanted: pd.DataFrame, names: tuple[str, ...]) -> tuple[int, int, int]:
    """How many rows are stored, how many of them differ, and how many are not there exactly once."""
    assert set(names) == set(wanted.columns)
    bits = np.ascontiguousarray(wanted[list(names)].to_numpy()).view(np.int64)
    times = np.zeros(len(wanted), dtype=np.int64)
    stored = differ = after = 0
    while found := ledger.read(after, _PIECE):
        after = found[-1].sequence
        entries = [each for each in found if isinstance(each, Entry)]
        if not entries:
            continue
        rows = np.array([int(each.id) for each in entries])
        own = np.frombuffer(b"".join(each.features for each in entries), dtype="<i8")
        differ += int((own.reshape(len(rows), -1) != bits[rows]).any(axis=1).sum())
        np.add.at(times, rows, 1)
        stored += len(rows)
    return stored, differ, int((times != 1).sum())


def parity(rows: int, folder: Path, seed: int = 0) -> Parity:
    """Send so many payments through a desk in a folder, and compare what it stored."""
    rng = np.random.default_rng(seed)
    table = payments(rows, seed)
    sent, counts = events(table, rng)
    database = SqliteDatabase(folder / "ledger.db", journal="wal", durability="process")
    ledger = Ledger(database, writes=True)
    try:
        forgotten = send(table, sent, ledger, rng)
        names = Schema.from_text(SCHEMA).features.names
        stored, differ, not_once = compare(ledger, expected(table, sent), names)
    finally:
        ledger.close()
    return Parity(
        rows,
        **counts,
        forgotten=forgotten,
        stored=stored,
        features=len(names),
        differ=differ,
        not_once=not_once,
    )


def sentence(found: Parity) -> str:
    """What was found, for a page."""
    return (
        f"{found.rows:,} transactions, {found.late:,} of them late, {found.out_of_order:,} out of "
        f"order, {found.twice:,} sent twice, {found.labels:,} labels in between, {found.forgotten:,} "
        f"entries of histories forgotten as too old: the {found.features} features of "
        f"{found.differ:,} of {found.stored:,} differ from transaction_features as of arrival; "
        f"{found.not_once:,} are not stored exactly once."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        found = parity(given.rows, Path(folder), given.seed)
    print(sentence(found), f"{time.perf_counter() - begin:,.0f} s.")
    raise SystemExit(found.differ > 0 or found.not_once > 0)


if __name__ == "__main__":
    main()
