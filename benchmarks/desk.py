"""What a desk stands: load, people beside it, the highest rate, kills, restarts with a long history, parity.

    python benchmarks/desk.py                        # all of it: about three hours
    python benchmarks/desk.py --only load            # or pages, rate, kills, restart, parity
    python benchmarks/desk.py --seconds 30 --step 5 --kills 6 --rows 100000 --parity-rows 20000 \\
        --cards-rows 100000                          # to try it: some minutes

Writing the 20 million rows of the restart takes most of half an hour; --rows has fewer.

Each part keeps its figures in benchmarks/results/desk.json; the page desk.md has those of all parts
that were run, whenever that was.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import _desk_pages
import desk_parity
import numpy as np
from _desk_browser import add_person
from _desk_people import People
from _desk_world import World, copy_ledger, say
from _report import RESULTS

from rarefind.desk.alerts import Cases
from rarefind.desk.clock import DeskClock
from rarefind.desk.decision.memory import make_snapshot
from rarefind.desk.folder import DeskFolder
from rarefind.desk.labels import LabelHistory
from rarefind.desk.measures import History
from rarefind.desk.torture.kills import kill_often
from rarefind.desk.torture.load import fsync_times
from rarefind.desk.torture.open_loop import LoadPlan, LoadResult, send_at_rate
from rarefind.desk.torture.senders import steady_times
from rarefind.desk.torture.served import ServedDesk
from rarefind.desk.torture.trial_desk import TrialDesk

KEPT = RESULTS / "desk.json"
DURABILITIES = ("process", "disk")
LIMIT = 10.0  # milliseconds
WARM_UP, SETTLED = 10.0, 1_800.0  # seconds
#: Checks of a day where people work, so that they do not run out of them; seconds to sign in.
_CHECKS, _SIGNED_IN = 500, 5.0
STEP, MOST_STEPS, GROWTH, HALVINGS = 20.0, 16, 1.25, 4
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    given = options()
    folder = given.folder / "rarefind-bench-desk"
    parts: dict[str, Callable[[World, argparse.Namespace], dict[str, Any]]] = {
        "load": load,
        "pages": pages,
        "rate": rate,
        "kills": kills,
        "restart": restart,
        "parity": parity,
    }
    world, failed = World(folder), []
    for name, part in parts.items():
        if given.only not in (None, name):
            continue
        say(f"{name}: begins")
        began = time.perf_counter()
        try:
            found = part(world, given)
        except Exception:  # the other parts are measured all the same
            traceback.print_exc()
            failed.append(name)
        else:
            keep(name, found | {"minutes": round((time.perf_counter() - began) / 60, 1)})
    if KEPT.exists():
        _desk_pages.write_page(json.loads(KEPT.read_text(encoding="utf-8")))
    if not given.keep:
        shutil.rmtree(folder)
    raise SystemExit(f"Not measured: {', '.join(failed)}." if failed else 0)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=["load", "pages", "rate", "kills", "restart", "parity"])
    parser.add_argument("--rate", type=float, default=800.0, help="transactions a second")
    parser.add_argument("--seconds", type=float, default=600.0, help="of each load")
    parser.add_argument("--bare-seconds", type=float, help="of the bare endpoint's; as long")
    parser.add_argument("--page-seconds", type=float, default=60.0, help="of a load with people")
    parser.add_argument("--people", type=int, default=3, help="at their browsers meanwhile")
    parser.add_argument("--step", type=float, default=STEP, help="seconds of each rate tried")
    parser.add_argument("--cards-rows", type=int, default=3_200_000, help="history of a warm desk")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--rows", type=int, default=20_000_000, help="history at a restart")
    parser.add_argument("--parity-rows", type=int, default=1_000_000)
    default = Path(tempfile.gettempdir())
    parser.add_argument("--folder", type=Path, default=default, help="where there are 40 GB")
    parser.add_argument("--keep", action="store_true", help="leave the model for the next part")
    return parser.parse_args()


def keep(name: str, found: dict[str, Any]) -> None:
    """Keep what a part has measured, beside that of other parts and days."""
    known = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    known[name] = {
        "command": " ".join(["python", "benchmarks/desk.py", *sys.argv[1:]]),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "cores": len(os.sched_getaffinity(0)),
        **found,
    }
    KEPT.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    say(f"{name}: {json.dumps(found)}")


# Load


def load(world: World, given: argparse.Namespace) -> dict[str, Any]:
    """The desk and a bare endpoint under the same load, in both durabilities."""
    warm = warm_desk(world, given.cards_rows)
    runs = []
    for durability in DURABILITIES:
        desk = fresh_copy(world, warm)
        with ServedDesk(desk.path, durability, whole=True, patience=900) as served:
            settle(desk)
            runs.append({"what": "desk", "durability": durability})
            runs[-1] |= loaded(world, served, desk.token, given.rate, given.seconds)
        stored = desk.path / "bare.db"
        bare = [sys.executable, str(Path(__file__).with_name("_desk_bare.py")), str(stored)]
        with ServedDesk(desk.path, durability, command=[*bare, durability]) as served:
            runs.append({"what": "bare endpoint", "durability": durability})
            seconds = given.bare_seconds or given.seconds
            runs[-1] |= loaded(world, served, desk.token, given.rate, seconds)
        shutil.rmtree(desk.path)
    disk = fsync_times(world.folder)
    return {
        "rate": given.rate,
        "seconds": given.seconds,
        "bare seconds": given.bare_seconds or given.seconds,
        "history": given.cards_rows,
        "cards": world.cards_of(given.cards_rows),
        "runs": runs,
        "fsync": disk._asdict(),
    }


def warm_desk(world: World, rows: int) -> TrialDesk:
    """A desk whose cards all have a history; made once."""
    path = world.folder / f"warm-{rows}"
    done = path.parent / f"{path.name}.done"
    if not done.exists():
        world.make_desk(path)
        world.fill(path, rows, days=25)
        with DeskFolder(path) as folder:
            own = (folder.schema, folder.secret, folder.read_ledger(), folder.snapshots)
            make_snapshot(*own, time.time_ns())
        done.touch()
    return TrialDesk(path, world.schema, "")


def fresh_copy(world: World, warm: TrialDesk, budget: int | None = None) -> TrialDesk:
    """A new desk with the history of the warm one."""
    desk = world.make_desk(world.folder / "desk", budget)
    copy_ledger(warm.path, desk.path)
    # As a desk that has run for a while: the next snapshot is due in an hour.
    shutil.copytree(warm.path / "snapshots", desk.path / "snapshots", dirs_exist_ok=True)
    return desk


def settle(desk: TrialDesk) -> None:
    """Wait until the worker of a desk that runs has read its history; it may go on then."""
    with DeskFolder(desk.path) as folder:
        database, ledger, clock = folder.open_desk(), folder.read_ledger(), DeskClock()
        labels = LabelHistory(database, desk.schema, clock)
        cases = Cases(database, desk.schema, labels, clock)
        last, end = ledger.last.sequence, time.monotonic() + SETTLED
        while cases.read_up_to < last and time.monotonic() < end:
            time.sleep(1.0)
        say(f"The worker has read {cases.read_up_to:,} of {last:,} rows")


def deciding(process: int, desk: Path) -> int:
    """The process that decides, which has the lock of its desk open; else the one that is named."""
    for each in family(process):
        with suppress(OSError):
            for opened in Path(f"/proc/{each}/fd").iterdir():
                if opened.readlink() == desk.resolve() / "lock":
                    return each
    return process


def loaded(
    world: World, served: ServedDesk, token: str, rate: float, seconds: float
) -> dict[str, Any]:
    """Figures of a server that was warmed up and then loaded."""
    send(world, served, token, rate, min(WARM_UP, seconds))
    before = processor_seconds(served.process_id)
    result = send(world, served, token, rate, seconds)
    after = processor_seconds(served.process_id)
    each = {one: 1e3 * (total - before.get(one, 0.0)) for one, total in after.items()}
    decides = deciding(served.process_id, served.path)
    count = max(1, result.answered)
    return figures(result) | {
        "processor ms": each[decides] / count,
        "processor ms of all": sum(each.values()) / count,
        "memory MiB": memory(served.process_id),
        "sender load": result.sender_seconds / result.seconds,
    }


def send(world: World, served: ServedDesk, token: str, rate: float, seconds: float) -> LoadResult:
    """Send payments that are made now, at a rate, from a process of their own."""
    assert served.address is not None
    begin = time.time_ns()
    plan = LoadPlan(
        served.address, token, world.folder / "lines.json", rate, seconds, seed=begin % 2**32
    )
    times = iter((begin + (plan.due() * 1e9).astype(np.int64)).tolist())
    with plan.lines.open("wb") as file:
        file.writelines(b + b"\n" for b in world.bodies(times, f"{begin}-", begin % 2**32))
    say(f"Sending {plan.count:,} at {rate:,.0f} a second")
    result = send_at_rate(plan)
    plan.lines.unlink()
    say(f"{figures(result)}")
    return result


def figures(result: LoadResult) -> dict[str, Any]:
    names = {"p50": 50, "p99": 99, "p99.9": 99.9, "longest": 100}
    found: dict[str, Any] = {n: round(result.milliseconds(p), 3) for n, p in names.items()}
    return found | {"answered": result.answered, "failed": result.failed}


def family(process: int) -> list[int]:
    """A process and all that it has started; one may have ended meanwhile."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [process, *(each for child in children.split() for each in family(int(child)))]


