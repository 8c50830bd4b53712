"""Boosting for the top of the list beside tuned XGBoost and LightGBM, and other losses.

python benchmarks/boosting.py --data ../shared/data
python benchmarks/boosting.py --quick

`--data` is a folder that `rarefind.data.load_published` opens; without it, and with `--quick`, a few
KEEL sets stand in. `--only transactions`, `bins`, `sets` or `bends` (second-order terms) runs one
part. What rounds cost is measured by `boosting_speed.py`, non-linear boosting by the study `nlb`.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import xgboost
from _report import write
from joblib import Parallel, delayed
from lightgbm import LGBMClassifier
from sklearn.model_selection import StratifiedKFold, train_test_split
from trees import QUICK, SETS, load
from xgboost import XGBClassifier

from rarefind.boosting import LambdaMARTClassifier, RankBoostClassifier, SGBAPClassifier
from rarefind.boosting._surrogates import SURROGATES, Surrogate, add_exponential
from rarefind.data import PositiveAwareBinner, simulate_transactions, transaction_features
from rarefind.metrics import average_precision, pos_at_top, precision_at_k

RUNS = 2
WORLDS = 2
SEED = 100  # the defaults were chosen on worlds and splits with smaller seeds
TRIALS = 8  # settings of XGBoost and LightGBM that are tried; our own have none
CHECKPOINTS = (25, 50, 100, 200, 300)  # and numbers of trees, for each of them
FOLDS = 5
MIDDLE, LARGE = 3_000, 20_000
# Shares of fraud, and what makes the simulator give them.
FRAUD = {"0.1 %": 0.06, "0.5 %": 0.6, "1 %": 1.1}

Split = list[tuple[np.ndarray, np.ndarray]]
Method = Callable[[np.ndarray, np.ndarray, np.ndarray, int, Split], np.ndarray]


def settings(trials: int) -> list[dict[str, Any]]:
    """Settings of a booster drawn at random, the library's own first."""
    rng = np.random.default_rng(0)
    drawn = [
        {
            "learning_rate": float(rng.choice([0.03, 0.05, 0.1, 0.2])),
            "max_depth": int(rng.choice([2, 3, 4, 6, 8])),
            "min_child_weight": float(rng.choice([0.01, 0.1, 1.0, 5.0])),
            "reg_lambda": float(rng.choice([0.1, 1.0, 10.0])),
            "subsample": float(rng.choice([0.5, 0.8, 1.0])),
            "colsample_bytree": float(rng.choice([0.5, 0.8, 1.0])),
            "scale_pos_weight": float(rng.choice([1.0, 1.0, 10.0])),
        }
        for _ in range(trials - 1)
    ]
    return [{}, *drawn]


def xgb(params: dict[str, Any], n_jobs: int) -> Any:
    return XGBClassifier(**{"n_estimators": CHECKPOINTS[-1], **params}, n_jobs=n_jobs)


def lgbm(params: dict[str, Any], n_jobs: int) -> Any:
    bagging = {"subsample_freq": 1} if "subsample" in params else {}
    leaves = {"num_leaves": 2 ** min(params["max_depth"], 6)} if "max_depth" in params else {}
    return LGBMClassifier(
        **{"n_estimators": CHECKPOINTS[-1], **params, **bagging, **leaves},
        n_jobs=n_jobs,
        verbose=-1,
    )


def score_by(model: Any, X: np.ndarray, trees: int) -> np.ndarray:
    if isinstance(model, LGBMClassifier):
        return model.predict(X, num_iteration=trees, raw_score=True)
    return model.predict(X, iteration_range=(0, trees), output_margin=True)


