"""The columns that the query of a model is written on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from rarefind.rules._sql import as_sql
from rarefind.rules.branch_nodes import coded_node, column_node, test_node
from rarefind.rules.branches import Combination, Test
from rarefind.rules.sql_values import sql_column
from rarefind.rules.sql_words import check_dialect, sql_name
from rarefind.rules.syntax import Column, Node

#: The column of DuckDB that holds what was read of a row.
READ = "rarefind_read"


@dataclass(frozen=True)
class SqlColumns:
    """The features of a model as columns of a table ``t``, or as what is read from its columns."""

    dialect: str
    #: What conditions call the features.
    names: Sequence[str]
    #: The levels of features that are texts, by the number of the feature; models speak of places.
    levels: Mapping[int, Sequence[str]] = field(default_factory=dict)
    #: How a feature is computed from a row of ``t``, by its number; None if they are columns.
    read: Callable[[int], str] | None = None
    #: Names of columns that the table is known to have.
    taken: Sequence[str] = ()
    #: Numbers of the features that the query reads.
    used: Sequence[int] = ()

    def __post_init__(self) -> None:
        check_dialect(self.dialect)

    def only(self, used: Iterable[int]) -> Self:
        """The same, and nothing is read that is not used."""
        read = sorted(set(used))
        return replace(self, used=read, read=self.read if read else None)

    def reference(self, feature: int, tail: str = "") -> str:
        """How a query names a feature; with a tail where the table has a column of our name."""
        name = sql_name(self.names[feature], self.dialect)
        if self.read is None:
            return f"t.{name}"
        return f"t.{READ}{tail}.{name}" if self.dialect == "duckdb" else f"r.{name}"

    def reading(self) -> str:
        """What is read of a row: one struct in DuckDB, elsewhere the columns of a SELECT."""
        assert self.read is not None
        named = {sql_name(self.names[j], self.dialect): self.read(j) for j in self.used}
        if self.dialect == "duckdb":
            parts = [f"{name} := {text}" for name, text in named.items()]
            return "struct_pack(\n    " + ",\n    ".join(parts) + ")"
        # So that PostgreSQL reads a value once, and not at each place that uses it.
        end = "\n  OFFSET 0" if self.dialect == "postgresql" else ""
        return ",\n    ".join(f"{text} AS {name}" for name, text in named.items()) + end

    def node(self, feature: int, test: Test, combinations: Sequence[Combination]) -> Node:
        """What a test asks of a feature, or of a sum of them."""
        if feature in self.levels:
            return coded_node(Column(self.names[feature]), self.levels[feature], test)
        return test_node(column_node(feature, self.names, combinations), test)

    def condition(self, node: Node, tail: str = "") -> str:
        """A condition on the features."""
        place = {name: j for j, name in enumerate(self.names)}
        kinds = {name: _kind(j, self.levels) for name, j in place.items()}

        def column(name: str) -> str:
            reference = self.reference(place[name], tail)
            if self.read is not None:
                return reference
            return sql_column(reference, kinds[name], self.dialect)

        return as_sql(node, kinds, self.dialect, column)

    def query(self, score: str, rows: str, output: str) -> str:
        """A query of all columns of a table, which is in quotes, and an expression as one more."""
        priority = sql_name(output, self.dialect)
        if self.read is None:
            return f"SELECT t.*,\n  {score}\n  AS {priority}\nFROM {rows} AS t"
        if self.dialect == "duckdb":
            read = f"SELECT t.*, {self.reading()} AS {READ}\n  FROM {rows} AS t"
            scored = f"SELECT t.* EXCLUDE ({READ}),\n  {score}\n  AS {priority}"
            return f"{scored}\nFROM (\n  {read}\n) AS t"
        return f"SELECT t.*, ({self.over_row(score)}) AS {priority}\nFROM {rows} AS t"

    def over_row(self, score: str) -> str:
        """An expression of the features as one of the row ``t``, where it is not so already."""
        if self.read is None or self.dialect == "duckdb":
            return score
        return f"\n  SELECT {score}\n  FROM (SELECT\n    {self.reading()}) AS r\n"

    def check_output(self, output: str) -> None:
        """Raise where the table has a column with the name of the scores."""
        if output.casefold() in {name.casefold() for name in [*self.names, *self.taken]}:
            raise ValueError(f"The table has a column {output!r} already: give another as output.")


def own_columns(estimator: Any, names: Sequence[str], dialect: str) -> SqlColumns:
    """The features of a fitted estimator as columns of a table, where they are its columns."""
    if getattr(estimator, "_is_encoded", False):
        raise ValueError(
            "This model was fitted on columns that TableModel had encoded, which no table has: "
            "write its query by TableModel.to_sql."
        )
    levels: dict[int, Sequence[str]] = {}
    for name, known in getattr(estimator, "categories_", {}).items():
        if not all(isinstance(level, str) for level in known):
            raise ValueError(
                f"The categories of column {name!r} are not all texts, so that no query can name "
                "them: fit on texts."
            )
        levels[names.index(name)] = known
    return SqlColumns(dialect, names, levels, _without_nan(dialect, names, levels))


def _without_nan(
    dialect: str, names: Sequence[str], levels: Mapping[int, Any]
) -> Callable[[int], str] | None:
    """How columns are read where NaN is a value, larger than all others: as NULL."""
    if dialect not in ("duckdb", "postgresql"):
        return None

    def read(j: int) -> str:
        return sql_column(f"t.{sql_name(names[j], dialect)}", _kind(j, levels), dialect)

    return read


def _kind(feature: int, levels: Mapping[int, Any]) -> str:
    return "text" if feature in levels else "number"
