"""How long the server takes for the first page that a fresh web process is asked for, and for later ones.

    python benchmarks/desk_page_times.py                                   # 10 million transactions
    python benchmarks/desk_page_times.py --transactions 200000 --cases 5000   # to try it

The desk is SQLite, filled by SQL without deciding anything. For each page the web process is
started anew, as ``rarefind serve --only web`` does it, and nothing of the databases is in memory
when the page is asked for. Writes benchmarks/results/desk_page_times.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import pandas as pd
from _desk_browser import Browser
from _desk_filled import CARDS, card_name, fill_desk
from _desk_world import World, say
from _report import write

from rarefind.desk.torture.served import ServedDesk


def main() -> None:
    """Make a desk, and ask for each of its pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--transactions", type=int, default=10_000_000)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--audit", type=int, default=100_000, help="rows of the audit log")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--only", help="a page")
    default = Path(tempfile.gettempdir()) / "rarefind-bench-desk"
    parser.add_argument("--folder", type=Path, default=default, help="where there are 20 GB")
    parser.add_argument("--keep", action="store_true", help="leave the desk for the next time")
    asked = parser.parse_args()
    path = asked.folder / f"filled-{asked.transactions}-{asked.cases}"
    done = path.with_suffix(".done")
    if not done.exists():
        fill_desk(World(asked.folder), path, asked.transactions, asked.cases, asked.audit)
        done.touch()
    size = sum(each.stat().st_size for each in path.glob("*.db")) / 1e9
    rows, cookies = [], {}
    for name, page in pages(asked.transactions, asked.cases).items():
        if asked.only in (None, name):
            cookies = cookies or signed_in(path)
            rows.append({"page": name, **measured(path, page, cookies, asked.repeats)})
            say(str(rows[-1]))
    if not asked.keep:
        shutil.rmtree(path)
        done.unlink()
    text = (
        f"{asked.transactions:,} transactions ({size:.1f} GB), {asked.cases:,} cases, 100 rules, "
        f"{asked.audit:,} rows of the audit log, SQLite; milliseconds as a client on the same "
        "machine sees them. For each page the web process was started anew; *first* is the first "
        "request that it answered at all, with nothing of the databases in memory, the others are "
        f"of {asked.repeats} requests after it."
    )
    if asked.only is None:
        command = f"python benchmarks/desk_page_times.py {' '.join(sys.argv[1:])}".strip()
        write("desk_page_times", command, [(text, pd.DataFrame(rows))])


def pages(transactions: int, cases: int) -> dict[str, str]:
    """The pages, and of those that show one of many, one."""
    case = 2  # it is not decided
    card = card_name((transactions - cases + case) % CARDS)
    return {
        "queue": "/desk/queue",
        "queue, all that wait": "/desk/queue?show=all",
        "queue, narrowed to nothing": "/desk/queue?show=all&amount=999999",
        "queue, put aside": "/desk/queue?show=snoozed",
        "case": f"/desk/cases/{case}",
        "card": f"/desk/entities/customer/{card}",
        "terminal": "/desk/entities/terminal/terminal-00007",
        "search of a card": f"/desk/search?q={card}",
        "search of a beginning": "/desk/search?q=t0",
        "rules": "/desk/rules",
        "a rule": "/desk/rules/edit?name=rule+11",
        "models": "/desk/models",
        "monitoring": "/desk/monitoring?days=56",
        "audit": "/desk/audit",
        "audit, of a person": "/desk/audit?person=person+7",
        "users": "/desk/users",
        "settings": "/desk/settings",
        "status": "/status",
    }


def served(path: Path) -> ServedDesk:
    """The web process of a desk."""
    command = [sys.executable, "-m", "rarefind", "serve", str(path), "--only", "web"]
    return ServedDesk(path, "disk", command=[*command, "--web-port", "0"])


def signed_in(path: Path) -> dict[str, str]:
    """The cookies of somebody who has signed in: a session outlives a web process."""
    with served(path) as desk:
        assert desk.address is not None
        browser = Browser(desk.address)
        browser.sign_in()
        browser.close()
    return browser.cookies


def measured(path: Path, page: str, cookies: dict[str, str], repeats: int) -> dict[str, str]:
    """Milliseconds of the first request of a process, and of those after it."""
    with served(path) as desk:
        assert desk.address is not None
        browser = Browser(desk.address)
        browser.cookies.update(cookies)
        forget_files(path)
        times = []
        for _ in range(repeats + 1):
            answer = browser.get(page)
            assert answer.status == 200, (page, answer.status, answer.text[:500])
            times.append(answer.milliseconds)
        browser.close()
    first, *later = times
    return {
        "first, ms": f"{first:.0f}",
        "median, ms": f"{statistics.median(later):.1f}",
        "longest, ms": f"{max(later):.1f}",
        "KB": f"{len(answer.text.encode()) / 1e3:.0f}",
    }


def forget_files(path: Path) -> None:
    """Let the system not have the databases in memory."""
    for file in path.glob("*.db*"):
        descriptor = os.open(file, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


if __name__ == "__main__":
    main()
