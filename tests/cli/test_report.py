import json
import subprocess
import sys

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
    evidence_of,
    fitted,
    looked_up,
    payments,
    tells,
)

import rarefind
from rarefind.cli import main
from rarefind.data import read_table
from rarefind.report import _parts, _scan
from rarefind.report._evidence import held_out
from rarefind.report._lists import listed, over_time
from rarefind.report._make import report_of
from rarefind.report._measured import calibration, why_seen
from rarefind.report._page import shown
from rarefind.report._scan import scan_chunks


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("report")
    payments().to_csv(path / "train.csv", index=False)
    later = payments(900, seed=1).assign(name=[f"{NAME} new {i}" for i in range(900)])
    later["when"] += pd.Timedelta("90D")
    later.to_csv(path / "later.csv", index=False)
    later.drop(columns="fraud").to_csv(path / "unlabelled.csv", index=False)
    partly = later.assign(fraud=later["fraud"].where(np.arange(900) % 3 > 0))
    partly.to_csv(path / "partly.csv", index=False)
    later.drop(columns="amount").to_csv(path / "without.csv", index=False)
    later.assign(fraud="maybe").to_csv(path / "maybe.csv", index=False)
    later.assign(when="soon").to_csv(path / "soon.csv", index=False)
    (path / "text.rarefind").write_text("no model")
    return path


@pytest.fixture(scope="module")
def models(folder):
    train = read_table(folder / "train.csv")
    found = {name: fitted(name, train) for name in ESTIMATORS}
    rarefind.save(found["sgbap"], folder / "model.rarefind")
    rarefind.save(found["sgbap"].estimator_, folder / "bare.rarefind")
    return found


def made(model, data, evidence=None, drift=None, **options):
    """The page and the figures of a model as a file would hold it."""
    model.estimate_, model.drift_reference_ = evidence, drift
    return report_of(model, {"versions": {}}, "a.rarefind", data, **options)


def in_process(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["rarefind", *map(str, arguments)])
    try:
        main()
    except SystemExit as end:
        return end.code or 0
    return 0


def check_numbers(page, figures):
    for key, value, text in page.numbers:
        assert json.loads(value) == looked_up(figures, key), key
        assert tells(text, looked_up(figures, key)), (key, text, value)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_numbers_on_the_page_are_those_for_machines(models, folder, name):
    table = read_table(folder / "train.csv")
    evidence = evidence_of(models[name], table)
    text, figures = made(models[name], folder / "later.csv", evidence, StandInReference(), top=7)
    page = Page(text)
    check_numbers(page, figures)
    keys = [key for key, _, _ in page.numbers]
    for part in ("bought", "on_file", "held_out_over_time", "file_over_time", "drift", "cases"):
        assert any(key.startswith(part) for key in keys), part
    assert len(figures["cases"]) == 7
    assert [case["rank"] for case in figures["cases"]] == list(range(1, 8))
    parts = {"metaap": "tree", "sgbap": "importances", "conditions": "conditions"}
    assert figures["readable"][parts.get(name, "reasons")]
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
    assert [case["row"] - 1 for case in figures["cases"]] == ranked.index.tolist()


def test_rows_without_a_label_are_not_counted(models, folder):
    text, figures = made(models["sgbap"], folder / "partly.csv", budget="30")
    table = read_table(folder / "partly.csv")
    known = table["fraud"].notna().to_numpy()
    first = np.argsort(-models["sgbap"].priority(table), kind="stable")[:30]
    assert figures["data"]["labelled"] == known.sum() == 600
    assert figures["on_file"]["checks"] == known[first].sum()
    assert figures["on_file"]["unknown_checks"] == 30 - known[first].sum() > 0
    assert "only these are counted here" in text
    check_numbers(Page(text), figures)


