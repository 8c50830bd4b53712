"""Pipelines of scikit-learn's scalers and one of our estimators: plain numbers, as all the rest.

Imported where a pipeline is saved or a file holds one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from rarefind._core.checks import LARGEST_TO_SQUARE
from rarefind._core.fields import (
    MOST_COLUMNS,
    Choice,
    DictOf,
    Either,
    Field,
    FloatArray,
    IntArray,
    ListOf,
    Maybe,
    NameArray,
    Object,
    Perhaps,
    PlainText,
    RealNumber,
    Size,
    StateError,
)
from rarefind._core.saved import saved, saved_type
from rarefind._core.state import State
from rarefind._core.types import Floats

# Scalers may not move a number of this size beyond what every estimator takes: only of columns that
# vary by less than 1e-58 would an honest one.
_ORDINARY = 1e12
_COLUMN = FloatArray("d", single=True)
_SCALE = FloatArray("d", above=0, single=True)
_SCALER = State(
    {
        "n_features_in_": Size("d", low=1, high=MOST_COLUMNS),
        "feature_names_in_": Perhaps(NameArray("d")),
        # How set_output wants the columns.
        "_sklearn_output_config": Perhaps(
            DictOf(Choice("transform"), Choice("default", "pandas", "polars"))
        ),
    }
)
_SEEN: dict[str, Field] = {
    "n_samples_seen_": Either(RealNumber(0), FloatArray("d", low=0), IntArray("d", low=0))
}


def _check_used(**used: str) -> Any:
    """What a parameter asks for must be there."""

    def check(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
        for parameter, name in used.items():
            if state[parameter] and state[name] is None:
                raise StateError(f"{name!r} is not there, and {parameter!r} asks for it")

    return check


def _check_range(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    ends = state["feature_range"]
    if len(ends) != 2 or not all(type(e) in (int, float) for e in ends) or not ends[0] < ends[1]:
        raise StateError("'feature_range' is not a range")


_STANDARD = State(
    {**_SEEN, "mean_": Maybe(_COLUMN), "var_": Maybe(_COLUMN), "scale_": Maybe(_SCALE)},
    _check_used(with_mean="mean_", with_std="scale_"),
)
_MIN_MAX = State(
    {
        **_SEEN,
        "scale_": _SCALE,
        **dict.fromkeys(("min_", "data_min_", "data_max_", "data_range_"), _COLUMN),
    },
    _check_range,
)
_ROBUST = State(
    {"center_": Maybe(_COLUMN), "scale_": Maybe(_SCALE)},
    _check_used(with_centering="center_", with_scaling="scale_"),
)
_MAX_ABS = State({**_SEEN, "max_abs_": _COLUMN, "scale_": _SCALE})

saved("standard-scaler", state=_SCALER | _STANDARD)(StandardScaler)
saved("min-max-scaler", state=_SCALER | _MIN_MAX)(MinMaxScaler)
saved("robust-scaler", state=_SCALER | _ROBUST)(RobustScaler)
saved("max-abs-scaler", state=_SCALER | _MAX_ABS)(MaxAbsScaler)
_SCALERS = (StandardScaler, MinMaxScaler, RobustScaler, MaxAbsScaler)


def _check_names(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    names = state["names"]
    if len(set(names)) != len(names):
        raise StateError("two steps have one name")


def _check_reach(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    """Rows with ordinary numbers can be scored when they have gone through all scalers."""
    reach: Floats = np.full(sizes["d"], _ORDINARY)
    with np.errstate(over="ignore"):
        for scaler in state["scalers"]:
            reach = _reach(scaler, reach)
    farthest = np.max(reach)
    if not farthest <= LARGEST_TO_SQUARE:
        raise StateError(
            f"the scalers move a number of {_ORDINARY:g} to {farthest:.3g}, and it takes numbers "
            f"up to {LARGEST_TO_SQUARE:g}"
        )


def _reach(scaler: Any, reach: Floats) -> Floats:
    """The largest size of each column behind a scaler, before which it is at most ``reach``."""
    if isinstance(scaler, MinMaxScaler):
        moved = reach * scaler.scale_ + np.abs(scaler.min_)
        ends = [abs(float(end)) for end in scaler.feature_range]
        return np.minimum(moved, max(ends)) if scaler.clip else moved
    centre = getattr(scaler, "mean_", getattr(scaler, "center_", None))
    if centre is not None:
        reach = reach + np.abs(centre)
    return reach if scaler.scale_ is None else reach / scaler.scale_


@saved(
    "pipeline",
    state=State(
        {
            "names": ListOf(PlainText(), size="scalers+1"),
            "scalers": ListOf(
                Object(
                    "standard-scaler", "min-max-scaler", "robust-scaler", "max-abs-scaler", d="d"
                ),
                size="scalers",
            ),
            "model": Object(d="d"),
        },
        _check_names,
        _check_reach,
    ),
)
class SavedPipeline(NamedTuple):
    """A pipeline in a model file."""

    names: list[str]
    scalers: list[Any]
    model: Any

    @classmethod
    def of(cls, pipeline: Pipeline) -> SavedPipeline:
        """Take a pipeline apart; raises, with the name of the step, on what no file keeps."""
        *first, (last, model) = pipeline.steps
        for name, step in first:
            if type(step) not in _SCALERS:
                known = ", ".join(scaler.__name__ for scaler in _SCALERS)
                raise ValueError(
                    f"The step {name!r} of the pipeline is {_kind(step)}: a model file keeps "
                    f"{known} before the estimator. Leave the step out, or fit a TableModel, which "
                    "prepares its table itself."
                )
        if saved_type(type(model)) is None or not hasattr(type(model), "priority"):
            raise ValueError(
                f"The last step {last!r} of the pipeline is {_kind(model)}, which is not a "
                "rarefind estimator, so it cannot be saved."
            )
        return cls([name for name, _ in pipeline.steps], [step for _, step in first], model)

    def pipeline(self) -> Pipeline:
        """Put it together again."""
        return Pipeline(list(zip(self.names, [*self.scalers, self.model], strict=True)))


def _kind(step: Any) -> str:
    return repr(step) if step is None or isinstance(step, str) else f"a {type(step).__name__}"
