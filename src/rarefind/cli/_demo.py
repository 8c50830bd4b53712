"""``rarefind demo``: from a table to a ranked list with reasons, in one command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rarefind.cli._files import written_whole

if TYPE_CHECKING:
    import pandas as pd

    from rarefind.rules import Reason


def demo(
    data: Annotated[str, typer.Option(help="A KEEL data set.")] = "yeast5",
    budget: Annotated[str, typer.Option(help="Checks you can afford: 20 or 2%.")] = "20",
    picture: Annotated[
        Path | None, typer.Option(help="Save the budget curve here (.png, .svg).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Rank a data set: learn from 60 % of it, and list the rest with reasons."""
    from sklearn.model_selection import train_test_split

    from rarefind.data import load_keel
    from rarefind.metrics import budget as checks_of
    from rarefind.neighbors import GammaKNNClassifier

    X, y = load_keel(data)
    train, test, known, truth = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    k = int(checks_of(budget, len(test)))
    mean, spread = train.mean(), train.std().replace(0, 1)
    model = GammaKNNClassifier().fit((train - mean) / spread, known)
    rows = (test - mean) / spread
    priority = model.priority(rows)
    top = (-priority).argsort(kind="stable")[:k]
    found = {
        "data": data,
        "learned_from": {"rows": len(train), "positives": int(known.sum())},
        "gamma": model.gamma_,
        "ranked": {"rows": len(test), "positives": int(truth.sum())},
        "budget": k,
        **_worth(truth, priority, k),
    }
    reasons = model.explain(rows.iloc[top])
    listed = _listed(top, test, truth, model.predict_proba(rows)[:, 1], reasons, mean, spread)
    if picture is not None:
        _draw(truth, priority, k, picture)
    if as_json:
        typer.echo(json.dumps({**found, "list": listed}, indent=2))
    else:
        _print(found, listed, picture)


def _worth(truth: Any, priority: Any, k: int) -> dict[str, Any]:
    from rarefind.metrics import (
        average_precision,
        bootstrap_interval,
        lift_at_k,
        precision_at_k,
        recall_at_k,
    )

    hits = bootstrap_interval(precision_at_k, truth, priority, k=k, random_state=0)
    return {
        "hits": precision_at_k(truth, priority, k) * k,
        "hits_interval": [hits.low * k, hits.high * k],
        "share_of_positives_found": recall_at_k(truth, priority, k),
        "times_better_than_blind": lift_at_k(truth, priority, k),
        "average_precision": average_precision(truth, priority),
    }


def _listed(
    top: Any,
    test: pd.DataFrame,
    truth: Any,
    probability: Any,
    reasons: list[Reason],
    mean: pd.Series[float],
    spread: pd.Series[float],
) -> list[dict[str, Any]]:
    """The list, its reasons in the units of the table."""
    rows = []
    for rank, (i, reason) in enumerate(zip(top, reasons, strict=True), start=1):
        because = []
        for c in reason.because[:3]:
            known = c.value * spread[c.feature] + mean[c.feature]
            because.append(f"{c.feature} {test[c.feature].iloc[i]:.3g} ≈ {known:.3g}")
        rows.append(
            {
                "rank": rank,
                "row": int(test.index[i]),
                "probability": float(probability[i]),
                "positive": bool(truth.iloc[i]),
                "because": because,
            }
        )
    return rows


def _draw(truth: Any, priority: Any, k: int, picture: Path) -> None:
    from rarefind.plots import BudgetCurveDisplay

    display = BudgetCurveDisplay.from_predictions(truth, priority, budget=k, name="γk-NN")
    with written_whole(picture) as part:
        display.figure_.savefig(part, dpi=150, bbox_inches="tight")


def _print(found: dict[str, Any], listed: list[dict[str, Any]], picture: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    learned, ranked = found["learned_from"], found["ranked"]
    low, high = found["hits_interval"]
    console.print(
        f"[bold]{found['data']}[/]: learned from {learned['rows']} rows with "
        f"{learned['positives']} positives (γ = {found['gamma']:.2f}), "
        f"ranked {ranked['rows']} rows that were kept out."
    )
    table = Table("rank", "row", "probability", "is it?", "because it is like a known positive in")
    for row in listed:
        verdict = "[green]positive[/]" if row["positive"] else "no"
        chance = f"{100 * row['probability']:.0f} %"
        table.add_row(str(row["rank"]), str(row["row"]), chance, verdict, ", ".join(row["because"]))
    console.print(table)
    console.print(
        f"{found['budget']} checks find {found['hits']:.0f} positives "
        f"(95 % of resamples: {low:.0f} to {high:.0f}), "
        f"{100 * found['share_of_positives_found']:.0f} % of all {ranked['positives']}: "
        f"{found['times_better_than_blind']:.0f} times as many as blind checks would."
    )
    if picture is not None:
        console.print(f"The budget curve is in {picture}.")
