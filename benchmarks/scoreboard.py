"""The scoreboard: rarefind's estimators and AutoClassifier beside what people use today.

python benchmarks/scoreboard.py --data ../shared/data            # what is left of it, then the page
python benchmarks/scoreboard.py --only quality --most 40          # the first 40 sets only
python benchmarks/scoreboard.py --only speed
python benchmarks/scoreboard.py --only page --data ../shared/data # the page of what is done so far
python benchmarks/scoreboard.py --quick                           # to see it work

Every value lands in benchmarks/results/scoreboard.parquet, so it can be stopped and goes on where it
was. The page is docs/scoreboard.md.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from imblearn.ensemble import BalancedRandomForestClassifier, EasyEnsembleClassifier
from imblearn.over_sampling import SMOTE
from imblearn.pipeline import make_pipeline
from lightgbm import LGBMClassifier
from scipy.stats import friedmanchisquare, studentized_range
from scoreboard_speed import speed_lines
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier, XGBRanker

from rarefind.auto import AutoClassifier
from rarefind.boosting import NLBClassifier, SGBAPClassifier
from rarefind.conditions import ConditionClassifier
from rarefind.data import (
    list_keel,
    list_published,
    simulate_transactions,
    transaction_features,
)
from rarefind.metrics import average_precision, f_beta, pos_at_top, precision_at_k
from rarefind.neighbors import GammaKNNClassifier, ME2Classifier, MLFPClassifier
from rarefind.selection import best_threshold
from rarefind.trees import MetaAPClassifier, MetaAPForestClassifier
from studies import Results, run_study
from studies.catalogue import About
from studies.report import Claim, Report, write_report
from studies.sets import Sets
from studies.study import Part, Row, Study
from studies.tables import beside, compare, rounded

HERE = Path(__file__).parent
TRIALS, FOLDS = 12, 3
# Worlds of simulated payments.
PAYMENTS = ["payments, world 1", "payments, world 2"]
# Sets with so many positives, and at most such a share of them.
FEWEST, MOST_SHARE = 15, 0.35
MEASURES = ("AP", "P@k", "F1", "Pos@Top")
AUTO, XGB = "AutoClassifier", "XGBoost, tuned"
AGAIN = "A second split"


class Ranker(XGBRanker):
    """XGBoost's rank:map over one list of all rows."""

    def fit(self, X, y):
        return super().fit(X, y, qid=np.zeros(len(y), dtype=int))

    def score_of(self, X):
        return self.predict(X)


def grid(**values):
    """All combinations."""
    return [dict(zip(values, found, strict=True)) for found in itertools.product(*values.values())]


def knn(*before):
    return make_pipeline(StandardScaler(), *before, KNeighborsClassifier())


def peers(seed):
    """What people use today: a model, and the configurations it is tuned over."""
    trees = {"random_state": seed, "n_jobs": 1}
    boosted = grid(
        n_estimators=[100, 300], learning_rate=[0.03, 0.1, 0.3], max_depth=[2, 3, 4, 6, 8]
    )
    weighted = [{**each, "scale_pos_weight": w} for each in boosted for w in (1, 10, 100)]
    return {
        "k-NN": (knn(), grid(kneighborsclassifier__n_neighbors=[1, 3, 5, 7, 9, 11, 15, 21, 31])),
        "SMOTE + k-NN": (
            knn(SMOTE(random_state=seed, k_neighbors=3)),
            grid(
                kneighborsclassifier__n_neighbors=[1, 3, 5, 9, 15],
                smote__sampling_strategy=[1.0, 0.75],
            ),
        ),
        "Balanced random forest": (
            BalancedRandomForestClassifier(
                sampling_strategy="all", replacement=True, bootstrap=False, **trees
            ),
            grid(min_samples_leaf=[1, 2, 5], max_features=["sqrt", 0.5]),
        ),
        "EasyEnsemble": (EasyEnsembleClassifier(**trees), grid(n_estimators=[5, 10])),
        XGB: (XGBClassifier(**trees), weighted),
        "LightGBM, tuned": (LGBMClassifier(verbosity=-1, **trees), weighted),
        "XGBoost rank:map, tuned": (Ranker(objective="rank:map", **trees), boosted),
        "HistGradientBoosting, tuned": (
            HistGradientBoostingClassifier(random_state=seed),
            grid(
                max_iter=[100, 300],
                learning_rate=[0.03, 0.1, 0.3],
                max_depth=[2, 3, 6],
                class_weight=[None, "balanced"],
            ),
        ),
    }


