"""The query of a table model: from the columns of a table to what its estimator was given."""

from __future__ import annotations

from typing import Any

from rarefind.data import TableEncoder
from rarefind.data.columns import (
    BooleanPlan,
    DatePlan,
    LevelCodesPlan,
    LevelsPlan,
    Plan,
    Spread,
)
from rarefind.rules.sql_columns import SqlColumns
from rarefind.rules.sql_words import sql_number, sql_table, sql_text
from rarefind.tables._sql_reading import Reader


def table_query(
    encoder: TableEncoder, estimator: Any, dialect: str, table: str, output: str
) -> str:
    """A query of all columns of a table, or of schema.table, and the priority of each row."""
    if not hasattr(estimator, "to_sql"):
        raise ValueError(
            f"{type(estimator).__name__} cannot be written as SQL: fit the table with MetaAP, "
            "TreeRank or a ConditionClassifier."
        )
    columns = encoded_columns(encoder, dialect)
    columns.check_output(output)
    return str(estimator._query(columns, sql_table(table, dialect), output))


def encoded_columns(encoder: TableEncoder, dialect: str) -> SqlColumns:
    """The outputs of an encoder, each computed from the column that it comes from."""
    outputs = [(plan, part) for plan in encoder.plans_ for part in range(len(plan.names))]
    levels = {
        j: plan.levels for j, (plan, _) in enumerate(outputs) if isinstance(plan, LevelCodesPlan)
    }

    def read(j: int) -> str:
        plan, part = outputs[j]
        return _Outputs(plan, Reader(plan.column, dialect)).sql(part)

    names = [plan.names[part] for plan, part in outputs]
    return SqlColumns(dialect, names, levels, read, list(encoder.columns_))


def is_plain(encoder: TableEncoder) -> bool:
    """Whether the estimator was given the columns of the table as they are: numbers."""
    return all(
        plan.kind == "number"
        and getattr(plan, "written", None) is None
        and plan.names == [plan.column]
        and getattr(plan, "spread", Spread()).is_none
        for plan in encoder.plans_
    )


class _Outputs:
    """The outputs of one column in SQL."""

    def __init__(self, plan: Plan, read: Reader) -> None:
        self.plan, self.read = plan, read
        self.one, self.zero = (sql_number(value, read.dialect) for value in (1.0, 0.0))

    def sql(self, part: int) -> str:
        plan, read = self.plan, self.read
        if isinstance(plan, LevelCodesPlan):
            return read.level()
        if isinstance(plan, LevelsPlan):
            return self._of_levels(plan, part)
        if isinstance(plan, DatePlan):
            if part == len(plan.parts):
                return self._mark(read.date_part("days", plan.origin, plan.written, plan.zone))
            name, spread = list(plan.parts.items())[part]
            return self._scaled(read.date_part(name, plan.origin, plan.written, plan.zone), spread)
        is_truth = isinstance(plan, BooleanPlan)
        value = (read.truth if is_truth else read.number)(plan.written)
        return self._mark(value) if part else self._scaled(value, plan.spread)

    def _of_levels(self, plan: LevelsPlan, part: int) -> str:
        level, unit = self.read.level(), sql_number(plan.unit, self.read.dialect)
        name = plan.names[part].removeprefix(f"{plan.column}: ")
        if part < len(plan.levels):
            holds = f"{level} = {self._text(plan.levels[part])}"
        elif name == "other":
            holds = f"{level} NOT IN ({', '.join(map(self._text, plan.levels))})"
        elif name == "missing" or plan.frequency is None:
            holds = f"{level} IS NULL"
        else:
            return self._scaled(self._frequency(plan, level), plan.frequency)
        return f"CASE WHEN {holds} THEN {unit} ELSE {self.zero} END"

    def _frequency(self, plan: LevelsPlan, level: str) -> str:
        def share(count: int) -> str:
            return sql_number(count / plan.rows, self.read.dialect)

        known = " ".join(
            f"WHEN {self._text(name)} THEN {share(n)}" for name, n in plan.counts.items()
        )
        missing = f"CASE WHEN {level} IS NULL THEN {share(plan.missing_rows)} ELSE {self.zero} END"
        return f"CASE {level} {known} ELSE {missing} END" if known else missing

    def _text(self, level: str) -> str:
        return sql_text(level, self.read.dialect)

    def _mark(self, value: str) -> str:
        return f"CASE WHEN {value} IS NULL THEN {self.one} ELSE {self.zero} END"

    def _scaled(self, value: str, spread: Spread) -> str:
        dialect = self.read.dialect
        if spread.fill is not None:
            value = f"COALESCE({value}, {sql_number(spread.fill, dialect)})"
        if spread.scale == 0:
            return f"CASE WHEN {value} IS NOT NULL THEN {self.zero} END"
        if spread.shift == 0 and spread.scale == 1:
            return value
        shift, scale = (sql_number(by, dialect) for by in (spread.shift, spread.scale))
        return f"(({value} - {shift}) / {scale})"
