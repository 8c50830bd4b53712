"""A time is of the same day for all commands: that of the clock on the spot."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score

from rarefind import TableModel
from rarefind.data import read_table
from rarefind.trees import MetaAPClassifier


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
    assert (days.iloc[rows["row"] - 2].to_numpy() == rows["day"]).all()
    watched = rarefind("monitor", model, tmp_path / "held.csv", "--json")
    assert watched.returncode == 0, watched.stderr
    found = json.loads(watched.stdout)
    assert found["list"]["listed"] == len(rows)
    weeks = held["when"].dt.tz_localize(None).dt.to_period("W").dt.start_time
    assert [week["week"] for week in found["weeks"]] == sorted(
        weeks.dt.strftime("%Y-%m-%d").unique()
    )


def test_an_offset_of_winter_is_the_same_clock_in_summer(tmp_path):
    """A model of +01:00 read the hours of +02:00 an hour too early."""
    rng = np.random.default_rng(0)
    for season, start in (("winter", "2026-01-05"), ("summer", "2026-06-05")):
        local = pd.Timestamp(start) + pd.to_timedelta(rng.integers(0, 28_800, 600), unit="min")
        table = pd.DataFrame({"opened": local.tz_localize("Europe/Paris")})
        table = table.assign(other=rng.normal(size=600), night=np.where(local.hour == 9, 1, 0))
        table.to_csv(tmp_path / f"{season}.csv", index=False)
        table.to_parquet(tmp_path / f"{season}.parquet")
        table.assign(opened=local).to_parquet(tmp_path / f"{season}-naive.parquet")
    estimator = MetaAPClassifier(random_state=0)
    model = TableModel(estimator, target="night").fit(read_table(tmp_path / "winter.csv"))
    summer = read_table(tmp_path / "summer.csv")
    assert set(summer["opened"].map(lambda time: time.utcoffset().total_seconds())) == {7200}
    expected = model.priority(summer)
    assert average_precision_score(summer["night"], expected) > 0.95
    for other in ("summer.parquet", "summer-naive.parquet"):
        np.testing.assert_array_equal(model.priority(read_table(tmp_path / other)), expected)
    drift = model.drift_reference_.counter().update(summer).table().set_index("column")
    assert drift.loc["opened", "verdict"] == "stable"


def test_a_list_as_json_has_the_local_time(rarefind, tmp_path):
    """The list said day 2 January beside a time of 1 January, in UTC."""
    table, model = nights(), tmp_path / "model.rarefind"
    table.to_csv(tmp_path / "nights.csv", index=False)
    asked = ("--target", "fraud", "--time", "when", "--budget", "1", "--per", "day")
    fitted = rarefind("fit", tmp_path / "nights.csv", *asked, "--model", "gamma-knn", "-o", model)
    assert fitted.returncode == 0, fitted.stderr
    zones = np.array(["Europe/Paris", "America/New_York", "Asia/Tokyo"])[np.arange(600) % 3]
    mixed = [time.tz_convert(zone) for time, zone in zip(table["when"], zones, strict=True)]
    table.assign(when=[time.isoformat() for time in mixed]).to_csv(tmp_path / "m.csv", index=False)
    for name, times in (("nights.csv", table["when"]), ("m.csv", pd.Series(mixed))):
        said = rarefind(
            *("rank", model, tmp_path / name, "--budget", "1", "--per", "day", "--json"),
            "--no-reasons",
        )
        rows = json.loads(said.stdout)["list"]
        assert [row["when"][:10] for row in rows] == [row["day"] for row in rows]
        assert [row["when"] for row in rows] == [times[row["row"] - 2].isoformat() for row in rows]


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
    assert f"rank {model} FILE -o list.csv" in fitted.stdout
    ranked = rarefind("rank", model, files.new, *asked, "--no-reasons", "--json")
    rows = pd.DataFrame(json.loads(ranked.stdout)["list"])
    regions = rows["region"].fillna("none").tolist()
    assert regions == ["east"] * 3 + ["north"] * 3 + ["south"] * 3 + ["none"] * 3
    assert rows["rank"].tolist() == [1, 2, 3] * 4
    files.labelled.to_csv(tmp_path / "labelled.csv", index=False)
    watched = rarefind("monitor", model, tmp_path / "labelled.csv", "--json")
    found = json.loads(watched.stdout)["list"]
    assert (found["listed"], found["checked"]) == (12, 12)
    assert found["hits"] == (files.labelled["false"].iloc[rows["row"] - 2] == "yes").sum()
    compared = rarefind(
        *("compare", files.known, "--target", "false", "--time", "day", "--drop", "claim", *asked),
        *("--entity", "customer", "--model", "gamma-knn", "--json"),
    )
    assert compared.returncode == 0, compared.stderr
    assert {each["checks"] for each in json.loads(compared.stdout)["models"]} == {12}
