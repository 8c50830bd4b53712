"""``rarefind rules``: check, measure, learn and convert files of rules."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rarefind._core.files import MARK
from rarefind._core.text import visible
from rarefind.cli._inputs import Reading, check_columns, check_readable
from rarefind.cli._options import (
    AsJson,
    DataFile,
    DateFormat,
    DateOf,
    Entity,
    Id,
    Positive,
    Quiet,
    Seed,
    Sheet,
    Target,
    Unlabelled,
    Verbose,
)
from rarefind.cli._outputs import check_output, write_text
from rarefind.cli._rule_tables import print_learned, print_report

if TYPE_CHECKING:
    from collections.abc import Container

    import pandas as pd

    from rarefind._core.types import Bools
    from rarefind.cli._learned_rules import LearnedRules
    from rarefind.rules import RuleReport, RuleSet
    from rarefind.tables import TableModel

_FORMATS = ("text", "json", "sql")
_COUNTS = ("alerts", "hits", "hits_added", "hits_alone")

app = typer.Typer(
    help="Check, measure, learn and convert files of rules.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

RulesFile = Annotated[
    Path, typer.Argument(help="File of rules: text, or JSON if its name ends in .json.")
]


@app.command(epilog="Example: rarefind rules check desk.rules --data payments.csv")
def check(
    rules: RulesFile,
    data: Annotated[
        Path | None, typer.Option(help="Table whose columns the rules must fit.")
    ] = None,
    sheet: Sheet = None,
    date_format: DateFormat = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Check the rules of a file, and list all mistakes."""
    reading = Reading(sheet, date_format).check()
    if data is None and (sheet or date_format) is not None:
        raise ValueError("The options --sheet and --date-format are for --data: name the table.")
    table = None if data is None else _table(data, reading)
    found = _read(rules, table)
    if as_json:
        typer.echo(
            json.dumps({"rules": [{"name": r.name, "rule": r.text} for r in found]}, indent=2)
        )
    if as_json or quiet:
        return
    correct = "1 rule is correct" if len(found) == 1 else f"{len(found):,} rules are correct"
    typer.echo(visible(f"{rules}: {correct}{'' if data is None else f' and fit {data}'}."))


