"""What is in a table, and which columns give the positives away."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import average_precision_score

from rarefind.data import DriftReference, Leak, profile_table
from rarefind.data._leaks import (
    LeakRows,
    LeakSearch,
    _ap_of_levels,
    _ap_of_numbers,
    _average_precision,
)


def table_with(rng, n=4000, share=0.02, **columns):
    y = rng.random(n) < share
    made = {name: make(y) for name, make in columns.items()}
    return pd.DataFrame({**made, "y": np.where(y, "yes", "no")})


def leaks(table, **options):
    return [leak.column for leak in profile_table(table, "y", "yes", **options).leaks]


def test_counts_kinds_and_notes():
    n = 100
    table = pd.DataFrame(
        {
            "amount": np.r_[np.nan, np.nan, np.arange(98) / 7],
            "same": 3,
            "nothing": [None] * n,
            "name": [f"p{i}" for i in range(n)],
            "number": np.arange(n) + 2**60,
            "real": np.random.default_rng(0).random(n),
            "flag": [True, False] * 50,
            "when": pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(n) % 4, unit="D"),
            "country": ["FR", "BE", "NA", "FR"] * 25,
            "comma": ["1,5", "2,5"] * 50,
            "y": [0] * 90 + [1] * 10,
        }
    )
    found = profile_table(table, "y")
    assert (found.rows, found.positives) == (100, 10)
    seen = found.columns.set_index("column")
    assert seen["kind"].to_dict() == {
        "amount": "number",
        "same": "number",
        "nothing": "text",
        "name": "text",
        "number": "number",
        "real": "number",
        "flag": "boolean",
        "when": "date",
        "country": "text",
        "comma": "number",
    }
    assert seen["missing"][["amount", "nothing", "country", "real"]].tolist() == [0.02, 1, 0.25, 0]
    assert seen["values"].to_dict() == {
        "amount": 98,
        "same": 1,
        "nothing": 0,
        "name": n,
        "number": n,
        "real": n,
        "flag": 2,
        "when": 4,
        "country": 2,
        "comma": 2,
    }
    assert seen["note"][seen["note"] != ""].to_dict() == {
        "same": "one value",
        "nothing": "all missing",
        "name": "different in every row",
        "number": "different in every row",
    }


def test_the_sentences(rng):
    table = table_with(rng, n=12_345, share=0.01, paid=lambda y: np.where(y, 1.0, np.nan))
    table = table.assign(same=1, other=[None] + [2] * 12_344)
    profile = profile_table(table, "y")
    assert (
        profile.lines()
        == str(profile).splitlines()
        == [
            f"12,345 rows, {profile.positives} positives ({profile.positives / 123.45:.1f} %).",
            "2 columns have missing values: paid (99 %), other (under 1 %).",
            "1 column has one value: same.",
            f"{table.duplicated().sum():,} rows are copies of an earlier one in all columns: if "
            "they are there by mistake, leave them out, or the estimate is too good.",
            "paid alone gives average precision 1.000: a suspected leak; leave it out with "
            "--drop paid if it is not known when the list is made.",
        ]
    )
    assert "--drop 'paid back'" in str(Leak("paid back", 1.0))
    many = pd.DataFrame({f"c{i}": [1, np.nan] * 5 for i in range(9)})
    assert profile_table(many).lines() == [
        "10 rows.",
        "9 columns have missing values: c0 (50 %), c1 (50 %), c2 (50 %), c3 (50 %), c4 (50 %), "
        "… 4 more.",
        "8 rows are copies of an earlier one in all columns: if they are there by mistake, leave "
        "them out, or the estimate is too good.",
    ]


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def test_leaks_of_every_kind_are_named(rng):
    day = pd.Timestamp("2026-01-01")
    table = table_with(
        rng,
        high=lambda y: y + rng.normal(0, 0.1, y.size),
        low=lambda y: rng.normal(0, 0.1, y.size) - y,
        middle=lambda y: np.where(y, rng.normal(0, 0.01, y.size), rng.choice([-1, 1], y.size)),
        code=lambda y: np.where(y, 7, rng.integers(0, 7, y.size) * 2),
        missing=lambda y: np.where(y, np.nan, rng.normal(size=y.size)),
        known=lambda y: np.where(y, rng.normal(size=y.size), np.nan),
        status=lambda y: np.where(y, "charged back", rng.choice(["ok", "open"], y.size)),
        level=lambda y: np.where(y, rng.choice(["a", "b", "c"], y.size), "z"),
        flag=lambda y: y,
        closed=lambda y: day + pd.to_timedelta(rng.integers(0, 99, y.size) + 200 * y, unit="D"),
        noise=lambda y: rng.normal(size=y.size),
    )
    named = leaks(table)
    assert set(named) == set(table.columns) - {"y", "noise"}
    assert set(leaks(table, ignore=["high", "flag"])) == set(named) - {"high", "flag"}
    assert leaks(pl.from_pandas(table)) == named
    assert profile_table(table).leaks == []


def test_the_order_of_the_rows_is_no_matter(rng):
    table = table_with(
        rng, middle=lambda y: np.where(y, rng.normal(0, 0.01, y.size), rng.choice([-1, 1], y.size))
    ).sort_values("y")
    assert leaks(table) == ["middle"]


def test_noise_is_not_named(rng):
    n = 3000
    noise = {f"n{i}": rng.normal(size=n) for i in range(60)}
    noise |= {f"r{i}": np.where(rng.random(n) < 0.5, np.nan, 1.0) for i in range(20)}
    noise |= {f"t{i}": rng.integers(0, 1000, n).astype(str) for i in range(20)}
    noise |= {"name": [f"p{i}" for i in range(n)], "id": np.arange(n)}
    assert leaks(pd.DataFrame(noise).assign(y=np.where(rng.random(n) < 0.01, "yes", "no"))) == []


@pytest.mark.parametrize("rows", [10, 14, 30, 200])
def test_five_positives_and_random_columns(rng, rows):
    for _ in range(5):
        y = np.array(["yes"] * 5 + ["no"] * (rows - 5))
        noise = {f"n{i}": rng.normal(size=rows) for i in range(200)}
        noise |= {f"t{i}": rng.choice(["a", "b", "c"], rows) for i in range(50)}
        assert leaks(pd.DataFrame(noise).assign(y=y)) == []


def test_five_positives_and_a_leak(rng):
    y = np.array(["yes"] * 5 + ["no"] * 95)
    table = pd.DataFrame({"leak": (y == "yes") * 1.0, "noise": rng.normal(size=100), "y": y})
    assert leaks(table) == ["leak"]
    assert leaks(table[1:]) == []  # four positives are too few


def test_a_strong_column_is_no_leak(rng):
    y = rng.random(20_000) < 0.05
    strong = 2.6 * y + rng.normal(size=y.size)
    assert 0.6 < average_precision_score(y, strong) < 0.8
    text = np.where(rng.random(y.size) < 0.02 + 0.78 * y, "XX", rng.choice(["a", "b"], y.size))
    # Beyond all others for a few.
    tail = np.where(y & (rng.random(y.size) < 0.3), 9 + rng.random(y.size), strong)
    table = pd.DataFrame({"strong": strong, "text": text, "tail": tail})
    assert leaks(table.assign(y=np.where(y, "yes", "no"))) == []


@pytest.mark.parametrize("share", [0.3, 0.5, 0.8, 0.9, 0.94])
def test_a_column_that_marks_a_large_share_of_the_positives_is_named(rng, share):
    """None of these was: each alone ranks the rest of the positives among all other rows."""
    n = 20_000
    y = rng.random(n) < 0.02
    marked = y & (rng.permutation(n).argsort() < share * n)
    noise = rng.normal(size=n)
    table = pd.DataFrame(
        {
            "flag": marked * 1,
            "truth": marked,
            "present": np.where(marked, noise, np.nan),
            "missing": np.where(marked, np.nan, noise),
            "amount": np.where(marked, rng.gamma(2, 9, n), 0.0),
            "high": np.where(marked, 9 + noise, noise),
            "low": np.where(marked, noise - 9, noise),
            "number": np.where(marked, 7, rng.integers(0, 6, n) * 2),
            "level": np.where(marked, "repaid", rng.choice(["open", "closed"], n)),
            "agent": np.where(marked, rng.choice(["Ann", "Bob", "Eve"], n), "none"),
            "agents": np.where(marked, rng.choice([*"abc"], n), rng.choice([*"vwxyz"], n)),
            "note": np.where(marked, "checked", None),
            "day": pd.Series(pd.Timestamp("2026-02-01"), index=range(n)).where(marked),
            "noise": noise,
        }
    )
    found = profile_table(table.assign(y=np.where(y, "yes", "no")), "y", "yes").leaks
    honest = {"noise", "high", "low"} if share < 0.42 else {"noise"}  # a tail may be honest
    assert {leak.column for leak in found} == set(table.columns) - honest
    said = {leak.column: leak for leak in found}
    exact = marked.sum() / y.sum()
    for name, condition in {
        "flag": "is 1",
        "truth": "is true",
        "present": "is filled in",
        "missing": "is missing",
        "amount": "is other than 0",
        "high": "is higher than elsewhere",
        "low": "is lower than elsewhere",
        "number": "is 7",
        "level": "is 'repaid'",
        "agent": "is other than 'none'",
        "agents": "has levels of its own",
        "note": "is filled in",
        "day": "is filled in",
    }.items():
        if name in honest:
            continue
        if said[name].condition:
            percent = f"{100 * exact:.0f} % of the positives and for no other row"
            assert said[name].condition == f"{condition} for {percent}"
            assert said[name].share == pytest.approx(exact)
        else:
            assert said[name].average_precision > 0.95
    if share <= 0.5:
        assert all(leak.condition for leak in found)


def test_of_few_rows_a_small_share_says_little(rng):
    """Of 400 other rows none may have a value by chance that a quarter of the positives has."""
    for n, named in ((400, []), (10_000, ["flag"])):
        y = np.arange(n) < 60
        table = pd.DataFrame({"flag": (np.arange(n) < 18) * 1.0, "noise": rng.normal(size=n)})
        assert leaks(table.assign(y=np.where(y, "yes", "no"))) == named


def test_a_mark_may_have_an_exception_and_not_more(rng):
    y = rng.random(20_000) < 0.05
    marked = y & (rng.random(y.size) < 0.6)
    few = marked | (np.arange(y.size) == np.flatnonzero(~y)[0])
    many = marked | (~y & (rng.random(y.size) < 0.01))
    table = pd.DataFrame({"few": few, "many": many, "y": np.where(y, "yes", "no")})
    (found,) = profile_table(table, "y").leaks
    assert found.column == "few"
    assert "and for hardly any other row: a suspected leak" in str(found)


def test_copies_and_repeated_identifiers_are_counted():
    table = pd.DataFrame({"id": [1, 2, 3, 3, None, None], "a": [7, 8, 7, 9, 5, 6]})
    found = profile_table(table, id="id")
    assert (found.copies, found.repeated_ids) == (1, 1)
    assert found.lines()[-2:] == [
        "1 row is a copy of an earlier one in all columns but id: if it is there by mistake, "
        "leave it out, or the estimate is too good.",
        "Identifiers repeat: 1 row has the id of an earlier one.",
    ]
    assert profile_table(table).copies == 0


def test_a_share_of_positives_near_one_half_asks_for_more(rng):
    """Of 80 % positives, a column without any use has an average precision of 0.8."""
    y = rng.random(4000) < 0.8
    table = pd.DataFrame({"weak": 1.8 * y + rng.normal(size=y.size), "leak": y * 1})
    assert average_precision_score(y, table["weak"]) > 0.95
    assert leaks(table.assign(y=np.where(y, "yes", "no"))) == ["leak"]


def test_of_a_large_table_the_average_precision_is_that_of_all_rows(rng):
    """A sample of the negatives would promise too much: one in three hundred is above."""
    n = 200_000
    y = rng.random(n) < 0.001
    above = ~y & (rng.random(n) < 0.003)
    weak = np.where(y | above, 1 + rng.random(n), rng.random(n))
    leak = np.where(y, 1 + rng.random(n), rng.random(n))
    leak[np.flatnonzero(~y)[:3]] = 1.2
    table = pd.DataFrame({"weak": weak, "leak": leak, "y": np.where(y, "yes", "no")})
    (found,) = profile_table(table, "y").leaks
    assert found.column == "leak"
    assert found.average_precision == pytest.approx(average_precision_score(y, leak), abs=1e-9)


def test_average_precision_of_tied_groups(rng):
    score, y = rng.integers(0, 6, 200), rng.random(200) < 0.2
    weight = np.where(y, 1.0, 3.0)
    hits = np.bincount(5 - score, weights=y)
    misses = 3 * np.bincount(5 - score, weights=~y)
    expected = average_precision_score(y, score, sample_weight=weight)
    assert _average_precision(hits, misses) == pytest.approx(expected)


def test_numbers_by_their_slow_definition(rng):
    for _ in range(20):
        values = np.where(rng.random(120) < 0.2, np.nan, rng.integers(0, 8, 120) * 1.0)
        positive = rng.random(120) < 0.2
        rows = LeakRows(np.arange(120), positive, rng.random(120) < 0.5, 2.0)
        weight = np.where(positive, 1.0, 2.0)
        ways = (values, -values)
        expected = max(
            average_precision_score(
                positive, np.where(np.isnan(way), -99, way), sample_weight=weight
            )
            for way in ways
        )
        found = _ap_of_numbers(values, rows)
        assert found >= expected - 1e-12
        assert found == pytest.approx(max(expected, _slow_halves(values, rows)))


def _slow_halves(values, rows):
    """Eight values are few enough to have a bin each."""
    codes = np.where(np.isnan(values), 8, values).astype(int)
    by_level = _ap_of_levels(codes, rows)
    aps = []
    for learn in (rows.half, ~rows.half):
        weight = np.where(rows.positive, 1.0, rows.weight)
        share = weight[learn & rows.positive].sum() / weight[learn].sum()
        rate = {}
        for code in range(9):
            here = learn & (codes == code)
            hits = weight[here & rows.positive].sum()
            rate[code] = round((hits + 2 * share) / (weight[here].sum() + 2), 12)
        score = np.array([rate[code] for code in codes])
        aps.append(
            average_precision_score(
                rows.positive[~learn], score[~learn], sample_weight=weight[~learn]
            )
        )
    assert by_level == pytest.approx(np.mean(aps))
    return by_level


def test_nothing_is_suspected_without_enough_positives():
    assert not LeakSearch(np.arange(1000) < 4, 1).possible
    assert LeakSearch(np.arange(1000) < 5, 1).possible
    assert not LeakSearch(np.arange(12) < 5, 1).possible


def test_columns_of_every_type(rng):
    n = 60
    table = pd.DataFrame(
        {
            "whole": pd.array([1, None] * 30, dtype="Int64"),
            "truth": pd.array([True, None, False] * 20, dtype="boolean"),
            "level": pd.Categorical(["a", "b", None] * 20),
            "string": pd.array(["a", None] * 30, dtype="string"),
            "month": pd.period_range("2020-01", periods=n, freq="M"),
            "zoned": pd.date_range("2026-01-01", periods=n, tz="Europe/Paris"),
            "lasted": pd.to_timedelta(np.arange(n), unit="h"),
            "y": ["no"] * 50 + ["yes"] * 10,
        }
    )
    found = profile_table(table, "y")
    seen = found.columns.set_index("column")
    assert seen["values"].tolist() == [1, 2, 2, 1, n, n, n]
    assert seen["missing"].round(3).tolist() == [0.5, 0.333, 0.333, 0.5, 0, 0, 0]
    assert seen["kind"].tolist() == ["number", "boolean", *["text"] * 2, *["date"] * 2, "number"]
    assert {leak.column for leak in found.leaks} == {"month", "zoned", "lasted"}
    counted = DriftReference.of(table, list(seen.index)).counter().update(table).table()
    assert set(counted["verdict"]) == {"stable"}


def test_bad_targets_are_told():
    with pytest.raises(ValueError, match="ignore= is a list"):
        profile_table(pd.DataFrame({"fraud": [0, 1]}), ignore="fraud")
    with pytest.raises(ValueError, match="did you mean 'fraud'"):
        profile_table(pd.DataFrame({"fraud": [0, 1]}), "frauds")
