"""Parameters of learners of streams: their bounds, and what the loop takes for them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cache
from numbers import Integral, Real
from operator import attrgetter, is_
from typing import Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from sklearn import get_config
from sklearn.utils._param_validation import Interval, StrOptions

from rarefind._core.fields import (
    DictOf,
    Maybe,
    Object,
    Perhaps,
    Plain,
    PlainText,
    Size,
    StateError,
    TupleOf,
    Whole,
)
from rarefind._core.saved import Unsaved
from rarefind._core.state import State
from rarefind._core.types import Floats, Ints, Label
from rarefind.base import CLASSIFIER_STATE, RareClassifier
from rarefind.selection.calibration import COUNTED_LOG_ODDS
from rarefind.streams._loop import MEMORY, RECORD, RELEARN, RESTART, StreamSettings
from rarefind.streams._nets import StepSize

# Sums of squared gradients fade as fast as means and variances.
KEEP = 1 - 1 / MEMORY
_POLICIES = {"record": RECORD, "relearn": RELEARN, "restart": RESTART}
_NO_STEP = StepSize(0.0, False, 1.0)


def _check_stream(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    classes = sizes["classes"]
    if sizes["outputs"] != (1 if classes == 2 else classes):
        raise StateError("the learners are not those of the classes")
    if sizes["scores"] != sizes["outputs"] + 1:
        raise StateError("the waiting rows are not rows of this model")
    if state["_next_calibration"] <= state["_state"].validation.n_rows:
        raise StateError("the next calibration is in the past")


#: What every learner of a stream keeps in a model file; ``fresh`` and present ones are alike.
STREAM_STATE = CLASSIFIER_STATE | State(
    {
        "n_estimators": Size("nets"),
        "hidden": Size("hidden"),
        "_reference": Perhaps(Maybe(Object("score-reference"))),
        "_fresh": TupleOf(
            Object("stream-nets", nets="nets", hidden="hidden", d="d", outputs="outputs"),
            Object("stream-spaces", nets="nets", outputs="outputs", spaces="spaces"),
            Object("stream-votes", nets="nets"),
        ),
        "_state": Object(
            "stream-state",
            nets="nets",
            hidden="hidden",
            d="d",
            outputs="outputs",
            spaces="spaces",
            classes="classes",
        ),
        "_waiting": Object("waiting-rows", d="d", scores="scores"),
        "n_forgotten_": Whole(),
        "_fixed_values": DictOf(PlainText(), Plain()),
        "_next_calibration": Whole(),
    },
    _check_stream,
)


def check_settings(cls: type[StreamParameters], state: Mapping[str, Any]) -> None:
    """Raise on parameters with which the stream could not go on, as its next row would."""
    if set(state["_fixed_values"]) != set(cls._fixed):
        raise StateError("'_fixed_values' are not the parameters that it began with")
    if len(state["classes_"]) > 2 and not cls._many_classes:
        raise StateError("there are more than two classes")
    # What a file does not keep has to be set before the stream goes on, and is not ours to judge.
    known = {name: own for name, own in state.items() if not isinstance(own, Unsaved)}
    probe = cls()
    probe.__dict__.update(known)
    try:
        probe._check_parameters()
    except (ValueError, TypeError) as error:
        raise StateError(str(error).rstrip(".")) from None


class CheckedParameters(NamedTuple):
    """Parameters that have been checked, and what follows from them."""

    values: tuple[Any, ...]
    class_weight: Any  # a copy, as a dict may be changed in place
    settings: StreamSettings
    codes: dict[Any, int]  # by label


# Of each model, those of its last row: a check takes longer than a row.
_CHECKED: WeakKeyDictionary[StreamParameters, CheckedParameters] = WeakKeyDictionary()


class StreamParameters(RareClassifier):
    """Base of learners of streams: their parameters, and how these are checked."""

    _allows_missing = True
    #: Parameters that cannot change within a stream.
    _fixed: ClassVar[tuple[str, ...]] = (
        "n_estimators",
        "hidden",
        "standardize",
        "positive_memory",
        "pos_label",
    )
    _score_kind = COUNTED_LOG_ODDS
    _shared_constraints: ClassVar[dict[str, Any]] = {
        "n_estimators": [Interval(Integral, 1, 10_000, closed="both")],
        "hidden": [Interval(Integral, 1, 10_000, closed="both")],
        "learning_rate": [Interval(Real, 0, 1e6, closed="right")],
        "steps": [StrOptions({"adaptive", "constant"})],
        "standardize": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "positive_memory": [Interval(Integral, 0, 1_000_000, closed="both")],
        "replay": [Interval(Real, 0, 1, closed="both")],
        "half_life": [Interval(Real, 1, None, closed="left")],
        "on_drift": [StrOptions(set(_POLICIES))],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "max_waiting": [Interval(Integral, 1, None, closed="left")],
        "overflow": [StrOptions({"forget", "negative"})],
        "epochs": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "cv": ["cv_object"],
        "threshold": [StrOptions({"auto"}), Real, None],
        "metric": [str, callable],
        "pos_label": "no_validation",
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    n_estimators: int
    hidden: int
    learning_rate: float
    steps: str
    standardize: bool
    class_weight: Any
    positive_memory: int
    replay: float
    half_life: float
    on_drift: str
    delta: float
    max_waiting: int
    overflow: str
    epochs: Any
    cv: Any
    pos_label: Label
    random_state: Any
    n_jobs: int | None
    verbose: int
    #: The fixed parameters as they were at the first row.
    _fixed_values: dict[str, Any]

    @abstractmethod
    def _method(self) -> int:
        """How the nets are combined."""

    @abstractmethod
    def _own_settings(self) -> dict[str, Any]:
        """Settings of the subclass."""

    def _check_parameters(self) -> CheckedParameters:
        """Check the parameters of a stream under way, unless none has changed since last time."""
        values = _reader(type(self))(self)
        last = _CHECKED.get(self)
        if (
            last is not None
            and all(map(is_, values, last.values))
            and self.class_weight == last.class_weight
        ):
            return last
        self._check_constraints()
        for name, value in self._fixed_values.items():
            now = getattr(self, name)
            if now != value:
                raise ValueError(
                    f"{name} was {value!r} when this stream began and is {now!r} now: "
                    "a new stream is needed for that."
                )
        self._count_metric()
        weights = self.class_weight
        own = dict(weights) if isinstance(weights, dict) else weights
        labels = self.classes_.tolist()
        codes = dict(zip(labels, self._codes(np.arange(len(labels))).tolist(), strict=True))
        checked = CheckedParameters(values, own, self._settings(), codes)
        _CHECKED[self] = checked
        return checked

    def _check_constraints(self) -> None:
        if not get_config()["skip_parameter_validation"]:
            self._validate_params()

    def _settings(self) -> StreamSettings:
        """The parameters as the loop takes them."""
        adaptive = self.steps == "adaptive"
        common = self._scoring_settings()._asdict() | {
            "step_size": StepSize(float(self.learning_rate), adaptive, KEEP),
            "mixing": StepSize(0.0, adaptive, KEEP),
            "balanced": self.class_weight == "balanced",
            "class_weight": self._class_weights(),
            "replay": float(self.replay),
            "growth": float(2 ** (1 / self.half_life)),
            "delta": float(self.delta),
            "on_drift": _POLICIES[self.on_drift],
        }
        return StreamSettings(**{**common, **self._own_settings()})

    def _scoring_settings(self) -> StreamSettings:
        """Settings that score and learn nothing: parameters of learning are not read."""
        return StreamSettings(
            method=self._method(),
            step_size=_NO_STEP,
            mixing=_NO_STEP,
            target=0,
            edge=0.0,
            shrink=float(self._own_settings().get("shrink", 0.0)),
            standardize=bool(self.standardize),
            balanced=False,
            class_weight=np.ones(self.classes_.size),
            replay=0.0,
            growth=1.0,
            delta=0.5,
            on_drift=RECORD,
            threshold=float(self.threshold_),
        )

    def _class_weights(self) -> Floats:
        own = np.ones(self.classes_.size)
        if not isinstance(self.class_weight, dict):
            return own
        for label, weight in self.class_weight.items():
            places = np.flatnonzero(self.classes_ == label)
            if not places.size:
                raise ValueError(f"class_weight names {label!r}, which is not a class.")
            own[self._codes(places)] = float(weight)
        if not (np.isfinite(own).all() and (own >= 0).all()):
            raise ValueError("class_weight has a weight that is below 0 or not a number.")
        return own

    def _codes(self, places: Ints) -> Ints:
        """Codes of classes by their places: of two, 1 is the positive one; else the place."""
        own = self._is_positive(places) if self.classes_.size == 2 else places
        return own.astype(np.intp)


@cache
def _reader(cls: type[StreamParameters]) -> attrgetter[tuple[Any, ...]]:
    """Reads what settings follow from, without scikit-learn's look at the signature."""
    return attrgetter(*cls._get_param_names(), "threshold_", "_fixed_values")
