"""ME²: one ellipsoid beside a general convex solver, and growth with the rows.

python benchmarks/me2.py
python benchmarks/me2.py --quick

CVXPY solves the same problem for the first table. It is not a dependency of rarefind: `pip install
cvxpy` into the environment of this run; without it the table is left out. F1 beside the published
figures is in the study `me2`.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pandas as pd
from _report import write
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

from rarefind.neighbors import ME2Classifier
from rarefind.neighbors.ellipsoids import solve


def best_of(work: Callable[[], object], repeat: int) -> tuple[float, object]:
    """The shortest time of several, and what came out last."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        found = work()
        times.append(time.perf_counter() - start)
    return min(times), found


def by_cvxpy(offsets, n, bound, mu, lam):
    """Problem (2) as one would write it down."""
    import cvxpy as cp

    d = offsets.shape[1]
    squares = (offsets[:, :, None] * offsets[:, None, :]).reshape(len(offsets), d * d)
    radius, matrix = cp.Variable(), cp.Variable((d, d))
    depth = radius - squares @ cp.vec(matrix, order="C")
    value = (
        cp.sum(cp.pos(depth)) / n
        + mu * cp.square(bound - radius)
        + lam * cp.sum_squares(matrix - np.eye(d))
    )
    problem = cp.Problem(cp.Minimize(value), [radius >= 0, radius <= bound])
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value), float(radius.value)


def objective(radius, matrix, offsets, n, bound, mu, lam):
    depth = radius - np.einsum("ij,jk,ik->i", offsets, matrix, offsets)
    shape = ((matrix - np.eye(len(matrix))) ** 2).sum()
    return np.maximum(depth, 0).sum() / n + mu * (bound - radius) ** 2 + lam * shape


def beside_cvxpy(quick: bool) -> pd.DataFrame:
    n, d = (300, 4) if quick else (2_000, 8)
    rng = np.random.default_rng(0)
    offsets = rng.normal(size=(n, d)) - 0.5 * rng.normal(size=d)
    squared = (offsets**2).sum(axis=1)
    rows = []
    for quantile in (0.1, 0.5):
        bound = float(np.quantile(squared, quantile))
        near = np.ascontiguousarray(offsets[squared < bound])
        for lam in (1.0, 1e-2, 1e-4):
            prices = (bound, 1.0 / bound, lam * bound)

            def ours():
                kept = np.ascontiguousarray(offsets[(offsets**2).sum(axis=1) < bound])
                return solve(kept, n, *prices, np.zeros(len(kept)), 1e-9, 1000)

            ours()
            fast, found = best_of(ours, 20)
            slow, (value, radius) = best_of(lambda: by_cvxpy(offsets, n, *prices), 3)
            screened, _ = best_of(lambda: by_cvxpy(near, n, *prices), 3)
            mine = objective(found[0], found[1], offsets, n, *prices)
            rows.append(
                {
                    "negatives": f"{n:,} × {d}",
                    "B at quantile": quantile,
                    "lam": f"{lam:g}",
                    "ours (ms)": f"{1e3 * fast:.2f}",
                    "CVXPY (ms)": f"{1e3 * slow:.0f}",
                    "CVXPY, near negatives only (ms)": f"{1e3 * screened:.0f}",
                    "CVXPY / ours": f"{slow / fast:.0f}",
                    "screened CVXPY / ours": f"{screened / fast:.0f}",
                    "objective above CVXPY's": f"{mine / value - 1:.0e}",
                    "difference of R": f"{abs(found[0] - radius) / bound:.0e} B",
                }
            )
            print(rows[-1], flush=True)
    return pd.DataFrame(rows)


def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def one_size(n: int) -> dict[str, object]:
    """In a process of its own, so that its memory is its own."""
    X, y = make_classification(
        n, 17, n_informative=8, weights=[0.99], flip_y=0, class_sep=0.7, random_state=0
    )
    X = StandardScaler().fit_transform(X)
    small = slice(0, 1000)
    for options in ({}, {"max_radius": 0.05, "lam": 1e-2, "threshold": None}):
        ME2Classifier(**options).fit(X[small], y[small]).priority(X[:10])
    before = megabytes()
    fixed = ME2Classifier(0.05, lam=1e-2, threshold=None)
    ellipsoids, _ = best_of(lambda: fixed.fit(X, y), 3 if n < 50_000 else 1)
    scoring, _ = best_of(lambda: fixed.priority(X[:2000]), 3)
    start, cpu = time.perf_counter(), time.process_time()
    tuned = ME2Classifier(random_state=0).fit(X, y)
    return {
        "rows": f"{n:,}",
        "positives": int(y.sum()),
        "all ellipsoids (s)": f"{ellipsoids:.2f}",
        "2,000 rows scored (s)": f"{scoring:.2f}",
        "fit with tuning (s)": f"{time.perf_counter() - start:.1f}",
        "of processors (s)": f"{time.process_time() - cpu:.1f}",
        "peak memory added by the fits (MB)": f"{megabytes() - before:.0f}",
        "table (MB)": f"{X.nbytes / 2**20:.1f}",
        "rounds at most": tuned.n_iter_,
    }


def growth(quick: bool) -> pd.DataFrame:
    rows = []
    for n in (1_000, 2_000) if quick else (2_000, 15_000, 60_000):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
            rows.append(alone.submit(one_size, n).result())
        print(rows[-1], flush=True)
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    parts = []
    try:
        import cvxpy
    except ImportError:
        print("CVXPY is not installed: the table beside it is left out.")
    else:
        parts.append(
            (
                f"One ellipsoid, to a relative duality gap of 1e-9, beside CVXPY {cvxpy.__version__} with "
                "Clarabel on the same problem, from the differences to the centre to R and M; best of "
                "several runs, one thread. "
                "The second time of CVXPY is with our screening done for it.",
                beside_cvxpy(asked.quick),
            )
        )
    parts.append(
        (
            "All ellipsoids on all cores (17 columns, 1 % positives, a radius of up to the 5 % of "
            "negatives nearest, lam = 0.01), scoring by them, and the default fit, which tunes B and "
            "lam over 12 settings in 2 folds.",
            growth(asked.quick),
        )
    )
    options = " --quick" if asked.quick else ""
    write("me2-quick" if asked.quick else "me2", f"python benchmarks/me2.py{options}", parts)


if __name__ == "__main__":
    main()
