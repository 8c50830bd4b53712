"""Trees of trees: how well they rank, beside the peers and the published figures.

python benchmarks/trees.py --data ../shared/data
python benchmarks/trees.py --quick

`--data` is a folder that `rarefind.data.load_published` opens, with the sets of table 4.1 of the
thesis; without it, and with `--quick`, a few KEEL sets stand in. `--only trees`, `forests` or
`budget` runs one part. What they cost is measured by `trees_speed.py`.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _report import write
from joblib import Parallel, delayed
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier, XGBRanker

from rarefind.data import load_keel, load_published
from rarefind.metrics import average_precision, precision_at_k
from rarefind.trees import MetaAPClassifier, MetaAPForestClassifier, TreeRankClassifier

# Table 4.1, by rising share of positives.
SETS = [
    "abalone20",
    "abalone17",
    "yeast6",
    "redwinequality4",
    "libras",
    "satimage",
    "pageblocks",
    "yeast3",
    "bankmarketing",
    "abalone8",
    "segmentation",
    "hayes-roth",
    "vehicle",
    "german",
    "newthyroid",
    "glass",
    "wine",
    "pima",
    "ionosphere",
    "wdbc",
    "autompg",
    "spambase",
    "bupa",
    "heart",
    "australian",
    "balance",
    "sonar",
    "splice",
]
QUICK = ["yeast6", "glass1", "ecoli3", "pima"]
RUNS = 5
FOLDS = 5
DEPTHS = list(range(2, 11))
LARGE = 20_000  # rows beyond which a set is run twice only
SHARES = (0.1, 0.25, 0.5, 1.0)  # k of precision@k, in positives of the test part
SMALL_BUDGETS = ("1%", "2%", "5%", "10%")

# The thesis' means over its 28 sets (figure 4.4 and section 4.5.4), of 20 runs.
PUBLISHED = {
    "Gini": 64.0,
    "Entropy": 65.5,
    "TreeRank": 66.1,
    "MetaAP as published": 68.2,
    "MetaAPForest as published": 74.8,
    "random forest": 74.9,
    "XGBRanker": 77.0,
}

# What ranks the test rows: from training rows, labels, test rows and a seed to the scores of the
# test rows, and the numbers of conditions and leaves where they are of interest.
Ranked = tuple[np.ndarray, float, float]
Method = Callable[[np.ndarray, np.ndarray, np.ndarray, int], Ranked]


def by_folds(models: list[Any], fit_and_score: Callable[..., np.ndarray]) -> Method:
    """The model with the best average precision over the folds, fitted to all rows."""

    def rank(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, seed: int) -> Ranked:
        best = models[0]
        if len(models) > 1:
            pairs = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y))
            values = [
                [average_precision(y[b], fit_and_score(m, X[a], y[a], X[b])) for a, b in pairs]
                for m in models
            ]
            best = models[int(np.argmax(np.mean(values, axis=1)))]
        scores = fit_and_score(best, X, y, X_test)
        tree = getattr(best, "tree_", None)
        if tree is None:
            return scores, np.nan, np.nan
        return scores, tree.node_count - tree.n_leaves, tree.n_leaves

    return rank


def by_probability(model: Any, X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    return model.fit(X, y).predict_proba(X_test)[:, 1]


def by_ranker(model: Any, X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    return model.fit(X, y, group=[len(y)]).predict(X_test)


def ours(estimator: type, **params: Any) -> Method:
    def rank(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, seed: int) -> Ranked:
        model = estimator(random_state=seed, pos_label=1, threshold=None, **params).fit(X, y)
        size = getattr(model, "n_conditions_", np.nan), getattr(model, "n_leaves_", np.nan)
        return model.priority(X_test), *size

    return rank


def sklearn_tree(criterion: str) -> Method:
    depths = [*DEPTHS, *range(20, 101, 10)]
    trees = [
        DecisionTreeClassifier(criterion=criterion, max_depth=d, random_state=0) for d in depths
    ]
    return by_folds(trees, by_probability)


TUNED = {"inner_depth": DEPTHS, "outer_depth": 10}
FOUR = {"inner_depth": 4, "outer_depth": 4}
TREES: dict[str, Method] = {
    "Gini": sklearn_tree("gini"),
    "Entropy": sklearn_tree("entropy"),
    "TreeRank": ours(TreeRankClassifier, **TUNED, scores="precision"),
    "MetaAP as published": ours(
        MetaAPClassifier, **TUNED, criterion="ap", order="ratio", scores="position", ties="leaf"
    ),
    "max-ap, no shrinkage, leaf": ours(MetaAPClassifier, **TUNED, shrinkage=0.0, ties="leaf"),
    "max-ap, leaf": ours(MetaAPClassifier, **TUNED, ties="leaf"),
    "4 × 4, ap, ratio, border": ours(MetaAPClassifier, **FOUR, criterion="ap", order="ratio"),
    "4 × 4, max-ap, no shrinkage, border": ours(MetaAPClassifier, **FOUR, shrinkage=0.0),
    "4 × 4, entropy, border": ours(MetaAPClassifier, **FOUR, criterion="entropy"),
    "4 × 4, max-ap, border": ours(MetaAPClassifier, **FOUR),
    "plain entropy tree, border": ours(
        MetaAPClassifier, inner_depth=1, outer_depth=10, criterion="entropy"
    ),
    "MetaAP, depths tuned": ours(MetaAPClassifier, **TUNED),
    "MetaAP": ours(MetaAPClassifier),
}
FORESTS: dict[str, Method] = {
    "random forest": by_folds(
        [RandomForestClassifier(100, criterion="entropy", random_state=0)], by_probability
    ),
    "MetaAPForest as published": ours(
        MetaAPForestClassifier,
        inner_depth=4,
        outer_depth=4,
        criterion="ap",
        order="ratio",
        shrinkage=0.0,
        max_features=None,
    ),
    "MetaAPForest, entropy": ours(MetaAPForestClassifier, criterion="entropy"),
    "MetaAPForest": ours(MetaAPForestClassifier),
    "XGBoost": by_folds(
        [XGBClassifier(n_estimators=100, max_depth=d, n_jobs=1) for d in (2, 4, 6, 8, 10)],
        by_probability,
    ),
    "XGBRanker": by_folds(
        [
            XGBRanker(
                objective="rank:pairwise",
                lambdarank_pair_method="mean",  # all rows in pairs, as it was when published
                n_estimators=100,
                max_depth=d,
                n_jobs=1,
            )
            for d in (2, 4, 6, 8, 10)
        ],
        by_ranker,
    ),
}


def load(name: str, data: str | None) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_keel(name) if data is None else load_published(name, data)
    return X.to_numpy(dtype=float), np.asarray(y).astype(int)


def evaluate(name: str, data: str | None, seed: int, methods: dict[str, Method]) -> pd.DataFrame:
    """Average precision and precision@k of each method on one split of a set."""
    warnings.filterwarnings("ignore")
    X, y = load(name, data)
    if len(y) > LARGE and seed >= 2:
        return pd.DataFrame()
    a, b = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed)
    rows = []
    for method, rank in methods.items():
        score, conditions, leaves = rank(X[a], y[a], X[b], seed)
        row = {
            "set": name,
            "positive": y.mean(),
            "method": method,
            "AP": average_precision(y[b], score),
        }
        for share in SHARES:
            k = max(1, round(share * y[b].sum()))
            row[f"P@{share:.0%} of positives"] = precision_at_k(y[b], score, k)
        rows.append(row | {"conditions": conditions, "leaves": leaves})
    return pd.DataFrame(rows)


def run(sets: list[str], data: str | None, methods: dict[str, Method]) -> pd.DataFrame:
    jobs = [(name, seed) for name in sets for seed in range(RUNS)]
    # The largest first, so that both cores end together.
    jobs.sort(key=lambda job: -len(load(job[0], data)[1]))
    parts = Parallel(n_jobs=2, verbose=5)(
        delayed(evaluate)(name, data, seed, methods) for name, seed in jobs
    )
    return pd.concat(parts)


def means(found: pd.DataFrame, methods: dict[str, Method]) -> pd.DataFrame:
    """Means over the sets, in percent, for all sets and for the most imbalanced."""
    by_set = found.groupby(["method", "set"]).mean(numeric_only=True).reset_index()
    table = pd.DataFrame({"method": list(methods)})
    for most in (1.0, 0.3, 0.1):
        some = by_set[by_set.positive <= most]
        label = "AP, all sets" if most == 1 else f"AP, at most {most:.0%} positives"
        table[f"{label} ({some.set.nunique()})"] = percent(some.groupby("method").AP.mean(), table)
    for column in [c for c in found.columns if c.startswith("P@")]:
        table[column] = percent(by_set.groupby("method")[column].mean(), table)
    for column in ("conditions", "leaves"):
        size = by_set.groupby("method")[column].mean().reindex(table.method)
        if size.notna().any():
            table[column] = [("" if np.isnan(v) else f"{v:.0f}") for v in size]
    table["published AP"] = [PUBLISHED.get(name, "") for name in methods]
    return table


def percent(values: pd.Series, table: pd.DataFrame) -> list[str]:
    return [f"{100 * v:.1f}" for v in values.reindex(table.method)]


def by_set(found: pd.DataFrame, methods: list[str], sets: list[str]) -> pd.DataFrame:
    table = found.pivot_table(index="set", columns="method", values="AP")
    table = (100 * table.reindex(sets)[methods]).round(1)
    return table.reset_index()


def wins(found: pd.DataFrame, ours: str, others: list[str]) -> pd.DataFrame:
    """On how many sets the first is ahead of each of the others, and by how much on average."""
    table = found.pivot_table(index="set", columns="method", values="AP")
    return pd.DataFrame(
        {
            "compared with": others,
            "sets ahead": [int((table[ours] > table[o]).sum()) for o in others],
            "sets behind": [int((table[ours] < table[o]).sum()) for o in others],
            "mean difference (points)": [
                f"{100 * (table[ours] - table[o]).mean():+.1f}" for o in others
            ],
        }
    )


PROTOCOL = (
    "Protocol of section 4.5.1: 70/30 stratified splits, hyperparameters by 5-fold "
    f"cross-validation on the training part for average precision, {RUNS} runs (2 for sets beyond "
    "20,000 rows) where the thesis has 20. Scores are leaf probabilities unless stated "
    "otherwise. "
)


def trees(sets: list[str], data: str | None, command: str, suffix: str) -> None:
    found = run(sets, data, TREES)
    main = ["Gini", "Entropy", "TreeRank", "MetaAP as published", "MetaAP, depths tuned", "MetaAP"]
    text = (
        f"{PROTOCOL}Gini and Entropy are scikit-learn's trees, depths 2 to 10 and 20 to 100. "
        "TreeRank, MetaAP as published and the others that are tuned choose an inner depth from 2 to "
        "10 and as many outer levels, up to 10, as rank held-out rows best. The last line is "
        "`MetaAPClassifier()` as it is: inner depth 1, 2 or 4, up to 6 levels. Border: ties in a leaf are broken by near borders. The plain "
        "entropy tree has inner depth 1. Precision@k: k is a share of the number of positives."
    )
    write(
        f"trees{suffix}",
        command,
        [
            (text, means(found, TREES)),
            ("Average precision (%) of each set.", by_set(found, main, sets)),
            ("`MetaAPClassifier()` beside the others.", wins(found, "MetaAP", main[:-1])),
        ],
    )


def forests(sets: list[str], data: str | None, command: str, suffix: str) -> None:
    found = run(sets, data, FORESTS)
    others = [name for name in FORESTS if name != "MetaAPForest"]
    text = (
        f"{PROTOCOL}100 trees each. The random forest and XGBoost are those of scikit-learn "
        "(entropy, unlimited depth) and xgboost (depth from 2, 4, 6, 8 and 10 by the folds); the "
        "ranker's objective is rank:pairwise, over pairs of all rows. The forest as published takes all columns at each node, here with depths 4 × 4."
    )
    write(
        f"trees_forests{suffix}",
        command,
        [
            (text, means(found, FORESTS)),
            ("Average precision (%) of each set.", by_set(found, list(FORESTS), sets)),
            ("`MetaAPForestClassifier()` beside the others.", wins(found, "MetaAPForest", others)),
        ],
    )


def budgets(name: str, data: str | None, seed: int) -> pd.DataFrame:
    """Precision of the first k by trees grown for average precision and for that k."""
    warnings.filterwarnings("ignore")
    X, y = load(name, data)
    a, b = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed)
    rows = []
    general = MetaAPClassifier(random_state=seed, pos_label=1).fit(X[a], y[a])
    plain = general.priority(X[b])
    for k in SMALL_BUDGETS:
        own = MetaAPClassifier(target="precision_at_k", k=k, random_state=seed, pos_label=1)
        scores = {
            "for average precision": plain,
            "for this k": own.fit(X[a], y[a]).priority(X[b]),
            "refit_budget(k)": general.refit_budget(k).priority(X[b]),
        }
        rows += [
            {"set": name, "k": k, "grown": grown, "value": precision_at_k(y[b], score, k)}
            for grown, score in scores.items()
        ]
    return pd.DataFrame(rows)


def budget(sets: list[str], data: str | None, command: str, suffix: str) -> None:
    few = [s for s in sets if (y := load(s, data)[1]).mean() <= 0.15 and 300 < y.size < LARGE]
    jobs = [(name, data, seed) for name in few for seed in range(RUNS)]
    found = pd.concat(Parallel(n_jobs=2, verbose=5)(delayed(budgets)(*job) for job in jobs))
    table = (100 * found.pivot_table(index="grown", columns="k", values="value")).round(1)
    table = table.reindex(["for average precision", "for this k", "refit_budget(k)"])
    text = (
        f"Precision (%) of the first k test rows, mean of {len(few)} sets with at most 15 % of "
        f"positives ({', '.join(few)}), {RUNS} runs: trees grown for average precision, for the "
        "budget, and the first merged again for the budget without growing."
    )
    write(f"trees_budget{suffix}", command, [(text, table[list(SMALL_BUDGETS)].reset_index())])


PARTS = {"trees": trees, "forests": forests, "budget": budget}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with the published sets")
    parser.add_argument("--quick", action="store_true", help="a few KEEL sets, for a first try")
    parser.add_argument("--only", choices=PARTS)
    given = parser.parse_args()
    data = given.data if given.data and Path(given.data).exists() and not given.quick else None
    command = "python benchmarks/trees.py" + ("" if data is None else f" --data {data}")
    for name, part in PARTS.items():
        if given.only in (None, name):
            part(SETS if data else QUICK, data, command, "" if data else "-quick")


if __name__ == "__main__":
    main()
