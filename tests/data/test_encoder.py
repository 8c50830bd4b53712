import datetime as dt
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from rarefind.data import TableEncoder
from rarefind.data.types import from_arrow


@parametrize_with_checks(
    [TableEncoder(), TableEncoder(missing="fill", scale=True), TableEncoder(levels="code")]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# Tables of every type, with missing values --------------------------------------------------

VALUES = {
    "number": st.floats(-1e9, 1e9),
    "whole": st.integers(-(2**40), 2**40),
    "boolean": st.booleans(),
    "few": st.sampled_from(["FR", "BE", "L U", "é", "n/a"]),
    "text": st.text(max_size=4) | st.sampled_from(["0", "1", "2020-01-01", "yes", "no", ""]),
    "date": st.dates(dt.date(1971, 1, 1), dt.date(2100, 1, 1)),
    "time": st.datetimes(dt.datetime(1971, 1, 1), dt.datetime(2100, 1, 1)),
}


@st.composite
def columns(draw, rows):
    kinds = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=5))
    missing = draw(st.booleans())
    return {
        f"{kind} {i}": draw(
            st.lists(
                st.none() | VALUES[kind] if missing else VALUES[kind], min_size=rows, max_size=rows
            )
        )
        for i, kind in enumerate(kinds)
    }


POLARS = {
    "number": pl.Float64,
    "whole": pl.Int64,
    "boolean": pl.Boolean,
    "few": pl.Categorical,
    "text": pl.String,
    "date": pl.Date,
    "time": pl.Datetime("us"),
}


def in_polars(table):
    return pl.DataFrame(table, schema={name: POLARS[name.split()[0]] for name in table})


def in_pandas(table):
    return pd.DataFrame({name: pd.Series(values) for name, values in table.items()})


settings_of = st.fixed_dictionaries(
    {
        "missing": st.sampled_from(["keep", "fill"]),
        "scale": st.booleans(),
        "max_levels": st.integers(1, 5),
    }
) | st.fixed_dictionaries(
    {"missing": st.just("keep"), "max_levels": st.integers(1, 5), "levels": st.just("code")}
)


def fitted(table, params):
    """A fitted encoder; None if no column has any information."""
    try:
        return TableEncoder(**params).fit(table)
    except ValueError as error:
        if "No column of the table has any information" not in str(error):
            raise
        return None


@given(st.data(), settings_of)
@settings(max_examples=80)
def test_pandas_polars_and_arrow_give_the_same_floats(data, params):
    table = data.draw(columns(8))
    frame, other = in_pandas(table), in_polars(table)
    encoder = fitted(frame, params)
    if encoder is None:
        assert fitted(other, params) is None
        return
    expected = encoder.transform(frame)
    assert expected.dtype == np.float64
    assert expected.shape == (8, len(encoder.original_columns_))
    for same in (other, other.to_arrow(), pa.Table.from_pandas(frame)):
        np.testing.assert_array_equal(encoder.transform(same), expected)
        again = TableEncoder(**params).fit(same)
        assert again.get_state() == encoder.get_state()
        np.testing.assert_array_equal(again.transform(same), expected)


@given(st.data(), settings_of)
@settings(max_examples=80)
def test_scoring_needs_the_names_and_no_more(data, params):
    table = data.draw(columns(8))
    encoder = fitted(in_pandas(table), params)
    if encoder is None:
        return
    # New rows of the same types: unseen levels, missing where there were none, another order.
    kinds = {name: VALUES[name.split()[0]] for name in table}
    rows = data.draw(st.integers(0, 4))
    later = {
        name: data.draw(st.lists(st.none() | values, min_size=rows, max_size=rows))
        for name, values in kinds.items()
    }
    plain = in_polars(later)
    expected = encoder.transform(plain)
    assert expected.shape == (rows, len(encoder.original_columns_))
    order = data.draw(st.permutations(sorted(later)))
    mixed = plain.select(order).with_columns(extra=pl.lit("unread"))
    np.testing.assert_array_equal(encoder.transform(mixed), expected)
    alone = [encoder.transform(plain[i : i + 1]) for i in range(rows)]
    np.testing.assert_array_equal(np.vstack(alone) if rows else expected, expected)
    if params["missing"] == "fill":
        assert np.isfinite(expected).all()
    else:
        assert not np.isinf(expected).any()


