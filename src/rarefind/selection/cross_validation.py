"""Folds for a handful of positives, and scores of rows by models that have not seen them."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils import check_consistent_length

from rarefind._core.types import Array, ArrayLike, Bools, Floats, Ints, Label, Table
from rarefind.metrics import ranking_scores
from rarefind.selection.labelled import Labelled


def folds(
    X: Table,
    y: ArrayLike,
    cv: Any = 5,
    *,
    groups: ArrayLike | None = None,
    random_state: Any = None,
) -> list[tuple[Ints, Ints]]:
    """Stratified folds, as many as the rarest class allows; whole groups where groups are given.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows.
    y : array-like of shape (n,)
        The labels.
    cv : int, splitter or iterable, default=5
        The wanted number of folds, or any scikit-learn splitter, taken as it is.
    groups : array-like of shape (n,), default=None
        Rows of one group stay on one side.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffling, used when ``cv`` is a number.

    Returns
    -------
    list of (train, test)
        Only folds whose training part holds every class; an error when none is left.
    """
    labels = np.asarray(y)
    check_consistent_length(X, labels, groups)
    if not isinstance(cv, int | np.integer):
        usable = _usable(check_cv(cv, labels, classifier=True), X, labels, groups)
    else:
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        wanted = _possible_folds(int(cv), labels, groups)
        shuffled = kind(wanted, shuffle=True, random_state=random_state)
        # Older scikit-learn (seen: 1.7) may shuffle all groups of a class into one fold.
        usable = _usable(shuffled, X, labels, groups) or _usable(kind(wanted), X, labels, groups)
    if not usable:
        raise ValueError(
            "No fold leaves rows of every class to train on; give more rows or fewer folds."
        )
    return usable


def folds_of_used(
    X: Table,
    y: ArrayLike,
    cv: Any,
    used: Bools,
    *,
    groups: ArrayLike | None = None,
    random_state: Any = None,
) -> list[tuple[Ints, Ints]]:
    """Folds of the rows of a table that are used, which ``X``, ``y`` and ``groups`` hold.

    Parts that are given by row numbers speak of all rows of the table.
    """
    if cv is None:
        cv = 5  # as in scikit-learn
    if not isinstance(cv, Integral) and not hasattr(cv, "split"):
        parts = [[np.asarray(part, dtype=np.intp) for part in pair] for pair in cv]
        if not parts:
            raise ValueError(
                "cv has no folds: an iterator is used up by its first fit. "
                "Give a list or a splitter."
            )
        named = np.concatenate([part for pair in parts for part in pair])
        if named.size and not -used.size <= named.min() <= named.max() < used.size:
            raise ValueError(f"cv names rows beyond the {used.size} of the table.")
        number = np.cumsum(used) - 1
        cv = [tuple(number[part][used[part]] for part in pair) for pair in parts]
    return folds(X, y, cv, groups=groups, random_state=random_state)


def check_positives_held_out(positive: Bools) -> None:
    """Without a positive among the held-out rows no threshold is better than another."""
    if not positive.any():
        raise ValueError(
            "None of the held-out rows is positive, so nothing can be tuned: give folds (cv) or an "
            "eval_set with positives."
        )


def _usable(
    splitter: Any, X: Table, labels: Array, groups: ArrayLike | None
) -> list[tuple[Ints, Ints]]:
    """The folds with rows to test and rows of every class to train on."""
    with warnings.catch_warnings():
        # A class rarer than the folds is met here on purpose.
        warnings.filterwarnings("ignore", message="The least populated class")
        pairs = [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(X, labels, groups)]
    n_classes = np.unique(labels).size
    return [(a, b) for a, b in pairs if b.size and np.unique(labels[a]).size == n_classes]


def _possible_folds(wanted: int, labels: Array, groups: ArrayLike | None) -> int:
    if wanted < 2:
        raise ValueError(f"cv={wanted}: rows are held out in at least 2 folds.")
    names, counts = np.unique(labels, return_counts=True)
    rarest = names[np.argmin(counts)]
    possible = int(counts.min())
    what = "row"
    if groups is not None:
        possible = len(set(np.asarray(groups)[labels == rarest].tolist()))
        what = "group"
    if possible < 2:
        # Estimators number the labels: 0 and 1 may not be what they are called.
        called = "" if str(rarest) in ("0", "1", "True", "False") else f" ({rarest!s})"
        raise ValueError(
            f"The rarer label{called} has {possible} {what}{'' if possible == 1 else 's'}: "
            "holding some out needs at least 2; give more of them, or a value for what is tuned."
        )
    return min(wanted, possible)


def out_of_fold_scores(
    estimator: Any,
    X: Table,
    y: ArrayLike,
    *,
    cv: Any = 5,
    groups: ArrayLike | None = None,
    pos_label: Label = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Floats:
    """Score every row by a model that has not seen it, nor any row of its group.

    Parameters
    ----------
    estimator : classifier
        With ``priority``, ``decision_function`` or ``predict_proba``; two classes.
    X, y, cv, groups, random_state
        As in :func:`folds`.
    pos_label : label, default=None
        The positive label; by default the rarer one.
    n_jobs : int, default=None
        Folds fitted at the same time.

    Returns
    -------
    ndarray of shape (n,)
        Higher for rows more likely positive; the mean over folds where a row is held out more than
        once, NaN where it never is (as at the beginning of a split in time).

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from rarefind.metrics import average_precision
    >>> from rarefind.selection import out_of_fold_scores
    >>> X, y = [[0], [1], [2], [3], [4], [5]], [0, 0, 0, 0, 1, 1]
    >>> average_precision(y, out_of_fold_scores(LogisticRegression(), X, y))
    1.0
    """
    data = Labelled.of(X, y, groups, pos_label)
    pairs = folds(X, data.y, cv, groups=groups, random_state=random_state)
    scored = Parallel(n_jobs=n_jobs)(
        delayed(_fit_and_score)(estimator, data, train, test) for train, test in pairs
    )
    total, times = np.zeros(data.y.size), np.zeros(data.y.size)
    for (_, test), scores in zip(pairs, scored, strict=True):
        total[test] += scores
        times[test] += 1
    return np.divide(total, times, out=np.full(data.y.size, np.nan), where=times > 0)


def _fit_and_score(estimator: Any, data: Labelled, train: Ints, test: Ints) -> Floats:
    fitted = data.fit(estimator, train)
    return ranking_scores(fitted, data.held_out(fitted, test, train)[0], data.pos_label)
