"""One rule: text that is checked when it is written, and run on records, tables and databases."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl

from rarefind._core.types import Bools, Table
from rarefind.rules._kinds import kinds_of, with_constants
from rarefind.rules._parse import RuleError, parse
from rarefind.rules._record import Run, as_function
from rarefind.rules._sql import as_sql
from rarefind.rules._table import as_expression
from rarefind.rules._table_values import as_columns, check_pairs
from rarefind.rules.syntax import Column


class Rule:
    """A condition on the columns of a row, as an expert writes it or a model learns it.

    The language has numbers, texts in quotes, ``true`` and ``false``; columns, in backquotes if
    their names are not plain words; ``+ - * /`` and ``coalesce(number, other)``, the other where
    the number is missing; ``= != < <= > >=``; ``in (...)`` and ``not in (...)``; ``is missing`` and
    ``is not missing``; ``in list('name')`` for a list that is given beside the rule;
    ``lower(text)``, ``upper(text)``, which turn the letters of ASCII only, ``length(text)`` in
    characters, ``starts_with(text, part)``, ``ends_with(text, part)``, ``contains(text, part)``;
    ``hour(time)``, ``weekday(time)`` from 1 for Monday to 7, ``day(time)`` of the month,
    ``month(time)``, all by the clock of the time's own zone, and ``minutes_between(time, later)``;
    ``and``, ``or``, ``not`` and parentheses. As in SQL, what is compared with a
    missing value is unknown, and a rule fires only where it is known to hold. Numbers are doubles;
    NaN, and what is divided by 0, is missing. A truth is true, false, 1 or 0.

    Parameters
    ----------
    text : str
        The rule.
    name : str, default=None
        Its name; by default its text.
    columns : dict of str, default=None
        What the columns of the table contain: ``"number"``, ``"text"``, ``"truth"`` or
        ``"time"``. A column that is not there, or has something else, is an error at once. Without
        it, what a column contains is inferred from how the rule uses it.
    constants : dict, default=None
        Values of names that are not columns; the rule keeps those that it names.
    lists : dict, default=None
        Numbers or texts by the name of their list, for ``in list('name')``; a list can be empty.
    weight : float, default=None
        What the rule adds to the priority of a row where it fires, for queries.

    Attributes
    ----------
    text : str
        The rule as it is written by us, which reads as the same rule.
    columns : dict
        The columns it needs, and what they contain.
    lists : dict of tuple
        The lists it names.
    run : callable
        The rule as a function of one record: True, False, or None where it is unknown. It is what
        :meth:`fires` calls; a record that it cannot be run on raises whatever Python raises.

    Examples
    --------
    >>> from rarefind.rules import Rule
    >>> text = "amount > limit * card_mean and country not in ('FR', 'BE')"
    >>> rule = Rule(text, constants={"limit": 5})
    >>> rule.fires({"amount": 900, "card_mean": 40, "country": "US"})
    True
    >>> rule.fires({"amount": 900, "card_mean": None, "country": "US"})
    False
    >>> rule.fires_on({"amount": [900, 90], "card_mean": [40, 40], "country": ["US", "US"]})
    array([ True, False])
    >>> print(Rule("amount > 5 and country = 'FR'").to_sql("duckdb"))
    ((NULLIF(CAST("amount" AS DOUBLE), CAST('nan' AS DOUBLE)) > 5.0e0) AND ("country" = 'FR'))
    """

    def __init__(
        self,
        text: str,
        *,
        name: str | None = None,
        columns: Mapping[str, str] | None = None,
        constants: Mapping[str, Any] | None = None,
        lists: Mapping[str, Iterable[Any]] | None = None,
        weight: float | None = None,
    ) -> None:
        if weight is not None and not math.isfinite(weight):
            raise RuleError(f"A weight is a number, not {weight!r}.")
        tree = parse(text)
        self.text = str(tree)
        self.name = self.text if name is None else str(name)
        # Its own only: all those of a file, in each of its rules, would be far too many.
        named = dict.fromkeys(node.name for node in tree.walk() if isinstance(node, Column))
        given = constants or {}
        self.constants = {name: given[name] for name in named if name in given}
        self.weight = None if weight is None else float(weight)
        self._tree, used = with_constants(tree, self.constants, lists or {})
        self.lists = {key: tuple(node.value for node in values) for key, values in used.items()}
        self.columns: dict[str, str | None] = kinds_of(self._tree, columns)
        self.run: Run = as_function(self._tree, self.columns)

    def fires(self, record: Mapping[str, Any]) -> bool:
        """Whether the rule holds for one record; None and NaN are missing values."""
        try:
            return self.run(record) is True
        except KeyError as error:
            raise RuleError(f"The record has no column {error.args[0]!r}.") from None
        except (TypeError, ValueError, ArithmeticError) as error:
            raise RuleError(str(error)) from None

    def fires_on(self, table: Table) -> Bools:
        """Whether the rule holds for each row of a table."""
        return which_fire([self], table)[:, 0]

    def to_polars(self) -> pl.Expr:
        """The rule as a Polars expression; null where it is unknown."""
        return as_expression(self._tree, self.columns)

    def to_sql(self, dialect: str = "ansi") -> str:
        """The rule as a condition for WHERE.

        Parameters
        ----------
        dialect : {"ansi", "sqlite", "duckdb", "postgresql", "mysql"}, default="ansi"
            Whose SQL. MySQL compares texts as its collation says.
        """
        return as_sql(self._tree, self.columns, dialect)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rule) and self._tree == other._tree

    def __hash__(self) -> int:
        return hash(self._tree)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Rule({self.text!r})"


def which_fire(rules: list[Rule], table: Table) -> Bools:
    """Which rules hold for which rows, of shape (rows, rules)."""
    needed: dict[str, set[str | None]] = {}
    for rule in rules:
        for name, kind in rule.columns.items():
            needed.setdefault(name, set()).add(kind)
    rows = as_columns(table, needed)
    for rule in rules:
        check_pairs(rule._tree, rule.columns, rows.schema)
    if not rules:
        return np.zeros((rows.height, 0), dtype=bool)
    found = rows.select(
        rule.to_polars().fill_null(False).alias(str(number)) for number, rule in enumerate(rules)
    )
    if found.height != rows.height:  # rules without columns
        return np.repeat(found.to_numpy(), rows.height, axis=0)
    return np.asarray(found.to_numpy(), dtype=bool)
