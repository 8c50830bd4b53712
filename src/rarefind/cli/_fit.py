"""``rarefind fit``: from a file with labels to a model, and what a budget finds with it."""

from __future__ import annotations

import json
import time as clock
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rarefind._core.budget import check_budget
from rarefind._core.deadline import seconds_of
from rarefind.cli import _options as options
from rarefind.cli._fit_words import print_fitted
from rarefind.cli._inputs import (
    Roles,
    Spending,
    check_model_name,
    check_not_overwriting,
    check_readable,
    open_labelled,
)
from rarefind.cli._outputs import check_output
from rarefind.data.clock import check_per

if TYPE_CHECKING:
    import pandas as pd

    from rarefind.data import TableProfile
    from rarefind.tables import BudgetEstimate, HoldOut, ListValue, TableModel

# Kept back of a time limit: for writing the file and saying what was found.
_KEPT_BACK, _KEPT_BACK_SHARE = 1.0, 0.05
# Of each share of the time, what is left for encoding the table; and of one with rows held out,
# what a plain XGBoost gets, which takes so many seconds a value before its first round.
_OVERHEAD_SHARE, _SHARE_OF_PLAIN, _PLAIN_START = 0.15, 0.25, 2e-7
_LEAST_SEARCH = 2.0  # seconds


def fit(
    data: options.DataFile,
    target: options.Target,
    budget: options.Budget,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the model.")],
    positive: options.Positive = None,
    time: options.Time = None,
    entity: options.Entity = None,
    amount: options.Amount = None,
    id: options.Id = None,
    drop: options.Drop = None,
    delay: options.Delay = None,
    per: options.Per = None,
    one_per: options.OnePer = None,
    model: options.Model = "auto",
    time_limit: options.TimeLimit = None,
    trials: options.Trials = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Learn from a file with labels, and estimate what a budget of checks finds."""
    began = clock.monotonic()
    limit = _limit(model, time_limit, trials)
    check_output(output)
    check_readable(data)
    check_not_overwriting(output, data)
    check_budget(budget)
    check_per(per, time)
    from rarefind.cli._steps import steps

    roles = Roles(target, positive, time, entity, amount, id, list(drop or []))
    end = float("inf") if limit is None else began + limit
    with steps(quiet=quiet or as_json, verbose=verbose, end=end) as say:
        say(f"Reading {data}")
        spending = Spending(budget, per, one_per)
        table, ours, held_out = open_labelled(data, roles, spending, delay, seed)
        from rarefind.data import profile_table
        from rarefind.persistence import save
        from rarefind.tables import whole_budget

        say(f"Looking through {len(table):,} rows")
        away = [name for name in (time, entity, id, *roles.drop) if name is not None]
        profile = profile_table(table, target, ours.positive, ignore=away)
        checks = whole_budget(table, budget, per, time)
        ours.estimator = _estimator(model, checks, seed, jobs, trials)
        fitted, estimate = _learned(ours, table, held_out, spending, limit, began, say)
        fitted.estimate_ = estimate
        say(f"Writing {output}")
        save(fitted, output)
    if as_json:
        typer.echo(json.dumps(_for_machines(fitted, profile, estimate, output), indent=2))
    else:
        print_fitted(fitted, profile, estimate, output, spending, verbose=verbose)


def _limit(model: str, time_limit: str | None, trials: int | None) -> float | None:
    """Seconds to take; None where there is no limit."""
    check_model_name(model)
    if trials is not None and (model != "auto" or time_limit is not None):
        raise ValueError("The option --trials is for --model auto, instead of --time-limit.")
    if time_limit is not None:
        return seconds_of(time_limit)
    return seconds_of("5m") if model == "auto" and trials is None else None


def _estimator(
    name: str, budget: int | float | str, seed: int, jobs: int | None, trials: int | None
) -> Any:
    from rarefind.auto import find_estimator

    search = {"time_limit": None, "trials": trials} if name == "auto" else {}
    jobs = -1 if jobs is None else jobs
    return find_estimator(name).make(budget, random_state=seed, n_jobs=jobs, **search)


def _learned(
    ours: TableModel,
    table: pd.DataFrame,
    held_out: HoldOut,
    spending: Spending,
    limit: float | None,
    began: float,
    say: Any,
) -> tuple[TableModel, BudgetEstimate | None]:
    """The model on all rows, then the same with rows held out, all within the time limit."""
    from sklearn.base import clone

    from rarefind._core.deadline import OutOfTimeError, until
    from rarefind.tables import PlainXGBoost, estimate_budget

    end = float("inf") if limit is None else began + limit * (1 - _KEPT_BACK_SHARE) - _KEPT_BACK
    searches = limit is not None and "time_limit" in ours.estimator.get_params()
    if searches:
        share = max(1.0, end - clock.monotonic()) / (1 + len(held_out.parts))
        ours.estimator.set_params(time_limit=share * (1 - _OVERHEAD_SHARE))
    say(f"Learning from {len(table):,} rows")
    start = clock.monotonic()
    try:
        # A search watches the time itself, and always ends with a model.
        with until(float("inf") if searches else end):
            fitted = clone(ours).fit(table)
    except OutOfTimeError:
        raise ValueError(
            "The model was not done in time, so nothing was written: give it more time, or leave "
            "the choice to --model auto, which always ends in time."
        ) from None
    if getattr(fitted.estimator_, "interrupted_", False):
        return fitted, None
    plain = None
    if searches:
        around = max(0.0, clock.monotonic() - start - ours.estimator.time_limit)
        share = (end - clock.monotonic()) / len(held_out.parts)
        own = (1 - _SHARE_OF_PLAIN) * share - around - _PLAIN_START * table.size
        if own < _LEAST_SEARCH:
            return fitted, None
        ours.estimator.set_params(time_limit=own)
        plain = PlainXGBoost(ours, table, _SHARE_OF_PLAIN * share)
    with until(float("inf") if searches else end):
        return fitted, estimate_budget(
            ours,
            table,
            spending.budget,
            held_out=held_out,
            per=spending.per,
            one_per=spending.one_per,
            say=say,
            plain=plain,
        )


def _for_machines(
    model: TableModel, profile: TableProfile, estimate: BudgetEstimate | None, output: Path
) -> dict[str, Any]:
    board = getattr(model.estimator_, "leaderboard_", None)
    return {
        "model": str(output),
        "estimator": type(model.estimator_).__name__,
        "profile": {
            "rows": profile.rows,
            "positives": profile.positives,
            "columns": profile.columns.to_dict("records"),
            "leaks": [asdict(leak) for leak in profile.leaks],
        },
        "estimate": None if estimate is None else as_plain(estimate, estimate.list_value()),
        "leaderboard": None if board is None else json.loads(board.to_json(orient="records")),
        "card": model.card().as_dict(),
    }


def as_plain(estimate: BudgetEstimate, found: ListValue) -> dict[str, Any]:
    """What the budget finds, as plain values."""
    asked = {"how": estimate.how, "budget": estimate.budget, "per": estimate.per}
    return {**asked, "one_per": estimate.one_per, **found.as_dict()}
