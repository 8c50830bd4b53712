"""A desk.toml proposed from a table."""

import pandas as pd
import pytest

from rarefind.data import read_table, simulate_transactions
from rarefind.desk import Schema
from rarefind.desk.intake import Intake, guess_schema, read_transactions

TABLE = pd.DataFrame(
    {
        "TRANSACTION_ID": range(100),
        "TX_DATETIME": pd.date_range("2026-01-01", periods=100, freq="h"),
        "CUSTOMER_ID": [i % 7 for i in range(100)],
        "TERMINAL_ID": [i % 11 for i in range(100)],
        "TX_AMOUNT": [i / 4 for i in range(100)],
        "response": ["approved", "wrong pin"] * 50,
        "country": ["FR", "BE"] * 50,
        "ecommerce": [True, False] * 50,
        "opened": pd.date_range("2020-01-01", periods=100, freq="D"),
        "nothing": None,
        "TX_FRAUD": [0] * 99 + [1],
    }
)


def test_columns_are_found_by_name_and_value():
    schema, notes = guess_schema(TABLE, "cards")
    own = schema.transaction
    assert (own.id, own.time, own.amount) == ("TRANSACTION_ID", "TX_DATETIME", "TX_AMOUNT")
    assert own.minor_units == 2
    assert (own.outcome, own.accepted) == ("response", ("approved",))
    assert own.columns == {"country": "text", "ecommerce": "boolean", "opened": "time"}
    assert schema.entities["customer"].column == "CUSTOMER_ID"
    assert schema.entities["customer"].distinct == ("TERMINAL_ID", "country")
    assert schema.entities["terminal"].risk
    assert schema.alerts.entity == "customer"
    assert Schema.from_text(schema.to_text()) == schema
    assert notes == (
        "'nothing' has no values and is left out.",
        "'TX_FRAUD' looks like a label and is left out.",
    )


def test_a_person_knows_better():
    schema, _ = guess_schema(
        TABLE, id="TX_DATETIME", time="opened", entities=["TERMINAL_ID"], target="country"
    )
    assert schema.transaction.time == "opened"
    assert list(schema.entities) == ["terminal"]
    assert "country" not in schema.columns


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["TX_DATETIME", "opened"], "No column has times"),
        (["CUSTOMER_ID", "TERMINAL_ID"], "No column says who pays"),
        (["TX_AMOUNT"], "No column is known by its name as the amount"),
        (["TRANSACTION_ID"], "No column has another value in each row"),
    ],
)
def test_what_cannot_be_found_is_asked_for(columns, message):
    with pytest.raises(ValueError, match=message):
        guess_schema(TABLE.drop(columns=columns))


@pytest.mark.parametrize(("amounts", "digits"), [([1, 2], 0), ([1.5, 2], 2), ([1.234, 5], 3)])
def test_digits_are_counted(amounts, digits):
    table = TABLE.assign(TX_AMOUNT=amounts * 50)
    assert guess_schema(table).schema.transaction.minor_units == digits


def test_a_simulated_file_can_be_read_by_its_guess(tmp_path):
    table = simulate_transactions(20, 10, 3, details=True)
    table.to_csv(tmp_path / "some.csv", index=False)
    schema, _ = guess_schema(read_table(tmp_path / "some.csv"))
    found = list(read_transactions(tmp_path / "some.csv", Intake(schema)))
    assert len(found) == len(table)
    assert [each.amount for each in found] == (table["amount"] * 100).round().astype(int).tolist()
    assert [entity.column for entity in schema.entities.values()] == ["customer", "terminal"]
    assert schema.transaction.outcome == "outcome"
    assert not {"fraud", "fraud_kind", "claimed_at"} & set(schema.columns)


def test_the_budget_and_the_time_zone_may_be_given():
    schema, _ = guess_schema(TABLE, budget=7, time_zone="Europe/Paris")
    assert (schema.alerts.budget, schema.transaction.time_zone) == (7, "Europe/Paris")
    with pytest.raises(ValueError, match="'Nowhere' is not a time zone"):
        guess_schema(TABLE, time_zone="Nowhere")
