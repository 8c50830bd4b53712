"""Compiling ahead what estimators need, so that a first fit starts at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import get_tags

from rarefind._core.kernels import compiled_so_far
from rarefind._core.types import Floats, Ints
from rarefind.auto._candidates import CANDIDATE_NAMES, candidate_estimators
from rarefind.auto._registry import find_estimator

# As few as let every kernel run.
_ROWS, _POSITIVES, _COPIES, _COLUMNS = 240, 40, 40, 4
_FEW_ROUNDS = {"n_estimators": 3, "max_rounds": 2, "early_stopping_rounds": None}


class CompiledEstimator(NamedTuple):
    """What was compiled for an estimator: nothing where that was done before."""

    name: str
    functions: int
    seconds: float


def compile_estimators(names: Iterable[str]) -> Iterator[CompiledEstimator]:
    """Compile what some estimators need, by fitting each to a few made-up rows.

    The machine code is kept on disk, so it is done once in an installation. Each estimator is
    compiled when the next item is asked for.

    Parameters
    ----------
    names : iterable of str
        Names of :func:`rarefind.auto.estimators`; ``"auto"`` stands for all its candidates.

    Yields
    ------
    CompiledEstimator
    """
    for name in names:
        before = compiled_so_far()
        if name == "auto":
            for estimator in candidate_estimators(list(CANDIDATE_NAMES), 0, 1).values():
                _run(estimator)
        else:
            _run(find_estimator(name).make(10, random_state=0, n_jobs=1))
        now = compiled_so_far()
        yield CompiledEstimator(
            name, now.functions - before.functions, round(now.seconds - before.seconds, 1)
        )


def _run(estimator: Any) -> None:
    known = estimator.get_params(deep=False)
    estimator.set_params(**{name: value for name, value in _FEW_ROUNDS.items() if name in known})
    X, y = _rows()
    if get_tags(estimator).input_tags.allow_nan:
        X[::7, 0] = np.nan
    if "categorical_features" in known:
        estimator.set_params(categorical_features=[_COLUMNS - 1])
    for rows in (np.asfortranarray(X), X):  # as tables have them, and as arrays do
        estimator.fit(rows, y)
        estimator.predict_proba(rows)
    estimator.explain(X[:2])


def _rows() -> tuple[Floats, Ints]:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(_ROWS, _COLUMNS)), (np.arange(_ROWS) < _POSITIVES).astype(np.intp)
    X[:_POSITIVES, :2] += 1.5
    X[:, -1] = rng.integers(0, 12, _ROWS)  # categories
    # Copies, and rows on a grid: which of equally near ones is the neighbour, other kernels tell.
    X[-_COPIES:] = X[-_COPIES]
    X[_POSITIVES : 2 * _POSITIVES] = rng.integers(0, 2, (_POSITIVES, _COLUMNS))
    return X, y
