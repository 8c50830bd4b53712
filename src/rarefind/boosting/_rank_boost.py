"""RankBoost: boosting of the pairs of a positive and a negative, for the area under the curve."""

from __future__ import annotations

from rarefind._core.saved import saved
from rarefind._core.types import Array, Floats
from rarefind.boosting._base import BoostingRows
from rarefind.boosting._run import Derivatives
from rarefind.boosting._surrogates import add_pairwise_exponential
from rarefind.boosting._xgboost import BOOSTED_TREES_STATE, BoostedTreesClassifier


@saved("rank-boost", state=BOOSTED_TREES_STATE)
class RankBoostClassifier(BoostedTreesClassifier):
    """RankBoost: every positive above every negative, a baseline.

    The loss is Σ exp(f_j − f_i) over all pairs of a positive i and a negative j: a sum over the
    negatives times one over the positives, so a round takes one pass over the rows. It bounds the
    area that is missing under the ROC curve, and so cares for the whole list, not for its top. The
    weak rankers are XGBoost's trees.

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

    References
    ----------
    .. [1] Y. Freund, R. Iyer, R. E. Schapire and Y. Singer, "An efficient boosting algorithm for
       combining preferences", JMLR 4, 2003.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from rarefind.boosting import RankBoostClassifier
    >>> from rarefind.data import load_keel
    >>> from rarefind.metrics import get_scorer
    >>> X, y = load_keel("yeast6")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = RankBoostClassifier(random_state=0).fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.59
    """

    def _derivatives(self, rows: BoostingRows, seed: int) -> Derivatives:
        positive, weight = rows.positive, rows.weight

        def derivatives(score: Floats, number: int, first: Array, second: Array) -> None:
            add_pairwise_exponential(score, positive, weight, first, second)

        return derivatives
