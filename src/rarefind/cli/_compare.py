"""``rarefind compare``: all models on the same held-out rows."""

from __future__ import annotations

import json
import time as clock
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from rarefind._core.budget import check_budget
from rarefind._core.deadline import seconds_of
from rarefind.cli import _options as options
from rarefind.cli._inputs import (
    Reading,
    Roles,
    Spending,
    check_model_name,
    check_picture,
    check_readable,
    open_labelled,
)
from rarefind.cli._options import MODEL_NAMES
from rarefind.cli._outputs import check_output
from rarefind.cli._run import sentence_of
from rarefind.data.clock import check_per

if TYPE_CHECKING:
    import pandas as pd

    from rarefind.rules import RuleSet
    from rarefind.tables import BudgetEstimate, HoldOut, ListValue, PlainXGBoost, TableModel


_PLAIN = "plain XGBoost"
# Of the time of a search with rows held out, what is left for encoding the table.
_OVERHEAD_SHARE = 0.2


class Compared(NamedTuple):
    """What one model's list of held-out rows is worth."""

    name: str
    estimate: BudgetEstimate
    found: ListValue
    average_precision: float
    seconds: float


class NotDone(NamedTuple):
    """A model without a list; ``why`` is empty where its time was over."""

    name: str
    why: str = ""


