"""Ensembles as a few weighted conditions: what they cost and keep, beside RuleFit and a small tree.

python benchmarks/conditions.py --data ../shared/data
python benchmarks/conditions.py --quick

`--only speed`, `insurance` or `keel` runs one part. The insurer's table is made up by `studies`;
`--rows`, `--seeds`, `--levels` and `--directions` say how many rows, how many tables, and which model
of `projection.py` is simplified. The published values come from `--published`, by default beside the
data; without them they are left out.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xgboost
from _report import write
from imodels import RuleFitClassifier
from joblib import Parallel, delayed
from projection import (
    CODINGS,
    DIRECTIONS,
    QUICK,
    SETS,
    SPLITS,
    THREADS,
    arguments,
    as_coded,
    by_set,
    by_xgboost,
    interval,
    measures,
    over_sets,
    size_of,
    three_parts,
)
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

from rarefind.boosting import ProjectionBoostingClassifier
from rarefind.conditions import ConditionClassifier, condition_matrix
from rarefind.data import load_keel
from rarefind.metrics import f_beta
from rarefind.selection import best_threshold
from studies.insurance import STUDY_SEEDS, coded, insurance

LEAVES = 1_000  # about as many as the ensemble that the thesis simplifies
REPEATS = 3


# --- what it costs ------------------------------------------------------------------------------


def seconds(work: Callable[[], Any]) -> float:
    spent = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        spent.append(time.perf_counter() - start)
    return min(spent)


def gigabytes() -> float:
    """The most memory of the process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def speed(given: argparse.Namespace, command: str, suffix: str) -> None:
    n = 10_000 if given.quick else 300_000
    table, y = insurance(n, 0)
    frame, levels = coded(table)
    is_level = frame.columns.isin(levels)
    X = frame.to_numpy()
    booster = by_xgboost(X, y, is_level, LEAVES // 2**4)
    leaves = size_of(booster.trees_to_dataframe())["leaves"]
    kinds = np.where(is_level, "c", "q").tolist()

    def matrix(rows: np.ndarray) -> xgboost.DMatrix:
        return xgboost.DMatrix(rows, feature_types=kinds, enable_categorical=True, nthread=THREADS)

    condition_matrix(booster, X[:2_000], n_jobs=THREADS)
    booster.predict(matrix(X[:2_000]), pred_leaf=True)
    before = gigabytes()
    held = condition_matrix(booster, X, n_jobs=THREADS)
    after = gigabytes()
    size = (held.data.nbytes + held.indices.nbytes + held.indptr.nbytes) / 2**30
    data = matrix(X)
    rows = [
        ("XGBoost, `pred_leaf`", seconds(lambda: booster.predict(data, pred_leaf=True))),
        ("the same, with its matrix", seconds(lambda: booster.predict(matrix(X), pred_leaf=True))),
        ("`condition_matrix`", seconds(lambda: condition_matrix(booster, X, n_jobs=THREADS))),
        ("`condition_matrix`, one thread", seconds(lambda: condition_matrix(booster, X, n_jobs=1))),
    ]
    text = (
        f"Which of {leaves:,} branches ({booster.num_boosted_rounds()} trees of depth 4) hold for "
        f"which of {n:,} rows with {X.shape[1]} columns of the made-up insurer's table, 21 of them "
        f"levels: XGBoost's own numbers of leaves beside our sparse matrix, {THREADS} threads, the least "
        f"of {REPEATS} turns after a first call. The matrix takes {size:.2f} GiB (one entry a row and "
        f"tree); the process had {before:.2f} GiB at most before it was made, and {after:.2f} after."
    )
    times = pd.DataFrame(
        {"what": name, "seconds": f"{spent:.2f}", "÷ XGBoost": f"{spent / rows[0][1]:.1f}"}
        for name, spent in rows
    )
    write(f"conditions_speed{suffix}", command, [(text, times)])


# --- the insurer's table ------------------------------------------------------------------------


def simplified(n: int, seed: int, coding: str, directions: str) -> dict[str, float]:
    """The ensemble and its conditions, both learned from 80 % of a table."""
    warnings.filterwarnings("ignore")
    table, y = insurance(n, seed)
    X, levels = as_coded(table, coding)
    *known, test = three_parts(y, seed)
    rows = np.concatenate(known)
    places = X.columns.get_indexer(levels).tolist()  # the inner ensemble is fitted without names
    shared: dict[str, Any] = {"random_state": seed, "n_jobs": THREADS}
    shared["categorical_features"] = places or None
    ensemble = ProjectionBoostingClassifier(directions=directions, **shared)
    few = ConditionClassifier(ensemble, tolerance=0.01, max_conditions=40, **shared)
    few.fit(X.iloc[rows], y[rows])
    ensemble.fit(X.iloc[rows], y[rows])
    whole = measures(y[test], ensemble.priority(X.iloc[test]), ensemble.threshold_)
    own = measures(y[test], few.priority(X.iloc[test]), few.threshold_)
    found = {
        "leaves of the ensemble": ensemble.n_leaves_,
        "F1 of the ensemble": 100 * whole["F1"],
        "conditions": few.n_conditions_,
        "F1 of the conditions": 100 * own["F1"],
        "F1 kept": 100 * own["F1"] / whole["F1"],
        "AP of the ensemble": 100 * whole["AP"],
        "AP of the conditions": 100 * own["AP"],
    }
    print(seed, {name: round(value, 1) for name, value in found.items()}, flush=True)
    return found


def published(path: Path | None) -> dict[str, str]:
    """Tables 4.2 and 4.3; F1 of both models is known on the validation part."""
    if path is None or not path.exists():
        return {}
    table = pd.read_csv(path)
    table = table[table.source.str.startswith("004") & (table.dataset == "insurance-churn")]
    value = table.set_index(["method", "metric"])["value"]
    name = "one-hot+weighted-PCA"
    whole, few = value[name, "F1"], value[f"{name} simplified", "F1 validation"]
    return {
        "leaves of the ensemble": f"{value[name, 'leaves']:.0f}",
        "F1 of the ensemble": f"{100 * whole:.1f} (validation)",
        "conditions": f"{value[f'{name} simplified', 'conditions']:.0f}",
        "F1 of the conditions": (
            f"{100 * few:.1f} (validation), "
            f"{100 * value[f'{name} simplified', 'F1 test']:.1f} (test)"
        ),
        "F1 kept": f"{100 * few / whole:.1f} (validation)",
    }


def insurer(given: argparse.Namespace, command: str, suffix: str) -> None:
    n = QUICK["rows"] if given.quick else given.rows
    seeds = STUDY_SEEDS[: QUICK["seeds"] if given.quick else given.seeds]
    found = pd.DataFrame([simplified(n, s, given.levels, given.directions) for s in seeds])
    known = published(given.published)
    table = pd.DataFrame(
        {
            "": found.columns,
            "here": [
                interval(found[c], digits=0 if c.startswith(("leaves", "cond")) else 1)
                for c in found
            ],
            **{
                f"seed {seed}": row.round(1).tolist()
                for seed, row in zip(seeds, found.to_numpy(), strict=True)
            },
        }
    )
    if known:
        table["published"] = [known.get(name, "") for name in found.columns]
    text = (
        f"`ConditionClassifier(tolerance=0.01, max_conditions=40)` on "
        f'`ProjectionBoostingClassifier(directions="{given.directions}")`, levels as '
        f"{given.levels}: the made-up insurer's table (`studies.insurance`), {n:,} rows, both "
        "learned from 80 % (the conditions without the fifth of these that they are measured on), "
        "measures of the other 20 % in %, "
        "mean and 95 % interval over the seeds (Student). F1 kept is that of the conditions as a "
        "share of that of the ensemble. The published figures are of another table."
    )
    write(f"conditions{suffix}", command, [(text, table)])


# --- public sets --------------------------------------------------------------------------------

Peer = tuple[Callable[[int], Any], Callable[[Any], int]]


def rulefit_size(model: Any) -> int:
    """Rules and linear terms with a weight."""
    return int((np.asarray(model.coef) != 0).sum())


PEERS: dict[str, Peer] = {
    "RuleFit (imodels)": (lambda seed: RuleFitClassifier(random_state=seed), rulefit_size),
    "tree of depth 3 (scikit-learn)": (
        lambda seed: DecisionTreeClassifier(max_depth=3, random_state=seed),
        lambda model: model.get_n_leaves(),
    ),
    "XGBoost, 100 trees of depth 4": (
        lambda seed: XGBClassifier(
            n_estimators=100, max_depth=4, learning_rate=0.1, random_state=seed, n_jobs=1
        ),
        lambda model: size_of(model.get_booster().trees_to_dataframe())["leaves"],
    ),
}
OURS = {"ConditionClassifier": 0.2, "the same, learned from all rows": None}  # measure_size
FOLDS = 3  # for thresholds of the peers; a fit of RuleFit takes up to 15 s
METHODS = [*OURS, *PEERS]


def by_conditions(
    name: str, X: Any, y: Any, X_test: Any, y_test: Any, seed: int
) -> dict[str, float]:
    model = ConditionClassifier(measure_size=OURS[name], random_state=seed, n_jobs=1).fit(X, y)
    alert = model.predict_proba(X_test)[:, 1] >= 0.5
    found = measures(y_test, model.priority(X_test), model.threshold_)
    at_half = f_beta(y_test, alert.astype(int), beta=1.0)
    return found | {"F1 at 0.5": at_half, "size": model.n_conditions_}


def by_peer(name: str, X: Any, y: Any, X_test: Any, y_test: Any, seed: int) -> dict[str, float]:
    """Scores of a peer, and the threshold that is best over folds of its training rows."""
    make, size = PEERS[name]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    held = cross_val_predict(make(seed), X, y, cv=folds, method="predict_proba")[:, 1]
    model = make(seed).fit(X, y)
    score = model.predict_proba(X_test)[:, 1]
    found = measures(y_test, score, best_threshold(y, held).threshold)
    at_half = f_beta(y_test, (score >= 0.5).astype(int), beta=1.0)
    return found | {"F1 at 0.5": at_half, "size": size(model)}


def on_set(name: str, seed: int) -> list[dict[str, Any]]:
    warnings.filterwarnings("ignore")
    X, y = (part.to_numpy() for part in load_keel(name))
    a, b = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed)
    parts = (X[a], y[a], X[b], y[b], seed)
    rows = []
    for method in METHODS:
        start = time.perf_counter()
        found = (by_conditions if method in OURS else by_peer)(method, *parts)
        found["seconds"] = time.perf_counter() - start
        rows.append({"set": name, "seed": seed, "method": method, **found})
    print(name, seed, [(round(row["F1"], 3), int(row["size"])) for row in rows], flush=True)
    return rows


