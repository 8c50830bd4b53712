"""``rarefind demo``: from simulated payments to a ranked day with reasons, in one command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from rarefind.cli import _options as options

if TYPE_CHECKING:
    import pandas as pd

    from rarefind._core.types import Bools, Floats
    from rarefind.tables import TableModel

_TERMINALS_A_CUSTOMER = 2
_TRAIN, _DELAY, _TEST = 35, 7, 14  # days; those before fill the longest windows of the features


class Ranking(NamedTuple):
    """Scores of the test period by one model, and what its daily lists are worth."""

    name: str
    score: Floats
    average_precision: float
    alerts: pd.DataFrame  # a row an alert: day, entity, score, hit, money
    daily: pd.DataFrame  # a row a day: day, checks, hits, money


class Demo(NamedTuple):
    """All that the demo found, for the terminal, the report and machines."""

    learned_from: dict[str, int]
    ranked: dict[str, Any]
    budget: int
    rankings: list[Ranking]
    test: pd.DataFrame
    truth: Bools
    model: TableModel
    day: str
    listed: pd.DataFrame


def demo(
    budget: Annotated[
        int, typer.Option(min=1, help="Customers that can be checked in a day.")
    ] = 20,
    report: Annotated[Path, typer.Option(help="Where to write the HTML report.")] = Path(
        "rarefind-demo.html"
    ),
    customers: Annotated[int, typer.Option(min=50, help="Customers to simulate.")] = 2_000,
    days: Annotated[int, typer.Option(min=60, help="Days to simulate.")] = 90,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 0,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Simulate card payments, learn in time order, and rank a day of them with reasons."""
    from rarefind.cli._demo_report import write_report
    from rarefind.cli._steps import steps

    if not report.parent.is_dir():
        raise ValueError(f"There is no folder {report.parent} to write the report to.")
    with steps(quiet=quiet or as_json, verbose=verbose) as say:
        found = run(budget, customers, days, seed, say)
        say("Writing the report")
        write_report(found, report)
    if as_json:
        typer.echo(json.dumps(_for_machines(found), indent=2))
    else:
        _print(found, report)


def run(budget: int, customers: int, days: int, seed: int, say: Any) -> Demo:
    """Simulate, learn, rank."""
    from xgboost import XGBClassifier

    from rarefind.neighbors import GammaKNNClassifier
    from rarefind.selection import PrequentialSplit
    from rarefind.tables import TableModel

    say(f"Simulating {days} days of {customers:,} customers")
    table = _table(customers, days, seed, say)
    split = PrequentialSplit(
        n_splits=1,
        test=f"{_TEST}D",
        delay=f"{_DELAY}D",
        train=f"{_TRAIN}D",
        time="time",
        entity="customer",
        drop_known_positives=True,
    )
    known, ahead = next(split.split(table, table["fraud"]))
    train, test = table.iloc[known], table.iloc[ahead]

    say(f"Fitting γk-NN to {len(train):,} payments")
    model = TableModel(
        GammaKNNClassifier(random_state=0, max_queries=20_000),
        target="fraud",
        positive=1,
        time="time",
        entity="customer",
        amount="amount",
        id="transaction_id",
        drop=["terminal"],
    ).fit(train)
    say("Fitting a plain XGBoost")
    columns = list(model.encoder_.columns_)
    plain = XGBClassifier(n_estimators=100, max_depth=6, learning_rate=0.1, tree_method="hist")
    plain.fit(train[columns], train["fraud"])

    say(f"Ranking {len(test):,} payments of the last {_TEST} days")
    rankings = [
        _ranking("γk-NN", model.priority(test), test, budget),
        _ranking("XGBoost", plain.predict_proba(test[columns])[:, 1].astype(float), test, budget),
    ]
    day, listed = _last_day(model, rankings[0], test, budget)
    return Demo(
        learned_from={"rows": len(train), "positives": int(train["fraud"].sum())},
        ranked={"rows": len(test), "positives": int(test["fraud"].sum()), "days": _TEST},
        budget=budget,
        rankings=rankings,
        test=test,
        truth=(test["fraud"] == 1).to_numpy(),
        model=model,
        day=f"{day:%Y-%m-%d}",
        listed=listed,
    )


