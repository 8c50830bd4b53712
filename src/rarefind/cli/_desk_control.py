"""What the commands share by which people change what a desk decides by."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rarefind.cli._desk import desk_errors

if TYPE_CHECKING:
    from rarefind.desk.control import ChangeKind, Control

Person = Annotated[
    str | None, typer.Option(help="Who does it, for the audit log; by default the user name.")
]
Note = Annotated[str, typer.Option(help="Why, in a sentence.")]


@contextmanager
def open_control(path: Path, database: str | None) -> Iterator[Control]:
    """Open what people have decided about a desk."""
    with desk_errors():
        from rarefind.desk.control import Control
        from rarefind.desk.folder import DeskFolder

        with DeskFolder(path, database) as folder:
            yield Control.of(folder)


def person_or_user(person: str | None) -> str:
    """The person who was named, or the one who is logged in."""
    if person is not None:
        return person
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        raise ValueError("It is not known who you are: give --person.") from None


def approved_by_two(control: Control, kind: ChangeKind, subject: str, who: str) -> str:
    """Approve what another person has asked for; a sentence where it waits for one, else empty."""
    for change in control.requests.waiting(kind, subject):
        if change.asked_by == who:
            return f"Change {change.id} waits for another person than {who}."
        control.requests.approve(change.id, who, kind)
    return ""


def time_of(nanoseconds: int) -> str:
    """A time in UTC, as people read it."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(nanoseconds // 10**9, UTC).strftime("%Y-%m-%d %H:%M:%S")
