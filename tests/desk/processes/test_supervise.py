"""Processes are started together, started again when they end, and stopped in order."""

import io
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from desk.processes import children

from rarefind.desk.api.logs import Log
from rarefind.desk.processes import ChildSpec, Supervisor

HERE = Path(__file__).parent


class Run:
    """A supervisor in a thread."""

    def __init__(self, path, *specs):
        self.path, self.log, self.error = path / "notes", io.StringIO(), None
        self.path.touch()
        self.ready = threading.Event()
        self.supervisor = Supervisor(
            [
                ChildSpec(name, work, (self.path, *rest), grace=grace)
                for name, work, rest, grace in specs
            ],
            Log("test", self.log),
        )
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        try:
            self.supervisor.run(self.ready.set)
        except ValueError as error:
            self.error = str(error)

    def notes(self):
        return self.path.read_text().splitlines()

    def pids(self, name):
        return [
            int(line.split()[1])
            for line in self.notes()
            if line.split()[0] == name and "ended" not in line
        ]

    def stop(self):
        self.supervisor.stop()
        self.thread.join(60)
        assert not self.thread.is_alive()


def until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # One that has ended and whose parent is gone may still be listed.
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def test_the_first_is_stopped_after_all_others(tmp_path):
    run = Run(
        tmp_path,
        ("first", children.wait, ("first",), 30),
        ("slow", children.wait, ("slow", 0.3), 30),
        ("third", children.wait, ("third",), 30),
    )
    assert run.ready.wait(60)
    run.stop()
    ended = [line.split()[0] for line in run.notes() if line.endswith("ended")]
    assert sorted(ended) == ["first", "slow", "third"]
    assert ended[-1] == "first"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to kill by")
def test_a_process_that_is_killed_is_started_again(tmp_path):
    run = Run(tmp_path, ("first", children.wait, ("first",), 30))
    assert run.ready.wait(60)
    os.kill(run.pids("first")[-1], signal.SIGKILL)
    until(lambda: len(run.pids("first")) == 2)
    run.stop()
    assert run.log.getvalue().count('"ended","child":"first","code":-9') == 1


def test_a_bad_start_ends_with_the_sentence_of_the_process(tmp_path):
    run = Run(
        tmp_path, ("first", children.wait, ("first",), 30), ("second", children.refuse, (), 30)
    )
    run.thread.join(60)
    assert run.error == "The folder belongs to another desk: name another one."
    assert not run.ready.is_set()


def test_a_process_that_ends_at_every_start_is_given_up(tmp_path):
    run = Run(tmp_path, ("first", children.crash, (), 30))
    run.thread.join(60)
    assert run.error == "The first process ends at every start: its log says why."


def test_a_process_that_does_not_stop_is_killed(tmp_path):
    run = Run(tmp_path, ("first", children.stay, ("first",), 0.2))
    assert run.ready.wait(60)
    run.stop()
    assert not is_alive(run.pids("first")[0])
    assert '"killed","child":"first"' in run.log.getvalue()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to kill by")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_the_children_end_with_the_supervisor_however_it_ends(tmp_path, number):
    notes = tmp_path / "notes"
    with subprocess.Popen(
        [sys.executable, str(HERE / "supervised.py"), str(notes)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    ) as process:
        assert process.stdout.readline() == "ready\n"
        pids = [int(line.split()[1]) for line in notes.read_text().splitlines()]
        assert len(pids) == 2
        process.send_signal(number)
        assert process.wait(60) == (-9 if number == signal.SIGKILL else 0)
    until(lambda: not any(map(is_alive, pids)))
    assert sorted(notes.read_text().splitlines()[2:]) == ["first ended", "second ended"]
