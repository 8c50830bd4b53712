"""Tables in a terminal, or piped."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_PIPED = 120  # characters


def console_of() -> Console:
    """Where tables are printed, with a fixed width when piped."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else _PIPED, highlight=False)


def new_table(first: str, *others: str) -> Table:
    """A table that fits a narrow terminal: names are folded, numbers are not."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column(first, overflow="fold")
    for name in others:
        if name == "because":
            table.add_column(name, overflow="fold")
        else:
            table.add_column(name, justify="right", no_wrap=True)
    return table


def add_row(table: Table, *cells: str) -> None:
    """Add texts as they are: brackets in a name are not markup."""
    from rich.text import Text

    table.add_row(*map(Text, cells))