def ours(seed):
    """rarefind's estimators as they are; two of them tuned as the others are."""
    given = {"random_state": seed, "n_jobs": 1}
    return {
        "γk-NN": (GammaKNNClassifier(**given), True),
        "MLFP": (MLFPClassifier(max_negatives=500, **given), True),
        "ME²": (ME2Classifier(**given), True),
        "MetaAP": (MetaAPClassifier(**given), False),
        "MetaAPForest": (MetaAPForestClassifier(**given), False),
        "SGBAP": (SGBAPClassifier(**given), False),
        "NLB": (NLBClassifier(**given), False),
        "Conditions": (ConditionClassifier(**given), False),
    }


# As the boosters beside it: rounds are tuned, not stopped by rows held out inside a fit.
SGBAP_SPACE = grid(
    n_estimators=[100, 300],
    mix=[0.5, 0.8, 1.0],
    learning_rate=[0.03, 0.1, 0.3],
    max_depth=[2, 3, 4, 6],
)
METHODS = [*ours(0), "SGBAP, tuned", AUTO, *peers(0)]
# Those with the best mean rank by average precision on the first split, and tuned XGBoost.
LEADERS = [AUTO, XGB, "LightGBM, tuned", "MetaAPForest", "SGBAP", "SGBAP, tuned", "NLB"]


class Scoreboard(Study):
    """All methods on a split of all sets, and the leaders on a second; each part is one of them."""

    about = About("scoreboard", "Scoreboard", "rarefind", 2)
    protocol = 2

    def __init__(self, most: int | None = None) -> None:
        self._most = most

    def parts(self, sets, runs, quick):
        names = ["glass4", "ecoli3"] if quick else self._names(sets)
        first = ["γk-NN", "SGBAP", AUTO, "k-NN", XGB] if quick else METHODS
        return [
            Part(n, run, m)
            for run in range(runs)
            for n in [*names, *PAYMENTS]
            for m in (LEADERS if run else first)
        ]

    def _names(self, sets):
        known = set(list_keel()) | set([] if sets.folder is None else list_published(sets.folder))
        # In an order that has nothing to do with the sets: of a half-done board a fair half is done.
        order = sorted(known, key=lambda name: hashlib.sha256(name.encode()).digest())
        fit = {}
        for name in order:
            X, y = sets.load(name)
            if y.sum() >= FEWEST and y.mean() <= MOST_SHARE and y.size < 20_000:
                traits = np.array([y.size, y.sum(), *np.sort(X[y].mean(axis=0))])
                if not any(is_same(traits, known) for known in fit.values()):
                    fit[name] = traits
        return list(fit)[: self._most]

    def run(self, part, sets, quick):
        X, y, test, folds = split(part, sets, quick)
        start = time.perf_counter()
        trials = 2 if quick else TRIALS
        score, decided, chosen = ranked(part.what, X, y, test[0], folds, part.run, trials)
        taken = time.perf_counter() - start
        truth = test[1]
        values = {
            "AP": average_precision(truth, score),
            "P@k": precision_at_k(truth, score, int(truth.sum())),
            "F1": f_beta(truth, decided),
            "Pos@Top": pos_at_top(truth, score),
        }
        params = json.dumps(chosen, default=str)
        return [Row(part.what, m, float(v), 0, params, taken) for m, v in values.items()]

    def report(self, found, quick):
        report = Report(self.title, INTRO)
        report.text(progress(found[found["run"] == 0], quick))
        tables, worlds = shown(found[found["run"] == 0])
        again, later_worlds = shown(found[(found["run"] > 0) & found["method"].isin(LEADERS)])
        report.claims = claims(tables)
        n, of = (len(part["AP"].ours.dropna()) for part in (again, tables))
        report.claims += [
            c._replace(
                statement=f"{AGAIN}, {len(LEADERS)} methods: {c.statement}",
                shown=f"{c.shown} Over {n} of {of} sets.",
            ).judged_if(n == of, "Not all of it is run.")
            for c in claims(again)
        ]
        report.table("All public sets: mean of each measure", summary(tables))
        for measure, table in tables.items():
            standing = table.standing(AUTO).sort_values("mean rank")
            report.table(f"{measure}: mean rank, and AutoClassifier beside each", rounded(standing))
        report.text(losses(tables["AP"].ours.dropna()))
        report.picture(
            "ranks",
            "Mean ranks by average precision; methods under one bar differ by less than the "
            "critical difference (Nemenyi, 5 %).",
            partial(draw_ranks, tables["AP"].ours.dropna()),
        )
        for measure in ("AP", "P@k") if len(again["AP"].ours) else ():
            standing = again[measure].standing(AUTO).sort_values("mean rank")
            report.table(f"{AGAIN}, {measure}: {len(LEADERS)} methods, {n} sets", rounded(standing))
        for title, values in (worlds | later_worlds).items():
            report.table(title, values)
        report.table("Average precision, set by set", by_set(tables["AP"].ours))
        return report


