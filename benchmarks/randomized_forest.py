"""The forest of random cuts beside scikit-learn's ExtraTrees: quality, what each choice is worth, time.

python benchmarks/randomized_forest.py --data ../shared/data
python benchmarks/randomized_forest.py --quick

The sets are of the block that choices are made on, see `_blocks.py`: what they show is how much was
gained where one looked. Times are processor time of one thread.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _report import write
from scipy.stats import wilcoxon
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import train_test_split

from rarefind.metrics import average_precision
from rarefind.trees import RandomizedForestClassifier

SETS = [
    "abalone-17_vs_7-8-9-10",
    "abalone8",
    "abalone9-18",
    "arrhythmia",
    "bupa",
    "car-vgood",
    "haberman",
    "kr-vs-k-zero_vs_eight",
    "libras",
    "oil",
    "pima",
    "poker-8_vs_6",
    "redwinequality4",
    "satimage",
    "vehicle3",
    "wdbc",
    "yeast-0-5-6-7-9_vs_4",
    "yeast4",
    "yeast6",
]
MOST_ROWS = 6_000
PEER, OURS = "ExtraTrees", "RandomizedForest"
VARIANTS: dict[str, dict[str, Any]] = {
    OURS: {},
    "all cuts in the range": {"cuts": "range"},
    "all cuts between pairs": {"cuts": "pairs"},
    "√d columns in every tree": {"max_features": "sqrt"},
    "all negatives in every tree": {"negative_ratio": None},
    "no smoothing": {"smoothing": 0},
    "Gini": {"criterion": "gini"},
}


def cells(rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Positives in 4 of the 32 cells that the signs of five columns make; 27 columns."""
    X = rng.normal(size=(12_000, 27))
    X[:, 20:] = np.exp(X[:, 20:])
    cell = (X[:, :5] > 0) @ (1 << np.arange(5))
    good = np.random.RandomState(5).permutation(32)[:4]
    return X, rng.rand(len(X)) < np.where(np.isin(cell, good), 0.25, 0.005)


