"""``rarefind serve``: the process of a desk that decides transactions."""

from __future__ import annotations

import socket
from typing import Annotated, Literal

import typer

from rarefind.cli._desk import DatabaseUrl, DeskPath, desk_errors

_PROMISES = {
    "process": "What is answered survives the end of the process, and not a loss of power.",
    "disk": "What is answered is on the disk, and survives a loss of power.",
}


def serve(
    path: DeskPath,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0 for any free one.")] = 8321,
    host: Annotated[str, typer.Option(help="By default this machine alone.")] = "127.0.0.1",
    durability: Annotated[
        str, typer.Option(metavar="process|disk", help="What an answer survives.")
    ] = "disk",
    database: DatabaseUrl = None,
) -> None:
    """Decide the transactions that are sent to a desk, until Ctrl-C."""
    chosen: Literal["process", "disk"] = "process" if durability == "process" else "disk"
    if durability != chosen:
        raise ValueError(f"--durability is process or disk, not {durability!r}.")
    with desk_errors():
        from rarefind.desk.api.process import serve_decisions
        from rarefind.desk.folder import DeskFolder

        with DeskFolder(path, database) as folder, _take_port(host, port) as door:
            typer.echo(f"Transactions: http://{host}:{door.getsockname()[1]}/transactions")
            typer.echo(f"{_PROMISES[chosen]}\nThere is no model: rules alone decide.")
            if not serve_decisions(folder, door, chosen):
                raise typer.Exit(1)


def _take_port(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port))
    except OSError as error:
        raise ValueError(
            f"The desk cannot have {host}:{port} ({error.strerror}): give another --port."
        ) from None
