"""The neighbour family: what MLFP costs beside naive triplets, and F1 beside published figures.

python benchmarks/neighbors.py --data ../shared/data --published ../shared/published
python benchmarks/neighbors.py --quick

`--data` is a folder that `rarefind.data.load_published` opens, `--published` one with
`results.csv` (source, table, metric, k, dataset, method, value, sd). Without them, and with
`--quick`, KEEL sets stand in and nothing is set beside the figures. `--only speed` or `--only table`
runs one half. ME² has a benchmark of its own.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from _report import write
from joblib import Parallel, delayed
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from rarefind._numba import kernel
from rarefind._progress import progress_bar
from rarefind.data import load_keel, load_published
from rarefind.distances import GMML, ITML, LMNN, MLFP, ImbML
from rarefind.distances._few_positives import TripletProblem
from rarefind.metrics import average_precision, f_beta
from rarefind.neighbors import (
    ClassWeightedKNNClassifier,
    DistanceWeightedKNNClassifier,
    DuplicatedKNNClassifier,
    GammaKNNClassifier,
    IMLClassifier,
    KRNNClassifier,
    LocalGammaKNNClassifier,
    MLFPClassifier,
)

# The sets of tables 2.6 and 3.1, by their names there where they differ from the files'.
SETS = {
    "balance": "balance",
    "autompg": "autompg",
    "ionosphere": "ionosphere",
    "pima": "pima",
    "glass": "glass",
    "german": "german",
    "yeast1": "yeast1",
    "haberman": "haberman",
    "vehicle3": "vehicle3",
    "hayes-roth": "hayes",
    "segmentation": "segmentation",
    "abalone8": "abalone8",
    "yeast3": "yeast3",
    "ecoli3": "ecoli3",
    "pageblocks": "pageblocks",
    "satimage": "satimage",
    "yeast-0-5-6-7-9_vs_4": "yeast-0-5-6-7-9vs4",
    "libras": "libras",
    "yeast-1_vs_7": "yeast-1vs7",
    "arrhythmia": "arrhythmia",
    "oil": "oil",
    "yeast4": "yeast4",
    "redwinequality4": "redwinequality4",
    "yeast5": "yeast5",
    "yeast6": "yeast6",
    "abalone17": "abalone17",
    "abalone20": "abalone20",
}
QUICK = ["ecoli3", "glass1", "yeast6"]

# MLFP with and without λ_max ≤ 1, for figure 3.4.
CONSTRAINED = ("MLFP with it", "MLFP without the constraint")

# Enough for the table of F1, as the table of caps shows, and many times as fast.
MLFP_NEGATIVES = 500

# IML learns a distance for each row it is asked about: small sets only.
IML_ROWS = 300


@kernel
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


def neighbours(k: int, seed: int) -> dict:
    """Chapter 2: columns scaled to [-1, 1]."""
    options = {"pos_label": 1, "random_state": seed}
    return {
        "k-NN": KNeighborsClassifier(k),
        "dupk-NN": DuplicatedKNNClassifier(k, **options),
        "wk-NN": DistanceWeightedKNNClassifier(k, **options),
        "cwk-NN": ClassWeightedKNNClassifier(k, **options),
        "kRNN": KRNNClassifier(k, **options),
        "γk-NN": GammaKNNClassifier(k, **options),
        "local γk-NN V1": LocalGammaKNNClassifier(k, "V1", min_positives=8, **options),
        "local γk-NN V2": LocalGammaKNNClassifier(k, "V2", **options),
    }


def learned(k: int, seed: int, n: int) -> dict:
    """Chapter 3: standardised columns; a distance for all rows, or one for the positives."""
    options = {"pos_label": 1, "random_state": seed, "max_negatives": MLFP_NEGATIVES}
    found = {
        "MLFP": MLFPClassifier(k, cv=5, **options),
        "MLFP, rule of the thesis": MLFPClassifier(
            k, mu="auto", c="auto", n_trials=8, cv=2, threshold=None, **options
        ),
        "MLFP with it": MLFPClassifier(k, threshold=None, **options),
        "MLFP without the constraint": MLFPClassifier(
            k, constraint=False, threshold=None, **options
        ),
    }
    if n <= IML_ROWS:
        found["IML"] = IMLClassifier(k, pos_label=1, random_state=seed)
    return found


def distances(k: int, seed: int) -> dict:
    """Distances for all rows: plain k-NN and γk-NN follow."""
    return {
        "": None,
        "LMNN": LMNN(k, random_state=seed),
        "ITML": ITML(random_state=seed),
        "GMML": GMML(),
        "ImbML": ImbML(pos_label=1, random_state=seed),
    }


def judged(model, fit, test, y_fit, y_test) -> dict:
    start = time.perf_counter()
    decided = model.fit(fit, y_fit).predict(test)
    taken = time.perf_counter() - start
    ranks = hasattr(model, "priority")
    score = model.priority(test) if ranks else model.predict_proba(test)[:, 1]
    return {
        "F1": f_beta(y_test, decided),
        "average precision": average_precision(y_test, score),
        "missed": 1 - decided[y_test == 1].mean(),
        "seconds": taken,
    }


def one_split(name, X, y, train, test, k, run):
    found = []
    labels = y[train], y[test]

    def add(method, model, rows, before=0.0):
        values = judged(model, *rows, *labels)
        values["seconds"] += before
        found.append({"set": name, "k": k, "run": run, "method": method, **values})

    def scaled(scaler):
        return scaler.fit_transform(X[train]), scaler.transform(X[test])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = scaled(MinMaxScaler((-1, 1)))
        for method, model in neighbours(k, run).items():
            add(method, model, rows)
        rows = scaled(StandardScaler())
        for method, distance in distances(k, run).items():
            start = time.perf_counter()
            placed = rows
            if distance is not None:
                placed = distance.fit_transform(rows[0], y[train]), distance.transform(rows[1])
            before = time.perf_counter() - start
            add(method or "k-NN, standardised", KNeighborsClassifier(k), placed, before)
            gamma = GammaKNNClassifier(k, pos_label=1, random_state=run)
            add(f"{method} + γk-NN" if method else "γk-NN, standardised", gamma, placed, before)
        for method, model in learned(k, run, len(train)).items():
            add(method, model, rows)
    return found


def quality(sets: dict, runs: int) -> pd.DataFrame:
    tasks = [
        (name, X, y, train, test, k, run)
        for name, (X, y) in sets.items()
        for run, (train, test) in enumerate(
            StratifiedShuffleSplit(runs, test_size=0.2, random_state=0).split(X, y)
        )
        for k in (1, 3)
    ]
    # Large sets first: the cores finish together.
    tasks.sort(key=lambda task: -task[1].size)
    rows = []
    with progress_bar("sets", len(tasks)) as step:
        for part in Parallel(n_jobs=-1, return_as="generator_unordered")(
            delayed(one_split)(*task) for task in tasks
        ):
            rows += part
            step(1)
    return pd.DataFrame(rows)


# Our methods under the names, and in the tables, of the papers: 2.6 is of the thesis for k = 1, II
# of the conference paper for k = 3; 3.3 and 3.1 are of the thesis for k = 1 and 3.
CHAPTER_2 = {
    "k-NN": "k-NN",
    "dupk-NN": "dupk-NN",
    "wk-NN": "wk-NN",
    "cwk-NN": "cwk-NN",
    "kRNN": "kRNN",
    "γk-NN": "gammak-NN",
}
CHAPTER_3 = {
    "k-NN, standardised": "k-NN",
    "LMNN": "LMNN",
    "ITML": "ITML",
    "GMML": "GMML",
    "ImbML": "ImbML",
    "IML": "IML",
    "MLFP, rule of the thesis": "MLFP",
}
TABLES = [
    ("000", "2.6", 1, CHAPTER_2),
    ("002", "II", 3, CHAPTER_2),
    ("000", "3.3", 1, CHAPTER_3),
    ("000", "3.1", 3, CHAPTER_3),
]


def published_values(folder: Path | None) -> pd.DataFrame:
    """Published F1 by (k, method of ours, set of ours)."""
    columns = ["k", "method", "set", "published"]
    if folder is None:
        return pd.DataFrame(columns=columns)
    table = pd.read_csv(folder / "results.csv")
    parts = []
    for source, number, k, names in TABLES:
        part = table[
            table["source"].str.startswith(source)
            & (table["table"] == number)
            & (table["metric"] == "F1")
            & (table["k"] == k)
        ]
        ours = {theirs: method for method, theirs in names.items()}
        files = {theirs: name for name, theirs in SETS.items()}
        parts.append(
            pd.DataFrame(
                {
                    "k": k,
                    "method": part["method"].map(ours),
                    "set": part["dataset"].map(files),
                    "published": part["value"],
                }
            ).dropna()
        )
    return pd.concat(parts)[columns]


def means(scores: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Means over the sets; published ones over the sets that have a published value."""
    by_set = scores.groupby(["k", "method", "set"], sort=False)[
        ["F1", "average precision", "missed", "seconds"]
    ].mean()
    beside = by_set.reset_index().merge(published, on=["k", "method", "set"], how="inner")
    same = beside.groupby(["k", "method"], sort=False)[["F1", "published"]].mean()
    rows = []
    for (k, method), part in by_set.groupby(["k", "method"], sort=False):
        known = (k, method) in same.index
        rows.append(
            {
                "k": k,
                "method": method,
                "sets": len(part),
                "F1": f"{part['F1'].mean():.3f}",
                "average precision": f"{part['average precision'].mean():.3f}",
                "positives missed": f"{part['missed'].mean():.3f}",
                "seconds a fit and test": f"{part['seconds'].mean():.2f}",
                "F1 on the published sets": f"{same.loc[(k, method), 'F1']:.3f}" if known else "",
                "published F1 there": f"{same.loc[(k, method), 'published']:.3f}" if known else "",
            }
        )
    return pd.DataFrame(rows)


