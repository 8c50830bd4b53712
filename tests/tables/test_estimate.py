"""What a budget finds, against going down the lists by hand."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from rarefind import TableModel, load, save
from rarefind._core.deadline import until
from rarefind.data import DriftReference, TableEncoder
from rarefind.data.clock import read_times
from rarefind.metrics import budget as checks_bought
from rarefind.neighbors import GammaKNNClassifier
from rarefind.tables import (
    BudgetEstimate,
    CannotHoldOutError,
    PlainXGBoost,
    estimate_budget,
    hold_out,
    monitor,
    whole_budget,
)
from rarefind.tables._periods import in_whole_periods
from rarefind.tables.lists import ListRequest


def estimate(positive, priority, **given):
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
    return BudgetEstimate(**told | given)


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
    found = estimate(positive, priority, fold=fold, amount=amount, rows=rows).list_value(k)
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
    found = estimate(positive, priority, time=time, per="day", rows=10 * n).list_value(k)
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
        hits = estimate(positive, score, plain=score).list_value(50).hits
        # Hits among the 50 highest of 400, of very many rows.
        inside += hits.low <= 20.17 <= hits.high
    assert 24 <= inside <= 30


def test_rows_of_one_entity_are_drawn_together():
    # Ten entities of twenty rows that are all positive or all negative.
    entity = np.repeat(np.arange(10), 20)
    positive, score = entity < 3, -np.arange(200.0)
    alone = estimate(positive, score, plain=score).list_value(60).hits
    together = estimate(positive, score, plain=score, entity=entity).list_value(60).hits
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
    looks = hold_out(model, table)
    held = np.concatenate([part for _, part in looks.parts])
    assert sorted(held.tolist()) == list(range(len(table))), "few positives: all folds are needed"
    for train, test in looks.parts:
        assert not set(table["who"].iloc[train]) & set(table["who"].iloc[test])
    found = estimate_budget(model, table, 40, held_out=looks)
    assert found.how == "Held out at random: 5 of 5 folds of the rows, rows of one who together."
    assert found.rows == found.positive.size == len(table)
    np.testing.assert_array_equal(found.positive, positive[held])
    np.testing.assert_array_equal(found.amount, table["paid"].to_numpy()[held])
    first, part = looks.parts[0]
    alone = model_of(entity="who", amount="paid", drop=["when"]).fit(table.iloc[first])
    np.testing.assert_array_equal(found.priority[found.fold == 0], alone.priority(table.iloc[part]))
    plain = PlainXGBoost(model, table).scores(0, first, part)
    np.testing.assert_array_equal(found.plain[found.fold == 0], plain)
    value = found.list_value()
    assert value.hits.low > value.random_hits, "the score is a column of the table"


def test_in_time_the_past_scores_what_comes_later(table):
    shuffled = table.sample(frac=1, random_state=0)
    model = model_of(time="when", drop=["who"])
    looks = hold_out(model, shuffled, delay="2D")
    (train, test), *others = looks.parts
    assert not others
    cut = shuffled["when"].iloc[test].min()
    assert shuffled["when"].iloc[train].max() < cut - pd.Timedelta("2D")
    assert (shuffled["when"] >= cut).sum() == test.size == 100
    found = estimate_budget(model, shuffled, "10%", held_out=looks)
    assert "the last 25 % of the rows" in found.how
    assert "2 days" in found.how
    np.testing.assert_array_equal(pd.DatetimeIndex(found.time), shuffled["when"].iloc[test])


def test_what_is_stopped_keeps_the_parts_that_are_done(table):
    class Stopped(GammaKNNClassifier):
        fits = 0

        def fit(self, X, y, groups=None):
            Stopped.fits += 1
            if Stopped.fits == 3:
                raise KeyboardInterrupt
            return super().fit(X, y, groups)

    model = TableModel(Stopped(k=1), "bad", "yes", drop=["when", "who"])
    found = estimate_budget(model, table, 40)
    assert found.how == "Held out at random: 2 of 5 folds of the rows."
    assert set(found.fold) == {0, 1}
    assert found.list_value().checks == pytest.approx(40), "the budget is still of the whole table"


def test_a_column_may_have_braces_in_its_name(table):
    odd = table.drop(columns=["when"]).rename(columns={"who": "{who}"})
    model = model_of(entity="{who}")
    found = estimate_budget(model, odd, 40)
    assert found.how.endswith("5 of 5 folds of the rows, rows of one {who} together.")


def test_a_list_is_not_compared_with_a_plain_xgboost_that_was_cut_short(table):
    model = model_of(drop=["when", "who"])
    plain = PlainXGBoost(model, table, seconds=0.0)
    found = estimate_budget(model, table, 40, plain=plain)
    assert plain.rounds == 1, "there is always one"
    assert found.how.endswith(
        "A plain XGBoost was not done in time, so the list is not compared with it."
    )
    value = found.list_value()
    assert (value.plain_hits, value.plain_ahead) == (None, None)


def test_a_day_that_is_not_whole_has_no_budget(table):
    """The last quarter began at 11 pm: an hour of rows had the checks of a day."""
    model = model_of(time="when", drop=["who"])
    late = table.assign(when=table["when"] + pd.Timedelta("11h"))
    held = hold_out(model, late, per="day")
    days = late["when"].iloc[held.parts[0][1]].dt.strftime("%m-%d").value_counts()
    assert days.to_dict() == {"01-14": 24, "01-15": 24, "01-16": 24, "01-17": 24}
    assert held.how == (
        "Held out: the last 4 whole days, 24 % of the rows, 2026-01-14 to 2026-01-17; rows after "
        "them are of a day that is not over, and are left out."
    )
    assert late["when"].iloc[held.parts[0][0]].max() == pd.Timestamp("2026-01-13 23:00")
    assert estimate_budget(model, late, 5, per="day").list_value().checks == 4 * 5
    stub = estimate_budget(model, late, 5, held_out=hold_out(model, late), per="day")
    assert stub.list_value().checks == 4 * 5, "the last quarter begins at 11 pm"
    week = hold_out(model, late, per="week")
    held = late["when"].iloc[week.parts[0][1]]
    assert (held.min(), held.max()) == (
        pd.Timestamp("2026-01-05"),
        pd.Timestamp("2026-01-11 23:00"),
    )
    with pytest.raises(CannotHoldOutError, match="do not cover a whole month and time before it"):
        hold_out(model, late, per="month")


def test_another_period_is_estimated_by_whole_ones_too(table):
    model = model_of(time="when", drop=["who"])
    fitted = estimate_budget(model, table, 20)
    assert table["when"].iloc[300] == pd.Timestamp("2026-01-13 12:00")
    by_day = fitted.for_list(ListRequest(5, "day"))
    assert np.bincount(by_day.lists()).tolist() == [24, 24, 24], "neither half of a day"
    assert by_day.for_list(ListRequest(5, "hour")).positive.size == 72
    assert fitted.for_list(ListRequest(5, "kind")) is None


@pytest.mark.parametrize("clock", ["whole day", "office hours", "dates"])
def test_whole_periods_are_those_of_other_days(clock):
    days = pd.date_range("2026-01-05", "2026-01-18")  # two weeks
    when = days.repeat(24) + pd.to_timedelta(np.tile(np.arange(24), 14), "h")
    if clock == "office hours":
        when = when[(when.hour >= 9) & (when.hour < 17) & (when.day_of_week < 5)]
    if clock == "dates":
        when = when.normalize()
    for per in ("day", "week"):
        assert in_whole_periods(read_times(pd.Series(when)), per).all()
    cut = when[when < "2026-01-15"] if clock == "dates" else when[when < "2026-01-14 13:00"]
    rows = in_whole_periods(read_times(pd.Series(cut)), "week")
    assert cut[rows].max() < pd.Timestamp("2026-01-12")
    last = pd.Timestamp("2026-01-15" if clock == "dates" else "2026-01-14")
    assert cut[in_whole_periods(read_times(pd.Series(cut)), "day")].max() < last


def test_all_or_nothing_is_not_said_to_be_certain():
    found = estimate([1] * 70 + [0] * 30, -np.arange(100.0)).list_value(30)
    assert found.hits.value == found.hits.high == 30
    assert found.hits.low == pytest.approx(30 * beta.ppf(0.025, 30, 1))
    found = estimate([1] * 20 + [0] * 80, -np.arange(100.0)).list_value(60)
    assert found.share_found == (1, pytest.approx(beta.ppf(0.025, 20, 1)), 1)


def test_an_estimate_warns_by_itself():
    perfect = estimate([1] * 30 + [0] * 70, -np.arange(100.0))
    (said,) = perfect.notes(perfect.list_value(30), "Fraude = Oui")
    assert said.startswith("That 100 % of the checks are hits is too good to be true")
    assert perfect.notes(perfect.list_value(50), "Fraude = Oui") == []
    assert perfect.notes(perfect.list_value(5), "Fraude = Oui") == [], "five may be found so"
    rare = estimate([1] * 30 + [0] * 4970, -np.arange(5000.0))
    (said,) = rare.notes(rare.list_value(100), "Fraude = Oui")
    assert said.startswith("That 2 % of the rows have 100 % of the positives is too good to be")
    assert rare.notes(rare.list_value(200), "Fraude = Oui") == [], "a long list may have all"
    few = estimate([1, 1, 0, 0, 0, 0], range(6))
    assert few.notes(few.list_value(), "Fraude = Oui") == [
        "Only 2 of 6 held-out rows have Fraude = Oui: the estimate is rough."
    ]


def test_warnings_of_folds_are_not_about_the_model(table):
    class Warns(GammaKNNClassifier):
        def fit(self, X, y, groups=None):
            warnings.warn(f"learned from {len(X)} rows", UserWarning, stacklevel=2)
            return super().fit(X, y, groups)

    model = TableModel(Warns(k=1), "bad", "yes", drop=["when", "who"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert estimate_budget(model, table, 40) is not None


def test_it_is_kept_in_the_file_of_a_model(table, tmp_path):
    model = model_of(time="when", entity="who", amount="paid").fit(table)
    assert model.estimate_ is None
    model.estimate_ = estimate_budget(model, table, 10, per="day", one_per=True)
    save(model, tmp_path / "model.rarefind")
    kept = load(tmp_path / "model.rarefind").estimate_
    assert kept.list_value() == model.estimate_.list_value()
    assert (kept.how, kept.one_per) == (model.estimate_.how, "who")


def test_delays_and_periods_need_a_time(table):
    with pytest.raises(ValueError, match="A delay needs"):
        hold_out(model_of(), table, delay="7D")
    with pytest.raises(ValueError, match="as 7D or 12h, not 'soon'"):
        hold_out(model_of(time="when"), table, delay="soon")
    with pytest.raises(ValueError, match="too few to learn from"):
        hold_out(model_of(time="when"), table, delay="300h")
    with pytest.raises(ValueError, match="needs the column with the time"):
        estimate_budget(model_of(), table, 10, per="day")
    with pytest.raises(
        ValueError, match=r"neither a period \(hour, day, week, month, quarter\) nor"
    ):
        estimate_budget(model_of(), table, 10, per="year")
    with pytest.raises(ValueError, match="'when' has 'soon', which is not a date"):
        hold_out(model_of(time="when"), table.assign(when="soon"))


# Groups, and one row an owner -------------------------------------------------------------------


def listed_by_hand(score, lists, checks, owner):
    """Rows on the lists: down each list, an owner once."""
    chosen = []
    for number in sorted(set(lists)):
        seen, rows = set(), sorted(np.flatnonzero(lists == number), key=lambda i: (-score[i], i))
        for row in rows:
            if len(seen) < checks[number] and owner[row] not in seen:
                seen.add(owner[row])
                chosen.append(row)
    return chosen


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 30), st.sampled_from([1, 3, "20%", 0.5]), st.integers(0, 10_000))
def test_groups_and_owners_of_a_held_out_time(n, k, seed):
    rng = np.random.default_rng(seed)
    positive, priority = rng.random(n) < 0.4, rng.integers(5, size=n).astype(float)
    owner = np.unique(rng.integers(6, size=n), return_inverse=True)[1]
    group = np.unique(rng.integers(3, size=n), return_inverse=True)[1]
    found = estimate(
        positive,
        priority,
        time=np.arange(n),
        per="region",
        group=group,
        group_rows=np.bincount(group) * 4,
        one_per="who",
        owner=owner,
        plain=priority,
    )
    checks = {g: checks_bought(k, np.sum(group == g)) for g in np.unique(group)}
    chosen = listed_by_hand(priority, group, checks, owner)
    assert np.flatnonzero(found.listed(k)).tolist() == sorted(chosen)
    value = found.list_value(k)
    assert value.checks == len(chosen)
    assert value.hits.value == pytest.approx(positive[chosen].sum())
    assert value.plain_ahead.value == 0
    assert value.random_hits <= value.checks


def test_a_group_has_its_own_budget_in_every_fold(table):
    odd = table.assign(kind=table["kind"].fillna("?")).drop(columns=["when"])
    found = estimate_budget(model_of(entity="who"), odd, 10, per="kind", one_per=True)
    value = found.list_value()
    assert value.checks == pytest.approx(30), "ten for each of three kinds"
    assert value.rows == len(odd)
    assert value.hits.low > value.random_hits
    assert whole_budget(odd, 10, "kind") == f"{100 * 30 / 400:.6f}%"
    assert whole_budget(odd, "2%", "kind") == "2%"
    assert whole_budget(table, 0.5, "day", "when") == "50.000000%"
    owners = estimate_budget(model_of(entity="who"), odd, 200, one_per="kind").list_value()
    assert owners.checks == pytest.approx(15), "three kinds in each of five folds"


def test_the_estimate_has_the_days_of_the_list(table):
    """Half past midnight in Paris is a new day there, and yesterday in UTC."""
    when = table["when"].dt.tz_localize("UTC").dt.tz_convert("Europe/Paris")
    paris = table.assign(when=when)
    model = model_of(time="when", drop=["who"]).fit(paris)
    found = estimate_budget(model, paris, 2, per="day")
    held = hold_out(model, paris, per="day").parts[0][1]
    days = when.iloc[held].dt.strftime("%Y-%m-%d")
    assert days.nunique() == np.unique(found.lists()).size
    in_utc = when.iloc[held].dt.tz_convert("UTC").dt.strftime("%Y-%m-%d")
    assert (days != in_utc).any()
    ranked = model.rank(paris.iloc[held], 2, per="day", reasons=False)
    assert ranked["day"].tolist() == sorted(ranked["day"])
    assert set(ranked["day"]) == set(days)
    assert found.list_value().checks == len(ranked)
    text = paris.assign(when=when.map(lambda time: time.isoformat()))
    again = estimate_budget(model_of(time="when", drop=["who"]), text, 2, per="day")
    np.testing.assert_array_equal(again.lists(), found.lists())
    np.testing.assert_array_equal(again.time, found.time)


def test_a_row_is_encoded_once_in_each_fold_and_nothing_is_kept_of_folds(table, monkeypatch):
    encoded, counted = [], []
    transform, count = TableEncoder.transform_columns, DriftReference.of

    def transform_columns(self, X, *given):
        encoded.append(len(X))
        return transform(self, X, *given)

    monkeypatch.setattr(TableEncoder, "transform_columns", transform_columns)
    monkeypatch.setattr(DriftReference, "of", lambda *given: counted.append(1) or count(*given))

    class NoRival:
        is_done = True

        def scores(self, number, train, held):
            return np.zeros(held.size)

    model = model_of(drop=["when", "who"])
    assert estimate_budget(model, table, 40, plain=NoRival()) is not None
    assert sum(encoded) == 5 * len(table)
    assert not counted
    model.fit(table)
    assert sum(encoded) == 6 * len(table), "its own scores are of the rows encoded already"
    assert len(counted) == 1


def test_one_encoding_gives_priority_and_probability(table, monkeypatch):
    model = model_of(drop=["when", "who"]).fit(table)
    expected = monitor(model, [table[:200], table[200:]], budget=40)
    encoded, scored = [], []
    transform, score = TableEncoder.transform_columns, GammaKNNClassifier._priority

    def transform_columns(self, X, *given):
        encoded.append(len(X))
        return transform(self, X, *given)

    def priority(self, X):
        scored.append(len(X))
        return score(self, X)

    monkeypatch.setattr(TableEncoder, "transform_columns", transform_columns)
    monkeypatch.setattr(GammaKNNClassifier, "_priority", priority)
    assert monitor(model, [table[:200], table[200:]], budget=40).as_dict() == expected.as_dict()
    assert encoded == scored == [200, 200]


def test_no_part_is_begun_when_the_time_is_over(table, clock, monkeypatch):
    """Each model read the table anew before it saw that its time was over."""
    begun = []
    monkeypatch.setattr(TableModel, "_fit_and_score", lambda *given: begun.append(given))
    with until(clock.now - 1):
        assert estimate_budget(model_of(drop=["who", "when"]), table, 20) is None
    assert not begun