def tuned(make: Callable[..., Any], trials: int, bins: bool = False, n_jobs: int = 1) -> Method:
    """The setting and number of trees with the best average precision on the held-out parts."""

    def rank(
        X: np.ndarray, y: np.ndarray, X_test: np.ndarray, seed: int, parts: Split
    ) -> np.ndarray:
        if bins:
            binner = PositiveAwareBinner(pos_label=1).fit(X, y)
            X, X_test = binner.transform(X), binner.transform(X_test)
        best = (-1.0, {}, 0)
        for params in settings(trials):
            own = params | ({"max_bin": 512} if bins else {})
            values = []
            for a, b in parts:
                model = make(own, n_jobs).fit(X[a], y[a])
                values.append(
                    [average_precision(y[b], score_by(model, X[b], t)) for t in CHECKPOINTS]
                )
            mean = np.mean(values, axis=0)
            found = (float(mean.max()), own, CHECKPOINTS[int(mean.argmax())])
            best = max(best, found, key=lambda item: item[0])
        _, own, trees = best
        model = make(own | {"n_estimators": trees}, n_jobs).fit(X, y)
        return score_by(model, X_test, trees)

    return rank


def ours(estimator: type = SGBAPClassifier, n_jobs: int = 1, **params: Any) -> Method:
    def rank(
        X: np.ndarray, y: np.ndarray, X_test: np.ndarray, seed: int, parts: Split
    ) -> np.ndarray:
        model = estimator(random_state=seed, pos_label=1, threshold=None, n_jobs=n_jobs, **params)
        return model.fit(X, y).priority(X_test)

    return rank


def measures(y: np.ndarray, score: np.ndarray) -> dict[str, float]:
    """As in table 3.3 of the thesis: k is the number of positives."""
    return {
        "AP": average_precision(y, score),
        "P@k": precision_at_k(y, score, int(y.sum())),
        "Pos@Top": pos_at_top(y, score),
    }


# --- payments in time order ---------------------------------------------------------------------

DAYS = {"train": (35, 42), "test": (49, 56)}  # a week to learn, a week's delay, a week to rank


def payments(rate: float, seed: int) -> tuple[Any, Any, Any]:
    """Features, labels and days of the weeks to learn from and to rank."""
    table = simulate_transactions(days=56, fraud_rate=rate, random_state=seed)
    X = transaction_features(table).to_numpy(dtype=float)
    y = table["fraud"].to_numpy().astype(int)
    day = (table["time"] - table["time"].min().normalize()).dt.days.to_numpy()
    return X, y, day


def weeks(rate: float, seed: int) -> tuple[np.ndarray, ...]:
    X, y, day = payments(rate, seed)
    train, test = ((day >= a) & (day < b) for a, b in DAYS.values())
    return X[train], y[train], X[test], y[test]


TRANSACTIONS: dict[str, Method] = {
    "XGBoost as it is": tuned(xgb, 1),
    "XGBoost tuned": tuned(xgb, TRIALS),
    "XGBoost tuned, positive-aware bins": tuned(xgb, TRIALS, bins=True),
    "LightGBM tuned": tuned(lgbm, TRIALS),
    "rank:map": ours(LambdaMARTClassifier),
    "RankBoost": ours(RankBoostClassifier),
    "logistic loss (mix=1)": ours(mix=1.0, subsample=1.0),
    "SGBAP, surrogate alone": ours(mix=0.0),
    "SGBAP, half mixed": ours(mix=0.5),
    "SGBAP, after 50 logistic rounds": ours(mix=0.0, init="logistic"),
    "SGBAP, log": ours(surrogate="log"),
    "SGBAP, all rows a round": ours(subsample=1.0),
    "SGBAP, XGBoost's bins": ours(bins="quantile", max_bins=256),
    "SGBAP": ours(),
}


def in_world(label: str, seed: int) -> list[dict[str, Any]]:
    """All methods on one simulated world."""
    warnings.filterwarnings("ignore")
    X, y, X_test, y_test = weeks(FRAUD[label], seed)
    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    parts = list(folds.split(X, y))
    rows = []
    for name, method in TRANSACTIONS.items():
        start = time.perf_counter()
        found = measures(y_test, method(X, y, X_test, seed, parts))
        spent = time.perf_counter() - start
        rows.append({"fraud": label, "method": name, "seconds": spent, **found})
        print(label, seed, name, {key: round(value, 4) for key, value in found.items()}, flush=True)
    return rows


