"""People change what a desk decides by, from the command line."""

import json
import shlex

import pandas as pd
import pytest

PAYMENTS = pd.DataFrame(
    {
        "id": [f"t{i}" for i in range(40)],
        "time": pd.date_range("2026-01-01", periods=40, freq="h"),
        "card": [f"c{i % 5}" for i in range(40)],
        "amount": [10.0 + i for i in range(40)],
        "country": ["FR", "BE"] * 20,
    }
)


@pytest.fixture(scope="module")
def run(rarefind):
    def run(*arguments, code=0):
        result = rarefind(*arguments)
        assert result.returncode == code, (result.stdout, result.stderr)
        return result.stderr if code else result.stdout

    return run


@pytest.fixture
def desk(run, tmp_path):
    PAYMENTS.to_csv(tmp_path / "payments.csv", index=False)
    run("desk", "init", tmp_path / "payments.csv", tmp_path / "desk")
    return tmp_path / "desk"


def test_rules_and_lists(run, desk, tmp_path):
    (tmp_path / "risky.txt").write_text("XX\n\nYY \n", encoding="utf-8")
    assert "has 2 values" in run("desk", "list", "save", desk, "risky", tmp_path / "risky.txt")
    text = "country in list('risky') and amount > limit"
    saved = run(
        "desk", "rule", "save", desk, "abroad", text, "--let", "limit=50", "--person", "ann"
    )
    assert saved == "Version 1 of 'abroad' is saved as shadow.\n"
    assert "is blocking, as version 2" in run("desk", "rule", "role", desk, "abroad", "blocking")
    (rule,) = json.loads(run("desk", "rule", "list", desk, "--json"))
    assert (rule["role"], rule["constants"], rule["lists"]) == (
        "blocking",
        {"limit": 50},
        ["risky"],
    )
    shown = run("desk", "rule", "list", desk, "--name", "abroad")
    assert "shadow, version 1 by ann" in shown
    assert "The rule 'abroad' asks the list" in run("desk", "list", "delete", desk, "risky", code=2)
    assert run("desk", "list", "show", desk, "risky") == "XX\nYY\n"
    assert "risky (2 values" in run("desk", "list", "show", desk)
    wrong = run("desk", "rule", "save", desk, "r", "amont > 5", code=2)
    assert wrong == "rarefind: There is no column 'amont': did you mean 'amount'?\n"


def test_settings_are_changed_shown_and_reset(run, desk):
    assert run("desk", "set", desk, "alerts.budget", "40") == "alerts.budget is 40.\n"
    assert run("desk", "set", desk, "alerts.second_person", "yes", "--person", "ann")
    asked = run("desk", "set", desk, "retention.days", "90", "--person", "ann")
    assert asked == "Change 1 of retention.days waits for another person than ann.\n"
    done = run("desk", "set", desk, "retention.days", "90", "--person", "bob")
    assert done == "retention.days is 90.\n"
    run("desk", "rule", "save", desk, "large", "amount > 10")
    blocking = ("desk", "rule", "role", desk, "large", "blocking", "--person")
    assert run(*blocking, "ann") == "Change 2 waits for another person than ann.\n"
    assert run(*blocking, "bob") == "'large' is blocking, as version 2.\n"
    shown = run("desk", "settings", desk)
    assert "alerts.budget = 40, by " in shown
    assert "; desk.toml says 20" in shown
    assert run("desk", "reset", desk, "alerts.budget") == "alerts.budget is 20.\n"
    wrong = run("desk", "set", desk, "alerts.lease", "soon", code=2)
    assert "alerts.lease: 'soon' is not a length of time" in wrong


def test_blocks(run, desk):
    run("desk", "block", desk, "c1", "--note", "the customer has called")
    assert "is blocked (block 1)" in run("desk", "block", desk, "c1")
    assert "not blocked any more" in run("desk", "unblock", desk, "c1", "--person", "bob")
    assert "'c1' is not blocked." in run("desk", "unblock", desk, "c1", code=2)
    with (desk / "desk.toml").open("a", encoding="utf-8") as file:
        file.write("second_person = true\n")  # [alerts] is the last table
    assert "waits for another person than ann" in run(
        "desk", "block", desk, "c2", "--person", "ann"
    )
    assert "waits for another" in run("desk", "block", desk, "c2", "--person", "ann")
    assert "is blocked" in run("desk", "block", desk, "c2", "--person", "bob")
    audit = run("desk", "audit", desk, "--after", "2")
    assert "ann  ask for block  block 2" in audit
    assert "bob  approve block  block 2" in audit


