"""What a round of boosting costs: SGBAP beside XGBoost's own logistic loss, from 10k to 2M rows.

python benchmarks/boosting_speed.py            # a few minutes on 2 cores, 6 GB of memory
python benchmarks/boosting_speed.py --quick
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pandas as pd
import xgboost
from _report import write

from rarefind.boosting import SGBAPClassifier

COLUMNS = 40
ROUNDS = 15
WARM = 3  # rounds before the clock starts
THREADS = 2
REPEATS = 2


def table(n: int) -> tuple[np.ndarray, np.ndarray]:
    """As large as the thesis' payments, with its 0.2 % of positives."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, COLUMNS))
    signal = X[:, :6].sum(axis=1) + X[:, 6] * X[:, 7] + rng.normal(size=n)
    return X, signal > np.quantile(signal, 0.998)


class Logistic:
    """XGBoost's own objective and bins."""

    def __init__(self, X: np.ndarray, y: np.ndarray) -> None:
        self.data = xgboost.QuantileDMatrix(X, y.astype(float), nthread=THREADS)
        params = {"objective": "binary:logistic", "max_depth": 6, "nthread": THREADS}
        self.booster = xgboost.Booster(params | {"learning_rate": 0.1}, [self.data])

    def step(self, number: int) -> None:
        self.booster.update(self.data, number)


def growing(X: np.ndarray, y: np.ndarray, **params: Any) -> Any:
    """A model of ours before its first round."""
    model = SGBAPClassifier(max_depth=6, n_jobs=THREADS, random_state=0, **params)
    model._start_fit(X, y, True)
    model._is_set = np.zeros(COLUMNS, dtype=bool)
    return model._grow(model._rows(X, y.astype(int), np.ones(len(y))), None, 0)


METHODS: dict[str, Any] = {
    "XGBoost, binary:logistic": Logistic,
    "exp": lambda X, y: growing(X, y, mix=0.0, subsample=1.0),
    "exp, half of the rows": lambda X, y: growing(X, y, mix=0.0, subsample=0.5),
    "log": lambda X, y: growing(X, y, surrogate="log", mix=0.0, subsample=1.0),
    "exp, mixed, 70 % of the rows (default)": lambda X, y: growing(X, y),
}


def seconds_a_round(n: int) -> dict[str, tuple[float, float]]:
    """Seconds to make the bins and seconds a round, the least of several turns."""
    X, y = table(n)
    found = dict.fromkeys(METHODS, (np.inf, np.inf))
    for _ in range(REPEATS):
        for name, make in METHODS.items():
            start = time.perf_counter()
            model = make(X, y)
            ready = time.perf_counter() - start
            for number in range(WARM):
                model.step(number)
            start = time.perf_counter()
            for number in range(WARM, ROUNDS):
                model.step(number)
            spent = (time.perf_counter() - start) / (ROUNDS - WARM)
            found[name] = (min(found[name][0], ready), min(found[name][1], spent))
            del model
    return found


def sigmoid_alone(n: int) -> None:
    """A fit of the sigmoid form in a process of its own, for its memory."""
    import resource

    X, y = table(n)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    model = SGBAPClassifier(
        surrogate="sigmoid", subsample=0.1, n_estimators=3, n_jobs=THREADS, random_state=0
    )
    model.fit(X, y)
    spent = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(before / 2**20, after / 2**20, spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sigmoid", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.sigmoid:
        sigmoid_alone(given.sigmoid)
        return
    sizes = [10_000, 50_000] if given.quick else [10_000, 100_000, 1_000_000, 2_000_000]
    rows = []
    for n in sizes:
        found = seconds_a_round(n)
        base = found["XGBoost, binary:logistic"]
        for name, (ready, spent) in found.items():
            rows.append(
                {
                    "rows": f"{n:,}",
                    "loss": name,
                    "bins, s": f"{ready:.2f}",
                    "a round, ms": f"{1000 * spent:.1f}",
                    "round ÷ XGBoost": f"{spent / base[1]:.2f}",
                    "ms a round and 100,000 rows": f"{1e8 * spent / n:.2f}",
                }
            )
    largest = sizes[-1]
    out = subprocess.run(
        [sys.executable, __file__, "--sigmoid", str(largest)],
        capture_output=True,
        text=True,
        check=True,
    )
    before, after, spent = map(float, out.stdout.split())
    memory = pd.DataFrame(
        [
            {
                "rows": f"{largest:,}",
                "GiB with the table alone": f"{before:.2f}",
                "GiB at most": f"{after:.2f}",
                "fit of 3 rounds, s": f"{spent:.1f}",
            }
        ]
    )
    text = (
        f"{COLUMNS} columns, 0.2 % of positives, depth 6, {THREADS} threads; rounds {WARM + 1} to "
        f"{ROUNDS}, the least of {REPEATS} turns. XGBoost has its own 256 bins, ours are "
        "positive-aware (256)."
    )
    command = "python benchmarks/boosting_speed.py" + (" --quick" if given.quick else "")
    name = "boosting_speed" + ("-quick" if given.quick else "")
    write(
        name,
        command,
        [
            (text, pd.DataFrame(rows)),
            (
                "A whole fit of the sigmoid form, with its held-out fold, in batches of 10 %.",
                memory,
            ),
        ],
    )


if __name__ == "__main__":
    main()
