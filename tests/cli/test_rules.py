"""``rarefind rules``: what it prints, what it writes, and what it refuses."""

import json
import sqlite3
import sys

import duckdb
import numpy as np
import pandas as pd
import pytest
from databases import DIALECTS, scores
from typer.testing import CliRunner

from rarefind import save
from rarefind.cli import app, main
from rarefind.conditions import ConditionClassifier
from rarefind.data import read_table
from rarefind.rules import RuleSet
from rarefind.tables import TableModel
from rarefind.trees import MetaAPClassifier

DESK = """
# Written by the desk.
let limit = 4
large: amount > limit * `mean amount`
abroad: country != card_country and not ecommerce
never: amount > 1e9
empty: note = 'x' or card_country != other
bare: time is missing
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file of rules, and the same payments as CSV and as Parquet."""
    folder = tmp_path_factory.mktemp("rules")
    rng = np.random.default_rng(0)
    n = 300
    days = pd.to_timedelta(rng.integers(0, 10 * 24, n), unit="h")
    payments = pd.DataFrame(
        {
            "time": (pd.Timestamp("2026-01-01") + days).to_series().mask(rng.random(n) < 0.02),
            "amount": rng.lognormal(3, 1, n).round(2),
            "mean amount": 20.0,
            "country": rng.choice(["FR", "BE", "US"], n),
            "card_country": "FR",
            "ecommerce": rng.integers(0, 2, n),
            "note": None,
            "other": None,
            "card": rng.integers(0, 60, n),
            "name": [f"p{i}" for i in range(n)],
        }
    ).reset_index(drop=True)
    payments.loc[::17, "amount"] = np.nan
    fraud = (payments["amount"] > 60) & (rng.random(n) < 0.7)
    payments["fraud"] = np.where(fraud, "yes", "no")
    payments["code"] = np.where(fraud, 2, 1)
    payments.to_csv(folder / "payments.csv", index=False)
    payments.to_parquet(folder / "payments.parquet")
    (folder / "desk.rules").write_text(DESK, encoding="utf-8")
    (folder / "desk.json").write_text(RuleSet.from_text(DESK).to_json(), encoding="utf-8")
    return folder


@pytest.fixture
def run(folder, monkeypatch):
    """Run a command that goes well, and give what it prints."""
    monkeypatch.chdir(folder)

    def run(*arguments):
        result = CliRunner().invoke(app, ["rules", *map(str, arguments)])
        assert result.exit_code == 0, result.output
        assert result.stderr == ""
        return result.stdout

    return run


