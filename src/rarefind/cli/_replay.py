"""``rarefind replay``: the transactions of a file, sent to a desk as if they were made now."""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from rarefind.cli import _options as options
from rarefind.cli._desk import desk_errors
from rarefind.cli._inputs import check_readable

if TYPE_CHECKING:
    from rarefind.desk.client.replay import ReplaySummary

#: A desk that is started again meanwhile is waited for, about a minute.
_RETRIES = 12


def replay(
    data: options.DataFile,
    to: Annotated[
        str, typer.Option(metavar="URL", help="Where the desk takes transactions.")
    ] = "http://127.0.0.1:8321",
    speed: Annotated[
        str,
        typer.Option(
            metavar="60x|max",
            help="How many times faster than they were made they are sent, or as fast as the desk "
            "decides them.",
        ),
    ] = "max",
    shift: Annotated[
        str | None,
        typer.Option(
            metavar="now|TIME",
            help="Move all times so that the first is this one, such as 2026-01-31T12:00:00Z. A "
            "desk refuses times far ahead of its clock: with a --speed above 1x, name an earlier "
            "one than now.",
        ),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="RAREFIND_TOKEN",
            help="From `rarefind desk token`; by default the environment's RAREFIND_TOKEN.",
        ),
    ] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Send the transactions of a file to a desk, in their order; again is safe."""
    check_readable(data)
    times = _times_faster(speed)
    begin = None if shift is None else _time(shift)
    with desk_errors():
        from rarefind.desk.client import Client, DeskError
        from rarefind.desk.client.described import described_schema
        from rarefind.desk.client.replay import Timetable
        from rarefind.desk.client.replay import replay as send

        try:
            schema = described_schema(to)
            if begin is not None and not quiet:
                same = f"{begin:%Y-%m-%dT%H:%M:%SZ}"
                typer.echo(f"To send what is left of it later: --shift {same}", err=True)
            from rarefind.cli._steps import rows_bar
            from rarefind.data.read import about_rows

            rows = about_rows(data)
            with (
                Client(to, token, retries=_RETRIES, id_column=schema.transaction.id) as client,
                rows_bar(rows, what="Sending", quiet=quiet or as_json) as advance,
            ):
                found = send(
                    *(data, client, schema),
                    timetable=Timetable(times),
                    shift_to=begin,
                    on_sent=advance,
                )
        except DeskError as error:
            raise ValueError(str(error)) from error
    if as_json:
        typer.echo(json.dumps(asdict(found), indent=2))
    elif not quiet:
        _print(found)


def _times_faster(speed: str) -> float | None:
    """The number that ``60x`` says; None for ``max``."""
    if speed == "max":
        return None
    number = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)x", speed)
    if number is None or float(number[1]) <= 0:
        raise ValueError(f"--speed is a number of times such as 60x, or max, and not {speed!r}.")
    return float(number[1])


def _time(text: str) -> datetime:
    """A time in whole seconds, which can be typed again."""
    if text == "now":
        return datetime.now(UTC).replace(microsecond=0)
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"--shift is now, or a time such as 2026-01-31T12:00:00Z, and not {text!r}."
        ) from None
    zoned = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    return zoned.astimezone(UTC).replace(microsecond=0)


def _print(found: ReplaySummary) -> None:
    rate = found.sent / max(found.seconds, 1e-9)
    typer.echo(
        f"{found.sent:,} transactions were sent in {found.seconds:,.1f} s "
        f"({math.floor(rate):,} a second): {found.accepted:,} accepted, {found.denied:,} denied, "
        f"{found.alerts:,} with an alert, {found.refused:,} refused."
    )
    for reason in found.reasons:
        typer.echo(f"  Refused: {reason}")
    if found.refused > len(found.reasons):
        typer.echo(f"  … and {found.refused - len(found.reasons):,} more.")