def transactions(data: str | None, command: str, suffix: str, quick: bool) -> None:
    worlds = 1 if quick else WORLDS
    jobs = [(label, seed) for label in FRAUD for seed in range(SEED, SEED + worlds)]
    found = Parallel(n_jobs=2, verbose=5)(delayed(in_world)(*job) for job in jobs)
    table = pd.DataFrame([row for rows in found for row in rows])
    by = table.groupby(["method", "fraud"])[["AP", "P@k", "Pos@Top"]].mean()
    wide = (100 * by.unstack()).round(1)
    wide.columns = [f"{measure}, {fraud}" for measure, fraud in wide.columns]
    wide["AP, mean"] = wide[[c for c in wide.columns if c.startswith("AP")]].mean(axis=1).round(1)
    spent = table.groupby("method")["seconds"].mean()
    wide["time ÷ SGBAP"] = (spent / spent["SGBAP"]).round(1)
    text = (
        "Simulated card payments: a week to learn from, a week until labels are known, a week to "
        f"rank; {worlds} worlds at each share of fraud, mean of each measure (%). k is "
        "the number of frauds. XGBoost and LightGBM are tuned over "
        f"{TRIALS} settings and {len(CHECKPOINTS)} numbers of trees by three folds of the "
        "training week (bins cut once, by the labels of the whole week); ours are as they are, and "
        "stop by folds of it. Times include tuning."
    )
    order = list(TRANSACTIONS)
    write(f"boosting{suffix}", command, [(text, wide.reindex(order).reset_index())])


# --- bins ---------------------------------------------------------------------------------------


def one_setting(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, kind: str) -> np.ndarray:
    """XGBoost's logistic loss, 100 trees, with one way to cut the columns."""
    params: dict[str, Any] = {"n_estimators": 100, "learning_rate": 0.1, "n_jobs": 2}
    if kind == "positive-aware":
        binner = PositiveAwareBinner(pos_label=1).fit(X, y)
        X, X_test = binner.transform(X), binner.transform(X_test)
        params["max_bin"] = 512
    elif kind == "exact":
        params["tree_method"] = "exact"
    elif kind != "256":
        params["max_bin"] = int(kind)
    return XGBClassifier(**params).fit(X, y).predict(X_test, output_margin=True)


KINDS = ["256", "512", "4096", "exact", "positive-aware"]


def bins(data: str | None, command: str, suffix: str, quick: bool) -> None:
    rows = []
    for label, rate in FRAUD.items():
        for seed in range(SEED, SEED + (1 if quick else WORLDS)):
            X, y, X_test, y_test = weeks(rate, seed)
            for kind in KINDS:
                start = time.perf_counter()
                score = one_setting(X, y, X_test, kind)
                spent = time.perf_counter() - start
                rows.append((f"payments, {label}", kind, average_precision(y_test, score), spent))
    for name in QUICK if data is None else SETS:
        X, y = load(name, data)
        for seed in range(1 if len(y) > MIDDLE else RUNS):
            a, b = train_test_split(
                np.arange(len(y)), test_size=0.3, stratify=y, random_state=SEED + seed
            )
            for kind in KINDS:
                start = time.perf_counter()
                value = average_precision(y[b], one_setting(X[a], y[a], X[b], kind))
                rows.append((name, kind, value, time.perf_counter() - start))
    table = pd.DataFrame(rows, columns=["data", "bins", "AP", "seconds"])
    means = (100 * table.pivot_table(index="data", columns="bins", values="AP")).round(1)[KINDS]
    spent = table.pivot_table(index="data", columns="bins", values="seconds")
    sim = [d for d in means.index if d.startswith("payments")]
    public = [d for d in means.index if d not in sim]
    summary = pd.concat(
        [means.loc[sim], means.loc[public].mean().round(1).to_frame("public sets").T]
    )
    summary.index.name = "AP (%)"
    ratio = spent.div(spent["256"], axis=0)
    cost = pd.concat([ratio.loc[sim], ratio.loc[public].mean().to_frame("public sets").T]).round(2)
    cost.index.name = "time ÷ 256 bins"
    text = (
        "XGBoost's logistic loss, 100 trees of depth 6, rate 0.1, with XGBoost's own 256, 512 and "
        "4096 bins, with every value as a place to split (`exact`), and with "
        "`PositiveAwareBinner`, whose time is counted."
    )
    write(
        f"boosting_bins{suffix}",
        command,
        [
            (text, summary.reset_index()),
            ("What it costs.", cost.reset_index()),
            ("Average precision (%) of each set.", means.loc[public].reset_index()),
        ],
    )