def compare(
    data: options.DataFile,
    target: options.Target,
    budget: options.Budget,
    positive: options.Positive = None,
    time: options.Time = None,
    entity: options.Entity = None,
    amount: options.Amount = None,
    id: options.Id = None,
    drop: options.Drop = None,
    unlabelled: options.Unlabelled = "drop",
    sheet: options.Sheet = None,
    date_format: options.DateFormat = None,
    delay: options.Delay = None,
    per: options.Per = None,
    one_per: options.OnePer = None,
    model: options.Models = None,
    rules: Annotated[
        Path | None, typer.Option(help="File of experts' rules, to stand beside the models.")
    ] = None,
    time_limit: options.TimeLimit = None,
    picture: Annotated[
        Path | None, typer.Option(help="Where to draw the comparison: .svg, .png or .pdf.")
    ] = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Rank the same held-out rows by all models, the best list first."""
    began = clock.monotonic()
    limit = None if time_limit is None else seconds_of(time_limit)
    names = list(model or [name for name in MODEL_NAMES if name != "auto"])
    for name in names:
        check_model_name(name)
    check_output(picture)
    check_picture(picture)
    check_readable(data, *([] if rules is None else [rules]))
    check_budget(budget)
    check_per(per, time)
    from rarefind.cli._steps import steps

    reading = Reading(sheet, date_format, unlabelled).check()
    roles = Roles(target, positive, time, entity, amount, id, list(drop or []))
    end = float("inf") if limit is None else began + limit
    with steps(quiet=quiet or as_json, verbose=verbose, end=end) as say:
        say(f"Reading {data}")
        from rarefind.data.row_numbers import rows_named_by
        from rarefind.rules import read_rules
        from rarefind.tables import hold_out, whole_budget

        spending = Spending(budget, per, one_per)
        table, bare = open_labelled(data, roles, spending, reading)
        with rows_named_by(data):
            held_out = hold_out(bare, table, per=per, delay=delay, seed=seed)
        written = None if rules is None else read_rules(rules, table)
        checks = whole_budget(table, budget, per, time)
        models = _models(names, bare, written, checks, seed, jobs)
        found, not_done = _compared(models, table, held_out, spending, end, say)
    if not any(each.name != _PLAIN for each in found):
        why = next((each.why for each in not_done if each.why), "")
        raise ValueError(why or "No model was done in time: give more time, or fewer models.")
    if picture is not None:
        from rarefind.cli._compare_picture import draw

        draw(found, picture)
    if as_json:
        typer.echo(json.dumps(_for_machines(bare, found, not_done), indent=2))
    else:
        _print(bare, found, not_done)


def _models(
    names: list[str],
    bare: Any,
    rules: RuleSet | None,
    budget: int | float | str,
    seed: int,
    jobs: int | None,
) -> dict[str, Any]:
    """Models of a table by name, and the rules as one of them."""
    from sklearn.base import clone

    from rarefind.auto import find_estimator

    cores = -1 if jobs is None else jobs
    models = {}
    for name in names:
        estimator = find_estimator(name).make(budget, random_state=seed, n_jobs=cores)
        models[name] = clone(bare).set_params(estimator=estimator)
    if rules is not None:
        from rarefind.tables import RuleModel

        roles = bare.get_params(deep=False)
        del roles["keep_ids"]
        models["rules"] = RuleModel(rules, **roles)
    return models


def _compared(
    models: dict[str, Any],
    table: pd.DataFrame,
    held_out: HoldOut,
    spending: Spending,
    end: float,
    say: Any,
) -> tuple[list[Compared], list[NotDone]]:
    """What each model is worth, the best first, and the models that have no list.

    The time is shared: each model has its part of what those before it have left.
    """
    from rarefind.tables import PlainXGBoost

    plain = PlainXGBoost(next(iter(models.values())), table)
    found: list[Compared] = []
    not_done: list[NotDone] = []
    names = [_PLAIN, *models]
    stopped = False
    for number, name in enumerate(names):
        start = clock.monotonic()
        own_end = start + (end - start) / (len(names) - number)

        def say_of(what: str, name: str = name, number: int = number) -> None:
            say(f"{name} ({number + 1} of {len(names)}): {what}")

        try:
            if stopped:
                not_done.append(NotDone(name, "It was stopped."))
            elif name == _PLAIN:
                plain_seconds = _learn_plain(plain, held_out, own_end, say_of)
            else:
                done = _estimated(models[name], table, held_out, spending, own_end, say_of, plain)
                if isinstance(done, str):
                    not_done.append(NotDone(name, done))
                else:
                    found.append(_worth(name, done, clock.monotonic() - start))
        except KeyboardInterrupt:  # what is done is shown
            say("Stopped")
            stopped = True
            not_done.append(NotDone(name, "It was stopped."))
    if not plain.is_done:
        not_done.append(NotDone(_PLAIN))
    elif found:
        found.append(_plain_worth(found[0].estimate, plain_seconds))
    found.sort(key=lambda each: (-each.found.hits.value, -each.average_precision))
    return found, not_done


def _learn_plain(plain: PlainXGBoost, held_out: HoldOut, end: float, say: Any) -> float:
    """Let it learn all parts; the seconds that it took."""
    from rarefind._core.deadline import until

    start = clock.monotonic()
    say("Learning with rows held out")
    with until(end):
        for number, part in enumerate(held_out.parts):
            plain.scores(number, *part)
    return clock.monotonic() - start


def _estimated(
    model: Any,
    table: pd.DataFrame,
    held_out: HoldOut,
    spending: Spending,
    end: float,
    say: Any,
    plain: PlainXGBoost,
) -> BudgetEstimate | str:
    """What the list of a model finds, or why it has none: empty where its time was over."""
    from rarefind._core.deadline import OutOfTimeError, until
    from rarefind.tables import estimate_budget

    if end < float("inf") and "time_limit" in getattr(model, "estimator", model).get_params():
        share = (end - clock.monotonic()) / len(held_out.parts)
        model.estimator.set_params(time_limit=max(0.1, share * (1 - _OVERHEAD_SHARE)))
    try:
        with until(end):
            asked = spending._asdict()
            estimate = estimate_budget(
                model, table, held_out=held_out, say=say, plain=plain, stop_on=(), **asked
            )
    except OutOfTimeError:
        return ""
    except (ValueError, ArithmeticError, MemoryError) as error:
        return sentence_of(error)
    return estimate or ""


def _worth(name: str, estimate: BudgetEstimate, seconds: float) -> Compared:
    import numpy as np

    from rarefind.metrics import average_precision

    parts = [estimate.fold == fold for fold in np.unique(estimate.fold)]
    precisions = [
        average_precision(estimate.positive[rows], estimate.priority[rows])
        for rows in parts
        if estimate.positive[rows].any()
    ]
    return Compared(name, estimate, estimate.list_value(), float(np.mean(precisions)), seconds)


def _plain_worth(estimate: BudgetEstimate, seconds: float) -> Compared:
    from dataclasses import replace

    assert estimate.plain is not None
    return _worth(_PLAIN, replace(estimate, priority=estimate.plain), seconds)


def _for_machines(
    model: TableModel, found: list[Compared], not_done: list[NotDone]
) -> dict[str, Any]:
    from rarefind.cli._fit import as_plain

    return {
        "models": [
            {
                "name": each.name,
                "average_precision": each.average_precision,
                "seconds": round(each.seconds, 3),
                **as_plain(model, each.estimate, each.found),
            }
            for each in found
        ],
        "not_done_in_time": [each.name for each in not_done if not each.why],
        "not_done": [{"name": each.name, "because": each.why} for each in not_done if each.why],
    }


def _print(model: TableModel, found: list[Compared], not_done: list[NotDone]) -> None:
    from rarefind.cli._fit_words import label_of, measures
    from rarefind.cli._tables import add_row, console_of, new_table

    console, best = console_of(), found[0]
    console.print(best.estimate.how, markup=False)
    console.print(
        f"What {best.found.checks:,.0f} checks of {best.found.rows:,.0f} rows find, with 95 % "
        f"intervals; in random order {best.found.random_hits:,.1f} hits:"
    )
    heads = ["hits", "of all positives", *(["amount"] if best.found.amount else [])]
    table = new_table("model", *heads, "average precision", "seconds")
    for each in found:
        figures = (f"{each.average_precision:.3f}", f"{each.seconds:.1f}")
        add_row(table, each.name, *measures(each.found), *figures)
    for name, why in not_done:
        add_row(table, name, "not done" if why else "not done in time", *[""] * (len(heads) + 1))
    console.print(table)
    for name, why in not_done:
        if why:
            console.print(f"{name}: {why}", markup=False)
    for note in best.estimate.notes(best.found, label_of(model)):
        console.print(note, markup=False)
