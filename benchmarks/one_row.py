"""Processor time of one row: opening a model in a fresh process, its score, its reason.

python benchmarks/one_row.py                     # two minutes
python benchmarks/one_row.py --beside OTHER/src  # also of another version of the library
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _report import write
from sklearn.ensemble import ExtraTreesClassifier
from xgboost import XGBClassifier

import rarefind
from rarefind import TableModel
from rarefind.auto import AutoClassifier, find_estimator
from rarefind.boosting import NLBClassifier, SGBAPClassifier
from rarefind.conditions import ConditionClassifier
from rarefind.neighbors import GammaKNNClassifier
from rarefind.streams import ONLBClassifier
from rarefind.trees import MetaAPClassifier, MetaAPForestClassifier

ROWS, CALLS = 20_000, 200
OURS = {
    "SGBAPClassifier": lambda: SGBAPClassifier(random_state=0),
    "NLBClassifier": lambda: NLBClassifier(random_state=0),
    "MetaAPClassifier": lambda: MetaAPClassifier(random_state=0),
    "MetaAPForestClassifier": lambda: MetaAPForestClassifier(random_state=0),
    "ConditionClassifier": lambda: ConditionClassifier(random_state=0),
    "AutoClassifier (12 trials)": lambda: AutoClassifier(trials=12, random_state=0),
    "GammaKNNClassifier": lambda: GammaKNNClassifier(random_state=0),
    "GammaKNNClassifier (50,000 rows)": lambda: GammaKNNClassifier(random_state=0),
    "ONLBClassifier": lambda: ONLBClassifier(random_state=0),
    "XGBoost (find_estimator)": lambda: find_estimator("xgboost").make(),
}
LARGE = {"GammaKNNClassifier (50,000 rows)": 50_000}
PEERS = {
    "XGBClassifier (300 trees)": lambda: XGBClassifier(n_estimators=300, n_jobs=1),
    "ExtraTreesClassifier (500 trees)": lambda: ExtraTreesClassifier(500, n_jobs=1),
}
_OPEN = "import rarefind, sys, time; rarefind.load(sys.argv[1]); print(time.process_time())"


def made_up_table(rows: int = ROWS) -> pd.DataFrame:
    """Twelve numbers, two texts, one positive in forty."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"x{i}": rng.normal(size=rows) for i in range(12)})
    table["kind"] = rng.choice(list("abcdefgh"), rows)
    table["city"] = rng.choice([f"c{i}" for i in range(20)], rows)
    score = table.x0 + table.x1 * table.x2 + 2 * (table.kind == "a") - (table.city == "c3")
    table["fraud"] = np.where(score + rng.normal(size=rows) > 4, "yes", "no")
    table.loc[rng.random(rows) < 0.05, "x3"] = np.nan
    return table


def milliseconds(call: Callable[[int], Any], percent: float = 50) -> float:
    """The median, or another percentile, of some calls; the first, which may compile, apart."""
    call(0)
    times = []
    for i in range(CALLS):
        begin = time.process_time()
        call(i)
        times.append(1e3 * (time.process_time() - begin))
    return float(np.percentile(times, percent))


def seconds_to_open(model: TableModel) -> float:
    """Processor time of a fresh process that opens the model, imports included."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.rarefind")
        rarefind.save(model, path)
        command = [sys.executable, "-c", _OPEN, str(path)]
        runs = [subprocess.run(command, capture_output=True, check=True).stdout for _ in range(3)]
    return min(map(float, runs))


def row_scorer_figures(model: TableModel, values: list[dict[str, Any]]) -> dict[str, float]:
    """Of a row scorer, which an older version of the library has not."""
    if not hasattr(model, "row_scorer"):
        return {}
    score = model.row_scorer().score
    return {
        "row_scorer, ms": milliseconds(lambda i: score(values[i])),
        "row_scorer p99, ms": milliseconds(lambda i: score(values[i]), 99),
    }


def measure() -> dict[str, dict[str, float]]:
    """Figures of each model, by what was measured."""
    found = {}
    for name, make in OURS.items():
        table = made_up_table(LARGE.get(name, ROWS))
        rows = [table.iloc[[i]].drop(columns="fraud") for i in range(CALLS)]
        values = [row.to_dict("records")[0] for row in rows]
        model = TableModel(make(), target="fraud").fit(table)
        estimator = model.estimator_
        encoded = pd.DataFrame(
            model.encoder_.transform(table.head(CALLS)),
            columns=model.encoder_.get_feature_names_out(),
        )
        one = [encoded.iloc[[i]] for i in range(CALLS)]
        found[name] = {
            "open, s": seconds_to_open(model),
            "score, ms": milliseconds(lambda i: estimator.priority(one[i])),
            "reason, ms": milliseconds(lambda i: estimator.explain(one[i])),
            "score of a table's row, ms": milliseconds(lambda i: model.priority(rows[i])),
            "its reason, ms": milliseconds(lambda i: model.explain(rows[i])),
            **row_scorer_figures(model, values),
        }
        print(name, found[name], file=sys.stderr, flush=True)
    table = made_up_table()
    numbers = table.filter(like="x").fillna(0.0)
    for name, make in PEERS.items():
        peer = make().fit(numbers, table["fraud"] == "yes")
        score = milliseconds(lambda i: peer.predict_proba(numbers.iloc[[i]]))
        found[name] = {"score, ms": score}
    return found


def measure_other(source: Path) -> dict[str, dict[str, float]]:
    """The same, of the library in another folder."""
    run = subprocess.run(
        [sys.executable, __file__, "--json"],
        env=os.environ | {"PYTHONPATH": str(source)},
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, dict[str, float]] = json.loads(run.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", type=Path, help="folder src of another version")
    parser.add_argument("--json", action="store_true", help="print the figures only")
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    own = measure()
    if given.json:
        print(json.dumps(own))
        return
    text = (
        f"Models of {ROWS:,} rows with twelve numbers and two texts: processor time of opening one "
        "in a fresh process, with all imports, and of one row a call: its score and its reason by "
        "the estimator, on encoded columns, and by the table model, on the table's own; and its score by "
        "the table model's row_scorer, from a dict, median and 99th percentile. Peers score the "
        "numbers only."
    )
    command = "python benchmarks/one_row.py"
    parts = [(text, as_table(own))]
    if given.beside:
        command += " --beside OTHER/src"
        parts.append(("The other version:", as_table(measure_other(given.beside.resolve()))))
    write("one_row", command, parts)


def as_table(found: dict[str, dict[str, float]]) -> pd.DataFrame:
    """A row a model."""
    table = pd.DataFrame.from_dict(found, orient="index")
    return table.map(lambda value: "" if np.isnan(value) else f"{value:.3f}").reset_index(
        names="model"
    )


if __name__ == "__main__":
    main()
