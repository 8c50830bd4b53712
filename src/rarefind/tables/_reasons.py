"""Reasons in the words of a table: conditions on encoded columns as conditions on its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd

from rarefind._core.text import is_number
from rarefind.data import TableEncoder
from rarefind.data.columns import LevelCodesPlan
from rarefind.rules import Condition, Reason
from rarefind.rules.levels import short_set

# Levels of a set that a reason names; of more, it says how many.
_LEVELS_SHOWN = 5


class Words(NamedTuple):
    """What is known of the columns, and of the positives that a row may be like."""

    encoder: TableEncoder
    known_rows: dict[int, int]  # the place of each known positive among them, by its row
    known_values: dict[str, list[str]]  # what they hold, by column

    def of(self, reason: Reason, row: pd.Series[Any], encoded: pd.Series[float]) -> list[Condition]:
        """Conditions on encoded columns as conditions on the table's own, each once."""
        names = list(encoded.index)
        spoken: dict[str, Condition] = {}
        for condition in reason.because:
            index = names.index(condition.feature)
            own = float(encoded.iloc[index])
            plan = self.encoder.level_codes(index)
            if plan is not None:
                found = self._levelled(condition, index, plan, own, row)
            elif condition.op == "≈":
                found = self._alike(condition, index, own, row, reason)
            elif self.encoder.is_flag(index):
                found = self._flagged(condition, index, own)
            else:
                found = self._bounded(condition, index)
            name = found.feature
            if name not in spoken:
                spoken[name] = found
                continue
            weight = spoken[name].weight + condition.weight
            both = _joined(spoken[name], found)
            spoken[name] = replace(both, weight=weight)
        return [condition for condition in spoken.values() if condition.raw_unit_text]

    def _alike(
        self, condition: Condition, index: int, own: float, row: pd.Series[Any], reason: Reason
    ) -> Condition:
        """What a row shares with the positives it is like; without a text where it is nothing."""
        column, known = self.encoder.describe(index, condition.value)
        text = self._likeness(
            column, row[column], self.encoder.describe(index, own)[1], known, reason
        )
        return replace(condition, feature=column, value=known, raw_unit_text=text)

    def _flagged(self, condition: Condition, index: int, own: float) -> Condition:
        """Which level a row has, or has not."""
        column, text = self.encoder.describe(index, own)
        if text.startswith("not "):
            other = text.removeprefix("not ")
            return replace(
                condition,
                feature=column,
                op="not in",
                value=(other,),
                raw_unit_text=f"{column} not {other}",
            )
        return replace(
            condition, feature=column, op="=", value=text, raw_unit_text=f"{column} = {text}"
        )

    def _levelled(
        self,
        condition: Condition,
        index: int,
        plan: LevelCodesPlan,
        own: float,
        row: pd.Series[Any],
    ) -> Condition:
        """Which levels a row has one of, or none of, where a number stands for a level."""
        if condition.value in ("missing", "present"):
            return self._bounded(condition, index)
        column, op = plan.column, condition.op
        codes = condition.value if isinstance(condition.value, tuple) else (condition.value,)
        levels = tuple(plan.describe(0, float(code)) for code in codes)
        if op == "not in" and codes == (len(plan.levels),):
            op, levels = "=", ("a frequent value",)
        if op == "not in" or len(levels) > 1:
            text = f"{column} {_set_text(op, levels, plan.describe(0, own))}"
            return replace(condition, feature=column, value=levels, raw_unit_text=text)
        level, new = levels[0], ""
        if own >= len(plan.levels):
            level = self.encoder.describe_value(column, row[column])
            new = ", a rare or new level" if plan.has_other else ", a new level"
        text = f"{column} = {level}{new}"
        return replace(condition, feature=column, op="=", value=level, raw_unit_text=text)

    def _bounded(self, condition: Condition, index: int) -> Condition:
        """A number, date or frequency between bounds."""
        if condition.value in ("missing", "present"):
            column = self.encoder.describe(index, 0.0)[0]
            return replace(
                condition, feature=column, raw_unit_text=f"{column} is {condition.value}"
            )
        whole = condition.value if condition.op == "between" else (condition.value,)
        texts = tuple(self.encoder.describe(index, float(value))[1] for value in whole)
        name = _spoken_name(self.encoder, index)
        if condition.op == "between":
            text = f"{texts[0]} < {name} <= {texts[1]}"
            return replace(condition, feature=name, value=texts, raw_unit_text=text)
        text = f"{name} {condition.op} {texts[0]}"
        return replace(condition, feature=name, value=texts[0], raw_unit_text=text)

    def _likeness(self, column: str, value: Any, own: str, known: str, reason: Reason) -> str:
        """What a row shares with the positives it is like in a column; empty where it is nothing.

        Of levels and missing values only a value they share is worth a word: not that both are
        not some third level, or that a missing value was filled with a number near theirs.
        """
        if pd.isna(value) or own.startswith("not ") or known.startswith("not "):
            own = self.encoder.describe_value(column, value)
            places = [self.known_rows[s.row] for s in reason.similar if s.row in self.known_rows]
            texts = self.known_values.get(column, [])
            held = {texts[i] for i in places if texts}
            return f"{column} {own}" if own in held else ""
        if own == known:
            return f"{column} {own}"
        return f"{column} {own} ≈ {known}" if is_number(own) and is_number(known) else ""


def _set_text(op: str, levels: tuple[str, ...], own: str) -> str:
    """``in`` or ``not in`` a set of levels."""
    if len(levels) == 1:
        return f"{op.removesuffix(' in')} {levels[0]}"
    return f"{op} {short_set(levels, own, _LEVELS_SHOWN)}"


def _joined(first: Condition, second: Condition) -> Condition:
    """Two conditions on one column as one: the level it has says more than levels it has not."""
    if first.op == "not in" and second.op == "not in":
        others = (*first.value, *second.value)
        text = f"{first.feature} not in {{{', '.join(others)}}}"
        return replace(first, value=others, raw_unit_text=text)
    return second if first.op == "not in" or not first.raw_unit_text else first


def _spoken_name(encoder: TableEncoder, index: int) -> str:
    """The column, or where an output is one of several parts of it, that part."""
    name, column = encoder.get_feature_names_out()[index], encoder.original_columns_[index]
    return column if name.endswith(": days") else str(name)
