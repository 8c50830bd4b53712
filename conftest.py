"""What all tests share."""

import gc
import os
import subprocess
import sys
import time
from pathlib import Path

# Tests run in several processes: one thread in each, or the cores spend their time waiting.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent / "tests"
SOURCES = Path(__file__).parent / "src"

# A run can be repeated: the same examples every time.
settings.register_profile(
    "rarefind", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("rarefind")


def pytest_collection_modifyitems(items):
    """Try properties on a quarter of their examples, in CI on half: `make properties` tries all."""
    if os.environ.get("RAREFIND_EXAMPLES") == "all" or os.environ.get("RAREFIND_FUZZ"):
        return
    part = 2 if os.environ.get("CI") else 4
    # Hypothesis has no public way to scale what a test asks for, only to set what it leaves open.
    own = "_hypothesis_internal_use_settings"
    properties = {item.obj for item in items if hasattr(getattr(item, "obj", None), own)}
    for test in properties:
        asked = getattr(test, own)
        fewer = min(asked.max_examples, max(5, asked.max_examples // part))
        setattr(test, own, settings(asked, max_examples=fewer))


def pytest_collection_finish():
    """Leave modules and tests out of every search for garbage: they stay to the end."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session):
    """Compile before workers start: else each of them would compile for itself."""
    config = session.config
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        return
    newest = max(path.stat().st_mtime for path in SOURCES.rglob("*.py"))
    known = ["rarefind/compiled", f"{sys.version} {newest}"]
    cache = getattr(config, "cache", None)
    if cache and cache.get(known[0], None) == known[1]:
        return
    config.get_terminal_writer().line("Compiling what the tests use …")
    command = [sys.executable, str(TESTS / "compile_kernels.py")]
    running = [subprocess.Popen([*command, part]) for part in ("0", "1")]
    failed = [process.wait() for process in running]
    if cache and not any(failed):
        cache.set(*known)


@pytest.fixture(scope="session")
def preloaded():
    """The command with its imports made; None where a process with these libraries cannot fork."""
    if sys.platform != "linux":
        yield None
        return
    from preloaded import Preloaded

    waiting = Preloaded({**os.environ, "COLUMNS": "120"})
    yield waiting
    waiting.end()


class Clock:
    """Stands still until it is set; with a tick, each look at it takes that many seconds."""

    def __init__(self):
        self.now, self.tick = 1000.0, 0.0

    def look(self):
        """What it says now."""
        self.now += self.tick
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """What rarefind gets of ``time.monotonic``, so that no test depends on how fast it runs.

    All others get the real time: Python's own threads wait by it.
    """
    clock, real = Clock(), time.monotonic

    def monotonic():
        asking = sys._getframe(1).f_globals["__name__"]
        return clock.look() if asking.startswith("rarefind.") else real()

    monkeypatch.setattr(time, "monotonic", monotonic)
    return clock