def test_without_labels_and_evidence_it_says_that_nothing_is_known(models, folder):
    text, figures = made(models["sgbap"], folder / "unlabelled.csv")
    for part in ("bought", "on_file", "calibration", "drift", "held_out_over_time"):
        assert figures[part] is None, part
    assert "carries no rows held out at its fit" in text
    assert "saved by an older version" in text
    assert "above_threshold" in figures["file_over_time"]["periods"][0]
    check_numbers(Page(text), figures)


def test_the_training_file_is_known_again(models, folder):
    text, figures = made(models["sgbap"], folder / "train.csv")
    assert "id of a positive" in figures["seen_before"]
    assert "too good to be expected again" in text
    later, train = (read_table(folder / name) for name in ("later.csv", "train.csv"))
    model = models["sgbap"]
    new = scan_chunks(model, [later], top=1)
    assert why_seen(model, new, None) is None
    nameless = scan_chunks(model, [train.drop(columns="name")], top=1)
    assert "as many rows and as many positives" in why_seen(model, nameless, None)
    model.estimate_ = evidence_of(model, later)
    assert "the time that the model learned from" in why_seen(model, new, held_out(model, 40))


def test_evidence_of_folds_and_of_days(models, folder):
    model, table = models["sgbap"], read_table(folder / "train.csv")
    folds = np.arange(1200) % 4
    shifted = model.priority(table) + 100 * folds
    _, figures = made(
        model,
        folder / "later.csv",
        evidence_of(model, table, fold=folds, priority=shifted, time=None, rows=2400),
    )
    assert figures["bought"]["marked"] == 20, "half of 40 checks, for half of the rows"
    assert figures["held_out_over_time"] is None
    text, figures = made(
        model, folder / "later.csv", evidence_of(model, table, per="day", budget=2)
    )
    assert figures["budget"] == {"checks": 2, "share": None, "per": "day", "listed": 120}
    assert figures["bought"]["marked"] == 120
    assert {p["checks"] % 2 for p in figures["held_out_over_time"]["periods"]} == {0}
    assert "a day" in text


def test_a_profile_is_asked_for_and_shown(models, folder, monkeypatch):
    asked = {}

    def profile_table(table, target=None, positive=None, *, ignore=()):
        asked.update(rows=len(table), target=target, positive=positive, ignore=list(ignore))
        columns = pd.DataFrame(
            {"column": [COLUMN, "same"], "kind": ["number", "text"], "missing": [0.05, 0.0],
             "values": [850, 1], "note": ["", "one value"]}
        )  # fmt: skip
        leak = type("Leak", (), {"column": COLUMN, "average_precision": 0.987})
        return type("Profile", (), {"columns": columns, "leaks": [leak]})

    monkeypatch.setattr(_parts, "profile_table", profile_table)
    text, figures = made(models["sgbap"], folder / "later.csv")
    roles = ["when", "customer", "name"]
    assert asked == {"rows": 900, "target": "fraud", "positive": "bad", "ignore": roles}
    assert figures["profile"]["leaks"] == [{"column": COLUMN, "average_precision": 0.987}]
    assert "fit again with it kept out" in text
    assert "one value" in text
    check_numbers(Page(text), figures)
    made(models["sgbap"], folder / "unlabelled.csv")
    assert asked["target"] is None


def test_a_file_in_pieces_is_as_one_in_whole(models, folder, monkeypatch):
    model, table = models["sgbap"], read_table(folder / "later.csv")
    whole = scan_chunks(model, [table], top=25)
    monkeypatch.setattr(_scan, "_SAMPLE", 100)
    pieces = scan_chunks(model, [table.iloc[i : i + 70] for i in range(0, 900, 70)], top=25)
    assert np.array_equal(pieces.priority, whole.priority)
    assert np.array_equal(pieces.labels.positive, whole.labels.positive)
    assert np.array_equal(pieces.time, whole.time)
    assert pieces.top.index.tolist() == whole.top.index.tolist()
    assert whole.top.index.tolist() == model.rank(table, 25).index.tolist()
    assert pieces.sample.index.tolist() == list(range(0, 900, 16))