def processor_seconds(process: int) -> dict[int, float]:
    """Processor time of a process and of each that it has started."""
    found = {}
    for each in family(process):
        with suppress(OSError):
            stat = Path(f"/proc/{each}/stat").read_text(encoding="ascii")
            fields = stat.rpartition(")")[2].split()
            found[each] = (int(fields[11]) + int(fields[12])) / TICKS
    return found


def memory(process: int) -> list[float]:
    """The most memory that each process has had, in MiB."""
    found = []
    for each in family(process):
        with suppress(OSError):
            lines = Path(f"/proc/{each}/status").read_text(encoding="utf-8").splitlines()
            kib = next((line.split()[1] for line in lines if line.startswith("VmHWM:")), "0")
            found.append(round(int(kib) / 1024, 1))
    return found


# People and decisions together


def pages(world: World, given: argparse.Namespace) -> dict[str, Any]:
    """Decisions without and with people who work at their browsers, in both durabilities."""
    warm = warm_desk(world, given.cards_rows)
    names = [f"person {number}" for number in range(given.people)]
    runs = []
    for durability in DURABILITIES:
        desk = fresh_copy(world, warm, _CHECKS)
        for name in names:
            add_person(desk.path, name)
        with socket.create_server(("127.0.0.1", 0)) as free:
            address = free.getsockname()
        command = [sys.executable, "-m", "rarefind", "serve", str(desk.path), "--port", "0"]
        command += ["--web-port", str(address[1]), "--durability", durability]
        with ServedDesk(desk.path, durability, command=command, patience=900) as served:
            settle(desk)
            wait_for_history(desk)
            send(world, served, desk.token, given.rate, min(WARM_UP, given.page_seconds))
            alone = figures(send(world, served, desk.token, given.rate, given.page_seconds))
            people = People(address, names)
            with people.working():
                time.sleep(_SIGNED_IN)
                people.forget()
                found = figures(send(world, served, desk.token, given.rate, given.page_seconds))
            runs.append(
                {"durability": durability, "alone": alone, "together": found} | people.figures()
            )
            say(f"{runs[-1]}")
        shutil.rmtree(desk.path)
    return {
        "rate": given.rate,
        "seconds": given.page_seconds,
        "history": given.cards_rows,
        "runs": runs,
    }


