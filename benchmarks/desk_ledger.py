"""What a row of the desk's ledger costs: appended alone and in groups, found, read, verified.

    python benchmarks/desk_ledger.py [--rows 1000000]

Processor time is that of this process; with PostgreSQL the server's own comes on top. Prints what
is in benchmarks/results/desk_ledger.md.
"""

import argparse
import os
import random
import sqlite3
import tempfile
import time
from pathlib import Path

from rarefind.desk.database import SqliteDatabase
from rarefind.desk.ledger import Ledger
from rarefind.desk.records import Entry, Outcome


def entry(number):
    draw = random.Random(number)
    return Entry(
        sequence=number,
        id=f"{draw.getrandbits(128):032x}",
        time=number * 10**9,
        arrived=number * 10**9,
        amount=draw.randrange(100_000),
        entities=(f"card {draw.randrange(440_000)}", f"terminal {draw.randrange(20_000)}"),
        body=b"{%s}" % draw.randbytes(150).hex().encode(),
        features=draw.randbytes(480),
        outcome=Outcome("accept", "", (), 0.25, 0.25, "", 0.001, "a" * 64, "b" * 64),
    )


def measured(work):
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.process_time() - processor, time.perf_counter() - wall


def line(what, count, spent):
    processor, wall = (1e6 * part / count for part in spent)
    print(f"| {what} | {processor:,.1f} | {wall:,.1f} | {1e6 / wall:,.0f} |", flush=True)


def fsync_time(folder, times=200):
    with (folder / "fsync").open("wb") as file:
        start = time.perf_counter()
        for _ in range(times):
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())
    return (time.perf_counter() - start) / times


def append(ledger, group, groups):
    first = ledger.last.sequence + 1
    batches = [[entry(first + group * each + n) for n in range(group)] for each in range(groups)]
    return measured(lambda: [ledger.append(batch) for batch in batches])


def fill(ledger, rows):
    while (missing := rows - ledger.last.sequence) > 0:
        first = ledger.last.sequence + 1
        ledger.append([entry(first + n) for n in range(min(1_000, missing))])
        ledger.idle()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "ledger.db"
        print(
            f"SQLite {sqlite3.sqlite_version}; an fsync of 4 KiB: {fsync_time(folder) * 1e3:.2f} ms\n"
        )
        ledger = Ledger(SqliteDatabase(path, journal="wal", durability="process"), writes=True)
        fill(ledger, rows)
        ledger.close()
        print(f"{rows:,} rows, {path.stat().st_size / rows:,.0f} bytes each\n")
        print("| a row | processor µs | wall µs | a second |\n|---|---|---|---|")
        for durability in ("process", "disk"):
            ledger = Ledger(SqliteDatabase(path, journal="wal", durability=durability), writes=True)
            for group, groups in ((1, 2_000), (8, 500), (64, 100)):
                spent = append(ledger, group, groups)
                line(f"append, `{durability}`, {group} together", group * groups, spent)
                line("... its checkpoint", group * groups, measured(ledger._database.checkpoint))
            ledger.close()
        reader = Ledger(SqliteDatabase(path, read_only=True), writes=False)
        known = [entry(random.randrange(1, rows)).id for _ in range(2_000)]
        line(
            "find one that is there", 2_000, measured(lambda: [reader.find([id_]) for id_ in known])
        )
        new = [f"{n:032x}" for n in range(2_000)]
        line("find one that is not", 2_000, measured(lambda: [reader.find([id_]) for id_ in new]))
        cards = [f"card {n}" for n in range(2_000)]
        spent = measured(lambda: [reader.read_entity(0, card) for card in cards])
        line("read a card's transactions", 2_000, spent)
        some = min(rows, 100_000)
        line("read in order", some, measured(lambda: reader.read(0, some)))
        total = reader.last.sequence
        line("verify", total, measured(lambda: reader.verify()))


if __name__ == "__main__":
    main()
