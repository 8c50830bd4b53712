"""Learning the plan of a column from its training rows."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from pandas.tseries.api import guess_datetime_format

from rarefind._core.types import Floats
from rarefind.data import decode
from rarefind.data._dates import fits, is_ambiguous
from rarefind.data.columns import (
    BooleanPlan,
    DatePlan,
    LevelCodesPlan,
    LevelsPlan,
    NumberPlan,
    Plan,
    Spread,
    date_parts,
)
from rarefind.data.types import Text, infer_type

# Levels whose frequency is kept; of names seen once nothing is kept, they are often persons.
_MAX_COUNTS = 10_000
# Values by which a format is guessed.
_SAMPLE = 30


class UninformativeError(Exception):
    """A column without information; the message says why."""


@dataclass(frozen=True)
class EncoderSettings:
    """What the encoder was asked for."""

    fill: bool
    scale: bool
    max_levels: int
    codes: bool = False


def learn(column: pd.Series[Any], settings: EncoderSettings) -> Plan:
    """The plan of a column, or `UninformativeError`."""
    kind, written = kind_and_form(column)
    if kind == "number":
        return _number(column, settings, written)
    if kind == "boolean":
        return _boolean(column, settings, written)
    if kind == "date":
        return _date(column, settings, written)
    return _levels(column, settings)


def kind_and_form(column: pd.Series[Any]) -> tuple[str, str | None]:
    """What a column contains, and its format where it is text; or `UninformativeError`."""
    if column.isna().all():
        raise UninformativeError("all missing")
    kind = decode.kind_of(column)
    if kind == "text" and not isinstance(column.dtype, pd.CategoricalDtype):
        return _kind_of_text(decode.texts(column))
    return kind, None


def _kind_of_text(text: Text) -> tuple[str, str | None]:
    """What a column of text contains, and its format; plain text has none."""
    found = infer_type(text)
    if found == "missing":
        raise UninformativeError("all missing")
    if found == "text":
        form = _spelled_date_format(text.to_pandas().dropna())
        found = f"date:{form}" if form else "text"
    kind = {"integer": "number", "number,": "number"}.get(found, found.partition(":")[0])
    return kind, None if kind == "text" else found


def _spelled_date_format(known: pd.Series[Any]) -> str | None:
    """Formats beyond those of files, such as "3 March 2026", as pandas guesses them."""
    if not re.search(r"\d{4}", str(known.iloc[0])):
        return None
    form = _guess_format(known.sample(min(_SAMPLE, len(known)), random_state=0))
    complete = form and "%Y" in form and "%d" in form and re.search("%[mbB]", form)
    if not form or not complete or not fits(known, form) or is_ambiguous(known, form):
        return None
    return form


def _guess_format(sample: pd.Series[Any]) -> str | None:
    """The one format that all values are written in."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for day_first in (False, True):
            forms = {guess_datetime_format(value, dayfirst=day_first) for value in sample}
            if len(forms) == 1:
                form = forms.pop()
                if isinstance(form, str):  # else pandas makes nothing of them
                    return form
    return None


def _number(column: pd.Series[Any], settings: EncoderSettings, written: str | None) -> NumberPlan:
    values = decode.numbers(column, written)
    marks_missing = _has_missing(values)
    return NumberPlan(
        str(column.name), _spread(values, settings), settings.fill and marks_missing, written
    )


def _boolean(column: pd.Series[Any], settings: EncoderSettings, written: str | None) -> BooleanPlan:
    values = decode.booleans(column, written)
    marks_missing = _has_missing(values)
    frequent = float(np.nanmean(values) > 0.5)
    spread = Spread(fill=frequent if settings.fill else None)
    return BooleanPlan(str(column.name), spread, settings.fill and marks_missing, written)


def _date(column: pd.Series[Any], settings: EncoderSettings, written: str | None) -> DatePlan:
    zone = decode.time_zone(column)
    times = decode.dates(column, written, zone)
    origin = str(times[~np.isnat(times)].min().astype("datetime64[D]"))
    parts = date_parts(times, origin)
    marks_missing = _has_missing(parts["days"])
    timed = bool(np.nanmax(parts["days"] % 1) > 0)
    # A part with one value, such as the month of a table of one month, says nothing.
    kept = {
        part: _spread(values, settings)
        for part, values in parts.items()
        if np.nanmin(values) < np.nanmax(values)
    } or {"days": _spread(parts["days"], settings)}
    return DatePlan(
        str(column.name), kept, settings.fill and marks_missing, origin, timed, written, zone
    )


def _levels(column: pd.Series[Any], settings: EncoderSettings) -> LevelsPlan | LevelCodesPlan:
    text = decode.texts(column)
    counts = Counter(level for level in text.to_pylist() if level is not None)
    if len(counts) + bool(text.null_count) < 2:
        raise UninformativeError("one value" if counts else "all missing")
    if settings.codes:
        return _level_codes(str(column.name), counts, settings.max_levels)
    plan = LevelsPlan(
        column=str(column.name),
        levels=sorted(counts),
        unit=float(np.sqrt(0.5)) if settings.scale else 1.0,
        has_other=False,
        marks_missing=text.null_count > 0,
        rows=len(text),
    )
    return (
        plan if len(counts) <= settings.max_levels else _many_levels(plan, counts, text, settings)
    )


def _many_levels(
    plan: LevelsPlan, counts: Counter[str], text: Text, settings: EncoderSettings
) -> LevelsPlan:
    """The frequent levels by name, the others together, and how frequent each is."""
    repeated = _repeated_levels(counts)[:_MAX_COUNTS]
    plan = replace(
        plan,
        levels=sorted(repeated[: settings.max_levels]),
        has_other=True,
        counts={level: counts[level] for level in repeated},
        missing_rows=int(text.null_count),
    )
    return replace(plan, frequency=_spread(plan.shares(text), replace(settings, fill=False)))


def _level_codes(column: str, counts: Counter[str], max_levels: int) -> LevelCodesPlan:
    """A number for each level, or for each frequent one."""
    if len(counts) <= max_levels:
        return LevelCodesPlan(column, sorted(counts), has_other=False)
    return LevelCodesPlan(column, sorted(_repeated_levels(counts)[:max_levels]), has_other=True)


def _repeated_levels(counts: Counter[str]) -> list[str]:
    """The levels that are there more than once, the most frequent first."""
    repeated = [level for level, n in counts.items() if n > 1]
    if not repeated:
        raise UninformativeError("different in every row")
    return sorted(repeated, key=lambda level: (-counts[level], level))


def _has_missing(values: Floats) -> bool:
    """Whether values are missing; raises where all are, or where there is only one value."""
    missing = np.isnan(values)
    if missing.all():
        raise UninformativeError("all missing")
    if not missing.any() and values.min() == values.max():
        raise UninformativeError("one value")
    return bool(missing.any())


def _spread(values: Floats, settings: EncoderSettings) -> Spread:
    known = values[~np.isnan(values)]
    fill = _median(known) if settings.fill else None
    if not settings.scale:
        return Spread(fill)
    # In units of the largest value, so that squares of very large numbers do not overflow.
    largest = float(np.abs(known).max()) or 1.0
    shift = float((known / largest).mean()) * largest
    scale = 0.0 if known.min() == known.max() else float((known / largest).std()) * largest
    return Spread(fill, shift, scale)


def _median(known: Floats) -> float:
    middle = np.sort(known)[[(len(known) - 1) // 2, len(known) // 2]]
    return float(middle[0] / 2 + middle[1] / 2)
