import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind.data import simulate_transactions, transaction_features
from rarefind.data.feature_list import STATISTICS, EntityFeatures, FeatureList
from rarefind.data.feature_table import feature_table
from rarefind.data.histories import Histories

START = pd.Timestamp("2026-03-28 20:00", tz="UTC")
WINDOWS = ("30min", "90min", "4h")
FEATURES = FeatureList(
    time="time",
    amount="amount",
    minor_units=2,
    entities=(
        EntityFeatures("card", "card", WINDOWS, STATISTICS, True, 3, True, ("shop", "country")),
        EntityFeatures("shop", "shop", WINDOWS, risk=True, distinct=("card",)),
    ),
    delay="1h",
    memory="6h",
    time_zone="Europe/Paris",
)


def arrive(table, features=FEATURES):
    """Features of rows that arrive one by one at a running system, as do their labels."""
    histories, found = Histories(features), {}
    steps = [(at, 1, row) for row, at in enumerate(table["arrival"])]
    # A label of the same number comes after the row; one known before its row comes with it.
    known = np.maximum(table["known_at"], table["arrival"])
    steps += [(at, 2, row) for row, at in enumerate(known) if not np.isnan(at)]
    # One that is taken back before it is known is never seen.
    back = np.maximum(table.get("taken_back_at", known * np.nan), known)
    steps += [(at, 3, row) for row, at in enumerate(back) if not np.isnan(at)]
    times = table["time"].dt.as_unit("ns").astype("int64").tolist()
    for _, what, row in sorted(steps):
        each = table.iloc[row]
        who = tuple(str(each[entity.column]) for entity in features.entities)
        if what >= 2:
            fraud = what == 2 and bool(each["fraud"])
            histories.add_label(f"{row}", who, times[row], fraud)
            continue
        distinct = [None if pd.isna(each[c]) else str(each[c]) for c in features.distinct]
        row_values = (who, times[row], round(each["amount"] * 100), distinct)
        found[row] = histories.describe(*row_values)
        histories.add(*row_values)
    return np.array([found[row] for row in range(len(table))])


@st.composite
def arrivals(draw):
    """Few times and entities; rows come late, and labels between them."""
    n = draw(st.integers(1, 40))

    def column(values):
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    return pd.DataFrame(
        {
            "time": START + pd.to_timedelta(np.array(column(range(50))) * 10, unit="min"),
            "card": column(["a", "b"]),
            "shop": column(["x", "y"]),
            "country": column(["FR", "BE", None]),
            "amount": column([0.0, 0.01, 3.33, -2.5, 1e7]),
            "fraud": column([0, 1]),
            "arrival": draw(st.permutations(range(0, 2 * n, 2))),
            "known_at": np.array(column([*range(1, 2 * n, 2), np.nan]), dtype=float),
            "taken_back_at": np.array(column([*range(1, 2 * n, 2), np.nan]), dtype=float),
        }
    )


@given(arrivals())
@settings(max_examples=150)
def test_a_table_says_what_a_running_system_said(table):
    given = {"arrival": "arrival", "label": "fraud", "known_at": "known_at"}
    found = feature_table(table, FEATURES, **given, taken_back_at="taken_back_at")
    assert tuple(found) == FEATURES.names
    np.testing.assert_array_equal(found.to_numpy(), arrive(table))
    found = feature_table(table, FEATURES, **given)
    table = table.drop(columns="taken_back_at")
    np.testing.assert_array_equal(found.to_numpy(), arrive(table))


def test_parity_on_simulated_payments_that_come_late():
    paid = simulate_transactions(60, 12, 40, radius=40, fraud_rate=40).iloc[:3_000]
    rng = np.random.default_rng(0)
    n = len(paid)
    arrival = np.arange(n) + np.where(rng.random(n) < 0.05, rng.integers(1, 300, n), 0.0)
    table = paid.assign(
        card=paid["customer"].astype(str),
        shop=paid["terminal"].astype(str),
        country=rng.choice(["FR", "BE"], n),
        time=paid["time"].dt.tz_localize("UTC"),
        arrival=pd.Series(arrival, paid.index).rank(method="first") * 2,
    )
    table["known_at"] = np.where(rng.random(n) < 0.8, table["arrival"] + 101, np.nan)
    found = feature_table(table, FEATURES, arrival="arrival", label="fraud", known_at="known_at")
    np.testing.assert_array_equal(found.to_numpy(), arrive(table))
    assert found["shop_fraud_count_4h"].max() >= 1