@given(st.data(), settings_of)
@settings(max_examples=80)
def test_the_state_is_json_and_gives_the_same_bits(data, params):
    frame = in_pandas(data.draw(columns(8)))
    encoder = fitted(frame, params)
    if encoder is None:
        return
    text = json.dumps(encoder.get_state(), allow_nan=False)
    again = TableEncoder.from_state(json.loads(text))
    assert again.transform(frame).tobytes() == encoder.transform(frame).tobytes()
    assert json.dumps(again.get_state()) == text
    assert again.get_params() == {**encoder.get_params(), "drop": []}
    for name in (
        "columns_",
        "original_columns_",
        "level_outputs_",
        "dropped_",
        "n_features_in_",
    ):
        assert getattr(again, name) == getattr(encoder, name)
    names = encoder.get_feature_names_out()
    assert len(set(names)) == len(names)
    np.testing.assert_array_equal(again.get_feature_names_out(), names)
    np.testing.assert_array_equal(again.feature_names_in_, encoder.feature_names_in_)


@given(st.data(), settings_of)
@settings(max_examples=60)
def test_every_output_can_be_said_in_words(data, params):
    frame = in_pandas(data.draw(columns(6)))
    encoder = fitted(frame, params)
    if encoder is None:
        return
    for row, outputs in zip(frame.index, encoder.transform(frame), strict=True):
        for i, value in enumerate(outputs):
            column, text = encoder.describe(i, value)
            assert column == encoder.original_columns_[i]
            assert text
            own = encoder.describe_value(column, frame[column][row])
            name = encoder.get_feature_names_out()[i]
            is_level = name.startswith(f"{column} = ") and value > 0
            is_level |= name in encoder.level_outputs_ and text != "another value"
            assert not is_level or text == own


# What each kind becomes ----------------------------------------------------------------------


def outputs(encoder, table):
    return pd.DataFrame(encoder.transform(table), columns=encoder.get_feature_names_out())


def test_numbers_and_booleans_stay_as_they_are():
    table = pd.DataFrame(
        {
            "amount": [1.5, np.nan, 3.0],
            "count": pd.array([1, None, 3], dtype="Int64"),
            "price": [Decimal("1.5"), None, Decimal("2")],
            "wait": pd.to_timedelta(["1min", None, "2s"]),
            "written": ["1,5", None, "2"],
            "new": [True, None, False],
            "member": ["yes", None, "No"],
        }
    )
    encoder = TableEncoder().fit(table)
    expected = [[1.5, 1, 1.5, 60, 1.5, 1, 1], [np.nan] * 7, [3, 3, 2, 2, 2, 0, 0]]
    np.testing.assert_array_equal(encoder.transform(table), expected)
    assert encoder.get_feature_names_out().tolist() == list(table.columns)
    assert encoder.describe(0, 1.5) == ("amount", "1.5")
    assert encoder.describe(0, np.nan) == ("amount", "missing")
    assert encoder.describe(0, 1_234_567.8) == ("amount", "1234568")
    assert encoder.describe(5, 1.0) == ("new", "true")
    assert encoder.describe(5, 0.0) == ("new", "false")


def test_holes_are_filled_with_the_median_and_marked_where_there_were_some():
    table = pd.DataFrame(
        {"a": [1.0, 2, 9, np.nan], "b": [1.0, 2, 3, 10], "c": [True, True, False, None]}
    )
    encoder = TableEncoder(missing="fill").fit(table)
    found = outputs(encoder, table)
    assert found.columns.tolist() == ["a", "a: missing", "b", "c", "c: missing"]
    assert found.iloc[3].tolist() == [2, 1, 10, 1, 1]
    empty = outputs(encoder, table.assign(b=np.nan))
    assert empty["b"].tolist() == [2.5] * 4
    assert encoder.describe(1, 1.0) == ("a", "missing")
    assert encoder.describe(1, 0.0) == ("a", "not missing")


