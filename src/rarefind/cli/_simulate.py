"""``rarefind simulate``: made-up card payments to try everything on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rarefind.cli import _options as options
from rarefind.cli._rule_files import refuse_output

if TYPE_CHECKING:
    import pandas as pd

_KINDS = (".csv", ".parquet")


def simulate(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write: .csv or .parquet.")
    ],
    customers: Annotated[int, typer.Option(min=1, help="Customers, two terminals each.")] = 2_000,
    days: Annotated[int, typer.Option(min=1, help="Days of payments.")] = 90,
    start: Annotated[str, typer.Option(help="The first day.")] = "2026-01-01",
    fraud_rate: Annotated[
        float, typer.Option(min=0, help="Times as many compromised cards and terminals.")
    ] = 1.0,
    drift: Annotated[
        float, typer.Option(min=0, max=1, help="How far fraud has changed by the last day.")
    ] = 0.0,
    features: Annotated[
        bool,
        typer.Option(
            "--features",
            help="Add what card and terminal did before, without the last week's labels.",
        ),
    ] = False,
    seed: options.Seed = 0,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Make up card payments, a few of them fraudulent, and write them to a file."""
    refuse_output(output)
    if output.suffix.lower() not in _KINDS:
        raise ValueError(f"{output} should end in {' or '.join(_KINDS)}.")
    from rarefind.cli._steps import steps

    with steps(quiet=quiet or as_json, verbose=verbose) as say:
        say(f"Simulating {days} days of {customers:,} customers")
        table = _payments(customers, days, start, fraud_rate, drift, seed)
        if features:
            say(f"Building features of {len(table):,} payments")
            table = _with_features(table)
        say(f"Writing {output}")
        _write(table, output)
    found = {"rows": len(table), "positives": int(table["fraud"].sum()), "file": str(output)}
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    elif not quiet:
        typer.echo(
            f"{found['rows']:,} payments, {found['positives']:,} of them fraud, are in {output}."
        )


def _payments(
    customers: int, days: int, start: str, fraud_rate: float, drift: float, seed: int
) -> pd.DataFrame:
    from rarefind.data import simulate_transactions

    table = simulate_transactions(
        customers,
        2 * customers,
        days,
        start=start,
        fraud_rate=fraud_rate,
        drift=drift,
        random_state=seed,
    )
    # What kind of fraud it was is known to no one who ranks.
    return table.drop(columns="fraud_kind")


def _with_features(table: pd.DataFrame) -> pd.DataFrame:
    from rarefind.data import transaction_features

    found = transaction_features(table, delay="7D")
    return table.join(found.drop(columns=[name for name in found if name in table.columns]))


def _write(table: pd.DataFrame, output: Path) -> None:
    from rarefind._files import written_whole

    with written_whole(output) as part:
        if output.suffix.lower() == ".csv":
            table.to_csv(part, index=False)
        else:
            table.to_parquet(part, index=False)