@pytest.fixture
def refused(folder, monkeypatch, capsys):
    """Run a command that fails, and give the lines it says why in; nothing is written."""
    monkeypatch.chdir(folder)

    def refused(*arguments):
        before = sorted(folder.rglob("*"))
        monkeypatch.setattr(sys, "argv", ["rarefind", "rules", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 2
        assert sorted(folder.rglob("*")) == before
        printed = capsys.readouterr()
        assert printed.out == ""
        return printed.err.splitlines()

    return refused


def expected_report(folder, target="fraud", positive="yes", time=None):
    """By the library, with nothing of the command in between."""
    table = pd.read_parquet(folder / "payments.parquet")
    y = table[target] == positive
    return RuleSet.from_text(DESK).measure(table, y, time=time, pos_label=True)


def test_correct_rules_are_counted(run, tmp_path):
    assert run("check", "desk.rules") == "desk.rules: 5 rules are correct.\n"
    assert run("check", "desk.json") == "desk.json: 5 rules are correct.\n"
    for data in ("payments.csv", "payments.parquet"):
        said = run("check", "desk.rules", "--data", data)
        assert said == f"desk.rules: 5 rules are correct and fit {data}.\n"
    one = tmp_path / "one.rules"
    one.write_text("\ufeffx: a > 1\n", encoding="utf-8")
    assert run("check", one) == f"{one}: 1 rule is correct.\n"
    assert run("convert", one, "--to", "text") == "x: a > 1\n", "without the mark of some editors"


MISTAKEN = """
first: amount >
let limit = 5
fine: amount > limit
second amount > 1
third: amount > 'x'
fine: amount > 2
"""


def test_all_mistakes_are_listed_one_a_line(refused, tmp_path):
    path = tmp_path / "mistaken.rules"
    path.write_text(MISTAKEN, encoding="utf-8")
    assert refused("check", path) == [
        f"rarefind: {path} has 4 mistakes.",
        "Rule 'first': The rule ends too early.",
        "Line 5 is not a rule: write name: rule.",
        "Rule 'third': A number is needed where the rule has \"'x'\", a text.",
        "Two rules are called 'fine'.",
    ]


def test_mistakes_in_json_are_listed_one_by_one(refused, tmp_path):
    path = tmp_path / "mistaken.json"
    rules = [{"name": "a", "rule": "x >"}, {"name": "b", "rule": "x > 1"}, {"name": "c"}]
    path.write_text(json.dumps({"rules": rules}), encoding="utf-8")
    first, *others = refused("check", path)
    assert first == f"rarefind: {path} has 2 mistakes."
    assert others == [
        "Rule 'a': The rule ends too early.",
        "This is not a file of rules ('rule').",
    ]


def test_names_that_two_rules_have_are_mistakes(refused, tmp_path):
    path = tmp_path / "twice.json"
    rules = [{"name": name, "rule": "x > 1"} for name in "abab"]
    path.write_text(json.dumps({"rules": rules}), encoding="utf-8")
    told = ["Two rules are called 'a'.", "Two rules are called 'b'."]
    assert refused("check", path) == [f"rarefind: {path} has 2 mistakes.", *told]


def test_a_wrong_constant_is_listed_once(refused, tmp_path):
    path = tmp_path / "constant.rules"
    path.write_text("x: amount > limit\ny: amount < limit\nlet limit = five\n", encoding="utf-8")
    told = ["rarefind: Line 3: 'five' is not a number, a text in quotes, true or false."]
    assert refused("check", path, "--data", "payments.csv") == told


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("amuont > 1", "There is no column 'amuont': did you mean 'amount'?"),
        ("country > 1", "The column 'country' is a text, and a number is needed."),
        ("time > 1", "The column 'time' is a date, and a number is needed."),
        ("time = '2026-01-01'", "The column 'time' is a date, and a text is needed."),
        (
            "time = country",
            "The column 'time' is a date and 'country' a text: they cannot be compared.",
        ),
        (
            "amount != country",
            "The column 'amount' is a number and 'country' a text: they cannot be compared.",
        ),
        ("not code", "The column 'code' is a number, and a truth is needed."),
    ],
)
@pytest.mark.parametrize("data", ["payments.csv", "payments.parquet"])
def test_rules_that_do_not_fit_the_table_are_refused(refused, tmp_path, rule, message, data):
    path = tmp_path / "x.rules"
    path.write_text(f"fine: time = time\nx: {rule}\n", encoding="utf-8")
    assert refused("check", path, "--data", data) == [f"rarefind: Rule 'x': {message}"]
    assert refused("measure", path, data, "--target", "fraud") == [f"rarefind: Rule 'x': {message}"]


@pytest.mark.parametrize("data", ["payments.csv", "payments.parquet"])
@pytest.mark.parametrize("rules", ["desk.rules", "desk.json"])
def test_machines_get_the_report(run, folder, data, rules):
    found = json.loads(run("measure", rules, data, "--target", "fraud", "--json"))
    expected = expected_report(folder)
    assert [rule.pop("name") for rule in found["rules"]] == list(expected.rules.index)
    assert [rule.pop("rule") for rule in found["rules"]] == list(expected.rules["text"])
    values = pd.DataFrame(found["rules"], index=expected.rules.index, dtype=float)
    pd.testing.assert_frame_equal(values, expected.rules.drop(columns="text"))
    assert found["rules"][2]["precision"] is None, "no alerts, no precision"
    assert isinstance(found["rules"][0]["hits"], int)
    assert found["together"]["alerts"] == expected.together["alerts"]
    overlap = pd.DataFrame(found["overlap"], dtype=float).T
    pd.testing.assert_frame_equal(overlap, expected.overlap)
    positives = (pd.read_parquet(folder / "payments.parquet")["fraud"] == "yes").sum()
    assert (found["rows"], found["positives"]) == (300, positives)
    assert found["retired"] == {}
    assert found["kept"] == list(expected.rules.index)