# --- public sets --------------------------------------------------------------------------------

FEW_TRIALS = 4  # for sets beyond LARGE


def public(trials: int) -> dict[str, Method]:
    return {
        "XGBoost as it is": tuned(xgb, 1),
        "XGBoost tuned": tuned(xgb, trials),
        "LightGBM tuned": tuned(lgbm, trials),
        "rank:map": ours(LambdaMARTClassifier),
        "RankBoost": ours(RankBoostClassifier),
        "logistic loss (mix=1)": ours(mix=1.0, subsample=1.0),
        "SGBAP, surrogate alone": ours(mix=0.0),
        "SGBAP, half mixed": ours(mix=0.5),
        "SGBAP, log": ours(surrogate="log"),
        "SGBAP, sigmoid": ours(surrogate="sigmoid"),
        "SGBAP": ours(),
    }


PUBLIC = list(public(1))
# Table 3.3 of the thesis: AP, Pos@Top and P@k of its gradient boosting and of SGBAP.
PUBLISHED = {
    "pima": ("0.713 → 0.712", "0.039 → 0.058", "0.661 → 0.646"),
    "w8a": ("0.739 → 0.835", "0.053 → 0.178", "0.709 → 0.797"),
}


def on_set(name: str, data: str | None, seed: int) -> list[dict[str, Any]]:
    warnings.filterwarnings("ignore")
    X, y = load(name, data)
    if len(y) > MIDDLE and seed >= 1:
        return []
    a, b = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=SEED + seed)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    parts = list(folds.split(X[a], y[a]))[: 1 if len(y) > LARGE else FOLDS]
    rows = []
    for method, rank in public(FEW_TRIALS if len(y) > LARGE else TRIALS).items():
        if len(y) > LARGE and method in ("rank:map", "SGBAP, sigmoid"):
            continue  # all pairs of a positive and a row
        score = rank(X[a], y[a], X[b], seed, parts)
        rows.append({"set": name, "positive": y.mean(), "method": method, **measures(y[b], score)})
    return rows


def sets(data: str | None, command: str, suffix: str, quick: bool) -> None:
    names = QUICK if data is None else [*SETS, "w8a"]
    jobs = [(name, data, seed) for name in names for seed in range(RUNS)]
    jobs.sort(key=lambda job: -len(load(job[0], data)[1]))
    found = Parallel(n_jobs=2, verbose=5)(delayed(on_set)(*job) for job in jobs)
    table = pd.DataFrame([row for rows in found for row in rows])
    by_set = table.groupby(["method", "set"]).mean(numeric_only=True).reset_index()
    complete = by_set.groupby("set")["method"].transform("nunique") == len(PUBLIC)
    whole = by_set[complete]
    summary = pd.DataFrame({"method": PUBLIC})
    for most in (1.0, 0.1):
        some = whole[whole.positive <= most]
        means = (100 * some.groupby("method")[["AP", "P@k", "Pos@Top"]].mean()).round(1)
        what = "" if most == 1 else f", at most {most:.0%} positives"
        for column in means:
            title = f"{column}{what} ({some['set'].nunique()})"
            summary[title] = means[column].reindex(summary.method).to_numpy()
    ap = (100 * by_set.pivot_table(index="set", columns="method", values="AP")).round(1)
    ap = ap[PUBLIC].reindex([n for n in names if n in ap.index])
    wins = pd.DataFrame(
        {
            "compared with": [m for m in PUBLIC if m != "SGBAP"],
            "sets ahead": [int((ap["SGBAP"] > ap[m]).sum()) for m in PUBLIC if m != "SGBAP"],
            "sets behind": [int((ap["SGBAP"] < ap[m]).sum()) for m in PUBLIC if m != "SGBAP"],
        }
    )
    text = (
        f"70/30 stratified splits, {RUNS} runs, one beyond {MIDDLE:,} rows. Beyond {LARGE:,} rows the "
        f"losses over pairs are left out and {FEW_TRIALS} settings tried. XGBoost and LightGBM are tuned over {TRIALS} settings and "
        f"{len(CHECKPOINTS)} numbers of trees by {FOLDS} folds (one of them for the large sets); ours are as they are. k is the number "
        "of positives. Means are over the sets where all methods ran."
    )
    parts = [
        (text, summary),
        ("Average precision (%) of each set.", ap.reset_index()),
        ("`SGBAPClassifier()` beside the others.", wins),
    ]
    if data is not None:
        parts.append(("Beside the thesis (table 3.3).", beside_published(by_set)))
    write(f"boosting_sets{suffix}", command, parts)


