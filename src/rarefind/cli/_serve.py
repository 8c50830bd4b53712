"""``rarefind serve``: the processes of a desk, all together or one of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rarefind.cli._desk import DatabaseUrl, desk_errors

if TYPE_CHECKING:
    from rarefind.desk.database import Durability
    from rarefind.desk.processes import DeskSettings, ProcessName

_SURVIVES = {
    "process": "What is answered survives the end of the process, and not a loss of power.",
    "disk": "What is answered is on the disk, and survives a loss of power.",
}
_PORT, _HOST = 8321, "127.0.0.1"
_ONLY: tuple[ProcessName, ...] = ("decision", "web", "worker")


def serve(
    path: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="The folder of the desk.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65_535, help="Of transactions; by default 8321; 0 for any free one."
        ),
    ] = None,
    web_port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65_535, help="Of people and their programs; by default the next port."
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="By default this machine alone.")] = _HOST,
    durability: Annotated[
        str, typer.Option(metavar="process|disk", help="What an answer survives.")
    ] = "disk",
    database: DatabaseUrl = None,
    only: Annotated[
        str | None,
        typer.Option(metavar="decision|web|worker", help="Be this one process of the three."),
    ] = None,
    demo: Annotated[
        bool,
        typer.Option(
            "--demo",
            help="Serve a desk with simulated weeks behind it, in a temporary folder that is "
            "removed at the end; in DIR, which must be empty, it is kept.",
        ),
    ] = False,
    cards: Annotated[int, typer.Option(min=300, help="With --demo: how many cards pay.")] = 1_500,
    days: Annotated[
        int, typer.Option(min=28, max=120, help="With --demo: the days behind it.")
    ] = 63,
) -> None:
    """Run a desk until Ctrl-C: decide transactions, serve the page, do what can wait."""
    if demo:
        _serve_demo(path, port, web_port, cards, days, (host, database, only))
        return
    if path is None:
        raise ValueError("Name the folder of a desk, or give --demo for one to try.")
    port = _PORT if port is None else port
    chosen: Durability = "process" if durability == "process" else "disk"
    if durability != chosen:
        raise ValueError(f"--durability is process or disk, not {durability!r}.")
    one = next((name for name in _ONLY if name == only), None)
    if only != one:
        raise ValueError(f"--only is {', '.join(_ONLY)}, not {only!r}.")
    people = web_port if web_port is not None else min(port + 1, 65_535) if port else 0
    with desk_errors():
        settings = _checked(path, database, chosen)
        if one is None:
            _serve_all(settings, host, port, people)
        else:
            _serve_one(one, settings, host, port, people)


def _serve_demo(
    path: Path | None,
    port: int | None,
    web_port: int | None,
    cards: int,
    days: int,
    others: tuple[str, str | None, str | None],
) -> None:
    """Serve a desk to try; what it cannot be is refused."""
    from rarefind.cli._serve_demo import serve_demo

    if others != (_HOST, None, None):
        raise ValueError(
            "--demo prints links that let people in, and is for this machine alone: leave out "
            "--host, --database and --only."
        )
    if path is not None and path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise ValueError(
            f"{path} is not an empty folder: name another for --demo, or leave --demo out to open "
            "the desk that is there."
        )
    with desk_errors():
        from rarefind.desk.demo import DemoSize

        serve_demo(path, DemoSize(cards, days), port=port, web_port=web_port)


def _checked(path: Path, database: str | None, durability: Durability) -> DeskSettings:
    """Open the folder once, so that what is wrong with it is told before anything starts."""
    from rarefind.desk.folder import DeskFolder
    from rarefind.desk.processes import DeskSettings

    with DeskFolder(path, database):
        if not os.access(path, os.W_OK | os.X_OK):
            raise ValueError(
                f"{path} cannot be written to: make the folder writable for this user."
            )
        return DeskSettings(path.resolve(), database, durability)


def _serve_all(settings: DeskSettings, host: str, port: int, web_port: int) -> None:
    from dataclasses import replace

    from rarefind.desk.api.logs import Log
    from rarefind.desk.processes import Supervisor, ask_notes, desk_processes, take_port

    with take_port(host, port) as door, take_port(host, web_port, "--web-port") as people:
        address = _url(host, door.getsockname()[1])
        settings = replace(settings, decisions=address)
        typer.echo(f"Transactions: {address}/transactions")
        typer.echo(f"People and their programs: {_url(host, people.getsockname()[1])}/")
        _print_first_link(settings, _url(host, people.getsockname()[1]))
        typer.echo(_SURVIVES[settings.durability])
        typer.echo("Logs go to standard error, a line of JSON for each event. Starting …")

        def tell() -> None:
            for note in ask_notes(door, 5.0) or []:
                typer.echo(note)
            typer.echo("The desk is ready. Ctrl-C stops it.")

        Supervisor(desk_processes(settings, door, people), Log("serve")).run(tell)


def _serve_one(
    name: Literal["decision", "web", "worker"],
    settings: DeskSettings,
    host: str,
    port: int,
    web_port: int,
) -> None:
    from contextlib import nullcontext
    from dataclasses import replace

    from rarefind.desk.processes import run_one, take_port

    settings = replace(settings, decisions=_url(host, port))
    own, option = (port, "--port") if name == "decision" else (web_port, "--web-port")
    with nullcontext() if name == "worker" else take_port(host, own, option) as door:
        if door is not None:
            what = "Transactions" if name == "decision" else "People and their programs"
            rest = "/transactions" if name == "decision" else "/"
            typer.echo(f"{what}: {_url(host, door.getsockname()[1])}{rest}")
        if name == "web" and door is not None:
            _print_first_link(settings, _url(host, door.getsockname()[1]))
        if name == "decision":
            typer.echo(_SURVIVES[settings.durability])
        if not run_one(name, settings, door):
            raise typer.Exit(1)


def _print_first_link(settings: DeskSettings, url: str) -> None:
    """Print the link for the first administrator, as long as nobody can sign in."""
    from rarefind.cli._desk_users import welcome_address
    from rarefind.desk.folder import DeskFolder
    from rarefind.desk.people import People

    with DeskFolder(settings.path, settings.database) as folder:
        link = People.of(folder).first_link()
    if link is not None:
        typer.echo(f"Nobody can sign in yet. The first admin does: {welcome_address(url, link)}")


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
