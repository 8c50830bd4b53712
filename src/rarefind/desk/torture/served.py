"""A decision process that can be killed: started, waited for, told what to suffer, ended."""

from __future__ import annotations

import http.client
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Self

from rarefind.desk.database import Durability

_ADDRESS = re.compile(r"http://([\d.]+):(\d+)")
#: Seconds that a desk may take to be ready; with a long history it takes longer.
_PATIENCE = 120.0
_OFTEN = 0.01
#: Seconds in which a desk that is stopped has ended.
_ENDING = 60.0


class ServedDesk:
    """The desk of a folder, as ``rarefind serve`` starts it: its decision process, or all of it.

    Parameters
    ----------
    path : Path
    durability : {"process", "disk"}
    whole : bool
        Whether all processes of the desk are started, and not only the one that decides. Such a
        desk can be stopped, and not killed as one.
    controlled : bool
        Whether it takes orders: see :meth:`jump_clock` and :meth:`limit_files`. It is then started
        by :mod:`rarefind.desk.torture.child`, and decides in the same way.
    patience : float
        Seconds to wait until it is ready.
    command : list of str, optional
        What is started instead; it says its address first, and is ready as a desk is.
    """

    def __init__(
        self,
        path: Path,
        durability: Durability,
        *,
        whole: bool = False,
        controlled: bool = False,
        patience: float = _PATIENCE,
        command: list[str] | None = None,
    ) -> None:
        self.path, self.durability = path, durability
        self._own_command = command
        self._whole, self._controlled, self._patience = whole, controlled, patience
        self._log = path.parent / f"{path.name}.log"
        self._process: subprocess.Popen[str] | None = None
        self._address: tuple[str, int] | None = None

    def __enter__(self) -> Self:
        self.start()
        self.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def address(self) -> tuple[str, int] | None:
        """Where it takes transactions; None while it is not running."""
        return self._address

    @property
    def process_id(self) -> int:
        """The number of its process."""
        return self._running().pid

    def start(self) -> None:
        """Start it; it has an address when this returns, and may not be ready yet."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        found = _ADDRESS.search(_stream(self._process.stdout).readline())
        if found is None:
            raise self._failed()
        self._address = (found[1], int(found[2]))

    def wait(self) -> float:
        """Wait until it decides transactions; returns the seconds that it took from now on."""
        began = time.monotonic()
        while not self.is_ready():
            if self._running().poll() is not None or time.monotonic() - began > self._patience:
                raise self._failed()
            time.sleep(_OFTEN)
        return time.monotonic() - began

    def is_ready(self) -> bool:
        """Whether it decides transactions."""
        if self._address is None:
            return False
        connection = http.client.HTTPConnection(*self._address, timeout=5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def kill(self) -> None:
        """End it as a loss of power would: it learns nothing of it."""
        self._address = None
        self._end(kill=True)

    def stop(self) -> None:
        """End it in good order, if it runs."""
        self._address = None
        if self._process is not None:
            self._end(kill=False)

    def jump_clock(self, seconds: int) -> None:
        """Let its clock be so many seconds ahead of this machine's, or behind it."""
        self._order(f"clock {seconds}")

    def limit_files(self, largest: int | None) -> None:
        """Let none of its files grow beyond so many bytes, as on a full disk; None to end it."""
        self._order(f"limit {-1 if largest is None else largest}")

    def _order(self, order: str) -> None:
        process = self._running()
        stdin, stdout = _stream(process.stdin), _stream(process.stdout)
        stdin.write(f"{order}\n")
        stdin.flush()
        if stdout.readline().strip() != order:
            raise self._failed()

    def _command(self) -> list[str]:
        if self._own_command is not None:
            return self._own_command
        if self._controlled:
            module = ["rarefind.desk.torture.child", str(self.path), self.durability]
            return [sys.executable, "-m", *module]
        serve = ["serve", str(self.path), "--port", "0", "--durability", self.durability]
        part = [] if self._whole else ["--only", "decision"]
        return [sys.executable, "-m", "rarefind", *serve, *part]

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            raise RuntimeError("The desk is not running: start it.")
        return self._process

    def _end(self, *, kill: bool) -> None:
        process = self._running()
        (process.kill if kill else process.terminate)()
        try:
            process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _stream(process.stdin).close()
        _stream(process.stdout).close()
        self._process = None

    def _failed(self) -> RuntimeError:
        """What a desk that does not run has said last."""
        self.kill()
        lines = self._log.read_text("utf-8", "replace").splitlines()
        return RuntimeError(f"The desk did not start: {lines[-1] if lines else 'it said nothing'}")


def _stream(stream: IO[str] | None) -> IO[str]:
    assert stream is not None  # every process here has its pipes
    return stream
