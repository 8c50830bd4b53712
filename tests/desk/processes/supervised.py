"""A supervisor with two children, for tests that kill it: ``python supervised.py NOTES``."""

import sys
from pathlib import Path

from desk.processes.children import wait

from rarefind.desk.api.logs import Log
from rarefind.desk.processes import ChildSpec, Supervisor

if __name__ == "__main__":
    path = Path(sys.argv[1])
    specs = [ChildSpec(name, wait, (path, name)) for name in ("first", "second")]
    Supervisor(specs, Log("test")).run(lambda: print("ready", flush=True))
