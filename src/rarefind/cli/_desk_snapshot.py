"""``rarefind desk snapshot``: what a desk remembers in a file, so that it starts fast."""

from __future__ import annotations

import typer

from rarefind.cli._desk import DatabaseUrl, DeskPath, desk_errors


def snapshot(path: DeskPath, database: DatabaseUrl = None) -> None:
    """Write a snapshot of the features, also while the desk runs; the next start reads it."""
    with desk_errors():
        from rarefind.desk.clock import DeskClock
        from rarefind.desk.decision.memory import Overtaken, make_snapshot
        from rarefind.desk.folder import DeskFolder

        with DeskFolder(path, database) as folder:
            try:
                made = make_snapshot(
                    folder.schema,
                    folder.secret,
                    folder.read_ledger(),
                    folder.snapshots,
                    DeskClock().now(),
                )
            except Overtaken:
                raise ValueError("Rows were erased again and again meanwhile: try again.") from None
    typer.echo(
        "There is a snapshot of the last row already." if made is None else f"{made} is written."
    )