def test_people_get_tables(run, folder):
    said = run("measure", "desk.rules", "payments.csv", "--target", "fraud", "--time", "time")
    time = pd.read_parquet(folder / "payments.parquet")["time"]
    expected = expected_report(folder, time=time).rules.loc["large"]
    large = next(line for line in said.splitlines() if line.startswith("large")).split()
    assert large[1:3] == [f"{expected['alerts']:.0f}", f"{expected['hits']:.0f}"]
    assert large[3] == f"{expected['precision']:.3g}"
    assert large[4] == f"{expected['precision_low']:.2g}–{expected['precision_high']:.2g}"
    assert large[8] == f"{expected['alerts_a_day']:.3g}"
    for name in ("all together", "false", "added", "alone", "a day", "1 large", "5 bare"):
        assert name in said
    untimed = run("measure", "desk.rules", "payments.csv", "--target", "fraud")
    assert "a day" not in untimed


def test_many_rules_have_no_table_of_overlap(run, tmp_path):
    path = tmp_path / "many.rules"
    lines = [f"[b]r{i}: amount > {i}" for i in range(13)]
    for number, shown in ((12, True), (13, False)):
        path.write_text("\n".join(lines[:number]), encoding="utf-8")
        said = run("measure", path, "payments.csv", "--target", "fraud")
        assert ("Share of a rule's alerts" in said) is shown
        assert "[b]r11" in said, "brackets are no markup"


@pytest.mark.parametrize(
    ("target", "positive", "value"),
    [("fraud", "no", "no"), ("fraud", "YES", "yes"), ("code", "1", 1), ("code", "2.0", 2)],
)
def test_the_positive_label_is_named_by_its_text(run, folder, target, positive, value):
    arguments = ("--target", target, "--positive", positive, "--json")
    found = json.loads(run("measure", "desk.rules", "payments.csv", *arguments))
    expected = expected_report(folder, target, value)
    assert found["rules"][0]["hits"] == expected.rules.loc["large", "hits"]
    assert (
        found["positives"] == (pd.read_parquet(folder / "payments.parquet")[target] == value).sum()
    )


def test_rules_without_columns_are_measured(run, tmp_path):
    path = tmp_path / "all.rules"
    path.write_text("all: true\n", encoding="utf-8")
    found = json.loads(run("measure", path, "payments.csv", "--target", "fraud", "--json"))
    assert (found["rules"][0]["alerts"], found["rules"][0]["recall"]) == (300, 1)


def test_days_are_those_of_the_clock_on_the_wall(run, tmp_path):
    # In the night to the second day an hour was left out.
    times = pd.date_range("2026-03-28", "2026-03-30", freq="D", tz="Europe/Paris")
    table = pd.DataFrame({"time": times, "amount": [1, 2, 3], "fraud": [0, 0, 1]})
    table.to_parquet(tmp_path / "spring.parquet")
    (tmp_path / "all.rules").write_text("all: true\n", encoding="utf-8")
    arguments = ("--target", "fraud", "--time", "time", "--json")
    found = json.loads(
        run("measure", tmp_path / "all.rules", tmp_path / "spring.parquet", *arguments)
    )
    assert found["rules"][0]["alerts_a_day"] == 1


def test_rules_may_be_called_as_measures_are(run, tmp_path):
    path = tmp_path / "names.rules"
    path.write_text("hits: amount > 20\nall: true\n", encoding="utf-8")
    found = json.loads(run("measure", path, "payments.csv", "--target", "fraud", "--json"))
    share = found["rules"][0]["alerts"] / 300
    assert 0 < share < 1
    assert found["overlap"]["all"]["hits"] == pytest.approx(share)


LIMITS = ("--limit", "min_precision=0.2", "--limit", "min_alerts=1")


def test_rules_that_fail_a_limit_are_retired(run, folder, tmp_path):
    rules = RuleSet.from_text(DESK)
    kept, retired = rules.retire(expected_report(folder), min_precision=0.2, min_alerts=1)
    assert kept.rules
    assert retired
    for name in ("kept.rules", "kept.json"):
        out = tmp_path / name
        said = run("measure", "desk.rules", "payments.csv", "--target", "fraud", *LIMITS, "-o", out)
        for rule, why in retired.items():
            assert rule in said
            assert why in said
        text = out.read_text(encoding="utf-8")
        read = RuleSet.from_json(text) if name.endswith("json") else RuleSet.from_text(text)
        assert read.to_json() == kept.to_json()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.json", "kept.rules"]
    arguments = ("--target", "fraud", *LIMITS, "--json")
    found = json.loads(run("measure", "desk.rules", "payments.csv", *arguments))
    assert found["retired"] == retired
    assert found["kept"] == [rule.name for rule in kept]


