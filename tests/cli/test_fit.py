"""From a file to a model, and what a budget finds with it."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from rarefind import load
from rarefind.cli import app


def test_machines_get_the_profile_and_what_the_budget_finds(files):
    found = files.fitted
    known = pd.read_csv(files.known)
    assert found["estimator"] == "GammaKNNClassifier"
    assert found["profile"]["rows"] == len(known)
    assert found["profile"]["positives"] == (known["false"] == "yes").sum()
    estimate = found["estimate"]
    assert estimate["checks"] == 20
    assert estimate["rows"] == pytest.approx(len(known) / 4, abs=15)
    assert estimate["random_hits"] < estimate["hits"]["low"] <= estimate["hits"]["value"] <= 20
    assert 0 < estimate["share_found"]["value"] <= 1
    assert estimate["amount"]["value"] > 0
    assert "the last 2" in estimate["how"]


def test_the_model_holds_what_it_was_fitted_with(files):
    model = load(files.model)
    assert (model.target, model.positive_, model.time) == ("false", True, "day")
    assert (model.entity, model.amount, model.id) == ("customer", "amount", "claim")
    assert model.estimate_.list_value().hits.value == files.fitted["estimate"]["hits"]["value"]
    assert model.encoder_.columns_ == ["amount", "region", "age"]
    assert [path.name for path in files.folder.iterdir() if path.name.startswith(".")] == []


def test_people_are_told_what_to_expect_and_what_to_do_next(rarefind, files, tmp_path):
    model = tmp_path / "conditions.rarefind"
    result = rarefind(
        *("fit", files.known, "--target", "false", "--drop", "claim", "--drop", "day"),
        *("--budget", "5%", "--model", "conditions", "-v", "-o", model),
    )
    assert result.returncode == 0, result.stderr
    assert "900 rows" in result.stdout
    assert "Held out at random: 5 of 5 folds of the rows." in result.stdout
    assert "What 45 checks of 900 rows find" in result.stdout
    assert "plain XGBoost" in result.stdout
    assert f"rarefind rank {model} FILE" in result.stdout
    assert "Learning from 900 rows" in result.stderr, "with -v progress is said anywhere"
    assert load(model).drop == ["claim", "day"]


def test_the_model_is_called_as_it_was_asked_for(rarefind, files, tmp_path):
    """xgboost is SGBAP with other settings, and was called SGBAP."""
    result = rarefind(
        *("fit", files.known, "--target", "false", "--time", "day", "--drop", "claim"),
        *("--budget", "2", "--per", "day", "--model", "xgboost", "-q"),
        *("-o", tmp_path / "model.rarefind"),
    )
    assert result.returncode == 0, result.stderr
    assert "rarefind (xgboost)" in result.stdout
    assert "SGBAP" not in result.stdout
    assert " 25 % of the rows, " in result.stdout, "per cent are written as elsewhere"
    hint = f"Rank a file with: rarefind rank {tmp_path / 'model.rarefind'} FILE -o list.csv"
    assert hint in result.stdout, "the model knows its budget"


def test_a_day_has_its_own_budget(rarefind, files, tmp_path):
    result = rarefind(
        *("fit", files.known, "--target", "false", "--time", "day", "--budget", "2"),
        *("--per", "day", "--delay", "3D", "--model", "gamma-knn", "--json"),
        *("-o", tmp_path / "model.rarefind"),
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    estimate = json.loads(result.stdout)["estimate"]
    assert estimate["checks"] == 2 * 15, "the last quarter of sixty days"
    assert "3 days" in estimate["how"]


def test_a_leak_is_named(rarefind, files, tmp_path):
    table = pd.read_csv(files.known)
    table["paid_back"] = (table["false"] == "yes") * 100.0 + table["amount"] / 1e6
    table.to_csv(tmp_path / "leak.csv", index=False)
    result = rarefind(
        *("fit", tmp_path / "leak.csv", "--target", "false", "--budget", "20", "--id", "claim"),
        *("--model", "gamma-knn", "-o", tmp_path / "model.rarefind"),
    )
    assert result.returncode == 0, result.stderr
    assert "paid_back alone gives average precision" in result.stdout
    assert "--drop paid_back" in result.stdout


def test_identifiers_are_kept_only_if_asked_for(rarefind, files, tmp_path):
    model = load(files.model)
    assert model.known_names_ == {}
    lines = pd.read_csv(files.known)["false"].eq("yes").to_numpy().nonzero()[0] + 2
    assert sorted(model.known_lines_.values()) == lines.tolist()
    path = tmp_path / "named.rarefind"
    asked = ("--target", "false", "--id", "claim", "--budget", "20", "--model", "gamma-knn")
    assert rarefind("fit", files.known, *asked, "--keep-ids", "-q", "-o", path).returncode == 0
    names = load(path).known_names_
    assert set(names.values()) == {f"C{line - 2}" for line in lines}


def test_half_a_leak_and_a_promise_that_is_too_good_are_told(rarefind, files, tmp_path):
    """Two such columns passed without a word, and fit promised 200 hits of 200 checks."""
    rng = np.random.default_rng(0)
    table = pd.read_csv(files.known)
    table["closed"] = np.where((table["false"] == "yes") & (rng.random(900) < 0.6), "yes", None)
    table["refund"] = np.where(table["closed"].isna() & (table["false"] == "yes"), 5.0, 0.0)
    pd.concat([table, table[:7]]).to_csv(tmp_path / "leak.csv", index=False)
    result = rarefind(
        *("fit", tmp_path / "leak.csv", "--target", "false", "--budget", "40", "--id", "claim"),
        *("--model", "metaap", "--jobs", "1", "-o", tmp_path / "model.rarefind"),
    )
    assert result.returncode == 0, result.stderr
    said = " ".join(result.stdout.split())
    assert "closed is filled in for 4" in said
    assert "refund is 5 for 5" in said
    assert "7 rows are copies of an earlier one in all columns but claim" in said
    assert "Identifiers repeat: 7 rows have the claim of an earlier one." in said
    assert "of the checks are hits is too good to be true" in said
    assert "40.0 (40.0–40.0)" not in said


def test_few_rows_give_a_model_and_the_estimate_says_what_it_could_not_tell(rarefind, tmp_path):
    """It ended without a model after learning: "Class 1 has 1 group"."""
    rng = np.random.default_rng(0)
    few = pd.DataFrame(
        {
            "Date": pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(60), unit="D"),
            "Client": np.where(np.arange(60) < 50, 0, np.arange(60)),
            "Montant": rng.normal(size=60),
            "Fraude": np.where(np.arange(60) % 7 == 3, "Oui", "Non"),
        }
    )
    few.to_csv(tmp_path / "few.csv", index=False)
    asked = ("fit", tmp_path / "few.csv", "--target", "Fraude", "--time", "Date", "--budget", "5")
    model = tmp_path / "model.rarefind"
    result = rarefind(*asked, "--entity", "Client", "--model", "gamma-knn", "-o", model)
    assert result.returncode == 0, result.stderr
    assert load(model).estimate_ is None
    said = " ".join(result.stdout.split())
    assert "There is no estimate of what the budget finds" in said
    assert "rows with Fraude = Oui are left, and nothing could be learned from them" in said
    assert "Class 1" not in said
    assert "from all rows" not in said, "a search may have taken some, and says so itself"
    result = rarefind("rank", model, tmp_path / "few.csv", "--json")
    assert result.returncode == 0, result.stderr
    assert len(json.loads(result.stdout)["list"]) == 5, "the budget is known without an estimate"
    late = few.assign(Fraude=np.where(np.arange(60) >= 54, "Oui", "Non"))
    late.to_csv(tmp_path / "few.csv", index=False)
    result = rarefind(*asked, "--model", "gamma-knn", "--json", "-o", model)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["estimate"] is None
    assert found["no_estimate_because"].startswith(
        "With the last quarter of the rows held out, 0 rows with Fraude = Oui and"
    )


def test_trials_give_the_same_list_on_any_number_of_cores(rarefind, files, tmp_path):
    lists = []
    for jobs in (1, 2):
        model, listed = tmp_path / f"{jobs}.rarefind", tmp_path / f"{jobs}.csv"
        fitted = rarefind(
            *("fit", files.known, "--target", "false", "--id", "claim", "--time", "day"),
            *("--budget", "20", "--trials", "1", "--jobs", jobs, "-q", "-o", model),
        )
        assert fitted.returncode == 0, fitted.stderr
        assert rarefind("rank", model, files.new, "--budget", "20", "-o", listed).returncode == 0
        lists.append(listed.read_text())
    assert lists[0] == lists[1]


def test_a_time_limit_is_kept(files, tmp_path, clock):
    clock.tick = 0.002
    began = clock.now
    result = CliRunner().invoke(
        app,
        [
            *("fit", str(files.known), "--target", "false", "--time", "day", "--id", "claim"),
            *("--budget", "20", "--time-limit", "12s", "--jobs", "1", "--json"),
            *("-o", str(tmp_path / "model.rarefind")),
        ],
    )
    assert result.exit_code == 0, result.output
    assert 3 < clock.now - began < 12
    found = json.loads(result.stdout)
    assert found["estimator"] == "AutoClassifier"
    assert found["leaderboard"]
    assert found["estimate"]["hits"]["value"] > found["estimate"]["random_hits"]
