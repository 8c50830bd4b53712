"""A file is described as the desk would have described its transactions one by one."""

import numpy as np
import pandas as pd
import pytest

from rarefind.desk import Schema
from rarefind.desk.features import FeatureState, describe_file
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
[entities.card]
column = "card"
windows = ["1h", "1D"]
distinct = ["country"]
risk = true
[alerts]
entity = "card"
[labels]
delay = "1D"
"""
)


def write(folder, **changes):
    random = np.random.default_rng(0)
    rows = 300
    table = {
        "id": [f"t{i}" for i in range(rows)],
        # By the clock of the desk, over the night in which it is put forward.
        "time": pd.date_range("2026-03-28T20:00", periods=rows, freq="17min")
        .tz_localize("UTC")
        .tz_convert("Europe/Paris")
        .strftime("%Y-%m-%d %H:%M:%S"),
        "card": random.choice(["007", "08", "9"], rows),
        "amount": random.integers(0, 5_000, rows) / 100,
        "country": random.choice(["FR", "NL", ""], rows),
        "ecommerce": random.choice(["yes", "no"], rows),
        "fraud": random.choice([0, 1], rows, p=[0.9, 0.1]),
        "reference": [f"r{i}" for i in range(rows)],
    }
    path = folder / "payments.csv"
    pd.DataFrame(table | changes).to_csv(path, index=False)
    return path


def test_the_features_are_those_of_the_desk(tmp_path):
    path = write(tmp_path)
    table = describe_file(path, SCHEMA)
    state = FeatureState(SCHEMA)
    for transaction, (_, row) in zip(
        read_transactions(path, Intake(SCHEMA)), table.iterrows(), strict=True
    ):
        online = state.describe(transaction)
        np.testing.assert_array_equal(online, row[list(state.names)].to_numpy(dtype=float))
        state.add(transaction)
        assert row["card"] == transaction.values["card"]
        assert row["time"] == transaction.values["time"]
        assert row["ecommerce"] == transaction.values["ecommerce"]
    assert table["reference"].iloc[7] == "r7"
    assert table["country"].isna().sum() > 50


def test_labels_are_known_after_their_delay(tmp_path):
    known = describe_file(write(tmp_path), SCHEMA, label="fraud")
    assert known["card_fraud_count_1D"].sum() > 0
    assert describe_file(write(tmp_path), SCHEMA)["card_fraud_count_1D"].sum() == 0
    assert known["fraud"].isin([0, 1]).all()


def test_what_the_desk_would_refuse_is_named_by_its_row(tmp_path):
    amounts = [1.0] * 300
    amounts[3] = 0.001
    with pytest.raises(IntakeError) as refused:
        describe_file(write(tmp_path, amount=amounts), SCHEMA)
    assert refused.value.refusal.where == "row 5.amount"
    with pytest.raises(ValueError, match="'frauds'"):
        describe_file(write(tmp_path), SCHEMA, label="frauds")
