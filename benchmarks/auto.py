"""Whether AutoClassifier keeps its time limit on a large table.

python benchmarks/auto.py    # 300,000 rows of 300 columns, within 20 and 60 seconds

What it is worth is measured by the scoreboard (benchmarks/scoreboard.py).
"""

from __future__ import annotations

import time
import warnings

import numpy as np
import pandas as pd
from _report import write

from rarefind.auto import AutoClassifier
from rarefind.metrics import average_precision


def limit(rows: int = 300_000, columns: int = 300) -> list[tuple[str, pd.DataFrame]]:
    """How long a fit to a large table takes beside its time limit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows + 50_000, columns))
    signal = X[:, 0] + X[:, 1] * X[:, 2] + (X[:, 3] > 1.5) - X[:, 4]
    y = (signal + rng.logistic(size=len(X)) > 6.5).astype(int)
    X[rng.random(len(X)) < 0.1, 7] = np.nan
    held = slice(rows, None)
    found = []
    # The first fit of a process also opens compiled kernels.
    for seconds in (20, 60):
        model = AutoClassifier(budget=1000, time_limit=seconds, random_state=0, n_jobs=2)
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model.fit(X[:rows], y[:rows])
        taken = time.perf_counter() - start
        ap = average_precision(y[held], model.priority(X[held]))
        fitted_on = ", ".join(f"{name} to {n:,}" for name, n in model.fitted_on_.items())
        board = model.leaderboard_
        found.append(
            (seconds, f"{taken:.1f}", taken <= seconds, fitted_on, len(board), f"{100 * ap:.1f}")
        )
        print(*found[-1], flush=True)
        print(board.to_string(), flush=True)
    names = ["time limit, s", "fit, s", "within", "fitted", "candidates judged", "AP (%)"]
    text = (
        f"A fit to {rows:,} rows of {columns} columns, "
        f"{100 * y.mean():.1f} % of them positive, beside its time limit; average precision on the "
        "50,000 others."
    )
    return [(text, pd.DataFrame(found, columns=names))]


if __name__ == "__main__":
    write("auto_limit", "python benchmarks/auto.py", limit())
