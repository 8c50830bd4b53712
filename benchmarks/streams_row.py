"""Processor time of ONLB for a row that comes alone: scored and learned at once, or learned later.

python benchmarks/streams_row.py                     # half a minute
python benchmarks/streams_row.py --beside OTHER/src  # also of another version of the library
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _report import write

try:
    from rarefind.streams import ONLBClassifier
except ImportError:  # another version, in which it is elsewhere
    from rarefind.boosting import ONLBClassifier

COLUMNS, WARM_UP, ROWS, RUNS = 54, 2_000, 3_000, 5

Call = Callable[[Any, int, np.ndarray, np.ndarray], Any]


def observe_and_learn_delayed(model: Any, i: int, x: np.ndarray, y: np.ndarray) -> None:
    model.observe(i, x)
    model.learn_delayed(i, y[0])


CALLS: dict[str, Call] = {
    "`observe` and `learn_delayed`": observe_and_learn_delayed,
    "`partial_fit`": lambda model, i, x, y: model.partial_fit(x, y),
    "`learn`": lambda model, i, x, y: model.learn(x, y),
    "`priority`": lambda model, i, x, y: model.priority(x),
}


def microseconds(call: Call) -> float:
    """Processor time of a call for one row."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(WARM_UP + ROWS, COLUMNS))
    y = (rng.random(len(X)) < 0.01).astype(int)
    model = ONLBClassifier(random_state=0).partial_fit(X[:WARM_UP], y[:WARM_UP], classes=[0, 1])
    call(model, 0, X[:1], y[:1])
    begin = time.process_time()
    for i in range(WARM_UP, len(X)):
        call(model, i, X[i : i + 1], y[i : i + 1])
    return 1e6 * (time.process_time() - begin) / ROWS


def measure() -> dict[str, float]:
    """The median of some runs, for each call."""
    return {
        name: float(np.median([microseconds(call) for _ in range(RUNS)]))
        for name, call in CALLS.items()
    }


def measure_other(source: Path) -> dict[str, float]:
    """The same, of the library in another folder."""
    run = subprocess.run(
        [sys.executable, __file__, "--json"],
        env=os.environ | {"PYTHONPATH": str(source)},
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, float] = json.loads(run.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", type=Path, help="folder src of another version")
    parser.add_argument("--json", action="store_true", help="print the figures only")
    given = parser.parse_args()
    own = measure()
    if given.json:
        print(json.dumps(own))
        return
    table = pd.DataFrame({"call": [*own], "µs a row": [f"{each:.0f}" for each in own.values()]})
    command = "python benchmarks/streams_row.py"
    if given.beside:
        command += " --beside OTHER/src"
        other = measure_other(given.beside.resolve())
        table["before"] = [f"{other[name]:.0f}" for name in own]
        table["times as fast"] = [f"{other[name] / own[name]:.1f}" for name in own]
    text = (
        f"ONLB as it is (T = 20 nets of two units, P = 10), {COLUMNS} columns, one row a call, after "
        f"{WARM_UP:,} rows: processor time of one thread, median of {RUNS} runs of {ROWS:,} rows."
    )
    write("streams_row", command, [(text, table)])


if __name__ == "__main__":
    main()