def test_scaled_numbers_have_unit_spread_and_differing_levels_distance_one():
    table = pd.DataFrame(
        {
            "amount": [100.0, 200, 300, 1e300],
            "country": ["FR", "BE", "FR", "LU"],
            "ok": [1, 1, 1, 2],
        }
    )
    encoder = TableEncoder(scale=True, drop=["ok"]).fit(table)
    found = encoder.transform(table)
    assert found[:, 0].mean() == pytest.approx(0, abs=1e-9)
    assert found[:, 0].std() == pytest.approx(1)
    levels = found[:, 1:]
    assert np.linalg.norm(levels[0] - levels[1]) == pytest.approx(1)
    assert np.linalg.norm(levels[0] - levels[2]) == 0
    plain = TableEncoder(scale=True).fit(pd.DataFrame({"amount": [100.0, 200, 300]}))
    scaled = plain.transform(pd.DataFrame({"amount": [210.5]}))[0, 0]
    assert plain.describe(0, scaled) == ("amount", "210.5")


def test_a_number_with_one_value_and_holes_scales_to_zero():
    table = pd.DataFrame({"a": [5.0, np.nan, 5.0], "b": [1, 2, 3]})
    encoder = TableEncoder(scale=True, missing="fill").fit(table)
    np.testing.assert_array_equal(encoder.transform(table)[:, :2], [[0, 0], [0, 1], [0, 0]])


def test_few_levels_have_an_output_each_and_unseen_ones_none():
    table = pd.DataFrame({"country": ["FR", "BE", "FR", None]})
    encoder = TableEncoder().fit(table)
    names = encoder.get_feature_names_out().tolist()
    assert names == ["country = BE", "country = FR", "country: missing"]
    assert encoder.describe(1, 1.0) == ("country", "FR")
    assert encoder.describe(1, 0.5) == ("country", "FR")
    assert encoder.describe(1, 0.0) == ("country", "not FR")
    assert encoder.describe(2, 1.0) == ("country", "missing")
    found = encoder.transform(pd.DataFrame({"country": ["FR", "XX", None, "NA", " BE "]}))
    np.testing.assert_array_equal(found, [[0, 1, 0], [0, 0, 0], [0, 0, 1], [0, 0, 1], [1, 0, 0]])
    complete = TableEncoder().fit(table.dropna())
    assert complete.transform(table)[3].tolist() == [0, 0]


def test_many_levels_keep_the_frequent_ones_and_their_frequency():
    cities = ["Lyon"] * 4 + ["Nice"] * 3 + ["Brest"] * 2 + ["Caen", None]
    table = pd.DataFrame({"city": cities})
    encoder = TableEncoder(max_levels=2).fit(table)
    found = outputs(encoder, pd.DataFrame({"city": ["Lyon", "Brest", "Caen", "Rome", None]}))
    assert found.columns.tolist() == [
        "city = Lyon",
        "city = Nice",
        "city: other",
        "city: missing",
        "city: frequency",
    ]
    expected = [[1, 0, 0, 0, 4 / 11], [0, 0, 1, 0, 2 / 11], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0]]
    np.testing.assert_array_equal(found.iloc[:4], expected)
    assert found.iloc[4].tolist() == [0, 0, 0, 1, 1 / 11]
    assert encoder.describe(2, 1.0) == ("city", "another value")
    assert encoder.describe(2, 0.0) == ("city", "a frequent value")
    assert encoder.describe(4, 0.123) == ("city", "in 12.3 % of rows")
    assert "Caen" not in json.dumps(encoder.get_state()), "a name seen once is not kept"


