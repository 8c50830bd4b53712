"""Tables of what rules find, for a terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rarefind.cli._tables import add_row, console_of, new_table

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from rarefind.cli._learned_rules import LearnedRules
    from rarefind.rules import RuleReport

_MOST_IN_OVERLAP = 12
_WIDE = 100  # columns of a terminal with room for intervals


def print_report(report: RuleReport, retired: dict[str, str], *, timed: bool) -> None:
    console = console_of()
    console.print("What the rules find, with 95 % intervals of precision")
    console.print(_measures(report, timed, _gap(console)))
    console.print()
    if 1 < len(report.rules) <= _MOST_IN_OVERLAP:
        console.print("Share of a rule's alerts that another rule also has")
        console.print(_overlap(report))
        console.print()
    if retired:
        table = new_table("retired", "because")
        for name, why in retired.items():
            add_row(table, name, why)
        console.print(table)


def _measures(report: RuleReport, timed: bool, gap: str) -> Table:
    measures = ["recall", "false_alert_rate", "lift", *["alerts_a_day"] * timed]
    measures += ["hits_added", "hits_alone"]
    heads = [
        name.replace("_rate", "s").replace("_", "\n", 1).replace("_", " ") for name in measures
    ]
    table = new_table("rule", "alerts", "hits", "precision", *heads)
    rows: list[tuple[Any, Any]] = [*report.rules.iterrows(), ("all together", report.together)]
    for name, row in rows:
        counts = [f"{row[count]:,.0f}" for count in ("alerts", "hits")]
        others = [short(row.get(measure, math.nan)) for measure in measures]
        precision = _with_interval(row, "precision", gap)
        add_row(table, str(name), *counts, precision, *others)
    return table


def print_learned(learned: LearnedRules) -> None:
    console, measures = console_of(), learned.measures
    table = new_table("rule", "weight", "precision", "recall", "lift", "support")
    for rule, (_, row) in zip(learned.rules, measures.iterrows(), strict=True):
        precision = _with_interval(row, "precision", _gap(console))
        others = [short(row[name]) for name in ("recall", "lift", "support")]
        add_row(table, f"{rule.name}: {rule}", short(row["weight"]), precision, *others)
    on = (
        "rows that nothing was learned from"
        if learned.unseen
        else "the rows they were learned from"
    )
    console.print(f"Rules learned, measured on {on}, with 95 % intervals of precision")
    console.print(table)
    console.print()
    left_out = int((~measures["alert"]).sum())
    if left_out:
        are = "is not an alert and is" if left_out == 1 else "are not alerts and are"
        console.print(
            f"{left_out:,} of {len(measures):,} rules {are} left out: the precision is not "
            "clearly above the base rate."
        )


def _overlap(report: RuleReport) -> Table:
    numbers = [str(i) for i in range(1, len(report.overlap) + 1)]
    table = new_table("rule", *numbers)
    for number, (name, row) in zip(numbers, report.overlap.iterrows(), strict=True):
        add_row(table, f"{number} {name}", *(short(share, 2) for share in row))
    return table


def _gap(console: Console) -> str:
    """A new line before the interval in a narrow terminal."""
    return "\n" if console.width < _WIDE else " "


def _with_interval(row: pd.Series[Any], measure: str, gap: str) -> Text:
    from rich.text import Text

    if math.isnan(row[measure]):
        return Text("")
    low, high = short(row[f"{measure}_low"], 2), short(row[f"{measure}_high"], 2)
    return Text(f"{short(row[measure])}{gap}{low}–{high}")


def short(value: float, digits: int = 3) -> str:
    """A number for people; empty if it is not a number."""
    if math.isnan(value):
        return ""
    return f"{value:,.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"