def _last_day(
    model: TableModel, ranking: Ranking, test: pd.DataFrame, budget: int
) -> tuple[Any, pd.DataFrame]:
    """The list of the last day, without customers found on the days before."""
    import pandas as pd

    days = test["time"].dt.normalize()
    day = days.max()
    found = ranking.alerts[ranking.alerts["hit"] & (ranking.alerts["day"] < day)]["entity"]
    today = test[(days == day) & ~test["customer"].isin(found)]
    listed = model.rank(today, budget, one_per=True, reasons=False)
    rows = today.loc[listed.index]
    reasons = model.explain(rows)
    listed["reason"] = [str(reason) for reason in reasons]
    because = [[str(c) for c in reason.because] for reason in reasons]
    # As the daily lists count: a customer with any fraud that day is a hit.
    hit = today.groupby("customer")["fraud"].max().loc[rows["customer"]].to_numpy()
    return day, listed.assign(fraud=hit, because=pd.Series(because, index=listed.index))


def _table(customers: int, days: int, seed: int, say: Any) -> pd.DataFrame:
    from rarefind.data import simulate_transactions, transaction_features

    terminals = _TERMINALS_A_CUSTOMER * customers
    payments = simulate_transactions(customers, terminals, days, random_state=seed)
    say(f"Building features of {len(payments):,} payments")
    features = transaction_features(payments, delay=f"{_DELAY}D")
    names = ["transaction_id", "time", "customer", "terminal", "fraud"]
    return features.join(payments[names])


def _ranking(name: str, score: Floats, test: pd.DataFrame, budget: int) -> Ranking:
    """Each day the customers with the highest scores are checked, once found no more."""
    from rarefind.metrics import average_precision, entity_alerts

    day = test["time"].dt.normalize().rename("day")
    alerts = entity_alerts(test["fraud"], score, test["customer"], day, budget)
    at_stake = (test["amount"] * test["fraud"]).groupby([day, test["customer"]]).sum()
    alerts = alerts.join(at_stake.rename("money"), on=["day", "entity"])
    daily = alerts.groupby("day").agg(
        checks=("hit", "size"), hits=("hit", "sum"), money=("money", "sum")
    )
    return Ranking(
        name, score, average_precision(test["fraud"], score), alerts, daily.reset_index()
    )


def _for_machines(found: Demo) -> dict[str, Any]:
    return {
        "learned_from": found.learned_from,
        "ranked": found.ranked,
        "budget_a_day": found.budget,
        "models": {r.name: worth(r) for r in found.rankings},
        "day": found.day,
        "list": json.loads(found.listed.to_json(orient="records", date_format="iso")),
    }


def worth(ranking: Ranking) -> dict[str, float]:
    """What a model's daily lists find in all."""
    checks, hits = int(ranking.daily["checks"].sum()), int(ranking.daily["hits"].sum())
    return {
        "average_precision": round(ranking.average_precision, 4),
        "checks": checks,
        "hits": hits,
        "hits_per_check": round(hits / checks, 4),
        "money": round(float(ranking.daily["money"].sum()), 2),
    }


def _print(found: Demo, report: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    learned, ranked = found.learned_from, found.ranked
    console.print(
        f"Learned from {learned['rows']:,} payments, {learned['positives']} of them fraud; a week "
        f"of delay; ranked {ranked['rows']:,} payments of {ranked['days']} days with "
        f"{ranked['positives']} frauds."
    )
    table = Table(title=f"γk-NN: the {found.budget} customers to check on {found.day}")
    for column in ("", "customer", "amount", "chance", "fraud?", "because"):
        table.add_column(column, overflow="fold")
    for _, row in found.listed.iterrows():
        table.add_row(
            str(row["rank"]),
            str(row["customer"]),
            f"{row['amount']:.2f}",
            f"{100 * row['probability']:.0f} %",
            "[green]yes[/]" if row["fraud"] else "no",
            ", ".join(row["because"][:3]),
        )
    console.print(table)
    bought = Table(title=f"What {found.budget} checks a day buy in {ranked['days']} days")
    for column in ("model", "average precision", "checks", "customers with fraud", "money found"):
        bought.add_column(column)
    for ranking in found.rankings:
        w = worth(ranking)
        bought.add_row(
            ranking.name,
            f"{w['average_precision']:.3f}",
            f"{w['checks']:.0f}",
            f"{w['hits']:.0f}",
            f"{w['money']:,.0f}",
        )
    console.print(bought)
    console.print(f"The report is in {report}.")