def test_verify_looks_at_the_audit_log_too(run, desk):
    import sqlite3

    run("desk", "block", desk, "c1")
    run("desk", "block", desk, "c2")
    whole = run("desk", "verify", desk)
    assert "2 rows of the audit log are as they were written" in whole
    last = whole.split()[-1].rstrip(".")
    with sqlite3.connect(desk / "desk.db") as database:
        database.execute("DELETE FROM audit WHERE number = 2")
    run("desk", "verify", desk)
    found = run("desk", "verify", desk, "--audit-at", last, code=1)
    assert found == ""
    assert "is not a position" in run("desk", "verify", desk, "--audit-at", "2:x", code=2)


def test_a_model_of_the_desks_own_features(run, tmp_path):
    data, desk, known = tmp_path / "payments.parquet", tmp_path / "desk", tmp_path / "known.parquet"
    run(
        *("simulate", "--customers", 60, "--days", 35, "--rate", "1:40", "--details"),
        *("-q", "-o", data),
    )
    run("desk", "init", data, desk)
    said = run("desk", "features", desk, data, "--label", "fraud", "-o", known)
    command = shlex.split(said.partition("rarefind ")[2])
    assert "--drop claimed_at" in said  # what is known later is not learned from
    model = tmp_path / "model.rarefind"
    run(*command[:-1], model, "--model", "metaap", "--budget", 20, "-q")
    added = run("desk", "model", "add", desk, model, "--name", "first")
    assert added.startswith("first is a challenger with the digest ")
    digest = added.split()[-1]
    run("desk", "model", "promote", desk, digest, "--threshold", 0.25)
    listed = run("desk", "model", "list", desk)
    assert listed.startswith(f"{digest}  champion    alerts from 0.2500  first, MetaAPClassifier")
    assert run("desk", "model", "retire", desk, digest) == (
        "first is retired.\nThere is no model yet: rules alone decide.\n"
    )
    assert "should end in .parquet" in run("desk", "features", desk, data, "-o", "x.txt", code=2)


def test_webhooks(run, desk):
    assert "There are no webhooks" in run("desk", "webhook", "list", desk)
    secret = run("desk", "webhook", "add", desk, "https://example.com/a?b=1", "--person", "max")
    assert secret.startswith("rarefind_webhook_")
    assert secret.count("\n") == 1
    (found,) = json.loads(run("desk", "webhook", "list", desk, "--json"))
    assert (found["url"], found["made_by"]) == ("https://example.com/a?b=1", "max")
    assert found["events"] == ["alert.raised", "case.opened"]
    shown = run("desk", "webhook", "list", desk)
    assert "0 wait, 0 given up" in shown
    assert secret.strip() not in shown
    refused = run("desk", "webhook", "add", desk, "http://169.254.169.254/", code=2)
    assert "169.254.169.254" in refused
    refused = run("desk", "webhook", "add", desk, "https://a.com", "--event", "x", code=2)
    assert "alert.raised, case.opened" in refused
    assert "no webhook 7" in run("desk", "webhook", "remove", desk, "7", code=2)
    assert "is removed" in run("desk", "webhook", "remove", desk, "1", "--person", "max")
    assert json.loads(run("desk", "webhook", "list", desk, "--json")) == []
    assert "remove webhook" in run("desk", "audit", desk)


def test_users_get_links_and_are_removed(run, desk):
    url = "https://desk.example/"
    made = run("desk", "user", "add", desk, "ana", "investigator", "--url", url, "--person", "eve")
    assert made.startswith("https://desk.example/desk/welcome/")
    again = run("desk", "user", "reset", desk, "ana")
    assert again.startswith("http://127.0.0.1:8322/desk/welcome/")
    wrong = run("desk", "user", "add", desk, "ANA", "expert", code=2)
    assert wrong == "rarefind: There is a user 'ANA' already: choose another name.\n"
    wrong = run("desk", "user", "add", desk, "bob", "ingest", code=2)
    assert "'ingest' is not a role of people" in wrong
    assert run("desk", "user", "remove", desk, "ana") == "'ana' cannot sign in any more.\n"
    assert "may not sign in" in run("desk", "user", "reset", desk, "ana", code=2)
    log = run("desk", "audit", desk)
    assert "eve  add user  ana" in log
    assert made.rpartition("/")[2].strip() not in log
