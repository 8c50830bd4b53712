"""``rarefind desk parity``: compute the features of a day again, and compare them bit for bit."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Annotated

import typer

from rarefind.cli._desk import DatabaseUrl, DeskPath, desk_errors


def parity(
    path: DeskPath,
    day: Annotated[
        str | None,
        typer.Option(metavar="YYYY-MM-DD", help="The day of arrival; by default yesterday."),
    ] = None,
    database: DatabaseUrl = None,
) -> None:
    """Compute the features of a day's transactions again from the ledger, and compare all bits."""
    try:
        wanted = None if day is None else date.fromisoformat(day)
    except ValueError:
        raise ValueError(f"{day!r} is not a day: give it as 2026-01-31.") from None
    with desk_errors():
        from zoneinfo import ZoneInfo

        from rarefind.desk.folder import DeskFolder
        from rarefind.desk.parity import compare_day

        with DeskFolder(path, database) as folder:
            zone = ZoneInfo(folder.schema.transaction.time_zone)
            yesterday = datetime.now(zone).date() - timedelta(days=1)
            found = compare_day(folder, wanted or yesterday)
    typer.echo(str(found))
    if found.differ:
        raise typer.Exit(1)