def test_no_file_is_written_when_no_rule_is_kept(folder, monkeypatch, capsys, tmp_path):
    out = tmp_path / "kept.rules"
    arguments = ["--target", "fraud", "--limit", "min_alerts=1000", "-o", str(out)]
    monkeypatch.chdir(folder)
    command = ["rarefind", "rules", "measure", "desk.rules", "payments.csv", *arguments]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    printed = capsys.readouterr()
    assert "alerts 0 is below 1000" in printed.out, "the report says why"
    assert printed.err == f"rarefind: No rule passes the limits, so {out} was not written.\n"
    assert not out.exists()


MEASURE = ("measure", "desk.rules", "payments.csv", "--target")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check", "none.rules"), "There is no file none.rules: check the name and the folder."),
        (("check", "."), ". is a folder: name one file inside it."),
        (("check", "desk.rules", "--data", "none.csv"), "There is no file none.csv"),
        (("check", "desk.rules", "--data", "desk.rules"), "desk.rules is not of a known kind"),
        ((*MEASURE, "fruad"), "There is no column 'fruad': did you mean 'fraud'?"),
        ((*MEASURE, "amount", "--unlabelled", "error"), "Target column 'amount' has no label in"),
        ((*MEASURE, "fraud", "--positive", "maybe"), "Target column 'fraud' has no label 'maybe'"),
        ((*MEASURE, "fraud", "--time", "tmie"), "There is no column 'tmie': did you mean 'time'?"),
        ((*MEASURE, "fraud", "--time", "amount"), "The column 'amount' has no dates"),
        ((*MEASURE, "fraud", "--limit", "min_luck=1"), "'min_luck' is not a limit"),
        (
            (*MEASURE, "fraud", "--limit", "precision"),
            "'precision' is not a limit: write one as min_",
        ),
        ((*MEASURE, "fraud", "--limit", "min_lift=nan"), "'min_lift=nan' is not a limit"),
        ((*MEASURE, "fraud", "--limit", "max_alerts_a_day=5"), "A limit on alerts_a_day needs"),
        ((*MEASURE, "fraud", "-o", "no/kept.rules"), "There is no folder no to write kept.rules"),
        (("convert", "none.rules", "--to", "sql"), "There is no file none.rules"),
        (("convert", "desk.rules", "--to", "xml"), "There is no format 'xml': known are text, js"),
        (
            ("convert", "desk.rules", "--to", "sql", "--dialect", "oracle"),
            "There is no dialect 'oracle': known are ansi, sqlite",
        ),
        (
            ("convert", "desk.rules", "--to", "text", "--table", "t"),
            "The options --dialect, --table and --key are",
        ),
        (("convert", "desk.rules", "--to", "sql", "--table", "a..b"), "'a..b' is not a table"),
        (("convert", "desk.rules", "--to", "sql", "-o", "."), ". is a folder"),
    ],
)
def test_bad_input_ends_with_one_sentence(refused, arguments, message):
    (line,) = refused(*arguments)
    assert line.startswith(f"rarefind: {message}")
    assert line.endswith((".", "?"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.rules", b"", "is empty"),
        ("x.rules", b" \n\n", "is empty"),
        ("x.rules", b"# nothing yet\nlet limit = 5\n", "has no rules"),
        ("x.json", b'{"rules": []}', "has no rules"),
        ("x.json", b"[1]", "This is not a file of rules"),
        ("x.json", b"[" * 100_000, "is nested too deeply to be a file of rules"),
        ("x.rules", "x: a = 'é'".encode("latin-1"), "is not text in UTF-8"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        ("check",),
        ("convert", "--to", "json"),
        ("measure", "payments.csv", "--target", "fraud"),
    ],
    ids=lambda command: command[0],
)
def test_files_without_rules_are_refused(refused, tmp_path, name, content, message, command):
    path = tmp_path / name
    path.write_bytes(content)
    (line,) = refused(command[0], path, *command[1:])
    assert message in line


def test_text_and_json_say_the_same(run, tmp_path):
    rules = RuleSet.from_text(DESK)
    assert run("convert", "desk.json", "--to", "text") == rules.to_text()
    assert run("convert", "desk.rules", "--to", "json") == rules.to_json() + "\n"
    out = tmp_path / "out.json"
    assert run("convert", "desk.rules", "--to", "json", "-o", out) == ""
    assert out.read_text(encoding="utf-8") == rules.to_json() + "\n"


def test_whole_numbers_as_constants_can_be_written_as_text(run, tmp_path):
    path = tmp_path / "whole.json"
    whole = {"constants": {"limit": 5}, "rules": [{"name": "x", "rule": "a > limit"}]}
    path.write_text(json.dumps(whole), encoding="utf-8")
    assert run("convert", path, "--to", "text") == "let limit = 5\nx: a > limit\n"


@pytest.mark.parametrize("rule", [("#1", "a > 1"), ("let x", "a = 1"), ("x", "a = 'b\nc: d'")])
def test_rules_that_text_cannot_hold_are_not_lost(refused, tmp_path, rule):
    path = tmp_path / "odd.json"
    whole = {"rules": [{"name": rule[0], "rule": rule[1]}, {"name": "y", "rule": "a > 2"}]}
    path.write_text(json.dumps(whole), encoding="utf-8")
    (line,) = refused("convert", path, "--to", "text", "-o", tmp_path / "odd.rules")
    assert "cannot stand in a file of text" in line


def test_a_query_in_duckdb_fires_where_the_rules_do(run, folder):
    arguments = ("--to", "sql", "--dialect", "duckdb", "--table", "main.pay ments")
    sql = run("convert", "desk.rules", *arguments)
    connection = duckdb.connect()
    path = folder / "payments.parquet"
    connection.execute(f"CREATE TABLE \"pay ments\" AS SELECT * FROM read_parquet('{path}')")
    found = connection.execute(sql).fetchnumpy()
    table = pd.read_parquet(path)
    rules = RuleSet.from_text(DESK)
    names = [rule.name for rule in rules]
    assert list(found) == [*table.columns, *names]  # the columns of the table come first
    np.testing.assert_array_equal(found["name"], table["name"])
    expected = rules.fires_on(table)
    assert expected[:, [0, 1, 4]].any(axis=0).all()
    np.testing.assert_array_equal(np.column_stack([found[name] for name in names]), expected)


def test_a_query_in_sqlite_fires_where_the_rules_do(run, folder, tmp_path):
    out = tmp_path / "rules.sql"
    arguments = ("--to", "sql", "--dialect", "sqlite", "--table", "payments", "--output", out)
    arguments += ("--key", "name", "--key", "time")
    assert run("convert", "desk.rules", *arguments) == ""
    table = pd.read_parquet(folder / "payments.parquet")
    connection = sqlite3.connect(":memory:")
    table.to_sql("payments", connection, index=False)
    found = pd.read_sql(out.read_text(encoding="utf-8"), connection)
    rules = RuleSet.from_text(DESK)
    names = [rule.name for rule in rules]
    assert list(found) == ["name", "time", *names]
    assert found["name"].tolist() == table["name"].tolist()
    np.testing.assert_array_equal(found[names], rules.fires_on(table))


def test_conditions_stand_below_their_names(run, tmp_path):
    lines = run("convert", "desk.rules", "--to", "sql", "--dialect", "mysql").splitlines()
    rules = RuleSet.from_text(DESK)
    assert lines[::2] == [f"-- {rule.name}" for rule in rules]
    assert lines[1::2] == [rule.to_sql("mysql") for rule in rules]
    assert "DOUBLE PRECISION" in run("convert", "desk.rules", "--to", "sql")
    path = tmp_path / "odd.json"
    whole = {"rules": [{"name": "x\nDROP TABLE y", "rule": "a > 1"}]}
    path.write_text(json.dumps(whole), encoding="utf-8")
    assert run("convert", path, "--to", "sql").splitlines()[0] == "-- x DROP TABLE y"


WEIGHTED = """large: amount > 100
weight large = 1.5
abroad: country != 'FR'
weight abroad = -0.25
other: amount > 0
"""


def test_weights_of_rules_come_through_and_add_up(run, tmp_path):
    path, again = tmp_path / "weighted.rules", tmp_path / "weighted.json"
    path.write_text(WEIGHTED, encoding="utf-8")
    run("convert", path, "--to", "json", "-o", again)
    assert json.loads(again.read_text(encoding="utf-8"))["rules"][0]["weight"] == 1.5
    assert run("convert", again, "--to", "text") == WEIGHTED
    rows = pd.DataFrame({"amount": [500.0, 50, None, 101], "country": ["FR", "US", "US", None]})
    for dialect in DIALECTS:
        sql = run("convert", again, "--to", "sql", "--dialect", dialect, "--table", "rows")
        assert scores(dialect, sql.rstrip(";\n"), rows) == [1.5, -0.25, -0.25, 1.5]
    assert run("check", path).startswith(f"{path}: 3 rules are correct")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x: a > 1\nweight y = 2", "There is a weight of 'y', and no rule of that name."),
        ("x: a > 1\nweight x = heavy", "Line 2 is not a weight: write weight name = number."),
        ("x: a > 1\nweight x = inf", "Rule 'x': A weight is a number, not inf."),
    ],
)
def test_weights_that_are_none_are_told(refused, tmp_path, text, message):
    path = tmp_path / "weighted.rules"
    path.write_text(text, encoding="utf-8")
    (line,) = refused("check", path)
    assert message in line


