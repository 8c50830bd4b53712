"""Drift of columns: found where it is, not where there is only noise."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rarefind
from rarefind import TableModel
from rarefind.data import DriftReference
from rarefind.data._shares import shift_between
from rarefind.data.column_reference import ColumnReference
from rarefind.neighbors import GammaKNNClassifier


def payments(rng, n, **changes):
    when = pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 400 * 24 * 60, n), "min")
    table = pd.DataFrame(
        {
            "amount": rng.lognormal(3, 1, n),
            "items": rng.poisson(2, n),
            "zeros": np.where(rng.random(n) < 0.9, 0.0, rng.random(n)),
            "incomplete": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "country": rng.choice(["FR", "BE", "DE", "US"], n, p=[0.6, 0.3, 0.09, 0.01]),
            "shop": [f"s{int(i)}" for i in rng.exponential(30, n)],
            "new": rng.random(n) < 0.1,
            "when": when,
        }
    )
    return table.assign(**changes)


COLUMNS = ["amount", "items", "zeros", "incomplete", "country", "shop", "new", "when"]


@pytest.fixture(scope="module")
def reference():
    return DriftReference.of(payments(np.random.default_rng(0), 20_000), COLUMNS)


def verdicts(reference, table):
    return reference.counter().update(table).table().set_index("column")


def test_one_distribution_gives_almost_no_alarm():
    """1,000 draws of 200 rows, of numbers, rare levels and a date."""
    rng = np.random.default_rng(1)
    columns = ["amount", "country", "shop", "when"]
    reference = DriftReference.of(payments(rng, 5000), columns)
    found = []
    for _ in range(40):
        whole = payments(rng, 25 * 200)
        for part in range(25):
            piece = whole.iloc[part * 200 : (part + 1) * 200]
            found.append(reference.counter().update(piece).table()["verdict"])
    found = pd.concat(found)
    assert len(found) == 4000
    assert (found == "changed").sum() == 0
    assert (found == "moved").sum() <= 4


@pytest.mark.parametrize("rows", [5, 20, 1000])
@pytest.mark.parametrize("levels", [2, 40])
def test_chance_is_no_alarm_at_other_sizes(rows, levels):
    rng = np.random.default_rng(rows)
    alarms = 0
    for _ in range(1000):
        share = rng.dirichlet(np.full(levels, 0.3))
        before, now = rng.multinomial(3000, share), rng.multinomial(rows, share)
        alarms += shift_between(before * 1.0, now * 1.0).verdict(1) != "stable"
    assert alarms <= 5


def test_what_changed_is_named(reference):
    rng = np.random.default_rng(2)
    table = payments(rng, 500)
    table["amount"] *= 3
    table["country"] = np.where(rng.random(500) < 0.5, "XX", table["country"])
    table.loc[rng.random(500) < 0.5, "incomplete"] = np.nan
    table["new"] = rng.random(500) < 0.6
    table["zeros"] = rng.random(500)
    found = verdicts(reference, table)
    assert found["verdict"].to_dict() == {
        "amount": "changed",
        "items": "stable",
        "zeros": "changed",
        "incomplete": "changed",
        "country": "changed",
        "shop": "stable",
        "new": "changed",
        "when": "stable",
    }
    assert found.loc["amount", "text"].startswith("above ")
    assert found.loc["country", "text"].startswith("rare or new values: ")
    assert found.loc["country", "new_levels"] == pytest.approx((table["country"] == "XX").mean())
    assert found.loc["incomplete", "text"].startswith("missing: ")
    assert found.loc["incomplete", "missing_now"] == table["incomplete"].isna().mean()
    assert found.loc["incomplete", "missing_before"] == pytest.approx(0.1, abs=0.02)
    assert found.loc["new", "text"].startswith("true: ")
    assert found.loc["items", "text"] == "as at fit"
    assert found.loc["items", "new_levels"] == 0


def test_a_small_drift_of_a_large_file_is_stable(reference):
    rng = np.random.default_rng(3)
    table = payments(rng, 50_000)
    table["amount"] *= 1.1
    found = verdicts(reference, table).loc["amount"]
    assert 0.003 < found["drift"] < 0.1
    assert found["verdict"] == "stable"
    moved = verdicts(reference, table.assign(amount=table["amount"] * 1.4)).loc["amount"]
    assert 0.1 <= moved["drift"] < 0.25
    assert moved["verdict"] == "moved"


def test_pieces_make_the_whole(reference):
    table = payments(np.random.default_rng(4), 900)
    whole = reference.counter().update(table)
    pieces = reference.counter()
    for start in range(0, 900, 250):
        pieces.update(table.iloc[start : start + 250])
    assert pieces.rows == whole.rows == 900
    pd.testing.assert_frame_equal(pieces.table(), whole.table())


def test_the_index_by_its_definition(reference):
    table = payments(np.random.default_rng(5), 30_000)
    table["amount"] *= 2
    then = payments(np.random.default_rng(0), 20_000)["amount"]
    edges = np.r_[-np.inf, np.quantile(then, np.arange(1, 10) / 10), np.inf]
    p = np.histogram(then, edges)[0] / len(then)
    q = np.histogram(table["amount"], edges)[0] / len(table)
    expected = ((q - p) * np.log(q / p)).sum()
    assert verdicts(reference, table).loc["amount", "drift"] == pytest.approx(expected, rel=0.02)


counts = st.lists(st.integers(0, 30), min_size=2, max_size=8)


@given(counts, st.data())
def test_a_shift_is_finite_and_never_below_zero(before, data):
    now = data.draw(st.lists(st.integers(0, 30), min_size=len(before), max_size=len(before)))
    shift = shift_between(np.array(before, float), np.array(now, float))
    assert 0 <= shift.index < np.inf
    assert 0 <= shift.p_value <= 1
    assert shift.added.sum() == pytest.approx(shift.index)
    same = shift_between(np.array(before, float), np.array(before, float))
    assert same.verdict(1) == "stable"


def test_dates_move_on_but_their_hours_do_not(reference):
    later = payments(np.random.default_rng(6), 2000)
    later["when"] += pd.Timedelta(days=4000)
    assert verdicts(reference, later).loc["when", "verdict"] == "stable"
    one_day = later.assign(
        when=pd.Timestamp("2030-03-02") + (later["when"] - later["when"].dt.normalize())
    )
    assert verdicts(reference, one_day).loc["when", "verdict"] == "stable"
    at_night = later.assign(when=later["when"].dt.normalize() + pd.Timedelta(hours=3))
    found = verdicts(reference, at_night).loc["when"]
    assert found["verdict"] == "changed"
    assert found["text"].startswith("at hour 3: 100 % of rows, 4 %")
    sundays = later.assign(
        when=later["when"] - pd.to_timedelta((later["when"].dt.day_of_week + 1) % 7, "D")
    )
    assert verdicts(reference, sundays).loc["when", "text"].startswith("on a Sunday: 100 %")
    march = later[later["when"].dt.month == 3]
    lone = pd.concat([march, march.assign(when=march["when"] + pd.Timedelta(days=1461))])
    assert verdicts(reference, lone).loc["when", "text"].startswith("in March: 100 %")


def test_no_rare_level_is_kept():
    levels = ["a"] * 50 + ["b"] * 5 + ["Jane Doe"] * 4 + [None]
    column = ColumnReference.of(pd.Series(levels, name="x"))
    assert column.levels == ["a", "b"]
    assert column.known == []
    assert column.counts[""].tolist() == [50, 5, 0, 4, 1]
    many = pd.Series([f"v{i % 80:02}" for i in range(800)], name="x")
    column = ColumnReference.of(many)
    assert len(column.levels) == 50
    assert len(column.known) == 30
    assert column.counts[""][50:].tolist() == [300, 0, 0]


def test_columns_without_a_value_or_of_other_types():
    then = pd.DataFrame({"x": [None] * 40, "code": ["1,5", "2,5"] * 20, "flag": ["yes", "no"] * 20})
    reference = DriftReference.of(then, list(then.columns))
    assert verdicts(reference, then)["verdict"].tolist() == ["stable"] * 3
    now = pd.DataFrame({"x": [1.0] * 40, "code": ["9,5"] * 40, "flag": [None] * 40})
    found = verdicts(reference, now)
    assert found["verdict"].tolist() == ["changed"] * 3
    assert found["text"].tolist() == [
        "rare or new values: 100 % of rows, 0 % at fit",
        "above 2.5: 100 % of rows, 0 % at fit",
        "missing: 100 % of rows, 0 % at fit",
    ]
    with pytest.raises(ValueError, match="no column 'x'"):
        reference.counter().update(now[["code", "flag"]])


def test_nothing_counted_is_nothing_said(reference):
    found = reference.counter().table()
    assert set(found["verdict"]) == {"stable"}
    assert set(found["text"]) == {"no rows to compare"}


def test_a_large_table_is_sampled():
    table = pd.DataFrame({"x": np.arange(120_000.0)})
    reference = DriftReference.of(table, ["x"])
    assert reference.rows == 50_000
    assert reference.columns[0].counts[""].sum() == 50_000
    np.testing.assert_allclose(reference.columns[0].cuts, np.arange(1, 10) * 12_000, rtol=0.03)


def test_weighted_scores_count_as_the_rows_they_tell_of():
    score = np.arange(1000.0)
    plain = ColumnReference.of_scores("score", score, np.ones(1000))
    assert plain.counts[""].sum() == pytest.approx(1000)
    assert plain.counts[""][-3:-1].tolist() == [40, 10]
    twice = ColumnReference.of_scores("score", np.repeat(score, 2), np.full(2000, 0.5))
    np.testing.assert_allclose(twice.counts[""], 2 * plain.counts[""])
    uneven = ColumnReference.of_scores("score", score, np.where(score < 500, 3.0, 1.0))
    assert uneven.counts[""].sum() == pytest.approx(2000**2 / 5000)


def test_a_model_keeps_it_in_its_file(tmp_path):
    rng = np.random.default_rng(8)
    table = payments(rng, 400).drop(columns="shop")
    table["y"] = rng.random(400) < 0.1
    model = TableModel(GammaKNNClassifier(k=1), time="when").fit(table)
    assert [column.column for column in model.drift_reference_.columns] == model.encoder_.columns_
    path = tmp_path / "model.rarefind"
    rarefind.save(model, path)
    again = rarefind.load(path)
    new = payments(rng, 300)
    pd.testing.assert_frame_equal(
        again.drift_reference_.counter().update(new).table(),
        model.drift_reference_.counter().update(new).table(),
    )
    kept, own = again.score_reference_, model.score_reference_
    np.testing.assert_array_equal(kept.cuts, own.cuts)
    np.testing.assert_array_equal(kept.counts[""], own.counts[""])
    del model.drift_reference_
    rarefind.save(model, path)
    assert not hasattr(rarefind.load(path), "drift_reference_")


def test_what_no_row_of_the_fit_had_is_unseen(reference):
    rng = np.random.default_rng(5)
    table = payments(rng, 400)
    assert reference.counter().update(table).unseen().empty
    assert reference.counter().unseen().empty, "no rows"
    broken = table.assign(
        amount=table["amount"] * 100,
        items=-7,
        incomplete=np.nan,
        country="XX",
        when=pd.NaT,
        new=pd.Series(pd.NA, index=table.index, dtype="boolean"),
    )
    found = reference.counter().update(broken).unseen()
    assert set(found["column"]) == {"amount", "items", "incomplete", "country", "when", "new"}
    assert found["share"].is_monotonic_decreasing
    texts = dict(zip(found["column"], found["text"], strict=True))
    assert texts["items"] == "items is below 0 in 100 % of the rows (0 % at the fit)"
    assert texts["incomplete"] == "incomplete is missing in 100 % of the rows (10 % at the fit)"


@pytest.mark.parametrize("part", ["country", "new", "items", "month"])
def test_a_part_of_the_rows_is_not_unseen(reference, part):
    """One country, one number of items, one month: values that the fit knows."""
    table = payments(np.random.default_rng(6), 3000)
    by = table["when"].dt.month if part == "month" else table[part]
    for _, rows in table.groupby(by):
        if len(rows) >= 100:
            found = reference.counter().update(rows).unseen()
            assert found.empty, found


def test_counters_add_up(reference):
    table = payments(np.random.default_rng(7), 900)
    whole = reference.counter().update(table)
    parts = reference.counter().update(table[:300]).add(reference.counter().update(table[300:]))
    pd.testing.assert_frame_equal(parts.table(), whole.table())
    assert parts.rows == 900


def test_references_of_older_files_know_the_ends_of_numbers_too(reference):
    """Files of version 0.1.0 do not count what lies beyond nearly all numbers."""
    nowhere = (np.nan, np.nan)
    older = [
        replace(one, counts={"": one.counts[""]}, span=nowhere) if one.kind == "number" else one
        for one in reference.columns
    ]
    table = payments(np.random.default_rng(8), 400)
    reference = DriftReference(reference.rows, older)
    assert reference.counter().update(table).unseen().empty
    cents = table.assign(amount=table["amount"] * 100)
    (found,) = reference.counter().update(cents).unseen().to_dict("records")
    assert found["text"].startswith("amount is above ")
