"""Rows of files are the transactions that their JSON would give."""

import json

import pandas as pd
import pytest

from rarefind.desk import Schema
from rarefind.desk.intake import Intake, IntakeError, read_transactions

SCHEMA = Schema.from_text(
    """
name = "cards"
[transaction]
id = "id"
time = "time"
amount = "amount"
time_zone = "Europe/Paris"
[transaction.columns]
country = "text"
ecommerce = "boolean"
limit = "number"
opened = "time"
[entities.card]
column = "card"
[alerts]
entity = "card"
"""
)
INTAKE = Intake(SCHEMA)
ROWS = [
    {"id": "1", "time": "2026-01-31T12:30:00", "amount": 12.34, "card": "007", "country": "FR"},
    {"id": "2", "time": "2026-07-31T12:30:00.5", "amount": -3, "card": "8", "ecommerce": True},
    {"id": "3", "time": "2026-03-29T02:30:00", "amount": 0, "card": "8", "limit": 1e5},
    {
        "id": "4",
        "time": "2026-10-25T02:30:00",
        "amount": 7.1,
        "card": "9",
        "opened": "2020-01-31T00:00:00",
    },
]
EXPECTED = [INTAKE.decode(json.dumps(row).encode()).transactions[0] for row in ROWS]


def frame():
    table = pd.DataFrame(ROWS).assign(fraud=0)
    return table.assign(ecommerce=table["ecommerce"].astype("boolean"))


def test_a_csv_gives_what_json_gives(tmp_path):
    frame().to_csv(tmp_path / "some.csv", index=False)
    assert list(read_transactions(tmp_path / "some.csv", INTAKE)) == EXPECTED
    assert list(read_transactions(tmp_path / "some.csv", INTAKE, rows=1)) == EXPECTED


def test_parquet_with_types_of_its_own_gives_what_json_gives(tmp_path):
    table = frame().drop(columns="opened")
    table["time"] = pd.to_datetime(table["time"], format="ISO8601")
    table["id"] = table["id"].astype("int64")
    table["country"] = table["country"].astype("category")
    table.to_parquet(tmp_path / "some.parquet")
    assert list(read_transactions(tmp_path / "some.parquet", INTAKE))[:3] == EXPECTED[:3]


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_times_with_a_zone_are_instants(tmp_path, zone):
    table = frame().head(2).drop(columns="opened")
    local = pd.to_datetime(table["time"], format="ISO8601").dt.tz_localize("Europe/Paris")
    table["time"] = local.dt.tz_convert(zone)
    table.to_parquet(tmp_path / "some.parquet")
    table.assign(time=[t.isoformat() for t in table["time"]]).to_csv(
        tmp_path / "some.csv", index=False
    )
    for name in ("some.parquet", "some.csv"):
        assert list(read_transactions(tmp_path / name, INTAKE)) == EXPECTED[:2]


def test_a_country_called_na_survives_parquet(tmp_path):
    frame().assign(country="NA").to_parquet(tmp_path / "some.parquet")
    found = list(read_transactions(tmp_path / "some.parquet", INTAKE))
    assert {each.values["country"] for each in found} == {"NA"}


def test_a_refusal_names_the_row(tmp_path):
    frame().assign(amount=[1, 2, 3.456, 4]).to_csv(tmp_path / "some.csv", index=False)
    with pytest.raises(IntakeError, match="more than 2 digits") as caught:
        list(read_transactions(tmp_path / "some.csv", INTAKE))
    assert caught.value.refusal.where == "row 4.amount"
    frame().assign(card=["1", None, "3", "4"]).to_csv(tmp_path / "some.csv", index=False)
    with pytest.raises(IntakeError, match=r"row 3\.card: The column 'card' is missing"):
        list(read_transactions(tmp_path / "some.csv", INTAKE))
    frame().drop(columns="card").to_csv(tmp_path / "some.csv", index=False)
    with pytest.raises(ValueError, match="has no column 'card'"):
        list(read_transactions(tmp_path / "some.csv", INTAKE))
