"""γk-NN: what the exact γ costs beside plain k-NN and Algorithm 1 on a grid, and what it gains.

python benchmarks/gamma_knn.py            # everything, about twenty minutes on 2 cores
python benchmarks/gamma_knn.py --quick    # small sizes and few sets, to see it work
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from _report import write
from imblearn.over_sampling import SMOTE
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.preprocessing import MinMaxScaler

from rarefind._progress import progress_bar
from rarefind.data import list_keel, load_keel
from rarefind.metrics import average_precision, balanced_accuracy, f_beta, g_mean
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


# Thirty sets from 1.9 to 130 negatives a positive, at most two of a family of near-copies.
SETS = [
    "abalone-17_vs_7-8-9-10",
    "abalone-20_vs_8-9-10",
    "abalone-3_vs_11",
    "abalone19",
    "abalone9-18",
    "car-good",
    "car-vgood",
    "ecoli1",
    "ecoli3",
    "ecoli4",
    "flare-F",
    "glass1",
    "glass4",
    "glass5",
    "haberman",
    "kddcup-land_vs_satan",
    "kr-vs-k-zero_vs_eight",
    "led7digit-0-2-4-5-6-7-8-9_vs_1",
    "page-blocks0",
    "pima",
    "poker-8_vs_6",
    "segment0",
    "shuttle-c0-vs-c4",
    "vehicle3",
    "vowel0",
    "winequality-red-4",
    "winequality-white-3_vs_7",
    "yeast1",
    "yeast4",
    "yeast6",
]

MEASURES = {"f1": f_beta, "balanced_accuracy": balanced_accuracy, "g_mean": g_mean}


def one_split(X, y, train, test, k, seed):
    """Values of the three methods on one split; γ is tuned on its training part for each measure."""
    scaler = MinMaxScaler((-1, 1)).fit(X[train])
    inside, outside = scaler.transform(X[train]), scaler.transform(X[test])
    truth = y[test]
    found = []
    peer = KNeighborsClassifier(k).fit(inside, y[train])
    values = {name: measure(truth, peer.predict(outside)) for name, measure in MEASURES.items()}
    values["average_precision"] = average_precision(truth, peer.predict_proba(outside)[:, 1])
    found.append({"method": "k-NN", **values})
    for method, sampler in (("γk-NN", None), ("SMOTE + γk-NN", SMOTE())):
        values = {}
        for name, measure in MEASURES.items():
            model = GammaKNNClassifier(
                k, metric=name, sampler=sampler, cv=10, pos_label=1, random_state=seed
            ).fit(inside, y[train])
            values[name] = measure(truth, model.predict(outside))
            if name == "f1":
                priority = model.priority(outside)
                values["average_precision"] = average_precision(truth, priority)
        found.append({"method": method, **values})
    return found


def quality(quick: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    sets, runs = (SETS[:3], 2) if quick else (SETS, 5)
    assert set(sets) <= set(list_keel())
    rows = []
    with progress_bar("KEEL sets", len(sets) * 2) as step:
        for name in sets:
            table, labels = load_keel(name)
            X, y = table.to_numpy(), labels.to_numpy()
            for k in (1, 3):
                splits = StratifiedShuffleSplit(runs, test_size=0.2, random_state=0).split(X, y)
                for run, (train, test) in enumerate(splits):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        found = one_split(X, y, train, test, k, run)
                    rows += [{"set": name, "k": k, "run": run, **values} for values in found]
                step(1)
    scores = pd.DataFrame(rows)
    columns = ["f1", "balanced_accuracy", "g_mean", "average_precision"]
    means = scores.groupby(["k", "method"], sort=False)[columns].mean()
    by_set = scores.groupby(["k", "set", "method"], sort=False)[columns].mean().unstack("method")
    wins = pd.DataFrame(
        {
            c: (by_set[c].round(6).rank(axis=1, ascending=False, method="min") == 1)
            .groupby("k")
            .sum()
            .stack()
            for c in columns
        }
    )
    summary = means.map("{:.3f}".format) + " (" + wins.reindex(means.index).astype(str) + ")"
    detail = scores[scores["k"] == 3].groupby(["set", "method"], sort=False)[columns].mean()
    return summary.reset_index(), detail.map("{:.3f}".format).reset_index()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    costs = speed(quick)
    summary, detail = quality(quick)
    write(
        "gamma_knn-quick" if quick else "gamma_knn",
        f"python benchmarks/gamma_knn.py{' --quick' if quick else ''}",
        [
            (
                "Choosing γ exactly by cross-validation (30 columns, 2 % positives, k = 3), beside one "
                "plain scikit-learn k-NN cross-validation on the same folds, and beside Algorithm 1 "
                "with scikit-learn's search, once for each of 100 values of γ (some measured, the "
                "rest taken as equal).",
                costs,
            ),
            (
                f"Mean over {len(set(detail['set']))} KEEL sets and "
                f"{2 if quick else 5} random splits 80/20, columns scaled to [-1, 1]; in brackets on "
                "how many sets a method is best or equal. γ is tuned for each measure on the training "
                "part by 10 folds; average precision is that of the model tuned for F1.",
                summary,
            ),
            ("Set by set, k = 3.", detail),
        ],
    )


if __name__ == "__main__":
    main()