def beside_published(by_set: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for name, values in PUBLISHED.items():
        own = by_set[by_set["set"] == name].set_index("method")
        for measure, value in zip(("AP", "Pos@Top", "P@k"), values, strict=True):
            gb, sgbap = (own.loc[m, measure] for m in ("XGBoost as it is", "SGBAP"))
            ours = f"{gb:.3f} → {sgbap:.3f}"
            rows.append((name, measure, value, ours))
    return pd.DataFrame(
        rows, columns=["set", "measure", "published GB → SGBAP", "XGBoost → SGBAP here"]
    )


# --- second-order terms -------------------------------------------------------------------------

BEND_RUNS = {MIDDLE: 4, LARGE: 2}  # splits of sets up to so many rows; one beyond
MIXES = (0.8, 0.0)
RIDGE = 1e-6


def bent(bend: Callable[..., np.ndarray]) -> Surrogate:
    """The surrogate n·L with what ``bend`` makes of p, negatives, L and w/n for second derivatives."""

    def add(score: np.ndarray, positive: np.ndarray, weight: np.ndarray, *rest: Any) -> float:
        sharpness, share, first, second, n_jobs = rest
        unused = np.zeros_like(second)
        value = add_exponential(score, positive, weight, sharpness, share, first, unused, n_jobs)
        mass = weight * np.exp(sharpness * (score - score[weight > 0].max()))
        p, n = mass / mass.sum(), weight.sum()
        found = bend(p, ~positive, p[~positive].sum(), weight / n)
        second += share * sharpness**2 * n * found
        return value

    return add


def true_bend(p: np.ndarray, negative: np.ndarray, loss: float, w: np.ndarray) -> np.ndarray:
    """∂²L/∂f_j², by the product rule from the slope p_j·([j negative] − L)."""
    return p * (negative - loss) * (1 - 2 * p)


OURS = "size of the gradient"
# Gauss-Newton-like p·(L for positives, 1 − L for negatives) is not among them: it is |g|.
BENDS: dict[str, Surrogate] = {
    OURS: add_exponential,
    "mass in the softmax": bent(lambda p, negative, loss, w: p),
    "true, cut at 0": bent(lambda *at: np.maximum(true_bend(*at), 0) + RIDGE * at[-1]),
    "true, its size": bent(lambda *at: np.abs(true_bend(*at))),
    "the same for all rows": bent(lambda p, negative, loss, w: 2 * loss * (1 - loss) * w),
}


def with_bends(name: str, data: str | None, seed: int) -> list[dict[str, Any]]:
    """All terms on one split of one set, or none where the set has enough splits."""
    X, y = load(name, data)
    if seed >= next((runs for rows, runs in BEND_RUNS.items() if len(y) <= rows), 1):
        return []
    a, b = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=SEED + seed)
    rows = []
    for mix in MIXES:
        for term, bend in BENDS.items():
            model = SGBAPClassifier(
                mix=mix, random_state=seed, pos_label=1, threshold=None, n_jobs=1
            )
            with patch.dict(SURROGATES, {"exp": bend}):
                model.fit(X[a], y[a])
            ap = average_precision(y[b], model.priority(X[b]))
            found = {"mix": mix, "term": term, "AP": 100 * ap, "rounds": model.n_rounds_}
            rows.append({"set": name, "positive": y.mean(), **found})
    print(name, seed, [round(row["AP"], 1) for row in rows], flush=True)
    return rows


