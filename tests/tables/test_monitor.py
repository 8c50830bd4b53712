"""Keep or retrain: by the list, by the columns, by the score."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, nbinom

from rarefind import TableModel
from rarefind.auto import AutoClassifier
from rarefind.boosting import SGBAPClassifier
from rarefind.metrics import Interval
from rarefind.neighbors import GammaKNNClassifier
from rarefind.tables import BudgetEstimate, ListCheck, monitor
from rarefind.tables._verdicts import (
    expected_distribution,
    hits_distribution,
)
from rarefind.trees import MetaAPClassifier


def held_out_rows(priority, positive, **given):
    n = priority.size
    told = {"how": "by hand", "per": None, "rows": n, "fold": np.zeros(n, dtype=int), "plain": None}
    told["probability"] = np.full(n, 0.5)
    return BudgetEstimate(priority=priority, positive=positive, **told | given)


def payments(rng, n):
    table = pd.DataFrame(rng.normal(size=(n, 3)), columns=["amount", "age", "noise"])
    table["country"] = rng.choice(["FR", "BE", "US"], n)
    table["when"] = pd.Timestamp("2026-01-05") + pd.to_timedelta(np.arange(n) * 28 / n, "D")
    log_odds = 2 * table["amount"] + (table["country"] == "US") - 5
    table["fraud"] = np.where(rng.random(n) < 1 / (1 + np.exp(-log_odds)), "yes", "no")
    return table


@pytest.fixture(scope="module")
def model():
    table = payments(np.random.default_rng(0), 3000)
    estimator = SGBAPClassifier(n_estimators=60, random_state=0)
    return TableModel(estimator, target="fraud", time="when").fit(table)


@pytest.fixture
def new():
    return payments(np.random.default_rng(1), 2000)


def test_the_same_distribution_is_kept(model, new):
    report = monitor(model, [new[:700], new[700:]], budget=100)
    assert report.verdict == "keep"
    assert report.rows == 2000
    assert set(report.columns["verdict"]) == {"stable"}
    assert set(report.columns["column"]) == {"amount", "age", "noise", "country"}
    assert report.columns["importance"].sum() == pytest.approx(1)
    assert report.score["verdict"] == "stable"
    assert report.checked.checked == report.checked.listed == 100
    assert report.because == [
        f"The score is spread as at fit (index {report.score['drift']:.2f}).",
        "None of 4 columns changed.",
        report.checked.sentence(),
    ]
    assert report.notes == []


def test_pieces_make_no_difference(model, new):
    whole, pieces = (monitor(model, parts, budget=100) for parts in ([new], np_split(new)))
    assert whole.as_dict() == pieces.as_dict()


def np_split(table):
    return [table[i : i + 300] for i in range(0, len(table), 300)]


def test_hits_are_those_of_the_models_own_list(model, new):
    report = monitor(model, [new], budget="3%")
    listed = model.rank(new, "3%", reasons=False)
    hits = (new.loc[listed.index, "fraud"] == "yes").sum()
    assert (report.checked.listed, report.checked.hits) == (60, hits)
    assert report.checked.expected.value == pytest.approx(listed["probability"].sum())
    by_week = monitor(model, [new], budget=10, per="week")
    listed = model.rank(new, 10, per="week", reasons=False)
    assert by_week.checked.listed == len(listed) == 40
    assert by_week.checked.hits == (new.loc[listed.index, "fraud"] == "yes").sum()
    assert by_week.weeks["listed"].tolist() == [10] * 4


def test_groups_and_owners_are_listed_as_by_rank(model, new):
    new["shop"] = np.arange(2000) % 7
    for asked in ({"per": "country"}, {"per": "day", "one_per": "shop"}, {"one_per": "country"}):
        listed = model.rank(new, 3, reasons=False, **asked)
        report = monitor(model, np_split(new), budget=3, **asked)
        assert report.checked.listed == len(listed)
        assert report.checked.hits == (new.loc[listed.index, "fraud"] == "yes").sum()


def test_the_list_of_the_fit_is_judged_by_default(model, new):
    watched = TableModel(target="fraud", entity="shop")
    watched.__dict__.update({**vars(model), "entity": "shop"})
    new["shop"] = np.arange(2000) % 7
    rows = {"group": np.arange(9) % 2, "group_rows": np.array([5, 4]), "owner": np.arange(9)}
    watched.estimate_ = held_out_rows(
        np.ones(9), np.ones(9, dtype=bool), budget=2, per="country", one_per="shop", **rows
    )
    listed = watched.rank(new, 2, per="country", one_per=True, reasons=False)
    report = monitor(watched, [new])
    assert report.checked.listed == len(listed) == 6
    assert report.checked.expected.value == pytest.approx(listed["probability"].sum())
    # What the file does not have cannot divide it.
    watched.estimate_ = replace(watched.estimate_, per="region")
    assert monitor(watched, [new]).checked.listed == 2


def test_a_list_that_finds_too_little_asks_for_a_new_fit(model, new):
    listed = model.rank(new, 100, reasons=False).index
    new["verdict"] = pd.Series(np.where(np.arange(100) < 3, "yes", "no"), index=listed)
    report = monitor(model, [new], verdicts="verdict", budget=100)
    assert report.verdict == "retrain"
    assert (report.checked.checked, report.checked.hits) == (100, 3)
    assert report.because[0] == report.checked.sentence()
    assert "Fewer hits than expected (p " in report.because[0]
    assert report.notes == [
        "Only checked rows have labels: 1,900 of 2,000 rows have no verdict, and no figure here "
        "counts them."
    ]
    # The target itself, which is in the file as well, says that all is well.
    assert monitor(model, [new], budget=100).verdict == "keep"


def test_too_few_verdicts_tell_nothing(model, new):
    listed = model.rank(new, 3, reasons=False).index
    new["verdict"] = pd.Series("no", index=listed)
    report = monitor(model, [new], verdicts="verdict")
    assert report.verdict == "keep"
    assert not report.checked.enough
    assert "Not enough verdicts to tell" in report.because[-1]


def test_no_verdicts_at_all(model, new):
    report = monitor(model, [new.drop(columns="fraud")])
    assert report.verdict == "keep"
    assert report.checked is None
    assert report.because[-1].startswith("No row has a verdict, so the list's precision is not")
    assert report.notes == []
    outside = new.assign(verdict=None)
    last = model.rank(new, 2000, reasons=False).index[-5:]
    outside.loc[last, "verdict"] = "no"
    report = monitor(model, [outside], verdicts="verdict", budget=10)
    assert report.because[-1] == "Of 10 rows on the list none has a verdict."
    assert report.as_dict()["list"]["precision"] is None


def test_columns_count_by_what_they_carry(model, new):
    carried = monitor(model, [new]).columns.set_index("column")["importance"]
    assert carried["amount"] > 0.25 > carried["noise"]
    noisy = monitor(model, [new.assign(noise=new["noise"] + 0.7)])
    assert noisy.columns.loc[0, ["column", "verdict"]].tolist() == ["noise", "changed"]
    assert noisy.verdict == "keep"
    assert "1 of 4 columns changed and carries " in " ".join(noisy.because)
    larger = monitor(model, [new.drop(columns="fraud").assign(amount=new["amount"] + 1.5)])
    assert larger.verdict == "retrain"
    assert larger.score["verdict"] == "changed"
    assert larger.columns.loc[0, "column"] == "amount"
    assert larger.because[0].startswith("The score has changed (index ")


def test_weeks(model, new):
    new.loc[::2, "fraud"] = None
    weeks = monitor(model, [new], budget=200).weeks
    assert weeks["week"].tolist() == ["2026-01-05", "2026-01-12", "2026-01-19", "2026-01-26"]
    assert weeks["rows"].tolist() == [500] * 4
    assert weeks["listed"].sum() == 200
    assert 60 < weeks["checked"].sum() < 140
    first = model.predict_proba(new[:500])[:, list(model.classes_).index("yes")]
    assert weeks["probability"][0] == pytest.approx(first.mean())
    assert (weeks["precision"] == weeks["hits"] / weeks["checked"]).all()
    assert monitor(model, [new.drop(columns="when")]).weeks is None
    assert "no column 'when'" in monitor(model, [new.drop(columns="when")]).notes[0]
    numbers = monitor(model, [new.assign(when=1)])
    assert numbers.weeks is None
    assert "has numbers, which are not times" in numbers.notes[0]


def test_a_file_of_before_still_answers(model, new):
    older = TableModel(target="fraud")
    older.__dict__.update(
        {k: v for k, v in vars(model).items() if k not in ("drift_reference_", "score_reference_")}
    )
    report = monitor(older, [new], budget=100)
    assert report.verdict == "keep"
    assert len(report.columns) == 0
    assert report.score is None
    assert sum("fit it again" in note for note in report.notes) == 2
    assert report.as_dict()["columns"] == []


def test_what_was_held_out_at_fit_is_the_measure(model, new):
    """Probabilities are too high, and the held-out rows showed it."""
    n = 2000
    rng = np.random.default_rng(2)
    estimate = held_out_rows(rng.random(n), rng.random(n) < 0.02, budget=100)
    watched = TableModel(target="fraud")
    watched.__dict__.update(vars(model))
    watched.estimate_ = estimate
    listed = model.rank(new, 100, reasons=False).index
    new["verdict"] = pd.Series(np.where(np.arange(100) < 3, "yes", "no"), index=listed)
    report = monitor(watched, [new], verdicts="verdict")
    assert report.checked.listed == 100
    assert report.checked.p_value < 0.01
    assert report.verdict == "keep"
    top = np.argsort(-estimate.priority, kind="stable")[:100]
    assert report.checked.held_out.value == estimate.positive[top].mean()
    assert report.checked.held_out == estimate.list_value().precision


@pytest.mark.parametrize(
    "estimator",
    [
        MetaAPClassifier(random_state=0),
        GammaKNNClassifier(random_state=0),
        AutoClassifier(candidates=["metaap", "gamma-knn"], trials=2, budget=50, random_state=0),
    ],
    ids=["meta-ap", "gamma-knn", "auto"],
)
def test_shares_of_the_score_are_measured_where_there_are_no_importances(new, estimator):
    """They were 1/4 for each of these four columns."""
    table = payments(np.random.default_rng(3), 1500)
    model = TableModel(estimator, target="fraud", time="when").fit(table)
    carried = monitor(model, [new]).columns.set_index("column")["importance"]
    assert carried.sum() == pytest.approx(1)
    assert carried.idxmax() == "amount"
    assert carried["amount"] > 1.3 * carried[["age", "noise"]].max()


def test_without_shares_nothing_is_said_of_them(new):
    """A file of version 0.1.0 has none for such a model."""
    table = payments(np.random.default_rng(3), 400)
    neighbours = TableModel(GammaKNNClassifier(k=1), target="fraud", time="when").fit(table)
    del neighbours.column_shares_
    report = monitor(neighbours, [new.assign(noise=9.0)])
    assert report.columns["importance"].isna().all()
    assert report.verdict == "retrain", "a quarter of the columns"
    assert "1 of 4 columns changed: noise." in report.because


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, {"budget": 5000}, "larger than the file, which has 2,000 rows"),
        ({}, {"budget": 0}, "A budget of 0 checks buys nothing"),
        ({}, {"verdicts": "fraudd"}, "did you mean 'fraud'"),
        ({"fraud": "maybe"}, {}, "has the verdict 'maybe'.*'yes' and 'no'"),
        ({}, {"budget": 5, "per": "year"}, "'year' is neither a period"),
        ({}, {"budget": 5, "one_per": "card"}, "'card' does not name a column"),
        ({}, {"budget": 5, "one_per": True}, "True does not name a column"),
        ({}, {"one_per": "country"}, "needs a budget"),
        ({}, {"per": "week"}, "needs a budget"),
        (
            {"when": pd.NaT},
            {"budget": 5, "per": "week"},
            "needs the time of each row, and 2,000 rows have none",
        ),
    ],
)
def test_mistakes_are_told(model, new, change, options, message):
    with pytest.raises(ValueError, match=message):
        monitor(model, [new.assign(**change)], **options)
    with pytest.raises(ValueError, match="no rows to monitor"):
        monitor(model, [])


def test_verdicts_of_other_types(model, new):
    """A file of yes and no is read as booleans."""
    as_text = monitor(model, [new], budget=100)
    as_bool = monitor(model, [new.assign(fraud=new["fraud"] == "yes")], budget=100)
    assert as_bool.as_dict() == as_text.as_dict()


@given(st.lists(st.floats(0, 1), max_size=9))
def test_the_law_of_hits_by_counting(probability):
    law = hits_distribution(np.array(probability))
    chances = np.zeros(len(probability) + 1)
    for hit in np.ndindex(*[2] * len(probability)):
        chances[sum(hit)] += np.prod(
            [p if h else 1 - p for p, h in zip(probability, hit, strict=True)]
        )
    np.testing.assert_allclose(law, np.cumsum(chances)[: law.size], atol=1e-12)


def test_the_law_of_many_hits():
    many = hits_distribution(np.full(20_000, 0.1))
    at = np.array([1900, 1950, 2000, 2050])
    np.testing.assert_allclose(many[at], binom.cdf(at, 20_000, 0.1), atol=2e-3)
    rare = hits_distribution(np.full(20_000, 1e-4))
    np.testing.assert_allclose(rare[:8], binom.cdf(np.arange(8), 20_000, 1e-4), atol=1e-4)


def test_a_kept_promise_is_almost_never_called_broken():
    rng = np.random.default_rng(4)
    below = 0
    for _ in range(1000):
        probability = rng.beta(1, 3, 100)
        hits = rng.random(100) < probability
        below += ListCheck.of(probability, hits, 100).is_below
    assert below <= 15


def test_few_hits_at_fit_promise_little():
    """Over gamma distributed factors, rare hits follow the negative binomial law."""
    probability = np.full(1500, 0.004)
    law = expected_distribution(probability, 8.0)
    np.testing.assert_allclose(law[:12], nbinom.cdf(np.arange(12), 8, 8 / 14), atol=0.02)
    sure, unsure = (
        ListCheck.of(probability, np.zeros(1500, bool), 1500, known=k) for k in (999, 4)
    )
    assert sure.is_below
    assert not unsure.is_below
    assert unsure.expected.high > sure.expected.high
    np.testing.assert_array_equal(
        expected_distribution(probability, np.inf), hits_distribution(probability)
    )


def test_what_checked_rows_tell():
    probability = np.full(50, 0.5)
    found = ListCheck.of(probability, np.arange(50) < 10, 60, None)
    assert found.is_below
    assert found.p_value == pytest.approx(binom.cdf(10, 50, 0.5))
    assert found.expected == Interval(25, binom.ppf(0.025, 50, 0.5), binom.ppf(0.975, 50, 0.5))
    met = ListCheck.of(probability, np.arange(50) < 10, 60, Interval(0.3, 0.2, 0.4))
    assert not met.is_below
    little = ListCheck.of(np.full(5000, 0.5), np.arange(5000) < 2300, 5000, None)
    assert little.p_value < 1e-6
    assert not little.is_below  # significant, but only a few hits short
