"""What every pair of scales is worth: one for real positives, one for synthetic ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from rarefind._core.types import ArrayLike, Floats, Table
from rarefind.metrics import count_metric
from rarefind.neighbors._ratio import TwoDistances, ratio
from rarefind.selection.thresholds import evaluate


class ScaleMap(NamedTuple):
    """A measure on held-out rows, by the scale of real and of synthetic positives.

    ``values[i, j]`` belongs to ``gammas[i]`` and ``gammas_synthetic[j]``. The best pair is the one
    that the fit of the estimator finds, off the grid: γ exactly, the ratio of the two by a search.
    """

    gammas: Floats
    gammas_synthetic: Floats
    values: Floats
    best_gamma: float
    best_gamma_synthetic: float
    best_value: float
    metric: str


def scale_map(
    estimator: Any,
    X: Table,
    y: ArrayLike,
    *,
    gammas: ArrayLike | None = None,
    gammas_synthetic: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> ScaleMap:
    """Measure γk-NN with synthetic positives at every pair of scales.

    These are the heat maps of figure 2.7 of [1]_. The rows are held out and searched once. A
    row is an alert where the positives that come before its r-th nearest negative, real ones at
    distance γ·D and synthetic ones at γ_synthetic·D, are at least q: its pairs of scales fill a
    staircase of q + 1 rectangles, and the counts of all pairs come from the corners of the
    staircases. So a finer grid costs next to nothing.

    Parameters
    ----------
    estimator : GammaKNNClassifier
        With a ``sampler``; a pipeline that ends in one is fine, its other steps are fitted to all
        rows. Its own ``gamma`` and ``gamma_synthetic`` are not looked at.
    X : array-like of shape (n, d)
        The rows.
    y : array-like of shape (n,)
        The labels.
    gammas, gammas_synthetic : array-like, default=None
        The scales to try; by default 0.02, 0.04, … up to 1 for real and up to 2 for synthetic
        positives.
    groups : array-like of shape (n,), default=None
        Rows of one group are held out together.

    Returns
    -------
    ScaleMap
        ``gammas``, ``gammas_synthetic`` (both rising), ``values`` of the estimator's ``metric`` on
        the pooled counts of the held-out rows (NaN where it is not a number), and the pair that the
        fit finds: ``best_gamma``, ``best_gamma_synthetic`` and ``best_value``. That γ is exact for
        the ratio of the two, which is searched: now and then a pair of the grid is a little
        better. Draw it with :class:`rarefind.plots.ScaleMapDisplay`.

    References
    ----------
    .. [1] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, section 2.5.2. The search of all pairs at once is ours.

    Examples
    --------
    >>> from imblearn.over_sampling import SMOTE
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rarefind.data import load_keel
    >>> from rarefind.neighbors import GammaKNNClassifier, scale_map
    >>> X, y = load_keel("yeast4")
    >>> model = GammaKNNClassifier(sampler=SMOTE(), random_state=0)
    >>> found = scale_map(make_pipeline(StandardScaler(), model), X, y)
    >>> found.values.shape
    (50, 100)
    >>> round(float(found.values.max()), 1), round(found.best_value, 1)
    (0.4, 0.4)
    """
    grids = (
        _grid("gammas", np.arange(1, 51) / 50 if gammas is None else gammas),
        _grid(
            "gammas_synthetic",
            np.arange(1, 101) / 50 if gammas_synthetic is None else gammas_synthetic,
        ),
    )
    if isinstance(estimator, Pipeline):
        *_, (_, last) = estimator.steps
        if len(estimator.steps) > 1:
            X = clone(estimator[:-1]).fit_transform(X, y)
        estimator = last
    if getattr(estimator, "sampler", None) is None:
        raise ValueError(
            f"{type(estimator).__name__} has no sampler: without synthetic positives there is one "
            "scale only. Give GammaKNNClassifier a sampler, such as SMOTE()."
        )
    fitted, rows, weight, distances = _fit_and_remember(estimator, X, y, groups)
    positive = np.asarray(y)[rows] == fitted.pos_label_
    tp, fp = (
        _alerts(distances, np.where(chosen, weight, 0.0), *grids)
        for chosen in (positive, ~positive)
    )
    fn, tn = weight[positive].sum() - tp, weight[~positive].sum() - fp
    metric = count_metric(estimator.metric)
    values = evaluate(metric, *(counts.ravel() for counts in (tp, fp, fn, tn))).reshape(tp.shape)
    return ScaleMap(
        *grids,
        np.where(np.isneginf(values), np.nan, values),
        float(fitted.gamma_),
        float(fitted.gamma_synthetic_),
        float(fitted.value_),
        _name_of(estimator.metric),
    )


def _grid(name: str, scales: ArrayLike) -> Floats:
    values = np.unique(np.asarray(scales, dtype=np.float64))
    if not values.size or not np.all(np.isfinite(values)) or values[0] <= 0:
        raise ValueError(f"{name} must be finite numbers above 0, at least one.")
    return values


def _name_of(metric: Any) -> str:
    return metric if isinstance(metric, str) else getattr(metric, "__name__", str(metric))


def _fit_and_remember(
    estimator: Any, X: Table, y: ArrayLike, groups: ArrayLike | None
) -> tuple[Any, Any, Floats, TwoDistances]:
    """Fit, and keep what the fit measures by: rows, weights and distances without themselves."""
    fitted = clone(estimator).set_params(gamma="auto", gamma_synthetic="auto")
    search, kept = fitted._hold_out, []

    def remember(*arguments: Any, **options: Any) -> Any:
        kept.append(search(*arguments, **options))
        return kept[0]

    # Searching again after the fit would draw other folds, and take as long again.
    fitted._hold_out = remember
    fitted.fit(X, y, groups=groups)
    rows, weight, distances = kept[0]
    return fitted, rows, weight, fitted._pair(distances)


def _alerts(
    distances: TwoDistances, weight: Floats, gammas: Floats, gammas_synthetic: Floats
) -> Floats:
    """Weighted number of rows that are alerts, at every pair of scales.

    With ρ_i = D⁻/D_real₍i₎ and σ_j = D⁻/D_synthetic₍j₎, both infinite at 0, a row is an alert where
    γ ≤ ρ_i and γ_synthetic ≤ σ_{q−i} for some i. These i are consecutive: counting each of them,
    less each two that are neighbours, counts the row once.
    """
    assert distances.synthetic is not None
    real = _steps(distances.real, distances.negative, gammas)
    made = _steps(distances.synthetic, distances.negative, gammas_synthetic)[:, ::-1]
    shape = (gammas.size + 1, gammas_synthetic.size + 1)
    corners = np.zeros(shape[0] * shape[1])
    for sign, i, j in ((1.0, real, made), (-1.0, real[:, 1:], made[:, :-1])):
        corners += sign * np.bincount(
            (i * shape[1] + j).ravel(), np.repeat(weight, i.shape[1]), corners.size
        )
    # A corner stands for all smaller scales.
    counts = corners.reshape(shape)[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1]
    return np.asarray(counts[1:, 1:])


def _steps(to_positives: Floats, to_negative: Floats, scales: Floats) -> Any:
    """How many of the scales bring the 0-th, first, … q-th positive before the negative."""
    ratios = ratio(to_positives, to_negative[:, None])
    counts = np.searchsorted(scales, ratios, side="right")
    return np.column_stack([np.full(len(counts), scales.size), counts])
