"""Published linear online boosting: sums of nets, by votes or by gradients."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from rarefind._core.saved import rename_fields, saved
from rarefind._core.state import State
from rarefind._core.types import Label
from rarefind.streams._linear import ADABOOST, ADABOOST_W, BBM, GRADIENT, STREAM
from rarefind.streams._online import ATTRIBUTES_OF_1, OnlineClassifier
from rarefind.streams._parameters import STREAM_STATE, check_settings

_METHODS = {
    "bbm": BBM,
    "adaboost": ADABOOST,
    "adaboost-w": ADABOOST_W,
    "gradient": GRADIENT,
    "stream": STREAM,
}


@saved(
    "online-boosting",
    2,
    state=STREAM_STATE
    | State({}, lambda state, _: check_settings(OnlineBoostingClassifier, state)),
    upgrade=rename_fields(ATTRIBUTES_OF_1),
)
class OnlineBoostingClassifier(OnlineClassifier):
    """Linear online boosting of the same nets, as a baseline for :class:`ONLBClassifier`.

    Parameters
    ----------
    method : {"bbm", "adaboost", "adaboost-w", "gradient", "stream"}, default="adaboost-w"
        online.BBM, AdaBoost.OL and AdaBoost.OL.W [1]_, online gradient boosting [2]_, or gradient
        boosting on streams [3]_.
    edge : float, default=0.1
        How much more often than half the nets are assumed to be right, for online.BBM.
    shrinkage : float, default=0.5
        What each net is multiplied by in gradient boosting.
    n_estimators, hidden, learning_rate, steps, standardize, class_weight, positive_memory, replay
        As in :class:`ONLBClassifier`.
    half_life, on_drift, delta, max_waiting, overflow, epochs, cv
        As in :class:`ONLBClassifier`.
    threshold, metric, pos_label, random_state, n_jobs, verbose
        As in :class:`ONLBClassifier`.

    Attributes
    ----------
    progress_, alarms_, n_waiting_, n_forgotten_, threshold_, value_
        As in :class:`ONLBClassifier`.
    classes_, pos_label_, n_features_in_, feature_names_in_
        See :class:`rarefind.base.RareClassifier`.

    References
    ----------
    .. [1] A. Beygelzimer, S. Kale and H. Luo, "Optimal and adaptive algorithms for online
       boosting", ICML 2015.
    .. [2] A. Beygelzimer, E. Hazan, S. Kale and H. Luo, "Online gradient boosting", NIPS 2015.
    .. [3] H. Hu, W. Sun, A. Venkatraman, M. Hebert and J. A. Bagnell, "Gradient boosting on
       stochastic data streams", AISTATS 2017.

    Examples
    --------
    >>> from rarefind.streams import OnlineBoostingClassifier
    >>> from rarefind.data import load_keel
    >>> X, y = load_keel("yeast6")
    >>> model = OnlineBoostingClassifier(random_state=0).partial_fit(X, y, classes=[0, 1])
    >>> round(model.progress_.average_precision, 2)
    0.26
    """

    _fixed = (*OnlineClassifier._fixed, "method")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **OnlineClassifier._shared_constraints,
        "method": [StrOptions(set(_METHODS))],
        "edge": [Interval(Real, 0, 0.5, closed="neither")],
        "shrinkage": [Interval(Real, 0, 1e3, closed="right")],
    }

    def __init__(
        self,
        *,
        method: str = "adaboost-w",
        edge: float = 0.1,
        shrinkage: float = 0.5,
        n_estimators: int = 20,
        hidden: int = 2,
        learning_rate: float = 0.1,
        steps: str = "adaptive",
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
        self.method = method
        self.edge = edge
        self.shrinkage = shrinkage
        self.n_estimators = n_estimators
        self.hidden = hidden
        self.learning_rate = learning_rate
        self.steps = steps
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

    def _method(self) -> int:
        return _METHODS[self.method]

    def _space_sizes(self) -> tuple[int, float]:
        return 0, 0.0

    def _own_settings(self) -> dict[str, Any]:
        return {"edge": float(self.edge), "shrink": float(self.shrinkage)}
