"""A progress bar on the terminal, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(
    description: str, total: int | None, verbose: int = 1
) -> Iterator[Callable[[int], None]]:
    """Yield the function to call with the number of steps done; silent when not verbose."""
    if not verbose:
        yield lambda steps: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn()) as bar:
        task = bar.add_task(description, total=total)
        yield lambda steps: bar.advance(task, steps)
