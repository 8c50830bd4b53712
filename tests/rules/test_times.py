"""Functions of times mean the same for records, in pandas, Polars, DuckDB, SQLite, PostgreSQL."""

import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pytest
from databases import DIALECTS
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rules.test_meaning import FUZZ, everywhere, in_database

from rarefind.rules import Rule, RuleError, read_rules

PARIS, UTC = ZoneInfo("Europe/Paris"), datetime.UTC
SECOND = datetime.timedelta(seconds=1)
times = st.none() | st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2200, 1, 1))
#: What would be rounded up to the next second, day and year.
LAST = datetime.datetime(2025, 12, 31, 23, 59, 59, 999_999)


def by_definition(name, *values):
    if None in values:
        return None
    if name == "minutes_between":
        first, second = values
        return ((second - first) // datetime.timedelta(microseconds=1)) / 6e7
    (time,) = values
    return float(time.isoweekday() if name == "weekday" else getattr(time, name))


NAMES = ("hour", "weekday", "day", "month", "minutes_between")
how_often = settings(max_examples=FUZZ or 25, deadline=None, derandomize=not FUZZ)


@how_often
@given(st.sampled_from(NAMES), st.lists(st.tuples(times, times), min_size=1, max_size=5))
@example("hour", [(LAST, None), (None, None), (LAST + SECOND, None)])
@example("month", [(LAST, None), (LAST + SECOND, None)])
@example("minutes_between", [(LAST, LAST + SECOND), (LAST, LAST.replace(year=1969))])
def test_six_ways_to_run_them_agree(name, rows):
    frame = pl.DataFrame(
        rows, schema={"a": pl.Datetime("us"), "b": pl.Datetime("us")}, orient="row"
    )
    width = 2 if name == "minutes_between" else 1
    found = [by_definition(name, *row[:width]) for row in rows]
    limit = next((value for value in found if value is not None), 1.0)
    call = f"{name}({', '.join('ab'[:width])})"
    expected = [value is not None and value <= limit for value in found]
    rule = Rule(f"{call} <= {'-' if limit < 0 else ''}{abs(limit)!r}")
    assert ways(rule, frame) == [expected] * 6


def ways(rule, frame):
    rows = frame.to_dicts()
    return [
        [rule.fires(row) for row in rows],
        rule.fires_on(frame).tolist(),
        rule.fires_on(frame.to_pandas()).tolist(),
        *(in_database(dialect, rule, frame) for dialect in DIALECTS),
    ]


@pytest.mark.parametrize(
    ("text", "fires"),
    [
        ("hour(a) = 0", True),
        ("day(a) = 31 and month(a) = 1 and weekday(a) = 6", True),
        ("minutes_between(a, a) = 0", True),
        ("a = a", True),
    ],
)
def test_a_date_is_its_midnight(text, fires):
    assert everywhere(Rule(text), {"a": [datetime.date(2026, 1, 31)]}) == [[fires]] * 6


def test_a_time_is_read_by_the_clock_of_its_own_zone():
    early = datetime.datetime(2026, 1, 31, 23, 30, tzinfo=UTC)  # half past midnight in Paris
    rule = Rule("hour(a) = 0 and weekday(a) = 7 and day(a) = 1 and month(a) = 2")
    local = early.astimezone(PARIS)
    column = pl.Series([early]).dt.convert_time_zone("Europe/Paris")
    assert [rule.fires({"a": early}), rule.fires({"a": local})] == [False, True]
    assert rule.fires_on(pl.DataFrame({"a": column})).tolist() == [True]
    for given_ in ([local], pd.Series([local]), pd.Series([local, None], dtype=object)[:1]):
        assert rule.fires_on({"a": given_}).tolist() == [True]
    assert rule.fires_on({"a": [early, None]}).tolist() == [False, False]


def test_minutes_are_those_that_have_passed():
    # The clock is put forward between them.
    a = datetime.datetime(2026, 3, 29, 1, 30, tzinfo=PARIS)
    b = datetime.datetime(2026, 3, 29, 3, 30, tzinfo=PARIS)
    rule = Rule("minutes_between(a, b) = 60")
    assert rule.fires({"a": a, "b": b})
    assert rule.fires({"a": a.astimezone(UTC), "b": b})
    assert rule.fires_on({"a": [a], "b": [b]}).tolist() == [True]
    with pytest.raises(RuleError, match="offset-naive and offset-aware"):
        rule.fires({"a": a, "b": b.replace(tzinfo=None)})


def test_times_of_many_kinds_are_one():
    rule = Rule("hour(a) = 12")
    for value in (
        datetime.datetime(2026, 1, 31, 12),
        pd.Timestamp("2026-01-31 12:00:00.000000001"),
        np.datetime64("2026-01-31T12"),
    ):
        assert rule.fires({"a": value})
        assert rule.fires_on({"a": [value]}).tolist() == [True]
    for missing in (None, pd.NaT, float("nan")):
        assert not rule.fires({"a": missing})
        assert Rule("hour(a) is missing").fires({"a": missing})
    assert rule.columns == {"a": "time"}


def test_what_is_not_a_time_is_refused():
    rule = Rule("hour(a) = 12")
    for value in ("2026-01-31", 12, True):
        with pytest.raises(RuleError, match="and a time is needed"):
            rule.fires({"a": value})
        with pytest.raises(RuleError, match="and a time is needed"):
            rule.fires_on(pl.DataFrame({"a": [value]}))
    for text in ("now", "2026-01-31 12:00:00+01:00", "12:00:00", "2026-01-31 12:00:00.5Z"):
        with pytest.raises(Exception, match="malformed JSON"):
            in_database("sqlite", rule, pl.DataFrame({"a": [text]}))
    with pytest.raises(RuleError, match="holds a time, and a number is needed"):
        Rule("hour(a) = 12 and a > 5")
    with pytest.raises(RuleError, match="holds a number, and a time is needed"):
        Rule("hour(amount) = 12", columns={"amount": "number"})
    with pytest.raises(RuleError, match="times of several zones"):
        rule.fires_on({"a": [datetime.datetime(2026, 1, 1, tzinfo=z) for z in (UTC, PARIS)]})
    offset = datetime.timezone(datetime.timedelta(hours=1))
    with pytest.raises(RuleError, match=r"at UTC\+01:00, which does not name a time zone"):
        rule.fires_on({"a": [datetime.datetime(2026, 1, 1, tzinfo=offset)]})


def test_a_declared_time_can_be_missing_and_equal_another():
    columns = {"a": "time", "b": "time"}
    utc = datetime.datetime(2026, 1, 31, 12, tzinfo=UTC)
    record = {"a": utc, "b": utc.astimezone(PARIS)}
    rule = Rule("a = b and a is not missing and hour(b) = 13", columns=columns)
    assert rule.fires(record)
    b = pl.Series([utc]).dt.convert_time_zone("Europe/Paris")
    assert rule.fires_on(pl.DataFrame({"a": [utc], "b": b})).tolist() == [True]


def test_standard_sql_says_what_it_has_not():
    assert Rule("hour(a) = 1").to_sql() == (
        '(CAST(EXTRACT(HOUR FROM "a") AS DOUBLE PRECISION) = 1.0e0)'
    )
    for text in ("weekday(a) = 1", "minutes_between(a, b) > 1"):
        with pytest.raises(RuleError, match="write the query for a database"):
            Rule(text).to_sql()
        assert Rule(text).to_sql("mysql")


def test_a_file_of_rules_asks_the_dates_of_a_table(tmp_path):
    (tmp_path / "desk.rules").write_text("night: hour(time) < 6\nlate: hour(amount) < 6\n")
    table = pd.DataFrame({"time": pd.to_datetime(["2026-01-31 03:00"]), "amount": [1.0]})
    with pytest.raises(ValueError, match="'late': The column 'amount' is a number, and a time is"):
        read_rules(tmp_path / "desk.rules", table)
    (tmp_path / "desk.rules").write_text("night: hour(time) < 6\n")
    assert read_rules(tmp_path / "desk.rules", table).fires_on(table).tolist() == [[True]]
