"""Ranking a file larger than memory, beside reading it with Polars and predicting with XGBoost.

python benchmarks/rank.py            # half an hour on 2 cores, 7 GB of disk in the temporary folder
python benchmarks/rank.py --quick
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import xgboost
from _report import write

import rarefind
from rarefind import TableModel
from rarefind.boosting import SGBAPClassifier
from rarefind.tables import rank_file
from rarefind.trees import MetaAPClassifier

NUMBERS, TEXTS = 270, 30
GROUP = 100_000  # rows of a row group, and of a slice that Polars reads
KNOWN = 30_000  # rows to fit by
TREES, DEPTH = 300, 4
BUDGET = 200
REPEATS = 3
ESTIMATORS = {
    "SGBAP": SGBAPClassifier(
        n_estimators=TREES,
        max_depth=DEPTH,
        early_stopping_rounds=None,
        threshold=None,
        random_state=0,
        n_jobs=-1,
    ),
    "MetaAP": MetaAPClassifier(splitter="histogram", random_state=0, n_jobs=-1),
}


def group(start: int, rows: int) -> pa.Table:
    """Numbers of 32 and of 64 bits, some of them whole or of two digits, text, and missing values in both."""
    rng = np.random.default_rng((0, start))
    columns: dict[str, Any] = {"id": np.arange(start, start + rows)}
    signal = np.zeros(rows)
    for j in range(NUMBERS):
        values = rng.standard_normal(rows, dtype=np.float32 if j % 2 else np.float64)
        if j < 10:
            signal += values
        if j % 5 == 1:
            values = np.round(np.exp(values), 2)
        if j % 5 == 2:
            values = np.floor(np.abs(values) * 10)
        missing = rng.random(rows, dtype=np.float32) < 0.2 if j % 4 == 3 else None
        columns[f"x{j}"] = pa.array(values, mask=missing)
    for j in range(TEXTS):
        levels = np.array([f"level {i}" for i in range(3 + 5 * j)], dtype=object)
        codes = rng.integers(0, levels.size, rows, dtype=np.int32)
        signal += codes == j
        held = pa.DictionaryArray.from_arrays(
            pa.array(codes, mask=rng.random(rows, dtype=np.float32) < 0.05), pa.array(levels)
        )
        columns[f"t{j}"] = held.cast(pa.string())
    columns["y"] = (signal > 10).astype(np.int8)
    return pa.table(columns)


def make(path: Path, rows: int) -> None:
    """The rows in groups: the same ones at the start of every size."""
    with pq.ParquetWriter(path, group(0, 1).schema) as file:
        for start in range(0, rows, GROUP):
            file.write_table(group(start, min(GROUP, rows - start)), row_group_size=GROUP)


def file_of(folder: Path, rows: int) -> Path:
    """The file with so many rows, made if it is not there."""
    path = folder / f"{rows}.parquet"
    if not path.exists():
        make(folder / "unfinished.parquet", rows)
        (folder / "unfinished.parquet").rename(path)
    return path


def as_numbers(frame: pl.LazyFrame, levels: dict[str, list[str]]) -> pl.LazyFrame:
    """What XGBoost takes: levels by number, all in 32 bits."""
    coded = [
        pl.col(name).cast(pl.Enum(known), strict=False).to_physical()
        for name, known in levels.items()
    ]
    return frame.with_columns(coded).cast(pl.Float32)


def fit(folder: Path, path: Path) -> None:
    """Our models, and a booster of as many trees of the same depth, from the first rows."""
    known = pl.scan_parquet(path).head(KNOWN).collect()
    for name, estimator in ESTIMATORS.items():
        model = TableModel(estimator, "y", id="id").fit(known)
        rarefind.save(model, folder / f"{name}.rarefind")
    texts = known.select(pl.col(pl.String)).columns
    levels = {name: known[name].drop_nulls().unique().sort().to_list() for name in texts}
    X = as_numbers(known.lazy().drop("id", "y"), levels).collect()
    kinds = ["c" if name in levels else "q" for name in X.columns]
    data = xgboost.DMatrix(
        X.to_numpy(), known["y"].to_numpy(), feature_types=kinds, enable_categorical=True
    )
    params = {"objective": "binary:logistic", "max_depth": DEPTH, "learning_rate": 0.1}
    booster = xgboost.train(params, data, TREES)
    booster.save_model(folder / "booster.ubj")
    (folder / "levels.json").write_text(json.dumps(levels))


def by_polars_and_xgboost(folder: Path, path: Path) -> list[int]:
    """The highest rows, a slice of the file at a time."""
    booster = xgboost.Booster(model_file=folder / "booster.ubj")
    levels = json.loads((folder / "levels.json").read_text())
    rows = pl.scan_parquet(path).select(pl.len()).collect().item()
    scores = []
    for start in range(0, rows, GROUP):
        part = pl.scan_parquet(path).drop("id", "y").slice(start, GROUP)
        X = as_numbers(part, levels).collect().to_numpy()
        scores.append(booster.inplace_predict(X))
    return np.argsort(-np.concatenate(scores), kind="stable")[:BUDGET].tolist()


def by_rarefind(name: str, folder: Path, path: Path) -> list[int]:
    model = rarefind.load(folder / f"{name}.rarefind")
    return rank_file(model, path, BUDGET).index.tolist()


def one(what: str, folder: Path, path: Path) -> None:
    """Rank once in this process, and print what it took."""
    clock, processor = time.perf_counter(), time.process_time()
    if what in ESTIMATORS:
        found = by_rarefind(what, folder, path)
    else:
        found = by_polars_and_xgboost(folder, path)
    took = time.perf_counter() - clock, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"clock": took[0], "processor": took[1], "peak": peak, "rows": len(found)}))


def measured(what: str, folder: Path, path: Path) -> dict[str, float]:
    """The same in a process of its own, whose memory is that of nothing else."""
    command = [sys.executable, __file__, "--one", what, str(folder), str(path)]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


PEER = "Polars and XGBoost"


def compared(folder: Path, path: Path, rows: int, repeats: int) -> pd.DataFrame:
    """All in turn, several times; medians."""
    runs = [{w: measured(w, folder, path) for w in (PEER, *ESTIMATORS)} for _ in range(repeats)]
    found = []
    for what in (PEER, *ESTIMATORS):
        clock = np.median([run[what]["clock"] for run in runs])
        ratios = [
            [run[PEER][unit] / run[what][unit] for run in runs] for unit in ("clock", "processor")
        ]
        found.append(
            {
                "rows": f"{rows:,}",
                "by": what,
                "seconds": f"{clock:.1f}",
                "rows a second": f"{rows / clock:,.0f}",
                "speed beside Polars and XGBoost (clock)": f"{np.median(ratios[0]):.2f}",
                "the same by processor time": f"{np.median(ratios[1]):.2f}",
                "peak memory (GiB)": f"{max(run[what]['peak'] for run in runs):.2f}",
            }
        )
    return pd.DataFrame(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument(
        "--folder", type=Path, help="keep the files here, and use those that are there"
    )
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(given.one[0], Path(given.one[1]), Path(given.one[2]))
        return
    largest = 100_000 if given.quick else 3_000_000
    growth = (10_000, 30_000) if given.quick else (10_000, 100_000, 1_000_000)
    busy = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder = given.folder or Path(name)
        if not (folder / "levels.json").exists():
            fit(folder, file_of(folder, KNOWN))
        tables = []
        for rows in (*growth, largest):
            repeats = REPEATS if rows < 1_000_000 else 1
            tables.append(compared(folder, file_of(folder, rows), rows, repeats))
        size = file_of(folder, largest).stat().st_size / 2**30
    write(
        "rank-quick" if given.quick else "rank",
        " ".join(["python benchmarks/rank.py", *sys.argv[1:]]),
        [
            (
                f"`rank_file` on a Parquet file of {largest:,} rows, {NUMBERS} columns of numbers "
                f"and {TEXTS} of text, {size:.1f} GiB in row groups of {GROUP:,} rows: the "
                f"{BUDGET} rows to check first, with probability and reason. SGBAP has {TREES} trees "
                f"of depth {DEPTH}; beside it a booster of XGBoost with as many of that depth: Polars "
                "reads the same columns a row group at a time and gives levels their numbers, "
                "XGBoost predicts in place, both with all threads. Each in a process of its own and "
                f"in turn, {REPEATS} rounds and one of the largest files, with the time to open the model and without that of imports; medians, and "
                "the most memory of all runs. Speed is that of Polars and XGBoost in the same round "
                f"= 1. The machine was shared: its load was {busy:.1f} before the run and "
                f"{os.getloadavg()[0]:.1f} at the end, on {os.cpu_count()} cores.",
                tables[-1],
            ),
            (
                "The same with fewer rows. To open the model and to explain the list takes a few seconds, whatever the rows.",
                pd.concat(tables[:-1]),
            ),
        ],
    )


if __name__ == "__main__":
    main()
