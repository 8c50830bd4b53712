"""What a model file keeps of a model of a table, its checks, and how older files are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rarefind._core.budget import budget_share
from rarefind._core.fields import (
    DictOf,
    Either,
    Flag,
    LabelArray,
    LabelValue,
    ListOf,
    Maybe,
    Object,
    Perhaps,
    PlainText,
    RealNumber,
    Record,
    StateError,
    TupleOf,
    Whole,
)
from rarefind._core.state import State
from rarefind.data import TableEncoder
from rarefind.tables._sql import is_plain


def upgraded(version: int, state: dict[str, Any]) -> dict[str, Any]:
    """Version 1 called the estimate the evidence. Up to 3, identifiers were always kept."""
    if version == 1:
        kept = {name: value for name, value in state.items() if name != "evidence_"}
        state = {**kept, "estimate_": state.get("evidence_")}
    if version < 3 and "encoder_" in state:  # estimators did not know of it
        mark_encoded(state["encoder_"], state["estimator_"])
    return {**state, "keep_ids": bool(state.get("known_names_"))}


def mark_encoded(encoder: TableEncoder, estimator: Any) -> None:
    """Let an estimator that could be written as SQL know that its columns are not a table's."""
    if hasattr(estimator, "to_sql") and not is_plain(encoder):
        estimator._is_encoded = True


def _check_parts(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    """The parts speak of one table: its columns, its labels, its known positives."""
    encoder, estimator = state["encoder_"], state["estimator_"]
    names = getattr(estimator, "feature_names_in_", ())
    if list(names) != list(encoder.get_feature_names_out()):
        raise StateError("'estimator_' was fitted to other columns than 'encoder_' makes")
    if estimator.reads_tables or state["classes_"].tolist() != estimator.classes_.tolist():
        raise StateError("'classes_' are not those of 'estimator_'")
    if state["positive_"] not in state["classes_"].tolist():
        raise StateError("'positive_' is not one of the labels")
    reference = state.get("drift_reference_")  # the oldest files have none
    counted = [] if reference is None else [column.column for column in reference.columns]
    if not set(counted) <= set(encoder.columns_):
        raise StateError("'drift_reference_' is of other columns")
    if state.get("fitted_for_") is not None:
        budget_share(state["fitted_for_"]["budget"])
    known = len(state["known_rows_"])
    if sorted(state["known_rows_"].values()) != list(range(known)):
        raise StateError("'known_rows_' are not numbered")
    if not state["known_names_"].keys() <= state["known_rows_"].keys():
        raise StateError("'known_names_' are not of known rows")
    if not state["known_values_"].keys() <= set(encoder.columns_):
        raise StateError("'known_values_' are of other columns")


_COLUMN = Maybe(PlainText())

_LIST = Record(
    {
        "budget": Either(RealNumber(0), PlainText()),
        "per": Maybe(PlainText()),
        "one_per": Maybe(PlainText()),
    }
)

#: What a model of a table keeps in a file.
MODEL_STATE = State(
    {
        "estimator": Maybe(Object(fitted=False)),
        "target": PlainText(),
        "positive": Maybe(LabelValue()),
        "time": _COLUMN,
        "entity": _COLUMN,
        "amount": _COLUMN,
        "id": _COLUMN,
        "drop": Either(ListOf(PlainText()), TupleOf(PlainText(), size="*")),
        "keep_ids": Flag(),
        "positive_": LabelValue(),
        "encoder_": Object("table-encoder", outputs="d"),
        "estimator_": Object(d="d", classes="classes"),
        "classes_": LabelArray("classes"),
        "types_": DictOf(PlainText(), PlainText()),
        "rows_": Whole(),
        "positives_": Whole(),
        "drift_reference_": Perhaps(Object("drift-reference")),
        "score_reference_": Perhaps(Object("column-reference")),
        "column_shares_": Perhaps(DictOf(PlainText(), RealNumber(nan=True))),
        "known_names_": DictOf(Whole(), PlainText()),
        "known_lines_": Perhaps(DictOf(Whole(), Whole())),
        "known_rows_": DictOf(Whole(), Whole(), size="known"),
        "known_values_": DictOf(PlainText(), ListOf(PlainText(), size="known")),
        "estimate_": Maybe(Object("budget-estimate")),
        "fitted_for_": Perhaps(Maybe(_LIST)),
    },
    _check_parts,
)
