"""Sections of the page as figures: the top cases, the file's columns, drift, the model card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rarefind._core.types import Ints
from rarefind.data import profile_table
from rarefind.report._model_summary import plain

if TYPE_CHECKING:
    from rarefind.report._file import ScoredFile
    from rarefind.rules import Reason
    from rarefind.tables import TableModel

_MOST_CONDITIONS, _MOST_SIMILAR, _FEWEST_COLUMNS, _MOST_COLUMNS = 5, 3, 5, 12
_FEWEST_OF_A_CLASS = 5
_SHARE_SHOWN = 0.005


def cases(
    model: TableModel,
    rows: pd.DataFrame,
    found: ScoredFile,
    reasons: list[Reason],
    numbers: Ints,
) -> list[dict[str, Any]]:
    """The first rows of the list, their numbers, and what speaks for each."""
    probability = model.predict_proba(rows)[:, list(model.classes_).index(model.positive_)]
    roles = (model.entity, model.time, model.amount)
    names = [name for name in roles if name is not None and name in rows.columns]
    ids = None if model.id is None or model.id not in rows.columns else rows[model.id]
    shown = []
    for place, (row, reason) in enumerate(zip(rows.index, reasons, strict=True)):
        label = None
        if found.labels is not None and found.labels.known[row]:
            label = bool(found.labels.positive[row])
        values = rows.iloc[place]
        shown.append(
            {
                "rank": place + 1,
                "row": int(numbers[place]),
                "id": None if ids is None else _text(ids.iloc[place]),
                "about": [{"column": name, "value": _text(values[name])} for name in names],
                "probability": float(probability[place]),
                "positive": label,
                "because": _because(reason),
                "similar": [str(similar) for similar in reason.similar[:_MOST_SIMILAR]],
            }
        )
    return shown


def _because(reason: Reason) -> list[dict[str, Any]]:
    """The first condition, and others whose share is worth a line."""
    said: list[dict[str, Any]] = [
        {"text": str(c), "share": float(c.weight)} for c in reason.raising
    ]
    return said[:1] + [one for one in said[1:_MOST_CONDITIONS] if one["share"] >= _SHARE_SHOWN]


def profile(model: TableModel, found: ScoredFile) -> dict[str, Any]:
    """Missing values, columns without information and possible leaks, in a sample of the rows."""
    rows, target = found.sample, None
    if found.labels is not None:
        known, positive = (part[rows.index.to_numpy()] for part in found.labels)
        if min(positive.sum(), (known & ~positive).sum()) >= _FEWEST_OF_A_CLASS:
            target = model.target
            # Labels may be written otherwise than at the fit.
            negative = next(each for each in model.classes_.tolist() if each != model.positive_)
            labels = np.where(positive[known], model.positive_, negative)
            rows = rows[known].assign(**{target: labels})
    elif model.target in rows.columns:
        rows = rows.drop(columns=model.target)
    roles = [name for name in (model.time, model.entity, model.id) if name is not None]
    seen = profile_table(rows, target, model.positive_ if target else None, ignore=roles)
    columns = seen.columns
    worth_a_line = columns[(columns["missing"] > 0) | (columns["note"] != "")]
    worth_a_line = worth_a_line.sort_values("missing", ascending=False, kind="stable")
    shown = worth_a_line.head(_MOST_COLUMNS)
    names = ("column", "kind", "missing", "values", "note")
    return {
        "rows": len(rows),
        "columns": len(columns),
        "columns_by_kind": {
            str(kind): int(count) for kind, count in columns["kind"].value_counts().items()
        },
        "columns_with_missing": int((columns["missing"] > 0).sum()),
        "columns_without_information": int(
            columns["note"].isin(["one value", "all missing"]).sum()
        ),
        "notable": [{name: plain(row[name]) for name in names} for row in shown.to_dict("records")],
        "more": len(worth_a_line) - len(shown),
        "leaks_checked": target is not None,
        "leaks": [
            {
                "column": leak.column,
                "average_precision": float(leak.average_precision),
                "condition": leak.condition,
            }
            for leak in seen.leaks
        ],
    }


def drift(found: ScoredFile) -> dict[str, Any] | None:
    """What changed between the training rows and this file, the most changed columns first."""
    if found.drift is None:
        return None
    table = found.drift.sort_values("drift", ascending=False, kind="stable")
    names = ("column", "drift", "missing_before", "missing_now", "new_levels", "text", "verdict")
    verdicts = table["verdict"].value_counts()
    unstable = int((table["verdict"] != "stable").sum())
    shown = table.head(min(_MOST_COLUMNS, max(unstable, _FEWEST_COLUMNS)))
    return {
        **{verdict: int(verdicts.get(verdict, 0)) for verdict in ("stable", "moved", "changed")},
        "columns": [{name: plain(row[name]) for name in names} for row in shown.to_dict("records")],
        "more": len(table) - len(shown),
    }


def card(model: TableModel, manifest: dict[str, Any]) -> dict[str, Any]:
    """The model card, and what the model file says of its making."""
    fields = model.card().as_dict()
    del fields["labels"]  # a section of the page
    return {
        **fields,
        "saved": manifest.get("saved"),
        "versions": {str(name): str(v) for name, v in manifest.get("versions", {}).items()},
    }


def _text(value: Any) -> str:
    if pd.isna(value):
        return "missing"
    if isinstance(value, pd.Timestamp):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, float | np.floating):
        # Whole numbers beside missing ones are floats, and may be identifiers.
        return f"{value:.0f}" if float(value).is_integer() else f"{value:,.2f}"
    return str(value)