def test_rows_that_arrive_in_order_of_time_are_described_as_ever():
    paid = simulate_transactions(60, 12, 60, radius=40, fraud_rate=40).iloc[:5_000]
    plain = transaction_features(paid)
    for order in ({}, {"arrival": "number"}, {"arrival": "time"}):
        table = paid.assign(number=range(len(paid)))
        found = transaction_features(table, minor_units=2, **order)
        pd.testing.assert_frame_equal(found, plain, rtol=1e-12, atol=0)
    whole = paid.assign(amount=paid["amount"].round())
    pd.testing.assert_frame_equal(
        transaction_features(whole, minor_units=0), transaction_features(whole), check_exact=True
    )


def test_a_late_row_changes_nothing_that_was_said_before():
    table = pd.DataFrame(
        {
            "time": START + pd.to_timedelta([0, 2, 1, 3], unit="h"),
            "customer": 1,
            "terminal": 1,
            "amount": [1.0, 2.0, 4.0, 8.0],
            "arrival": range(4),
        }
    )
    found = transaction_features(
        table,
        label=None,
        windows=["1D"],
        statistics=["sum", "min"],
        last=2,
        minor_units=2,
        arrival="arrival",
    )
    assert found["customer_sum_1D"].tolist() == [1, 3, 5, 15]
    assert found["terminal_min_1D"].tolist() == [1, 1, 1, 1]
    assert found["customer_mean_last_2"].tolist() == [1, 1.5, 2.5, 5]
    assert found["customer_since_last"].tolist()[1:] == [7200, 3600, 3600]


def test_a_label_counts_for_rows_that_arrive_after_it_is_known():
    table = pd.DataFrame(
        {
            "time": START + pd.to_timedelta(range(5), unit="D"),
            "customer": 1,
            "terminal": 1,
            "amount": 1.0,
            "fraud": [1, 0, 0, 0, None],
            "arrival": START + pd.to_timedelta(range(5), unit="D"),
            "known_at": [START + pd.Timedelta("3D"), *[pd.NaT] * 4],
        }
    )
    options = {"delay": "1D", "windows": ["30D"], "minor_units": 0, "arrival": "arrival"}
    found = transaction_features(table, known_at="known_at", **options)
    assert found["terminal_fraud_count_30D"].tolist() == [0, 0, 0, 0, 1]
    assert found["terminal_risk_30D"].tolist() == [0, 0, 0, 0, 1 / 4], "silence is genuine"
    found = transaction_features(table, **options)
    assert found["terminal_fraud_count_30D"].tolist() == [0, 1, 1, 1, 1]


def test_different_values_are_counted():
    paid = simulate_transactions(20, 12, 20).assign(country="FR")
    found = transaction_features(
        paid, minor_units=2, windows=["7D"], distinct={"customer": ["terminal", "country"]}
    )
    recent = [
        paid[(paid["customer"] == row.customer) & (paid["time"] > row.time - pd.Timedelta("7D"))]
        .loc[:i, "terminal"]
        .nunique()
        for i, row in paid.head(300).iterrows()
    ]
    assert found["customer_distinct_terminal_7D"].head(300).tolist() == recent
    assert set(found["customer_distinct_country_7D"]) == {1.0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"statistics": ["sum"]}, "statistics needs minor_units"),
        ({"last": 5}, "last needs minor_units"),
        ({"arrival": "n"}, "arrival needs minor_units"),
        ({"minor_units": 0}, "more than 0 digits after its decimal point"),
        ({"minor_units": 9}, "minor_units is from 0 to 6"),
        ({"minor_units": 2, "arrival": "n"}, "no column 'n'"),
        ({"minor_units": 2, "known_at": "time"}, "name the column of arrivals too"),
        ({"minor_units": 2, "arrival": "time", "known_at": "amount"}, "both times or both numbers"),
        ({"minor_units": 2, "statistics": ["median"]}, "'median' is not one of them"),
        ({"minor_units": 2, "distinct": {"shop": ["time"]}}, "not of 'shop'"),
        ({"minor_units": 2, "distinct": {"customer": "terminal"}}, "lists of columns"),
        ({"minor_units": 2, "windows": ["1D", "1D"]}, "windows must differ"),
    ],
)
def test_mistakes_get_a_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        transaction_features(simulate_transactions(20, 12, 20), **arguments)
