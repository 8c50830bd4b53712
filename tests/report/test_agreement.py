"""The report's list is that of ``rank``, and its estimate that of ``fit``."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import rarefind
from rarefind.cli import app
from rarefind.plots import BudgetCurveDisplay
from rarefind.report import make_report, write_report
from rarefind.report._estimate import held_out_list
from rarefind.tables import monitor
from rarefind.tables.lists import ListRequest


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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("agreement")
    payments("2025-12-01", 40, 0).to_parquet(folder / "known.parquet")
    payments("2026-01-15", 12, 1).to_parquet(folder / "new.parquet")
    return folder


@pytest.fixture(scope="module")
def estimates(folder):
    """What ``fit`` estimates of each list; the models are in the folder."""
    columns = ("--target", "fraud", "--time", "when", "--entity", "customer", "--id", "payment")
    fit = ("fit", folder / "known.parquet", *columns, "--model", "gamma-knn")
    return {
        name: run(*fit, *wanted, "-o", folder / f"{name}.rarefind")["estimate"]
        for name, wanted in LISTS.items()
    }


@pytest.fixture(scope="module", params=LISTS)
def reported(request, folder, estimates):
    """A list, and the figures of the report on it: the list is that of the fit."""
    name = request.param
    files = (folder / f"{name}.rarefind", folder / "new.parquet", "-o", folder / f"{name}.html")
    return name, run("report", *files, "--top", "500")


def test_the_estimate_is_that_of_the_fit(reported, estimates):
    name, figures = reported
    found, fitted = figures["estimate"], estimates[name]
    fitted = dict(fitted)
    asked = {key: fitted.pop(key) for key in ("how", "budget", "per", "one_per")}
    assert {key: found[key] for key in fitted} == fitted
    assert found["held_out"]["how"] == asked["how"]
    assert found["held_out"]["listed"] == round(fitted["checks"])
    assert (figures["budget"]["per"], figures["budget"]["one_per"]) == (
        asked["per"],
        asked["one_per"],
    )


def test_fit_curve_and_monitor_have_one_estimate(reported, folder, estimates):
    """Each of them had a precision of its own: by lists, by a curve, by the top of all rows."""
    name, _ = reported
    model = rarefind.load(folder / f"{name}.rarefind")
    request = ListRequest(model.estimate_.budget, model.estimate_.per, model.estimate_.one_per)
    fitted = estimates[name]["precision"]
    held_out = held_out_list(model, request)
    curve = BudgetCurveDisplay.from_predictions(
        held_out.labels.positive,
        held_out.curves["This model"],
        budget=int(held_out.listed.sum()),
    )
    assert np.interp(curve.budget, curve.checks, curve.hits) / curve.budget == pytest.approx(
        fitted["value"]
    )
    # A file of as many rows as were held out: so many checks go as deep there.
    rows = model.estimate_.positive.size
    new = pd.concat([payments("2026-01-15", 12, seed) for seed in (1, 2)])[:rows]
    watched = monitor(model, [new]).checked
    if held_out.listed.sum() < 20:
        assert watched.held_out is None, "too few checks say nothing of a list"
    else:
        assert watched.held_out._asdict() == pytest.approx(fitted)


def test_the_list_is_that_of_rank(reported, folder):
    name, figures = reported
    files = (folder / f"{name}.rarefind", folder / "new.parquet")
    ranked = pd.DataFrame(run("rank", *files, *LISTS[name], "--no-reasons")["list"])
    assert figures["budget"]["listed"] == len(ranked)
    assert {case["id"] for case in figures["cases"]} == set(ranked["payment"])
    listed = payments("2026-01-15", 12, 1).set_index("payment").loc[ranked["payment"]]
    assert figures["on_file"]["hits"] == listed["fraud"].sum()
    periods = figures["file_over_time"]["periods"]
    days = listed["when"].dt.tz_localize(None).dt.strftime("%Y-%m-%d").value_counts()
    assert {p["start"]: p["checks"] for p in periods if p["checks"]} == days.to_dict()
    # Half past midnight in Paris, which half of the rows are of, belongs to the new day.
    assert [p["start"] for p in periods] == [f"2026-01-{day}" for day in range(15, 27)]
    assert {p["rows"] for p in periods} == {25}


def test_python_writes_what_the_command_writes(folder, estimates):
    model, data = folder / "days.rarefind", folder / "new.parquet"
    options = ("--budget", "3", "--per", "week", "--one-per", "customer")
    figures = run("report", model, data, *options, "-o", folder / "page.html")
    wanted = {"budget": 3, "per": "week", "one_per": True}
    report = write_report(str(model), str(data), str(folder / "own.html"), **wanted)
    assert json.loads(json.dumps(report.figures)) == figures
    page = (folder / "own.html").read_text(encoding="utf-8")
    assert page == report.page == (folder / "page.html").read_text(encoding="utf-8")
    table = payments("2026-01-15", 12, 1).set_index("payment", drop=False)
    of_table = make_report(rarefind.load(model), table, **wanted).figures
    for case in figures["cases"]:
        case["row"] -= 2  # a table counts its rows from 0, a file its lines
    for part in ("budget", "estimate", "on_file", "file_over_time", "cases", "drift"):
        assert json.loads(json.dumps(of_table[part])) == figures[part], part
    assert of_table["model"] == {"file": None, "sha256": None}


def test_a_budget_that_is_given_stands_alone_as_in_rank_and_monitor(folder, estimates):
    """The report took the period of the fit, and so had 3 checks a day where others have 3."""
    files = (folder / "customers.rarefind", folder / "new.parquet")
    figures = run("report", *files, "-k", "3", "-o", folder / "page.html")
    budget = figures["budget"]
    assert (budget["listed"], budget["per"], budget["one_per"]) == (3, None, None)
    assert run("rank", *files, "-k", "3", "--no-reasons")["checks"] == 3
    assert run("monitor", *files, "-k", "3")["list"]["listed"] == 3
    by_week = run("report", *files, "--per", "week", "-o", folder / "page.html")["budget"]
    assert (by_week["per"], by_week["one_per"]) == ("week", "customer")


def test_a_list_that_the_fit_did_not_hold_out_has_no_estimate(folder, estimates):
    files = (folder / "days.rarefind", folder / "new.parquet")
    report = make_report(*files, budget=3, per="day", one_per="region")
    assert report.figures["estimate"] is None
    assert "fitted for another period or column" in report.page
    assert report.figures["on_file"]["checks"] == 2 * 12, "once a region and day"