def clusters(rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Positives in 60 small clusters of ten columns, with negatives around them."""
    centre = np.random.RandomState(6).uniform(size=(60, 27))[:, :10]
    X, y = rng.uniform(size=(12_000, 27)), np.arange(12_000) < 300
    near = rng.randint(60, size=900)
    X[:300, :10] = centre[near[:300]] + rng.normal(scale=0.08, size=(300, 10))
    X[300:900, :10] = centre[near[300:]] + rng.normal(scale=0.3, size=(600, 10))
    return X, y


def curved(rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Blobs of 8 hidden numbers seen through 27 columns, some of the blobs positive."""
    fixed = np.random.RandomState(7)
    maps, centre = fixed.normal(size=(8, 27)), fixed.normal(size=(400, 8))
    rare, own = fixed.rand(400) < 0.03, rng.randint(400, size=12_000)
    hidden = centre[own] + rng.normal(scale=0.25, size=(12_000, 8))
    X = np.tanh(hidden @ maps / 2) + rng.normal(scale=0.05, size=(12_000, 27))
    return X, rare[own] | (rng.rand(12_000) < 0.002)


def heavy_tails(rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Columns without a mean, of very different scales."""
    X = rng.standard_cauchy(size=(12_000, 20)) * np.exp(rng.normal(size=20) * 3)
    hidden = (np.sign(X[:, :4]) * np.log1p(np.abs(X[:, :4]))).sum(axis=1)
    hidden += rng.normal(size=12_000)
    return X, hidden > np.quantile(hidden, 0.985)


def corner(rng: np.random.RandomState, n: int = 12_000, share: float = 0.01) -> Any:
    """A corner of five of 30 columns, with noise."""
    X = rng.normal(size=(n, 30))
    hidden = X[:, :5].sum(axis=1) + rng.normal(size=n)
    return X, hidden > np.quantile(hidden, 1 - share)


def three_kinds(rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """One positive in 200, of three kinds."""
    X, y = rng.normal(size=(20_000, 15)), np.arange(20_000) < 100
    X[:40, :3] += 2.0
    X[40:70, 3:6] *= 0.1
    X[70:100, 6:8] -= 2.5
    X[:, 10:] = np.round(X[:, 10:])
    return X, y


MADE = {each.__name__: each for each in (cells, clusters, curved, heavy_tails, corner, three_kinds)}


def splits(data: Path, names: list[str], seeds: range) -> Iterator[tuple[str, int, list[Any]]]:
    """Halves to learn from and to rank, 60 to 40."""
    for name in names:
        for seed in seeds:
            if name in MADE:
                X, y = MADE[name](np.random.RandomState(100 + seed))
            else:
                table = pd.read_csv(data / f"{name}.csv.gz")
                y = table.pop("y").to_numpy() == 1
                X, y = table.to_numpy(dtype=float), ~y if y.mean() > 0.5 else y
            if name not in MADE and len(y) > MOST_ROWS:
                X, _, y, _ = train_test_split(
                    X, y, train_size=MOST_ROWS, stratify=y, random_state=seed
                )
            yield name, seed, train_test_split(X, y, test_size=0.4, stratify=y, random_state=seed)


def processor_time(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the processor, and the result."""
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def quality(data: Path, names: list[str], seeds: range, n_trees: int) -> pd.DataFrame:
    """Average precision of every method on every split, and processor time."""
    table = []
    RandomizedForestClassifier(4).fit(*MADE["corner"](np.random.RandomState(0)))  # compile
    for name, seed, (X, X_new, y, y_new) in splits(data, names, seeds):
        models: dict[str, Any] = {
            PEER: ExtraTreesClassifier(n_trees, random_state=seed, n_jobs=1),
            **{
                label: RandomizedForestClassifier(n_trees, random_state=seed, n_jobs=1, **settings)
                for label, settings in VARIANTS.items()
            },
        }
        for label, model in models.items():
            seconds, _ = processor_time(lambda m=model: m.fit(X, y))
            is_peer = label == PEER
            score = model.predict_proba(X_new)[:, 1] if is_peer else model.priority(X_new)
            ap = average_precision(y_new, score)
            table.append({"set": name, "seed": seed, "method": label, "AP": ap, "seconds": seconds})
        print(name, seed, {row["method"]: round(row["AP"], 3) for row in table[-8:-6]}, flush=True)
    return pd.DataFrame(table)


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """Means over public sets and made-up tables, and how often each is ahead of ExtraTrees."""
    by_set = found.pivot_table(index="set", columns="method", values="AP")
    by_set = by_set[[PEER, *VARIANTS]]
    rank = by_set[[PEER, OURS]].rank(axis=1, ascending=False).mean()
    seconds = found.groupby("method")["seconds"].sum()
    made, lines = by_set.index.isin(list(MADE)), []
    for label in by_set:
        ahead = by_set[label] - by_set[PEER]
        lines.append(
            {
                "method": label,
                "public sets": f"{by_set.loc[~made, label].mean():.3f}",
                "made-up tables": f"{by_set.loc[made, label].mean():.3f}",
                "ahead of ExtraTrees": "" if label == PEER else f"{(ahead > 0).sum()}",
                "behind": "" if label == PEER else f"{(ahead < 0).sum()}",
                "p (Wilcoxon)": "" if label == PEER else f"{wilcoxon(ahead).pvalue:.3f}",
                "mean rank of the two": f"{rank[label]:.2f}" if label in rank else "",
                "processor time": f"{seconds[label] / seconds[PEER]:.2f}",
            }
        )
    return pd.DataFrame(lines)


def sets_table(found: pd.DataFrame) -> pd.DataFrame:
    """ExtraTrees and ours on every set."""
    by_set = found.pivot_table(index="set", columns="method", values="AP")[[PEER, OURS]]
    by_set["difference"] = by_set[OURS] - by_set[PEER]
    return by_set.sort_values("difference").round(3).reset_index()


def growth(sizes: list[int], n_trees: int) -> pd.DataFrame:
    """Processor time of a fit as rows grow."""
    few, few_labels = corner(np.random.RandomState(0), 2_000, 0.02)
    RandomizedForestClassifier(4).fit(few, few_labels).priority(few)
    X_new, y_new = corner(np.random.RandomState(1), 20_000, 0.02)
    table = []
    for n in sizes:
        X, y = corner(np.random.RandomState(0), n, 0.02)
        ours = RandomizedForestClassifier(n_trees, random_state=0, n_jobs=1)
        peer = ExtraTreesClassifier(n_trees, random_state=0, n_jobs=1)
        own_time, _ = processor_time(lambda m=ours, X=X, y=y: m.fit(X, y))
        peer_time, _ = processor_time(lambda m=peer, X=X, y=y: m.fit(X, y))
        own_score, own_scores = processor_time(lambda m=ours: m.priority(X_new))
        peer_score, peer_scores = processor_time(lambda m=peer: m.predict_proba(X_new)[:, 1])
        table.append(
            {
                "rows": f"{n:,}",
                f"{OURS} (s)": f"{own_time:.2f}",
                f"{PEER} (s)": f"{peer_time:.2f}",
                "ratio": f"{own_time / peer_time:.2f}",
                "ratio of scoring": f"{own_score / peer_score:.2f}",
                "AP": f"{average_precision(y_new, own_scores):.3f}",
                f"AP of {PEER}": f"{average_precision(y_new, peer_scores):.3f}",
            }
        )
        print(table[-1], flush=True)
    return pd.DataFrame(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--quick", action="store_true", help="few sets, rows and trees")
    quick, data = (args := parser.parse_args()).quick, args.data
    names = [*SETS[:3], "cells"] if quick else [*SETS, *MADE]
    sizes = [10_000, 30_000] if quick else [10_000, 100_000, 1_000_000]
    grown = growth(sizes, 10 if quick else 50)
    found = quality(data, names, range(1 if quick else 3), 50 if quick else 500)
    write(
        "randomized_forest-quick" if quick else "randomized_forest",
        "python benchmarks/randomized_forest.py" + (" --quick" if quick else ""),
        [
            (
                f"Average precision on {len(names)} sets and tables, {found['seed'].nunique()} "
                "splits each, as many trees each, everything else as it is; below, one choice "
                "changed at a time. **The settings were chosen on these sets.** Processor time of "
                "the fits, one thread, as a ratio to ExtraTrees.",
                summary(found),
            ),
            (
                f"Time as rows grow: {10 if quick else 50} trees, 30 columns, 2 % positives, "
                "processor time of one thread.",
                grown,
            ),
            ("Every set.", sets_table(found)),
        ],
    )


if __name__ == "__main__":
    main()
