"""The methods of the scoreboard and the prequential page: ours, what people use today, and how each ranks rows."""

from __future__ import annotations

import itertools
import resource
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from _automl import autogluon_scores, flaml_scores
from catboost import CatBoostClassifier
from imblearn.ensemble import BalancedRandomForestClassifier, EasyEnsembleClassifier
from imblearn.over_sampling import SMOTE
from imblearn.pipeline import make_pipeline
from large_tables import Task
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier, XGBRanker

from rarefind.auto import AutoClassifier
from rarefind.boosting import NLBClassifier, SGBAPClassifier
from rarefind.conditions import ConditionClassifier
from rarefind.metrics import average_precision
from rarefind.neighbors import GammaKNNClassifier, ME2Classifier, MLFPClassifier
from rarefind.selection import best_threshold
from rarefind.trees import MetaAPClassifier, MetaAPForestClassifier
from studies.arrays import Bools, Floats, Ints

AUTO, SGBAP, SGBAP_TUNED = "AutoClassifier", "SGBAP", "SGBAP, tuned"
XGB_TUNED = "XGBoost, tuned"
AUTOGLUON, FLAML = "AutoGluon", "FLAML"


class Ranker(XGBRanker):
    """XGBoost's rank:map over one list of all rows."""

    def fit(self, X, y):
        return super().fit(X, y, qid=np.zeros(len(y), dtype=int))

    def score_of(self, X):
        return self.predict(X)


def grid(**values: list[Any]) -> list[dict[str, Any]]:
    """All combinations."""
    return [dict(zip(values, found, strict=True)) for found in itertools.product(*values.values())]


def knn(*before):
    return make_pipeline(StandardScaler(), *before, KNeighborsClassifier())


def catboost(seed: int, **given: Any) -> CatBoostClassifier:
    return CatBoostClassifier(
        random_seed=seed, thread_count=1, verbose=False, allow_writing_files=False, **given
    )


def defaults(seed: int) -> dict[str, Any]:
    """What people use, as it is: one fit, nothing tuned."""
    trees = {"random_state": seed, "n_jobs": 1}
    boosted = {"n_estimators": 300, "max_depth": 6, **trees}
    return {
        "ExtraTrees (500)": ExtraTreesClassifier(500, **trees),
        "RandomForest (500)": RandomForestClassifier(500, **trees),
        "CatBoost": catboost(seed),
        "LightGBM (300)": LGBMClassifier(n_estimators=300, verbosity=-1, **trees),
        "XGBoost (300)": XGBClassifier(**boosted),
        "XGBoost, 4096 bins": XGBClassifier(max_bin=4096, **boosted),
        "XGBoost, exact": XGBClassifier(tree_method="exact", **boosted),
    }


def tuned(seed: int) -> dict[str, tuple[Any, list[dict[str, Any]]]]:
    """A model, and the configurations it is tuned over."""
    trees = {"random_state": seed, "n_jobs": 1}
    boosted = grid(
        n_estimators=[100, 300], learning_rate=[0.03, 0.1, 0.3], max_depth=[2, 3, 4, 6, 8]
    )
    weighted = [{**each, "scale_pos_weight": w} for each in boosted for w in (1, 10, 100)]
    forests = grid(
        min_samples_leaf=[1, 2, 5],
        max_features=["sqrt", 0.3, 0.6, 1.0],
        class_weight=[None, "balanced_subsample"],
    )
    # Rounds of SGBAP are tuned as those of the boosters beside it, not stopped by rows held out.
    plain = {"early_stopping_rounds": None, "threshold": None}
    return {
        SGBAP_TUNED: (
            SGBAPClassifier(**plain, **trees),
            grid(
                n_estimators=[100, 300],
                mix=[0.5, 0.8, 1.0],
                learning_rate=[0.03, 0.1, 0.3],
                max_depth=[2, 3, 4, 6],
            ),
        ),
        XGB_TUNED: (XGBClassifier(**trees), weighted),
        "LightGBM, tuned": (LGBMClassifier(verbosity=-1, **trees), weighted),
        "CatBoost, tuned": (
            catboost(seed),
            grid(
                iterations=[300, 1000],
                learning_rate=[0.03, 0.1],
                depth=[4, 6, 8],
                auto_class_weights=["None", "SqrtBalanced"],
            ),
        ),
        "ExtraTrees, tuned": (ExtraTreesClassifier(300, bootstrap=True, **trees), forests),
        "RandomForest, tuned": (RandomForestClassifier(300, **trees), forests),
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
        "Balanced random forest": (
            BalancedRandomForestClassifier(
                sampling_strategy="all", replacement=True, bootstrap=False, **trees
            ),
            grid(min_samples_leaf=[1, 2, 5], max_features=["sqrt", 0.5]),
        ),
        "EasyEnsemble": (EasyEnsembleClassifier(**trees), grid(n_estimators=[5, 10])),
        "k-NN": (knn(), grid(kneighborsclassifier__n_neighbors=[1, 3, 5, 7, 9, 11, 15, 21, 31])),
        "SMOTE + k-NN": (
            knn(SMOTE(random_state=seed, k_neighbors=3)),
            grid(
                kneighborsclassifier__n_neighbors=[1, 3, 5, 9, 15],
                smote__sampling_strategy=[1.0, 0.75],
            ),
        ),
    }


def ours(seed: int) -> dict[str, Any]:
    """rarefind's estimators as they are; columns are standardised for those that use distances."""
    given = {"random_state": seed, "n_jobs": 1}
    return {
        SGBAP: SGBAPClassifier(**given),
        "MetaAPForest": MetaAPForestClassifier(**given),
        "MetaAP": MetaAPClassifier(**given),
        "NLB": NLBClassifier(**given),
        "Conditions": ConditionClassifier(**given),
        "γk-NN": GammaKNNClassifier(**given),
        "MLFP": MLFPClassifier(max_negatives=500, **given),
        "ME²": ME2Classifier(**given),
    }


