"""A decision process that takes orders, line by line: ``python -m rarefind.desk.torture.child``.

``clock 86400`` lets its clock be a day ahead, ``limit 1000000`` lets no file grow beyond a megabyte
(-1 for any size). Each order is repeated when it was followed. It ends with its standard input.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from pathlib import Path

from rarefind.desk.api.process import serve_decisions
from rarefind.desk.clock import DeskClock
from rarefind.desk.folder import DeskFolder


class JumpingClock(DeskClock):
    """This machine's clock, ahead or behind by what it was told."""

    def __init__(self) -> None:
        self.ahead = 0

    def now(self) -> int:
        """Return the time."""
        return super().now() + self.ahead


def limit_files(largest: int) -> None:
    """Let no file grow beyond so many bytes, where the system can; -1 for any size."""
    if sys.platform == "win32":
        raise OSError("Windows cannot limit the files of a process")
    import resource

    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard if largest < 0 else largest, hard))


def _follow_orders(clock: JumpingClock) -> None:
    for line in sys.stdin:
        what, value = line.split()
        if what == "clock":
            clock.ahead = int(value) * 10**9
        else:
            limit_files(int(value))
        print(line, end="", flush=True)
    # Whoever started it has ended: nobody would stop it.
    os._exit(1)


def main() -> None:
    """Serve the desk of a folder, with the durability that is named after it."""
    path, durability = sys.argv[1:]
    clock = JumpingClock()
    with DeskFolder(Path(path)) as folder, socket.create_server(("127.0.0.1", 0)) as door:
        print(f"http://127.0.0.1:{door.getsockname()[1]}", flush=True)
        threading.Thread(target=_follow_orders, args=(clock,), daemon=True).start()
        serve_decisions(folder, door, "process" if durability == "process" else "disk", clock)


if __name__ == "__main__":
    main()
