"""Files of rules: all mistakes are reported at once, also what does not fit a table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from rarefind._core.text import without_middle
from rarefind.data.target import check_column
from rarefind.rules._parse import RuleError
from rarefind.rules._rule import Rule
from rarefind.rules.rule_set import RuleSet, logical_lines, weight_line
from rarefind.rules.syntax import Column, Compare

# Each rule of a file with a mistake is read by itself, with its constants: of larger files only the
# first mistake is reported.
_MOST_LINES = 1_000


def read_rules(path: str | Path, table: pd.DataFrame | None = None) -> RuleSet:
    """Read a file of rules, and check that they fit a table.

    Parameters
    ----------
    path : str or Path
        Text as :meth:`RuleSet.from_text` reads it, or JSON if the name ends in ``.json``.
    table : DataFrame, default=None
        Table whose columns the rules must fit.

    Returns
    -------
    RuleSet
        An error names all mistakes of the file, one a line; of a file of more than 1,000 lines the
        first.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from rarefind.rules import read_rules
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "desk.rules"
    ...     _ = path.write_text("large: amount > 220")
    ...     read_rules(path)
    RuleSet({'large': 'amount > 220'})
    """
    path = Path(path)
    text = _text_of(path)
    read = RuleSet.from_json if _is_json(path) else RuleSet.from_text
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
        mistakes = [*mistakes, *_duplicate_names(rules)] or [str(error)]
    if not rules and not mistakes:
        raise ValueError(f"{path} has no rules: write one a line, as name: rule.")
    if table is not None:
        mistakes += _misfits(rules, table)
    mistakes = list(dict.fromkeys(mistakes))
    if len(mistakes) > 1:
        raise ValueError("\n".join([f"{path} has {len(mistakes)} mistakes.", *mistakes]))
    if mistakes:
        raise ValueError(mistakes[0])
    return RuleSet(rules)


def _is_json(path: Path) -> bool:
    return path.suffix.lower() == ".json"


def _duplicate_names(rules: list[Rule]) -> list[str]:
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
        raise ValueError(f"{path} is not text in UTF-8: save it as UTF-8.") from None
    if not text.strip():
        raise ValueError(f"{path} is empty: write one rule a line, as name: rule.")
    return text


def _one_by_one(text: str, path: Path) -> list[str]:
    """The file once for each rule, with all constants and no other rule; none of a long file."""
    if text.count("\n") > _MOST_LINES:
        return []
    if _is_json(path):
        try:
            whole = json.loads(text)
            return [json.dumps({**whole, "rules": [rule]}) for rule in whole["rules"]]
        except (ValueError, KeyError, TypeError, RecursionError):
            return []
    lines = logical_lines(text)
    constants = [line for line in lines if line[1].startswith("let ")]
    weights = [line for line in lines if weight_line(line[1]) is not None]
    files = []
    for rule in lines:
        if rule in constants or rule in weights:
            continue
        name = rule[1].partition(":")[0].strip()
        own = [line for line in weights if weight_line(line[1]) == name]
        alone, at = "", 1
        for number, line in sorted([*constants, rule, *own]):
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
            mistakes.append(without_middle(f"Rule {rule.name!r}: {error}"))
    return mistakes


def _check_rule_fits(rule: Rule, table: pd.DataFrame) -> None:
    kinds = {}
    for name, used in rule.columns.items():
        check_column(table, name)
        kinds[name] = _kinds(table[name])
        is_time = used == "time" and kinds[name][0].startswith("date")
        if used is not None and used not in kinds[name] and not is_time:
            own = kinds[name][0]
            raise ValueError(f"The column {name!r} is a {own}, and a {used} is needed.")
    for node in rule._tree.walk():
        if not isinstance(node, Compare):
            continue
        left, right = node.left, node.right
        if isinstance(left, Column) and isinstance(right, Column):
            one, other = kinds[left.name], kinds[right.name]
            if not set(one) & set(other):
                raise ValueError(
                    f"The column {left.name!r} is a {one[0]} and {right.name!r} a {other[0]}: they "
                    "cannot be compared."
                )


def _kinds(column: pd.Series[Any]) -> tuple[str, ...]:
    """What a column can be used as, its own kind first; a date is of its time zone."""
    types = pd.api.types
    if column.isna().all():
        return ("number", "text", "truth", "time")
    if isinstance(column.dtype, pd.CategoricalDtype):
        return ("text",)
    if types.is_bool_dtype(column.dtype):
        return ("truth", "number")
    if types.is_numeric_dtype(column.dtype):
        return ("number", "truth") if column.dropna().isin([0, 1]).all() else ("number",)
    if types.is_datetime64_any_dtype(column.dtype):
        zone = getattr(column.dtype, "tz", None)
        return ("date",) if zone is None else (f"date in {zone}",)
    return ("text",)
