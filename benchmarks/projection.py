"""Boosting on learned directions: what it costs, and what directions add, beside the thesis' table 4.2.

python benchmarks/projection.py --data ../shared/data
python benchmarks/projection.py --quick

`--only speed` or `insurance` runs one part; public sets are in the study `projections`. The insurer's table is made up by `studies`;
`--rows` and `--seeds` say how many rows of it and how many tables. The published values come from
`--published`, by default beside the data; without them they are left out.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xgboost
from _report import write
from scipy.stats import t as student
from sklearn.model_selection import train_test_split
from xgboost import XGBClassifier

from rarefind.boosting import ProjectionBoostingClassifier
from rarefind.metrics import average_precision, f_beta
from rarefind.selection import best_threshold
from studies.insurance import NUMBERS, STUDY_SEEDS, TEXTS, coded, insurance, one_hot
from studies.projections import SETS

THREADS = 2
DIRECTIONS = ("none", "rca", "pca", "weighted-pca")
SPLITS = 5  # of conditions.py
QUICK = {"rows": 3_000, "seeds": 2, "sets": SETS[1:3], "splits": 2, "sizes": [2_000, 6_000]}


def interval(values: Any, scale: float = 1.0, digits: int = 1) -> str:
    """Mean ± half of the 95 % interval of the mean (Student)."""
    values = scale * np.asarray(values, dtype=float)
    n = len(values)
    if n < 2:
        return f"{values.mean():.{digits}f}"
    half = student.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n)
    return f"{values.mean():.{digits}f} ± {half:.{digits}f}"


def size_of(nodes: pd.DataFrame) -> dict[str, int]:
    """Columns, directions among them, and leaves of the trees."""
    leaf = nodes["Feature"] == "Leaf"
    return {"columns": nodes.loc[~leaf, "Feature"].nunique(), "leaves": int(leaf.sum())}


def measures(y: np.ndarray, score: np.ndarray, threshold: float) -> dict[str, float]:
    alert = score >= threshold
    hits = (alert & (y == 1)).sum()
    return {
        "F1": f_beta(y, alert.astype(int), beta=1.0),
        "precision": hits / max(1, alert.sum()),
        "recall": hits / y.sum(),
        "AP": average_precision(y, score),
    }


# --- what it costs ------------------------------------------------------------------------------


def by_xgboost(X: np.ndarray, y: np.ndarray, is_level: np.ndarray, rounds: int) -> Any:
    kinds = np.where(is_level, "c", "q").tolist()
    data = xgboost.DMatrix(X, y, feature_types=kinds, enable_categorical=True, nthread=THREADS)
    params = {"objective": "binary:logistic", "max_depth": 4, "learning_rate": 0.1}
    params |= {"tree_method": "hist", "nthread": THREADS, "seed": 0}
    return xgboost.train(params, data, rounds)


def ours(X: np.ndarray, y: np.ndarray, is_level: np.ndarray, **params: Any) -> Any:
    model = ProjectionBoostingClassifier(
        early_stopping_rounds=None,
        categorical_features=is_level,
        random_state=0,
        n_jobs=THREADS,
        pos_label=1,
        **params,
    )
    return model.fit(X, y)


def timed(n: int, methods: dict[str, Callable[..., Any]]) -> dict[str, tuple[float, int | str]]:
    """Seconds of each fit, and how many directions it kept."""
    table, y = insurance(n, 0)
    X, levels = coded(table)
    given = (X.to_numpy(), y, X.columns.isin(levels))
    found = {}
    for name, fit in methods.items():
        start = time.perf_counter()
        model = fit(*given)
        spent = time.perf_counter() - start
        found[name] = (spent, len(model.directions_) if name != "XGBoost" else "")
        print(n, name, f"{spent:.2f} s", flush=True)
    return found


# Without the trees that set the threshold.
ALONE = 'directions="weighted-pca", threshold=None'


def speed(given: argparse.Namespace, command: str, suffix: str) -> None:
    sizes = QUICK["sizes"] if given.quick else [30_000, 300_000]
    rounds = 20 if given.quick else 100
    methods: dict[str, Callable[..., Any]] = {"XGBoost": partial(by_xgboost, rounds=rounds)}
    for name in reversed(DIRECTIONS):
        methods[f'directions="{name}"'] = partial(ours, directions=name, n_estimators=rounds)
    methods[ALONE] = partial(ours, directions="weighted-pca", n_estimators=rounds, threshold=None)
    timed(2_000, methods)  # compiles
    found = {n: timed(n, methods) for n in sizes}
    rows = []
    for before, n in zip([None, *sizes], sizes, strict=False):
        for name, (spent, directions) in found[n].items():
            growth = "" if before is None else f"{spent / found[before][name][0]:.1f}"
            rows.append(
                {
                    "rows": f"{n:,}",
                    "fit": name,
                    "seconds": f"{spent:.1f}",
                    "÷ XGBoost": f"{spent / found[n]['XGBoost'][0]:.1f}",
                    "times the size before": growth,
                    "directions kept": directions,
                }
            )
    last = found[sizes[-1]]
    whole, alone = (
        last[name][0] / last["XGBoost"][0] for name in ('directions="weighted-pca"', ALONE)
    )
    text = (
        f"A fit on {sizes[-1]:,} rows of the made-up insurer's table (19 numbers, 21 columns of "
        f"levels split by sets, 7 % positives): {rounds} trees of depth 4, {THREADS} threads, no early "
        "stopping, after a first fit that compiles. XGBoost makes its matrix and the trees once. With "
        "`threshold=None` ours does so, too, after it has learned directions and dropped columns: "
        f"{alone:.1f} times as long. By default it first makes as many trees with rows held out, for "
        f"the threshold and the probabilities: {whole:.1f} times."
    )
    write(f"projection_speed{suffix}", command, [(text, pd.DataFrame(rows))])


# --- the insurer's table ------------------------------------------------------------------------

CODINGS = ("sets", "one-hot")
# Names in the published table; it has no weighted PCA without one-hot coding.
PUBLISHED = {
    ("sets", "none"): "none",
    ("sets", "rca"): "RCA",
    ("sets", "pca"): "PCA",
    ("one-hot", "none"): "one-hot",
    ("one-hot", "rca"): "one-hot+RCA",
    ("one-hot", "pca"): "one-hot+PCA",
    ("one-hot", "weighted-pca"): "one-hot+weighted-PCA",
}
XGB = "XGBoost itself"
SHOWN = {"columns": (1, 0), "leaves": (1, 0), "F1": (100, 1), "precision": (100, 1)}
SHOWN |= {"recall": (100, 1), "AP": (100, 1)}


def as_coded(X: pd.DataFrame, coding: str) -> tuple[pd.DataFrame, list[str]]:
    """The table as models take it, and its columns of levels."""
    return coded(X) if coding == "sets" else (one_hot(X), [])


def three_parts(y: np.ndarray, seed: int) -> list[np.ndarray]:
    """60 % to learn, 20 % to stop and to set the threshold by, 20 % to test."""
    rest, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=seed)
    train, held = train_test_split(rest, test_size=0.25, stratify=y[rest], random_state=seed)
    return [train, held, test]


def projected(X: Any, y: Any, levels: list[str], parts: Any, name: str, seed: int) -> Any:
    a, b, c = parts
    model = ProjectionBoostingClassifier(
        directions=name,
        categorical_features=levels or None,
        random_state=seed,
        n_jobs=THREADS,
        pos_label=1,
    )
    model.fit(X.iloc[a], y[a], eval_set=(X.iloc[b], y[b]))
    size = size_of(model.trees_to_dataframe()) | {"leaves": model.n_leaves_}
    return size | measures(y[c], model.priority(X.iloc[c]), model.threshold_)


def plain(X: Any, y: Any, levels: list[str], parts: Any, seed: int) -> Any:
    """XGBoost with as many trees, and the threshold by the held-out rows."""
    a, b, c = parts
    X = X.astype(dict.fromkeys(levels, int)).astype(dict.fromkeys(levels, "category"))
    model = XGBClassifier(
        n_estimators=300,
        learning_rate=0.1,
        max_depth=4,
        early_stopping_rounds=50,
        eval_metric="aucpr",
        enable_categorical=True,
        random_state=seed,
        n_jobs=THREADS,
    )
    model.fit(X.iloc[a], y[a], eval_set=[(X.iloc[b], y[b])], verbose=False)
    cut = best_threshold(y[b], model.predict(X.iloc[b], output_margin=True)).threshold
    nodes = model.get_booster()[: model.best_iteration + 1].trees_to_dataframe()
    return size_of(nodes) | measures(y[c], model.predict(X.iloc[c], output_margin=True), cut)


def on_insurance(n: int, seed: int) -> list[dict[str, Any]]:
    warnings.filterwarnings("ignore")
    table, y = insurance(n, seed)
    parts = three_parts(y, seed)
    rows = []
    for coding in CODINGS:
        X, levels = as_coded(table, coding)
        for name in (*DIRECTIONS, XGB):
            start = time.perf_counter()
            if name == XGB:
                found = plain(X, y, levels, parts, seed)
            else:
                found = projected(X, y, levels, parts, name, seed)
            found["seconds"] = time.perf_counter() - start
            rows.append({"levels": coding, "directions": name, "seed": seed, **found})
            print(rows[-1], flush=True)
    return rows


def published(path: Path | None) -> pd.DataFrame | None:
    """Table 4.2: one row a method, one column a measure."""
    if path is None or not path.exists():
        return None
    table = pd.read_csv(path)
    table = table[(table.table.astype(str) == "4.2") & table.source.str.startswith("004")]
    wide = table.pivot_table(index="method", columns="metric", values="value")
    return wide.rename(columns={"variables": "columns"})


def summary(found: pd.DataFrame, known: pd.DataFrame | None) -> pd.DataFrame:
    rows = []
    for coding in CODINGS:
        for name in (*DIRECTIONS, XGB):
            own = found[(found["levels"] == coding) & (found["directions"] == name)]
            row = {"levels": coding, "directions": name}
            row |= {m: interval(own[m], *how) for m, how in SHOWN.items()}
            row["seconds"] = f"{own['seconds'].mean():.0f}"
            method = PUBLISHED.get((coding, name))
            for m in ("columns", "leaves", "F1") if known is not None else ():
                scale, digits = SHOWN[m]
                value = "" if method is None else f"{scale * known.loc[method, m]:.{digits}f}"
                row[f"published {m}"] = value
            rows.append(row)
    return pd.DataFrame(rows)


def order_holds(found: pd.DataFrame, known: pd.DataFrame) -> str:
    """Whether the steps of the published order by F1 are steps here, too."""
    by = found.set_index(["levels", "directions", "seed"])["F1"].unstack()
    order = sorted(PUBLISHED, key=lambda key: known.loc[PUBLISHED[key], "F1"])
    steps = list(pairwise(order))
    fails = [(a, b) for a, b in steps if by.loc[b].mean() <= by.loc[a].mean()]
    sure = sum(_surely(by.loc[b] - by.loc[a]) for a, b in steps)
    verdict = f"The thesis' order by F1 {'does not hold' if fails else 'holds'} here"
    listed = "; ".join(
        f"{PUBLISHED[b]} ({100 * by.loc[b].mean():.1f}) is not above {PUBLISHED[a]} "
        f"({100 * by.loc[a].mean():.1f})"
        for a, b in fails
    )
    return (
        f"{verdict}: {len(steps) - len(fails)} of {len(steps)} steps from one method to the next are "
        f"upwards, {sure} of them with a 95 % interval of the difference above 0."
        + (f" {listed[0].upper()}{listed[1:]}." if fails else "")
    )


def _surely(difference: pd.Series) -> bool:
    n = len(difference)
    if n < 2:
        return False
    half = student.ppf(0.975, n - 1) * difference.std() / np.sqrt(n)
    return bool(difference.mean() - half > 0)


def insurer(given: argparse.Namespace, command: str, suffix: str) -> None:
    n = QUICK["rows"] if given.quick else given.rows
    seeds = STUDY_SEEDS[: QUICK["seeds"] if given.quick else given.seeds]
    found = pd.DataFrame([row for seed in seeds for row in on_insurance(n, seed)])
    known = published(given.published)
    text = (
        f"The made-up insurer's table (`studies.insurance`), {n:,} rows where the thesis has "
        f"300,000, seeds {', '.join(map(str, seeds))}: 60 % to learn, 20 % to stop and to set the "
        "threshold by, 20 % to test. Mean and 95 % interval over the seeds (Student), measures in %. "
        f"{len(NUMBERS)} numbers and {len(TEXTS)} columns of levels, split by sets or one-hot; without "
        "one-hot coding the thesis splits levels by their numbers. Columns are those that trees use, "
        "directions among them. All models have at most 300 trees of depth 4 and a rate of 0.1; the "
        "thesis tunes both. The published figures are those of its validation part, of another "
        "table: compare orders, not values."
    )
    if known is not None:
        text += " " + order_holds(found, known)
    write(f"projection{suffix}", command, [(text, summary(found, known))])


# --- public sets --------------------------------------------------------------------------------


def over_sets(found: pd.DataFrame, method: str, measured: dict[str, tuple[int, int]]) -> Any:
    """Means over sets with the interval of the mean over sets, and mean ranks."""
    means = found.groupby([method, "set"])[list(measured)].mean()
    table = pd.DataFrame(
        {m: means[m].groupby(method).apply(interval, *how) for m, how in measured.items()}
    )
    for m in [m for m in ("F1", "AP") if m in measured]:
        wide = means[m].unstack()
        table[f"mean rank by {m}"] = wide.rank(ascending=False).mean(axis=1).round(2)
    return table


def by_set(found: pd.DataFrame, method: str, measure: str, names: list[str]) -> pd.DataFrame:
    """Mean ± half of the 95 % interval over splits, in %, one row a set."""
    wide = found.pivot_table(
        index="set", columns=method, values=measure, aggfunc=lambda v: interval(v, 100)
    )
    return wide.reindex(names).reset_index()


PARTS = {"speed": speed, "insurance": insurer}


def arguments(doc: str, parts: Any, **choices: tuple[str, ...]) -> tuple[argparse.Namespace, str]:
    """What was asked for, and how, for the page; of choices the first is the default."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--data", help="folder with the published sets")
    parser.add_argument("--published", help="file with the published values")
    parser.add_argument("--rows", type=int, default=60_000, help="rows of the insurer's table")
    parser.add_argument("--seeds", type=int, default=3, help="how many tables, at most 5")
    for name, values in choices.items():
        parser.add_argument(f"--{name}", choices=values, default=values[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, for a first try")
    parser.add_argument("--only", choices=parts)
    given = parser.parse_args()
    asked = [
        f"--{name}" if value is True else f"--{name} {value}"
        for name, value in vars(given).items()
        if value != parser.get_default(name) and name != "only"
    ]
    if given.data and not given.published:
        given.published = Path(given.data).parent / "published" / "results.csv"
    given.published = Path(given.published) if given.published else None
    return given, " ".join(asked)


def main() -> None:
    given, asked = arguments(__doc__, PARTS)
    for name, part in PARTS.items():
        if given.only in (None, name):
            command = f"python benchmarks/projection.py --only {name} {asked}".strip()
            part(given, command, "-quick" if given.quick else "")


if __name__ == "__main__":
    main()
