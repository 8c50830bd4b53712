"""Stochastic gradient boosting of a surrogate of average precision."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils._param_validation import Interval, StrOptions

from rarefind._core.kernels import kernel
from rarefind._core.random import STEP, uniform
from rarefind._core.saved import saved
from rarefind._core.types import Array, Bools, Floats, Label
from rarefind.boosting._base import BoostingRows
from rarefind.boosting._run import Derivatives
from rarefind.boosting._surrogates import SURROGATES, add_logistic
from rarefind.boosting._xgboost import BOOSTED_TREES_STATE, BoostedTreesClassifier


@saved("sgbap", state=BOOSTED_TREES_STATE)
class SGBAPClassifier(BoostedTreesClassifier):
    """Gradient boosting of a smooth stand-in for average precision, by XGBoost's trees.

    The logistic loss spends its effort on all rows alike; average precision asks for positives at
    the top of the list. A surrogate of it has gradients that are large for the rows near the top,
    positive or not, and fade below. Each round takes a random batch of the rows, the same share of
    positives and of negatives, and the sums in the gradient run over the batch. A share ``mix`` of
    the logistic loss keeps the rows below the top in order.

    Columns are cut into bins that see the positives (:class:`rarefind.data.PositiveAwareBinner`).
    Rounds are first made on folds: the held-out rows say how many are best, and set the threshold
    and the probabilities; then as many are made on all rows.

    Parameters
    ----------
    surrogate : {"exp", "log", "sigmoid"}, default="exp"
        The stand-in for 1 − AP. ``"exp"`` is the share L of the negatives in the softmax of the
        scores, ``"log"`` is −log(1 − L): both take one pass over the batch. ``"sigmoid"`` is closer
        to average precision and visits all pairs of a positive and a row of the batch.
    mix : float, default=0.8
        Share of the logistic loss: 0 is the surrogate alone, 1 the logistic loss alone.
    sharpness : float, default=1.0
        Factor a of differences of scores in the surrogate: the larger, the more it looks at the
        top only.
    init : {"prior", "logistic"}, default="prior"
        Where boosting of the surrogate starts: at the log-odds of the positives, or after
        ``init_rounds`` rounds of the logistic loss.
    init_rounds : int, default=50
        Rounds of the logistic loss with ``init="logistic"``; they count in ``n_estimators``.
    n_estimators : int, default=300
        Most rounds, of one tree each.
    learning_rate : float, default=0.1
        What a tree's scores are multiplied by.
    max_depth : int, default=4
        Depth of the trees.
    min_child_weight : float or "auto", default="auto"
        Least sum of second derivatives in a leaf. At the start a positive has about ``1 - mix``.
        ``"auto"`` is 1 from fifty positives on and a fiftieth of their number below.
    gamma : float, default=0.0
        Least gain of a split.
    reg_lambda, reg_alpha : float, default=1.0 and 0.0
        Shrinkage of leaves, squared and absolute.
    subsample : float, default=0.7
        Share of the positives, and of the negatives, in the batch of a round.
    colsample_bytree, colsample_bylevel, colsample_bynode : float, default=1.0
        Shares of the columns that a tree, a level and a node may use.
    tree_method : {"hist", "approx", "exact"}, default="hist"
        How XGBoost looks for splits; ``"exact"`` does without bins.
    bins : {"positive-aware", "quantile"}, default="positive-aware"
        Who cuts the columns: rarefind, or XGBoost at quantiles of all rows.
    max_bins : int, default=256
        Most bins of a column; XGBoost is faster up to 256.
    monotone_constraints : dict, array-like or None, default=None
        For columns by name, or for all in their order: 1 if the priority may only rise with the
        value, −1 if it may only fall, 0 if it may do both.
    categorical_features : array-like or None, default=None
        Columns of categories, by number, name or one truth value a column; a split sends a set of
        categories one way. A category that the fit has not seen is a missing value.
    early_stopping_rounds : int or None, default=50
        Stop when held-out rows have not been ranked better for that many rounds, and keep the best
        number, the last of equal ones; None makes all rounds.
    eval_metric : {"average_precision", "precision_at_k"}, default="average_precision"
        What held-out rows are ranked well by; larger is better.
    k : int, float or str, default=None
        The budget of ``"precision_at_k"``: checks, or a share of the rows such as ``"0.5%"``.
        Checks are of as many rows as are fitted, or as ``eval_set`` holds.
    cv : int, splitter or iterable, default=5
        The folds. No more of them are used than it takes to hold out 300 positives.
    threshold : "auto", float or None, default="auto"
        The priority from which a row is predicted positive. ``"auto"`` takes the exact best for
        ``metric`` on the held-out rows; None is 0 and, without early stopping, needs no folds.
    metric : str or callable, default="f1"
        What the threshold maximises: a name that :func:`rarefind.metrics.count_metric` knows, or a
        function of ``(tp, fp, fn, tn)``.
    pos_label : label, default=None
        The positive label; by default the rarer one.
    random_state : int, RandomState instance or None, default=None
        Seed of batches, columns and folds.
    n_jobs : int, default=None
        Threads of XGBoost; -1 for all cores.
    verbose : int, default=0
        Above 0, show progress.

    Attributes
    ----------
    n_rounds_ : int
        Rounds made on all rows.
    validation_curve_ : ndarray
        ``eval_metric`` on held-out rows after each round, mean of the folds; empty without them.
    booster_ : xgboost.Booster
        The trees, on codes of bins; :meth:`trees_to_dataframe` has them in the columns' units.
    base_score_ : float
        Score of every row before the first tree.
    feature_importances_ : ndarray of shape (d,)
        Share of each column in what all splits gain.
    threshold_ : float
        The priority from which ``predict`` says positive.
    value_ : float
        ``metric`` on the held-out rows at the threshold.
    classes_, pos_label_, n_features_in_, feature_names_in_
        See :class:`rarefind.base.RareClassifier`.

    Notes
    -----
    The scores of the surrogate alone are not log-odds; probabilities come from beta calibration
    on held-out rows, which leaves the ranking as it is. :meth:`explain` gives exact Shapley values
    of the trees.

    XGBoost is given the size of the gradient for the second derivatives of the surrogate, as the
    true ones are mostly negative on positives.

    References
    ----------
    .. [1] J. Frery, "Ensemble Learning for Extremely Imbalanced Data Flows", thesis, Université de
       Lyon, 2019, chapter 3.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from rarefind.boosting import SGBAPClassifier
    >>> from rarefind.data import load_keel
    >>> from rarefind.metrics import get_scorer
    >>> X, y = load_keel("yeast6")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = SGBAPClassifier(random_state=0).fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.6
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BoostedTreesClassifier._parameter_constraints,
        "surrogate": [StrOptions(set(SURROGATES))],
        "mix": [Interval(Real, 0, 1, closed="both")],
        "sharpness": [Interval(Real, 0, None, closed="neither")],
        "init": [StrOptions({"prior", "logistic"})],
        "init_rounds": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        surrogate: str = "exp",
        mix: float = 0.8,
        sharpness: float = 1.0,
        init: str = "prior",
        init_rounds: int = 50,
        n_estimators: int = 300,
        learning_rate: float = 0.1,
        max_depth: int = 4,
        min_child_weight: float | str = "auto",
        gamma: float = 0.0,
        reg_lambda: float = 1.0,
        reg_alpha: float = 0.0,
        subsample: float = 0.7,
        colsample_bytree: float = 1.0,
        colsample_bylevel: float = 1.0,
        colsample_bynode: float = 1.0,
        tree_method: str = "hist",
        bins: str = "positive-aware",
        max_bins: int = 256,
        monotone_constraints: Any = None,
        categorical_features: Any = None,
        early_stopping_rounds: int | None = 50,
        eval_metric: str = "average_precision",
        k: float | str | None = None,
        cv: Any = 5,
        threshold: Any = "auto",
        metric: Any = "f1",
        pos_label: Label = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            max_depth=max_depth,
            min_child_weight=min_child_weight,
            gamma=gamma,
            reg_lambda=reg_lambda,
            reg_alpha=reg_alpha,
            subsample=subsample,
            colsample_bytree=colsample_bytree,
            colsample_bylevel=colsample_bylevel,
            colsample_bynode=colsample_bynode,
            tree_method=tree_method,
            bins=bins,
            max_bins=max_bins,
            monotone_constraints=monotone_constraints,
            categorical_features=categorical_features,
            early_stopping_rounds=early_stopping_rounds,
            eval_metric=eval_metric,
            k=k,
            cv=cv,
            threshold=threshold,
            metric=metric,
            pos_label=pos_label,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.surrogate = surrogate
        self.mix = mix
        self.sharpness = sharpness
        self.init = init
        self.init_rounds = init_rounds

    def _params(self, rows: BoostingRows) -> dict[str, Any]:
        return super()._params(rows) | {"subsample": 1.0}  # batches are drawn here

    def _logistic_rounds(self) -> int:
        return min(self.init_rounds, self.n_estimators) if self.init == "logistic" else 0

    def _derivatives(self, rows: BoostingRows, seed: int) -> Derivatives:
        surrogate, n_jobs = SURROGATES[self.surrogate], effective_n_jobs(self.n_jobs)
        positive, weights = rows.positive, rows.weight

        def derivatives(score: Floats, number: int, first: Array, second: Array) -> None:
            weight = weights
            if self.subsample < 1:
                own = np.random.SeedSequence((seed, number)).generate_state(1)
                weight = draw_batch(positive, weight, self.subsample, int(own[0]))
            mix = 1.0 if number < self._logistic_rounds() else self.mix
            if mix < 1:
                a = self.sharpness
                surrogate(score, positive, weight, a, 1 - mix, first, second, n_jobs)
            if mix > 0:
                add_logistic(score, positive, weight, mix, first, second, n_jobs)

        return derivatives


@kernel
def draw_batch(positive: Bools, weight: Floats, share: float, seed: int) -> Floats:
    """The weights of a batch, 0 for rows not in it: the same share of each class, at least a row.

    Each row in turn is drawn with probability wanted / left, of the rows still to come.
    """
    left = np.zeros(2, dtype=np.int64)
    for i in range(positive.size):
        left[int(positive[i])] += 1
    wanted = np.empty(2, dtype=np.int64)
    for c in range(2):
        wanted[c] = min(left[c], max(1, int(share * left[c] + 0.5)))
    drawn = np.zeros(weight.size)
    state = np.uint64(seed)
    for i in range(positive.size):
        state += STEP
        u = uniform(state)
        c = int(positive[i])
        if u * left[c] < wanted[c]:
            drawn[i] = weight[i]
            wanted[c] -= 1
        left[c] -= 1
    return drawn
