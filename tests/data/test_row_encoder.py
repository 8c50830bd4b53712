"""One row at a time: the outputs of a table, bit for bit, whatever the values are."""

import copy
import sys
import unicodedata
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind.data import TableEncoder
from rarefind.data.row_encoder import RowEncoder, row_encoder
from rarefind.data.types import clean

ZONES = [
    None,
    UTC,
    timezone(timedelta(hours=2)),
    timezone(timedelta(hours=-9, minutes=-30)),
    ZoneInfo("Europe/Paris"),
]


def training_table(zone="Europe/Paris"):
    """Every kind of column, with missing values; a text with many levels."""
    rng = np.random.default_rng(0)
    n = 200
    days = pd.Timestamp("2024-01-01", tz=zone) + pd.to_timedelta(rng.integers(0, 8000, n), "h")
    table = pd.DataFrame(
        {
            "amount": rng.normal(size=n) * 1e3,
            "count": rng.integers(0, 50, n),
            "flag": rng.choice([True, False], n),
            "seen": days,
            "written": days.strftime("%Y-%m-%dT%H:%M:%S"),
            "country": rng.choice(["FR", "BE", " yes ", "12", "null island", "Åland"], n),
            "shop": [f"s{i % 70}" for i in range(n)],
            "answer": rng.choice(["yes", "no", "maybe"], n),
        }
    )
    table["maybe"] = table["flag"].astype(object)
    for name in ("amount", "seen", "country", "shop", "maybe"):
        table.loc[rng.random(n) < 0.1, name] = None
    return table


ENCODERS = [
    TableEncoder(**options).fit(training_table(zone))
    for zone in ("Europe/Paris", None)
    for options in (
        {"missing": "fill", "scale": True},
        {},
        {"levels": "code"},
        {"max_levels": 2, "scale": True},
    )
]

# Hours that come twice in Paris, or not at all.
CHANGES = [datetime(2026, 3, 29, 2, 30), datetime(2026, 10, 25, 2, 30), datetime(2026, 7, 1, 2, 30)]
times = st.builds(
    lambda time, zone, fold: time.replace(tzinfo=zone, fold=fold),
    st.one_of(st.datetimes(datetime(1890, 1, 1), datetime(2060, 1, 1)), st.sampled_from(CHANGES)),
    st.sampled_from(ZONES),
    st.sampled_from([0, 1]),
)
missing = st.sampled_from([None, np.nan, float("nan"), pd.NA, pd.NaT])
numbers = st.one_of(
    st.floats(-1e300, 1e300),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(np.float32),
    st.integers(-(2**70), 2**70),
    st.integers(-100, 100).map(np.int64),
    st.booleans(),
    st.decimals(-1000, 1000, places=2),
    missing,
)
truths = st.one_of(st.booleans(), st.sampled_from([0, 1, 0.0, 1.0, np.True_, np.int64(1)]), missing)
words = st.sampled_from(
    [
        "FR",
        "BE",
        " BE",
        "yes",
        " yes ",
        "12",
        "s3",
        "s69",
        "no",
        "Åland",
        "\u2003FR",
        "NA",
        "",
        "x\x1f",
    ]
)
levels = st.one_of(
    words,
    st.text(max_size=4),
    st.integers(0, 20),
    st.sampled_from([12.0, 1.5, np.float64(12), 1e20, np.inf]),
    st.booleans(),
    missing,
)
moments = st.one_of(
    times,
    times.map(pd.Timestamp),
    times.map(lambda time: time.date()),
    times.map(lambda time: time.isoformat()),
    times.map(lambda time: f"{time:%Y-%m-%d %H:%M}"),
    times.map(lambda time: f"{time:%Y-%m-%d}"),
    missing,
)
KINDS = {
    "amount": numbers,
    "count": numbers,
    "flag": truths,
    "maybe": truths,
    "seen": moments,
    "written": moments,
    "country": levels,
    "shop": levels,
    "answer": levels,
}
# One value at a time is drawn: an error in one would hide the others.
cells = st.sampled_from(list(KINDS)).flatmap(
    lambda name: KINDS[name].map(lambda value: {**BEFORE, name: value})
)
BEFORE = training_table().to_dict("records")[0]


