"""The list that comes back: rows that people checked, with their verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rarefind._core.types import Array, Bools, Floats, Ints, Label, Table
from rarefind.data.frames import as_frame
from rarefind.data.target import check_column, same_label
from rarefind.data.types import FALSE_WORDS, MISSING_WORDS, TRUE_WORDS
from rarefind.tables.cells import original_cells

if TYPE_CHECKING:
    from rarefind.tables._model import TableModel

Verdicts = NDArray[np.int8]

_YES = (*TRUE_WORDS, "1", "y", "oui", "vrai", "ja", "wahr", "si", "sí", "sì", "sim")
_NO = (*FALSE_WORDS, "0", "n", "non", "faux", "nein", "falsch", "nee", "não")
# Columns of a list that are ours, and so not the one with the verdicts.
_OURS = ("rank", "row", "priority", "probability", "reason")


class CheckedList(NamedTuple):
    """Rows of a list, and the verdict on each: 1 for a positive, 0 for a negative, -1 for none."""

    name: Array  # of each row: its identifier as text, or its number
    is_identified: bool  # whether names are identifiers; else rows are known by their position
    position: Ints | None  # among the rows of the file, from 0; None where it is not known
    verdict: Verdicts


class MatchedList(NamedTuple):
    """What a list says of the rows of a file."""

    verdict: Verdicts
    listed: Bools
    notes: list[str]


def read_checked(model: TableModel, table: Table, column: str | None = None) -> CheckedList:
    """Read a list with verdicts.

    Parameters
    ----------
    model : TableModel
        Fitted.
    table : pandas or polars frame, or Arrow table
        A list as :meth:`TableModel.rank <rarefind.TableModel.rank>` gives it, with a column for the
        verdicts. Rows are known by their identifier, or where the model has none by the index.
    column : str, default=None
        The column with the verdicts; by default the target's, else one called verdict, else the
        only one that is not of the list itself.
    """
    frame = original_cells(as_frame(table))
    known = model.id is not None and model.id in frame.columns
    if model.id is not None and not known:
        raise ValueError(
            f"The list has no column {model.id!r}, which identifies the rows: give the list as "
            "`rarefind rank` wrote it."
        )
    if known:
        names = _names(frame[model.id])
    else:
        numbers = frame["row"] if "row" in frame.columns else frame.index
        names = np.array([f"row {number}" for number in numbers], dtype=object)
    is_counted = pd.api.types.is_integer_dtype(frame.index)
    return CheckedList(
        names,
        known,
        frame.index.to_numpy(dtype=np.int64) if is_counted else None,
        _verdicts(model, frame[_verdict_column(model, frame, column)], names),
    )


def match_list(checked: CheckedList, identifier: Any, priority: Floats) -> MatchedList:
    """Find the rows of a list in a file, whose identifiers and priorities are given."""
    rows = priority.size
    notes: list[str] = []
    names = checked.name
    if not checked.is_identified:
        place = np.full(names.size, -1) if checked.position is None else checked.position
        place = np.where((place >= 0) & (place < rows), place, -1)
    else:
        if identifier is None:
            raise ValueError("The file has no column with the identifiers of the list.")
        place, several = _places(checked, _names(identifier), priority)
        if several:
            notes.append(
                f"{_count(len(several), 'identifier')} of the list {_verb(len(several))} found on "
                f"more than one row of the file (first: {several[0]}): the verdict is taken for "
                "the row that ranks highest."
            )
    notes += _unknown(checked, place, names)
    verdict, listed = np.full(rows, -1, dtype=np.int8), np.zeros(rows, dtype=bool)
    listed[place[place >= 0]] = True
    twice = 0
    for at in np.flatnonzero((checked.verdict >= 0) & (place >= 0)).tolist():
        before, own = verdict[place[at]], checked.verdict[at]
        if before >= 0 and before != own:
            raise ValueError(
                f"The list has two verdicts on {names[at]}, a positive and a negative one: keep "
                "one of them."
            )
        twice += int(before >= 0)
        verdict[place[at]] = own
    if twice:
        notes.append(
            f"{_count(twice, 'row')} of the list {_verb(twice)} there again with the same verdict, "
            "which is counted once."
        )
    return MatchedList(verdict, listed, notes)


def _places(checked: CheckedList, identifier: Array, priority: Floats) -> tuple[Ints, list[str]]:
    """The row of the file that each row of the list is, -1 for none, and names of several rows."""
    names = checked.name
    # The row that ranks highest of those with an identifier; of equal ones the first.
    order = np.argsort(-priority, kind="stable")
    first = pd.Series(order, index=identifier[order])
    repeated = set(identifier[pd.Series(identifier).duplicated().to_numpy()].tolist())
    first = first[~first.index.duplicated()]
    place = np.array(first.reindex(names).fillna(-1), dtype=np.int64)
    # A spreadsheet turns 00123 into 123.
    lost = np.flatnonzero(place < 0)
    if lost.size:
        short = pd.Series(first.to_numpy(), index=[_without_zeros(name) for name in first.index])
        short = short[~short.index.duplicated(keep=False)]
        again = short.reindex([_without_zeros(name) for name in names[lost]])
        place[lost] = again.fillna(-1).to_numpy(dtype=np.int64)
    several = []
    for at, name in enumerate(names.tolist()):
        if name in repeated:
            own = None if checked.position is None else int(checked.position[at])
            if own is not None and 0 <= own < identifier.size and identifier[own] == name:
                place[at] = own
            else:
                several.append(name)
    return place, list(dict.fromkeys(several))


def _unknown(checked: CheckedList, place: Ints, names: Array) -> list[str]:
    """What is said of rows of the list that the file does not have."""
    unknown = np.flatnonzero(place < 0)
    if not unknown.size:
        return []
    if unknown.size == place.size:
        raise ValueError(
            f"None of the {_count(place.size, 'row')} of the list is in the file (first: "
            f"{names[unknown[0]]}): give the file that the list was made from."
        )
    count = unknown.size
    return [
        f"{_count(count, 'row')} of the list {_verb(count)} not in the file (first: "
        f"{names[unknown[0]]}), and {_verb(count)} not counted."
    ]


def _verdict_column(model: TableModel, frame: pd.DataFrame, column: str | None) -> str:
    if column is not None:
        check_column(frame, column)
        return column
    names = [str(name) for name in frame.columns]
    for wanted in (model.target, "verdict"):
        same = [name for name in names if name.strip().casefold() == wanted.casefold()]
        if len(same) == 1:
            return same[0]
    roles = (model.id, model.entity, model.time, model.amount)
    ours = {*_OURS, *roles, *model.encoder_.columns_}
    others = [name for name in names if name not in ours and frame[name].notna().any()]
    found = [name for name in others if _may_be_verdicts(model, frame[name])]
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(
            f"The list has several columns that may hold the verdicts, {', '.join(found)}: name "
            "one by --verdicts."
        )
    raise ValueError(
        "The list has no column with verdicts: add one called verdict, or name it by --verdicts."
    )


def _may_be_verdicts(model: TableModel, column: pd.Series[Any]) -> bool:
    return all(_code(model, value) is not None for value in column.unique())


def _verdicts(model: TableModel, column: pd.Series[Any], names: Array) -> Verdicts:
    """The verdict of each row; a word that is none is an error that names its row."""
    codes, values = pd.factorize(column)
    found = [_code(model, value) for value in values]
    if None in found:
        wrong = found.index(None)
        raise ValueError(
            f"The list has the verdict {_plain(values[wrong])!r} on "
            f"{names[(codes == wrong).argmax()]}: write {_labels(model)}yes or no, or nothing "
            "where the row was not checked."
        )
    return np.array([*found, -1], dtype=np.int8)[codes]


def _code(model: TableModel, value: Any) -> int | None:
    """1 or 0 for a label or a word, -1 for nothing, None for anything else."""
    value = _plain(value)
    if pd.isna(value) or str(value).strip() in MISSING_WORDS:
        return -1
    for code, label in ((1, model.positive_), (0, _negative(model))):
        if same_label(label, value):
            return code
    word = _text(value).casefold()
    return 1 if word in _YES else 0 if word in _NO else None


def _labels(model: TableModel) -> str:
    is_yes_or_no = isinstance(model.positive_, bool | np.bool_)
    return "" if is_yes_or_no else f"{model.positive_} or {_negative(model)}, or "


def _negative(model: TableModel) -> Label:
    labels: list[Label] = model.classes_.tolist()
    return next(label for label in labels if label != model.positive_)


def _names(column: pd.Series[Any]) -> Array:
    """Identifiers as text; 2090.0, which a missing value beside it makes of 2090, is 2090."""
    return np.array([_text(value) for value in column], dtype=object)


def _text(value: Any) -> str:
    value = _plain(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if pd.isna(value) else str(value).strip()


def _without_zeros(name: str) -> str:
    return (name.lstrip("0") or "0") if name.isdigit() else name


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _verb(count: int) -> str:
    return "is" if count == 1 else "are"
