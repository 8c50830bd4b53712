"""What a desk stores of a transaction is what the whole table says of it as of its arrival."""

import os

import numpy as np

from benchmarks import desk_parity
from rarefind.desk import Schema
from rarefind.desk.database import SqliteDatabase
from rarefind.desk.ledger import Ledger

#: The long form: RAREFIND_PARITY=1000000.
ROWS = int(os.environ.get("RAREFIND_PARITY", 20_000))


def test_late_repeated_and_unordered_transactions_have_the_features_of_the_table(tmp_path):
    found = desk_parity.parity(ROWS, tmp_path)
    assert found.stored == ROWS
    assert (found.differ, found.not_once) == (0, 0)
    assert min(found.late, found.out_of_order, found.twice, found.labels, found.forgotten) > 0


def test_another_order_would_be_found(tmp_path):
    rng = np.random.default_rng(0)
    table = desk_parity.payments(500, 0)
    sent, _ = desk_parity.events(table, rng)
    ledger = Ledger(SqliteDatabase(tmp_path / "ledger.db", journal="wal"), writes=True)
    desk_parity.send(table, sent, ledger, rng)
    in_time = desk_parity.Events(sent.kind[sent.kind == 0], np.arange(500), sent.when)
    wanted = desk_parity.expected(table, in_time)
    names = Schema.from_text(desk_parity.SCHEMA).features.names
    stored, differ, not_once = desk_parity.compare(ledger, wanted, names)
    assert (stored, not_once) == (500, 0)
    assert differ > 0
    ledger.close()
