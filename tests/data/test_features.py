import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind._core.kernels import kernel
from rarefind.data import simulate_transactions, transaction_features

START = pd.Timestamp("2026-01-02 22:00")
DAY = pd.Timedelta("1D")


def naive_features(table, delay, windows):
    """The definition, row by row: goes over all earlier rows of the same customer or terminal."""
    delay, windows = seconds(delay), {name: seconds(name) for name in windows}
    clock = table["time"].tolist()
    at = [(time - START).total_seconds() for time in clock]
    amount, fraud = table["amount"].tolist(), table["fraud"].tolist()
    seen, found = {}, {}
    for i in sorted(range(len(table)), key=lambda i: (at[i], i)):
        features = {}
        for who in ("customer", "terminal"):
            past = seen.setdefault((who, table[who].iloc[i]), [])
            for name, width in windows.items():
                inside = [amount[j] for j in [*past, i] if at[j] > at[i] - width]
                features[f"{who}_count_{name}"] = len(inside)
                features[f"{who}_mean_{name}"] = math.fsum(inside) / len(inside)
            features[f"{who}_since_last"] = at[i] - at[past[-1]] if past else math.nan
            if who == "customer":
                earlier = [amount[j] for j in past if at[j] > at[i] - max(windows.values())]
                total = math.fsum(earlier)
                ratio = amount[i] / (total / len(earlier)) if total else math.nan
                features["amount_to_customer_mean"] = ratio
            past.append(i)
        known = [j for j in past[:-1] if at[j] <= at[i] - delay and not math.isnan(fraud[j])]
        for name, width in windows.items():
            labels = [fraud[j] for j in known if at[j] > at[i] - delay - width]
            features[f"terminal_risk_{name}"] = sum(labels) / len(labels) if labels else 0
            features[f"terminal_fraud_count_{name}"] = sum(labels)
        features["amount"] = amount[i]
        features["hour"] = clock[i].hour
        features["weekend"] = clock[i].weekday() in (5, 6)
        features["night"] = clock[i].hour < 7
        found[i] = features
    result = pd.DataFrame.from_dict(found, orient="index").sort_index()
    return result.astype(float).set_axis(table.index)


def seconds(length):
    return pd.Timedelta(length).total_seconds()


def assert_as_defined(table, delay="7D", windows=("1h", "1D", "7D", "30D")):
    features = transaction_features(table, delay=delay, windows=windows)
    expected = naive_features(table, delay, windows)
    assert sorted(features.columns) == sorted(expected.columns)
    pd.testing.assert_frame_equal(features[expected.columns], expected, rtol=1e-12, atol=0)


def simulated(n=5_000):
    """Busy customers and terminals, and much fraud, so that every feature is at work."""
    table = simulate_transactions(60, 12, 60, radius=40, fraud_rate=40).iloc[:n]
    assert len(table) == n
    return table


def test_features_are_those_of_the_definition():
    table = simulated()
    assert 0.05 < table["fraud"].mean() < 0.5
    assert_as_defined(table)


@st.composite
def tables(draw):
    """Few times, customers and terminals, so that ties and window edges are the rule."""
    n = draw(st.integers(1, 30))

    def column(values):
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    times = START + pd.to_timedelta(np.array(column(range(12))) * 30, unit="min")
    return pd.DataFrame(
        {
            "time": times,
            "customer": column(["a", "b"]),
            "terminal": column([7, 8, 9]),
            "amount": column([0.0, 0.01, 0.1, 3.3, 1e16]),
            "fraud": column([0.0, 1.0, math.nan]),
        },
        index=column(["x", "y", "z"]),
    )


@given(tables(), st.sampled_from(["0h", "30min", "1h"]))
@settings(max_examples=200, deadline=None)
def test_features_are_those_of_the_definition_among_ties(table, delay):
    assert_as_defined(table, delay, ("30min", "1h", "90min"))


