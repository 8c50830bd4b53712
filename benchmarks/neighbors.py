"""What MLFP costs: beside naive triplets, as the rows grow, and from fewer negatives.

python benchmarks/neighbors.py --data ../shared/data
python benchmarks/neighbors.py --quick

`--data` is a folder that `rarefind.data.load_published` opens. Without it, and with `--quick`, KEEL
sets stand in. What it is worth beside the published figures is in the study `mlfp`; ME² has a
benchmark of its own.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np
import pandas as pd
from _report import write
from numba import njit
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from rarefind.data import load_keel, load_published
from rarefind.distances import MLFP
from rarefind.distances._few_positives import TripletProblem
from rarefind.metrics import average_precision, f_beta
from rarefind.neighbors import (
    MLFPClassifier,
)

SETS = ["abalone17", "pageblocks", "abalone8"]
QUICK = ["ecoli3", "glass1", "yeast6"]


@njit(nogil=True)
def naive_loss(X, Z, plain_neg, plain_pos, matrix, c, alpha):
    """(3.1) without its last term, and its gradient for a diagonal M: a loop over all triplets."""
    n, p, d = len(Z), len(X), X.shape[1]
    m = n + p
    loss = 0.0
    gradient = np.zeros(d)
    for i in range(p):
        for j in range(p):
            learned = 0.0
            for f in range(d):
                learned += matrix[f] * (X[i, f] - X[j, f]) ** 2
            active = 0
            for k in range(n):
                gap = 1 - c + learned - plain_pos[i, k]
                if gap > 0:
                    loss += (1 - alpha) * gap
                    active += 1
            for f in range(d):
                gradient[f] += (1 - alpha) * active * (X[i, f] - X[j, f]) ** 2
    for i in range(n):
        for k in range(p):
            learned = 0.0
            for f in range(d):
                learned += matrix[f] * (Z[i, f] - X[k, f]) ** 2
            active = 0
            for j in range(n):
                gap = 1 - c + plain_neg[i, j] - learned
                if gap > 0:
                    loss += alpha * gap
                    active += 1
            for f in range(d):
                gradient[f] -= alpha * active * (Z[i, f] - X[k, f]) ** 2
    return loss / m**3, gradient / m**3


def squared(a, b):
    return np.maximum((a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * a @ b.T, 0.0)


def mlfp_beside_naive(X, y, quick: bool) -> pd.DataFrame:
    """One whole fit, and as many naive evaluations as it took."""
    X = StandardScaler().fit_transform(X)
    positives, negatives = X[y == 1], X[y != 1]
    MLFP(max_negatives=100).fit(X, y)  # compiled before the clock runs
    evaluations = 0
    plain = TripletProblem.objective

    def counted(self, *args, **kwargs):
        nonlocal evaluations
        evaluations += 1
        return plain(self, *args, **kwargs)

    TripletProblem.objective = counted
    start = time.perf_counter()
    model = MLFP(max_negatives=10**6).fit(X, y)
    ours = time.perf_counter() - start
    TripletProblem.objective = plain
    plain_neg, plain_pos = squared(negatives, negatives), squared(positives, negatives)
    weight = np.diag(model.get_mahalanobis_matrix()).copy()
    naive_loss(positives[:2], negatives[:2], plain_neg, plain_pos, weight, 0.5, 0.1)
    start = time.perf_counter()
    loss, _ = naive_loss(
        positives, negatives, plain_neg, plain_pos, weight, model.c, float(np.mean(y == 1))
    )
    once = time.perf_counter() - start
    regular = model.mu_ * float(((weight - 1) ** 2).sum())
    return pd.DataFrame(
        [
            {
                "rows": len(X),
                "columns": X.shape[1],
                "positives": len(positives),
                "fit (s)": f"{ours:.2f}",
                "steps": model.n_iter_,
                "evaluations": evaluations,
                "naive evaluation, compiled (s)": f"{once:.2f}",
                "naive × evaluations / fit": f"{once * evaluations / ours:.0f}",
                "difference of the objectives": f"{abs(loss + regular - model.objective_):.1e}",
            }
        ]
    )


def growth(quick: bool) -> pd.DataFrame:
    rows = []
    for n in (1000, 2000) if quick else (1_000, 2_000, 5_000, 10_000, 20_000):
        X, y = make_classification(n, 10, weights=[0.98], class_sep=0.7, random_state=0)
        X = StandardScaler().fit_transform(X)
        times = {}
        for name, model in (
            ("diagonal", MLFP()),
            ("full", MLFP(matrix="full")),
            ("classifier with threshold", MLFPClassifier(random_state=0)),
        ):
            start = time.perf_counter()
            model.fit(X, y)
            times[f"{name} (s)"] = f"{time.perf_counter() - start:.2f}"
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        rows.append({"rows": f"{n:,}", **times, "peak of the process (GiB)": f"{peak:.2f}"})
        print(rows[-1], flush=True)
    return pd.DataFrame(rows)


def what_the_cap_costs(sets: dict, quick: bool) -> pd.DataFrame:
    """The same splits learned from fewer and fewer negatives."""
    names = list(sets)[:1] if quick else [n for n in ("pageblocks", "abalone8") if n in sets]
    caps = (100, 10**6) if quick else (500, 1000, 2000, 10**6)
    found = []
    for name in names:
        X, y = sets[name]
        for run, (train, test) in enumerate(
            StratifiedShuffleSplit(2, test_size=0.2, random_state=0).split(X, y)
        ):
            scaler = StandardScaler().fit(X[train])
            inside, outside = scaler.transform(X[train]), scaler.transform(X[test])
            whole = None
            for cap in caps[::-1]:
                start = time.perf_counter()
                model = MLFPClassifier(3, max_negatives=cap, cv=3, pos_label=1, random_state=run)
                model.fit(inside, y[train])
                taken = time.perf_counter() - start
                matrix = model.get_mahalanobis_matrix()
                whole = matrix if whole is None else whole
                found.append(
                    {
                        "set": name,
                        "negatives at most": "all" if cap == 10**6 else cap,
                        "F1": f_beta(y[test], model.predict(outside)),
                        "average precision": average_precision(y[test], model.priority(outside)),
                        "largest change of M": np.abs(matrix - whole).max(),
                        "fit (s)": taken,
                    }
                )
    table = pd.DataFrame(found).groupby(["set", "negatives at most"], sort=False).mean()
    return table.map("{:.3f}".format).reset_index()


def tuned(X, y, quick: bool) -> pd.DataFrame:
    X = StandardScaler().fit_transform(X)
    trials, folds = (2, 3) if quick else (50, 10)
    start = time.perf_counter()
    model = MLFPClassifier(
        3, mu="auto", c="auto", n_trials=trials, cv=folds, pos_label=1, random_state=0
    ).fit(X, y)
    taken = time.perf_counter() - start
    return pd.DataFrame(
        [
            {
                "rows": len(X),
                "trials": trials,
                "folds": folds,
                "tuned fit (minutes)": f"{taken / 60:.1f}",
                "mu": f"{model.mu_:.3g}",
                "c": f"{model.c_:.2f}",
                "F1 on held-out rows": f"{model.value_:.3f}",
            }
        ]
    )


def opened(data: Path | None, quick: bool) -> dict:
    if data is None or quick:
        return {
            name: (X.to_numpy(float), (y.to_numpy() == 1).astype(int))
            for name in QUICK
            for X, y in [load_keel(name)]
        }
    found = {}
    for name in SETS:
        X, y = load_published(name, data)
        found[name] = (X.to_numpy(float), y.to_numpy())
    return found


def speed(sets: dict, quick: bool) -> None:
    X, y = next(iter(sets.values()))
    options = " --quick" if quick else " --data ../shared/data"
    write(
        f"neighbors_speed{'-quick' if quick else ''}",
        f"python benchmarks/neighbors.py{options}",
        [
            (
                "MLFP over all triplets by sorted distances (diagonal M, all negatives), beside the "
                "same number of evaluations by a compiled loop over all triplets, one of them "
                "measured. The fit includes sorting the distances.",
                mlfp_beside_naive(X, y, quick),
            ),
            (
                "A tuned fit: every trial learns the distance anew in every fold.",
                tuned(X, y, quick),
            ),
            (
                "Growth (10 columns, 2 % positives). Beyond `max_negatives` = 4,000 the distance is "
                "learned from a sample; the search stays exact. The classifier learns it 11 times.",
                growth(quick),
            ),
            (
                "What learning from fewer negatives costs (mean of 2 splits, k = 3).",
                what_the_cap_costs(sets, quick),
            ),
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data", type=Path)
    asked = parser.parse_args()
    speed(opened(asked.data, asked.quick), asked.quick)


if __name__ == "__main__":
    main()