def shown(found):
    """Tables of the public sets by measure, and of each world of payments by its title."""
    published = pd.DataFrame(columns=["dataset", "method", "metric", "k", "value"])
    is_simulated = found["dataset"].isin(PAYMENTS)
    worlds = {
        f"Simulated {world}{', drawn again' if run else ''}, in time order: labels a week late": (
            summary({m: beside(values, published, m) for m in MEASURES})
        )
        for (run, world), values in found[is_simulated].groupby(["run", "dataset"])
    }
    return {m: beside(found[~is_simulated], published, m) for m in MEASURES}, worlds


def is_same(one, other):
    """Whether two sets are one under two names: columns may be ordered anew, copies left out."""
    return one.size == other.size and np.allclose(one, other, rtol=0.01)


def progress(found, quick):
    """How much of the board was run, in a sentence."""
    whole = found.groupby(["dataset", "run"])["what"].nunique() == len(METHODS)
    if quick or len(whole) == 0:
        return "A quick run, to see it work."
    if whole.all():
        return f"All {len(whole)} splits of sets were run with all {len(METHODS)} methods."
    return (
        f"So far {int(whole.sum())} splits of sets were run with all {len(METHODS)} methods. "
        "Sets come in an order that has nothing to do with them, so those are a fair sample."
    )


def claims(tables):
    """What this library wants to hold, and whether it does."""
    found = []
    for measure in ("AP", "P@k"):
        standing = tables[measure].standing(AUTO).set_index("method").sort_values("mean rank")
        if not {AUTO, XGB} <= set(standing.index) or standing["mean"].isna().any():
            continue
        ranks, means = standing["mean rank"], standing["mean"]
        after = next(name for name in ranks.index if name != AUTO)
        found += [
            Claim(
                f"AutoClassifier has the best mean rank by {measure}.",
                bool(ranks[AUTO] < ranks[after]),
                f"{ranks[AUTO]:.2f}; {after} has {ranks[after]:.2f} (Wilcoxon p = "
                f"{standing.at[after, 'Wilcoxon p']:.2g}).",
            ),
            Claim(
                f"AutoClassifier has a higher mean {measure} than tuned XGBoost.",
                bool(means[AUTO] > means[XGB]),
                f"{means[AUTO]:.3f} and {means[XGB]:.3f} (p = "
                f"{standing.at[XGB, 'Wilcoxon p']:.2g}).",
            ),
        ]
    return found


def split(part, sets, quick):
    """Rows to learn from, rows to test, and the folds that everyone tunes on."""
    if part.dataset in PAYMENTS:
        return payments(part, quick)
    X, y = sets.load(part.dataset)
    own, other, labels, truth = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=part.run
    )
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=part.run)
    return own, labels, (other, truth), list(folds.split(own, labels))