def wait_for_history(desk: TrialDesk) -> None:
    """Wait until rules can be tried on all that the ledger has."""
    with DeskFolder(desk.path) as folder:
        history, end = History.of(folder), time.monotonic() + SETTLED
        while history.missing() and time.monotonic() < end:
            time.sleep(1.0)


# The highest rate


def rate(world: World, given: argparse.Namespace) -> dict[str, Any]:
    """The rate at which p99 passes the limit: growing steps, then halvings between two."""
    warm = warm_desk(world, given.cards_rows)
    found = {}
    for durability in DURABILITIES:
        desk = fresh_copy(world, warm)
        tried: list[dict[str, Any]] = []
        with ServedDesk(desk.path, durability, whole=True, patience=900) as served:
            settle(desk)
            send(world, served, desk.token, given.rate / 2, min(WARM_UP, given.step))

            def holds(at: float) -> bool:
                for _ in range(2):  # one disturbance from elsewhere does not end the search
                    result = figures(send(world, served, desk.token, at, given.step))
                    tried.append({"rate": round(at), **result})
                    time.sleep(2.0)  # what was late is done
                    if result["p99"] <= LIMIT and not result["failed"]:
                        return True
                return False

            good, bad = 0.0, given.rate
            while holds(bad) and len(tried) < MOST_STEPS:
                good, bad = bad, bad * GROWTH
            for _ in range(HALVINGS):
                middle = (good + bad) / 2
                good, bad = (middle, bad) if holds(middle) else (good, middle)
        shutil.rmtree(desk.path)
        found[durability] = {"highest": round(good), "tried": tried}
    return found


