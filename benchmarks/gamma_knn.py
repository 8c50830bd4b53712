"""γk-NN: what the exact γ costs beside plain k-NN and Algorithm 1 on a grid.

python benchmarks/gamma_knn.py            # everything, some minutes on 2 cores
python benchmarks/gamma_knn.py --quick    # small sizes, to see it work

What it gains is in the study `gamma-knn`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from _report import write
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from rarefind.neighbors import GammaKNNClassifier

K = 3
GRID = np.arange(1, 101) / 100


def seconds(work: Callable[[], object], repeat: int = 1) -> float:
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def plain_knn(X, y, pairs):
    for train, test in pairs:
        KNeighborsClassifier(K).fit(X[train], y[train]).predict(X[test])


def algorithm_1(X, y, pairs, gamma):
    """The papers' algorithm for one γ: find k and k, scale, merge, vote."""
    found = []
    for train, test in pairs:
        positives = NearestNeighbors(n_neighbors=K).fit(X[train][y[train] == 1])
        negatives = NearestNeighbors(n_neighbors=K).fit(X[train][y[train] == 0])
        near, far = positives.kneighbors(X[test])[0], negatives.kneighbors(X[test])[0]
        merged = np.argsort(np.hstack([gamma * near, far]), axis=1, kind="stable")[:, :K]
        found.append((merged < K).sum(axis=1) >= K / 2)
    return found


def speed(quick: bool) -> pd.DataFrame:
    sizes = (
        [(2_000, 10, 5), (5_000, 10, 2)]
        if quick
        else [
            (5_000, 10, 20),
            (50_000, 10, 2),
            (500_000, 1, 1),
        ]
    )
    rows = []
    for n, n_folds, steps in sizes:
        X, y = make_classification(
            n, 30, n_informative=10, weights=[0.98], class_sep=0.7, random_state=0
        )
        pairs = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))[:n_folds]
        repeat = 5 if n <= 5_000 else 1
        ours = seconds(
            lambda: GammaKNNClassifier(K, cv=pairs, max_queries=n).fit(X, y),
            repeat,
        )
        knn = seconds(lambda: plain_knn(X, y, pairs), repeat)
        grid = seconds(lambda: [algorithm_1(X, y, pairs, g) for g in GRID[:steps]])
        grid *= len(GRID) / steps
        rows.append(
            {
                "rows": f"{n:,}",
                "folds": n_folds,
                "plain k-NN (s)": f"{knn:.2f}",
                "exact γ (s)": f"{ours:.2f}",
                "exact γ / plain k-NN": f"{ours / knn:.2f}",
                "Algorithm 1, 100 steps (s)": f"{grid:.0f}",
                "steps measured": steps,
                "Algorithm 1 / exact γ": f"{grid / ours:.0f}",
            }
        )
        print(rows[-1], flush=True)
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    write(
        "gamma_knn-quick" if quick else "gamma_knn",
        f"python benchmarks/gamma_knn.py{' --quick' if quick else ''}",
        [
            (
                "Choosing γ exactly by cross-validation (30 columns, 2 % positives, k = 3), beside one "
                "plain scikit-learn k-NN cross-validation on the same folds, and beside Algorithm 1 "
                "with scikit-learn's search, once for each of 100 values of γ (some measured, the "
                "rest taken as equal).",
                speed(quick),
            ),
        ],
    )


if __name__ == "__main__":
    main()