@given(tables(), st.integers(0, 12), st.sampled_from([0, 1, 2]), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_the_future_changes_nothing(table, now, delay, random):
    now, delay = START + now * pd.Timedelta("30min"), delay * pd.Timedelta("30min")
    past = (table["time"] <= now).to_numpy()
    # A row at `now` may see labels up to now − delay and no younger ones.
    young = (table["time"] > now - delay).to_numpy()
    altered = {"fraud": np.where(young, 1 - table["fraud"].fillna(0), table["fraud"])}
    for column in ("customer", "terminal", "amount"):
        values = table[column].to_numpy(copy=True)
        values[~past] = random.sample(values[~past].tolist(), int((~past).sum()))
        altered[column] = values
    kept = [old or random.random() < 0.5 for old in past]

    def features(rows):
        found = transaction_features(rows, delay=delay, windows=("1h", "90min"))
        return found[(rows["time"] <= now).to_numpy()]

    before, after = features(table), features(table.assign(**altered)[kept])
    pd.testing.assert_frame_equal(before, after, check_exact=True)


def test_a_shuffled_future_changes_nothing_in_simulated_payments():
    table = simulated()
    now = START + 30 * DAY
    past = (table["time"] <= now).to_numpy()
    altered = table.copy()
    rng = np.random.default_rng(0)
    for column in ("customer", "terminal", "amount", "fraud"):
        altered.loc[~past, column] = rng.permutation(altered.loc[~past, column])
    young = past & (table["time"] > now - 7 * DAY)
    altered.loc[young, "fraud"] = 1 - altered.loc[young, "fraud"]
    assert 100 < young.sum() < past.sum() < len(table)
    before, after = transaction_features(table), transaction_features(altered)
    pd.testing.assert_frame_equal(before[past], after[past], check_exact=True)
    assert not before[~past].equals(after[~past])


def test_the_order_of_rows_does_not_matter_without_ties():
    table = simulated().drop_duplicates("time")
    mixed = table.sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(
        transaction_features(mixed).loc[table.index], transaction_features(table), check_exact=True
    )


def test_rows_of_the_same_time_count_in_the_order_of_the_table():
    table = pd.DataFrame(
        {"time": START, "customer": 1, "terminal": 1, "amount": [1.0, 3.0, 8.0], "fraud": 1}
    )
    found = transaction_features(table, delay="0D", windows=["1D"])
    assert found["customer_count_1D"].tolist() == [1, 2, 3]
    assert found["terminal_mean_1D"].tolist() == [1, 2, 4]
    assert found["customer_since_last"].tolist()[1:] == [0, 0]
    assert found["amount_to_customer_mean"].tolist()[1:] == [3, 4]
    assert found["terminal_fraud_count_1D"].tolist() == [0, 1, 2], "never its own label"


def test_labels_count_from_the_delay_on():
    table = pd.DataFrame(
        {
            "time": START + pd.to_timedelta([0, 1, 7, 8, 9, 10], unit="D"),
            "customer": range(6),
            "terminal": 1,
            "amount": 1.0,
            "fraud": [1, 0, 0, 0, 0, 0],
        }
    )
    found = transaction_features(table, windows=["1D", "2D"])
    assert found["terminal_fraud_count_1D"].tolist() == [0, 0, 1, 0, 0, 0]
    assert found["terminal_fraud_count_2D"].tolist() == [0, 0, 1, 1, 0, 0]
    assert found["terminal_risk_2D"].tolist() == [0, 0, 1, 0.5, 0, 0]


def test_rows_without_a_label_neither_raise_nor_lower_the_risk():
    table = pd.DataFrame(
        {
            "time": START + pd.to_timedelta([0, 1, 2, 9], unit="D"),
            "customer": 1,
            "terminal": 1,
            "amount": 1.0,
            "fraud": pd.array([1, 0, None, None], dtype="Int64"),
        }
    )
    found = transaction_features(table, windows=["30D"])
    assert found["terminal_risk_30D"].tolist() == [0, 0, 0, 0.5]
    assert found["terminal_fraud_count_30D"].tolist() == [0, 0, 0, 1]


def test_sums_do_not_drift():
    n = 200_000
    amount = np.random.default_rng(0).integers(0, 10_000, n) / 100
    amount[10] = 1e17
    time = START + pd.to_timedelta(np.arange(n), unit="min")
    table = pd.DataFrame({"time": time, "customer": 1, "terminal": 1, "amount": amount})
    found = transaction_features(table, label=None, windows=["1h"])["customer_mean_1h"]
    rows = range(1_000, n, 997)
    expected = [math.fsum(amount[i - 59 : i + 1]) / 60 for i in rows]
    np.testing.assert_allclose(found.iloc[rows], expected, rtol=1e-14)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_any_unit_of_time_gives_the_same(unit):
    table = simulated()
    other = table.assign(time=table["time"].dt.as_unit(unit))
    pd.testing.assert_frame_equal(transaction_features(other), transaction_features(table))


def test_clocks_show_local_time_and_windows_measure_real_time():
    utc = pd.to_datetime(["2026-03-29 00:30", "2026-03-29 01:30"], utc=True)  # clocks go forward
    table = pd.DataFrame({"time": utc.tz_convert("Europe/Paris"), "customer": 1, "terminal": 1})
    found = transaction_features(table.assign(amount=1.0), label=None, windows=["90min"])
    assert found["hour"].tolist() == [1, 3]
    assert found["customer_since_last"].tolist()[1] == 3600
    assert found["customer_count_90min"].tolist() == [1, 2]


def test_names_types_and_the_index_are_the_callers():
    table = simulated(300)
    plain = transaction_features(table, windows=["1D"])
    other = pd.DataFrame(
        {
            "at": table["time"],
            "card": "c" + table["customer"].astype(str),
            "shop": table["terminal"].astype("category"),
            "euros": table["amount"],
            "bad": table["fraud"].astype(bool),
        }
    ).set_axis(np.arange(300) // 2)
    names = {"time": "at", "customer": "card", "terminal": "shop", "amount": "euros"}
    found = transaction_features(other, **names, label="bad", windows=["1D"])
    assert found.index.equals(other.index)
    assert set(found.dtypes) == {np.dtype("float64")}
    pd.testing.assert_frame_equal(found.set_axis(table.index), plain)


def test_without_labels_there_is_no_risk():
    table = simulated(300).drop(columns="fraud")
    names = list(transaction_features(table, label=None))
    assert len(names) == 4 * 4 + 2 + 1 + 4
    assert not any("risk" in name or "fraud" in name for name in names)


def test_the_table_given_is_left_alone():
    table = simulated(300)
    before = table.copy()
    found = transaction_features(table)
    found.loc[:, "amount"] = -1
    pd.testing.assert_frame_equal(table, before)


def test_an_empty_table_has_the_same_columns():
    table = simulated(300)
    found = transaction_features(table.iloc[:0])
    assert found.shape == (0, 31)
    assert list(found) == list(transaction_features(table))


def with_values(column, rows, value):
    def change(table):
        values = table[column].astype(object)
        values.iloc[:rows] = value
        return table.assign(**{column: values.infer_objects()})

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns=["terminal", "amount"]), "no column 'terminal', 'amount';"),
        (lambda t: t.drop(columns="fraud"), r"no column 'fraud' \(label=None does without"),
        (with_values("time", 3, pd.NaT), r"missing in 'time' \(3 rows\)"),
        (with_values("customer", 2, None), r"missing in 'customer' \(2 rows\)"),
        (with_values("amount", 4, math.nan), r"missing in 'amount' \(4 rows\)"),
        (with_values("amount", 2, math.inf), "'amount' is infinite in 2 rows"),
        (with_values("amount", 1, "12 €"), "'amount' must hold numbers"),
        (with_values("fraud", 5, 2), "'fraud' must be 0 or 1, and is not in 5 rows"),
        (lambda t: t.assign(time=t["time"].astype(str)), "must hold datetimes.*to_datetime"),
        (lambda t: t.to_numpy(), "must be a pandas DataFrame, not ndarray"),
    ],
)
def test_mistakes_in_the_table_get_a_sentence(change, message):
    with pytest.raises(ValueError, match=message):
        transaction_features(change(simulated(300)))


