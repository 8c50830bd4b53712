"""What ``rarefind fit`` prints for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rarefind.cli._tables import add_row, console_of, new_table

if TYPE_CHECKING:
    from rarefind.cli._fit import Learned
    from rarefind.data import TableProfile
    from rarefind.metrics import Interval
    from rarefind.tables import BudgetEstimate, ListValue, TableModel


def label_of(model: TableModel) -> str:
    """What positives are called: ``Fraude = Oui``."""
    known = getattr(model, "positive_", model.positive)
    return f"{model.target} = {known}"


def print_fitted(
    name: str,
    learned: Learned,
    profile: TableProfile,
    output: Path,
    *,
    verbose: bool,
) -> None:
    """Profile, what the budget finds with the model of this name, and what to do next."""
    console, (model, estimate, why_not) = console_of(), learned
    for line in profile.lines():
        console.print(line, markup=False)
    console.print()
    if estimate is None:
        console.print(
            f"There is no estimate of what the budget finds; the model itself has learned. "
            f"{why_not}",
            markup=False,
        )
        console.print()
    else:
        _print_estimate(name, model, estimate)
    board = getattr(model.estimator_, "leaderboard_", None)
    if verbose and board is not None:
        console.print(board.to_string(index=False), markup=False)
    console.print(
        f"The model is in {output}. Rank a file with: rarefind rank {output} FILE -o list.csv",
        markup=False,
        soft_wrap=True,
    )


def _print_estimate(name: str, model: TableModel, estimate: BudgetEstimate) -> None:
    console, found = console_of(), estimate.list_value()
    console.print(estimate.how, markup=False)
    each = "" if estimate.per is None else f", {estimate.budget} each {estimate.per}"
    each += "" if estimate.one_per is None else f", one of each {estimate.one_per}"
    each += "," if each else ""
    heads = ["hits", "of all positives", *(["amount"] if found.amount else [])]
    table = new_table("list by", *heads)
    add_row(table, _label(name, model), *measures(found))
    empty = [""] * (len(heads) - 1)
    rivals = "not done in time" if found.plain_hits is None else f"{found.plain_hits:,.1f}"
    add_row(table, "a plain XGBoost", rivals, *empty)
    add_row(table, "random order", f"{found.random_hits:,.1f}", *empty)
    console.print(
        f"What {found.checks:,.0f} checks{each} of {found.rows:,.0f} rows find, with 95 % "
        "intervals:",
        markup=False,
    )
    console.print(table)
    console.print()
    console.print(verdict(found), markup=False)
    for note in estimate.notes(found, label_of(model)):
        console.print(note, markup=False)


def verdict(found: ListValue) -> str:
    """Whether the list is better than a random one, and than that of a plain XGBoost."""
    if found.hits.low <= found.random_hits:
        return "This list may be no better than a random one: do not rely on it."
    ahead = found.plain_ahead
    if ahead is None:
        return "This list is clearly better than a random one."
    if ahead.low > 0:
        return f"That is {ahead.value:,.1f} hits more than a plain XGBoost finds, beyond noise."
    if ahead.high < 0:
        return f"A plain XGBoost finds {-ahead.value:,.1f} more, beyond noise: try other models."
    return "The difference from a plain XGBoost is within noise."


def measures(found: ListValue) -> list[str]:
    """Hits, share of all positives and amount, with their intervals."""
    share = found.share_found
    percent = f"{100 * share.value:.0f} % ({100 * share.low:.0f}–{100 * share.high:.0f})"
    money = [] if found.amount is None else [_spread(found.amount, 0)]
    return [_spread(found.hits, 1), percent, *money]


def _spread(interval: Interval, digits: int) -> str:
    return f"{interval.value:,.{digits}f} ({interval.low:,.{digits}f}–{interval.high:,.{digits}f})"


def _label(name: str, model: TableModel) -> str:
    best = getattr(model.estimator_, "best_name_", None)
    return f"rarefind ({name}{f': {best}' if best else ''})"
