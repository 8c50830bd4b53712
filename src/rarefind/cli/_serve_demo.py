"""A desk to try: made in a folder of its own, served until Ctrl-C, with payments that keep coming.

Without a folder it is made in a temporary one, which is removed with it; a folder that was named is
kept, and can be served again as any other desk.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from rarefind.cli._desk_users import welcome_address
from rarefind.cli._steps import steps

if TYPE_CHECKING:
    from socket import socket

    from rarefind.desk.demo import DemoDesk, DemoSize

__all__ = ["serve_demo"]

#: Only this machine: links that let somebody in are printed.
_HOST = "127.0.0.1"
_PORT = 8321


def serve_demo(
    path: Path | None,
    size: DemoSize,
    *,
    port: int | None = None,
    web_port: int | None = None,
    quiet: bool = False,
) -> None:
    """Make a desk with some weeks behind it, and serve it until Ctrl-C."""
    from rarefind.desk.demo import make_demo_desk

    with ExitStack() as stack:
        stack.enter_context(_stops_in_order())
        place = stack.enter_context(_folder(path))
        # Before the work: that a port is taken should be told at once.
        door, people = _take_ports(stack, port, web_port)
        progress = stack.enter_context(ExitStack())
        say = progress.enter_context(steps(quiet=quiet))
        desk = make_demo_desk(place, size, say)
        say("Starting the desk")
        _serve(desk, door, people, progress, is_kept=path is not None)
    kept = f"it stays in {path}: rarefind serve {path} opens it again."
    typer.echo(f"The desk is stopped; {kept if path else 'nothing of it is left.'}")


def _serve(
    desk: DemoDesk, door: socket, people: socket, progress: ExitStack, *, is_kept: bool
) -> None:
    from rarefind.desk.api.logs import Log
    from rarefind.desk.demo import PaymentSender
    from rarefind.desk.processes import DeskSettings, Supervisor, desk_processes

    transactions, pages = (f"http://{_HOST}:{each.getsockname()[1]}" for each in (door, people))
    settings = replace(DeskSettings(desk.path.resolve(), durability="process"))
    settings = replace(settings, decisions=transactions)
    with PaymentSender(transactions, desk.token, desk.coming) as sender:

        def tell() -> None:
            progress.close()
            _print(desk, pages, is_kept=is_kept)
            sender.start()

        with _logs_in(desk.log):
            Supervisor(desk_processes(settings, door, people), Log("serve")).run(tell)


def _print(desk: DemoDesk, pages: str, *, is_kept: bool) -> None:
    typer.echo(
        f"The desk is ready: {desk.payments:,} simulated payments of {desk.days} days, and "
        f"{desk.waiting} cases to check today. More payments come in while it runs."
    )
    typer.echo("Open one of these links; each works once, and you choose a password by it:")
    for link in desk.links:
        typer.echo(f"  {link.role:<13} {link.name:<5} {welcome_address(pages, link.token)}")
    typer.echo(f"Sign in again later at {pages}/desk. Logs are in {desk.log}.")
    typer.echo(f"Ctrl-C stops the desk{'' if is_kept else ', and removes everything'}.")


def _take_ports(stack: ExitStack, port: int | None, web_port: int | None) -> tuple[socket, socket]:
    """Take the ports that were named, or the usual ones, or any where these are taken."""
    from rarefind.desk.processes import take_port

    def take(named: int | None, usual: int, option: str) -> socket:
        if named is not None:
            return stack.enter_context(take_port(_HOST, named, option))
        try:
            return stack.enter_context(take_port(_HOST, usual, patience=0.0))
        except ValueError:
            return stack.enter_context(take_port(_HOST, 0))

    door = take(port, _PORT, "--port")
    number = door.getsockname()[1]
    return door, take(web_port, min(number + 1, 65_535), "--web-port")


@contextmanager
def _folder(path: Path | None) -> Iterator[Path]:
    """The folder of the desk: one that is kept, or a temporary one."""
    if path is not None:
        yield path
        return
    place = Path(tempfile.mkdtemp(prefix="rarefind-demo-"))
    try:
        yield place
    except Exception:
        typer.echo(f"What was made of the desk is left in {place}.", err=True)
        raise
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    shutil.rmtree(place, ignore_errors=True)


@contextmanager
def _stops_in_order() -> Iterator[None]:
    """Let SIGTERM and the end of the terminal be as Ctrl-C, so that nothing is left behind."""
    numbers = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    if threading.current_thread() is not threading.main_thread():
        numbers = []

    def stop(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _logs_in(path: Path) -> Iterator[None]:
    """Let this process and all that it starts write their logs to a file."""
    sys.stderr.flush()
    own = os.dup(2)
    try:
        with path.open("ab") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(own, 2)
        os.close(own)