def test_levels_can_be_numbers_and_unseen_ones_have_one_of_their_own():
    table = pd.DataFrame({"country": ["FR", "BE", "FR", None], "member": ["yes", "no", "no", ""]})
    encoder = TableEncoder(levels="code").fit(table)
    assert encoder.get_feature_names_out().tolist() == ["country", "member"]
    assert encoder.original_columns_ == ["country", "member"]
    assert encoder.level_outputs_ == ["country"], "booleans stay 0 and 1"
    new = pd.DataFrame({"country": ["FR", "XX", None, "NA", " BE ", "YY"], "member": "no"})
    found = encoder.transform(new)
    np.testing.assert_array_equal(found[:, 0], [1, 2, np.nan, np.nan, 0, 2])
    np.testing.assert_array_equal(found[:, 1], 0)
    described = [encoder.describe(0, code) for code in (0, 1.0, 2.0, np.nan)]
    texts = ["BE", "FR", "another value", "missing"]
    assert described == [("country", text) for text in texts]
    assert encoder.describe_value("country", "XX") == "XX"
    assert encoder.describe_value("country", None) == "missing"
    assert TableEncoder().fit(table).level_outputs_ == []


def test_of_many_levels_the_frequent_ones_have_a_number():
    cities = ["Lyon"] * 4 + ["Nice"] * 3 + ["Brest"] * 2 + ["Caen", None]
    table = pd.DataFrame({"city": cities, "name": [f"n{i}" for i in range(11)]})
    encoder = TableEncoder(max_levels=2, levels="code").fit(table)
    assert encoder.dropped_ == {"name": "different in every row"}
    later = pd.DataFrame({"city": ["Lyon", "Nice", "Brest", "Caen", "Rome", None], "name": "n1"})
    np.testing.assert_array_equal(encoder.transform(later)[:, 0], [0, 1, 2, 2, 2, np.nan])
    assert encoder.describe(0, 2) == ("city", "another value")
    assert encoder.describe_value("city", "Caen") == "Caen"
    assert "Caen" not in json.dumps(encoder.get_state()), "a name seen once is not kept"
    enough = TableEncoder(max_levels=4, levels="code").fit(table)
    np.testing.assert_array_equal(enough.transform(later)[:, 0], [2, 3, 0, 1, 4, np.nan])


@given(
    st.lists(st.none() | st.sampled_from("abcdefgh"), min_size=2, max_size=30),
    st.lists(st.none() | st.sampled_from("abcdefghij"), min_size=1, max_size=10),
    st.integers(1, 9),
)
def test_numbers_of_levels_say_what_the_outputs_of_levels_say(known, later, max_levels):
    known, later = (pd.DataFrame({"letter": letters, "n": 1}) for letters in (known, later))
    known["n"] = range(len(known))
    coded = TableEncoder(levels="code", max_levels=max_levels).fit(known)
    single = TableEncoder(max_levels=max_levels).fit(known)
    assert coded.dropped_ == single.dropped_
    if "letter" not in coded.columns_:
        return
    names = [n for n in single.get_feature_names_out() if n.startswith("letter = ")]
    code = coded.transform(later)[:, 0]
    for place, name in enumerate(names):
        np.testing.assert_array_equal(code == place, outputs(single, later)[name] == 1)
    np.testing.assert_array_equal(np.isnan(code), later["letter"].isna())
    assert np.nanmax(code, initial=0) <= len(names)


def test_states_from_before_numbers_of_levels_open():
    table = pd.DataFrame({"country": ["FR", "BE", "FR", None]})
    encoder = TableEncoder().fit(table)
    state = encoder.get_state()
    del state["params"]["levels"]
    again = TableEncoder.from_state(state)
    assert again.get_params() == {**encoder.get_params(), "drop": []}
    np.testing.assert_array_equal(again.transform(table), encoder.transform(table))