def side_by_side(scores: pd.DataFrame, published: pd.DataFrame, k: int) -> pd.DataFrame:
    """Set by set, ours / published."""
    ours = scores[scores["k"] == k].groupby(["set", "method"], sort=False)["F1"].mean().unstack()
    theirs = published[published["k"] == k].pivot_table(
        index="set", columns="method", values="published"
    )
    shown = [m for m in ours.columns if "+ γk-NN" not in m and m not in CONSTRAINED]

    def cell(name, method):
        if np.isnan(ours.loc[name, method]):
            return ""
        known = name in theirs.index and method in theirs.columns
        beside = theirs.loc[name, method] if known else np.nan
        return f"{ours.loc[name, method]:.3f}" + ("" if np.isnan(beside) else f" / {beside:.3f}")

    return pd.DataFrame([{"set": name, **{m: cell(name, m) for m in shown}} for name in ours.index])


def what_the_constraint_does(scores: pd.DataFrame) -> str:
    """Figure 3.4: misses with and without λ_max ≤ 1, and those of k-NN."""
    part = scores[scores["k"] == 3].groupby(["set", "method"])["missed"].mean().unstack()
    with_it, without = (part[method] for method in CONSTRAINED)
    plain = part["k-NN, standardised"]
    return (
        f"Figure 3.4, k = 3 and mu = {MLFP().mu}: of {len(part)} sets MLFP with λ_max ≤ 1 misses fewer "
        f"positives than without on {int((with_it < without).sum())} and more on "
        f"{int((with_it > without).sum())} (published: fewer on 19 of 28), and more than k-NN on "
        f"{int((with_it > plain + 1e-12).sum())} (published: none)."
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
    X, y = sets.get("abalone17") or next(iter(sets.values()))
    write_page(
        "neighbors_speed",
        quick,
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


def table(sets: dict, published: Path | None, quick: bool) -> None:
    scores = quality(sets, 2 if quick else 3)
    known = published_values(published)
    write_page(
        "neighbors",
        quick,
        [
            (
                f"Means over {scores['set'].nunique()} sets and {scores['run'].nunique()} splits "
                "80/20. Columns are scaled to [-1, 1] down to local γk-NN and standardised below, as "
                "in the chapters they come from. Metric learners stand at their defaults, where the "
                "thesis tunes them with 20 to 400 calls; MLFP by the rule of the thesis is tuned by 8 "
                f"trials in 2 folds, and MLFP learns from at most {MLFP_NEGATIVES} rows of a class; "
                f"IML only on sets of up to {IML_ROWS} training rows. "
                f"{what_the_constraint_does(scores)}",
                means(scores, known),
            ),
            ("F1 set by set, ours / published, k = 1.", side_by_side(scores, known, 1)),
            ("F1 set by set, ours / published, k = 3.", side_by_side(scores, known, 3)),
        ],
    )


def write_page(name: str, quick: bool, parts: list) -> None:
    options = " --quick" if quick else " --data ../shared/data --published ../shared/published"
    page = f"{name}-quick" if quick else name
    write(page, f"python benchmarks/neighbors.py{options}", parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--published", type=Path)
    parser.add_argument("--only", choices=["speed", "table"])
    asked = parser.parse_args()
    sets = opened(asked.data, asked.quick)
    if asked.only != "table":
        speed(sets, asked.quick)
    if asked.only != "speed":
        table(sets, asked.published, asked.quick)


if __name__ == "__main__":
    main()