def keel(given: argparse.Namespace, command: str, suffix: str) -> None:
    names = QUICK["sets"] if given.quick else SETS
    splits = QUICK["splits"] if given.quick else SPLITS
    jobs = [(name, seed) for name in names for seed in range(splits)]
    parts = Parallel(n_jobs=2, verbose=5)(delayed(on_set)(*job) for job in jobs)
    found = pd.DataFrame([row for rows in parts for row in rows])
    shown = {"F1": (100, 1), "F1 at 0.5": (100, 1), "AP": (100, 1), "size": (1, 0)}
    table = over_sets(found, "method", shown | {"seconds": (1, 1)}).reindex(METHODS)
    text = (
        f"{len(names)} KEEL sets of mostly numbers with at least 30 positives, named in "
        f"`benchmarks/projection.py` before it was run; {splits} stratified 70/30 splits. F1 is with the "
        "threshold that is best for F1 on held-out training rows: those that `ConditionClassifier()` "
        "sets aside itself, and three folds (`cross_val_predict`) for the others; `F1 at 0.5` is with "
        "a probability of 0.5. `ConditionClassifier()` keeps a fifth of the training rows to measure its "
        "conditions on, and learns from the others. Size: conditions, rules and linear terms with a weight, or leaves; "
        "seconds include the folds, two splits at a time. XGBoost stands for an ensemble that nobody reads. Means over the "
        "sets, ± half of the 95 % interval over sets (Student); ranks of the mean over splits, 1 the "
        "best."
    )
    order = ["set", *METHODS]
    write(
        f"conditions_keel{suffix}",
        command,
        [
            (text, table.reset_index()),
            ("F1 (%) of each set, ± over splits.", by_set(found, "method", "F1", names)[order]),
            ("Average precision (%).", by_set(found, "method", "AP", names)[order]),
        ],
    )


PARTS = {"speed": speed, "insurance": insurer, "keel": keel}


def main() -> None:
    given, asked = arguments(
        __doc__, PARTS, levels=CODINGS[::-1], directions=tuple(reversed(DIRECTIONS))
    )
    for name, part in PARTS.items():
        if given.only in (None, name):
            command = f"python benchmarks/conditions.py --only {name} {asked}".strip()
            part(given, command, "-quick" if given.quick else "")


if __name__ == "__main__":
    main()
