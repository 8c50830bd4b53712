"""Whether a model still fits the rows it is given: drift, verdicts, and what to do."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rarefind._core.budget import budget_share, check_budget
from rarefind._core.types import Array, Bools, Floats, Ints, Table
from rarefind.data.clock import PERIODS, Times, period_starts
from rarefind.data.column_reference import finite
from rarefind.data.drift import DriftReference
from rarefind.data.frames import entity_codes
from rarefind.metrics import Interval
from rarefind.tables._checked import CheckedList, MatchedList, match_list, read_checked
from rarefind.tables._column_shares import column_shares
from rarefind.tables._model import TableModel
from rarefind.tables._unlike import score_references
from rarefind.tables._verdicts import ListCheck, precision_of
from rarefind.tables.lists import Budget, Groups, ListRequest, on_list, request_for
from rarefind.tables.scoring import Sink, pieces_of, score_pieces
from rarefind.tables.sinks import ColumnSink, DriftSink, ScoreSink, TimeSink, VerdictSink

__all__ = ["MonitorReport", "monitor"]

#: Share of the score that changed columns must carry to ask for a new fit; of the columns, where
#: it is not known what they carry.
MUCH_OF_THE_SCORE = 0.25
_NAMED = 5
# A held-out list with fewer rows says nothing of the list to judge.
_FEWEST_HELD_OUT = 20


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
        Why, in sentences.
    notes : list of str
        What could not be measured, and why.
    columns : DataFrame
        Drift of each column, as of :meth:`rarefind.data.DriftCounter.table`, with the share of the
        score that it carries (``importance``; not a number where it is not known), the most moved
        first.
    score : dict or None
        The same of the score.
    checked : ListCheck or None
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
    checked: ListCheck | None = None
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


class _Seen(NamedTuple):
    """What is kept of the new rows.

    ``verdict`` is 1 for a positive, 0 for a negative and -1 where a row was not checked;
    ``on_given`` are the rows of the list that was given, if one was; ``drift`` is the table of a
    drift counter, None for a model without a reference.
    """

    priority: Floats
    probability: Floats
    verdict: NDArray[np.int8]
    on_given: Bools | None
    times: Times | None
    group: Ints | None  # of the list that a row competes for; None where there is one list
    owner: Array | None
    drift: pd.DataFrame | None

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.priority)


def monitor(
    model: TableModel,
    chunks: Iterable[Table],
    *,
    verdicts: str | None = None,
    checked: Table | None = None,
    budget: Budget | None = None,
    per: str | None = None,
    one_per: str | bool | None = None,
) -> MonitorReport:
    """Compare new rows with those a model was fitted to, and verdicts with what it expected.

    Parameters
    ----------
    model : TableModel
        Fitted.
    chunks : iterable of tables
        The new rows, in pieces, as of :func:`rarefind.data.read_chunks`.
    verdicts : str, default=None
        Column with the verdicts, the values of the target; empty where a row was not checked. By
        default the target, where the rows have it.
    checked : pandas or polars frame, or Arrow table, default=None
        The list of the rows with verdicts filled in, as of :meth:`TableModel.rank
        <rarefind.TableModel.rank>` with another column for the verdicts (``verdicts``, by default
        the target's, or one called verdict): the target's values, or yes and no, empty where a row
        was not checked. Rows are found by their identifier, or where the model has none by the
        index. Without a budget it is this list that is judged.
    budget : int, float or str, default=None
        Checks, or a share of the rows (``"0.5%"``), whose list is judged; by default that of the
        fit with its ``per`` and ``one_per``, and where there was none all rows with a verdict.
    per, one_per
        As in :meth:`TableModel.rank <rarefind.TableModel.rank>`; of ``checked`` without a budget,
        how that list was made. By default as at the fit.

    Returns
    -------
    MonitorReport

    Notes
    -----
    The verdict is "retrain" if the list found clearly fewer hits than expected, if columns that
    carry a quarter of the score or more changed, or if the spread of the score changed. Otherwise
    it is "keep".

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from rarefind import TableModel
    >>> from rarefind.tables import monitor
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"a": rng.normal(size=600), "b": rng.normal(size=600)})
    >>> table["y"] = (table["a"] > 1.3).astype(int)
    >>> model = TableModel().fit(table[:400])
    >>> monitor(model, [table[400:]], budget=20).verdict
    'keep'
    >>> monitor(model, [table[400:].assign(a=5.0)], budget=20).verdict
    'retrain'
    """
    request = _request(model, budget, per, one_per, is_given=checked is not None)
    notes: list[str] = []
    back = None if checked is None else read_checked(model, checked, verdicts)
    seen = _pass_over(model, chunks, verdicts, back, request, notes)
    columns = _columns(model, seen, notes)
    score = _score(model, seen, notes)
    listed = _listed(seen, request)
    judged = None if request is None else request.list
    if request is not None and request.is_given:
        judged = _given_list(seen, listed, request)
    estimated = None if judged is None else _estimated_precision(model, judged, seen.rows)
    found = _checked(model, seen, listed, estimated, notes)
    reasons = [_of_score(score), _of_columns(columns), _of_list(found)]
    calls = any(calls for calls, _ in reasons)
    return MonitorReport(
        rows=seen.rows,
        verdict="retrain" if calls else "keep",
        # What asks for a new fit comes first.
        because=[said for _, said in sorted(reasons, key=lambda reason: not reason[0]) if said],
        notes=notes,
        columns=columns,
        score=score,
        checked=found,
        weeks=_weeks(seen, listed),
    )


class _Judged(NamedTuple):
    """The list that is judged; ``asked`` where it is not simply that of the fit.

    Of a list that ``is_given`` its rows are known; ``list`` is what it was probably asked for.
    """

    list: ListRequest
    asked: bool
    is_given: bool = False


def _request(
    model: TableModel,
    budget: Budget | None,
    per: str | None,
    one_per: str | bool | None,
    *,
    is_given: bool,
) -> _Judged | None:
    """The list that was asked for or given, or that of the fit; None where there is none."""
    if budget is not None:
        check_budget(budget)
    request = request_for(model, budget, per, one_per)
    is_given = is_given and budget is None
    if request is None and is_given:
        request = ListRequest(1, per, one_per)  # how many checks it has is counted
    if request is None:
        for name, value in (("per", per), ("one_per", one_per)):
            if value:
                raise ValueError(f"{name}={value!r} needs a budget: give one.")
        return None
    asked = budget is not None or bool(per or one_per)
    return _Judged(request, asked=asked, is_given=is_given)


def _pass_over(
    model: TableModel,
    chunks: Iterable[Table],
    verdicts: str | None,
    back: CheckedList | None,
    judged: _Judged | None,
    notes: list[str],
) -> _Seen:
    """Score and count all rows in one pass."""
    per = None if judged is None else judged.list.per
    one_per = None if judged is None else judged.list.one_per
    owner = model.entity if one_per is True else one_per
    if one_per and not isinstance(owner, str):
        raise ValueError(f"one_per={one_per!r} does not name a column of the table.")
    scores, drift, verdict = ScoreSink(), DriftSink(model), VerdictSink(model, verdicts)
    times, groups = TimeSink(model.time), ColumnSink(None if per in PERIODS else per)
    owners, ids = ColumnSink(owner or None), ColumnSink(None if back is None else model.id)
    sinks: list[Sink] = [scores, drift, times, groups, owners, ids]
    if back is None:
        sinks.append(verdict)
    rows = score_pieces(model, pieces_of(chunks), sinks, probability=True)
    if not rows:
        raise ValueError("There are no rows to monitor.")
    when, whose, column = times.times(), owners.column(), groups.column()
    if model.time is not None and when is None:
        why = f"The file has no column {model.time!r}"
        if times.has_numbers:
            why = f"Column {model.time!r} has numbers, which are not times"
        notes.append(f"{why}: there are no weeks to compare.")
    if judged is not None and judged.asked:
        if not judged.is_given:
            check_budget(judged.list.budget, rows if per is None else None)
        if whose is None and one_per:
            raise ValueError(f"one_per={one_per!r} does not name a column of the table.")
    found = MatchedList(verdict.verdict(), np.zeros(0, dtype=bool), [])
    if back is not None:
        found = match_list(back, ids.column(), scores.priority())
        notes += found.notes
    return _Seen(
        scores.priority(),
        scores.probability(),
        found.verdict,
        None if back is None else found.listed,
        when,
        None if per is None else _groups(model, per, when, column, judged),
        None if whose is None else entity_codes(whose),
        drift.table(),
    )


def _groups(
    model: TableModel,
    per: str,
    times: Times | None,
    column: pd.Series[Any] | None,
    judged: _Judged | None,
) -> Ints | None:
    """The group of each row; None where the fit had groups, and the file does not say them."""
    asked = judged is not None and judged.asked
    if per in PERIODS:
        is_given = judged is not None and judged.is_given
        if not asked and (times is None or (is_given and not times.known.all())):
            return None
        if times is None or not times.known.all():
            missing = 0 if times is None else int((~times.known).sum())
            what = f"{missing:,} rows have none" if missing else "there are none"
            raise ValueError(f"A budget for each {per} needs the time of each row, and {what}.")
        return times.periods(per)
    if column is None:
        if asked:
            Groups(per, model.time).column([])
        return None
    return Groups(per, None).of(column.to_frame(per))


def _columns(model: TableModel, seen: _Seen, notes: list[str]) -> pd.DataFrame:
    if seen.drift is None:
        notes.append(
            "The model file is older than the drift of columns: fit it again to have it measured."
        )
        return pd.DataFrame(columns=["column", "drift", "importance", "text", "verdict"])
    table = seen.drift
    carried = column_shares(model)
    unknown = 0.0 if carried else np.nan
    table["importance"] = [carried.get(name, unknown) for name in table["column"]]
    order = table["verdict"].map({"changed": 0, "moved": 1, "stable": 2})
    table = table.assign(order=order, beyond=table["noise"] - table["drift"])
    table = table.sort_values(["order", "beyond"], kind="stable").drop(columns=["order", "beyond"])
    return table.reset_index(drop=True)


def _score(model: TableModel, seen: _Seen, notes: list[str]) -> dict[str, Any] | None:
    """Drift of the score, against the rows of the fit and rows held out then: the lesser counts."""
    references = score_references(model)
    if not references:
        notes.append(
            "The model file is older than the drift of scores: fit it again to have it measured."
        )
        return None
    counted = pd.DataFrame({"score": finite(seen.priority)})
    tables = [DriftReference(0, [one]).counter().update(counted).table() for one in references]
    found = min((table.iloc[0] for table in tables), key=lambda row: row["drift"] - row["noise"])
    return {name: found[name] for name in ("drift", "noise", "text", "verdict")}


def _listed(seen: _Seen, judged: _Judged | None) -> Bools:
    """Rows on the list; without a budget, those of the list given, or all that were checked."""
    if judged is None or judged.is_given:
        return seen.verdict >= 0 if seen.on_given is None else seen.on_given
    return on_list(seen.priority, judged.list.budget, seen.group, seen.owner)


def _given_list(seen: _Seen, listed: Bools, given: _Judged) -> ListRequest:
    """What the list that was given is: of groups or owners if its rows are those, else one list."""
    shape, one_list = given.list, ListRequest(int(listed.sum()))
    unknown = (shape.per is not None and seen.group is None) or (
        shape.one_per and seen.owner is None
    )
    if unknown or not (shape.per or shape.one_per):
        return one_list
    groups = np.zeros(seen.rows) if seen.group is None else seen.group
    most = np.unique(groups[listed], return_counts=True)[1].max(initial=0)
    counted = shape._replace(budget=int(most))
    for one in (shape, counted):
        if np.array_equal(on_list(seen.priority, one.budget, seen.group, seen.owner), listed):
            return one
    return counted if given.asked else one_list


def _estimated_precision(model: TableModel, request: ListRequest, rows: int) -> Interval | None:
    """What the fit estimates of such a list; None where it has too few rows held out for it."""
    fitted = model.estimate_
    estimate = None if fitted is None else fitted.for_list(request, model.entity)
    if estimate is None:
        return None
    budget = request.budget
    if budget_share(budget) is None and request.per not in PERIODS:
        # So many checks of more rows go less deep; those of a period are the same at any time.
        of = estimate.positive.size if estimate.time is not None else estimate.rows
        budget = max(1, round(float(budget) * of / rows))
    if estimate.listed(budget).sum() < _FEWEST_HELD_OUT:
        return None
    return estimate.list_value(budget).precision


def _checked(
    model: TableModel, seen: _Seen, listed: Bools, estimated: Interval | None, notes: list[str]
) -> ListCheck | None:
    known = seen.verdict >= 0
    if not known.any():
        return None
    unknown = seen.rows - int(known.sum())
    if unknown:
        notes.append(
            f"Only checked rows have labels: {unknown:,} of {seen.rows:,} rows have no verdict, "
            "and no figure here counts them."
        )
    rows = listed & known
    # An equally deep list of the fit's own rows had about so many hits.
    deep = float(seen.probability[rows].sum()) * model.rows_ / seen.rows
    behind = min(float(model.positives_), deep)
    return ListCheck.of(
        seen.probability[rows], seen.verdict[rows] == 1, int(listed.sum()), estimated, behind
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
    known = bool(columns["importance"].notna().all())
    share = float(changed["importance"].sum()) if known else len(changed) / len(columns)
    names = [str(name) for name in changed["column"][:_NAMED]]
    more = f", … {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
    carry = "carries" if len(changed) == 1 else "carry"
    carried = f" and {carry} {100 * share:.0f} % of the score" if known else ""
    return share >= MUCH_OF_THE_SCORE, (
        f"{len(changed):,} of {len(columns):,} columns changed{carried}: "
        f"{', '.join(names)}{more}.{also}"
    )


def _of_list(checked: ListCheck | None) -> tuple[bool, str]:
    if checked is None:
        return False, (
            "No row has a verdict, so the list's precision is not known: give them in the column "
            "of the target, name another by --verdicts, or give the checked list by --checked."
        )
    return checked.is_below, checked.sentence()


def _weeks(seen: _Seen, listed: Bools) -> pd.DataFrame | None:
    if seen.times is None or not seen.times.known.any():
        return None
    checked = listed & (seen.verdict >= 0)
    rows = pd.DataFrame(
        {
            "week": seen.times.periods("week"),
            "rows": 1,
            "probability": seen.probability,
            "listed": listed,
            "checked": checked,
            "hits": checked & (seen.verdict == 1),
            "expected": np.where(checked, seen.probability, 0.0),
        }
    )[seen.times.known]
    weeks = rows.groupby("week").sum().reset_index()
    weeks["probability"] /= weeks["rows"]
    found = [
        precision_of(int(h), int(c)) for h, c in zip(weeks["hits"], weeks["checked"], strict=True)
    ]
    weeks["week"] = period_starts(weeks["week"].to_numpy(), "week")
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
