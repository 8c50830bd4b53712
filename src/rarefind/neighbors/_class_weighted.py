"""cwk-NN: distances scaled by the share of the neighbour's class."""

from __future__ import annotations

from rarefind._core.saved import saved
from rarefind._core.types import Bools
from rarefind.neighbors._baseline import BASELINE_STATE, BaselineClassifier
from rarefind.neighbors._ratio import voters


@saved("class-weighted-knn", state=BASELINE_STATE)
class ClassWeightedKNNClassifier(BaselineClassifier):
    """Nearest neighbours with distances scaled by the sizes of the classes (cwk-NN).

    The distance to a row of a class with m_i of the m rows is D′ = (m_i/m)^(1/d)·D in d dimensions
    [1]_, and the k nearest rows by D′ vote; ties go to the positive. It is a baseline of section
    2.5 of [2]_.

    Only the quotient of the two scales matters, so this is γk-NN with γ = (m₊/m₋)^(1/d) given in
    advance: the ``priority`` is the same ratio D⁻₍r₎/D⁺₍q₎, with q = ⌈k/2⌉ and r = k − q + 1, and
    γ its threshold.

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
    threshold_ : float
        The priority from which a row is positive; (m₊/m₋)^(1/d) by the method's own rule.
    value_ : float
        ``metric`` on the held-out rows at that threshold; NaN when nothing was held out.
    classes_, pos_label_, n_features_in_, feature_names_in_
        See :class:`rarefind.base.RareClassifier`.

    See Also
    --------
    GammaKNNClassifier : The same ratio with the best scale.

    Notes
    -----
    Fewer than q positives give priority 0; fewer than r negatives, or q positives and no negative
    at distance 0, give priorities above all others; copies of both classes are decided by their
    numbers as in :class:`GammaKNNClassifier`. Without held-out rows the probability is s/(s + γ) of
    the priority s; with them it is logistic in log s.

    References
    ----------
    .. [1] R. Barandela et al., "Strategies for learning in class imbalance problems", Pattern
       Recognition 36, 2003.
    .. [2] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, sections 2.3 and 2.5.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from rarefind.data import load_keel
    >>> from rarefind.metrics import get_scorer
    >>> from rarefind.neighbors import ClassWeightedKNNClassifier
    >>> X, y = load_keel("yeast4")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = make_pipeline(MinMaxScaler(), ClassWeightedKNNClassifier()).fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.28
    """

    def _published_threshold(self, positive: Bools) -> float:
        of_the_positives = float(positive.sum() / (~positive).sum())
        return of_the_positives ** (1 / self.n_features_in_)

    def _neighbor_counts(self) -> tuple[int, int]:
        return voters(self.k)
