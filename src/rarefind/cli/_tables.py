"""Tables in a terminal, or piped."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rarefind._core.text import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

_PIPED = 120  # characters


def console_of() -> Console:
    """Where tables are printed, with a fixed width when piped.

    Texts may hold values and names of a user's file: what a terminal would act on is written out.
    """
    from rich.console import Console

    class Visible(Console):
        def print(self, *objects: Any, **options: Any) -> None:
            shown = [
                visible(each, keep="\n") if isinstance(each, str) else each for each in objects
            ]
            super().print(*shown, **options)

    return Visible(width=None if sys.stdout.isatty() else _PIPED, highlight=False)


def new_table(first: str, *others: str) -> Table:
    """A table that fits a narrow terminal: names are folded, numbers are not."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column(first, overflow="fold")
    for name in others:
        head = Text(visible(name, keep="\n"))  # it may be a column of the file
        if name == "because":
            table.add_column(head, overflow="fold")
        else:
            table.add_column(head, justify="right", no_wrap=True)
    return table


def add_row(table: Table, *cells: str | Text) -> None:
    """Add texts as they are: brackets in a name are not markup, and nothing in it is hidden."""
    from rich.text import Text

    table.add_row(*(Text(visible(cell)) if isinstance(cell, str) else cell for cell in cells))
