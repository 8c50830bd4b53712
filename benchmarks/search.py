"""The neighbour search: where a kd-tree pays, what memory it takes, how the fit of γk-NN grows.

python benchmarks/search.py            # about eight minutes on 2 cores
python benchmarks/search.py --quick
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time

import numpy as np
import pandas as pd
from _report import write
from sklearn.neighbors import NearestNeighbors

from rarefind.neighbors import GammaKNNClassifier
from rarefind.search import NeighborSearch

K = 3


def points(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def tree_or_brute_force(quick: bool) -> pd.DataFrame:
    rows = []
    for n in (1_000, 5_000) if quick else (500, 5_000, 50_000, 500_000):
        for d in (2, 4, 6, 8, 10):
            X, queries = points(n, d), points(min(n, 5_000), d, 1)
            found = {}
            for algorithm in ("brute", "kd_tree"):
                index = NearestNeighbors(algorithm=algorithm, n_jobs=-1)
                found[algorithm] = min(
                    seconds(lambda: index.fit(X).kneighbors(queries, K)) for _ in range(3)
                )
            chosen = NeighborSearch(X)
            rows.append(
                {
                    "points": f"{n:,}",
                    "columns": d,
                    "brute force / kd-tree": f"{found['brute'] / found['kd_tree']:.2f}",
                    "chosen": "brute force" if chosen._by_products else "kd-tree",
                }
            )
    return pd.DataFrame(rows)


def memory(n: int, queries: int, d: int) -> pd.DataFrame:
    """Peak memory of a fresh process that searches, beside what its arrays need."""
    here = (
        "import resource, numpy as np\n"
        "from rarefind.search import NeighborSearch\n"
        f"X = np.random.default_rng(0).normal(size=({n}, {d}))\n"
        f"Q = np.random.default_rng(1).normal(size=({queries}, {d})) + 50 * {{far}}\n"
        "X += 50 * {far}\n"
        f"NeighborSearch(X).query(Q, {K})\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    rows = []
    for where, far in (("around the origin", 0), ("far from the origin (centred copy)", 1)):
        code = here.replace("{far}", str(far))
        start = time.perf_counter()
        out = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        rows.append(
            {
                "points": f"{n:,} × {d}",
                "queries": f"{queries:,}",
                "points lie": where,
                "peak memory (GiB)": f"{int(out.stdout) / 2**20:.2f}",
                "points alone (GiB)": f"{n * d * 8 / 2**30:.2f}",
                "seconds in all": f"{time.perf_counter() - start:.0f}",
            }
        )
    return pd.DataFrame(rows)


def growth(quick: bool) -> pd.DataFrame:
    rows = []
    previous = None
    for n in (2_000, 10_000) if quick else (10_000, 100_000, 1_000_000):
        X = points(n, 30)
        y = np.arange(n) < n // 200
        X[y] += 0.5
        model = GammaKNNClassifier(K, random_state=0)
        fit = seconds(lambda: model.fit(X, y))
        score = seconds(lambda: model.priority(X[:10_000]))
        rows.append(
            {
                "rows": f"{n:,}",
                "rows held out": f"{min(n, 50_000 + n // 200):,}",
                "fit (s)": f"{fit:.1f}",
                "times the size before": "" if previous is None else f"{fit / previous:.1f}",
                "10,000 priorities (s)": f"{score:.2f}",
                "peak memory so far (GiB)": (
                    f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f}"
                ),
            }
        )
        previous = fit
        print(rows[-1], flush=True)
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    fit = growth(quick)
    size = memory(*((50_000, 1_000, 30) if quick else (1_000_000, 10_000, 30)))
    write(
        "search-quick" if quick else "search",
        f"python benchmarks/search.py{' --quick' if quick else ''}",
        [
            ("Memory of one search, k = 3, in a process of its own.", size),
            (
                "Fit of γk-NN with its exact γ (leave-one-out, 30 columns, 0.5 % positives); beyond "
                "50,000 negatives a sample of them is held out.",
                fit,
            ),
            (
                "Time of brute force over time of a kd-tree, k = 3, both scikit-learn's on all cores "
                "(above 1 the tree is faster), and what rarefind chooses.",
                tree_or_brute_force(quick),
            ),
        ],
    )


if __name__ == "__main__":
    main()