def test_a_model_is_written_as_the_query_of_a_table(run, refused, tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"amount": rng.lognormal(size=300), "Région": rng.choice(list("ab"), 300)})
    labelled = rows.assign(fraud=(rows["amount"] > 2) & (rows["Région"] == "b"))
    model = TableModel(MetaAPClassifier(random_state=0, ties="leaf"), target="fraud").fit(labelled)
    path = tmp_path / "fraud.rarefind"
    save(model, path)
    for dialect in DIALECTS:
        sql = run("convert", path, "--to", "sql", "--dialect", dialect, "--table", "rows")
        assert scores(dialect, sql.rstrip(";\n"), rows) == model.priority(rows).tolist()
    (line,) = refused("convert", path, "--to", "text")
    assert "is a model: write --to sql and --table" in line


def test_rules_on_a_terminal_show_what_is_hidden_in_them(run, tmp_path, monkeypatch):
    path = tmp_path / "odd.json"
    whole = {"rules": [{"name": "x\x1b[2J", "rule": "a = 'b\x1b[31m'"}]}
    path.write_text(json.dumps(whole), encoding="utf-8")
    assert "\x1b" in run("convert", path, "--to", "text")  # a program gets what the file says
    monkeypatch.setattr("rarefind.cli._rules._is_terminal", lambda: True)
    shown = run("convert", path, "--to", "text")
    assert shown == "x\\x1b[2J: a = 'b\\x1b[31m'\n"


