"""Server time of the queue and of a case, on a made-up desk of many cases and transactions.

    python benchmarks/desk_queue.py --cases 100000 --transactions 1000000

The databases are SQLite, filled by SQL without deciding anything; pages are asked for in process,
by somebody who has signed in, so that what is measured is all that the server does.
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from desk_pages import NOON, PagesDesk

DAY = 86_400 * 10**9
OPEN_SHARE = 0.4


def fill(web, folder, cases, transactions):
    """Write transactions of some cards, the last of which have alerts, and a case for each."""
    from rarefind.desk.ledger._tables import ADD_ENTRY, ADD_MEMBER, entry_parameters, member_of
    from rarefind.desk.records import Entry, Outcome

    rng = np.random.default_rng(0)
    features = np.zeros(len(web.schema.features.names)).tobytes()
    outcome = Outcome("accept", "", (), 0.01, 0.01, "", 0.0, "", "")
    alerted = Outcome("accept", "", ("large",), 0.3, 0.3, "risk", 0.0, "", "")
    body = b'{"id":"t","time":"2026-01-31T12:00:00Z","amount":1000.0,"card":"c","terminal":"t"}'
    first_alert = transactions - cases
    ledger = sqlite3.connect(folder / "ledger.db")
    ledger.execute("PRAGMA synchronous = OFF")

    def entries():
        for at in range(1, transactions + 1):
            card = f"c{at % cases}"
            when = NOON - (transactions - at) * 10**9
            own = alerted if at > first_alert else outcome
            entry = Entry(at, f"t{at}", when, when, 100_000, (card, "t1"), body, features, own)
            yield entry_parameters(entry, b"s" * 16, b"c" * 32)

    ledger.executemany(ADD_ENTRY, entries())
    ledger.executemany(
        ADD_MEMBER,
        (
            {"member": member_of(0, f"c{at % cases}"), "sequence": at}
            for at in range(1, transactions + 1)
        ),
    )
    ledger.commit()
    ledger.close()

    priority = rng.random(cases)
    is_open = rng.random(cases) < OPEN_SHARE
    desk = sqlite3.connect(folder / "desk.db")
    desk.execute("PRAGMA synchronous = OFF")
    desk.executemany(
        "INSERT INTO cases (id, entity, state, opened, priority, kind, propensity, closed, verdict)"
        " VALUES (?, ?, ?, ?, ?, ?, 0.05, ?, ?)",
        (
            (
                at + 1,
                f"c{at}",
                "open" if is_open[at] else "decided",
                NOON - at * 10**9,
                float(priority[at]),
                "random" if at % 20 == 0 else "risk",
                None if is_open[at] else NOON - 2 * DAY - at * 10**9,
                None if is_open[at] else ("fraud" if at % 3 == 0 else "genuine"),
            )
            for at in range(cases)
        ),
    )
    desk.executemany(
        "INSERT INTO alerts VALUES (?, ?, ?, ?, ?, 100000, 0.3, ?, 'risk', 0.0, 'large', ?, ?, ?)",
        (
            (
                first_alert + 1 + at,
                at + 1,
                f"t{first_alert + 1 + at}",
                NOON,
                NOON,
                float(priority[at]),
                float(priority[at]) ** 2,
                "Why.",
                '[{"feature":"amount_to_card_mean","text":"x","share":0.8,"value":4.4}]',
            )
            for at in range(cases)
        ),
    )
    desk.execute(
        "INSERT INTO verdicts (case_id, verdict, person, at, note) "
        "SELECT id, verdict, 'ann', closed, '' FROM cases WHERE verdict IS NOT NULL"
    )
    desk.commit()
    desk.close()


async def time_pages(web, paths, repeats):
    transport = httpx.ASGITransport(web.app)
    headers = {"cookie": web.cookie("investigator")}
    async with httpx.AsyncClient(transport=transport, base_url="http://desk") as client:
        for name, path in paths.items():
            times = []
            for _ in range(repeats):
                begun = time.perf_counter()
                answer = await client.get(path, headers=headers)
                times.append(1_000 * (time.perf_counter() - begun))
                assert answer.status_code == 200, (path, answer.status_code)
            median, worst = statistics.median(times[1:]), max(times[1:])
            print(f"{name:32} first {times[0]:7.1f} ms   median {median:6.1f}   worst {worst:6.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--transactions", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=30)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        web = PagesDesk(Path(name))
        web.pay("c0", 1)  # so that all tables are there
        web.writer.close()
        for file, tables in (("ledger", ("entries", "members")),):
            with sqlite3.connect(Path(name) / f"{file}.db") as database:
                for table in tables:
                    database.execute(f"DELETE FROM {table}")
        begun = time.perf_counter()
        fill(web, Path(name), asked.cases, asked.transactions)
        web.database.close()
        print(
            f"{asked.cases:,} cases and {asked.transactions:,} transactions written in "
            f"{time.perf_counter() - begun:.0f} s"
        )
        best = web.door.cases.waiting.page(limit=1)[0].id
        paths = {
            "queue": "/desk/queue",
            "queue, all that wait": "/desk/queue?show=all",
            "queue, narrowed to nothing": "/desk/queue?show=all&amount=999999",
            "case": f"/desk/cases/{best}",
        }
        asyncio.run(time_pages(web, paths, asked.repeats))
        web.close()


if __name__ == "__main__":
    main()
