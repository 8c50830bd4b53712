"""What trees of trees cost: beside scikit-learn's tree in the same run, and as rows grow.

python benchmarks/trees_speed.py
python benchmarks/trees_speed.py --quick

Run it on idle cores. It also measures what sets of levels lose by being tried in the order of
precision only, and draws `results/trees_growth.png`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from _report import RESULTS, write
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from rarefind.data import load_keel
from rarefind.trees import MetaAPClassifier, MetaAPForestClassifier
from rarefind.trees._criteria import CRITERIA, split_value

COLUMNS = 30
POSITIVE = 0.02


def rows(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose positives are in a corner of five of the columns, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, COLUMNS))
    latent = X[:, :5].sum(axis=1) + rng.normal(size=n)
    return X, (latent > np.quantile(latent, 1 - POSITIVE)).astype(int)


def seconds(work: Callable[[], Any], times: int = 3) -> float:
    """The shortest of a few runs."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def grown_only(inner: int, outer: int, splitter: str, **params: Any) -> MetaAPClassifier:
    """A tree of trees without folds: what is grown, and nothing else."""
    return MetaAPClassifier(
        inner, outer, prune=False, smoothing=1.0, threshold=None, splitter=splitter, **params
    )


def beside_sklearn(n: int) -> pd.DataFrame:
    X, y = rows(n)
    peer = {
        depth: seconds(lambda d=depth: DecisionTreeClassifier(max_depth=d).fit(X, y), 2)
        for depth in (4, 16)
    }
    cases = [
        ("one inner tree of depth 4, exact", 4, grown_only(4, 1, "exact", ties="leaf")),
        ("one inner tree of depth 4, histogram", 4, grown_only(4, 1, "histogram", ties="leaf")),
        ("MetaAP 4 × 4, exact", 16, grown_only(4, 4, "exact")),
        ("MetaAP 4 × 4, histogram", 16, grown_only(4, 4, "histogram")),
        ("MetaAP 4 × 4, with folds, pruning and threshold", 16, MetaAPClassifier(4, 4)),
        ("`MetaAPClassifier()`: three inner depths", 16, MetaAPClassifier()),
    ]
    table = []
    for name, depth, model in cases:
        model.fit(X[:1000], y[:1000])  # compile
        own = seconds(lambda m=model: m.fit(X, y), 2)
        table.append(
            {
                "what": name,
                "s": f"{own:.2f}",
                "scikit-learn, depth": depth,
                "scikit-learn, s": f"{peer[depth]:.2f}",
                "ratio": f"{own / peer[depth]:.2f}",
            }
        )
    return pd.DataFrame(table)


def scoring(n: int) -> pd.DataFrame:
    X, y = rows(n)
    peer = DecisionTreeClassifier(max_depth=16).fit(X, y)
    peer_time = seconds(lambda: peer.predict_proba(X))
    table = []
    for ties in ("leaf", "border"):
        model = grown_only(4, 4, "auto", ties=ties).fit(X[:100_000], y[:100_000])
        ranker = model._ranker
        ranker.priority(X[:10])
        own, whole = seconds(lambda: ranker.priority(X)), seconds(lambda: model.priority(X))
        table.append(
            {
                "ties": ties,
                "conditions": model.n_conditions_,
                "leaves": model.n_leaves_,
                "million rows a second": f"{n / own / 1e6:.1f}",
                "with the checks of the input": f"{n / whole / 1e6:.1f}",
                "scikit-learn, depth 16": f"{n / peer_time / 1e6:.1f}",
            }
        )
    return pd.DataFrame(table)


def forests(n: int) -> pd.DataFrame:
    X, y = rows(n)
    table = []
    for jobs in (1, 2):
        own = MetaAPForestClassifier(20, n_jobs=jobs, random_state=0)
        own.fit(X[:1000], y[:1000])
        peer = RandomForestClassifier(20, n_jobs=jobs, random_state=0)
        mine, theirs = seconds(lambda m=own: m.fit(X, y), 1), seconds(lambda m=peer: m.fit(X, y), 1)
        table.append(
            {
                "cores": jobs,
                "MetaAPForest, 20 trees (s)": f"{mine:.2f}",
                "random forest, 20 trees (s)": f"{theirs:.2f}",
                "ratio": f"{mine / theirs:.2f}",
            }
        )
    return pd.DataFrame(table)


def growth(sizes: list[int]) -> pd.DataFrame:
    """Time of growing 4 × 4 for more and more rows."""
    table = []
    few = rows(1_000)
    for splitter in ("exact", "histogram"):  # compile
        grown_only(4, 4, splitter).fit(*few)
    MetaAPClassifier().fit(*few)
    for n in sizes:
        X, y = rows(n)
        row: dict[str, Any] = {"rows": n}
        for splitter in ("exact", "histogram"):
            model = grown_only(4, 4, splitter)
            row[f"MetaAP, {splitter} (s)"] = seconds(lambda m=model: m.fit(X, y), 1)
        row["`MetaAPClassifier()` (s)"] = seconds(lambda: MetaAPClassifier().fit(X, y), 1)
        if n <= 300_000:
            peer = DecisionTreeClassifier(max_depth=16)
            row["scikit-learn, depth 16 (s)"] = seconds(lambda p=peer: p.fit(X, y), 1)
        print(row, flush=True)
        table.append(row)
    return pd.DataFrame(table)


