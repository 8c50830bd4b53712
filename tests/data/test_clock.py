"""Times, zones and periods against the definition: Python's own datetimes, one row at a time."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind.data import read_table
from rarefind.data.clock import (
    PERIODS,
    Clock,
    check_per,
    period_names,
    period_starts,
    read_times,
    time_order,
)

EPOCH = datetime(1970, 1, 1)
ZONES = [None, "UTC", "Europe/Paris", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"]
# Around the days on which clocks change, and around midnight and the new year.
LOCAL = st.datetimes(datetime(2025, 1, 1), datetime(2027, 1, 1)) | st.builds(
    lambda day, minutes: day + timedelta(minutes=minutes),
    st.sampled_from([datetime(2026, 3, 29), datetime(2026, 10, 25), datetime(2025, 12, 31, 23)]),
    st.integers(0, 240),
)
OFFSETS = st.integers(-14 * 4, 14 * 4).map(lambda quarters: timedelta(minutes=15 * quarters))


def nanoseconds(when):
    """Since 1970, of a time that says no zone."""
    return (when - EPOCH) // timedelta(microseconds=1) * 1000


def naive_period(local, per):
    """What the period of a local time is called, by Python's own calendar."""
    if per == "hour":
        return f"{local:%Y-%m-%d %H}:00"
    if per == "week":
        monday = local - timedelta(days=local.weekday())
        return f"{monday:%Y-%m-%d}/{monday + timedelta(days=6):%Y-%m-%d}"
    if per == "quarter":
        return f"{local.year}Q{(local.month + 2) // 3}"
    return f"{local:%Y-%m-%d}" if per == "day" else f"{local:%Y-%m}"


def check(column, locals_, instants):
    found = read_times(pd.Series(column, name="when"))
    assert found.local.tolist() == [nanoseconds(local) for local in locals_]
    assert found.instant.tolist() == [nanoseconds(instant) for instant in instants]
    for per in PERIODS:
        names = period_names(found.periods(per), per)
        assert names.tolist() == [naive_period(local, per) for local in locals_]


@given(st.lists(LOCAL, min_size=1, max_size=8), st.sampled_from(ZONES))
@settings(max_examples=50, deadline=None)
def test_a_zone_says_the_instant_and_the_clock_on_the_spot_the_period(times, zone):
    if zone is None:
        check(times, times, times)
        return
    # Through UTC, for some local times do not exist and some exist twice.
    instants = [time.replace(tzinfo=UTC) for time in times]
    there = [instant.astimezone(ZoneInfo(zone)) for instant in instants]
    locals_ = [time.replace(tzinfo=None) for time in there]
    check(pd.DatetimeIndex(instants).tz_convert(zone), locals_, times)
    check(np.array([*there, None], dtype=object)[:-1], locals_, times)


@given(st.lists(st.tuples(LOCAL, OFFSETS), min_size=1, max_size=8), st.sampled_from("T "))
@settings(max_examples=50, deadline=None)
def test_offsets_in_text_stay_with_their_rows(rows, between):
    text = [time.replace(tzinfo=timezone(offset)).isoformat(between) for time, offset in rows]
    check(text, [time for time, _ in rows], [time - offset for time, offset in rows])


@given(st.lists(LOCAL, min_size=1, max_size=8))
@settings(max_examples=25, deadline=None)
def test_text_without_an_offset_is_taken_as_written(times):
    check([time.isoformat() for time in times], times, times)
    seconds = [time.replace(microsecond=0) for time in times]
    written = [f"{time:%d.%m.%Y %H:%M:%S}" for time in seconds]
    check(written, seconds, seconds)


def test_half_past_midnight_in_paris_is_the_new_year(tmp_path):
    zoned = pd.Series(pd.DatetimeIndex(["2026-01-01 00:30"], tz="Europe/Paris"))
    frames = [pl.DataFrame({"when": zoned.dt.tz_convert("Europe/Paris")}).to_pandas()["when"]]
    (tmp_path / "one.csv").write_text("a,when\n1,2026-01-01T00:30+01:00\n")
    (tmp_path / "both.csv").write_text(
        "a,when\n1,2026-01-01T00:30+01:00\n2,2026-07-01T00:30+02:00\n"
    )
    zoned.to_frame("when").to_parquet(tmp_path / "one.parquet")
    frames += [read_table(path)["when"] for path in sorted(tmp_path.iterdir())]
    for column in (zoned, *frames):
        times = read_times(column)
        assert period_names(times.periods("day"), "day")[0] == "2026-01-01"
        assert pd.Timestamp(times.instant[0]) == pd.Timestamp("2025-12-31 23:30")
        assert period_starts(times.periods("quarter"), "quarter")[0] == "2026-01-01"


def test_rows_are_ordered_by_the_instant():
    # The hour that clocks in Paris show twice, and a time in New York between them.
    text = ["2026-10-25T02:30+01:00", "2026-10-24T21:00-04:00", "2026-10-25T02:30+02:00"]
    assert np.argsort(time_order(pd.Series(text))).tolist() == [2, 1, 0]
    assert time_order(pd.Series([3, 1, 2])).tolist() == [3, 1, 2], "numbers order rows as well"


def test_text_in_pieces_is_read_as_the_first_is_written():
    clock = Clock()
    first = clock.read(pd.Series(["31/01/2026"], name="when"))
    second = clock.read(pd.Series(["01/02/2026"], name="when"))
    assert period_names(first.periods("day"), "day").tolist() == ["2026-01-31"]
    assert period_names(second.periods("day"), "day").tolist() == ["2026-02-01"]
    with pytest.raises(ValueError, match="'when' has '02/31/2026', which is not a date"):
        clock.read(pd.Series(["02/31/2026"], name="when"))


def test_missing_times_are_allowed_where_it_is_said():
    times = read_times(pd.Series(["2026-01-01", None, "", "NA"]), allow_missing=True)
    assert times.known.tolist() == [True, False, False, False]
    assert times.at(slice(1)).known.all()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["2026-01-01", "soon"], "'when' has 'soon', which is not a date: write dates"),
        (["31/01/2026", "soon"], "'when' has 'soon', which is not a date: write dates"),
        (["01/02/2026"], "'01/02/2026', which could be read day first or month first: say"),
        ([1, 2], "'when' has numbers, such as 1, and not times: write dates"),
        ([True], "'when' has numbers, such as True"),
        (
            ["2026-01-01", None],
            r"1 missing time of 2, the first in row 1 \(counted from 0\): fill",
        ),
        (
            [pd.NaT, pd.NaT, pd.Timestamp(0)],
            r"2 missing times of 3, the first in row 0 ",
        ),
    ],
)
def test_times_that_cannot_be_read_are_shown(values, message):
    with pytest.raises(ValueError, match=message):
        read_times(pd.Series(values, name="when"))


def test_a_period_needs_a_time_and_a_column_does_not():
    check_per("region", None)
    check_per(None, None)
    check_per("quarter", "when")
    with pytest.raises(ValueError, match="each quarter needs the column with the time"):
        check_per("quarter", None)


def test_periods_are_checked_before_pandas_is_imported():
    code = (
        "import sys; from rarefind.data.clock import check_per; check_per('day', 'when'); "
        "print([m for m in ('pandas', 'numpy', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
