"""What a model file keeps of an encoder: the plans of columns as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from rarefind._core.fields import (
    Choice,
    DictOf,
    Either,
    Flag,
    ListOf,
    Maybe,
    PlainText,
    RealNumber,
    Record,
    StateError,
    Whole,
)
from rarefind._core.state import State
from rarefind.data import decode
from rarefind.data.columns import DatePlan, from_state

__all__ = ["ENCODER_STATE", "check_zone"]

_SPREAD = Record({"fill": Maybe(RealNumber()), "shift": RealNumber(), "scale": RealNumber(0)})
_ONE_OUTPUT = {
    "column": PlainText(),
    "spread": _SPREAD,
    "marks_missing": Flag(),
    "written": Maybe(PlainText()),
}
_PLANS = {
    "number": Record({"kind": Choice("number"), **_ONE_OUTPUT}),
    "boolean": Record({"kind": Choice("boolean"), **_ONE_OUTPUT}),
    "date": Record(
        {
            "kind": Choice("date"),
            "column": PlainText(),
            "parts": DictOf(Choice("days", "month", "weekday", "hour"), _SPREAD),
            "marks_missing": Flag(),
            "origin": PlainText(),
            "timed": Flag(),
            "written": Maybe(PlainText()),
            "zone": Maybe(PlainText()),
        }
    ),
    "levels": Record(
        {
            "kind": Choice("levels"),
            "column": PlainText(),
            "levels": ListOf(PlainText()),
            "unit": RealNumber(0, 1),
            "has_other": Flag(),
            "marks_missing": Flag(),
            "rows": Whole(1),
            "counts": DictOf(PlainText(), Whole()),
            "missing_rows": Whole(),
            "frequency": Maybe(_SPREAD),
        }
    ),
    "level codes": Record(
        {
            "kind": Choice("level codes"),
            "column": PlainText(),
            "levels": ListOf(PlainText()),
            "has_other": Flag(),
        }
    ),
}


def _check_plans(state: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, int]:
    """Each plan is of a column of its own, and can be applied."""
    columns = [plan["column"] for plan in state["plans"]]
    if len(set(state["input"])) != len(state["input"]) or len(set(columns)) != len(columns):
        raise StateError("a column is there twice")
    if not set(columns) <= set(state["input"]):
        raise StateError("a plan is of a column that is not there")
    width = 0
    for own in state["plans"]:
        plan = from_state(own)
        levels = own.get("levels", [])
        if len(set(levels)) != len(levels):
            raise StateError(f"the column {plan.column!r:.60} has a category twice")
        width += len(plan.names)
        if isinstance(plan, DatePlan) or own.get("written") is not None:
            _check_written(plan)
    if not width:
        raise StateError("no column is left")
    return {"outputs": width}


def _check_written(plan: Any) -> None:
    """Forms, zones and dates are texts that mean something: one missing value shows it."""
    try:
        if isinstance(plan, DatePlan):
            check_zone(plan.zone)
            np.datetime64(plan.origin, "us").astype("datetime64[D]")
            if np.isnat(np.datetime64(plan.origin)):
                raise ValueError
        plan.encode(pd.Series([None], name=plan.column, dtype=object))
    except Exception:
        raise StateError(f"the column {plan.column!r:.60} is written in an unknown way") from None


def check_zone(zone: str | None) -> None:
    """Raise on what is not a time zone that columns are read by."""
    decode.dates(pd.Series(pd.to_datetime(["2026-01-01"], utc=True)), None, zone)


#: The state of :class:`rarefind.data.TableEncoder`.
ENCODER_STATE = State(
    {
        "version": Choice(1),
        "params": Record(
            {
                "missing": Choice("keep", "fill"),
                "scale": Flag(),
                "max_levels": Whole(1),
                "levels": Choice("one-hot", "code"),
                "drop": ListOf(PlainText()),
            }
        ),
        "input": ListOf(PlainText(), low=1),
        "named": Flag(),
        "plans": ListOf(Either(*_PLANS.values()), low=1),
        "dropped": DictOf(PlainText(), PlainText()),
    },
    _check_plans,
)