def draw(table: pd.DataFrame) -> None:
    figure, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
    for column in table.columns[1:]:
        ax.plot(table["rows"], table[column], marker="o", label=column.replace("`", "")[:-4])
    n = table["rows"].to_numpy(dtype=float)
    first = table["MetaAP, exact (s)"].iloc[0]
    ax.plot(n, first * n * np.log(n) / (n[0] * np.log(n[0])), "k:", label="n log n")
    ax.set(
        xscale="log", yscale="log", xlabel="rows", ylabel="seconds", title="Growing 4 × 4 levels"
    )
    ax.legend(frameon=False)
    figure.savefig(RESULTS / "trees_growth.png", dpi=130)


def gaps(tables: int) -> pd.DataFrame:
    """What the best prefix in the order of precision lacks to the best of all sets of 10 levels."""
    rng = np.random.default_rng(0)
    levels = 10
    sets = [list(c) for size in range(1, levels) for c in combinations(range(levels), size)]
    member = np.zeros((len(sets), levels))
    for i, chosen in enumerate(sets):
        member[i, chosen] = 1
    lost: dict[str, list[float]] = {}
    for _ in range(tables):
        weight = rng.integers(5, 60, levels).astype(float)
        positive = rng.binomial(weight.astype(int), rng.beta(0.5, 3, levels)).astype(float)
        if not 0 < positive.sum() < weight.sum():
            continue
        for name, number in CRITERIA.items():
            for shrinkage in (0.0, 5.0) if name == "max-ap" else (0.0,):
                whole = positive.sum(), weight.sum()

                def worth(p: float, w: float, n=number, s=shrinkage, t=whole) -> float:
                    return split_value(n, s, p, w, t[0] - p, t[1] - w)

                best = max(map(worth, member @ positive, member @ weight))
                base = positive.sum() / weight.sum()
                shrunk = (positive + shrinkage * base) / (weight + shrinkage)
                order = np.argsort(-shrunk, kind="stable")
                ranked = np.cumsum(positive[order])[:-1], np.cumsum(weight[order])[:-1]
                prefix = max(map(worth, *ranked))
                label = name if not shrinkage else f"{name}, shrinkage 5"
                lost.setdefault(label, []).append((best - prefix) / best)
    return pd.DataFrame(
        {
            "criterion": list(lost),
            "tables with a gap": [f"{np.mean(np.array(v) > 1e-9):.1%}" for v in lost.values()],
            "largest gap": [f"{max(v):.2%}" for v in lost.values()],
            "mean gap": [f"{np.mean(v):.4%}" for v in lost.values()],
        }
    )


def sizes_on_yeast6() -> pd.DataFrame:
    """Figure 4.8: how large a model of depth 4 is to read."""
    X, y = load_keel("yeast6")
    table = []
    entropy = DecisionTreeClassifier(criterion="entropy", max_depth=16, random_state=0).fit(X, y)
    tree = entropy.tree_
    table.append(
        ("scikit-learn, entropy, depth 16", tree.node_count - tree.n_leaves, tree.n_leaves)
    )
    for name, model in (
        ("MetaAP 4 × 4, not pruned", MetaAPClassifier(4, 4, prune=False, random_state=0)),
        ("MetaAP 4 × 4", MetaAPClassifier(4, 4, random_state=0)),
        ("`MetaAPClassifier()`", MetaAPClassifier(random_state=0)),
    ):
        model.fit(X, y)
        table.append((name, model.n_conditions_, model.n_leaves_))
    return pd.DataFrame(table, columns=["model", "conditions", "leaves"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows")
    quick = parser.parse_args().quick
    n = 20_000 if quick else 100_000
    grown = growth([3_000, 10_000] if quick else [10_000, 30_000, 100_000, 300_000, 1_000_000])
    RESULTS.mkdir(exist_ok=True)
    if not quick:
        draw(grown)
    shown = grown.map(lambda v: "" if pd.isna(v) else (f"{v:,.0f}" if v > 999 else f"{v:.2f}"))
    write(
        "trees_speed-quick" if quick else "trees_speed",
        "python benchmarks/trees_speed.py" + (" --quick" if quick else ""),
        [
            (
                f"Fitting {n:,} × {COLUMNS}, {POSITIVE:.0%} positives, one core, beside "
                "scikit-learn's `DecisionTreeClassifier` of the same total depth.",
                beside_sklearn(n),
            ),
            (f"Scoring {10 * n:,} × {COLUMNS} rows on one core.", scoring(10 * n)),
            (f"Forests on {n:,} × {COLUMNS}.", forests(n)),
            ("Growth of the time with the rows: see the figure.", shown),
            (
                "Columns of more than 8 levels are split on prefixes of the levels in the order of "
                "precision. What is lost to the best of all sets, on random tables of 10 levels "
                "(relative to the best worth).",
                gaps(50 if quick else 300),
            ),
            ("The size of a model of yeast6 (figure 4.8).", sizes_on_yeast6()),
        ],
    )


if __name__ == "__main__":
    main()