SCALED = ("γk-NN", "MLFP", "ME²")
AUTOML = (AUTO, AUTOGLUON, FLAML)
DEFAULTS = tuple(defaults(0))
#: What can be asked for by one word; "quick" is one fit each, of no more than minutes.
GROUPS: dict[str, tuple[str, ...]] = {
    "quick": (SGBAP, "MetaAPForest", *DEFAULTS),
    "defaults": DEFAULTS,
    "ours": (*ours(0), AUTO),
    "automl": AUTOML,
    "tuned": tuple(tuned(0)),
    "all": (*ours(0), *DEFAULTS, *AUTOML, *tuned(0)),
}


def methods_of(asked: Sequence[str]) -> list[str]:
    """Methods by their names or those of groups, each once."""
    found: list[str] = []
    for name in asked:
        if name not in GROUPS and name not in GROUPS["all"]:
            known = ", ".join([*GROUPS, *GROUPS["all"]])
            raise ValueError(f"There is no method {name!r}: known are {known}.")
        found += GROUPS.get(name, (name,))
    return list(dict.fromkeys(found))


class Effort(NamedTuple):
    """What every method of a board may spend."""

    #: Configurations of those that are tuned, and the folds that they are judged by.
    trials: int
    folds: list[tuple[Ints, Ints]]
    #: Seconds of those that are given a time limit.
    limit: float
    seed: int = 0


class Ranked(NamedTuple):
    """Scores of the rows to test; decisions where the method makes them; what was chosen; the cost."""

    score: Floats
    decided: Bools | None
    chosen: dict[str, Any]
    seconds: float
    processor_seconds: float


def folds_of(task: Task, number: int, seed: int) -> list[tuple[Ints, Ints]]:
    """Later rows where there are times, else parts with as many positives each."""
    if task.times is not None:
        cut = int(0.7 * len(task.y))
        return [(np.arange(cut), np.arange(cut, len(task.y)))]
    if number == 1:
        return list(
            StratifiedShuffleSplit(1, test_size=0.3, random_state=seed).split(task.X, task.y)
        )
    parts = StratifiedKFold(number, shuffle=True, random_state=seed)
    return list(parts.split(task.X, task.y))


def rank_rows(name: str, task: Task, effort: Effort) -> Ranked:
    """What a method makes of a table, with one thread."""
    before, start = processor_seconds(), time.perf_counter()
    score, decided, chosen = _way_of(name)(name, task, effort)
    taken = time.perf_counter() - start
    return Ranked(score, decided, chosen, taken, processor_seconds() - before)


def processor_seconds() -> float:
    """Of this process and those that it has waited for."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


Found = tuple[Floats, "Bools | None", dict[str, Any]]


def _way_of(name: str) -> Callable[[str, Task, Effort], Found]:
    if name == AUTO:
        return _automatic
    if name in (AUTOGLUON, FLAML):
        return _rival_automl
    if name in GROUPS["tuned"]:
        return _tuned
    return _own if name in ours(0) else _default


def _automatic(name: str, task: Task, effort: Effort) -> Found:
    model = AutoClassifier(
        budget=float(task.y.mean()), time_limit=effort.limit, random_state=effort.seed, n_jobs=1
    )
    model.fit(task.X, task.y, times=task.times)
    # How many rows each member was fitted to tells what the time limit cost.
    chosen = {"limit": effort.limit, "chosen": model.fitted_on_}
    return model.priority(task.test), model.predict(task.test), chosen


def _rival_automl(name: str, task: Task, effort: Effort) -> Found:
    scores = autogluon_scores if name == AUTOGLUON else flaml_scores
    score, chosen = scores(task, effort.limit, effort.seed)
    return score, None, {"limit": effort.limit, "chosen": chosen}


def _default(name: str, task: Task, effort: Effort) -> Found:
    model = defaults(effort.seed)[name].fit(task.X, task.y)
    return score_of(model, task.test), None, {}


def _own(name: str, task: Task, effort: Effort) -> Found:
    X, test = task.X, task.test
    if name in SCALED:
        scaler = StandardScaler().fit(X)
        X, test = scaler.transform(X), scaler.transform(test)
    model = ours(effort.seed)[name].fit(X, task.y)
    return model.priority(test), model.predict(test), {}


def _tuned(name: str, task: Task, effort: Effort) -> Found:
    """The configuration with the best average precision on the folds alone."""
    model, space = tuned(effort.seed)[name]
    rng = np.random.default_rng(effort.seed)
    best, chosen, threshold = -1.0, {}, 0.5
    for i in rng.permutation(len(space))[: effort.trials]:
        scores, truth = [], []
        for train, held in effort.folds:
            fitted = clone(model).set_params(**space[i]).fit(task.X[train], task.y[train])
            scores.append(score_of(fitted, task.X[held]))
            truth.append(task.y[held])
        worth = np.mean([average_precision(t, s) for t, s in zip(truth, scores, strict=True)])
        if worth > best:
            best, chosen = float(worth), space[i]
            together = np.concatenate(truth), np.concatenate(scores)
            threshold = best_threshold(*together, "f1").threshold
    score = score_of(clone(model).set_params(**chosen).fit(task.X, task.y), task.test)
    return score, score >= threshold, chosen


def score_of(model: Any, rows: Floats) -> Floats:
    if hasattr(model, "priority"):
        return model.priority(rows)
    if hasattr(model, "score_of"):
        return model.score_of(rows)
    return model.predict_proba(rows)[:, 1]