def test_two_columns_of_a_query_have_two_names(refused, tmp_path):
    path = tmp_path / "twice.rules"
    path.write_text("Amount: amount > 1", encoding="utf-8")
    (line,) = refused("convert", path, "--to", "sql", "--table", "rows")
    assert "The query would have two columns 'Amount'" in line


LEARN = ("learn", "payments.csv", "--target", "fraud", "--drop", "code", "--drop", "note")
ROLES = ("--id", "name", "--time", "time", "--entity", "card", "--positive", "yes")


def test_learned_rules_are_those_of_the_model(run, folder, tmp_path):
    out, again = tmp_path / "learned.rules", tmp_path / "again.json"
    options = (*LEARN, *ROLES, "--most", 2, "--tolerance", 0.05, "--seed", 1)
    said = run(*options, "-o", out)
    found = json.loads(run(*options, "-o", again, "--json"))
    model = TableModel(
        ConditionClassifier(max_conditions=2, tolerance=0.05, random_state=1),
        target="fraud",
        positive="yes",
        id="name",
        time="time",
        entity="card",
        drop=["code", "note"],
    ).fit(read_table(folder / "payments.csv"))
    rules, conditions = model.rules(), model.conditions()
    above = (conditions["weight"] > 0) & (conditions["lift_low"] > 1)
    weights = dict(zip(conditions.index, conditions["weight"], strict=True))
    chosen = {rule.name: rule.text for rule, alert in zip(rules, above, strict=True) if alert}
    alerts = RuleSet(chosen, weights={name: weights[name] for name in chosen})
    text = out.read_text(encoding="utf-8")
    assert RuleSet.from_text(text).to_text() == alerts.to_text()
    assert text.count("# weight ") == len(alerts)
    assert text.count("# not an alert: ") == len(rules) - len(alerts)
    assert again.read_text(encoding="utf-8") == alerts.to_json() + "\n"
    assert 1 <= len(rules) <= 2
    assert said.endswith(f" {out}.\n")
    assert f"c1: {rules['c1']}" in said
    assert ("left out" in said) == (len(alerts) < len(rules))
    assert found["rows"] == 300
    assert [rule.pop("name") for rule in found["rules"]] == [rule.name for rule in rules]
    assert [rule.pop("alert") for rule in found["rules"]] == above.tolist()
    values = pd.DataFrame(found["rules"], index=conditions.index)[conditions.columns]
    pd.testing.assert_frame_equal(values, conditions)
    assert run("check", out, "--data", "payments.csv").endswith("correct and fit payments.csv.\n")


