"""A process for each mutant: forked from one that has imported and compiled all it needs.

The process of a group of kinds judges the honest files of the group once, so that kernels are
loaded; each mutant is then made and judged in a child of it, under limits.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import resource
import select
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from fuzz.verdicts import FAIR, HONEST, NOT_MADE, READ, SCORED, Kind, WrongError, name_of

#: Processor seconds that opening and scoring, or reading, may take.
SECONDS = 5
# On a busy machine the processor is shared: this ends only what waits for ever.
_WALL_SECONDS = 90
# What libraries take by themselves, such as a buffer made at the first call.
_SPARE_MEGABYTES = 64
_MOST_MEGABYTES = 1024
# A number of JSON is an object in memory.
_MEGABYTES_A_MEGABYTE = 12


class Result(NamedTuple):
    """What came of one mutant."""

    kind: str
    seed: int
    number: int
    verdict: str
    mutation: str
    megabytes: float


def run_group(
    kinds: list[Kind], seed: int, numbers: dict[str, range], keep: Path | None
) -> Iterator[Result]:
    """The results of mutants of one group, as they come, and of the honest files before them."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        code = 1
        try:
            with os.fdopen(writing, "w") as out:
                for result in _results(kinds, seed, numbers, keep):
                    out.write(json.dumps(result) + "\n")
                    out.flush()
            code = 0
        except BrokenPipeError:
            pass
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as answers:
        for line in answers:
            yield Result(*json.loads(line))
    status = os.waitpid(child, 0)[1]
    if status:
        names = ", ".join(kind.name for kind in kinds)
        yield Result(names, seed, HONEST, f"the process of the group ended ({status})", "", 0.0)


def _results(
    kinds: list[Kind], seed: int, numbers: dict[str, range], keep: Path | None
) -> Iterator[Result]:
    with tempfile.TemporaryDirectory(prefix="rarefind-fuzz-") as folder:
        if not _starts_threads(kinds):
            _judge_honest(kinds)
        gc.collect()
        gc.freeze()
        for kind in kinds:
            first = _in_a_child(kind, seed, HONEST, Path(folder), None, None)
            yield first
            allowed = 2 * first.megabytes + _SPARE_MEGABYTES
            for number in numbers[kind.name]:
                yield _in_a_child(kind, seed, number, Path(folder), allowed, keep)


def _judge_honest(kinds: list[Kind]) -> None:
    """Let kernels be compiled or loaded: children have them then."""
    for kind in kinds:
        kind.judge(kind.path, lambda _: None)


def _starts_threads(kinds: list[Kind]) -> bool:
    """Whether verdicts come from threads of a library, for which a child would wait in vain."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] != 0
    code = 1
    try:
        before = _threads()
        _judge_honest(kinds)
        code = int(_threads() > before)
    except WrongError:
        code = 0  # told later
    finally:
        os._exit(code)


def _threads() -> int:
    """The threads of libraries; those of Python's own pools end."""
    names = [(task / "comm").read_text() for task in Path("/proc/self/task").iterdir()]
    return sum("python" not in name for name in names)


def _in_a_child(
    kind: Kind,
    seed: int,
    number: int,
    folder: Path,
    allowed: float | None,
    keep: Path | None,
) -> Result:
    reading, writing = os.pipe()
    ending = "".join(kind.path.suffixes[-2:])
    path, trace = folder / f"mutant{ending}", folder / "trace"
    child = os.fork()
    if not child:
        try:
            os.close(reading)
            _child(kind, seed, number, path, trace, writing)
        finally:
            os._exit(0)
    os.close(writing)
    told = _told(reading, child)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    verdict = told.get("verdict") or _ended(status, told.get("doing", "start"), trace)
    grown = float(told.get("megabytes", 0.0))
    if allowed is not None:  # a file that became larger may take more
        longer = path.stat().st_size - kind.path.stat().st_size if path.exists() else 0
        allowed += _MEGABYTES_A_MEGABYTE * max(0, longer) / 2**20
    if allowed is not None and grown > allowed:
        verdict = f"memory: {grown:.0f} MB where the honest file allows {allowed:.0f}"
    result = Result(kind.name, seed, number, verdict, told.get("mutation", ""), round(grown, 1))
    if keep is not None and path.exists() and is_failure(result):
        keep.mkdir(parents=True, exist_ok=True)
        path.replace(keep / f"{kind.name.replace('/', '_')}-{seed}-{number}{ending}")
    return result


def _told(reading: int, child: int) -> dict[str, Any]:
    """What a child said until it ended; it is ended when it takes too long."""
    end, text = time.monotonic() + _WALL_SECONDS, b""
    while True:
        ready, _, _ = select.select([reading], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            os.kill(child, signal.SIGKILL)
            text += b'{"verdict": "hang: it waits for ever"}\n'
            break
        part = os.read(reading, 65536)
        if not part:
            break
        text += part
    os.close(reading)
    told: dict[str, Any] = {}
    for line in text.split(b"\n"):
        if line:
            told |= json.loads(line)
    return told


def _child(kind: Kind, seed: int, number: int, path: Path, trace: Path, writing: int) -> None:
    def tell(**what: Any) -> None:
        os.write(writing, json.dumps(what).encode() + b"\n")

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with trace.open("wb") as errors, open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(errors.fileno(), 1)
        os.dup2(errors.fileno(), 2)
        faulthandler.enable(errors)
        tell(doing="mutation")
        tell(mutation=kind.write_mutant(seed, number, path))
        size, resident = _begin_to_measure()
        most = (size + _MOST_MEGABYTES) * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        used = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
        resource.setrlimit(resource.RLIMIT_CPU, (used + SECONDS, used + SECONDS + 2))
        try:
            verdict = kind.judge(path, lambda what: tell(doing=what))
        except WrongError as error:
            verdict = str(error)
        except Exception as error:
            verdict = f"raised {name_of(error)}"
        tell(verdict=verdict, megabytes=_status("VmHWM") - resident)


def _begin_to_measure() -> tuple[int, float]:
    """The size of this process and what of it is in memory, from where its peak is counted."""
    Path("/proc/self/clear_refs").write_text("5")
    return int(_status("VmSize")), _status("VmHWM")


def _status(name: str) -> float:
    """A figure of this process, in megabytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    raise LookupError(name)


def _ended(status: int, doing: str, trace: Path) -> str:
    if doing in ("start", "mutation"):
        return NOT_MADE
    if -status == signal.SIGXCPU:
        return f"hang: {doing} took over {SECONDS} s"
    name = signal.Signals(-status).name if status < 0 else f"exit {status}"
    lines = trace.read_text(errors="replace").splitlines() if trace.exists() else []
    where = next((line.strip() for line in lines if "rarefind" in line and "File" in line), "")
    return f"crash: {name} in {doing} {where.rpartition('/')[2]}"


def is_failure(result: Result) -> bool:
    """Whether a file did what none may; an honest one is taken."""
    fair = (SCORED, READ) if result.number == HONEST else (*FAIR, NOT_MADE)
    return result.verdict not in fair
