"""What ranks rows in the study of MetaAP: trees, forests and boosting, each tuned by its rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBRanker

from rarefind.boosting import SGBAPClassifier
from rarefind.metrics import average_precision
from rarefind.trees import MetaAPClassifier, MetaAPForestClassifier, TreeRankClassifier
from studies.arrays import Floats
from studies.cut_trees import DISTANCE, LEAF, conditions_by_depth, scores_by_depth
from studies.sets import Labelled

META, FOREST, SGBAP = "MetaAP", "MetaAPForest", "SGBAP"
META_THEN, FOREST_THEN, SGBAP_THEN = (f"{name} as published" for name in (META, FOREST, SGBAP))
TREES = ("Gini", "Entropy", "TreeRank", META_THEN, META)
ENSEMBLES = ("EntropyForest", FOREST_THEN, FOREST, "XGBRanker", SGBAP_THEN, SGBAP)
#: Rows ranked by the share of positives in their leaf, not by distances as in the thesis.
LEAF_FORMS = ("Gini, by leaf", "Entropy, by leaf", "EntropyForest, by leaf")
#: MetaAP as the thesis has it, but for its depths.
PUBLISHED_FORM: dict[str, Any] = {
    "criterion": "ap",
    "order": "ratio",
    "scores": "position",
    "ties": "leaf",
}
#: What all our trees of trees have in common.
SHARED: dict[str, Any] = {"threshold": None, "pos_label": True, "n_jobs": 1}
_FOLDS = 5
_DEPTHS = [*range(2, 11), *range(20, 101, 10)]
_FOREST_DEPTHS = list(range(2, 11))
# Rounds without a better one after which boosting stops.
_PATIENCE = 30


class Grid(NamedTuple):
    """What there is to choose from, and how many trees an ensemble has."""

    inner: tuple[int, ...] = tuple(range(2, 11))
    outer: int = 10
    #: Depths p of forests of p × p levels.
    forest: tuple[int, ...] = (2, 3, 4, 6)
    boosted: tuple[int, ...] = (2, 4, 6, 8, 10)
    trees: int = 100


class Ranked(NamedTuple):
    """What a method says: scores of the test rows and the training rows, and what was chosen."""

    test: Floats
    training: Floats | None
    chosen: dict[str, Any]


#: From training rows, test rows, a seed and a grid to what one or two methods say, by their names.
Method = Callable[[Labelled, Floats, int, Grid], dict[str, Ranked]]


class _TreeRankForAP(TreeRankClassifier):
    """TreeRank with both depths chosen by average precision, as the thesis chooses all."""

    _target = "average_precision"


def _folds(inside: Labelled, seed: int) -> list[Any]:
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=seed)
    return list(folds.split(inside.X, inside.y))


def _tree(
    criterion: str, name: str, inside: Labelled, rows: Floats, seed: int, grid: Grid
) -> dict[str, Ranked]:
    """An ordinary tree, its depth chosen by the folds, ranked in both ways."""
    model = DecisionTreeClassifier(criterion=criterion, max_depth=_DEPTHS[-1], random_state=seed)
    names = {DISTANCE: name, LEAF: f"{name}, by leaf"}
    worth = {by: np.zeros(len(_DEPTHS)) for by in names}
    for train, held in _folds(inside, seed):
        grown = model.fit(inside.X[train], inside.y[train]).tree_
        for by in names:
            scores = scores_by_depth(grown, inside.X[held], _DEPTHS, by)
            worth[by] += [average_precision(inside.y[held], score) for score in scores]
    grown = model.fit(inside.X, inside.y).tree_
    found = {}
    for by, label in names.items():
        depth = [_DEPTHS[int(worth[by].argmax())]]
        test, training = (scores_by_depth(grown, X, depth, by)[0] for X in (rows, inside.X))
        size = conditions_by_depth(grown, depth)[0]
        found[label] = Ranked(test, training, {"depth": depth[0], "conditions": size})
    return found


def _tuned_meta_tree(
    make: Callable[..., Any], name: str, inside: Labelled, rows: Floats, seed: int, grid: Grid
) -> dict[str, Ranked]:
    """A tree of trees, both of its depths chosen by the folds."""
    depths = {"inner_depth": list(grid.inner), "outer_depth": grid.outer}
    model = make(**depths, **SHARED, random_state=seed).fit(inside.X, inside.y)
    return {name: _ranked(model, inside, rows)}


def _meta_ap(inside: Labelled, rows: Floats, seed: int, grid: Grid) -> dict[str, Ranked]:
    model = MetaAPClassifier(**SHARED, random_state=seed).fit(inside.X, inside.y)
    return {META: _ranked(model, inside, rows)}


def _ranked(model: Any, inside: Labelled, rows: Floats) -> Ranked:
    chosen = {
        "inner_depth": int(model.inner_depth_),
        "outer_depth": int(model.outer_depth_),
        "conditions": int(model.n_conditions_),
    }
    return Ranked(model.priority(rows), model.priority(inside.X), chosen)


def _entropy_forest(inside: Labelled, rows: Floats, seed: int, grid: Grid) -> dict[str, Ranked]:
    """A forest by entropy with all columns at each node, its depth chosen by rows out of bag."""
    model = RandomForestClassifier(
        grid.trees,
        criterion="entropy",
        max_features=None,
        max_depth=_FOREST_DEPTHS[-1],
        random_state=seed,
    ).fit(inside.X, inside.y)
    found = {}
    for by, name in ((DISTANCE, "EntropyForest"), (LEAF, "EntropyForest, by leaf")):
        unseen = np.zeros((len(_FOREST_DEPTHS), len(inside.y)))
        asked = np.zeros(len(inside.y))
        test = np.zeros((len(_FOREST_DEPTHS), len(rows)))
        for tree, drawn in zip(model.estimators_, model.estimators_samples_, strict=True):
            out = np.setdiff1d(np.arange(len(inside.y)), drawn)
            unseen[:, out] += scores_by_depth(tree.tree_, inside.X[out], _FOREST_DEPTHS, by)
            asked[out] += 1
            test += scores_by_depth(tree.tree_, rows, _FOREST_DEPTHS, by)
        unseen /= np.maximum(asked, 1)
        worth = [average_precision(inside.y[asked > 0], line[asked > 0]) for line in unseen]
        best = int(np.argmax(worth))
        found[name] = Ranked(test[best], None, {"depth": _FOREST_DEPTHS[best]})
    return found


def _meta_forest_then(inside: Labelled, rows: Floats, seed: int, grid: Grid) -> dict[str, Ranked]:
    """As published, with all columns at each node; both depths by rows out of bag."""
    models = [
        MetaAPForestClassifier(
            grid.trees,
            inner_depth=depth,
            outer_depth=depth,
            criterion="ap",
            order="ratio",
            shrinkage=0.0,
            max_features=None,
            threshold=None,
            pos_label=True,
            random_state=seed,
        ).fit(inside.X, inside.y)
        for depth in grid.forest
    ]
    best = max(models, key=lambda model: model.oob_average_precision_)
    return {FOREST_THEN: Ranked(best.priority(rows), None, {"depth": best.inner_depth})}


def _meta_forest(inside: Labelled, rows: Floats, seed: int, grid: Grid) -> dict[str, Ranked]:
    model = MetaAPForestClassifier(threshold=None, pos_label=True, random_state=seed)
    return {FOREST: Ranked(model.fit(inside.X, inside.y).priority(rows), None, {})}


def _xgb_ranker(inside: Labelled, rows: Floats, seed: int, grid: Grid) -> dict[str, Ranked]:
    def scores(depth: int, own: Labelled, asked: Floats) -> Floats:
        model = XGBRanker(
            objective="rank:pairwise",
            lambdarank_pair_method="mean",  # all rows in pairs, as it was when published
            n_estimators=grid.trees,
            max_depth=depth,
            random_state=seed,
            n_jobs=1,
        )
        model.fit(own.X, own.y.astype(int), group=[len(own.y)])
        return np.asarray(model.predict(asked), dtype=float)

    worth = np.zeros(len(grid.boosted))
    for train, held in _folds(inside, seed) if len(grid.boosted) > 1 else []:
        own = Labelled(inside.X[train], inside.y[train])
        worth += [
            average_precision(inside.y[held], scores(depth, own, inside.X[held]))
            for depth in grid.boosted
        ]
    depth = grid.boosted[int(worth.argmax())]
    return {"XGBRanker": Ranked(scores(depth, inside, rows), None, {"depth": depth})}


def _sgbap_then(inside: Labelled, rows: Floats, seed: int, grid: Grid) -> dict[str, Ranked]:
    """The surrogate alone, at most 100 rounds; the depth by the folds that rounds are chosen by."""
    models = [
        SGBAPClassifier(
            mix=0.0,
            n_estimators=grid.trees,
            early_stopping_rounds=_PATIENCE,
            max_depth=depth,
            threshold=None,
            pos_label=True,
            random_state=seed,
            n_jobs=1,
        ).fit(inside.X, inside.y)
        for depth in grid.boosted
    ]
    best = max(models, key=lambda model: float(model.validation_curve_.max()))
    chosen = {"depth": best.max_depth, "rounds": int(best.n_rounds_)}
    return {SGBAP_THEN: Ranked(best.priority(rows), None, chosen)}


def _sgbap(inside: Labelled, rows: Floats, seed: int, grid: Grid) -> dict[str, Ranked]:
    model = SGBAPClassifier(threshold=None, pos_label=True, random_state=seed, n_jobs=1)
    model.fit(inside.X, inside.y)
    return {SGBAP: Ranked(model.priority(rows), None, {"rounds": int(model.n_rounds_)})}


#: The methods of a part of the study.
METHODS: dict[str, list[Method]] = {
    "ordinary trees": [partial(_tree, "gini", "Gini"), partial(_tree, "entropy", "Entropy")],
    "TreeRank": [partial(_tuned_meta_tree, _TreeRankForAP, "TreeRank")],
    META: [
        partial(_tuned_meta_tree, partial(MetaAPClassifier, **PUBLISHED_FORM), META_THEN),
        _meta_ap,
    ],
    "entropy forest": [_entropy_forest],
    "forest as published": [_meta_forest_then],
    "MetaAP forest": [_meta_forest],
    "XGBRanker": [_xgb_ranker],
    "SGBAP": [_sgbap_then, _sgbap],
}