@pytest.fixture(scope="module")
def mostly_usual(tmp_path_factory):
    """Payments of which two thirds of the frauds look like any other payment."""
    rng = np.random.default_rng(0)
    n = 4000
    fraud = rng.random(n) < 0.03
    risk = np.where(fraud & (rng.random(n) < 0.33), rng.uniform(0.9, 1, n), rng.uniform(0, 0.92, n))
    table = pd.DataFrame({"risk": risk, "amount": rng.gamma(2, 30, n), "fraud": fraud.astype(int)})
    path = tmp_path_factory.mktemp("usual") / "payments.csv"
    table.to_csv(path, index=False)
    return path


def test_a_rule_below_the_base_rate_is_not_an_alert(run, mostly_usual, tmp_path):
    out = tmp_path / "learned.rules"
    options = ("learn", mostly_usual, "--target", "fraud", "--most", 6, "--tolerance", 0)
    said = run(*options, "-o", out)
    learned = json.loads(run(*options, "-o", tmp_path / "learned.json", "--json"))["rules"]
    below = [rule for rule in learned if rule["lift_low"] <= 1]
    assert any(rule["weight"] > 0 and rule["lift"] < 1 for rule in below), "the case at hand"
    alerts = RuleSet.from_text(out.read_text(encoding="utf-8"))
    assert {rule.name for rule in alerts} == {
        rule["name"] for rule in learned if rule not in below and rule["weight"] > 0
    }
    assert f"{len(below)} of {len(learned)} rules" in said
    assert "left out: the precision is not clearly above the base rate" in " ".join(said.split())
    table = read_table(mostly_usual)
    measured = alerts.measure(table, table["fraud"], pos_label=1).rules
    assert (measured["lift"] > 1).all()


def test_rules_of_too_few_positives_are_measured_where_they_were_learned(run, tmp_path):
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"risk": rng.random(500), "amount": rng.gamma(2, 30, 500)})
    table["fraud"] = (table["risk"] > 0.97).astype(int)
    assert table["fraud"].sum() < 20, "nothing is held out to measure rules on"
    path, out = tmp_path / "few.csv", tmp_path / "few.rules"
    table.to_csv(path, index=False)
    said = run("learn", path, "--target", "fraud", "-o", out)
    assert "on the rows it was learned from" in out.read_text(encoding="utf-8")
    assert "measured on the rows they were learned from" in said
    assert len(RuleSet.from_text(out.read_text(encoding="utf-8")))


def test_rows_without_a_label_are_left_out_as_in_fit(run, refused, tmp_path):
    rng = np.random.default_rng(1)
    risk = rng.random(500)
    labels = np.where(risk > 0.9, "Oui", "Non")
    labels[risk > 0.99] = "OUI"
    labels[:5] = ""
    path, out = tmp_path / "blank.csv", tmp_path / "learned.rules"
    pd.DataFrame({"risk": risk, "label": labels}).to_csv(path, index=False)
    with pytest.warns(UserWarning, match="5 of 500 rows have no label in 'label'"):
        run("learn", path, "--target", "label", "-o", out)
    with pytest.warns(UserWarning, match="'OUI' as 'Oui'"):
        found = json.loads(run("measure", out, path, "--target", "label", "--json"))
    assert (found["rows"], found["positives"]) == (495, int((risk[5:] > 0.9).sum()))
    (message,) = refused("measure", out, path, "--target", "label", "--unlabelled", "error")
    assert "no label in 5 of 500 rows" in message


