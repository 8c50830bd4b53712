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
    Roles,
    Spending,
    check_model_name,
    check_picture,
    check_readable,
    open_labelled,
)
from rarefind.cli._options import MODEL_NAMES
from rarefind.cli._outputs import check_output
from rarefind.data.clock import check_per

if TYPE_CHECKING:
    import pandas as pd

    from rarefind.rules import RuleSet
    from rarefind.tables import BudgetEstimate, HoldOut, ListValue


class Compared(NamedTuple):
    """What one model's list of held-out rows is worth."""

    name: str
    estimate: BudgetEstimate
    found: ListValue
    average_precision: float
    seconds: float


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

    roles = Roles(target, positive, time, entity, amount, id, list(drop or []))
    end = float("inf") if limit is None else began + limit
    with steps(quiet=quiet or as_json, verbose=verbose, end=end) as say:
        say(f"Reading {data}")
        from rarefind.rules import read_rules

        spending = Spending(budget, per, one_per)
        table, bare, held_out = open_labelled(data, roles, spending, delay, seed)
        written = None if rules is None else read_rules(rules, table)
        models = _models(names, bare, written, budget, seed, jobs, limit)
        found, unfinished = _compared(models, table, held_out, spending, end, say)
    if not found:
        raise ValueError("No model was done in time: give more time, or fewer models.")
    if picture is not None:
        from rarefind.cli._compare_picture import draw

        draw(found, picture)
    if as_json:
        typer.echo(json.dumps(_for_machines(found, unfinished), indent=2))
    else:
        _print(found, unfinished)


def _models(
    names: list[str],
    bare: Any,
    rules: RuleSet | None,
    budget: str,
    seed: int,
    jobs: int | None,
    limit: float | None,
) -> dict[str, Any]:
    """Models of a table by name, and the rules as one of them."""
    from sklearn.base import clone

    from rarefind.auto import find_estimator

    cores = -1 if jobs is None else jobs
    share = "5m" if limit is None else limit / (2 * len(names))
    models = {}
    for name in names:
        search = {"time_limit": share} if name == "auto" else {}
        estimator = find_estimator(name).make(budget, random_state=seed, n_jobs=cores, **search)
        models[name] = clone(bare).set_params(estimator=estimator)
    if rules is not None:
        from rarefind.tables import RuleModel

        models["rules"] = RuleModel(rules, **bare.get_params(deep=False))
    return models


def _compared(
    models: dict[str, Any],
    table: pd.DataFrame,
    held_out: HoldOut,
    spending: Spending,
    end: float,
    say: Any,
) -> tuple[list[Compared], list[str]]:
    """What each model is worth, the best first, and those that were not done in time."""
    from rarefind._core.deadline import OutOfTimeError, until
    from rarefind.tables import PlainXGBoost, estimate_budget

    first = next(iter(models.values()))
    plain = PlainXGBoost(first, table)
    found: list[Compared] = []
    try:
        for number, (name, model) in enumerate(models.items()):
            start = clock.monotonic()

            def say_of(what: str, name: str = name, number: int = number) -> None:
                say(f"{name} ({number + 1} of {len(models)}): {what}")

            try:
                with until(end):
                    estimate = estimate_budget(
                        model,
                        table,
                        spending.budget,
                        held_out=held_out,
                        per=spending.per,
                        one_per=spending.one_per,
                        say=say_of,
                        plain=plain,
                        stop_on=(),
                    )
            except OutOfTimeError:
                continue
            if estimate is not None:
                found.append(_worth(name, estimate, clock.monotonic() - start))
    except KeyboardInterrupt:  # what is done is shown
        say("Stopped")
    if found:
        found.append(_plain_worth(found[0].estimate))
    found.sort(key=lambda each: (-each.found.hits.value, -each.average_precision))
    return found, [name for name in models if name not in {each.name for each in found}]


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


def _plain_worth(estimate: BudgetEstimate) -> Compared:
    from dataclasses import replace

    return _worth("plain XGBoost", replace(estimate, priority=estimate.plain), seconds=float("nan"))


def _for_machines(found: list[Compared], unfinished: list[str]) -> dict[str, Any]:
    from rarefind.cli._fit import as_plain

    return {
        "models": [
            {
                "name": each.name,
                "average_precision": each.average_precision,
                "seconds": None if each.seconds != each.seconds else round(each.seconds, 3),
                **as_plain(each.estimate, each.found),
            }
            for each in found
        ],
        "not_done_in_time": unfinished,
    }


def _print(found: list[Compared], unfinished: list[str]) -> None:
    from rarefind.cli._fit_words import measures
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
        seconds = "" if each.seconds != each.seconds else f"{each.seconds:.1f}"
        add_row(table, each.name, *measures(each.found), f"{each.average_precision:.3f}", seconds)
    console.print(table)
    if unfinished:
        console.print(f"Not done in time: {', '.join(unfinished)}.", markup=False)
