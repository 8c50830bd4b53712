"""Saying what goes on while it goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def steps(*, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Yield the function that names the next step; each ends with the seconds it took.

    It all goes to standard error, so that what a command prints can be piped.
    """
    if quiet:
        yield lambda what: None
        return
    from rich.console import Console

    console = Console(stderr=True)
    now: list[tuple[str, float]] = []

    def finish() -> None:
        if now:
            what, start = now.pop()
            console.print(f"[green]✓[/] {what} [dim]({time.perf_counter() - start:.1f} s)[/]")

    with console.status("") as status:

        def say(what: str) -> None:
            finish()
            now.append((what, time.perf_counter()))
            status.update(f"{what} …")

        yield say
        finish()
