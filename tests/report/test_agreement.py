"""The report's list is that of ``rank``, and its estimate that of ``fit``."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import rarefind
from rarefind.cli import app
from rarefind.report import make_report, write_report


def payments(start, days, seed):
    """Payments in Paris, half of them in the first hour of a day: the day before in UTC."""
    rng = np.random.default_rng(seed)
    rows = 25 * days
    hour = np.where(rng.random(rows) < 0.5, 0.5, rng.uniform(0, 24, rows))
    local = pd.Timestamp(start) + pd.to_timedelta(24 * np.repeat(np.arange(days), 25) + hour, "h")
    amount = rng.gamma(2, 30, rows).round(2)
    return pd.DataFrame(
        {
            "payment": [f"{seed}-{i}" for i in range(rows)],
            "when": pd.DatetimeIndex(local).tz_localize("Europe/Paris"),
            "customer": rng.integers(0, 12, rows),
            "region": rng.choice(["north", "south"], rows),
            "amount": amount,
            "fraud": (amount + rng.normal(0, 15, rows) > 130).astype(int),
        }
    )


def run(*arguments):
    result = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


LISTS = {
    "rows": ("--budget", "30"),
    "days": ("--budget", "2", "--per", "day"),
    "customers": ("--budget", "3", "--per", "day", "--one-per", "customer"),
    "share": ("--budget", "10%", "--per", "week", "--one-per", "customer"),
    "regions": ("--budget", "15", "--per", "region"),
}


@pytest.fixture(scope="module", params=LISTS)
def fitted(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    payments("2025-12-01", 40, 0).to_parquet(folder / "known.parquet")
    payments("2026-01-15", 12, 1).to_parquet(folder / "new.parquet")
    columns = ("--target", "fraud", "--time", "when", "--entity", "customer", "--id", "payment")
    fit = ("fit", folder / "known.parquet", *columns, *LISTS[request.param])
    estimate = run(*fit, "--model", "gamma-knn", "-o", folder / "model.rarefind")["estimate"]
    return folder, LISTS[request.param], estimate


def test_the_estimate_is_that_of_the_fit(fitted):
    folder, wanted, estimate = fitted
    files = (folder / "model.rarefind", folder / "new.parquet", "-o", folder / "page.html")
    for options in ((), wanted):
        figures = run("report", *files, *options)
        same = {name: figures["estimate"].get(name) for name in estimate}
        held_out = figures["estimate"]["held_out"]
        same |= {"how": held_out["how"], "budget": estimate["budget"], "per": estimate["per"]}
        same |= {"one_per": estimate["one_per"]}
        assert same == estimate
        curve_marks = figures["estimate"]["held_out"]["listed"]
        assert curve_marks == round(estimate["checks"])


def test_the_list_is_that_of_rank(fitted):
    folder, wanted, _ = fitted
    model, new = folder / "model.rarefind", folder / "new.parquet"
    ranked = pd.DataFrame(run("rank", model, new, *wanted, "--no-reasons"))
    figures = run("report", model, new, *wanted, "-o", folder / "page.html", "--top", "500")
    assert figures["budget"]["listed"] == len(ranked)
    assert {case["id"] for case in figures["cases"]} == set(ranked["payment"])
    table = payments("2026-01-15", 12, 1).set_index("payment")
    own = table.loc[ranked["payment"]]
    assert figures["on_file"]["hits"] == own["fraud"].sum()
    days = own["when"].dt.tz_localize(None).dt.strftime("%Y-%m-%d").value_counts()
    by_day = {p["start"]: p["checks"] for p in figures["file_over_time"]["periods"]}
    assert {day: checks for day, checks in by_day.items() if checks} == days.to_dict()


def test_half_past_midnight_in_paris_belongs_to_the_new_day(fitted):
    folder, _, _ = fitted
    figures = run(
        *("report", folder / "model.rarefind", folder / "new.parquet", "--budget", "1"),
        *("--per", "day", "-o", folder / "page.html"),
    )
    periods = figures["file_over_time"]["periods"]
    assert [p["start"] for p in periods] == [f"2026-01-{day}" for day in range(15, 27)]
    assert {p["rows"] for p in periods} == {25}
    assert {p["checks"] for p in periods} == {1}


def test_python_writes_what_the_command_writes(fitted):
    folder, wanted, _ = fitted
    named = dict(zip(wanted[::2], wanted[1::2], strict=True))
    options = {
        "budget": named["--budget"],
        "per": named.get("--per"),
        "one_per": named.get("--one-per"),
    }
    files = (folder / "model.rarefind", folder / "new.parquet")
    figures = run("report", *files, *wanted, "-o", folder / "page.html")
    report = write_report(*map(str, files), str(folder / "own.html"), **options)
    assert json.loads(json.dumps(report.figures)) == figures
    page = (folder / "own.html").read_text(encoding="utf-8")
    assert page == report.page == (folder / "page.html").read_text(encoding="utf-8")
    model = rarefind.load(files[0])
    table = payments("2026-01-15", 12, 1).set_index("payment", drop=False)
    of_table = make_report(model, table, **options).figures
    for part in ("budget", "estimate", "on_file", "file_over_time", "cases", "drift"):
        assert json.loads(json.dumps(of_table[part])) == figures[part], part
    assert of_table["model"] == {"file": None, "sha256": None}


def test_a_list_that_the_fit_did_not_hold_out_has_no_estimate(fitted):
    folder, _, _ = fitted
    files = (folder / "model.rarefind", folder / "new.parquet")
    report = make_report(*files, budget=3, one_per="region")
    assert report.figures["estimate"] is None
    assert "fitted for another period or column" in report.page
    assert report.figures["on_file"]["checks"] >= 2
