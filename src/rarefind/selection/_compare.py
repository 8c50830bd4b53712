"""Models side by side on the same folds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import wilcoxon

from rarefind._core.progress import progress_bar
from rarefind._core.types import ArrayLike, Ints, Label, Table
from rarefind.selection.cross_validation import folds
from rarefind.selection.labelled import Labelled


@dataclass(frozen=True)
class Comparison:
    """Every measured value, and the table that sums them up."""

    #: One row a model, fold and metric: ``model``, ``fold``, ``metric``, ``value``, ``seconds``.
    scores: pd.DataFrame

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics, in the order given."""
        return list(dict.fromkeys(self.scores["metric"]))

    def by_fold(self, metric: str | None = None) -> pd.DataFrame:
        """Values of one metric (the first by default): a row a fold, a column a model."""
        metric = metric or self.metrics[0]
        if metric not in self.metrics:
            raise ValueError(f"{metric!r} was not measured; {', '.join(self.metrics)} were.")
        one = self.scores[self.scores["metric"] == metric]
        wide = one.pivot(index="fold", columns="model", values="value")
        return wide[list(dict.fromkeys(one["model"]))]

    def table(self, metric: str | None = None) -> pd.DataFrame:
        """Mean, sd, mean rank and p-value of one metric (the first by default), best model first.

        ``p_value`` is Wilcoxon's signed-rank test against the best model over the same folds. Folds
        share training rows, so it is a guide and no proof; it is 1 where no fold differs.
        """
        wide = self.by_fold(metric)
        summary = pd.DataFrame(
            {
                "mean": wide.mean(),
                "sd": wide.std(ddof=1) if len(wide) > 1 else 0.0,
                "mean_rank": wide.rank(axis=1, ascending=False).mean(),
                "seconds": self.scores.groupby("model")["seconds"].mean().reindex(wide.columns),
            }
        ).sort_values("mean", ascending=False, kind="stable")
        best = summary.index[0]
        summary["p_value"] = [
            np.nan if m == best else _p_value(wide[best] - wide[m]) for m in summary.index
        ]
        summary.index.name = "model"
        return summary

    def __str__(self) -> str:
        blocks = []
        for metric in self.metrics:
            table = self.table(metric)
            shown = pd.DataFrame(
                {
                    metric: [
                        f"{m:.3f} ± {s:.3f}"
                        for m, s in zip(table["mean"], table["sd"], strict=True)
                    ],
                    "mean rank": table["mean_rank"].map("{:.2f}".format),
                    "p against best": table["p_value"].map(
                        lambda p: "" if np.isnan(p) else f"{p:.3f}"
                    ),
                }
            )
            blocks.append(shown.to_string())
        return "\n\n".join(blocks)


def compare(
    models: Mapping[str, Any],
    X: Table,
    y: ArrayLike,
    cv: Any = 5,
    metrics: str | Callable[..., float] | Sequence[Any] = ("average_precision", "f1"),
    *,
    groups: ArrayLike | None = None,
    pos_label: Label = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Comparison:
    """Fit and measure several models on the same folds.

    Parameters
    ----------
    models : mapping of str to classifier
        The models by name.
    X, y : array-like
        The rows and their labels.
    cv, groups, random_state
        As in :func:`folds`; splits in time are taken as they are.
    metrics : str, scorer or sequence of them, default=("average_precision", "f1")
        Names for :func:`rarefind.metrics.get_scorer`, or scorers ``(estimator, X, y)``.
    pos_label : label, default=None
        The positive label, the same for all models; by default the rarer one.
    n_jobs : int, default=None
        Fits run at the same time.
    verbose : int, default=0
        Above 0, show a progress bar.

    Returns
    -------
    Comparison
        ``print`` it, take ``.table()``, or draw it with
        :class:`rarefind.plots.ComparisonDisplay`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> from rarefind.selection import compare
    >>> X, y = make_classification(weights=[0.9], random_state=0)
    >>> found = compare({"logistic": LogisticRegression(), "blind": DummyClassifier()}, X, y)
    >>> found.table().index.tolist()
    ['logistic', 'blind']
    """
    if not models:
        raise ValueError("There is no model to compare: give at least one.")
    data = Labelled.of(X, y, groups, pos_label)
    scorers = _named_scorers(metrics, data)
    pairs = folds(X, data.y, cv, groups=groups, random_state=random_state)
    jobs = [(name, model, i) for name, model in models.items() for i in range(len(pairs))]
    rows: list[dict[str, Any]] = []
    with progress_bar("Comparing", len(jobs), verbose) as step:
        for result in Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(_measure)(name, model, data, i, *pairs[i], scorers) for name, model, i in jobs
        ):
            rows.extend(result)
            step(1)
    return Comparison(pd.DataFrame(rows))


def _named_scorers(metrics: Any, data: Labelled) -> dict[str, Callable[..., float]]:
    """Scorers by name, none hidden by another of its name."""
    wanted = [metrics] if isinstance(metrics, str) or callable(metrics) else list(metrics)
    scorers: dict[str, Callable[..., float]] = {}
    for metric in wanted:
        name = metric if isinstance(metric, str) else getattr(metric, "__name__", str(metric))
        same = sum(known.split(" #")[0] == name for known in scorers)
        scorers[f"{name} #{same + 1}" if same else name] = data.scorer(metric)
    return scorers


def _measure(
    name: str,
    model: Any,
    data: Labelled,
    fold: int,
    train: Ints,
    test: Ints,
    scorers: Mapping[str, Callable[..., float]],
) -> list[dict[str, Any]]:
    start = time.perf_counter()
    fitted = data.fit(model, train)
    seconds = time.perf_counter() - start
    held_out, truth = data.held_out(fitted, test, train)
    return [
        {
            "model": name,
            "fold": fold,
            "metric": metric,
            "value": scorer(fitted, held_out, truth),
            "seconds": seconds,
        }
        for metric, scorer in scorers.items()
    ]


def _p_value(differences: pd.Series[float]) -> float:
    if not differences.any():
        return 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few folds: the test says so, the number of folds does too
        return float(wilcoxon(differences).pvalue)