def test_no_file_is_written_when_no_rule_is_an_alert(refused, tmp_path):
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"x": rng.random(1000), "fraud": (np.arange(1000) % 20 == 0).astype(int)})
    table.to_csv(tmp_path / "noise.csv", index=False)
    out = tmp_path / "noise.rules"
    (line,) = refused("learn", tmp_path / "noise.csv", "--target", "fraud", "-o", out)
    assert "above the base rate" in line
    assert line.endswith(f"so {out} was not written.")
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--target", "fruad"), "There is no column 'fruad': did you mean 'fraud'?"),
        (("--target", "fraud", "--drop", "cod"), "There is no column 'cod': did you mean 'code'?"),
        (
            ("--target", "fraud", "--entity", "crad"),
            "There is no column 'crad': did you mean 'card'",
        ),
        (("--target", "country"), "Target column 'country' holds 3 values"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(refused, tmp_path, arguments, message):
    out = tmp_path / "learned.rules"
    (line,) = refused("learn", "payments.csv", *arguments, "-o", out)
    assert line.startswith(f"rarefind: {message}")
    assert not out.exists()


def test_mistakes_end_with_code_2(folder, installed, rarefind):
    result = installed("rules", "check", folder / "none.rules")
    assert result.returncode == 2
    assert result.stderr.startswith("rarefind: There is no file ")
    assert result.stdout == ""
    result = rarefind("rules", "measure", folder / "desk.rules", folder / "payments.csv")
    assert result.returncode == 2
    assert "--target" in result.stderr


def test_files_are_read_as_by_fit(run, refused, folder, tmp_path):
    """Of a workbook the first sheet was read, and dates that can be read two ways were refused."""
    table = pd.read_parquet(folder / "payments.parquet").dropna(subset=["time"])
    table["time"] = "0" + (table["time"].dt.day % 9 + 1).astype(str) + "/04/2026"
    path, rules = tmp_path / "book.xlsx", tmp_path / "amount.rules"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"title": ["none"]}).to_excel(book, sheet_name="First", index=False)
        table.to_excel(book, sheet_name="April", index=False)
    rules.write_text("large: amount > 60\n")
    how = ("--sheet", "April", "--date-format", "%d/%m/%Y")
    assert "fit" in run("check", rules, "--data", path, *how)
    asked = ("--target", "fraud", *how, "--json")
    found = json.loads(run("measure", rules, path, "--time", "time", *asked))
    days = table["time"].nunique()
    assert found["rules"][0]["alerts_a_day"] == (table["amount"] > 60).sum() / days
    own = ("--drop", "name", "--time", "time", "-o", tmp_path / "learned.rules")
    assert json.loads(run("learn", path, *own, *asked))["rows"] == len(table)
    (said,) = refused("check", rules, *how)
    assert said == "rarefind: The options --sheet and --date-format are for --data: name the table."


def test_every_command_has_help_with_an_example(run):
    listed = run("--help")
    for command in ("check", "measure", "learn", "convert"):
        assert command in listed
        assert f"Example: rarefind rules {command} " in run(command, "--help")


def test_check_and_convert_answer_machines_too(folder):
    checked = CliRunner().invoke(app, ["rules", "check", str(folder / "desk.rules"), "--json"])
    names = [rule["name"] for rule in json.loads(checked.stdout)["rules"]]
    assert names == ["large", "abroad", "never", "empty", "bare"]
    quiet = CliRunner().invoke(app, ["rules", "check", str(folder / "desk.rules"), "-q"])
    assert (quiet.exit_code, quiet.stdout) == (0, "")
    arguments = ["rules", "convert", str(folder / "desk.rules"), "--to", "sql", "--json"]
    converted = json.loads(CliRunner().invoke(app, arguments).stdout)
    assert (converted["format"], converted["rules"]) == ("sql", 5)
    assert "-- abroad" in converted["text"]
