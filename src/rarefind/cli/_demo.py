"""``rarefind demo``: rare fraud among simulated payments, and what each model's checks find."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from rarefind._core.extras import MissingExtraError
from rarefind.cli import _options as options

if TYPE_CHECKING:
    import pandas as pd

    from rarefind.cli._demo_worlds import World
    from rarefind.metrics import Interval
    from rarefind.tables import TableModel

_SHOWN = 5  # rows of the day's list on the terminal


class Result(NamedTuple):
    """What one model's daily lists find over all worlds."""

    name: str
    average_precision: list[float]  # of each world
    hits: Interval  # a day
    by_world: list[float]  # hits a day
    behind: Interval | None  # hits a day that ours finds more; None for ours


class Demo(NamedTuple):
    """All that the demo found, for the terminal, the page and machines."""

    budget: int
    worlds: list[World]
    results: list[Result]
    day: str
    listed: pd.DataFrame

    @property
    def model(self) -> TableModel:
        """The model of the first world, whose list is shown."""
        return self.worlds[0].model

    @property
    def learned_from(self) -> dict[str, int]:
        """Rows and positives that models learned from, in all worlds."""
        return {key: sum(w.learned_from[key] for w in self.worlds) for key in ("rows", "positives")}

    @property
    def ranked(self) -> dict[str, int]:
        """Rows, positives and days that were ranked, in all worlds."""
        return {
            "rows": sum(len(w.test) for w in self.worlds),
            "positives": sum(int(w.test["fraud"].sum()) for w in self.worlds),
            "days": sum(w.day.nunique() for w in self.worlds),
        }