# Kills


def kills(world: World, given: argparse.Namespace) -> dict[str, Any]:
    """Kills under load, half of them in each durability."""
    found = {}
    for durability in DURABILITIES:
        desk = world.make_desk(world.folder / "killed")
        number = given.kills // 2
        result = kill_often(
            desk,
            durability,
            kills=number,
            seconds=60.0 * number,  # a start that hangs does not hang all
            bodies=world.bodies(steady_times(), "k"),
            on_kill=lambda done: say(f"kill {done}") if done % 10 == 0 else None,
        )
        found[durability] = result._asdict() | {"check": result.check._asdict()}
        shutil.rmtree(desk.path)
    return found


# Restart


def restart(world: World, given: argparse.Namespace) -> dict[str, Any]:
    """Time to ready with a long history: read from the ledger, and from a snapshot."""
    desk = world.make_desk(world.folder / "restarted")
    found: dict[str, Any] = {"fill": world.fill(desk.path, given.rows, days=30)}
    found["without a snapshot"] = started(desk)
    say(f"without a snapshot: {found['without a snapshot']}")
    began = time.perf_counter()
    snapshot = [sys.executable, "-m", "rarefind", "desk", "snapshot", str(desk.path)]
    done = subprocess.run(snapshot, check=False, capture_output=True, text=True)
    if done.returncode == 0:
        found["snapshot seconds"] = time.perf_counter() - began
        found["with a snapshot"] = started(desk)
    else:
        say(f"no snapshot: {done.stderr}")
    shutil.rmtree(desk.path)
    return found


def started(desk: TrialDesk) -> dict[str, Any]:
    """Seconds until a desk is ready, and its memory then."""
    served = ServedDesk(desk.path, "process", patience=3_600)
    began = time.perf_counter()
    served.start()
    try:
        served.wait()
        return {
            "seconds": round(time.perf_counter() - began, 2),
            "memory MiB": memory(served.process_id),
        }
    finally:
        served.stop()


# Parity


def parity(world: World, given: argparse.Namespace) -> dict[str, Any]:
    """Online features beside those of the whole table, with late, repeated and unordered rows."""
    with tempfile.TemporaryDirectory(dir=world.folder) as name:
        found = desk_parity.parity(given.parity_rows, Path(name))
    return {"text": desk_parity.sentence(found), "counts": found._asdict()}


if __name__ == "__main__":
    main()
