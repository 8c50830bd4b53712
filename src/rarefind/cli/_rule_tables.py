"""Tables of what rules find, for a terminal."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table

    from rarefind.model import TableModel
    from rarefind.rules import RuleReport

_MOST_IN_OVERLAP = 12
_WIDE, _PIPED = 100, 120  # columns of a terminal with room for intervals; of what is piped


def print_report(report: RuleReport, retired: dict[str, str], *, timed: bool) -> None:
    console = _console()
    console.print("What the rules find, with 95 % intervals of precision")
    console.print(_measures(report, timed, _gap(console)))
    console.print()
    if 1 < len(report.rules) <= _MOST_IN_OVERLAP:
        console.print("Share of a rule's alerts that another has, too")
        console.print(_overlap(report))
        console.print()
    if retired:
        table = _new_table("retired", "because")
        for name, why in retired.items():
            _add_row(table, name, why)
        console.print(table)


def _measures(report: RuleReport, timed: bool, gap: str) -> Table:
    measures = ["recall", "false_alert_rate", "lift", *["alerts_a_day"] * timed]
    measures += ["hits_added", "hits_alone"]
    heads = [
        name.replace("_rate", "s").replace("_", "\n", 1).replace("_", " ") for name in measures
    ]
    table = _new_table("rule", "alerts", "hits", "precision", *heads)
    rows: list[tuple[Any, Any]] = [*report.rules.iterrows(), ("all together", report.together)]
    for name, row in rows:
        counts = [f"{row[count]:,.0f}" for count in ("alerts", "hits")]
        others = [_short(row.get(measure, math.nan)) for measure in measures]
        precision = _with_interval(row, "precision", gap)
        _add_row(table, str(name), *counts, precision, *others)
    return table


def print_learned(model: TableModel) -> None:
    console, conditions = _console(), model.conditions()
    table = _new_table("rule", "weight", "precision", "recall", "lift", "support")
    for rule, (_, row) in zip(model.rules(), conditions.iterrows(), strict=True):
        precision = _with_interval(row, "precision", _gap(console))
        others = [_short(row[name]) for name in ("recall", "lift", "support")]
        _add_row(table, f"{rule.name}: {rule}", _short(row["weight"]), precision, *others)
    unmeasured = conditions["precision"].isna().all()
    on = "" if unmeasured else ", measured on rows that nothing was learned from"
    console.print(f"What was learned{on}")
    console.print(table)
    console.print()
    if (conditions["weight"] < 0).any():
        console.print("Rules with a weight below 0 lower a score: alone they are no alerts.")


def _overlap(report: RuleReport) -> Table:
    numbers = [str(i) for i in range(1, len(report.overlap) + 1)]
    table = _new_table("rule", *numbers)
    for number, (name, row) in zip(numbers, report.overlap.iterrows(), strict=True):
        _add_row(table, f"{number} {name}", *(_short(share, 2) for share in row))
    return table


def _console() -> Console:
    """Where tables go; what is piped has no terminal to fit into."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else _PIPED, highlight=False)


def _gap(console: Console) -> str:
    """What stands between a measure and its interval."""
    return "\n" if console.width < _WIDE else " "


def _new_table(first: str, *others: str) -> Table:
    """A table that fits a narrow terminal: names are folded, numbers are not."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column(first, overflow="fold")
    for name in others:
        if name == "because":
            table.add_column(name, overflow="fold")
        else:
            table.add_column(name, justify="right", no_wrap=True)
    return table


def _add_row(table: Table, *cells: str) -> None:
    """Add texts as they are: brackets in a name are no markup."""
    from rich.text import Text

    table.add_row(*map(Text, cells))


def _with_interval(row: pd.Series[Any], measure: str, gap: str) -> str:
    if math.isnan(row[measure]):
        return ""
    low, high = _short(row[f"{measure}_low"], 2), _short(row[f"{measure}_high"], 2)
    return f"{_short(row[measure])}{gap}{low}–{high}"


def _short(value: float, digits: int = 3) -> str:
    """A number for people; nothing where there is none."""
    if math.isnan(value):
        return ""
    return f"{value:,.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"