def payments(part, quick):
    """Payments of 75 days: 50 to learn from, a week whose labels are not known yet, the rest."""
    customers = 100 if quick else 400
    seed = 100 + 10 * part.run + PAYMENTS.index(part.dataset)
    table = simulate_transactions(customers, 2 * customers, 75, random_state=seed)
    X = transaction_features(table, delay="7D").select_dtypes("number")
    X = X.drop(columns=["fraud"], errors="ignore").to_numpy(float)
    X = np.nan_to_num(X, nan=-1.0)  # several peers take no missing values
    y = table["fraud"].to_numpy() == 1
    day = (table["time"] - table["time"].min()).dt.days.to_numpy()
    learn, test = np.flatnonzero(day < 50), np.flatnonzero(day >= 57)
    cut = int(0.7 * learn.size)
    folds = [(np.arange(cut), np.arange(cut, learn.size))]
    return X[learn], y[learn], (X[test], y[test]), folds


def ranked(name, X, y, rows, folds, seed, trials):
    """Scores and decisions of the test rows, by a model that was tuned on the folds alone."""
    if name == AUTO:
        model = AutoClassifier(
            budget=float(y.mean()), trials=trials, cv=folds, random_state=seed, n_jobs=1
        )
        return *own(model, X, y, rows), {"chosen": list(model.members_)}
    plain = ours(seed)
    if name in plain:
        model, is_scaled = plain[name]
        if is_scaled:
            scaler = StandardScaler().fit(X)
            X, rows = scaler.transform(X), scaler.transform(rows)
        return *own(model, X, y, rows), {}
    model, space = (
        (
            SGBAPClassifier(
                early_stopping_rounds=None, threshold=None, random_state=seed, n_jobs=1
            ),
            SGBAP_SPACE,
        )
        if name == "SGBAP, tuned"
        else peers(seed)[name]
    )
    rng = np.random.default_rng(seed)
    tried = [space[i] for i in rng.permutation(len(space))[:trials]]
    best, chosen, threshold = -1.0, {}, 0.5
    for given in tried:
        scores, truth = [], []
        for train, held in folds:
            fitted = clone(model).set_params(**given).fit(X[train], y[train])
            scores.append(score_of(fitted, X[held]))
            truth.append(y[held])
        worth = np.mean([average_precision(t, s) for t, s in zip(truth, scores, strict=True)])
        if worth > best:
            best, chosen = worth, given
            together = np.concatenate(truth), np.concatenate(scores)
            threshold = best_threshold(*together, "f1").threshold
    score = score_of(clone(model).set_params(**chosen).fit(X, y), rows)
    return score, score >= threshold, chosen


def own(model, X, y, rows):
    model.fit(X, y)
    return model.priority(rows), model.predict(rows)


def score_of(model, rows):
    if hasattr(model, "priority"):
        return model.priority(rows)
    if hasattr(model, "score_of"):
        return model.score_of(rows)
    return model.predict_proba(rows)[:, 1]


def summary(tables):
    """Means of all measures, the best average precision first."""
    lines = pd.DataFrame({m: table.ours.dropna().mean() for m, table in tables.items()})
    whole = tables["AP"].ours.dropna()
    lines["mean rank by AP"] = whole.round(9).rank(axis=1, ascending=False).mean()
    lines = lines.sort_values("AP", ascending=False).rename_axis("method").reset_index()
    return rounded(lines.assign(sets=len(whole)))


def losses(ours):
    """Where AutoClassifier loses to tuned XGBoost, in a sentence."""
    if AUTO not in ours or XGB not in ours:
        return ""
    gap = (ours[AUTO] - ours[XGB]).sort_values()
    against = compare(ours[AUTO], ours[XGB])
    worst = ", ".join(f"{name} ({100 * value:+.1f})" for name, value in gap.head(5).items())
    return (
        f"AutoClassifier against tuned XGBoost by average precision: ahead on {against.ahead} sets, "
        f"behind on {against.behind}, by {100 * gap.mean():+.1f} points on average (Wilcoxon p = "
        f"{against.p:.2g}). It loses most on {worst}."
    )


def by_set(ours):
    table = (100 * ours).round(1).rename_axis("set").reset_index()
    return table.astype(object).where(table.notna(), "–")