def outcome(encode, row):
    """The bits of the outputs, or the error."""
    try:
        return np.asarray(encode(row)).view(np.int64).tolist()
    except (ValueError, OverflowError, TypeError) as error:
        return str(error)


@pytest.mark.parametrize("encoder", ENCODERS)
@given(row=cells)
@settings(max_examples=60, deadline=None)
def test_outputs_are_those_of_a_table_of_one_row(encoder, row):
    encode = row_encoder(encoder).encode
    whole = outcome(lambda row: encoder.transform([row])[0], row)
    if isinstance(whole, str):
        assert outcome(encode, row) == whole
    else:
        # NaN has one sign in a table and may have the other in Python.
        found = np.array(outcome(encode, row)).view(float)
        assert np.array_equal(found, np.array(whole).view(float), equal_nan=True)
        assert np.array_equal(np.signbit(found), np.signbit(np.array(whole).view(float))) or (
            np.isnan(found).any()
        )


def test_rows_of_the_training_table_are_those_of_the_whole():
    table = training_table()
    for encoder in ENCODERS[:4]:
        whole = encoder.transform(table)
        found = [RowEncoder(encoder).encode(row) for row in table.head(20).to_dict("records")]
        assert np.array_equal(np.array(found), whole[:20], equal_nan=True)


def test_all_characters_that_are_trimmed_are_looked_at():
    # Texts that are taken as they stand have none of them at their ends.
    every = [chr(i) for i in range(1, sys.maxunicode + 1) if unicodedata.category(chr(i)) != "Cs"]
    import pyarrow as pa

    trimmed = clean(pa.array([f"{char}a{char}" for char in every])).to_pylist()
    cut = {char for char, text in zip(every, trimmed, strict=True) if text == "a" and char != "a"}
    assert " " in cut
    assert not [char for char in cut if char.isprintable() and char != " "]


def test_columns_that_are_not_there_are_named():
    encoder = TableEncoder().fit(pd.DataFrame({"a": [1, 2], "b": [1.5, 2]}))
    with pytest.raises(ValueError, match="lacks column 'b'"):
        RowEncoder(encoder).encode({"a": 1, "c": 2})


def test_an_encoder_that_is_fitted_again_reads_as_it_does_now():
    encoder = TableEncoder(scale=True).fit(pd.DataFrame({"a": [1.0, 2.0]}))
    before = row_encoder(encoder)
    assert row_encoder(encoder) is before
    encoder.fit(pd.DataFrame({"a": [1.0, 20.0]}))
    assert row_encoder(encoder).encode({"a": 20.0}).tolist() == encoder.transform([{"a": 20.0}])[0]
    assert "_row" not in "".join(vars(copy.deepcopy(encoder)))


def test_kinds_that_are_not_plain_are_read_as_in_a_table():
    encoder = TableEncoder().fit(pd.DataFrame({"a": [1.0, 2.0], "day": [date(2026, 1, 1)] * 2}))
    row = {"a": Decimal("1.5")}
    assert RowEncoder(encoder).encode(row).tolist() == encoder.transform([row])[0].tolist()
    with pytest.raises(ValueError, match="infinite"):
        RowEncoder(encoder).encode({"a": np.inf})
    two = TableEncoder().fit(pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 3.0]}))
    with pytest.raises(ValueError, match=r"'b' has infinite"):
        RowEncoder(two).encode({"a": 1.0, "b": -np.inf})
    for a in (None, np.nan, 3, Decimal(3)):
        found, row = RowEncoder(two), {"a": a, "b": 2.5}
        assert np.array_equal(found.encode(row), two.transform([row])[0], equal_nan=True)
    with pytest.raises(ValueError, match="nested"):
        RowEncoder(encoder).encode({"a": [1, 2]})