@pytest.mark.parametrize("other", [{"scale": True}, {"missing": "fill"}])
def test_numbers_of_levels_are_neither_filled_nor_scaled(other):
    table = pd.DataFrame({"country": ["FR", "BE", "FR", None]})
    with pytest.raises(ValueError, match="cannot be filled or scaled: use it with missing="):
        TableEncoder(levels="code", **other).fit(table)


def test_dates_become_parts_that_vary():
    table = pd.DataFrame(
        {
            "opened": pd.to_datetime(["2026-03-01", "2026-04-03", None]),
            "paid": pd.to_datetime(["2026-03-01 03:30", "2026-03-02 23:00", "2026-03-01 00:00"]),
        }
    )
    encoder = TableEncoder().fit(table)
    found = outputs(encoder, table)
    assert found.columns.tolist() == [
        "opened: days",
        "opened: month",
        "opened: weekday",
        "paid: days",
        "paid: weekday",
        "paid: hour",
    ]
    assert found.iloc[1].tolist() == [33, 4, 4, pytest.approx(1 + 23 / 24), 0, 23]
    assert found.iloc[2, :3].isna().all()
    assert encoder.describe(0, 0.0) == ("opened", "2026-03-01")
    assert encoder.describe(1, 4.0) == ("opened", "April")
    assert encoder.describe(2, 4.5) == ("opened", "a Friday")
    assert encoder.describe(2, np.nan) == ("opened", "missing")
    assert encoder.describe(3, 0.5) == ("paid", "2026-03-01 12:00")
    assert encoder.describe(5, 3.0) == ("paid", "hour 3")
    scaled = TableEncoder(scale=True, missing="fill").fit(table)
    for row in scaled.transform(table):
        assert scaled.describe(0, row[0])[1] in ("2026-03-01", "2026-04-03", "2026-03-17")
    assert scaled.describe(3, 1.0) == ("opened", "missing")


def test_dates_in_text_are_read_as_they_were_written_at_fit():
    table = pd.DataFrame(
        {
            "day_first": ["31/12/2025", "01/02/2026", None],
            "iso": ["2025-12-31", "2026-02-01", "NA"],
            "spelled": ["31 December 2025", "1 February 2026", None],
            "objects": [dt.date(2025, 12, 31), dt.date(2026, 2, 1), None],
        }
    )
    encoder = TableEncoder().fit(table)
    found = outputs(encoder, table)
    for name in table:
        assert found[f"{name}: days"].tolist()[:2] == [0, 32]
        assert np.isnan(found[f"{name}: days"][2])
    days = ["02/01/2026", "2026-01-02", "2 January 2026", pd.Timestamp("2026-01-02")]
    later = pd.DataFrame({name: [day] for name, day in zip(table, days, strict=True)})
    assert set(outputs(encoder, later).filter(like="days").iloc[0]) == {2}


def test_dates_that_could_be_two_things_stay_text():
    table = pd.DataFrame({"when": ["01/02/2026", "03/04/2026"]})
    assert TableEncoder().fit(table).original_columns_ == ["when", "when"]
    months = pd.DataFrame(
        {"month": ["may", "june", "may"], "year": ["model 2020", "model 2021", ""]}
    )
    names = TableEncoder().fit(months).get_feature_names_out()
    assert "month = may" in names
    assert "year = model 2020" in names


def test_hours_are_those_of_the_clock_at_fit():
    paris = pd.to_datetime(["2026-01-01 08:00", "2026-07-01 09:00"]).tz_localize("Europe/Paris")
    encoder = TableEncoder().fit(pd.DataFrame({"at": paris}))
    found = outputs(encoder, pd.DataFrame({"at": paris.tz_convert("UTC")}))
    assert found["at: hour"].tolist() == [8, 9]
    naive = outputs(encoder, pd.DataFrame({"at": paris.tz_localize(None)}))
    pd.testing.assert_frame_equal(naive, found)


