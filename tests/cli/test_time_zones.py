"""A time is of the same day for all commands: that of the clock on the spot."""

import json

import numpy as np
import pandas as pd
import pytest


def nights(rows=600, seed=0):
    """Payments between 23:00 and 1:00 in Paris, where all days differ from those of UTC."""
    rng = np.random.default_rng(seed)
    start = pd.Timestamp("2026-01-01 23:00")
    minutes = 24 * 60 * (np.arange(rows) // 10) + rng.integers(0, 120, rows)
    amount = rng.lognormal(4, 1, rows).round(2)
    local = start + pd.to_timedelta(minutes, unit="min")
    return pd.DataFrame(
        {
            "when": local.tz_localize("Europe/Paris"),
            "amount": amount,
            "age": rng.integers(18, 90, rows),
            "fraud": np.where(amount > np.quantile(amount, 0.9), "yes", "no"),
        }
    )


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_fit_rank_and_monitor_have_the_same_days(rarefind, tmp_path, kind):
    table = nights()
    data, model = tmp_path / f"nights.{kind}", tmp_path / "model.rarefind"
    if kind == "csv":
        table.to_csv(data, index=False)
        assert "+01:00" in data.read_text()
    else:
        table.to_parquet(data)
    fitted = rarefind(
        *("fit", data, "--target", "fraud", "--time", "when", "--budget", "1", "--per", "day"),
        *("--model", "gamma-knn", "--json", "-o", model),
    )
    assert fitted.returncode == 0, fitted.stderr
    held = table.iloc[-150:]
    days = held["when"].dt.strftime("%Y-%m-%d")
    assert json.loads(fitted.stdout)["estimate"]["checks"] == days.nunique()
    held.to_csv(tmp_path / "held.csv", index=False)
    ranked = rarefind(
        *("rank", model, tmp_path / "held.csv", "--budget", "1", "--per", "day", "--json"),
        "--no-reasons",
    )
    assert ranked.returncode == 0, ranked.stderr
    rows = pd.DataFrame(json.loads(ranked.stdout)["list"])
    assert rows["day"].tolist() == sorted(days.unique())
    assert (days.iloc[rows["row"]].to_numpy() == rows["day"]).all()
    watched = rarefind("monitor", model, tmp_path / "held.csv", "--json")
    assert watched.returncode == 0, watched.stderr
    found = json.loads(watched.stdout)
    assert found["list"]["listed"] == len(rows)
    weeks = held["when"].dt.tz_localize(None).dt.to_period("W").dt.start_time
    assert [week["week"] for week in found["weeks"]] == sorted(
        weeks.dt.strftime("%Y-%m-%d").unique()
    )


def test_a_column_has_its_groups(rarefind, files, tmp_path):
    """Checks a region, one of each customer: estimated, ranked and judged alike."""
    asked = ("--budget", "3", "--per", "region", "--one-per", "customer")
    model = tmp_path / "model.rarefind"
    fitted = rarefind(
        *("fit", files.known, "--target", "false", "--time", "day", "--id", "claim", *asked),
        *("--entity", "customer", "--model", "gamma-knn", "-o", model),
    )
    assert fitted.returncode == 0, fitted.stderr
    said = " ".join(fitted.stdout.split())
    assert "What 12 checks, 3 each region, one of each customer, of" in said
    assert f"rank {model} FILE --budget 3 --per region --one-per customer -o" in fitted.stdout
    ranked = rarefind("rank", model, files.new, *asked, "--no-reasons", "--json")
    rows = pd.DataFrame(json.loads(ranked.stdout)["list"])
    regions = rows["region"].fillna("none").tolist()
    assert regions == ["east"] * 3 + ["north"] * 3 + ["south"] * 3 + ["none"] * 3
    assert rows["rank"].tolist() == [1, 2, 3] * 4
    files.labelled.to_csv(tmp_path / "labelled.csv", index=False)
    watched = rarefind("monitor", model, tmp_path / "labelled.csv", "--json")
    found = json.loads(watched.stdout)["list"]
    assert (found["listed"], found["checked"]) == (12, 12)
    assert found["hits"] == (files.labelled["false"].iloc[rows["row"]] == "yes").sum()
    compared = rarefind(
        *("compare", files.known, "--target", "false", "--time", "day", "--drop", "claim", *asked),
        *("--entity", "customer", "--model", "gamma-knn", "--json"),
    )
    assert compared.returncode == 0, compared.stderr
    assert {each["checks"] for each in json.loads(compared.stdout)["models"]} == {12}
