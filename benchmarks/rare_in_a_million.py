"""10 positives in a million rows, beside 1,000: what each estimator takes to learn from them.

python benchmarks/rare_in_a_million.py
python benchmarks/rare_in_a_million.py nlb me2      (these only; the others stay as they were)
python benchmarks/rare_in_a_million.py --quick

Every fit runs in a process of its own with one thread. What is measured is kept in
results/rare_in_a_million.json, and a second call goes on where the first was stopped; --again
measures anew.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
from _report import RESULTS, write
from sklearn.datasets import make_classification

from rarefind._core.progress import listen_to_progress
from rarefind.auto import estimators, find_estimator

COLUMNS = 10
POSITIVES = (10, 1_000)
# auto fits the others, rule-list is given its rules, and IML learns when it scores.
LEFT_OUT = ("auto", "rule-list", "iml")
# kRNN holds rows out for a tuned threshold only, and that is what takes long.
TUNED = "krnn tuned"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def table(rows: int, positives: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns; the positives are two standard deviations off in three of them."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(rows, COLUMNS)), np.zeros(rows, dtype=int)
    rare = rng.choice(rows, positives, replace=False)
    y[rare] = 1
    X[rare, :3] += 2.0
    return X, y


def make(name: str) -> Any:
    estimator = find_estimator(name.split()[0]).make(random_state=0, n_jobs=1)
    return estimator.set_params(threshold="auto") if name == TUNED else estimator


def one_fit(name: str, rows: int, positives: int) -> dict[str, Any]:
    """Measured in this process: seconds of the processor, and the most memory it had."""
    warnings.simplefilter("ignore")
    estimator = make(name)
    small = make_classification(1_000, COLUMNS, weights=[0.95], random_state=0)
    make(name).fit(*small)  # compiles
    X, y = table(rows, positives)
    reported = [time.process_time()]
    with listen_to_progress(lambda done, total: reported.append(time.process_time())):
        estimator.fit(X, y)
    reported.append(time.process_time())
    estimator.priority(X[:1_000])
    return {
        "fit": reported[-1] - reported[0],
        "score": time.process_time() - reported[-1],
        "reports": len(reported) - 2,
        "silence": float(np.diff(reported).max()),
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def in_own_process(name: str, rows: int, positives: int, limit: int) -> dict[str, Any]:
    """Seconds and memory, or the limit that was reached."""
    command = [sys.executable, __file__, "--one", name, "--rows", str(rows)]
    done = subprocess.run(
        [*command, "--positives", str(positives)],
        env=os.environ | dict.fromkeys(THREADS, "1"),
        # Beside the fit, the process imports, compiles and draws the rows.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit + 60, limit + 65)),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode < 0:
        return {"over": limit}
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def seconds(found: dict[str, Any] | None) -> str:
    if found is None:
        return "not run"
    if "over" in found:
        return f"over {found['over']}"
    return found.get("error") or f"{found['fit']:.0f}"


def ratio(few: dict[str, Any] | None, many: dict[str, Any] | None) -> str:
    if not few or not many or "fit" not in few:
        return "–"
    if "over" in many:
        return f"below {max(few['fit'] / many['over'], 0.01):.2f}"
    return f"{few['fit'] / many['fit']:.2f}" if "fit" in many else "–"


def silence(found: dict[str, Any] | None) -> str:
    return f"{found['silence']:.0f}" if found and "silence" in found else "–"


def memory(found: dict[str, Any] | None) -> str:
    return f"{found['memory']:,.0f}" if found and "memory" in found else "–"


def as_table(names: list[str], measured: dict[str, Any]) -> pd.DataFrame:
    lines = []
    for name in names:
        few, many = (measured.get(f"{name} {positives}") for positives in POSITIVES)
        lines.append(
            {
                "estimator": f"`{name}`",
                "10 positives (s)": seconds(few),
                "1,000 positives (s)": seconds(many),
                "ratio": ratio(few, many),
                "longest without progress (s)": silence(few),
                "1,000 rows scored (s)": f"{few['score']:.2f}" if few and "score" in few else "–",
                "memory, 10 (MB)": memory(few),
                "memory, 1,000 (MB)": memory(many),
            }
        )
    return pd.DataFrame(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--quick", action="store_true", help="100,000 rows")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--limit", type=int, default=600, help="seconds of the processor a fit")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--positives", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(one_fit(asked.one, asked.rows, asked.positives)))
        return
    rows = 100_000 if asked.quick else asked.rows
    every = [each.name for each in estimators() if each.name not in LEFT_OUT]
    every.insert(every.index("krnn") + 1, TUNED)
    page = "rare_in_a_million" + ("-quick" if asked.quick else "")
    kept = RESULTS / f"{page}.json"
    measured = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    for name in asked.names or every:
        for positives in POSITIVES:
            key = f"{name} {positives}"
            if key in measured and not asked.again:
                continue
            measured[key] = in_own_process(name, rows, positives, asked.limit)
            print(key, measured[key], flush=True)
            kept.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    text = (
        f"Fits with default settings to {rows:,} rows of {COLUMNS} columns, 10 or 1,000 of them "
        "positive, and priorities of 1,000 rows, each in a process of its own with one thread. "
        f'`{TUNED}` has `threshold="auto"`, for which rows are held out; the method\'s own '
        "threshold takes no search, and the time is that of scoring. "
        "What was measured before is kept, so rows may be of different calls on one machine. "
        f"Times are of the processor; a fit is stopped after about {asked.limit} s: ME² learns "
        "ellipsoids for each positive, and LambdaMART compares each with the negatives, so that "
        "their times grow with the positives. *Longest without progress* is the longest part of "
        "a fit with 10 positives without a step reported, where it was measured. Memory is "
        "the peak of the process, with Python, the libraries and the table "
        f"({rows * COLUMNS * 8 / 2**20:.0f} MB)."
    )
    options = " --quick" if asked.quick else ""
    command = f"python benchmarks/rare_in_a_million.py{options}"
    write(page, command, [(text, as_table(every, measured))])


if __name__ == "__main__":
    main()
