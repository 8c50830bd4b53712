"""``rarefind desk backup``: copy a desk while it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rarefind.cli._desk import DatabaseUrl, DeskPath, desk_errors


def backup(
    path: DeskPath,
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="A new folder for the copy.")],
    database: DatabaseUrl = None,
) -> None:
    """Copy a desk to a new folder, also while it runs; verify and serve the copy as any desk."""
    with desk_errors():
        from rarefind.desk.backup import back_up
        from rarefind.desk.folder import DeskFolder

        with DeskFolder(path, database) as folder:
            back_up(folder, target)
    typer.echo(f"The copy is in {target}. Look at it with: rarefind desk verify {target}")
