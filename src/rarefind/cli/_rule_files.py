"""Files of rules: read with all mistakes told at once, checked against a table, written whole."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rarefind._core.files import atomic_write

if TYPE_CHECKING:
    import pandas as pd

    from rarefind.rules import Rule, RuleSet


def read_rules(path: Path, table: pd.DataFrame | None = None) -> RuleSet:
    """The rules of a file, which fit a table; all that is wrong is told at once."""
    text = _text_of(path)  # first, so that a wrong name is told at once
    from rarefind.rules import RuleError, RuleSet

    read = RuleSet.from_json if path.suffix.lower() == ".json" else RuleSet.from_text
    rules: list[Rule] = []
    mistakes: list[str] = []
    try:
        rules += read(text)
    except RuleError as error:
        for alone in _one_by_one(text, path):
            try:
                rules += read(alone)
            except RuleError as own:
                mistakes.append(str(own))
        mistakes = [*mistakes, *_twice(rules)] or [str(error)]
    if not rules and not mistakes:
        raise ValueError(f"{path} holds no rules: write one a line, as name: rule.")
    if table is not None:
        mistakes += _misfits(rules, table)
    mistakes = list(dict.fromkeys(mistakes))
    if len(mistakes) > 1:
        raise ValueError("\n".join([f"{path} has {len(mistakes)} mistakes.", *mistakes]))
    if mistakes:
        raise ValueError(mistakes[0])
    return RuleSet(rules)


def _twice(rules: list[Rule]) -> list[str]:
    """Names that two rules have; each is told once."""
    names = Counter(rule.name for rule in rules)
    return [f"Two rules are called {name!r}." for name, count in names.items() if count > 1]


def _text_of(path: Path) -> str:
    if path.is_dir():
        raise ValueError(f"{path} is a folder: name one file inside it.")
    if not path.exists():
        raise ValueError(f"There is no file {path}: check the name and the folder.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text in UTF-8: save it as such.") from None
    if not text.strip():
        raise ValueError(f"{path} is empty: write one rule a line, as name: rule.")
    return text


def _one_by_one(text: str, path: Path) -> list[str]:
    """The file once for each rule, with all constants and no other rule."""
    from rarefind.rules.rule_set import logical_lines

    if path.suffix.lower() == ".json":
        try:
            whole = json.loads(text)
            return [json.dumps({**whole, "rules": [rule]}) for rule in whole["rules"]]
        except (ValueError, KeyError, TypeError, RecursionError):
            return []
    lines = logical_lines(text)
    constants = [line for line in lines if line[1].startswith("let ")]
    files = []
    for rule in lines:
        if rule in constants:
            continue
        alone, at = "", 1
        for number, line in sorted([*constants, rule]):
            alone += "\n" * (number - at) + line  # empty lines keep its number
            at = number
        files.append(alone)
    return files


def _misfits(rules: Iterable[Rule], table: pd.DataFrame) -> list[str]:
    """What each rule needs of a table that it does not have."""
    mistakes = []
    for rule in rules:
        try:
            _check_rule_fits(rule, table)
        except ValueError as error:
            mistakes.append(f"Rule {rule.name!r}: {error}")
    return mistakes


def _check_rule_fits(rule: Rule, table: pd.DataFrame) -> None:
    from rarefind.data.target import check_column
    from rarefind.rules.syntax import Column, Compare

    kinds = {}
    for name, used in rule.columns.items():
        check_column(table, name)
        kinds[name] = _kinds(table[name])
        if used is not None and used not in kinds[name]:
            held = kinds[name][0]
            raise ValueError(f"The column {name!r} holds a {held}, and a {used} is needed.")
    for node in rule._tree.walk():
        if not isinstance(node, Compare):
            continue
        left, right = node.left, node.right
        if isinstance(left, Column) and isinstance(right, Column):
            one, other = kinds[left.name], kinds[right.name]
            if not set(one) & set(other):
                raise ValueError(
                    f"The column {left.name!r} holds a {one[0]} and {right.name!r} a {other[0]}, "
                    "which cannot be compared."
                )


def _kinds(column: pd.Series[Any]) -> tuple[str, ...]:
    """What a column can be used as, its own kind first; a date is none of the kinds of rules."""
    import pandas as pd

    types = pd.api.types
    if column.isna().all():
        return ("number", "text", "truth")
    if isinstance(column.dtype, pd.CategoricalDtype):
        return ("text",)
    if types.is_bool_dtype(column.dtype):
        return ("truth", "number")
    if types.is_integer_dtype(column.dtype):
        return ("number", "truth") if column.isin([0, 1]).all() else ("number",)
    if types.is_numeric_dtype(column.dtype):
        return ("number",)
    if types.is_datetime64_any_dtype(column.dtype):
        zone = getattr(column.dtype, "tz", None)
        return ("date",) if zone is None else (f"date in {zone}",)
    return ("text",)


def limit_of(text: str) -> tuple[str, float]:
    name, _, bound = text.partition("=")
    try:
        value = float(bound)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is no limit: write one as min_precision=0.05.")
    return name.strip(), value


def check_output(path: Path | None) -> None:
    """Refuse a file that could not be written, before any work is done."""
    if path is None:
        return
    if path.is_dir():
        raise ValueError(f"{path} is a folder: name a file inside it.")
    if not path.parent.is_dir():
        raise ValueError(f"There is no folder {path.parent} to write {path.name} to.")


def write_text(text: str, path: Path) -> None:
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8")


def as_sql(rules: RuleSet, dialect: str, table: str | None) -> str:
    from rarefind.rules.sql_words import check_dialect, sql_name

    check_dialect(dialect)
    conditions = [(rule.name, rule.to_sql(dialect)) for rule in rules]
    if table is None:
        # A name of two lines would end the remark.
        return "".join(f"-- {' '.join(name.split())}\n{sql}\n" for name, sql in conditions)
    if not all(table.split(".")):
        raise ValueError(f"{table!r} is no table: write its name, or schema.table.")
    columns = ",\n".join(
        f"  CASE WHEN {sql} THEN 1 ELSE 0 END AS {sql_name(name, dialect)}"
        for name, sql in conditions
    )
    source = ".".join(sql_name(part, dialect) for part in table.split("."))
    return f"SELECT\n{columns}\nFROM {source};\n"
