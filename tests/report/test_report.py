"""The report from Python: its figures, its lists and its page."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from report_models import (
    COLUMN,
    ESTIMATORS,
    LEVEL,
    NAME,
    Page,
    StandInReference,
    check_numbers,
    estimate_of,
    fitted,
    write_files,
)

from rarefind import TableModel
from rarefind.boosting import SGBAPClassifier
from rarefind.conditions import ConditionClassifier
from rarefind.data import Leak, read_table
from rarefind.data.clock import read_times
from rarefind.report import _file, _sections, make_report
from rarefind.report._file import score_chunks
from rarefind.report._measures import calibration, over_time, seen_before
from rarefind.report._page import shown
from rarefind.tables.lists import ListRequest, on_list
from rarefind.trees import MetaAPClassifier


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("report")
    write_files(path)
    return path


@pytest.fixture(scope="module")
def models(folder):
    train = read_table(folder / "train.csv")
    return {name: fitted(name, train) for name in ESTIMATORS}


def made(model, data, estimate=None, drift=None, **options):
    """The page and the figures of a model as a file would hold it."""
    model.estimate_, model.drift_reference_ = estimate, drift
    return make_report(model, data, **options)


def scored(model, chunks, top=1, request=None):
    model.drift_reference_ = None
    return score_chunks(model, chunks, request or ListRequest(40), top)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_numbers_on_the_page_are_those_for_machines(models, folder, name):
    table = read_table(folder / "train.csv")
    estimate = estimate_of(models[name], table)
    text, figures = made(models[name], folder / "later.csv", estimate, StandInReference(), top=7)
    page = Page(text)
    check_numbers(page, figures)
    keys = [key for key, _, _ in page.numbers]
    for part in ("estimate", "on_file", "held_out_over_time", "file_over_time", "drift", "cases"):
        assert any(key.startswith(part) for key in keys), part
    assert len(figures["cases"]) == 7
    assert [case["rank"] for case in figures["cases"]] == list(range(1, 8))
    parts = {"metaap": "tree", "sgbap": "importances", "conditions": "conditions"}
    assert figures["summary"][parts.get(name, "shares")]
    assert ('<svg xmlns="http://www.w3.org/2000/svg"' in text) == (name == "metaap")
    inside = text.split('id="figures">')[1].split("</script>")[0]
    assert json.loads(inside) == json.loads(json.dumps(figures))

    check_no_foreign_markup(page)
    assert any(LEVEL in json.dumps(case) for case in figures["cases"]) or name == "metaap"


def check_no_foreign_markup(page):
    assert [tag for tag, _ in page.tags].count("script") == 1, "the block of figures"
    assert all("onerror" not in attributes for _, attributes in page.tags)
    assert all(a["src"].startswith("data:") and a["alt"] for tag, a in page.tags if tag == "img")
    assert all(a.get("href", "#").startswith("#") for _, a in page.tags)
    assert NAME in page.text
    assert COLUMN in page.text


def test_what_the_budget_finds_in_the_file_is_counted_right(models, folder):
    table = read_table(folder / "later.csv")
    _, figures = made(models["sgbap"], folder / "later.csv", budget="30")
    first = np.argsort(-models["sgbap"].priority(table), kind="stable")[:30]
    positive = (table["fraud"] == "bad").to_numpy()
    found = figures["on_file"]
    assert found["hits"] == positive[first].sum()
    assert found["precision"]["value"] == found["hits"] / 30
    assert found["precision"]["low"] < found["precision"]["value"]
    assert found["share_found"]["value"] == found["hits"] / positive.sum()
    assert found["amount"] == pytest.approx(
        table["amount"].to_numpy()[first][positive[first]].sum()
    )
    assert sum(p["hits"] for p in figures["file_over_time"]["periods"]) == found["hits"]
    assert sum(p["rows"] for p in figures["file_over_time"]["periods"]) == 900
    expected = models["sgbap"].predict_proba(table)[:, 0].sum()
    assert figures["calibration"]["expected"] == pytest.approx(expected)
    ranked = models["sgbap"].rank(table, 20)
    assert [case["id"] for case in figures["cases"]] == ranked["name"].tolist()
    assert [case["row"] - 2 for case in figures["cases"]] == ranked.index.tolist()


def test_rows_without_a_label_are_not_counted(models, folder):
    text, figures = made(models["sgbap"], folder / "partly.csv", budget="30")
    table = read_table(folder / "partly.csv")
    known = table["fraud"].notna().to_numpy()
    first = np.argsort(-models["sgbap"].priority(table), kind="stable")[:30]
    assert figures["data"]["labelled"] == known.sum() == 600
    assert figures["on_file"]["checks"] == known[first].sum()
    assert figures["on_file"]["unlabelled_checks"] == 30 - known[first].sum() > 0
    assert "only these are counted here" in text
    check_numbers(Page(text), figures)


def test_without_labels_and_estimate_it_says_that_nothing_is_known(models, folder):
    text, figures = made(models["sgbap"], folder / "unlabelled.csv")
    for part in ("estimate", "on_file", "calibration", "drift", "held_out_over_time"):
        assert figures[part] is None, part
    assert "has no held-out rows" in text
    assert "saved by an older version, which did not keep" in text
    assert "too few rows to hold some out. What to expect" in text
    assert "above_threshold" in figures["file_over_time"]["periods"][0]
    check_numbers(Page(text), figures)


def test_the_training_file_is_recognised(models, folder):
    text, figures = made(models["sgbap"], folder / "train.csv")
    assert figures["seen_before"]["why"] == "ids"
    assert "identifier of a positive" in text
    assert "too good to be expected again" in text
    later, train = (read_table(folder / name) for name in ("later.csv", "train.csv"))
    model = models["sgbap"]
    new = scored(model, [later])
    assert seen_before(model, new, None) is None
    nameless = scored(model, [train.drop(columns="name")])
    assert seen_before(model, nameless, None) == {"why": "size", "rows": 1200}
    times = read_times(later["when"])
    assert seen_before(model, new, times) == {"why": "time", "rows": 900}
    before = times.at(slice(0, 1))
    before = before._replace(instant=before.instant - 1)
    assert seen_before(model, new, before) is None


def test_estimates_of_folds_and_of_days(models, folder):
    model, table = models["sgbap"], read_table(folder / "train.csv")
    folds = np.arange(1200) % 4
    shifted = model.priority(table) + 100 * folds
    _, figures = made(
        model,
        folder / "later.csv",
        estimate_of(model, table, fold=folds, priority=shifted, time=None, rows=2400),
    )
    assert figures["estimate"]["held_out"]["listed"] == 20, (
        "half of 40 checks, for half of the rows"
    )
    assert figures["held_out_over_time"] is None
    text, figures = made(
        model, folder / "later.csv", estimate_of(model, table, per="day", budget=2)
    )
    budget = {"checks": 2, "share": None, "per": "day", "one_per": None, "listed": 120}
    assert figures["budget"] == budget
    assert figures["estimate"]["held_out"]["listed"] == 120
    assert {p["checks"] % 2 for p in figures["held_out_over_time"]["periods"]} == {0}
    assert "2</span> checks a day find" in text


def test_a_profile_is_asked_for_and_shown(models, folder, monkeypatch):
    asked = {}

    def profile_table(table, target=None, positive=None, *, ignore=()):
        asked.update(rows=len(table), target=target, positive=positive, ignore=list(ignore))
        columns = pd.DataFrame(
            {"column": [COLUMN, "same"], "kind": ["number", "text"], "missing": [0.05, 0.0],
             "values": [850, 1], "note": ["", "one value"]}
        )  # fmt: skip
        leak = Leak(COLUMN, 0.987)
        return type("Profile", (), {"columns": columns, "leaks": [leak]})

    monkeypatch.setattr(_sections, "profile_table", profile_table)
    text, figures = made(models["sgbap"], folder / "later.csv")
    roles = ["when", "customer", "name"]
    assert asked == {"rows": 900, "target": "fraud", "positive": "bad", "ignore": roles}
    (leak,) = figures["profile"]["leaks"]
    assert leak == {"column": COLUMN, "average_precision": 0.987, "condition": ""}
    assert "fit again without this column" in text
    assert "one value" in text
    check_numbers(Page(text), figures)
    made(models["sgbap"], folder / "unlabelled.csv")
    assert asked["target"] is None


@pytest.mark.parametrize(
    "wanted",
    [
        ListRequest(25),
        ListRequest(3, "day", "customer"),
        ListRequest("5%", "country"),
        ListRequest(10, None, True),
    ],
    ids=str,
)
def test_a_file_in_pieces_is_as_one_in_whole(models, folder, monkeypatch, wanted):
    model, table = models["sgbap"], read_table(folder / "later.csv")
    whole = scored(model, [table], 25, wanted)
    monkeypatch.setattr(_file, "_SAMPLE", 100)
    chunks = [table.iloc[i : i + 70] for i in range(0, 900, 70)]
    pieces = scored(model, chunks, 25, wanted)
    assert np.array_equal(pieces.priority, whole.priority)
    assert np.array_equal(pieces.labels.positive, whole.labels.positive)
    assert np.array_equal(pieces.times, whole.times)
    listed = whole.listed(wanted.budget)
    assert np.array_equal(pieces.listed(wanted.budget), listed)
    first = whole.top(listed, 25)
    assert pieces.top(listed, 25).equals(first)
    ranked = model.rank(table, wanted.budget, per=wanted.per, one_per=wanted.one_per)
    assert sorted(ranked.index) == np.flatnonzero(listed).tolist()
    best = ranked["priority"].sort_values(ascending=False)[:25]
    assert whole.priority[first.index].tolist() == best.tolist()
    assert pieces.sample.index.tolist() == list(range(0, 900, 16))


def test_rows_and_checks_are_counted_by_period():
    rng = np.random.default_rng(0)
    score = rng.integers(0, 20, 300).astype(float)
    times = read_times(pd.Series(np.sort(rng.integers(0, 10 * 86_400, 300)).astype("M8[s]")))
    listed = on_list(score, 3, times.periods("day"))
    per, table = over_time(times, {"listed": listed})
    assert per == "day"
    assert table["listed"].tolist() == [3] * 10
    assert table["rows"].sum() == 300
    per, table = over_time(times._replace(local=times.local * 10), {"listed": listed})
    assert per == "week"
    assert table["listed"].sum() == 30


def test_probabilities_are_compared_in_bins():
    probability = np.array([0.0, 0.0005, 0.1, 0.15, 0.9, 1.0])
    found = calibration(np.array([0, 0, 1, 0, 1, 1], dtype=bool), probability)
    assert [(b["from"], b["rows"], b["positives"]) for b in found["bins"]] == [
        (0.0, 2, 0),
        (0.05, 2, 1),
        (0.8, 2, 2),
    ]
    assert found["bins"][1]["mean_probability"] == pytest.approx(0.125)
    assert found["expected"] == pytest.approx(probability.sum())


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (0.000521, "percent", "0.052 %"),
        (0.0818, "percent", "8.2 %"),
        (0.344, "percent", "34 %"),
        (0.985, "percent", "98.5 %"),
        (0.99968, "percent", "99.97 %"),
        (1, "percent", "100 %"),
        (0, "percent", "0 %"),
        (0.9999, "probability", "> 99 %"),
        (0.0001, "probability", "< 0.1 %"),
        (2.38, "count", "2.4"),
        (95.02, "count", "95"),
        (12345.6, "count", "12,346"),
        (-3.2, "signed", "-3"),
        (0.2, "signed", "0"),
    ],
)
def test_numbers_as_people_read_them(value, kind, text):
    assert shown(value, kind) == text


@pytest.fixture(scope="module")
def french():
    """Claims with accents, long lists of levels, a date, and customers that may be missing."""
    rng = np.random.default_rng(0)
    kinds = [f"{a} {b}" for a in ("Vêtements", "Bijoux", "Épicerie") for b in ("neufs", "usagés")]
    kind, amount = rng.choice(kinds, 1500), rng.lognormal(4, 1, 1500).round(2)
    region = rng.choice(["Île-de-France", "Corse", "Côte-d’Or", None], 1500)
    opened = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 2000, 1500), unit="D")
    risk = np.log(amount) + 2 * np.isin(kind, kinds[:3]) + (opened > "2023-06-01")
    client = rng.integers(1000, 3000, 1500).astype(float)
    table = pd.DataFrame({"Montant": amount, "Catégorie": kind, "Région": region})
    table = table.assign(Ouverture=opened, Client=np.where(rng.random(1500) < 0.1, np.nan, client))
    return table.assign(Fraude=np.where(risk > np.quantile(risk, 0.92), "Oui", "Non"))


def french_report(table, estimator, **options):
    model = TableModel(estimator, target="Fraude", entity="Client").fit(table[:1000])
    return make_report(model, table[1000:], budget=20, top=10, **options)


def test_a_tree_is_drawn_in_the_words_of_the_table(french):
    """It said "Catégorie in {0, 3}" and explained some of the codes."""
    page, figures = french_report(
        french, MetaAPClassifier(inner_depth=2, outer_depth=2, prune=False, random_state=0)
    )
    svg = page.split("<svg xmlns")[1].split("</svg>")[0]
    boxes = re.findall(r"<text[^>]*>(?:<tspan[^>]*>)?([^<]+)", svg)
    asked = [text for text in boxes if text.startswith(("Catégorie", "Région", "Ouverture"))]
    assert asked
    assert not any(re.search(r"\{\d|= \d|days", text) for text in asked), asked
    for one in figures["summary"]["tree"]["sets"]:
        assert f"in {one['name']} ({len(one['levels'])})" in svg
        assert one["more"] == 0
        assert set(one["levels"]) <= set(french[one["column"]])
        assert all(level in page for level in one["levels"])
    assert "small tree" not in page
    assert "more." not in page.split('id="model"')[1].split("</section>")[0]


def test_a_tree_of_many_conditions_is_not_drawn(french, monkeypatch):
    monkeypatch.setattr("rarefind.report._tree._MOST_BOXES", 5)
    page, figures = french_report(french, MetaAPClassifier(random_state=0))
    tree = figures["summary"]["tree"]
    assert tree["conditions"] + tree["leaves"] > 5
    assert "<svg xmlns" not in page
    assert "It is too large to draw here" in page
    assert figures["summary"]["shares"], "the columns that count are said instead"


def test_conditions_on_dates_are_written(french):
    """The report of such a model ended in an error."""
    _, figures = french_report(french, ConditionClassifier(random_state=0))
    rules = " ".join(row["rule"] for row in figures["summary"]["conditions"]["rules"])
    assert re.search(r"Ouverture (>|<=) '20\d\d-\d\d-\d\d'", rules)


def test_a_missing_customer_does_not_change_the_others(french):
    """Customer 2090 was called 2,090.00."""
    _, figures = french_report(french, MetaAPClassifier(random_state=0))
    values = [one["value"] for case in figures["cases"] for one in case["about"]]
    assert values
    assert all(value == "missing" or re.fullmatch(r"\d{4}", value) for value in values), values


def test_bars_are_as_long_as_they_say(french):
    """The largest share filled the whole track, whatever it was."""
    page, figures = french_report(french, SGBAPClassifier(n_estimators=20, random_state=0))
    shares = [one["share"] for one in figures["summary"]["importances"]]
    section = page.split("Columns that count most")[1].split("</section>")[0]
    widths = [float(width) / 100 for width in re.findall(r"width: ([\d.]+)%", section)]
    np.testing.assert_allclose(widths, shares, atol=1e-3)