def test_columns_that_say_nothing_are_left_out_with_the_reason():
    table = pd.DataFrame(
        {
            "one": [1, 1, 1, 1],
            "same": ["a", "a", "a", "a"],
            "empty": [None] * 4,
            "blank": ["", "NA", "?", None],
            "id": ["u1", "u2", "u3", "u4"],
            "amount": [1, 2, 3, 4],
            "secret": ["x", "y", "x", "y"],
        }
    )
    encoder = TableEncoder(max_levels=3, drop=["secret"]).fit(table)
    assert encoder.columns_ == ["amount"]
    assert encoder.dropped_ == {
        "one": "one value",
        "same": "one value",
        "empty": "all missing",
        "blank": "all missing",
        "id": "different in every row",
    }
    np.testing.assert_array_equal(encoder.transform(table[["amount"]]), [[1], [2], [3], [4]])
    assert "secret" not in json.dumps(encoder.get_state()["plans"])


def test_arrays_go_by_place():
    X = np.array([[1, 2.0], [3, np.nan]])
    encoder = TableEncoder().fit(X)
    assert encoder.columns_ == ["x0", "x1"]
    assert not hasattr(encoder, "feature_names_in_")
    np.testing.assert_array_equal(encoder.transform(X), X)
    np.testing.assert_array_equal(encoder.transform(pd.DataFrame(X, columns=["a", "b"])), X)
    mixed = np.array([["FR", 1], ["BE", 2]], dtype=object)
    np.testing.assert_array_equal(TableEncoder().fit_transform(mixed), [[0, 1, 1], [1, 0, 2]])
    named = TableEncoder().fit(pd.DataFrame(X, columns=["a", "b"]))
    np.testing.assert_array_equal(named.transform(X), X)
    assert not hasattr(named.fit(X), "feature_names_in_")


def test_a_file_read_with_other_types_still_finds_its_levels():
    table = pd.DataFrame({"member": ["Yes", "no", "maybe"], "code": ["01", "10", "x"]})
    encoder = TableEncoder().fit(table)
    found = outputs(encoder, pd.DataFrame({"member": [True, False], "code": [10.0, np.nan]}))
    assert found["member = Yes"].tolist() == [1, 0]
    assert found["member = no"].tolist() == [0, 1]
    assert found["code = 10"].tolist() == [1, 0]
    coded = TableEncoder(levels="code").fit(table)
    found = outputs(coded, pd.DataFrame({"member": [True, False], "code": [10.0, np.nan]}))
    assert found["member"].tolist() == [0, 2]
    np.testing.assert_array_equal(found["code"], [1, np.nan])
    categories = pd.DataFrame({"code": pd.Categorical([1, 2, 1])})
    assert TableEncoder().fit(categories).get_feature_names_out()[0] == "code = 1"


def test_other_words_in_text_that_was_all_numbers_are_holes():
    table = pd.DataFrame(
        {
            "size": ["1", "2", "3"],
            "member": ["yes", "no", "no"],
            "day": ["31.1.2026", "1.2.2026", ""],
        }
    )
    encoder = TableEncoder().fit(table)
    later = pd.DataFrame(
        {"size": ["2", "XL"], "member": ["no", "maybe"], "day": ["2.2.2026", "?!"]}
    )
    found = encoder.transform(later)
    assert not np.isnan(found[0]).any()
    assert np.isnan(found[1]).all()


def test_outputs_never_share_a_name():
    table = pd.DataFrame({"a": ["x", "y", None], "a: missing": [1, 2, 3], "a = x": [3, 2, 1]})
    names = TableEncoder().fit(table).get_feature_names_out().tolist()
    assert names == ["a = x", "a = y", "a: missing", "a: missing (2)", "a = x (2)"]
    days = ["2026-01-01", "2026-01-05", "2026-01-09"]
    table = pd.DataFrame({"a": days, "a: days": ["x", "y", "x"]})
    encoder = TableEncoder(levels="code").fit(table)
    assert encoder.level_outputs_ == ["a: days (2)"]
    assert encoder.level_outputs_[0] in encoder.get_feature_names_out()