def test_lists_by_period_follow_their_definition():
    rng = np.random.default_rng(0)
    score = rng.integers(0, 20, 300).astype(float)
    time = np.sort(rng.integers(0, 10 * 86_400 * 10**9, 300))
    chosen = listed(score, 3, "day", time)
    frame = pd.DataFrame({"score": score, "day": time // (86_400 * 10**9)})
    wanted = frame.sort_values("score", ascending=False, kind="stable").groupby("day").head(3)
    assert np.flatnonzero(chosen).tolist() == sorted(wanted.index)
    per, table = over_time(time, {"chosen": chosen.astype(int)})
    assert per == "day"
    assert table["chosen"].tolist() == [3] * 10
    assert table["rows"].sum() == 300


def test_chances_are_compared_in_bins():
    probability = np.array([0.0, 0.0005, 0.1, 0.15, 0.9, 1.0])
    found = calibration(np.array([0, 0, 1, 0, 1, 1], dtype=bool), probability)
    assert [(b["from"], b["rows"], b["positives"]) for b in found["bins"]] == [
        (0.0, 2, 0),
        (0.05, 2, 1),
        (0.8, 2, 2),
    ]
    assert found["bins"][1]["said"] == pytest.approx(0.125)
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
        (0.9999, "chance", "> 99 %"),
        (0.0001, "chance", "< 0.1 %"),
        (2.38, "count", "2.4"),
        (95.02, "count", "95"),
        (12345.6, "count", "12,346"),
        (-3.2, "signed", "-3"),
        (0.2, "signed", "0"),
    ],
)
def test_numbers_as_people_read_them(value, kind, text):
    assert shown(value, kind) == text


def test_the_command_writes_the_page_and_prints_the_figures(models, folder):
    page = folder / "out" / "page.html"
    page.parent.mkdir()
    files = [str(folder / "model.rarefind"), str(folder / "later.csv")]
    result = subprocess.run(
        [sys.executable, "-m", "rarefind", "report", *files, "-o", str(page), "--json", "-k", "1%"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    figures = json.loads(result.stdout)
    text = page.read_text(encoding="utf-8")
    assert [p.name for p in page.parent.iterdir()] == ["page.html"]
    check_numbers(Page(text), figures)
    assert figures["budget"]["checks"] == 9
    assert figures["card"]["versions"]["rarefind"] == rarefind.__version__
    assert len(figures["model"]["sha256"]) == 64
    assert figures["card"]["kept_out"] == ["secret"]
    assert figures["card"]["left_out"] == {"same": "one value"}


@pytest.mark.parametrize(
    ("model", "data", "options", "message"),
    [
        ("none.rarefind", "later.csv", [], "There is no file"),
        ("model.rarefind", "none.csv", [], "There is no file"),
        ("model.rarefind", ".", [], "is a folder"),
        ("text.rarefind", "later.csv", [], "is not a rarefind model file"),
        ("bare.rarefind", "later.csv", [], "without its table's columns"),
        ("model.rarefind", "text.rarefind", [], "is not of a known kind"),
        ("model.rarefind", "without.csv", [], "amount"),
        ("model.rarefind", "maybe.csv", [], "'maybe' in row 1"),
        ("model.rarefind", "soon.csv", [], "'soon'"),
        ("model.rarefind", "later.csv", ["--budget", "0"], "buys nothing"),
        ("model.rarefind", "later.csv", ["--budget", "901"], "larger than the file"),
        ("model.rarefind", "later.csv", ["--budget", "many"], "not 'many'"),
        ("model.rarefind", "later.csv", ["-o", "nowhere/page.html"], "There is no folder nowhere"),
        ("model.rarefind", "later.csv", ["-o", "later.csv"], "is read by the command"),
    ],
)
def test_mistakes_end_with_code_2_and_nothing_written(
    models, folder, monkeypatch, capsys, model, data, options, message
):
    monkeypatch.chdir(folder)
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert in_process(monkeypatch, "report", model, data, *options) == 2
    told = capsys.readouterr()
    assert message in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before
