"""The column to be found: that it is there, has two labels, and which of them is positive."""

from __future__ import annotations

import warnings
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd

from rarefind._core.types import Label
from rarefind.data.types import FALSE_WORDS, TRUE_WORDS

_SHOWN = 5


def check_target(table: pd.DataFrame, target: str, positive: Label = None) -> Label:
    """Check that a column can be the target, and give its positive label.

    Parameters
    ----------
    table : DataFrame
        The rows.
    target : str
        Name of the column with the labels: two of them, none missing.
    positive : label, default=None
        The label to be found. As text it may be written as in the file: ``"yes"`` finds True, and
        ``"1"`` finds 1. By default the rarer one, the greater when both are equally frequent.

    Returns
    -------
    label
        As it stands in the column.

    Examples
    --------
    >>> import pandas as pd
    >>> from rarefind.data import check_target
    >>> table = pd.DataFrame({"amount": [1, 2, 3], "fraud": ["no", "no", "yes"]})
    >>> check_target(table, "fraud")
    'yes'
    """
    check_column(table, target)
    column = table[target]
    missing = int(column.isna().sum())
    if missing:
        raise ValueError(
            f"Target column {target!r} has no label in {missing} of {len(column)} rows: "
            "fill them in or leave those rows out."
        )
    counts = column.value_counts()
    labels = [_plain(label) for label in counts.index]
    if len(labels) != 2:
        raise ValueError(
            f"Target column {target!r} holds {_values(labels)}, where two labels are needed: "
            "choose another column, or make it yes or no."
        )
    if any(isinstance(label, str) for label in labels) and not all(
        isinstance(label, str) for label in labels
    ):
        raise ValueError(
            f"Target column {target!r} mixes text and other labels, {_values(labels)}: "
            "write both as text."
        )
    if positive is not None:
        return _find(labels, positive, target)
    first, second = counts.to_numpy()[:2]
    return max(labels, key=_order) if first == second else labels[1]


def labelled_rows(table: pd.DataFrame, target: str, *, drop: bool = True) -> pd.DataFrame:
    """The rows that have a label, with labels that differ in case and spaces made one.

    Parameters
    ----------
    table : DataFrame
        The rows.
    target : str
        Name of the column with the labels.
    drop : bool, default=True
        Leave rows without a label out, with a warning that says how many; else they are an error.

    Returns
    -------
    DataFrame
        Its index is that of the table.
    """
    check_column(table, target)
    known = table[target].notna()
    missing = int((~known).sum())
    if missing and not drop:
        raise ValueError(
            f"Target column {target!r} has no label in {missing:,} of {len(table):,} rows: fill "
            "them in, or leave those rows out by --unlabelled drop."
        )
    if missing:
        warnings.warn(
            f"{missing:,} of {len(table):,} rows have no label in {target!r} and are left out "
            "(--unlabelled error refuses them).",
            stacklevel=2,
        )
        types = table.attrs
        table = table[known]
        table.attrs = types
        # Whole numbers beside missing ones were read with fractions.
        if pd.api.types.is_float_dtype(table[target]) and (table[target] % 1 == 0).all():
            table = table.assign(**{target: table[target].astype("int64")})
        elif pd.api.types.is_bool_dtype(table[target]):
            table = table.assign(**{target: table[target].astype(bool)})
    return _with_one_spelling(table, target)


def _with_one_spelling(table: pd.DataFrame, target: str) -> pd.DataFrame:
    """Labels such as "Oui" and "OUI" as the one that is more frequent."""
    counts = table[target].value_counts()
    if not all(isinstance(label, str) for label in counts.index):
        return table
    usual: dict[str, str] = {}
    for label in counts.index:  # the most frequent first
        usual.setdefault(" ".join(label.split()).casefold(), label)
    if len(usual) == len(counts):
        return table
    own = {label: usual[" ".join(label.split()).casefold()] for label in counts.index}
    others = [f"{label!r} as {kept!r}" for label, kept in own.items() if label != kept]
    warnings.warn(f"Labels of {target!r} are read as one: {', '.join(others)}.", stacklevel=2)
    return table.assign(**{target: table[target].map(own)})


def check_column(table: pd.DataFrame, target: str) -> None:
    """Raise if the target is not a column, and name columns with similar names."""
    names = [str(name) for name in table.columns]
    if target in names:
        return
    close = get_close_matches(str(target), names, n=3)
    hint = (
        f"did you mean {' or '.join(map(repr, close))}?"
        if close
        else f"the columns are {', '.join(names[:10])}{', ...' if len(names) > 10 else ''}."
    )
    raise ValueError(f"There is no column {target!r}: {hint}")


def _find(labels: list[Label], positive: Label, target: str) -> Label:
    for same in (_identical, _same_text):
        found = [label for label in labels if same(label, positive)]
        if len(found) == 1:
            return found[0]
    raise ValueError(
        f"Target column {target!r} has no label {positive!r}: "
        f"its labels are {labels[0]!r} and {labels[1]!r}."
    )


def same_label(label: Label, value: Label) -> bool:
    """Whether a value means a label, though it was read with another type: True, 1, yes or "1"."""
    if _identical(label, value) or _same_text(label, value):
        return True
    return isinstance(label, str) and _same_text(value, label)


def _identical(label: Label, positive: Label) -> bool:
    return bool(label == positive)


def _same_text(label: Label, positive: Label) -> bool:
    word = str(positive).strip().lower()
    if isinstance(label, bool):
        return word in (TRUE_WORDS if label else FALSE_WORDS)
    if isinstance(label, (int, float)):
        try:
            return float(word) == label
        except ValueError:
            return False
    return str(label).lower() == word


def _values(labels: list[Label]) -> str:
    shown = ", ".join(repr(label) for label in labels[:_SHOWN])
    count = "1 value" if len(labels) == 1 else f"{len(labels)} values"
    return f"{count} ({shown}{', ...' if len(labels) > _SHOWN else ''})"


def _plain(label: Any) -> Label:
    return label.item() if isinstance(label, np.generic) else label


def _order(label: Label) -> tuple[str, Label]:
    # Labels of different types have no order of their own.
    return ("number", label) if isinstance(label, (bool, int, float)) else ("text", str(label))
