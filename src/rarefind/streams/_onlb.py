"""Online non-linear boosting: nets combined in several latent spaces, for endless streams."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rarefind._core.saved import rename_fields, saved
from rarefind._core.state import State
from rarefind._core.types import Floats, Label
from rarefind.streams._loop import SPACES
from rarefind.streams._nets import StepSize
from rarefind.streams._online import ATTRIBUTES_OF_1, OnlineClassifier
from rarefind.streams._parameters import KEEP, STREAM_STATE, check_settings
from rarefind.streams._spaces import LOSS, RESIDUAL, SLOPE

_TARGETS = {"loss": LOSS, "residual": RESIDUAL, "slope": SLOPE}


@saved(
    "onlb",
    2,
    state=STREAM_STATE | State({}, lambda state, _: check_settings(ONLBClassifier, state)),
    upgrade=rename_fields(ATTRIBUTES_OF_1),
)
class ONLBClassifier(OnlineClassifier):
    """Online non-linear boosting: learns a stream a row at a time, also with late labels.

    T small nets learn side by side, each to correct the nets before it. P representations combine
    them, each in its own way: ``F = F₀ + Σ_p a_p·relu(Σ_t A_tp·h_t)``, where F₀ is the log-odds of
    the rows so far. All weights take one step for each row. Memory does not grow with the stream.

    :meth:`partial_fit` learns rows whose labels are known. Where labels come late, :meth:`observe`
    scores rows as they come and :meth:`learn_delayed` learns them when their labels come. Each row
    is validated by the score it had before it was learned; these scores set the threshold and the
    probabilities, and say how the stream goes (``progress_``) and whether the list has become worse
    (``alarms_``).

    Parameters
    ----------
    n_estimators : int, default=20
        The number T of nets.
    n_representations : int, default=10
        The number P of representations, for each class with more than two.
    hidden : int, default=2
        Hidden units of a net.
    learning_rate : float, default=0.1
        The step size of the nets.
    mixing_rate : float, default=0.01
        The step size of the weights a and A.
    steps : {"adaptive", "constant"}, default="adaptive"
        Whether a step is the rate times the gradient over the root of the sum of its squares so
        far, for each weight (AdaGrad), or the rate times the gradient, as in the thesis.
    target : {"loss", "residual", "slope"}, default="loss"
        What a net learns: to lower the loss of the model up to and including it; or, by least
        squares, the residual of the nets before it, as in the thesis, or this times the derivative
        of the score by the net's output.
    jitter : float, default=0.3
        Standard deviation of the noise in the weights A at the start, which are ±1 without it.
    standardize : bool, default=True
        Whether columns are scaled to mean 0 and variance 1, both of which follow the stream.
        Without it, scale them yourself.
    class_weight : {"balanced"}, dict or None, default=None
        Weights of the classes: by label, or such that all classes have the same weight so far.
    positive_memory : int, default=1000
        The number of latest positives that are kept, to be learned again while less than a tenth
        of the rows are positive. With two classes only; 0 keeps none.
    replay : float, default=0.03
        The probability that after a negative one of these is learned again; older ones less often.
    half_life : float, default=20000
        In so many rows the weight of a score in progressive validation halves.
    on_drift : {"record", "relearn", "restart"}, default="record"
        What an alarm does: it is only recorded; it makes adaptive steps long again; or it starts
        the nets and their weights again, while means, remembered positives and scores stay.
    delta : float, default=0.002
        Risk of a false alarm in ADWIN [2]_, which checks for drift at each 32nd positive.
    max_waiting : int, default=100000
        The largest number of rows that wait for labels; beyond it the oldest are dropped.
    overflow : {"forget", "negative"}, default="forget"
        Whether dropped rows are forgotten or learned as negatives: no news is good news.
    epochs : int or "auto", default="auto"
        How often :meth:`fit` goes over a table: with ``"auto"`` until 20,000 rows were learned, and
        once over a larger one, in order.
    cv : int, splitter or iterable, default=5
        Folds that validate the rows of a table that :meth:`fit` goes over more than once.
    threshold : float, "auto" or None, default="auto"
        The priority from which a row is an alert. ``"auto"`` maximises ``metric`` on the scores of
        rows before they were learned, again after each tenth more rows and at least each 5,000;
        None is 0.
    metric : str or callable, default="f1"
        What the threshold maximises; see :func:`rarefind.selection.best_threshold`.
    pos_label : label, default=None
        The positive label. By default the rarer one in :meth:`fit`, and the second one in a stream.
    random_state : int, RandomState or None, default=None
        Draws the first weights.
    n_jobs : int or None, default=None
        Threads for scoring.
    verbose : int, default=0
        1 shows progress of :meth:`fit`.

    Attributes
    ----------
    progress_ : Progress
        Progressive validation: average precision of the scores, and precision, recall, alerts and
        error of the decisions, as they were when the rows came.
    alarms_ : ndarray
        The number of rows learned at each of the latest 100 drift alarms.
    n_waiting_, n_forgotten_ : int
        Rows that wait for their labels, and rows that were dropped before theirs came.
    threshold_, value_ : float
        The threshold, and ``metric`` at it on the scores that it was chosen on.
    classes_, pos_label_, n_features_in_, feature_names_in_
        See :class:`rarefind.base.RareClassifier`.

    Notes
    -----
    Drift is detected in the terms of average precision: for each positive, the precision of the
    list of rows so far down to it. An alarm means that they have fallen or, with more than two
    classes, that the error has risen.

    Missing values are replaced by the mean of their column. :meth:`explain` shows for each column
    how far the score falls with the column at its mean.

    With more than two classes a net has an output for each class, and each class has P
    representations.

    References
    ----------
    .. [1] J. Frery, "Ensemble Learning for Extremely Imbalanced Data Flows", thesis, Université de
       Lyon, 2019, chapter 4 and appendix B.
    .. [2] A. Bifet and R. Gavaldà, "Learning from time-changing data with adaptive windowing",
       SDM 2007.

    Examples
    --------
    >>> from rarefind.streams import ONLBClassifier
    >>> from rarefind.data import load_keel
    >>> X, y = load_keel("yeast6")
    >>> model = ONLBClassifier(random_state=0)
    >>> for start in range(0, len(X), 100):
    ...     day, labels = X[start : start + 100], y[start : start + 100]
    ...     model = model.partial_fit(day, labels, classes=[0, 1])
    >>> round(model.progress_.average_precision, 2)
    0.43
    """

    _many_classes = True
    _fixed = (*OnlineClassifier._fixed, "n_representations")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **OnlineClassifier._shared_constraints,
        "n_representations": [Interval(Integral, 2, 10_000, closed="both")],
        "mixing_rate": [Interval(Real, 0, 1e6, closed="both")],
        "target": [StrOptions(set(_TARGETS))],
        "jitter": [Interval(Real, 0, 1e3, closed="both")],
    }

    def __init__(
        self,
        *,
        n_estimators: int = 20,
        n_representations: int = 10,
        hidden: int = 2,
        learning_rate: float = 0.1,
        mixing_rate: float = 0.01,
        steps: str = "adaptive",
        target: str = "loss",
        jitter: float = 0.3,
        standardize: bool = True,
        class_weight: Any = None,
        positive_memory: int = 1000,
        replay: float = 0.03,
        half_life: float = 20_000,
        on_drift: str = "record",
        delta: float = 0.002,
        max_waiting: int = 100_000,
        overflow: str = "forget",
        epochs: Any = "auto",
        cv: Any = 5,
        threshold: Any = "auto",
        metric: Any = "f1",
        pos_label: Label = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.n_representations = n_representations
        self.hidden = hidden
        self.learning_rate = learning_rate
        self.mixing_rate = mixing_rate
        self.steps = steps
        self.target = target
        self.jitter = jitter
        self.standardize = standardize
        self.class_weight = class_weight
        self.positive_memory = positive_memory
        self.replay = replay
        self.half_life = half_life
        self.on_drift = on_drift
        self.delta = delta
        self.max_waiting = max_waiting
        self.overflow = overflow
        self.epochs = epochs
        self.cv = cv
        self.threshold = threshold
        self.metric = metric
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def representation_correlation_(self) -> Floats:
        """Correlations of the representations' weights over the nets, (P, P) or for all classes."""
        check_is_fitted(self)
        if self.n_estimators < 2:
            raise AttributeError("The weights of a single net have no correlation.")
        net_weights = self._state.spaces.net_weights
        return np.corrcoef(net_weights.reshape(len(net_weights), -1), rowvar=False)

    @property
    def representation_importance_(self) -> Floats:
        """The mean absolute contribution of each representation to the scores of rows."""
        check_is_fitted(self)
        validation = self._state.validation
        return validation.contributions.ravel() / (validation.weights[1] or 1.0)

    def _method(self) -> int:
        return SPACES

    def _space_sizes(self) -> tuple[int, float]:
        return self.n_representations, float(self.jitter)

    def _own_settings(self) -> dict[str, Any]:
        return {
            "mixing": StepSize(float(self.mixing_rate), self.steps == "adaptive", KEEP),
            "target": _TARGETS[self.target],
        }