def test_frames_come_out_when_asked_for():
    table = pd.DataFrame({"amount": [1.0, 2.0], "country": ["FR", "BE"]}, index=[7, 9])
    found = TableEncoder().set_output(transform="pandas").fit_transform(table)
    assert found.columns.tolist() == ["amount", "country = BE", "country = FR"]
    assert found.index.tolist() == [7, 9]


# Mistakes ------------------------------------------------------------------------------------

TABLE = pd.DataFrame(
    {
        "amount": [1.0, 2, 3],
        "new": [True, False, True],
        "opened": pd.to_datetime(["2026-03-01", "2026-03-02", "2026-03-05"]),
        "country": ["FR", "BE", "FR"],
    }
)
DAYS = TABLE["opened"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (TABLE.drop(columns="amount"), "lacks column 'amount', which .* add it, empty"),
        (TABLE[["country"]], "lacks columns 'amount', 'new', 'opened', .* add them, empty"),
        (TABLE.assign(amount=["1", "two", "3"]), "'amount' has 'two' in row 1 "),
        (
            TABLE.assign(amount=DAYS),
            "'amount' has .* in row 0 .* had numbers .* has dates now",
        ),
        (TABLE.assign(amount=[1, np.inf, 2]), "'amount' has infinite values in 1 of 3 rows"),
        (TABLE.assign(new=["yes", "no", "perhaps"]), "'new' has 'perhaps' in row 2 "),
        (
            TABLE.assign(new=[0, 1, 2]),
            "'new' has 2.* in row 2 .* had true and false .* has other",
        ),
        (TABLE.assign(new=DAYS), "'new' has .* had true and false at fit and has dates now"),
        (
            TABLE.assign(opened=[1, 2, 3]),
            "'opened' has 1 in row 0 .* had dates .* has numbers now",
        ),
        (TABLE.assign(opened="soon"), "'opened' has 'soon' in row 0 "),
        (TABLE.assign(country=[["FR"], ["BE"], []]), "'country' has lists or other nested"),
        (TABLE.to_numpy()[:, :2], "X has 2 features, but TableEncoder is expecting 4"),
        (pd.concat([TABLE, TABLE], axis=1), "more than one column named 'amount'"),
    ],
)
def test_mistakes_at_scoring_get_a_sentence(table, message):
    with pytest.raises(ValueError, match=message):
        TableEncoder().fit(TABLE).transform(table)


@pytest.mark.parametrize(
    ("table", "params", "message"),
    [
        (TABLE, {"drop": ["contry"]}, "no column 'contry' to drop: did you mean 'country'"),
        (TABLE, {"drop": ["zzz"]}, "no column 'zzz' to drop: take it off"),
        (TABLE, {"missing": "drop"}, "'missing' parameter"),
        (TABLE, {"max_levels": 0}, "'max_levels' parameter"),
        (TABLE[:0], {}, r"0 sample\(s\)"),
        (TABLE[:1], {}, "n_samples=1"),
        (TABLE[[]], {}, r"0 feature\(s\)"),
        (TABLE.assign(z=[1j, 2, 3]), {}, "'z' holds complex numbers"),
        (pa.table([[1, 2], [3, 4]], names=["a", "a"]), {}, "more than one column named 'a'"),
    ],
)
def test_mistakes_at_fit_get_a_sentence(table, params, message):
    with pytest.raises(ValueError, match=message):
        TableEncoder(**params).fit(table)