def demo(
    budget: Annotated[
        int, typer.Option(min=1, help="Customers that can be checked in a day.")
    ] = 10,
    report: Annotated[Path, typer.Option(help="Where to write the page.")] = Path(
        "rarefind-demo.html"
    ),
    customers: Annotated[int, typer.Option(min=50, help="Customers of each world.")] = 5_000,
    worlds: Annotated[int, typer.Option(min=1, help="Worlds to simulate.")] = 3,
    one_in: Annotated[
        int, typer.Option(min=20, help="About one payment in so many is a fraud.")
    ] = 700,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first world.")] = 1,
    serve: Annotated[
        bool | None,
        typer.Option(
            "--serve/--no-serve",
            help="Run a desk in the end, as rarefind serve --demo does; by default at a terminal, "
            "and not with --json or where CI is set.",
            show_default=False,
        ),
    ] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Compare what a day's checks find by four models, then run a desk, on simulated payments."""
    from rarefind.cli._demo_report import write_page
    from rarefind.cli._steps import steps

    if not report.parent.is_dir():
        raise ValueError(f"There is no folder {report.parent} to write the page to.")
    with steps(quiet=quiet or as_json, verbose=verbose) as say:
        found = run(budget, customers, worlds, one_in, seed, say)
        say("Writing the page")
        write_page(found, report)
    if as_json:
        typer.echo(json.dumps(_for_machines(found), indent=2))
    else:
        _print(found, report)
    if serve or (serve is None and not as_json and _somebody_watches()):
        _serve(is_wanted=bool(serve))


def _somebody_watches() -> bool:
    """Whether a person is there to open a desk and to stop it: a machine would wait for ever."""
    return not os.environ.get("CI") and sys.stdin.isatty() and sys.stdout.isatty()


def _serve(*, is_wanted: bool) -> None:
    """Run a desk to try; where it is not installed, only who has asked for it is refused."""
    from rarefind.cli._desk import desk_errors
    from rarefind.cli._serve_demo import serve_demo

    try:
        with desk_errors():
            from rarefind.desk.demo import DemoSize

            typer.echo("Now a desk on such payments, which takes about half a minute to make.")
            serve_demo(None, DemoSize())
    except MissingExtraError as error:
        if is_wanted:
            raise
        typer.echo(str(error))


def run(
    budget: int, customers: int, worlds: int, one_in: int, seed: int, say: Callable[[str], None]
) -> Demo:
    """Simulate the worlds, fit and rank in each, and count what the lists find."""
    from rarefind.cli._demo_worlds import simulate_world

    simulated = [simulate_world(customers, one_in, seed + i, say) for i in range(worlds)]
    say("Counting hits")
    day, listed = _last_day(simulated[0], budget)
    return Demo(budget, simulated, _results(simulated, budget), f"{day:%Y-%m-%d}", listed)


def _results(worlds: list[World], budget: int) -> list[Result]:
    import numpy as np

    from rarefind.cli._demo_worlds import OURS, interval

    hits = {n: [world.hits_a_day(n, budget) for world in worlds] for n in worlds[0].scores}
    ours = np.concatenate(hits[OURS])
    return [
        Result(
            name,
            average_precision=[world.average_precision(name) for world in worlds],
            hits=interval(np.concatenate(daily)),
            by_world=[float(part.mean()) for part in daily],
            behind=None if name == OURS else interval(ours - np.concatenate(daily)),
        )
        for name, daily in hits.items()
    ]


def _last_day(world: World, budget: int) -> tuple[Any, pd.DataFrame]:
    """Our list of the last day, without customers found on the days before."""
    import pandas as pd

    from rarefind.cli._demo_worlds import OURS
    from rarefind.metrics import entity_alerts

    test, days = world.test, world.day
    day = days.max()
    alerts = entity_alerts(test["fraud"], world.scores[OURS], test["customer"], days, budget)
    found = alerts[alerts["hit"] & (alerts["day"] < day)]["entity"]
    today = test[(days == day) & ~test["customer"].isin(found)]
    listed = world.model.rank(today, budget, one_per=True, reasons=False)
    rows = today.loc[listed.index]
    reasons = world.model.explain(rows)
    listed["reason"] = [str(reason) for reason in reasons]
    because = [[str(c) for c in reason.because] for reason in reasons]
    # As the daily lists count: a customer with any fraud that day is a hit.
    hit = today.groupby("customer")["fraud"].max().loc[rows["customer"]].to_numpy()
    return day, listed.assign(fraud=hit, because=pd.Series(because, index=listed.index))


def _for_machines(found: Demo) -> dict[str, Any]:
    return {
        "learned_from": found.learned_from,
        "ranked": found.ranked,
        "worlds": [world.seed for world in found.worlds],
        "budget_a_day": found.budget,
        "models": {
            result.name: {
                "average_precision": [round(value, 4) for value in result.average_precision],
                "hits_a_day": _rounded(result.hits),
                "hits_a_day_by_world": [round(value, 4) for value in result.by_world],
                "behind_ours": result.behind and _rounded(result.behind),
            }
            for result in found.results
        },
        "day": found.day,
        "list": json.loads(found.listed.to_json(orient="records", date_format="iso")),
    }


def _rounded(value: Interval) -> dict[str, float]:
    return {name: round(part, 4) for name, part in value._asdict().items()}


def what_was_done(found: Demo) -> str:
    """How the figures came about, in one paragraph."""
    learned, ranked = found.learned_from, found.ranked
    return (
        f"{len(found.worlds)} simulated worlds. Models learned from {learned['rows']:,} payments, "
        f"1 in {learned['rows'] / learned['positives']:.0f} of them fraud; a week passed until "
        f"labels were known; then {ranked['rows']:,} payments of {ranked['days']} days were "
        f"ranked, 1 in {ranked['rows'] / max(ranked['positives'], 1):.0f} of them fraud. Each day "
        f"{found.budget} customers are checked, and nobody is found twice."
    )


def shown(value: Interval) -> str:
    """An interval as people read it."""
    return f"{value.value:.2f} ({value.low:.2f} to {value.high:.2f})"


def verdict(found: Demo) -> str:
    """Whether our list finds more than the best of the others, in one sentence."""
    others = [result for result in found.results if result.behind is not None]
    best = max(others, key=lambda result: result.hits.value)
    assert best.behind is not None
    more = best.behind
    if more.low > 0:
        return f"SGBAP finds {shown(more)} hits a day more than {best.name}."
    if more.high < 0:
        return f"SGBAP finds fewer hits than {best.name}: {shown(more)} a day."
    return f"Between SGBAP and {best.name} the difference is within noise: {shown(more)} a day."


def _print(found: Demo, report: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    from rarefind.cli._demo_worlds import LIGHTGBM

    console = Console()
    console.print(what_was_done(found))
    first = found.listed.head(_SHOWN)
    listed = Table(title=f"The top of SGBAP's list of {found.day}")
    for column in ("", "customer", "amount", "probability", "fraud?", "because"):
        listed.add_column(column, overflow="fold")
    for _, row in first.iterrows():
        listed.add_row(
            str(row["rank"]),
            str(row["customer"]),
            f"{row['amount']:.2f}",
            f"{100 * row['probability']:.0f} %",
            "[green]yes[/]" if row["fraud"] else "no",
            ", ".join(row["because"][:3]),
        )
    console.print(listed)
    table = Table(
        title=f"Customers with fraud that {found.budget} checks a day find, with 95 % intervals",
        caption="Average precision is the mean of the worlds.",
    )
    for column in ("model", "hits a day", "in each world", "SGBAP finds more", "average precision"):
        table.add_column(column)
    for result in found.results:
        table.add_row(
            result.name,
            shown(result.hits),
            ", ".join(f"{value:.1f}" for value in result.by_world),
            shown(result.behind) if result.behind else "",
            f"{sum(result.average_precision) / len(found.worlds):.3f}",
        )
    console.print(table)
    if LIGHTGBM not in found.worlds[0].scores:
        left_out = "LightGBM is not installed and is left out: pip install 'rarefind[demo]'"
        console.print(left_out, markup=False)
    console.print(verdict(found))
    console.print(f"The page is in {report}.")
