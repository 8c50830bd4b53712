"""What a budget buys, against going down the lists by hand."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind import TableModel, load, save
from rarefind.metrics import budget as checks_bought
from rarefind.neighbors import GammaKNNClassifier
from rarefind.tables._estimate import Evidence
from rarefind.tables._hold_out import PlainXGBoost, gathered, nanoseconds, planned


def evidence(positive, priority, **given):
    n = len(positive)
    told = {
        "how": "by hand",
        "budget": 3,
        "per": None,
        "rows": n,
        "positive": np.array(positive, dtype=bool),
        "priority": np.array(priority, dtype=float),
        "probability": np.full(n, 0.5),
        "fold": np.zeros(n, dtype=int),
        "plain": np.arange(n, dtype=float),
    }
    return Evidence(**told | given)


def by_hand(positive, score, lists, checks, amount):
    """Hits and money when each list is checked from the top, a part of a check being a part."""
    hits = money = 0.0
    for number, k in checks.items():
        rows = sorted(np.flatnonzero(lists == number), key=lambda i: -score[i])
        for place, i in enumerate(rows):
            share = min(max(k - place, 0), 1)
            hits += share * positive[i]
            money += share * positive[i] * amount[i]
    return hits, money


@settings(max_examples=25)
@given(st.integers(2, 30), st.integers(1, 3), st.integers(1, 40), st.integers(0, 10_000))
def test_folds_share_the_budget_of_the_whole_table(n, folds, k, seed):
    rng = np.random.default_rng(seed)
    positive, priority = rng.random(n) < 0.4, rng.permutation(n).astype(float)
    fold, amount, rows = rng.integers(folds, size=n), rng.integers(100, size=n) * 1.0, 3 * n
    found = evidence(positive, priority, fold=fold, amount=amount, rows=rows).bought(k)
    k = min(k, rows)
    checks = {f: k * np.sum(fold == f) / rows for f in np.unique(fold)}
    hits, money = by_hand(positive, priority, fold, checks, amount)
    assert found.checks == pytest.approx(k)
    assert found.rows == rows
    assert found.hits.value == pytest.approx(3 * hits)
    assert found.amount.value == pytest.approx(3 * money)
    assert found.share_found.value == pytest.approx(hits / max(1, positive.sum()))
    by_chance = sum(c * positive[fold == f].mean() for f, c in checks.items())
    assert found.random_hits == pytest.approx(3 * by_chance)
    plain = by_hand(positive, np.arange(n), fold, checks, amount)[0]
    assert found.plain_hits == pytest.approx(3 * plain)
    assert found.plain_ahead.value == pytest.approx(3 * (hits - plain))


@settings(max_examples=25)
@given(st.integers(2, 30), st.sampled_from(["2", "20%", 0.5]), st.integers(0, 10_000))
def test_in_time_each_day_has_the_budget(n, k, seed):
    rng = np.random.default_rng(seed)
    positive, priority = rng.random(n) < 0.4, rng.permutation(n).astype(float)
    day = rng.integers(3, size=n)
    time = pd.Timestamp("2026-01-01").value + day * 86_400 * 10**9 + rng.integers(10**9, size=n)
    found = evidence(positive, priority, time=time, per="day", rows=10 * n).bought(k)
    checks = {d: checks_bought(k, np.sum(day == d)) for d in np.unique(day)}
    assert found.checks == sum(checks.values())
    assert found.rows == n, "the held-out time stands for itself"
    hits = by_hand(positive, priority, day, checks, np.zeros(n))[0]
    assert found.hits.value == pytest.approx(hits)
    assert found.amount is None


def test_intervals_hold_what_other_rows_would_have_given():
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(30):
        score = rng.normal(size=400)
        positive = rng.random(400) < 1 / (1 + np.exp(2 - score))
        hits = evidence(positive, score, plain=score).bought(50).hits
        # Hits among the 50 highest of 400, of very many rows.
        inside += hits.low <= 20.17 <= hits.high
    assert 24 <= inside <= 30


def test_rows_of_one_entity_are_drawn_together():
    # Ten entities of twenty rows that are all positive or all negative.
    entity = np.repeat(np.arange(10), 20)
    positive, score = entity < 3, -np.arange(200.0)
    alone = evidence(positive, score, plain=score).bought(60).hits
    together = evidence(positive, score, plain=score, entity=entity).bought(60).hits
    assert together.high - together.low > 2 * (alone.high - alone.low)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 400
    risk = rng.normal(size=n)
    return pd.DataFrame(
        {
            "risk": risk,
            "kind": rng.choice(["a", "b", None], size=n),
            "who": rng.integers(60, size=n),
            "paid": rng.integers(1, 100, size=n) * 1.0,
            "when": pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(n), unit="h"),
            "bad": np.where(risk + 0.3 * rng.normal(size=n) > 1.3, "yes", "no"),
        }
    )


def model_of(**roles):
    return TableModel(GammaKNNClassifier(k=1), "bad", "yes", **roles)


def test_no_row_is_scored_by_a_model_that_saw_it(table):
    model = model_of(entity="who", amount="paid", drop=["when"])
    positive = (table["bad"] == "yes").to_numpy()
    looks = planned(model, table, positive)
    held = np.concatenate([part for _, part in looks.parts])
    assert sorted(held.tolist()) == list(range(len(table))), "few positives: all folds are needed"
    for train, test in looks.parts:
        assert not set(table["who"].iloc[train]) & set(table["who"].iloc[test])
    found = gathered(model, table, looks, 40)
    assert found.how == "Held out at random: 5 of 5 folds of the rows, rows of one who together."
    assert found.rows == found.positive.size == len(table)
    np.testing.assert_array_equal(found.positive, positive[held])
    np.testing.assert_array_equal(found.amount, table["paid"].to_numpy()[held])
    first, part = looks.parts[0]
    alone = model_of(entity="who", amount="paid", drop=["when"]).fit(table.iloc[first])
    np.testing.assert_array_equal(found.priority[found.fold == 0], alone.priority(table.iloc[part]))
    plain = PlainXGBoost(model, table, positive).scores(0, first, part)
    np.testing.assert_array_equal(found.plain[found.fold == 0], plain)
    bought = found.bought()
    assert bought.hits.low > bought.random_hits, "the score is a column of the table"


def test_in_time_the_past_scores_what_comes_later(table):
    shuffled = table.sample(frac=1, random_state=0)
    model = model_of(time="when", drop=["who"])
    positive = (shuffled["bad"] == "yes").to_numpy()
    (train, test), *others = planned(model, shuffled, positive, "2D").parts
    assert not others
    cut = shuffled["when"].iloc[test].min()
    assert shuffled["when"].iloc[train].max() < cut - pd.Timedelta("2D")
    assert (shuffled["when"] >= cut).sum() == test.size == 100
    found = gathered(model, shuffled, planned(model, shuffled, positive, "2D"), "10%", "day")
    assert "the last 25% of the rows" in found.how
    assert "2 days" in found.how
    np.testing.assert_array_equal(pd.DatetimeIndex(found.time), shuffled["when"].iloc[test])


def test_what_is_stopped_keeps_the_parts_that_are_done(table):
    class Stopped(TableModel):
        fits = 0

        def fit(self, rows):
            Stopped.fits += 1
            if Stopped.fits == 3:
                raise KeyboardInterrupt
            return super().fit(rows)

    model = Stopped(GammaKNNClassifier(k=1), "bad", "yes", drop=["when", "who"])
    looks = planned(model, table, (table["bad"] == "yes").to_numpy())
    found = gathered(model, table, looks, 40)
    assert found.how == "Held out at random: 2 of 5 folds of the rows."
    assert set(found.fold) == {0, 1}
    assert found.bought().checks == pytest.approx(40), "the budget is still of the whole table"


def test_a_column_may_have_braces_in_its_name(table):
    odd = table.drop(columns=["when"]).rename(columns={"who": "{who}"})
    model = model_of(entity="{who}")
    looks = planned(model, odd, (odd["bad"] == "yes").to_numpy())
    found = gathered(model, odd, looks, 40)
    assert found.how.endswith("5 of 5 folds of the rows, rows of one {who} together.")


def test_a_plain_xgboost_ends_its_rounds_in_time_and_it_is_said(table):
    model = model_of(drop=["when", "who"])
    positive = (table["bad"] == "yes").to_numpy()
    looks = planned(model, table, positive)
    plain = PlainXGBoost(model, table, positive, seconds=0.0)
    found = gathered(model, table, looks, 40, plain=plain)
    assert plain.rounds == 1, "there is always one"
    assert found.how.endswith("The plain XGBoost had time for 1 of its rounds only.")


def test_it_is_kept_in_the_file_of_a_model(table, tmp_path):
    model = model_of(time="when", entity="who", amount="paid").fit(table)
    assert model.evidence_ is None
    looks = planned(model, table, (table["bad"] == "yes").to_numpy())
    model.evidence_ = gathered(model, table, looks, 10, "day")
    save(model, tmp_path / "model.rarefind")
    kept = load(tmp_path / "model.rarefind").evidence_
    assert kept.bought() == model.evidence_.bought()
    assert kept.how == model.evidence_.how


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["2026-01-01", "soon"], "holds 'soon', which is no date"),
        ([1, 2], "holds numbers, such as 1"),
        (["2026-01-01", None], "is missing in 1 of 2 rows"),
    ],
)
def test_times_that_cannot_be_read_are_shown(values, message):
    with pytest.raises(ValueError, match=message):
        nanoseconds(pd.DataFrame({"when": values}), "when")


def test_delays_and_periods_need_a_time(table):
    positive = (table["bad"] == "yes").to_numpy()
    with pytest.raises(ValueError, match="A delay needs"):
        planned(model_of(), table, positive, "7D")
    with pytest.raises(ValueError, match="as 7D or 12h, not 'soon'"):
        planned(model_of(time="when"), table, positive, "soon")
    with pytest.raises(ValueError, match="too few to learn from"):
        planned(model_of(time="when"), table, positive, "300h")
    looks = planned(model_of(), table, positive)
    with pytest.raises(ValueError, match="needs the column with the time"):
        gathered(model_of(), table, looks, 10, "day")
    with pytest.raises(ValueError, match="one of hour, day, week, month, not 'year'"):
        gathered(model_of(), table, looks, 10, "year")
