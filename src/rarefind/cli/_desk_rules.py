"""``rarefind desk rule``: the rules that decide in a desk."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any

import typer

from rarefind._core.text import visible
from rarefind.cli._desk import DatabaseUrl, DeskPath
from rarefind.cli._desk_control import (
    Note,
    Person,
    approved_by_two,
    open_control,
    person_or_user,
    time_of,
)
from rarefind.cli._options import AsJson

app = typer.Typer(
    help="List and save the rules of a desk, and say what each may do.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
_ROLES = ("off", "shadow", "scoring", "blocking")
RuleName = Annotated[str, typer.Argument(help="The name of the rule.")]
_ROLE_HELP = "off, shadow (only watched), scoring (raises an alert) or blocking (denies)."


@app.command("list", epilog="Example: rarefind desk rule list my-desk")
def list_rules(
    path: DeskPath,
    name: Annotated[
        str | None, typer.Option(help="Show all versions of this rule instead.")
    ] = None,
    database: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """List the rules of a desk, or all versions of one."""
    with open_control(path, database) as control:
        rules = control.rules.all() if name is None else control.rules.history(name)
    if as_json:
        typer.echo(json.dumps([asdict(rule) for rule in rules], indent=2))
        return
    for rule in rules:
        weight = "" if rule.weight is None else f", weight {rule.weight:g}"
        about = f"{rule.role}{weight}, version {rule.version} by {rule.person}, {time_of(rule.at)}"
        typer.echo(visible(f"{rule.name}: {rule.text}"))
        typer.echo(visible(f"  {about}{': ' if rule.note else ''}{rule.note}"))
    if not rules:
        typer.echo("There are no rules: save one with rarefind desk rule save.")


@app.command(
    epilog="Example: rarefind desk rule save my-desk abroad "
    "'amount > 5 * card_mean_30D and country != card_country' --role blocking"
)
def save(
    path: DeskPath,
    name: RuleName,
    text: Annotated[str, typer.Argument(help="The rule, on columns and features of the desk.")],
    role: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(_ROLES),
            help=f"{_ROLE_HELP} By default as before; a new rule is only watched.",
        ),
    ] = None,
    weight: Annotated[
        float | None, typer.Option(help="What it adds to the priority where it fires.")
    ] = None,
    let: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A constant that the rule names: a number, true, false or a text. Can be given "
            "more than once.",
        ),
    ] = None,
    note: Note = "",
    person: Person = None,
    database: DatabaseUrl = None,
) -> None:
    """Save a rule; it is checked, and in force within a second."""
    constants = dict(_constant(text) for text in let or [])
    with open_control(path, database) as control:
        saved = control.rules.save(
            name,
            text,
            person_or_user(person),
            role=_checked_role(role),
            weight=weight,
            constants=constants,
            note=note,
        )
        waiting = control.requests.waiting("rule", name)
    typer.echo(visible(f"Version {saved.version} of {saved.name!r} is saved as {saved.role}."))
    for change in waiting:
        typer.echo(f"Change {change.id} waits for another person than {change.asked_by}.")


@app.command(epilog="Example: rarefind desk rule role my-desk abroad blocking")
def role(
    path: DeskPath,
    name: RuleName,
    role: Annotated[str, typer.Argument(metavar="|".join(_ROLES), help=_ROLE_HELP)],
    note: Note = "",
    person: Person = None,
    database: DatabaseUrl = None,
) -> None:
    """Let a rule deny, raise alerts, be watched, or be off.

    Where the desk wants a second person, a rule that is to deny waits until another one has typed
    it, too.
    """
    who = person_or_user(person)
    with open_control(path, database) as control:
        wanted = _checked_role(role)
        assert wanted is not None
        asked = [each.content["role"] for each in control.requests.waiting("rule", name)]
        if wanted not in asked:
            control.rules.set_role(name, wanted, who, note)
        waits = approved_by_two(control, "rule", name, who) if wanted == "blocking" else ""
        saved = control.rules.get(name)
    if waits:
        typer.echo(visible(waits))
        return
    typer.echo(visible(f"{saved.name!r} is {saved.role}, as version {saved.version}."))


def _checked_role(role: str | None) -> Any:
    if role is not None and role not in _ROLES:
        raise ValueError(f"A role is one of {', '.join(_ROLES)}, not {role!r}.")
    return role


def _constant(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise ValueError(f"--let {text!r} is not a constant: write NAME=VALUE.")
    truths = {"true": True, "false": False}
    if value.strip().lower() in truths:
        return name.strip(), truths[value.strip().lower()]
    try:
        return name.strip(), float(value)
    except ValueError:
        return name.strip(), value.strip()
