"""Reasons that speak of levels, where a model knows them by number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rarefind.rules.reasons import Condition, Reason

__all__ = ["in_levels"]

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
    """``in`` or ``not in`` a set of levels; a long one is cut, and the row's own level stays."""
    place, _, others = op.partition(" or ")
    others = f" or {others}" if others else ""
    if len(levels) == 1 and place == "in":
        return f"= {levels[0]}{others}"
    shown = levels
    if len(levels) > _LEVELS_SHOWN:
        shown = sorted(levels, key=lambda level: level != own)[:_LEVELS_SHOWN]
        shown.append(f"… {len(levels) - _LEVELS_SHOWN} more")
    return f"{place} {{{', '.join(shown)}}}{others}"
