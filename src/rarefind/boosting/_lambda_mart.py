"""LambdaMART for average precision, with all rows as one query."""

from __future__ import annotations

from typing import Any

import numpy as np

from rarefind._core.saved import saved
from rarefind.boosting._base import BoostingRows
from rarefind.boosting._run import Derivatives
from rarefind.boosting._xgboost import BOOSTED_TREES_STATE, BoostedTreesClassifier

# The rows at the head of the list that are paired with all others: as many as there are positives.
_FEWEST, _MOST = 32, 100


@saved("lambda-mart", state=BOOSTED_TREES_STATE)
class LambdaMARTClassifier(BoostedTreesClassifier):
    """LambdaMART for average precision (XGBoost's ``rank:map``), a baseline.

    All rows are one query. A pair of a positive and a negative counts as much as average precision
    would change if they swapped places; pairs are those of all rows with the rows at the head of
    the list, as many as there are positives (32 to 100 of them), so a round takes that many passes
    over the rows.

    Parameters
    ----------
    n_estimators, learning_rate, max_depth, min_child_weight, gamma, reg_lambda, reg_alpha
        As in :class:`SGBAPClassifier`.
    colsample_bytree, colsample_bylevel, colsample_bynode, tree_method, bins, max_bins
        As in :class:`SGBAPClassifier`.
    monotone_constraints, categorical_features, early_stopping_rounds, eval_metric, k, cv
        As in :class:`SGBAPClassifier`.
    threshold, metric, pos_label, random_state, n_jobs, verbose
        As in :class:`SGBAPClassifier`.
    subsample : float, default=1.0
        Share of the rows that the tree of a round is grown on.

    Attributes
    ----------
    n_rounds_, validation_curve_, booster_, base_score_, feature_importances_, threshold_, value_
        As in :class:`SGBAPClassifier`.
    classes_, pos_label_, n_features_in_, feature_names_in_
        See :class:`rarefind.base.RareClassifier`.

    Notes
    -----
    XGBoost weights queries, not rows: weights of rows say which are there (not 0) and count in the
    threshold and the probabilities only.

    References
    ----------
    .. [1] Q. Wu, C. J. C. Burges, K. M. Svore and J. Gao, "Adapting boosting for information
       retrieval measures", Information Retrieval 13, 2010.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from rarefind.boosting import LambdaMARTClassifier
    >>> from rarefind.data import load_keel
    >>> from rarefind.metrics import get_scorer
    >>> X, y = load_keel("yeast6")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = LambdaMARTClassifier(random_state=0).fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.62
    """

    def _derivatives(self, rows: BoostingRows, seed: int) -> Derivatives | None:
        return None

    def _params(self, rows: BoostingRows) -> dict[str, Any]:
        return super()._params(rows) | {
            "objective": "rank:map",
            "lambdarank_pair_method": "topk",
            "lambdarank_num_pair_per_sample": int(np.clip(rows.positive.sum(), _FEWEST, _MOST)),
        }