def beside_ours(means: pd.DataFrame, mix: float) -> pd.DataFrame:
    """Each term beside |g|, over sets."""
    own = means[means.mix == mix]
    ap = own.pivot_table(index="set", columns="term", values="AP")[list(BENDS)]
    rare = own[own.positive <= 0.1]["set"].unique()
    gain = ap.sub(ap[OURS], axis=0)
    table = pd.DataFrame(
        {
            f"AP ({len(ap)})": ap.mean().round(2),
            f"AP, at most 10% positives ({len(rare)})": ap.loc[rare].mean().round(2),
            "AP − ours": gain.mean().round(2),
            "standard error": gain.sem().round(2),
            "sets ahead": (gain > 0).sum(),
            "sets behind": (gain < 0).sum(),
            "rounds": own.groupby("term")["rounds"].mean().round().astype(int),
        }
    )
    return table.reindex(list(BENDS)).reset_index(names="second-order term").astype(object)


def bends(data: str | None, command: str, suffix: str, quick: bool) -> None:
    names = QUICK if data is None else SETS  # w8a would make it too long
    runs = max(BEND_RUNS.values())
    found = [with_bends(name, data, seed) for seed in range(runs) for name in names]
    table = pd.DataFrame([row for rows in found for row in rows])
    means = table.groupby(["set", "mix", "term"]).mean().reset_index()
    few, some = BEND_RUNS.values()
    text = (
        "What XGBoost is given for the second derivatives of `SGBAPClassifier`'s surrogate `exp`, "
        "n·L, with p the softmax of the scores, and the average precision (%) that comes of it. Ours "
        "is the size of the gradient, |g| = n·p·(L for positives, 1 − L for negatives); the mass is "
        "n·p; the true diagonal is n·p·([negative] − L)·(1 − 2p), below 0 on nearly all positives, "
        f"and cut there (plus {RIDGE:g} a row) or taken by its size; the same for all rows is the "
        "mean of |g|. All else is as it is by default. "
        f"70/30 stratified splits: {few} up to {MIDDLE:,} rows, {some} up to {LARGE:,}, one beyond. "
        "The standard error is that of the mean difference over sets. Rounds are those kept, of at "
        "most 300."
    )
    parts = [(f"{text} First the default, `mix=0.8`.", beside_ours(means, MIXES[0]))]
    parts.append(("The surrogate alone, `mix=0`.", beside_ours(means, MIXES[1])))
    for mix in MIXES:
        ap = means[means.mix == mix].pivot_table(index="set", columns="term", values="AP").round(1)
        parts.append((f"Each set, `mix={mix:g}`.", ap[list(BENDS)].reindex(names).reset_index()))
    write(f"boosting_bends{suffix}", command, parts)


PARTS = {"bins": bins, "transactions": transactions, "sets": sets, "bends": bends}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with the published sets")
    parser.add_argument("--quick", action="store_true", help="a few KEEL sets, for a first try")
    parser.add_argument("--only", choices=PARTS)
    given = parser.parse_args()
    data = given.data if given.data and Path(given.data).exists() and not given.quick else None
    command = "python benchmarks/boosting.py" + ("" if data is None else f" --data {data}")
    xgboost.set_config(verbosity=0)
    for name, part in PARTS.items():
        if given.only in (None, name):
            # Payments are made up, and need no data.
            whole = data is not None or (name == "transactions" and not given.quick)
            part(data, command, "" if whole else "-quick", given.quick)


if __name__ == "__main__":
    main()
