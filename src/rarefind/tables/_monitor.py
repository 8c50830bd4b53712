"""Whether a model still fits the rows it is given: drift, verdicts, and what to do."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from rarefind._core.budget import PERIODS as _PERIODS
from rarefind._core.budget import budget_share
from rarefind._core.types import Bools
from rarefind.data.column_reference import ColumnReference, finite
from rarefind.data.drift import DriftReference
from rarefind.metrics import budget as checks_bought
from rarefind.tables._checked import Checked, held_out_precision, precision_of
from rarefind.tables._model import TableModel
from rarefind.tables._scored import Monitored, gather

__all__ = ["MonitorReport", "monitor"]

#: Share of the score that changed columns must carry to ask for a new fit.
MUCH_OF_THE_SCORE = 0.25
_NAMED = 5


@dataclass(frozen=True)
class MonitorReport:
    """What :func:`monitor` found.

    Attributes
    ----------
    rows : int
        Rows of the file.
    verdict : {"keep", "retrain"}
        What to do with the model.
    because : list of str
        The evidence, in sentences.
    notes : list of str
        What could not be told, and why.
    columns : DataFrame
        Drift of each column, as of :meth:`rarefind.data.DriftCounter.table`, with the share of the
        score that it carries (``importance``), the most moved first.
    score : dict or None
        The same of the score.
    checked : Checked or None
        What verdicts say of the list.
    weeks : DataFrame or None
        By week: ``week``, ``rows``, ``probability`` (on average), ``listed``, ``checked``,
        ``hits``, ``expected``, ``precision``, ``precision_low``, ``precision_high``.
    """

    rows: int
    verdict: str
    because: list[str]
    notes: list[str]
    columns: pd.DataFrame
    score: dict[str, Any] | None = None
    checked: Checked | None = None
    weeks: pd.DataFrame | None = field(default=None)

    def as_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {
            "rows": self.rows,
            "verdict": self.verdict,
            "because": self.because,
            "notes": self.notes,
            "columns": _records(self.columns),
            "score": self.score,
            "list": None if self.checked is None else self.checked.as_dict(),
            "weeks": None if self.weeks is None else _records(self.weeks),
        }


def monitor(
    model: TableModel,
    chunks: Iterable[pd.DataFrame],
    *,
    verdicts: str | None = None,
    budget: int | float | str | None = None,
    per: str | None = None,
) -> MonitorReport:
    """Compare new rows with those a model was fitted to, and verdicts with what it promised.

    Parameters
    ----------
    model : TableModel
        Fitted.
    chunks : iterable of DataFrame
        The new rows, in pieces, as of :func:`rarefind.data.read_chunks`.
    verdicts : str, default=None
        Column with the verdicts, the values of the target; empty where a row was not checked. By
        default the target, where the rows have it.
    budget : int, float or str, default=None
        Checks, or a share of the rows (``"0.5%"``), whose list is judged; by default that of the
        fit, and where there was none all rows with a verdict.
    per : {"hour", "day", "week", "month"}, default=None
        The budget is spent in each such period of ``model.time``.

    Returns
    -------
    MonitorReport

    Notes
    -----
    The verdict is "retrain" if the list found clearly less than promised, if columns that carry a
    quarter of the score or more changed, or if the spread of the score changed. Otherwise it is
    "keep".

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from rarefind import TableModel
    >>> from rarefind.tables._monitor import monitor
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"a": rng.normal(size=600), "b": rng.normal(size=600)})
    >>> table["y"] = (table["a"] > 1.3).astype(int)
    >>> model = TableModel().fit(table[:400])
    >>> monitor(model, [table[400:]], budget=20).verdict
    'keep'
    >>> monitor(model, [table[400:].assign(a=5.0)], budget=20).verdict
    'retrain'
    """
    seen = gather(model, chunks, verdicts)
    notes = list(seen.notes)
    columns = _columns(model, seen, notes)
    score = _score(model, seen, notes)
    budget, per = _budget(model, seen, budget, per)
    listed = _listed(seen, budget, per)
    depth = None if budget is None else float(listed.mean())
    checked = _checked(model, seen, listed, depth, notes)
    reasons = [_of_score(score), _of_columns(columns), _of_list(checked)]
    calls = any(calls for calls, _ in reasons)
    return MonitorReport(
        rows=seen.rows,
        verdict="retrain" if calls else "keep",
        # What asks for a new fit comes first.
        because=[said for _, said in sorted(reasons, key=lambda reason: not reason[0]) if said],
        notes=notes,
        columns=columns,
        score=score,
        checked=checked,
        weeks=_weeks(seen, listed),
    )


def _columns(model: TableModel, seen: Monitored, notes: list[str]) -> pd.DataFrame:
    if seen.drift is None:
        notes.append(
            "The model file is older than the drift of columns: fit it again to have it measured."
        )
        return pd.DataFrame(columns=["column", "drift", "importance", "text", "verdict"])
    table = seen.drift
    carried = _importance(model)
    table["importance"] = [carried.get(name, 0.0) for name in table["column"]]
    order = table["verdict"].map({"changed": 0, "moved": 1, "stable": 2})
    table = table.assign(order=order, beyond=table["chance"] - table["drift"])
    table = table.sort_values(["order", "beyond"], kind="stable").drop(columns=["order", "beyond"])
    return table.reset_index(drop=True)


def _importance(model: TableModel) -> dict[str, float]:
    """Share of the score that each column carries; the same for all where it is not known."""
    columns = model.encoder_.original_columns_
    known = getattr(model.estimator_, "feature_importances_", None)
    weight = np.ones(len(columns)) if known is None else np.asarray(known, dtype=np.float64)
    if known is None or weight.size != len(columns) or not weight.sum() > 0:
        return dict.fromkeys(columns, 1 / len(set(columns)))
    return (pd.Series(weight).groupby(columns).sum() / weight.sum()).to_dict()


def _score(model: TableModel, seen: Monitored, notes: list[str]) -> dict[str, Any] | None:
    """Drift of the score, against the rows of the fit and rows held out then: the lesser counts.

    A neighbour scores its own rows higher than others, and models of the folds that scored held-out
    rows have leaves of their own: of each kind of model only one of the two is comparable.
    """
    own: ColumnReference | None = getattr(model, "score_reference_", None)
    if own is None:
        notes.append(
            "The model file is older than the drift of scores: fit it again to have it measured."
        )
        return None
    references = [own]
    kept = getattr(model.estimator_, "reference_", None)
    evidence = getattr(model, "evidence_", None)
    if kept is not None:
        weight = np.diff(kept.below)
        references.append(ColumnReference.of_scores("score", kept.score, weight))
    elif evidence is not None:
        score = np.asarray(evidence.priority, dtype=np.float64)
        references.append(ColumnReference.of_scores("score", score, np.ones(score.size)))
    counted = pd.DataFrame({"score": finite(seen.priority)})
    tables = [DriftReference(0, [one]).counter().update(counted).table() for one in references]
    found = min((table.iloc[0] for table in tables), key=lambda row: row["drift"] - row["chance"])
    return {name: found[name] for name in ("drift", "chance", "text", "verdict")}


def _budget(
    model: TableModel, seen: Monitored, budget: int | float | str | None, per: str | None
) -> tuple[int | float | str | None, str | None]:
    """The budget asked for, or that of the fit."""
    evidence = getattr(model, "evidence_", None)
    if budget is None:
        if evidence is None:
            if per is not None:
                raise ValueError(f"per={per!r} needs a budget to spend in each {per}.")
            return None, None
        fitted = evidence.per if seen.time is not None else None
        return evidence.budget, per or fitted
    if budget_share(budget) is None and float(budget) > seen.rows:
        raise ValueError(
            f"A budget of {int(float(budget)):,} checks is larger than the file, which has "
            f"{seen.rows:,} rows."
        )
    return budget, per


def _listed(seen: Monitored, budget: int | float | str | None, per: str | None) -> Bools:
    """Rows on the list; without a budget, those that were checked."""
    if budget is None:
        return seen.verdict >= 0
    rows = pd.DataFrame({"priority": seen.priority, "period": _periods(seen, per)})
    rows = rows.sort_values(["period", "priority"], ascending=[True, False], kind="stable")
    of_period = rows.groupby("period")["priority"]
    allowed = of_period.transform("size").map(lambda size: checks_bought(budget, size))
    chosen = rows.index[of_period.cumcount() < allowed]
    listed = np.zeros(seen.rows, dtype=bool)
    listed[chosen] = True
    return listed


def _periods(seen: Monitored, per: str | None) -> Any:
    if per is None:
        return np.zeros(seen.rows, dtype=np.intp)
    if per not in _PERIODS:
        raise ValueError(f"per= is one of {', '.join(_PERIODS)}, not {per!r}.")
    if seen.time is None or np.isnat(seen.time).any():
        raise ValueError(f"per={per!r} needs a date in each row of the column with the time.")
    return pd.PeriodIndex(pd.Series(seen.time), freq=_PERIODS[per]).asi8


def _checked(
    model: TableModel, seen: Monitored, listed: Bools, depth: float | None, notes: list[str]
) -> Checked | None:
    known = seen.verdict >= 0
    if not known.any():
        return None
    unknown = seen.rows - int(known.sum())
    if unknown:
        notes.append(
            f"Only checked rows have labels: {unknown:,} of {seen.rows:,} rows have no verdict, "
            "and what they hide is in no figure here."
        )
    rows = listed & known
    evidence = getattr(model, "evidence_", None)
    held_out = None
    if evidence is not None and depth is not None:
        held_out = held_out_precision(
            np.asarray(evidence.priority), np.asarray(evidence.positive), depth
        )
    # An equally deep list of the fit's own rows had about so many hits.
    deep = float(seen.probability[rows].sum()) * model.rows_ / seen.rows
    behind = min(float(model.positives_), deep)
    return Checked.of(
        seen.probability[rows], seen.verdict[rows] == 1, int(listed.sum()), held_out, behind
    )


def _of_score(score: dict[str, Any] | None) -> tuple[bool, str]:
    if score is None:
        return False, ""
    index = f"(index {score['drift']:.2f})"
    if score["verdict"] == "stable":
        return False, f"The score is spread as at fit {index}."
    return (
        score["verdict"] == "changed",
        f"The score has {score['verdict']} {index}: {score['text'].replace(': ', ' are ', 1)}.",
    )


def _of_columns(columns: pd.DataFrame) -> tuple[bool, str]:
    if not len(columns):
        return False, ""
    changed = columns[columns["verdict"] == "changed"]
    moved = int((columns["verdict"] == "moved").sum())
    also = f" {moved:,} moved, too little to matter." if moved else ""
    if not len(changed):
        return False, f"None of {len(columns):,} columns changed.{also}"
    share = float(changed["importance"].sum())
    names = [str(name) for name in changed["column"][:_NAMED]]
    more = f", … {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
    carry = "carries" if len(changed) == 1 else "carry"
    return share >= MUCH_OF_THE_SCORE, (
        f"{len(changed):,} of {len(columns):,} columns changed and {carry} {100 * share:.0f} % of "
        f"the score: {', '.join(names)}{more}.{also}"
    )


def _of_list(checked: Checked | None) -> tuple[bool, str]:
    if checked is None:
        return False, (
            "No row has a verdict, so the list's precision is not known: give them in the column "
            "of the target, or name another by --verdicts."
        )
    return checked.is_below, checked.sentence()


def _weeks(seen: Monitored, listed: Bools) -> pd.DataFrame | None:
    if seen.time is None or np.isnat(seen.time).all():
        return None
    checked = listed & (seen.verdict >= 0)
    rows = pd.DataFrame(
        {
            "week": pd.PeriodIndex(pd.Series(seen.time), freq="W").start_time,
            "rows": 1,
            "probability": seen.probability,
            "listed": listed,
            "checked": checked,
            "hits": checked & (seen.verdict == 1),
            "expected": np.where(checked, seen.probability, 0.0),
        }
    )
    weeks = rows.groupby("week").sum().reset_index()
    weeks["probability"] /= weeks["rows"]
    found = [
        precision_of(int(h), int(c)) for h, c in zip(weeks["hits"], weeks["checked"], strict=True)
    ]
    weeks["week"] = weeks["week"].dt.strftime("%Y-%m-%d")
    weeks["precision"] = [interval.value for interval in found]
    weeks["precision_low"] = [interval.low for interval in found]
    weeks["precision_high"] = [interval.high for interval in found]
    return weeks


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows for JSON: what is not a number is null."""
    found: list[dict[str, Any]] = []
    for row in table.to_dict("records"):
        plain = {str(k): v.item() if isinstance(v, np.generic) else v for k, v in row.items()}
        nothing = [k for k, v in plain.items() if isinstance(v, float) and math.isnan(v)]
        found.append({**plain, **dict.fromkeys(nothing)})
    return found
