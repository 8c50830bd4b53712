"""``rarefind fit``: from a file with labels to a model, and what a budget finds with it."""

from __future__ import annotations

import json
import time as clock
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from rarefind._core.budget import check_budget
from rarefind._core.deadline import seconds_of
from rarefind.cli import _options as options
from rarefind.cli._fit_words import label_of, print_fitted
from rarefind.cli._inputs import (
    Reading,
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
# what a plain XGBoost may take.
_OVERHEAD_SHARE, _SHARE_OF_PLAIN = 0.15, 0.5
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
    keep_ids: options.KeepIds = False,
    drop: options.Drop = None,
    unlabelled: options.Unlabelled = "drop",
    sheet: options.Sheet = None,
    date_format: options.DateFormat = None,
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

    reading = Reading(sheet, date_format, unlabelled).check()
    roles = Roles(target, positive, time, entity, amount, id, list(drop or []))
    end = float("inf") if limit is None else began + limit
    with steps(quiet=quiet or as_json, verbose=verbose, end=end) as say:
        say(f"Reading {data}")
        spending = Spending(budget, per, one_per)
        from rarefind.data.read import row_numbers
        from rarefind.data.row_numbers import rows_named_by
        from rarefind.data.table_file import TableFile

        table, ours = open_labelled(data, roles, spending, reading)
        with rows_named_by(TableFile(data, sheet)):
            held_out = _held_out(ours, table, per, delay, seed)
        from rarefind.data import profile_table
        from rarefind.persistence import save
        from rarefind.tables import whole_budget

        say(f"Looking through {len(table):,} rows")
        away = [name for name in (time, entity, id, *roles.drop) if name is not None]
        profile = profile_table(table, target, ours.positive, ignore=away, id=id)
        checks = whole_budget(table, budget, per, time)
        ours.keep_ids = keep_ids
        ours.estimator = _estimator(model, checks, seed, jobs, trials)
        learned = _learned(ours, table, held_out, spending, limit, began, say)
        learned.model.estimate_ = learned.estimate
        learned.model.fitted_for_ = spending._asdict()
        learned.model.name_known_rows(row_numbers(TableFile(data, sheet)).of(table.index))
        say(f"Writing {output}")
        save(learned.model, output)
    if as_json:
        typer.echo(json.dumps(_for_machines(learned, profile, output), indent=2))
    else:
        print_fitted(model, learned, profile, output, verbose=verbose)


class Learned(NamedTuple):
    """A model, and what a budget finds with it, or why that is not known."""

    model: TableModel
    estimate: BudgetEstimate | None
    why_not: str = ""


def _held_out(
    ours: TableModel, table: pd.DataFrame, per: str | None, delay: str | None, seed: int
) -> HoldOut | str:
    """The rows to hold out, or why there are none: a model is learned all the same."""
    from rarefind.tables import CannotHoldOutError, hold_out

    try:
        return hold_out(ours, table, per=per, delay=delay, seed=seed)
    except CannotHoldOutError as error:
        return str(error)


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
    held_out: HoldOut | str,
    spending: Spending,
    limit: float | None,
    began: float,
    say: Any,
) -> Learned:
    """The model on all rows, then the same with rows held out, all within the time limit."""
    from sklearn.base import clone

    from rarefind._core.deadline import OutOfTimeError, until

    end = float("inf") if limit is None else began + limit * (1 - _KEPT_BACK_SHARE) - _KEPT_BACK
    searches = limit is not None and "time_limit" in ours.estimator.get_params()
    parts = 0 if isinstance(held_out, str) else len(held_out.parts)
    if searches:
        share = max(1.0, end - clock.monotonic()) / (1 + parts)
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
        return Learned(fitted, None, "The fit was stopped before rows could be held out.")
    if isinstance(held_out, str):
        return Learned(fitted, None, held_out)
    around = 0.0
    if searches:
        around = max(0.0, clock.monotonic() - start - ours.estimator.time_limit)
    return _estimated(ours, fitted, table, held_out, spending, end, around, say)


def _estimated(
    ours: TableModel,
    fitted: TableModel,
    table: pd.DataFrame,
    held_out: HoldOut,
    spending: Spending,
    end: float,
    around: float,
    say: Any,
) -> Learned:
    """What the budget finds; ``around`` are the seconds that a search takes beside its limit."""
    from rarefind._core.deadline import OutOfTimeError, until
    from rarefind.tables import PlainXGBoost, estimate_budget

    no_time = Learned(fitted, None, "There was no time left to hold rows out.")
    searches = end < float("inf") and "time_limit" in ours.estimator.get_params()
    share = (end - clock.monotonic()) / len(held_out.parts)
    plain = PlainXGBoost(ours, table, _SHARE_OF_PLAIN * share if searches else float("inf"))
    try:
        if searches:
            # First, so that it makes all its rounds: the list is not compared with half of it.
            say("Learning a plain XGBoost to compare with")
            for number, part in enumerate(held_out.parts):
                plain.scores(number, *part)
            own = (end - clock.monotonic()) / len(held_out.parts) - around
            if own < _LEAST_SEARCH:
                return no_time
            ours.estimator.set_params(time_limit=own)
        with until(float("inf") if searches else end):
            asked = spending._asdict()
            estimate = estimate_budget(
                ours, table, held_out=held_out, say=say, plain=plain, **asked
            )
    except (KeyboardInterrupt, OutOfTimeError):
        return no_time
    except ValueError as error:  # of few rows fewer are left, which may not be enough
        left = min(
            int((table[ours.target].iloc[t] == ours.positive).sum()) for t, _ in held_out.parts
        )
        return Learned(
            fitted,
            None,
            f"With rows held out, {left} rows with {label_of(ours)} are left, and nothing could be "
            f"learned from them: {error}",
        )
    return no_time if estimate is None else Learned(fitted, estimate)


def _for_machines(learned: Learned, profile: TableProfile, output: Path) -> dict[str, Any]:
    model, estimate, why_not = learned
    board = getattr(model.estimator_, "leaderboard_", None)
    return {
        "model": str(output),
        "estimator": type(model.estimator_).__name__,
        "profile": {
            "rows": profile.rows,
            "positives": profile.positives,
            "columns": profile.columns.to_dict("records"),
            "leaks": [asdict(leak) for leak in profile.leaks],
            "copies": profile.copies,
            "repeated_ids": profile.repeated_ids,
        },
        "estimate": None if estimate is None else as_plain(model, estimate, estimate.list_value()),
        "no_estimate_because": why_not or None,
        "leaderboard": None if board is None else json.loads(board.to_json(orient="records")),
        "card": model.card().as_dict(),
    }


def as_plain(model: TableModel, estimate: BudgetEstimate, found: ListValue) -> dict[str, Any]:
    """What the budget finds, as plain values."""
    asked = {"how": estimate.how, "budget": estimate.budget, "per": estimate.per}
    notes = estimate.notes(found, label_of(model))
    return {**asked, "one_per": estimate.one_per, "notes": notes, **found.as_dict()}
