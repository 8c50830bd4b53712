"""``rarefind compile``: what the first fit would otherwise wait for."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from rarefind.cli import _options as options
from rarefind.cli._inputs import check_model_name
from rarefind.cli._options import MODEL_NAMES


def compile_kernels(
    models: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Models, as in `rarefind fit`; by default all."),
    ] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Compile models for this machine, so that their first fit starts at once."""
    # The search for the best needs what the others need, and little more.
    names = list(models or sorted(MODEL_NAMES, key=lambda name: name == "auto"))
    for name in names:
        check_model_name(name)
    from rarefind.cli._steps import steps

    with steps(quiet=quiet or as_json, verbose=verbose) as say:
        say("Importing")
        from rarefind.auto import compile_estimators

        found = []
        compiling = compile_estimators(names)
        for number, name in enumerate(names):
            say(f"Compiling {name} ({number + 1} of {len(names)})")
            found.append(next(compiling))
    if as_json:
        typer.echo(json.dumps({"compiled": [each._asdict() for each in found]}, indent=2))
    elif not quiet:
        functions, seconds = (sum(column) for column in zip(*(f[1:] for f in found), strict=True))
        typer.echo(
            f"Compiled {functions} functions in {seconds:.0f} s."
            if functions
            else "Everything was compiled before."
        )