def test_all_holes_are_named_at_once():
    table = with_values("terminal", 1, None)(with_values("time", 2, pd.NaT)(simulated(300)))
    with pytest.raises(ValueError, match=r"'time' \(2 rows\), 'terminal' \(1 rows\)"):
        transaction_features(table)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delay": "-1D"}, "delay must not be negative"),
        ({"delay": "a week"}, "delay: 'a week' is not a length of time"),
        ({"windows": "7D"}, "windows must be a list"),
        ({"windows": []}, "windows must be a list"),
        ({"windows": ["1D", "soon"]}, "windows: 'soon' is not a length of time"),
        ({"windows": ["1D", "1D"]}, "windows must differ"),
        ({"windows": ["1D", "0D"]}, "windows must be longer than 0"),
    ],
)
def test_mistakes_in_arguments_get_a_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        transaction_features(simulated(300), **arguments)


def test_windows_longer_than_all_time_hold_everything():
    table = simulated(300)
    found = transaction_features(table, windows=["106000D"], delay="50000D")
    count = found["customer_count_106000D"]
    np.testing.assert_array_equal(count, table.groupby("customer").cumcount() + 1)
    assert not found["terminal_risk_106000D"].any()


def test_a_kernel_without_a_place_for_its_cache_still_compiles():
    scope = {}
    exec("def double(x):\n    return 2 * x", scope)  # a function without a file cannot be cached
    assert kernel(scope["double"])(21) == 42
