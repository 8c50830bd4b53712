"""``rarefind desk export`` and ``erase``: what is known of one card or person."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from rarefind._core.text import visible
from rarefind.cli._desk import DatabaseUrl, DeskPath, desk_errors
from rarefind.cli._desk_control import person_or_user
from rarefind.cli._outputs import check_output, write_text

Entity = Annotated[str, typer.Argument(metavar="ENTITY", help="What it is, such as card.")]
Key = Annotated[str, typer.Argument(metavar="KEY", help="Which one, such as its number.")]
By = Annotated[
    str | None,
    typer.Option("--by", "--person", help="Who, for the audit log; by default the user name."),
]
#: Seconds that a desk which runs has to carry out an order while somebody looks.
_WAIT = 10.0


def export(
    path: DeskPath,
    entity: Entity,
    key: Key,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the JSON to this file.")
    ] = None,
    by: By = None,
    database: DatabaseUrl = None,
) -> None:
    """Print all that the ledger knows of a card or a person, as JSON."""
    check_output(output)
    with desk_errors():
        import msgspec

        from rarefind.desk.erasure import export_entity
        from rarefind.desk.folder import DeskFolder

        with DeskFolder(path, database) as folder:
            found = export_entity(folder, entity, key, person_or_user(by))
        text = msgspec.json.format(msgspec.json.encode(found), indent=2).decode()
    if output is None:
        typer.echo(text)
    else:
        write_text(text + "\n", output)
        typer.echo(f"{output} has {len(found):,} transactions.")


def erase(
    path: DeskPath, entity: Entity, key: Key, by: By = None, database: DatabaseUrl = None
) -> None:
    """Erase who made the transactions of a card or a person, what was sent, and the features.

    Times, amounts, identifiers and outcomes stay. A desk that runs does it by itself. Where the
    desk wants a second person, it waits until another one has typed it, too.
    """
    with desk_errors():
        from rarefind.desk.clock import DeskClock
        from rarefind.desk.control import Control
        from rarefind.desk.erasure import carry_out_alone, order_erasure
        from rarefind.desk.folder import DeskFolder

        with DeskFolder(path, database) as folder:
            clock, desk = DeskClock(), folder.open_desk()
            control = Control(desk, folder.declared, folder.models, clock)
            order = order_erasure(control, entity, key, person_or_user(by))
            if order.state == "asked":
                typer.echo(visible(f"Order {order.id} waits for another than {order.asked_by}."))
                return
            if folder.is_deciding:
                end = time.monotonic() + _WAIT
                while control.orders.get(order.id).state == "approved" and time.monotonic() < end:
                    time.sleep(0.1)
            else:
                carry_out_alone(folder, control, desk, clock.now())
            order = control.orders.get(order.id)
    if order.state == "approved":
        typer.echo(f"The desk that runs will carry out order {order.id}.")
    elif order.state == "failed":
        raise ValueError(f"Order {order.id} failed: {(order.result or {}).get('reason')}")
    else:
        count = (order.result or {}).get("transactions", 0)
        typer.echo(f"{count:,} transactions were erased (order {order.id}).")
