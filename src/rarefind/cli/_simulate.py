"""``rarefind simulate``: made-up card payments to try everything on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rarefind.cli import _options as options
from rarefind.cli._outputs import check_output

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
    rate: Annotated[
        str | None,
        typer.Option(help="Fraud among payments, such as 1:700, instead of --fraud-rate."),
    ] = None,
    details: Annotated[
        bool,
        typer.Option(
            "--details",
            help="Add countries, e-commerce, card limits, declined payments, claims and the week.",
        ),
    ] = False,
    features: Annotated[
        bool,
        typer.Option(
            "--features",
            help="Add what card and terminal did before, without the last week's labels.",
        ),
    ] = False,
    ahead: Annotated[
        Path | None, typer.Option(help="File for the last days, to rank: .csv or .parquet.")
    ] = None,
    ahead_days: Annotated[int, typer.Option(min=1, help="How many days that file gets.")] = 7,
    seed: options.Seed = 0,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Make up card payments, a few of them fraudulent, and write them to a file."""
    for path in (output, ahead):
        check_output(path)
        if path is not None and path.suffix.lower() not in _KINDS:
            raise ValueError(f"{path} should end in {' or '.join(_KINDS)}.")
    if ahead is not None and ahead_days >= days:
        raise ValueError(f"Of {days} days, {ahead_days} cannot go to {ahead}: none would be left.")
    share = None if rate is None else _share(rate)
    from rarefind.cli._steps import steps

    with steps(quiet=quiet or as_json, verbose=verbose) as say:
        say(f"Simulating {days} days of {customers:,} customers")
        table = _payments(
            customers,
            days,
            start=start,
            fraud_rate=fraud_rate,
            drift=drift,
            rate=share,
            details=details,
            random_state=seed,
        )
        if features:
            say(f"Building features of {len(table):,} payments")
            table = _with_features(table)
        say(f"Writing {output}")
        parts = {output: table} if ahead is None else _cut(table, ahead_days, output, ahead)
        for path, rows in parts.items():
            _write(rows, path)
    found = [
        {"file": str(path), "rows": len(rows), "positives": int(rows["fraud"].sum())}
        for path, rows in parts.items()
    ]
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    elif not quiet:
        for each in found:
            typer.echo(
                f"{each['rows']:,} payments, {each['positives']:,} of them fraud, are in "
                f"{each['file']}."
            )


def _share(rate: str) -> float:
    """The share that ``1:700`` says: one fraud among 700 payments."""
    one, colon, others = rate.partition(":")
    if not (one == "1" and colon and others.isascii() and others.isdigit() and int(others) > 1):
        raise ValueError(f"--rate {rate} is not a rate such as 1:700.")
    return 1 / int(others)


def _payments(customers: int, days: int, **options: Any) -> pd.DataFrame:
    from rarefind.data import simulate_transactions

    table = simulate_transactions(customers, 2 * customers, days, **options)
    # What kind of fraud it was is known to no one who ranks.
    return table.drop(columns="fraud_kind")


def _with_features(table: pd.DataFrame) -> pd.DataFrame:
    from rarefind.data import transaction_features

    found = transaction_features(table, delay="7D")
    return table.join(found.drop(columns=[name for name in found if name in table.columns]))


def _cut(table: pd.DataFrame, days: int, output: Path, ahead: Path) -> dict[Path, pd.DataFrame]:
    """The payments before the last days, and those of them."""
    import pandas as pd

    cut = table["time"].max().normalize() - pd.Timedelta(days=days - 1)
    is_ahead = table["time"] >= cut
    return {output: table[~is_ahead], ahead: table[is_ahead]}


def _write(table: pd.DataFrame, output: Path) -> None:
    from rarefind._core.files import atomic_write

    with atomic_write(output) as part:
        if output.suffix.lower() == ".csv":
            table.to_csv(part, index=False)
        else:
            table.to_parquet(part, index=False)
