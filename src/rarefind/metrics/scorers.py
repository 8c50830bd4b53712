"""The measures as scikit-learn scorers, by name or with their own parameters."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rarefind._core.budget import budget_share
from rarefind._core.sklearn_compat import register_scorer
from rarefind._core.types import ArrayLike, Floats, Label, Table
from rarefind.metrics import _ranking
from rarefind.metrics._counts import confusion, count_metric

_RANKING: dict[str, Callable[..., float]] = {
    "average_precision": _ranking.average_precision,
    "pos_at_top": _ranking.pos_at_top,
    "precision_at_k": _ranking.precision_at_k,
    "recall_at_k": _ranking.recall_at_k,
    "lift_at_k": _ranking.lift_at_k,
}


def positive_label_of(estimator: Any) -> Label:
    """The positive class of a fitted classifier: ``pos_label_`` if it has one, else the second."""
    if len(estimator.classes_) != 2:
        raise ValueError(f"A ranking needs two classes, and there are {len(estimator.classes_)}.")
    decides = deciding_estimator(estimator)
    return decides.pos_label_ if hasattr(decides, "pos_label_") else estimator.classes_[1]


def deciding_estimator(estimator: Any) -> Any:
    """The fitted estimator inside pipelines, searches and wrappers."""
    if hasattr(estimator, "steps"):
        return deciding_estimator(estimator.steps[-1][1])
    for name in ("best_estimator_", "estimator_"):
        if hasattr(estimator, name):
            return deciding_estimator(getattr(estimator, name))
    return estimator


def ranking_scores(estimator: Any, X: Table, pos_label: Label = None) -> Floats:
    """Scores of any fitted binary classifier, higher for rows more likely positive.

    Parameters
    ----------
    estimator : classifier
        With ``priority``, ``decision_function`` or ``predict_proba``; the first it has is taken.
    X : array-like of shape (n, d)
        The rows.
    pos_label : label, default=None
        The label to rank for; by default the estimator's own, see :func:`positive_label_of`.

    Returns
    -------
    ndarray of shape (n,)
    """
    own = positive_label_of(estimator)
    wanted = own if pos_label is None else pos_label
    if wanted not in estimator.classes_:
        known = " and ".join(map(str, estimator.classes_))
        raise ValueError(f"pos_label={pos_label!r} is not among the labels {known}.")
    if hasattr(estimator, "priority"):
        return np.asarray(estimator.priority(X), dtype=float) * (1 if wanted == own else -1)
    column = int(np.flatnonzero(estimator.classes_ == wanted)[0])
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X), dtype=float) * (1 if column else -1)
    return np.asarray(estimator.predict_proba(X)[:, column], dtype=float)


@dataclass(frozen=True)
class Scorer:
    """A measure as ``scorer(estimator, X, y)``; larger is better."""

    name: str
    params: dict[str, Any] = field(default_factory=dict)
    #: The positive label; by default the estimator's own.
    pos_label: Label = None

    def __call__(
        self, estimator: Any, X: Table, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Measure a fitted estimator on rows it has not seen."""
        pos_label = positive_label_of(estimator) if self.pos_label is None else self.pos_label
        if self.name in _RANKING:
            score = ranking_scores(estimator, X, pos_label)
            measure = _RANKING[self.name]
            return measure(
                y, score, pos_label=pos_label, sample_weight=sample_weight, **self.params
            )
        metric = count_metric(self.name, **self.params)
        counts = confusion(
            y, estimator.predict(X), pos_label=pos_label, sample_weight=sample_weight
        )
        return float(metric(*map(np.asarray, counts)))


def get_scorer(
    name: str | Callable[..., float], *, pos_label: Label = None, **params: Any
) -> Callable[..., float]:
    """A scorer for ``GridSearchCV(scoring=...)``, :func:`rarefind.selection.tune` and ``compare``.

    Parameters
    ----------
    name : str or callable
        ``"average_precision"``, ``"pos_at_top"``, ``"precision_at_k"``, ``"recall_at_k"``,
        ``"lift_at_k"`` with ``k=...`` or as ``"precision_at_200"``, or any name that
        :func:`count_metric` knows. A callable ``(estimator, X, y)`` is returned as it is.
    pos_label : label, default=None
        The positive label; by default the estimator's ``pos_label_``, or the second of its
        ``classes_``, which may not be the one you mean where labels are text.
    **params
        Parameters of the measure, such as ``k`` or ``beta``.

    Examples
    --------
    >>> from rarefind.metrics import get_scorer
    >>> get_scorer("precision_at_200")
    Scorer(name='precision_at_k', params={'k': 200}, pos_label=None)
    """
    if not isinstance(name, str):
        return name
    at_number = re.fullmatch(r"((?:precision|recall|lift)_at_)(\d+)", name)
    if at_number:
        name, params = at_number[1] + "k", {"k": int(at_number[2]), **params}
    # A mistake is an error now, not in the middle of a search.
    if name not in _RANKING:
        try:
            count_metric(name, **params)
        except ValueError as error:
            raise ValueError(f"{error} Rankings are measured by {', '.join(_RANKING)}.") from None
    elif name.endswith("_at_k"):
        if "k" not in params:
            raise ValueError(f"{name} needs a number of checks: k=200, or the name {name[:-1]}200.")
        budget_share(params["k"])
    return Scorer(name, params, pos_label)


# With these registered, scoring="precision_at_100" works in scikit-learn once rarefind is imported.
REGISTERED_SCORERS = (
    "pos_at_top",
    "g_mean",
    "g_measure",
    "f2",
    "f0.5",
    *(
        f"{kind}_at_{k}"
        for kind in ("precision", "recall", "lift")
        for k in (10, 20, 50, 100, 200, 500, 1000)
    ),
)
for _name in REGISTERED_SCORERS:
    register_scorer(_name, get_scorer(_name))