def test_columns_all_missing_at_scoring_are_holes():
    encoder = TableEncoder(missing="fill").fit(TABLE)
    empty = pd.DataFrame({name: [None] for name in TABLE})
    assert np.isfinite(encoder.transform(empty)).all()
    assert np.isfinite(encoder.transform(empty.astype(float))).all()
    assert encoder.describe_value("opened", None) == "missing"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 99}, "version 99 and 1 is known"),
        ({"plans": [{"kind": "magic"}]}, "state is damaged"),
        ({"plans": [{"kind": "number", "spread": {}}]}, "state is damaged"),
        ({"params": {"colour": 1}}, "state is damaged"),
    ],
)
def test_foreign_states_are_refused(change, message):
    state = TableEncoder().fit(TABLE).get_state()
    with pytest.raises(ValueError, match=message):
        TableEncoder.from_state({**state, **change})
    with pytest.raises(ValueError, match="version None"):
        TableEncoder.from_state([])


def test_questions_about_nothing_get_a_sentence():
    encoder = TableEncoder().fit(TABLE)
    with pytest.raises(ValueError, match="no output 99: there are 6"):
        encoder.describe(99, 1.0)
    with pytest.raises(ValueError, match="does not read a column 'colour'"):
        encoder.describe_value("colour", 1)


# Arrow tables ----------------------------------------------------------------------------------


def arrow_table(n=60):
    """Columns of many Arrow types, in several chunks, all with missing values."""
    rng = np.random.default_rng(0)
    missing = rng.random(n) < 0.2
    words = np.array([" FR", "BE ", "NA", "é", "", "yes"], dtype=object)[rng.integers(0, 6, n)]
    whole = rng.integers(0, 9, n)
    columns = {
        "float": pa.array(rng.normal(size=n), mask=missing),
        "single": pa.array(rng.normal(size=n).astype(np.float32), mask=missing),
        "nan": pa.array(np.where(missing, np.nan, whole)),
        "whole": pa.array(whole, mask=missing),
        "byte": pa.array(whole.astype(np.uint8)),
        "decimal": pa.array(whole, mask=missing).cast(pa.decimal128(21, 2)),
        "bool": pa.array(rng.random(n) < 0.5, mask=missing),
        "date": pa.array(whole, mask=missing).cast(pa.int32()).cast(pa.date32()),
        "text": pa.array(words, mask=missing),
        "large": pa.array(words, mask=missing).cast(pa.large_string()),
        "levels": pa.array(words, mask=missing).dictionary_encode(),
        "codes": pa.array([f"{i},5" for i in whole], mask=missing),
        "many": pa.array([f"l{i % 40}" for i in range(n)], mask=missing),
        "numbers": pa.DictionaryArray.from_arrays(pa.array(whole % 3), pa.array([7, 8, 9])),
    }
    table = pa.table(columns)
    return pa.concat_tables([table[:25], table[25:26], table[26:]])


@pytest.mark.parametrize(
    "params", [{}, {"levels": "code"}, {"missing": "fill", "scale": True}, {"missing": "fill"}]
)
def test_columns_of_arrow_give_what_those_of_pandas_do(params):
    table = arrow_table()
    encoder = TableEncoder(**params).fit(table)
    unseen = pa.table({**{name: table[name] for name in table.column_names}, "text": ["new"] * 60})
    for rows in (table, unseen, table[:1], table[30:]):
        expected = encoder.transform(from_arrow(rows))
        found = encoder.transform(rows)
        np.testing.assert_array_equal(found, expected)
        assert found.flags.c_contiguous
        np.testing.assert_array_equal(encoder.transform_columns(rows), expected)


def test_columns_of_arrow_are_refused_as_those_of_pandas_are():
    encoder = TableEncoder().fit(arrow_table())
    for column, value in (("float", [np.inf]), ("float", ["x"]), ("date", [3.5]), ("bool", [7])):
        rows = arrow_table()[:1]
        rows = rows.set_column(rows.column_names.index(column), column, pa.array(value))
        with pytest.raises(ValueError, match=column) as found:
            encoder.transform(rows)
        with pytest.raises(ValueError, match=column) as expected:
            encoder.transform(from_arrow(rows))
        assert str(found.value) == str(expected.value)
    with pytest.raises(ValueError, match="lacks column 'date'"):
        encoder.transform(arrow_table().drop_columns("date"))
