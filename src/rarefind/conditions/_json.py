"""The whole model as plain data for JSON, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from rarefind._core.types import Floats
from rarefind.conditions._condition_list import KIND, VERSION, as_json, finite, from_json
from rarefind.conditions._measures import Measures
from rarefind.data.categories import by_place
from rarefind.selection.calibration import BetaCalibration, Reference

# What is known of the choice, where there were folds.
_VALUES = ("ensemble_value_", "value_")


def to_plain_data(model: Any) -> dict[str, Any]:
    """What a file holds of a fitted ConditionClassifier."""
    calibration, reference = model._calibration, model._reference
    return {
        "kind": KIND,
        "version": VERSION,
        "columns": model._feature_names(),
        "named": hasattr(model, "feature_names_in_"),
        "classes": model.classes_.tolist(),
        "positive": model.classes_.tolist()[1 if model._positive_is_second() else 0],
        "start": model._condition_list.start,
        "threshold": model.threshold_,
        "calibration": None if calibration is None else list(calibration),
        "reference": None if reference is None else [part.tolist() for part in reference],
        "measured": {
            name: part.tolist()
            for name, part in zip(Measures._fields, model._measures, strict=True)
        },
        "chosen": {
            "sizes": model.sizes_.tolist(),
            "values": model.values_.tolist(),
            "n_branches": model.n_branches_,
            **{name: _or_none(getattr(model, name)) for name in _VALUES},
        },
        "categories": getattr(model, "categories_", {}),
        "conditions": as_json(model._condition_list, model._feature_names(), model.to_rules()),
    }


def read_into(model: Any, whole: dict[str, Any]) -> None:
    """Give a model what a file holds."""
    names = [str(name) for name in whole["columns"]]
    model.n_features_in_ = len(names)
    if whole["named"]:
        model.feature_names_in_ = np.array(names, dtype=object)
    if len(whole["classes"]) != 2 or whole["classes"][0] == whole["classes"][1]:
        raise ValueError("there are not two classes")
    model.classes_ = np.array(whole["classes"])
    model.pos_label_ = model.classes_[whole["classes"].index(whole["positive"])]
    categories = whole.get("categories", {})  # files of 0.1.0 have none
    if categories:
        model.categories_ = {str(name): list(own) for name, own in categories.items()}
    levels = by_place(categories, names)
    model._condition_list = from_json(whole["start"], whole["conditions"], names, levels)
    model.threshold_ = finite(whole["threshold"])
    model._calibration = model._reference = None
    if whole["calibration"] is not None:
        model._calibration = BetaCalibration(*map(finite, whole["calibration"]))
    if whole["reference"] is not None:
        model._reference = Reference(*map(_numbers, whole["reference"]))
    counts = {name: _numbers(whole["measured"][name]) for name in Measures._fields}
    if not counts["alerts"].size:  # a list of nothing has lost its shape
        counts["alerts"] = np.empty((0, 2))
    model._measures = Measures(**counts)
    chosen = whole["chosen"]
    model.sizes_ = _numbers(chosen["sizes"]).astype(int)
    model.values_ = _numbers(chosen["values"])
    model.n_branches_ = int(finite(chosen["n_branches"]))
    for name in _VALUES:
        value = chosen[name]
        setattr(model, name, np.nan if value is None else finite(value))


def _numbers(values: Any) -> Floats:
    """Numbers of a file as an array."""
    found = np.array(values, dtype=np.float64)
    if not np.isfinite(found).all():
        raise ValueError("a number is missing, or beyond all bounds")
    return found


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