def draw_ranks(ours, figure):
    """The picture of critical differences (Demšar)."""
    ranks = ours.round(9).rank(axis=1, ascending=False).mean().sort_values()
    n, k = ours.shape
    axes = figure.add_subplot()
    axes.barh(list(ranks.index)[::-1], ranks.to_numpy()[::-1], color="0.8")
    axes.set_xlabel("mean rank")
    if n > 1:
        width = studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n))
        last = -1
        for i in range(k):
            j = int(np.searchsorted(ranks.to_numpy(), ranks.iloc[i] + width, side="right")) - 1
            if j > max(i, last):
                last = j
                x = 0.1 + 0.15 * i
                axes.plot([x, x], [k - 1 - i, k - 1 - j], color="tab:red", linewidth=3)
        p = friedmanchisquare(*(ours[m] for m in ours)).pvalue
        axes.set_title(f"{n} sets, critical difference {width:.2f}, Friedman p = {p:.1g}")


INTRO = (
    "rarefind beside what people use today, measured in one way for all. Every public set "
    f"at hand with at least {FEWEST} positives, at most {100 * MOST_SHARE:.0f} % of them and fewer "
    "than 20,000 rows, each once whatever its names; splits 70/30. Peers are tuned: "
    f"up to {TRIALS} configurations, drawn at random from a grid, judged by average precision on the same "
    f"{FOLDS} folds of the training rows; AutoClassifier gets as many evaluations on the same folds. "
    "rarefind's other estimators are as they are, but for `SGBAP, tuned`. Not all are strangers to "
    "these sets: AutoClassifier's candidates and its rule to take several together were chosen among "
    "dozens of variants by the test rows of other splits of 73 of these sets (seeds 1000 "
    "and 1001; here it is 0), and defaults of other estimators with some of them at hand, so ours may "
    "stand a little too well. Three versions of that rule were run on this board; the last change, "
    "how near to the best a candidate must be, was made after the version before had fallen behind "
    "tuned XGBoost on world 1 of the payments. World 2 was run once, after that. So the six "
    "leading methods and tuned XGBoost were run once more on a second split and on two more worlds, "
    "after all choices were made, and whatever came of it stands below: that is the cleaner test. "
    "Thresholds for F1 come from held-out training rows for all. k of P@k is the number of positives among the test rows. "
    "Ranks are over the sets that all methods of a table ran on. Payments are simulated "
    "(`rarefind.data.simulate_transactions`): 50 days to learn from, a week whose labels are not "
    "there yet, 18 days to test."
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--most", type=int, help="the first so many sets")
    parser.add_argument("--only", choices=["quality", "speed", "page"])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=-1)
    given = parser.parse_args()
    study = Scoreboard(given.most)
    results = HERE / "results"
    if given.only in (None, "speed"):
        lines = []
        for line in speed_lines(quick=given.quick):
            print(line, flush=True)
            lines.append(line)
        if not given.quick:
            pd.DataFrame(lines).to_json(results / "scoreboard_speed.json", orient="records")
    if given.only == "speed":
        return
    if given.only == "page":
        # Without its folder a set may have another name, and it shall not stand there twice.
        wanted = study.parts(Sets(given.data), given.runs or study.about.runs, given.quick)
        found = Results(study, results, given.quick).table(wanted)
    else:
        found = run_study(
            study,
            results,
            data=given.data,
            runs=given.runs,
            quick=given.quick,
            n_jobs=given.jobs,
            verbose=1,
        )
    report = study.report(found, given.quick)
    kept = results / "scoreboard_speed.json"
    if kept.exists() and not given.quick:
        report.table(SPEED, pd.read_json(kept, dtype=False))
    folder = results if given.quick else HERE.parent / "docs"
    name = "scoreboard-quick" if given.quick else "scoreboard"
    command = "make bench" + (f" DATA={given.data}" if given.data else "")
    page = write_report(report, name, folder, command, found)
    print(page.read_text(encoding="utf-8"))


SPEED = (
    "Speed and memory (`python benchmarks/scoreboard.py --only speed`): 30 columns, 1 % positive, "
    "2 threads; each line in a process of its own, all in one run; ratios are to XGBoost's 100 rounds; "
    "AutoClassifier is left out, as it takes the time that it is given, and k-NN of a million rows, "
    "which takes longer than anybody waits"
)


if __name__ == "__main__":
    main()
