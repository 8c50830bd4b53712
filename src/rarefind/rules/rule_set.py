"""Rules together: written in one file, measured on the same rows, and retired when they fail."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from rarefind._core.labels import choose_positive
from rarefind._core.text import visible
from rarefind._core.types import ArrayLike, Bools, Ints, Label, Table
from rarefind.data.clock import read_times
from rarefind.metrics.intervals import share_interval
from rarefind.rules._kinds import check_constants
from rarefind.rules._parse import RuleError, parse
from rarefind.rules._rule import Rule, which_fire
from rarefind.rules.sql_words import check_dialect, sql_name, sql_number, sql_table
from rarefind.rules.syntax import IsIn, Number, Text

# No rule can be written so: it has a colon behind its name. A name may have signs as n >= 2 has.
_WEIGHT = re.compile(r"weight\s+(?P<name>[^:]+)=[^:=]*")
_JOIN = ",\n  "

#: A set has no more rules.
MOST_RULES = 10_000


@dataclass(frozen=True)
class RuleReport:
    """What rules are worth on some rows."""

    #: One row a rule: alerts, hits, precision with its interval, recall, false_alert_rate, lift,
    #: alerts_a_day, hits_alone (that no other rule has) and hits_added (that no rule before has).
    rules: pd.DataFrame
    #: Share of the alerts of the rule of the row that the rule of the column has, too.
    overlap: pd.DataFrame
    #: The same measures for rows on which at least one rule fires.
    together: pd.Series

    def __str__(self) -> str:
        shown = self.rules.drop(columns="text")
        return shown.to_string(float_format=lambda value: f"{value:.3g}")


class RuleSet:
    """A list of rules with names of their own.

    Parameters
    ----------
    rules : iterable of Rule, or dict of str
        The rules, or their texts by name.
    columns, constants, lists
        For texts, as in :class:`Rule`.
    weights : dict of float, default=None
        For texts, the weights of rules by name.

    Examples
    --------
    >>> from rarefind.rules import RuleSet
    >>> rules = RuleSet({"large": "amount > 100", "abroad": "country != 'FR'"})
    >>> table = {"amount": [500, 20, 300, 10], "country": ["FR", "US", "US", "FR"]}
    >>> report = rules.measure(table, [1, 0, 1, 0])
    >>> report.rules[["alerts", "precision", "recall", "hits_alone"]]
            alerts  precision  recall  hits_alone
    large      2.0        1.0     1.0         1.0
    abroad     2.0        0.5     0.5         0.0
    >>> kept, retired = rules.retire(report, min_precision=0.6)
    >>> retired
    {'abroad': 'precision 0.5 is below 0.6'}
    """

    def __init__(
        self,
        rules: Iterable[Rule] | Mapping[str, str],
        *,
        columns: Mapping[str, str] | None = None,
        constants: Mapping[str, Any] | None = None,
        lists: Mapping[str, Iterable[Any]] | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        if isinstance(rules, Mapping):
            check_constants(constants or {})
            known = dict(weights or {})
            for name in known.keys() - rules.keys():
                raise RuleError(f"There is a weight of {name!r}, and no rule of that name.")
            rules = [
                _make_rule(name, text, columns, constants, lists, known.get(name))
                for name, text in rules.items()
            ]
        self.rules = list(rules)
        names = [rule.name for rule in self.rules]
        if len(names) > MOST_RULES:
            raise RuleError(f"There are {len(names):,} rules; at most {MOST_RULES:,} are taken.")
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise RuleError(f"Two rules are called {twice[0]!r}.")

    @classmethod
    def from_text(
        cls,
        text: str,
        *,
        columns: Mapping[str, str] | None = None,
        lists: Mapping[str, Iterable[Any]] | None = None,
    ) -> Self:
        """Read rules from the text of a file.

        A line is ``name: rule``, ``weight name = number`` for what a rule adds to the priority,
        ``let name = value`` for a constant, or ``let name = (value, ...)`` for a list; a line that
        begins with a space goes on with the one before, and one that begins with ``#`` is a remark.
        ``lists`` are those that are not in the file.
        """
        constants: dict[str, Any] = {}
        known: dict[str, Iterable[Any]] = dict(lists or {})
        weights: dict[str, float] = {}
        found: dict[str, str] = {}
        for number, line in logical_lines(text):
            if line.startswith("let "):
                name, sign, value = line[4:].partition("=")
                if value.strip().startswith("("):
                    known[name.strip()] = _list_of(value.strip(), number)
                else:
                    constants[name.strip()] = _constant(value.strip(), number)
                if not sign or not name.strip():
                    raise RuleError(f"Line {number} is not a constant: write let name = value.")
                continue
            weighted = weight_line(line)
            if weighted is not None:
                weights[weighted] = _weight(line, number)
                continue
            named = _name_of(line)
            if named is None:
                raise RuleError(f"Line {number} is not a rule: write name: rule.")
            if named in found:
                raise RuleError(f"Two rules are called {named!r}.")
            found[named] = line.partition(":")[2].strip()
        return cls(found, columns=columns, constants=constants, lists=known, weights=weights)

    def to_text(self) -> str:
        """The rules as :meth:`from_text` reads them."""
        constants = {name: value for rule in self.rules for name, value in rule.constants.items()}
        lines = [f"let {name} = {_constant_text(value)}" for name, value in constants.items()]
        lines += [_list_line(name, values) for name, values in self._lists().items()]
        for rule in self.rules:
            alone = f"{rule.name}: {rule.text}"
            if logical_lines(alone) != [(1, alone)] or _name_of(alone) != rule.name:
                raise RuleError(
                    f"The rule {rule.name!r} cannot stand in a file of text: its name or a text in "
                    "it would be read otherwise. Write JSON, or give it another name."
                )
            lines.append(alone)
            if rule.weight is not None:
                lines.append(f"weight {rule.name} = {rule.weight!r}")
        return "\n".join(lines) + "\n"

    @classmethod
    def from_json(
        cls,
        text: str,
        *,
        columns: Mapping[str, str] | None = None,
        lists: Mapping[str, Iterable[Any]] | None = None,
    ) -> Self:
        """Read rules from what :meth:`to_json` wrote; ``lists`` are those that are not in it."""
        try:
            whole = json.loads(text)
            rules = {str(rule["name"]): str(rule["rule"]) for rule in whole["rules"]}
            if not all(isinstance(rule["name"], str) for rule in whole["rules"]):
                raise TypeError("a name is not a text")
            weights = {
                str(rule["name"]): float(rule["weight"])
                for rule in whole["rules"]
                if rule.get("weight") is not None
            }
            constants = dict(whole.get("constants", {}))
            known = {**(lists or {}), **whole.get("lists", {})}
        except RecursionError:
            raise RuleError("This is nested too deeply to be a file of rules.") from None
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise RuleError(f"This is not a file of rules ({error}).") from None
        if len(rules) != len(whole["rules"]):
            raise RuleError("Two rules have the same name.")
        return cls(rules, columns=columns, constants=constants, lists=known, weights=weights)

    def to_json(self) -> str:
        """The rules as JSON."""
        constants = {name: value for rule in self.rules for name, value in rule.constants.items()}
        rules = [
            {"name": rule.name, "rule": rule.text}
            | ({} if rule.weight is None else {"weight": rule.weight})
            for rule in self.rules
        ]
        lists = self._lists()
        whole = {"constants": constants} | ({"lists": lists} if lists else {}) | {"rules": rules}
        return json.dumps(whole, ensure_ascii=False, indent=2)

    def _lists(self) -> dict[str, tuple[float | str, ...]]:
        """The lists that the rules name."""
        return {name: values for rule in self.rules for name, values in rule.lists.items()}

    def to_sql(
        self,
        dialect: str = "ansi",
        table: str | None = None,
        *,
        keys: Sequence[str] | None = None,
        output: str = "priority",
    ) -> str:
        """The rules as SQL.

        Parameters
        ----------
        dialect : {"ansi", "sqlite", "duckdb", "postgresql", "mysql"}, default="ansi"
            The database.
        table : str, default=None
            Table (or schema.table) to query: the query has a column a rule, 1 where it fires, after
            those of the table, and the sum of the weights of the rules that fire, where they have
            weights. By default one condition a rule, with its name in a comment above.
        keys : sequence of str, default=None
            Columns of the table to keep, such as the identifier; all by default.
        output : str, default="priority"
            Name of the column with the sum of weights.

        Returns
        -------
        str
        """
        check_dialect(dialect)
        conditions = [rule.to_sql(dialect) for rule in self.rules]
        if table is None:
            # A name of two lines would end the comment.
            named = zip(self.rules, conditions, strict=True)
            return "".join(f"-- {visible(' '.join(r.name.split()))}\n{sql}\n" for r, sql in named)
        self._check_names(keys, output)
        columns = ["t.*"] if keys is None else [f"t.{sql_name(key, dialect)}" for key in keys]
        columns += [
            f"CASE WHEN {sql} THEN 1 ELSE 0 END AS {sql_name(rule.name, dialect)}"
            for rule, sql in zip(self.rules, conditions, strict=True)
        ]
        if any(rule.weight is not None for rule in self.rules):
            columns.append(
                f"{self._sum_of_weights(conditions, dialect)} AS {sql_name(output, dialect)}"
            )
        return f"SELECT\n  {_JOIN.join(columns)}\nFROM {sql_table(table, dialect)} AS t;\n"

    def _sum_of_weights(self, conditions: list[str], dialect: str) -> str:
        zero = sql_number(0.0, dialect)
        return "\n    + ".join(
            f"CASE WHEN {sql} THEN {sql_number(rule.weight, dialect)} ELSE {zero} END"
            for rule, sql in zip(self.rules, conditions, strict=True)
            if rule.weight is not None
        )

    def _check_names(self, keys: Sequence[str] | None, output: str) -> None:
        """Raise where two columns of a query would have one name."""
        known = keys if keys is not None else [name for rule in self.rules for name in rule.columns]
        taken = {name.casefold() for name in known}
        names = [rule.name for rule in self.rules]
        names += [output] if any(rule.weight is not None for rule in self.rules) else []
        for name in names:
            if name.casefold() in taken:
                raise ValueError(
                    f"The query would have two columns {name!r}: give the rule another name, or "
                    "name the columns to keep."
                )
            taken.add(name.casefold())

    def fires(self, record: Mapping[str, Any]) -> list[str]:
        """The names of the rules that hold for one record."""
        return [rule.name for rule in self.rules if rule.fires(record)]

    def fires_on(self, table: Table) -> Bools:
        """Which rules hold for which rows, of shape (rows, rules)."""
        return which_fire(self.rules, table)

    def measure(
        self, table: Table, y: ArrayLike, *, time: ArrayLike | None = None, pos_label: Label = None
    ) -> RuleReport:
        """What each rule finds, at what price, and what it adds to the others.

        Parameters
        ----------
        table : DataFrame, Arrow table or dict of columns
            The rows.
        y : array-like of shape (n,)
            Their labels.
        time : array-like of shape (n,), default=None
            When they came; then alerts are counted a day.
        pos_label : label, default=None
            The positive label, by default the rarer one.

        Returns
        -------
        RuleReport
        """
        alerts = self.fires_on(table)
        labels = np.asarray(y)
        if len(labels) != len(alerts):
            raise RuleError(f"{len(labels)} labels were given for {len(alerts)} rows.")
        positive = _positives(labels, pos_label)
        days = _days(time, len(alerts))
        names = [rule.name for rule in self.rules]
        number = alerts.sum(axis=1)
        before: Ints = np.cumsum(alerts, axis=1) - alerts
        rows = []
        for j, rule in enumerate(self.rules):
            own = alerts[:, j] & positive
            rows.append(
                {
                    "text": rule.text,
                    **_worth(alerts[:, j], positive, days),
                    "hits_alone": float((own & (number == 1)).sum()),
                    "hits_added": float((own & (before[:, j] == 0)).sum()),
                }
            )
        shared = alerts.T.astype(float) @ alerts
        with np.errstate(invalid="ignore", divide="ignore"):
            overlap = shared / np.diag(shared)[:, None]
        return RuleReport(
            pd.DataFrame(rows, index=names),
            pd.DataFrame(overlap, index=names, columns=names),
            pd.Series(_worth(number > 0, positive, days)),
        )

    def retire(self, report: RuleReport, **limits: float) -> tuple[RuleSet, dict[str, str]]:
        """Retire the rules that fail a limit.

        Parameters
        ----------
        report : RuleReport
            What :meth:`measure` found.
        **limits
            ``min_`` or ``max_`` and a measure of the report: ``min_precision=0.05``,
            ``max_false_alert_rate=0.01``, ``max_alerts_a_day=50``, ``min_hits_alone=1``.

        Returns
        -------
        kept : RuleSet
            The rules that stay.
        retired : dict of str
            Why each of the others goes.
        """
        retired: dict[str, str] = {}
        for limit, bound in limits.items():
            side, _, measure = limit.partition("_")
            if side not in ("min", "max") or measure not in report.rules.columns[1:]:
                raise RuleError(f"{limit!r} is not a limit: write min_ or max_ and a measure.")
            for name, value in report.rules[measure].items():
                fails = value < bound if side == "min" else value > bound
                if fails:  # what is not a number fails nothing
                    word = "below" if side == "min" else "above"
                    retired.setdefault(str(name), f"{measure} {value:.3g} is {word} {bound:g}")
        return RuleSet([rule for rule in self.rules if rule.name not in retired]), retired

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __getitem__(self, name: str) -> Rule:
        for rule in self.rules:
            if rule.name == name:
                return rule
        raise KeyError(name)

    def __repr__(self) -> str:
        return f"RuleSet({{{', '.join(f'{r.name!r}: {r.text!r}' for r in self.rules)}}})"


def _make_rule(
    name: str,
    text: str,
    columns: Mapping[str, str] | None,
    constants: Mapping[str, Any] | None,
    lists: Mapping[str, Iterable[Any]] | None,
    weight: float | None,
) -> Rule:
    try:
        return Rule(
            text, name=name, columns=columns, constants=constants, lists=lists, weight=weight
        )
    except RuleError as error:
        raise RuleError(f"Rule {name!r}: {error}") from None


def logical_lines(text: str) -> list[tuple[int, str]]:
    """Lines with those that go on with them, and the number of the first."""
    found: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if line[0] in " \t" and found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        else:
            found.append((number, line.strip()))
    return found


def weight_line(line: str) -> str | None:
    """The name of the rule whose weight a line gives; None where it is another line."""
    found = _WEIGHT.fullmatch(line)
    return None if found is None else found["name"].strip()


def _weight(line: str, number: int) -> float:
    try:
        return float(line.rpartition("=")[2])
    except ValueError:
        raise RuleError(f"Line {number} is not a weight: write weight name = number.") from None


def _name_of(line: str) -> str | None:
    """The name of the rule of a line; None where it is not a rule."""
    if line.startswith("let "):
        return None
    name, sign, _ = line.partition(":")
    return name.strip() if sign and name.strip() else None


def _constant(text: str, line: int) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1].replace(2 * text[0], text[0])
    try:
        return float(text)
    except ValueError:
        raise RuleError(
            f"Line {line}: {text!r} is not a number, a text in quotes, true or false."
        ) from None


def _list_of(text: str, line: int) -> tuple[float | str, ...]:
    if not text[1:-1].strip() and text.endswith(")"):
        return ()
    try:
        node = parse(f"x in {text}")
    except RuleError:
        node = None
    if not isinstance(node, IsIn):
        raise RuleError(
            f"Line {line}: {text!r:.60} is not a list of numbers or of texts in quotes; one that "
            "is too long for a line is given beside the file, or in JSON."
        )
    return tuple(value.value for value in node.values)


def _list_line(name: str, values: tuple[float | str, ...]) -> str:
    """A list as a line of a file, if it is read there as the same."""
    nodes = [Text(value) if isinstance(value, str) else Number(value) for value in values]
    text = f"({', '.join(map(str, nodes))})"
    line = f"let {name} = {text}"
    plain = logical_lines(line) == [(1, line)] and name == name.partition("=")[0].strip()
    try:
        same = plain and _list_of(text, 1) == values
    except RuleError:
        same = False
    if not same:
        raise RuleError(f"The list {name!r} cannot stand in a file of text: write JSON.")
    return line


def _constant_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def _positives(labels: Any, pos_label: Label) -> Bools:
    classes, counts = np.unique(labels, return_counts=True)
    if classes.size > 2:
        raise RuleError(f"Rules are measured on two classes, but y has {classes.size}.")
    if classes.size == 1:
        return np.full(len(labels), bool(classes[0] == pos_label))
    return np.asarray(labels == choose_positive(classes, counts, pos_label))


def _days(time: ArrayLike | None, n: int) -> float:
    """How many days the rows span, from the first to the last that has one."""
    if time is None:
        return np.nan
    column = pd.Series(time, name="time").reset_index(drop=True)
    if len(column) != n:
        raise RuleError(f"{len(column)} times were given for {n} rows.")
    times = read_times(column, allow_missing=True)
    days = times.periods("day")[times.known]
    return float(days.max() - days.min() + 1) if days.size else np.nan


def _worth(alert: Bools, positive: Bools, days: float) -> dict[str, float]:
    alerts, hits = float(alert.sum()), float((alert & positive).sum())
    total, negatives = float(positive.sum()), float((~positive).sum())
    low, high = share_interval(hits, alerts)
    precision = hits / alerts if alerts else np.nan
    return {
        "alerts": alerts,
        "hits": hits,
        "precision": precision,
        "precision_low": low,
        "precision_high": high,
        "recall": hits / total if total else np.nan,
        "false_alert_rate": (alerts - hits) / negatives if negatives else np.nan,
        "lift": precision / (total / len(positive)) if total else np.nan,
        "alerts_a_day": alerts / days,
    }