@app.command(
    epilog="Example: rarefind rules measure desk.rules payments.csv --target fraud --time time "
    "--limit min_precision=0.05 -o kept.rules"
)
def measure(
    rules: RulesFile,
    data: DataFile,
    target: Target,
    positive: Positive = None,
    time: DateOf = None,
    unlabelled: Unlabelled = "drop",
    sheet: Sheet = None,
    date_format: DateFormat = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            help="Retire rules that fail it: min_ or max_ with alerts, hits, precision, "
            "precision_low, precision_high, recall, false_alert_rate, lift, alerts_a_day, "
            "hits_added or hits_alone. Can be given more than once."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the rules that are kept.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure what each rule finds, how many alerts it costs, and what it adds to the others."""
    limits = dict(_limit(text) for text in limit or [])
    if time is None and any(name.endswith("_alerts_a_day") for name in limits):
        raise ValueError("A limit on alerts_a_day needs --time, the column with the date of a row.")
    reading = Reading(sheet, date_format, unlabelled).check()
    check_output(output)
    table = _labelled(data, target, reading)
    truth = _truth(table, target, positive)
    days = None if time is None else _dates(table, time)
    found = _read(rules, table)
    report = found.measure(_with_nulls(table, found), truth, time=days, pos_label=True)
    kept, retired = found.retire(report, **limits)
    if output is not None and len(kept):
        is_json = output.suffix.lower() == ".json"
        write_text(kept.to_json() + "\n" if is_json else kept.to_text(), output)
    if as_json:
        typer.echo(json.dumps(_measured(report, kept, retired, truth), indent=2))
    else:
        print_report(report, retired, timed=time is not None)
    if output is not None and not len(kept):
        raise ValueError(f"No rule passes the limits, so {output} was not written.")


@app.command(
    epilog="Example: rarefind rules learn payments.csv --target fraud --drop card -o learned.rules"
)
def learn(
    data: DataFile,
    target: Target,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the rules.")],
    positive: Positive = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(help="Column that no rule may use. Can be given more than once."),
    ] = None,
    id: Id = None,
    time: DateOf = None,
    entity: Entity = None,
    unlabelled: Unlabelled = "drop",
    sheet: Sheet = None,
    date_format: DateFormat = None,
    tolerance: Annotated[
        float,
        typer.Option(min=0, max=0.99, help="Share of the quality that a shorter list may lose."),
    ] = 0.01,
    most: Annotated[int, typer.Option(min=1, max=1000, help="Rules to learn at most.")] = 40,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Learn a short list of rules from a table with labels; columns of dates are not used.

    Rules whose precision is not clearly above the base rate are not alerts, and are left out.
    """
    from rarefind.cli._learned_rules import LearnedRules
    from rarefind.cli._steps import steps
    from rarefind.conditions import ConditionClassifier
    from rarefind.rules import RuleError
    from rarefind.tables import TableModel

    reading = Reading(sheet, date_format, unlabelled).check()
    check_output(output)
    kept_out = list(drop or [])
    with steps(quiet=quiet or as_json, verbose=verbose) as say:
        say("Reading the table")
        table = _labelled(data, target, reading)
        check_columns(table, [target, time, entity, id, *kept_out])
        kept_out += _other_dates(table, [target, time, entity, id, *kept_out])
        say(f"Learning rules from {len(table):,} rows")
        classifier = ConditionClassifier(
            tolerance=tolerance, max_conditions=most, random_state=seed
        )
        model = TableModel(
            classifier, target, positive, time=time, entity=entity, id=id, drop=kept_out
        ).fit(table)
        learned = LearnedRules.of(model, table)
    alerts = learned.alerts
    if not len(alerts):
        raise ValueError(
            f"No rule learned from {data} has a precision clearly above the base rate, so {output} "
            "was not written."
        )
    is_json = output.suffix.lower() == ".json"
    try:
        text = alerts.to_json() + "\n" if is_json else learned.to_text()
    except RuleError:  # a level that a file of text cannot hold: what was learned is kept
        output = output.with_suffix(".json")
        text = alerts.to_json() + "\n"
    write_text(text, output)
    if as_json:
        typer.echo(json.dumps(_for_machines(model, learned), indent=2))
    else:
        print_learned(learned)
        what = "1 alert is" if len(alerts) == 1 else f"{len(alerts):,} alerts are"
        typer.echo(f"{what} in {output}.")


@app.command(
    epilog="Example: rarefind rules convert desk.rules --to sql --dialect duckdb --table payments"
)
def convert(
    rules: Annotated[
        Path,
        typer.Argument(
            help="File of rules: text, or JSON if its name ends in .json. Or a model file, whose "
            "priorities the query gives."
        ),
    ],
    to: Annotated[str, typer.Option(metavar="text|json|sql", help="The format to write.")],
    dialect: Annotated[
        str | None,
        typer.Option(
            metavar="ansi|sqlite|duckdb|postgresql|mysql",
            help="The database; by default standard SQL.",
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            help="For SQL: write a query of this table (or schema.table) with its columns, one "
            "column per rule, 1 where it fires, and the sum of the weights of the rules that fire; "
            "by default one condition per rule. Of a model: the table to score."
        ),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of the table to keep in the query; by default all. Can be given more than "
            "once."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to write; by default it is printed."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write rules as text, as JSON or as SQL; or a model of trees or conditions as SQL."""
    if to not in _FORMATS:
        raise ValueError(f"There is no format {to!r}: known are {', '.join(_FORMATS)}.")
    if to != "sql" and (dialect or table or key) is not None:
        raise ValueError("The options --dialect, --table and --key are for --to sql only.")
    if key and table is None:
        raise ValueError("The option --key needs --table, the table that the query is of.")
    check_output(output)
    count: int | None
    if _is_model(rules):
        text, count = _query_of_model(rules, to, dialect, table, key), None
    else:
        found = _read(rules)
        if to == "sql":
            text = found.to_sql(dialect or "ansi", table, keys=key)
        else:
            text = found.to_text() if to == "text" else found.to_json() + "\n"
        count = len(found)
    if output is not None:
        write_text(text, output)
    if as_json:
        typer.echo(json.dumps({"format": to, "rules": count, "text": text}, indent=2))
    elif output is None:
        # A program gets the text as it is, with nothing taken out of it; a terminal would act on
        # what is hidden in it.
        typer.echo(visible(text, keep="\n") if _is_terminal() else text, nl=False, color=True)


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def _is_model(path: Path) -> bool:
    check_readable(path)
    with path.open("rb") as file:
        return file.read(len(MARK)) == MARK


def _query_of_model(
    path: Path, to: str, dialect: str | None, table: str | None, key: list[str] | None
) -> str:
    from rarefind.tables import open_model

    if to != "sql" or table is None:
        raise ValueError(f"{path} is a model: write --to sql and --table, the table to score.")
    if key:
        raise ValueError("The option --key is for rules: the query of a model keeps all columns.")
    return open_model(path).to_sql(dialect or "ansi", table) + ";\n"


def _read(path: Path, table: pd.DataFrame | None = None) -> RuleSet:
    check_readable(path)  # before the import, which takes a second
    from rarefind.rules import read_rules

    return read_rules(path, table)


def _limit(text: str) -> tuple[str, float]:
    name, _, bound = text.partition("=")
    try:
        value = float(bound)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not a limit: write one as min_precision=0.05.")
    return name.strip(), value


def _table(path: Path, reading: Reading) -> pd.DataFrame:
    from rarefind.data import read_table

    return read_table(path, sheet=reading.sheet, date_format=reading.date_format)


def _labelled(path: Path, target: str, reading: Reading) -> pd.DataFrame:
    """The rows that have a label, as `rarefind fit` reads them."""
    from rarefind.data.target import labelled_rows

    return labelled_rows(_table(path, reading), target, drop=reading.unlabelled == "drop")


def _truth(table: pd.DataFrame, target: str, positive: str | None) -> Bools:
    """Which rows are positive."""
    from rarefind.data import check_target

    label = check_target(table, target, positive)
    return (table[target] == label).to_numpy(dtype=bool)


def _dates(table: pd.DataFrame, name: str) -> pd.Series[Any]:
    import pandas as pd

    check_columns(table, [name])
    dates = pd.api.types.is_datetime64_any_dtype(table[name].dtype)
    if not dates or table[name].isna().all():
        raise ValueError(f"The column {name!r} has no dates: name a column of dates in --time.")
    return table[name]


def _with_nulls(table: pd.DataFrame, rules: RuleSet) -> pd.DataFrame:
    """The columns that rules need; a column without any value fits each kind."""
    names = list(dict.fromkeys(name for rule in rules for name in rule.columns))
    needed = table[names or list(table.columns[:1])]
    empty = [name for name in needed.columns if needed[name].isna().all()]
    return needed.assign(**dict.fromkeys(empty))


def _measured(
    report: RuleReport, kept: RuleSet, retired: dict[str, str], truth: Bools
) -> dict[str, Any]:
    """The report for machines."""
    rules = report.rules.rename(columns={"text": "rule"})
    return {
        "rows": len(truth),
        "positives": int(truth.sum()),
        "rules": [{"name": name, **_plain(row)} for name, row in rules.iterrows()],
        "together": _plain(report.together),
        "overlap": {str(name): _plain(row, ()) for name, row in report.overlap.iterrows()},
        "kept": [rule.name for rule in kept],
        "retired": retired,
    }


def _other_dates(table: pd.DataFrame, others: list[str | None]) -> list[str]:
    """Columns of dates that no option names: rules cannot use them."""
    import pandas as pd

    is_date = pd.api.types.is_datetime64_any_dtype
    names = [str(name) for name in table.columns]
    return [name for name in names if name not in others and is_date(table[name].dtype)]


def _for_machines(model: TableModel, learned: LearnedRules) -> dict[str, Any]:
    """What was learned."""
    measures = learned.measures.drop(columns="alert")
    rules = zip(learned.rules, learned.measures["alert"].tolist(), measures.iterrows(), strict=True)
    return {
        "rows": model.rows_,
        "positives": model.positives_,
        "measured_on_unseen_rows": learned.unseen,
        "rules": [
            {"name": rule.name, "alert": alert, **_plain(row)} for rule, alert, (_, row) in rules
        ],
    }


def _plain(row: pd.Series[Any], counts: Container[object] = _COUNTS) -> dict[str, Any]:
    """Values for JSON: counts are whole, and what is not a number is null."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if not isinstance(value, str):
            value = None if math.isnan(value) else int(value) if name in counts else float(value)
        found[str(name)] = value
    return found
