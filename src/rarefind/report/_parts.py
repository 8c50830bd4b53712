"""Parts of the page that a model or a file is asked for: cases, profile, drift, the card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rarefind.data import profile_table
from rarefind.report._readable import plain

if TYPE_CHECKING:
    from rarefind.report._scan import Scan
    from rarefind.rules import Reason
    from rarefind.tables import TableModel

_MOST_CONDITIONS, _MOST_SIMILAR, _FEWEST_COLUMNS, _MOST_COLUMNS = 5, 3, 5, 12
_FEWEST_OF_A_CLASS = 5
_SHARE_SHOWN = 0.005


def cases(model: TableModel, found: Scan, reasons: list[Reason]) -> list[dict[str, Any]]:
    """The rows with the highest scores and what speaks for each."""
    listed = model.rank(found.top, len(found.top), reasons=False)
    names = [name for name in (model.entity, model.time, model.amount) if name in listed.columns]
    rows = []
    for place, (row, reason) in enumerate(zip(listed.index, reasons, strict=True)):
        label = None
        if found.labels is not None and found.labels.known[row]:
            label = bool(found.labels.positive[row])
        values = listed.iloc[place].to_dict()
        rows.append(
            {
                "rank": place + 1,
                "row": int(row) + 1,
                "id": None if model.id not in listed.columns else _text(values[model.id]),
                "about": [{"column": name, "value": _text(values[name])} for name in names],
                "probability": float(values["probability"]),
                "positive": label,
                "because": _because(reason),
                "similar": [str(similar) for similar in reason.similar[:_MOST_SIMILAR]],
            }
        )
    return rows


def _because(reason: Reason) -> list[dict[str, Any]]:
    """The conditions that carry a share worth a line; the first in any case."""
    said: list[dict[str, Any]] = [
        {"text": str(c), "share": float(c.weight)} for c in reason.because
    ]
    return said[:1] + [one for one in said[1:_MOST_CONDITIONS] if one["share"] >= _SHARE_SHOWN]


def profile(model: TableModel, found: Scan) -> dict[str, Any]:
    """Holes, columns that say nothing, suspected leaks; from the sample of the rows."""
    rows, target = found.sample, None
    if found.labels is not None:
        known, positive = (part[rows.index.to_numpy()] for part in found.labels)
        if min(positive.sum(), (known & ~positive).sum()) >= _FEWEST_OF_A_CLASS:
            rows, target = rows[known], model.target
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
        "rows_looked_at": len(rows),
        "columns": len(columns),
        "columns_by_kind": {
            str(kind): int(count) for kind, count in columns["kind"].value_counts().items()
        },
        "columns_with_holes": int((columns["missing"] > 0).sum()),
        "columns_that_say_nothing": int(columns["note"].isin(["one value", "all missing"]).sum()),
        "notable": [{name: plain(row[name]) for name in names} for row in shown.to_dict("records")],
        "more": len(worth_a_line) - len(shown),
        "leaks_looked_for": target is not None,
        "leaks": [
            {"column": leak.column, "average_precision": float(leak.average_precision)}
            for leak in seen.leaks
        ],
    }


def drift(found: Scan) -> dict[str, Any] | None:
    """What changed between the rows learned from and this file, the most changed columns first."""
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
    """What the model is made from, and with."""
    said = model.card()
    threshold = said.threshold
    return {
        "estimator": said.estimator,
        "rows": int(said.rows),
        "positives": int(said.positives),
        "target": str(said.target),
        "positive": str(said.positive),
        "columns_used": len(said.used),
        "used": list(map(str, said.used)),
        "kept_out": list(map(str, said.kept_out)),
        "roles": {role: str(name) for role, name in said.roles.items()},
        "left_out": {str(name): str(why) for name, why in said.left_out.items()},
        "threshold": plain(threshold),
        "saved": manifest.get("saved"),
        "versions": {str(k): str(v) for k, v in manifest.get("versions", {}).items()},
    }


def _text(value: Any) -> str:
    if pd.isna(value):
        return "missing"
    if isinstance(value, pd.Timestamp):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, float | np.floating):
        return f"{value:,.2f}"
    return str(value)
