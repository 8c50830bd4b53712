"""``rarefind desk audit``: who did what, and when."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from rarefind._core.text import visible
from rarefind.cli._desk import DatabaseUrl, DeskPath
from rarefind.cli._desk_control import open_control, time_of
from rarefind.cli._options import AsJson


def audit(
    path: DeskPath,
    after: Annotated[int, typer.Option(min=0, help="Only rows after this number.")] = 0,
    limit: Annotated[int, typer.Option(min=1, max=1_000_000, help="So many rows.")] = 1_000,
    database: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show who has changed rules, lists, blocks and models, and when, the oldest first."""
    with open_control(path, database) as control:
        rows = control.audit.read(after, limit)
    if as_json:
        typer.echo(json.dumps([asdict(row) for row in rows], indent=2))
        return
    for row in rows:
        detail = f"  {json.dumps(row.detail, ensure_ascii=False)}" if row.detail else ""
        line = f"{row.number}  {time_of(row.at)}  {row.person}  {row.action}  {row.subject}{detail}"
        typer.echo(visible(line))
