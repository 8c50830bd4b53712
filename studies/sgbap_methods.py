"""What ranks rows in the study of SGBAP: losses of boosted trees, each tuned in the same way."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold
from xgboost import XGBClassifier

from rarefind.boosting import LambdaMARTClassifier, RankBoostClassifier, SGBAPClassifier
from rarefind.metrics import average_precision
from studies.arrays import Bools, Floats, Ints
from studies.sets import Labelled

EXP_THEN, SIGMOID_THEN = "SGBAP as published", "SGBAP_sig as published"
EXP, SIGMOID = "SGBAP", "SGBAP, sigmoid"
_FOLDS = 5
# No more folds are used than hold out so many positives: our estimators do so by themselves.
_ENOUGH = 300
_ROUNDS = (10, 25, 50, 100, 200, 300)
_RATE = 0.1


class Grid(NamedTuple):
    """Depths to choose from, and the most rounds."""

    depths: tuple[int, ...] = (2, 4, 6)
    rounds: int = 300


class Ranked(NamedTuple):
    """Scores of the rows asked for, and what was chosen."""

    score: Floats
    chosen: dict[str, Any]


Method = Callable[[Labelled, Floats, int, Grid], Ranked]


def _folds(seed: int) -> StratifiedKFold:
    return StratifiedKFold(_FOLDS, shuffle=True, random_state=seed)


def _logistic(inside: Labelled, rows: Floats, seed: int, grid: Grid) -> Ranked:
    """XGBoost as it is, its depth and number of trees chosen by the folds."""

    def fitted(depth: int, trees: int, X: Floats, y: Bools) -> Any:
        model = XGBClassifier(
            n_estimators=trees, max_depth=depth, learning_rate=_RATE, random_state=seed, n_jobs=1
        )
        return model.fit(X, y.astype(int))

    rounds = [number for number in _ROUNDS if number <= grid.rounds]
    worth = np.zeros((len(grid.depths), len(rounds)))
    for train, held in _enough(inside, seed):
        for line, depth in enumerate(grid.depths):
            model = fitted(depth, rounds[-1], inside.X[train], inside.y[train])
            for place, number in enumerate(rounds):
                score = model.predict(
                    inside.X[held], output_margin=True, iteration_range=(0, number)
                )
                worth[line, place] += average_precision(inside.y[held], score)
    line, place = divmod(int(worth.argmax()), len(rounds))
    depth, number = grid.depths[line], rounds[place]
    model = fitted(depth, number, inside.X, inside.y)
    score = np.asarray(model.predict(rows, output_margin=True), dtype=float)
    return Ranked(score, {"depth": depth, "rounds": number})


def _enough(inside: Labelled, seed: int) -> list[tuple[Ints, Ints]]:
    """The folds, no more than it takes to hold out enough positives."""
    chosen, held_out = [], 0
    for train, held in _folds(seed).split(inside.X, inside.y):
        if held_out < _ENOUGH:
            chosen.append((train, held))
            held_out += int(inside.y[held].sum())
    return chosen


def _boosted(
    make: Callable[..., Any], inside: Labelled, rows: Floats, seed: int, grid: Grid
) -> Ranked:
    """One of our estimators, its depth chosen by the folds that its rounds are chosen by."""
    models = [
        make(
            max_depth=depth,
            n_estimators=grid.rounds,
            learning_rate=_RATE,
            cv=_folds(seed),
            threshold=None,
            pos_label=True,
            random_state=seed,
            n_jobs=1,
        ).fit(inside.X, inside.y)
        for depth in grid.depths
    ]
    best = max(models, key=lambda model: float(model.validation_curve_.max()))
    chosen = {"depth": int(best.max_depth), "rounds": int(best.n_rounds_)}
    return Ranked(best.priority(rows), chosen)


#: The losses by name.
METHODS: dict[str, Method] = {
    "GB-Logistic": _logistic,
    "RankBoost": partial(_boosted, RankBoostClassifier),
    "LambdaMART-AP": partial(_boosted, LambdaMARTClassifier),
    EXP_THEN: partial(_boosted, partial(SGBAPClassifier, mix=0.0)),
    SIGMOID_THEN: partial(_boosted, partial(SGBAPClassifier, surrogate="sigmoid", mix=0.0)),
    EXP: partial(_boosted, SGBAPClassifier),
    "SGBAP, log": partial(_boosted, partial(SGBAPClassifier, surrogate="log")),
    SIGMOID: partial(_boosted, partial(SGBAPClassifier, surrogate="sigmoid")),
}
