"""Reasons that speak of levels, where a model knows them by number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rarefind.rules.reasons import Condition, Reason

__all__ = ["in_levels", "short_set"]

# Levels of a set that a reason names; of more, it says how many.
_LEVELS_SHOWN = 12


def in_levels(reason: Reason, levels: Mapping[str, Sequence[Any]], row: Any) -> Reason:
    """A reason in which the codes of categories are their levels.

    Parameters
    ----------
    reason : Reason
        Of a row with codes.
    levels : mapping
        The levels of each column of categories, in the order of their codes.
    row : mapping or Series
        The row itself: a level that is new has no other name.
    """
    because = [
        _in_levels(condition, levels[condition.feature], row[condition.feature])
        if condition.feature in levels
        else condition
        for condition in reason.because
    ]
    return replace(reason, because=because)


def _in_levels(condition: Condition, levels: Sequence[Any], own: Any) -> Condition:
    name, value = condition.feature, condition.value
    if isinstance(value, str):  # missing, new or present
        return condition
    if isinstance(value, tuple):
        named = tuple(levels[int(code)] for code in value)
        text = f"{name} {_set_text(condition.op, [str(level) for level in named], str(own))}"
        return replace(condition, value=named, raw_unit_text=text)
    if value >= len(levels):
        return replace(condition, value=own, raw_unit_text=f"{name} = {own}, a new level")
    level = levels[int(value)]
    return replace(condition, value=level, raw_unit_text=f"{name} = {level}")


def _set_text(op: str, levels: list[str], own: str) -> str:
    """``in`` or ``not in`` a set of levels."""
    place, _, others = op.partition(" or ")
    others = f" or {others}" if others else ""
    if len(levels) == 1 and place == "in":
        return f"= {levels[0]}{others}"
    return f"{place} {short_set(levels, own, _LEVELS_SHOWN)}{others}"


def short_set(levels: Sequence[str], own: str, most: int) -> str:
    """A set of levels as ``{a, b}``; a long one is cut, and the row's own level stays.

    Parameters
    ----------
    levels : sequence of str
        What is in the set.
    own : str
        The level of the row.
    most : int
        Levels to name; of more, it says how many.

    Returns
    -------
    str

    Examples
    --------
    >>> short_set(["a", "b", "c", "d"], "d", 2)
    '{d, a, … 2 more}'
    """
    shown = list(levels)
    if len(levels) > most:
        shown = sorted(levels, key=lambda level: level != own)[:most]
        shown.append(f"… {len(levels) - most} more")
    return f"{{{', '.join(shown)}}}"
