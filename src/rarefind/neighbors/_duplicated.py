"""dupk-NN: every positive counts as often as the classes are out of balance."""

from __future__ import annotations

from rarefind._core.fields import Whole
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Bools
from rarefind.neighbors._baseline import BASELINE_STATE, BaselineClassifier
from rarefind.neighbors._ratio import voters


@saved("duplicated-knn", state=BASELINE_STATE | State({"copies_": Whole(1)}))
class DuplicatedKNNClassifier(BaselineClassifier):
    """Nearest neighbours with every positive duplicated by the imbalance ratio (dupk-NN).

    Each positive stands for m₋/m₊ copies of itself, rounded and at least one, and the k nearest
    rows vote; ties go to the positive. It is a baseline of sections 2.3 and 2.5 of [1]_.

    No row is copied. With q = ⌈k/2⌉ and r = k − q + 1 the vote is positive where the q-th positive
    comes before the r-th negative, and with c copies of each the q-th positive is a copy of the
    ⌈q/c⌉-th real one. So the ``priority`` is the ratio D⁻₍r₎/D⁺₍⌈q/c⌉₎ and its threshold is 1. With
    k = 1, copies change nothing.

    Distances compare features, so scale the columns first.

    Parameters
    ----------
    k : int, default=3
        Neighbours that vote.
    threshold : None, "auto" or float, default=None
        ``None`` is the method's own rule, fitted without any held-out search; ``"auto"`` takes the
        exact maximum of ``metric`` on held-out rows; a number fixes it, and held-out rows give the
        probabilities and the ranks.
    metric : str or callable, default="f1"
        What ``threshold="auto"`` maximises: a name for :func:`rarefind.metrics.count_metric` or a
        function of ``(tp, fp, fn, tn)``.
    distance : {"euclidean", "manhattan", "chebyshev", "minkowski", "cosine"}, default="euclidean"
        The distance.
    p : float, default=2
        Power of the Minkowski distance.
    cv : None, int or splitter, default=None
        How rows are held out: None leaves one row out at a time, or makes 5 folds where groups are
        given; a number makes that many folds, fewer when a class has fewer rows.
    max_queries : int, default=50_000
        At most this many rows of a class are held out, drawn at random and weighted to stand for
        all.
    pos_label : label, default=None
        The positive label; by default the rarer one.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the rows drawn.
    n_jobs : int, default=None
        Cores for the search; None uses all.
    verbose : int, default=0
        Above 0, show progress.

    Attributes
    ----------
    copies_ : int
        What each positive counts.
    threshold_ : float
        The priority from which a row is positive; 1 by the method's own rule.
    value_ : float
        ``metric`` on the held-out rows at that threshold; NaN when nothing was held out.
    classes_, pos_label_, n_features_in_, feature_names_in_
        See :class:`rarefind.base.RareClassifier`.

    Notes
    -----
    Fewer than ⌈q/c⌉ positives give priority 0; fewer than r negatives, or ⌈q/c⌉ positives and no
    negative at distance 0, give priorities above all others; copies of both classes are decided by
    their numbers as in :class:`GammaKNNClassifier`. Without held-out rows the probability is
    s/(s + 1) of the priority s; with them it is logistic in log s.

    References
    ----------
    .. [1] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, chapter 2. The ratio is ours.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from rarefind.data import load_keel
    >>> from rarefind.metrics import get_scorer
    >>> from rarefind.neighbors import DuplicatedKNNClassifier
    >>> X, y = load_keel("yeast4")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = make_pipeline(MinMaxScaler(), DuplicatedKNNClassifier()).fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.17
    """

    copies_: int

    def _published_threshold(self, positive: Bools) -> float:
        self.copies_ = max(1, round(float((~positive).sum() / positive.sum())))
        return 1.0

    def _neighbor_counts(self) -> tuple[int, int]:
        q, r = voters(self.k)
        return -(-q // self.copies_), r
