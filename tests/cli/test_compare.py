"""Models and rules on the same held-out rows."""

import json

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
