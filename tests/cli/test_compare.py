"""Models and rules on the same held-out rows."""

import json
from itertools import chain

import numpy as np
import pytest
from typer.testing import CliRunner

from rarefind._core.deadline import check_time_left, deadline
from rarefind.cli import app
from rarefind.neighbors import ME2Classifier, MLFPClassifier

ROLES = (
    "--target",
    "false",
    "--time",
    "day",
    "--id",
    "claim",
    "--amount",
    "amount",
    "--entity",
    "customer",
)


def test_models_and_rules_stand_side_by_side(installed, files, tmp_path):
    (tmp_path / "desk.rules").write_text(
        "large: amount > 150 and region = 'south'\nold: age > 70\n"
    )
    picture = tmp_path / "compared.svg"
    result = installed(
        *("compare", files.known, *ROLES, "--budget", "20", "--model", "gamma-knn"),
        *("--model", "metaap", "--rules", tmp_path / "desk.rules", "--picture", picture, "--json"),
    )
    assert result.returncode == 0, result.stderr
    models = {each["name"]: each for each in json.loads(result.stdout)["models"]}
    assert set(models) == {"gamma-knn", "metaap", "rules", "plain XGBoost"}
    hits = [each["hits"]["value"] for each in models.values()]
    assert hits == sorted(hits, reverse=True), "the best list first"
    for each in models.values():
        assert each["checks"] == 20
        assert each["random_hits"] < each["hits"]["value"] <= 20
        assert 0 < each["average_precision"] <= 1
        assert each["plain_hits"] == models["plain XGBoost"]["hits"]["value"]
    fitted = files.fitted["estimate"]
    assert models["plain XGBoost"]["hits"]["value"] == fitted["plain_hits"]
    assert picture.read_bytes().startswith(b"<?xml")


def test_people_get_a_table(rarefind, files):
    result = rarefind("compare", files.known, *ROLES, "--budget", "20", "--model", "gamma-knn")
    assert result.returncode == 0, result.stderr
    assert "What 20 checks of" in result.stdout
    assert "in random order" in result.stdout
    assert "average precision" in result.stdout
    assert "gamma-knn" in result.stdout


def test_what_is_not_done_in_time_is_said(rarefind, files):
    result = rarefind(
        *("compare", files.known, *ROLES, "--budget", "20", "--model", "nlb"),
        *("--time-limit", "0.01s"),
    )
    assert result.returncode == 2
    assert result.stderr == (
        "rarefind: No model was done in time: give more time, or fewer models.\n"
    )


def test_time_is_shared_and_what_is_not_done_is_marked(files, monkeypatch, clock):
    """A slow model left nothing for those after it, and an error of one ended the command."""
    ends = []

    def slow(self, X, y, groups=None):
        ends.append(deadline() - clock.now)
        clock.now += 3e6
        check_time_left(deadline())

    def failing(self, X, y, groups=None):
        np.linalg.inv(np.zeros((2, 2)))

    monkeypatch.setattr(MLFPClassifier, "fit", slow)
    monkeypatch.setattr(ME2Classifier, "fit", failing)
    asked = ["compare", str(files.known), *ROLES, "--budget", "20", "--time-limit", "4000000s"]
    models = [["--model", name] for name in ("me2", "mlfp", "gamma-knn")]
    result = CliRunner().invoke(app, [*asked, *chain(*models)])
    assert result.exit_code == 0, result.output
    assert ends[0] == pytest.approx(2e6, rel=0.1), "half of what is left, with one model to come"
    said = result.stdout
    assert "gamma-knn" in said
    lines = {line.split()[0]: " ".join(line.split()) for line in said.splitlines() if line.strip()}
    assert lines["mlfp"] == "mlfp not done in time"
    assert lines["me2"] == "me2 not done"
    assert "me2: numpy could not learn from these rows." in said
    assert "Singular" not in result.output
