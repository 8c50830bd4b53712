"""Payments and their features: the simulator, and features beside pandas' own rolling windows.

python benchmarks/data.py            # about three minutes on 2 cores
python benchmarks/data.py --quick
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

import numpy as np
import pandas as pd
from _report import write

from rarefind.data import simulate_transactions, transaction_features

WINDOWS = ("1h", "1D", "7D", "30D")
DELAY = pd.Timedelta("7D")
REPEATS = 5


def seconds(work):
    """On the clock, and of the processor: the second is not changed by what else is running."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - processor


def pandas_features(payments: pd.DataFrame) -> pd.DataFrame:
    """The same windows with ``groupby.rolling``; delayed ones as differences of two windows.

    One call a window and sum over all entities, which is faster than the loop over entities that
    the fraud-detection handbook prints. Times ascend in the table, as rolling windows ask for.
    """
    found = {}
    by_time = payments.set_index("time")
    for who in ("customer", "terminal"):
        groups = by_time.groupby(who)
        # All results come in the order of entities, then of rows: one sort brings them all back.
        order = np.argsort(np.argsort(payments[who].to_numpy(), kind="stable"), kind="stable")
        for window in WINDOWS:
            amounts = groups["amount"].rolling(window)
            count, total = amounts.count().to_numpy()[order], amounts.sum().to_numpy()[order]
            found[f"{who}_count_{window}"] = count
            found[f"{who}_mean_{window}"] = total / count
    labels = by_time.groupby("terminal")["fraud"]
    young = labels.rolling(DELAY)
    young_count, young_fraud = young.count().to_numpy(), young.sum().to_numpy()
    for window in WINDOWS:
        both = labels.rolling(DELAY + pd.Timedelta(window))
        count = (both.count().to_numpy() - young_count)[order]
        fraud = (both.sum().to_numpy() - young_fraud)[order]
        risk = np.divide(fraud, count, out=np.zeros_like(fraud), where=count > 0)
        found[f"terminal_risk_{window}"] = risk
        found[f"terminal_fraud_count_{window}"] = fraud
    return pd.DataFrame(found, index=payments.index)


def simulation(size: tuple[int, ...]) -> tuple[pd.DataFrame, pd.DataFrame]:
    start = time.perf_counter()
    payments = simulate_transactions(*size)
    row = {
        "customers": f"{size[0]:,}",
        "terminals": f"{size[1]:,}",
        "days": size[2],
        "rows": f"{len(payments):,}",
        "fraud": f"{payments['fraud'].mean():.2%}",
        "seconds": f"{time.perf_counter() - start:.1f}",
    }
    return payments, pd.DataFrame([row])


def comparison(payments: pd.DataFrame) -> pd.DataFrame:
    transaction_features(payments.head(1_000))  # compiles
    ours = np.median([seconds(lambda: transaction_features(payments)) for _ in range(REPEATS)], 0)
    theirs = np.median([seconds(lambda: pandas_features(payments)) for _ in range(REPEATS)], 0)
    expected = pandas_features(payments)
    found = transaction_features(payments)
    apart = float(np.abs(found[expected.columns] - expected).max().max())
    row = {"rows": f"{len(payments):,}"}
    for place, unit in enumerate(("clock", "processor")):
        row[f"rarefind (s, {unit})"] = f"{ours[place]:.2f}"
        row[f"pandas (s, {unit})"] = f"{theirs[place]:.1f}"
        row[f"pandas / rarefind ({unit})"] = f"{theirs[place] / ours[place]:.1f}"
    row["columns of each"] = f"{found.shape[1]}, {expected.shape[1]}"
    row["largest difference"] = f"{apart:.0e}"
    return pd.DataFrame([row])


def memory(size: tuple[int, ...]) -> pd.DataFrame:
    """Peak memory of a fresh process that simulates the payments and builds their features."""
    code = (
        "import resource\n"
        "from rarefind.data import simulate_transactions, transaction_features\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "steps = [peak()]\n"
        f"payments = simulate_transactions(*{size})\n"
        "steps.append(peak())\n"
        "features = transaction_features(payments)\n"
        "print(*steps, peak(), payments.memory_usage().sum() + features.memory_usage().sum())"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imports, simulated, all_of_it, tables = map(int, out.stdout.split())
    return pd.DataFrame(
        [
            {
                "after imports (GiB)": f"{imports / 2**20:.2f}",
                "after the simulation (GiB)": f"{simulated / 2**20:.2f}",
                "after the features (GiB)": f"{all_of_it / 2**20:.2f}",
                "the two tables alone (GiB)": f"{tables / 2**30:.2f}",
            }
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    size = (500, 1_000, 60) if quick else (5_000, 10_000, 183)
    # First, while this process is small: Linux counts the parent's memory in a child's peak.
    peak = memory(size)
    payments, simulated = simulation(size)
    write(
        "data-quick" if quick else "data",
        f"python benchmarks/data.py{' --quick' if quick else ''}",
        [
            ("The simulator with its default fraud.", simulated),
            (
                f"Features over {', '.join(WINDOWS)} of all these payments, compiled before, beside "
                "the same written with pandas' `groupby.rolling` on all rows: counts, means and the "
                f"delayed risk. Medians of {REPEATS} runs each, both on one thread; time of the "
                "processor beside that of the clock, since the machine was shared. rarefind's time "
                "includes seven columns that pandas' does not (time since the last, ratio to the own "
                "mean, the time of day and week). The largest difference is over all values of the common columns.",
                comparison(payments),
            ),
            ("Peak memory so far of a process of its own: simulator, then features.", peak),
        ],
    )


if __name__ == "__main__":
    main()
