"""How γ falls where positives become rarer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from rarefind._core.types import ArrayLike, Floats, Ints, Label, Table
from rarefind.metrics.scorers import deciding_estimator
from rarefind.selection.labelled import Labelled

# By default the rarest positives of the series are this many.
_FEWEST = 10


def gamma_by_imbalance(
    estimator: Any,
    X: Table,
    y: ArrayLike,
    *,
    ratios: ArrayLike | None = None,
    repeats: int = 10,
    random_state: Any = None,
) -> pd.DataFrame:
    """Thin the positives step by step, and find γ at each.

    So was figure 2.4 of [1]_ made, which shows γ falling and then levelling off.

    Parameters
    ----------
    estimator : GammaKNNClassifier
        Two classes; a pipeline that ends in one is fine. It is cloned, not changed.
    X : array-like of shape (n, d)
        The rows.
    y : array-like of shape (n,)
        The labels.
    ratios : array-like, default=None
        Negatives for one positive, from that of the table on; by default eight steps, equal on a
        logarithmic scale, down to ten positives.
    repeats : int, default=10
        How often the positives are thinned at random. In each, the positives of a step are among
        those of the step before. Where all positives are kept, the repeats only differ by what the
        estimator itself draws.
    random_state : int, RandomState instance or None, default=None
        Seed of the thinning.

    Returns
    -------
    DataFrame
        A row a fit: ``ratio`` (as it came out in whole positives), ``positives``, ``repeat``,
        ``gamma`` and ``value``, the metric on the held-out rows at that γ. Draw it with
        :class:`rarefind.plots.ImbalanceDisplay`.

    References
    ----------
    .. [1] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, section 2.5.2.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rarefind.data import load_keel
    >>> from rarefind.neighbors import GammaKNNClassifier, gamma_by_imbalance
    >>> X, y = load_keel("pima")
    >>> model = make_pipeline(StandardScaler(), GammaKNNClassifier(k=3))
    >>> found = gamma_by_imbalance(model, X, y, ratios=[2, 10, 50], random_state=0)
    >>> found.groupby("ratio")["gamma"].median().round(2).tolist()
    [0.89, 0.75, 0.73]
    """
    data = Labelled.of(X, y, None, _positive_label(estimator))
    if data.pos_label is None:
        raise ValueError(f"Thinning needs two classes, and y has {np.unique(data.y).size}.")
    if repeats < 1:
        raise ValueError(f"repeats={repeats}: give at least 1.")
    positives = np.flatnonzero(data.y == data.pos_label)
    negatives = np.flatnonzero(data.y != data.pos_label)
    counts = _positives_left(positives.size, negatives.size, ratios)
    rng = check_random_state(random_state)
    found = []
    for repeat in range(repeats):
        order = rng.permutation(positives)
        for kept in counts:
            gamma, value = _fit(estimator, data, np.sort(np.append(order[:kept], negatives)))
            found.append((negatives.size / kept, int(kept), repeat, gamma, value))
    return pd.DataFrame(found, columns=["ratio", "positives", "repeat", "gamma", "value"])


def _positive_label(estimator: Any) -> Label:
    """The estimator's positive label, None where it is left to choose."""
    said = {name.split("__")[-1]: value for name, value in estimator.get_params().items()}
    return said.get("pos_label")


def _positives_left(positives: int, negatives: int, ratios: ArrayLike | None) -> Ints:
    """How many positives each ratio leaves, the most first, each number once."""
    own = negatives / positives
    if ratios is None:
        wanted = np.geomspace(own, max(own, negatives / _FEWEST), 8)
    else:
        wanted = np.atleast_1d(np.asarray(ratios, dtype=np.float64))
    if not wanted.size or not np.all(np.isfinite(wanted)) or wanted.min() <= 0:
        raise ValueError("ratios must be finite numbers above 0, at least one.")
    left: Floats = np.rint(negatives / wanted)
    if left.max() > positives:
        raise ValueError(
            f"There are {own:.4g} negatives for a positive: thinning the positives cannot "
            f"give a ratio of {wanted.min():.4g}. Give larger ratios."
        )
    if left.min() < 2:
        raise ValueError(
            f"A ratio of {wanted.max():.4g} leaves {int(left.min())} of {positives} positives "
            f"beside {negatives} negatives: give ratios that leave at least 2."
        )
    return np.unique(left.astype(np.intp))[::-1]


def _fit(estimator: Any, data: Labelled, rows: Ints) -> tuple[float, float]:
    fitted = deciding_estimator(data.fit(estimator, rows))
    if np.ndim(getattr(fitted, "gamma_", [])) > 0:
        raise ValueError(f"{type(fitted).__name__} has no single γ: give a GammaKNNClassifier.")
    return float(fitted.gamma_), float(fitted.value_)
