"""The list of a file: the library's own, with reasons, in any format."""

import json

import pandas as pd
import pytest

from rarefind import load, save
from rarefind.data import read_table


@pytest.fixture(scope="module")
def listed(installed, files, tmp_path_factory):
    path = tmp_path_factory.mktemp("list") / "list.csv"
    result = installed("rank", files.model, files.new, "--budget", "12", "-o", path)
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"12 rows to check are in {path}.\n"
    assert result.stderr == "", "nobody watches, so no progress is shown"
    return pd.read_csv(path)


def test_the_list_is_that_of_the_library(listed, files):
    model = load(files.model)
    expected = model.rank(read_table(files.new, like=model.types_), 12)
    assert listed["rank"].tolist() == list(range(1, 13))
    assert listed["claim"].tolist() == expected["claim"].tolist()
    assert listed["row"].tolist() == (expected.index + 2).tolist(), "the lines of the file"
    assert listed["priority"].tolist() == expected["priority"].tolist(), "to the last bit"
    assert listed["reason"].tolist() == expected["reason"].tolist()
    assert listed["probability"].is_monotonic_decreasing


def test_the_list_finds_more_than_chance(listed, files):
    false = files.labelled["false"] == "yes"
    assert false.iloc[listed["row"] - 2].mean() > 3 * false.mean()


def test_periods_and_entities(rarefind, files):
    result = rarefind(
        *("rank", files.model, files.new, "--budget", "2", "--per", "week"),
        *("--one-per", "customer", "--no-reasons", "--json"),
    )
    assert result.returncode == 0, result.stderr
    rows = pd.DataFrame(json.loads(result.stdout)["list"])
    assert "reason" not in rows
    assert (rows.groupby("week")["rank"].max() <= 2).all()
    assert not rows.duplicated(["week", "customer"]).any()
    assert rows["week"].nunique() == pd.to_datetime(rows["day"]).dt.to_period("W").nunique() >= 3


def test_other_formats_hold_the_same(rarefind, files, listed, tmp_path):
    for kind, read in ((".parquet", pd.read_parquet), (".json", pd.read_json)):
        path = tmp_path / f"list{kind}"
        assert rarefind("rank", files.model, files.new, "-k", "12", "-o", path).returncode == 0
        assert read(path)["claim"].tolist() == listed["claim"].tolist()


def test_people_see_the_list(rarefind, files, listed):
    result = rarefind("rank", files.model, files.new, "--budget", "3")
    assert result.returncode == 0, result.stderr
    for claim in listed["claim"][:3]:
        assert claim in result.stdout
    assert listed["claim"][3] not in result.stdout
    assert "because" in result.stdout


@pytest.fixture(scope="module")
def fitted_for(rarefind, files, tmp_path_factory):
    """A model that was fitted for 3 checks of each region, one of each customer."""
    path = tmp_path_factory.mktemp("budget") / "model.rarefind"
    result = rarefind(
        *("fit", files.known, "--target", "false", "--time", "day", "--id", "claim"),
        *("--entity", "customer", "--budget", "3", "--per", "region", "--one-per", "customer"),
        *("--model", "gamma-knn", "-o", path),
    )
    assert result.returncode == 0, result.stderr
    return path


def ranked(rarefind, model, data, *options):
    result = rarefind("rank", model, data, *options, "--no-reasons", "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout), result.stderr


def test_the_budget_of_the_fit_is_known(rarefind, files, fitted_for, tmp_path):
    asked = ("--budget", "3", "--per", "region", "--one-per", "customer")
    said, _ = ranked(rarefind, fitted_for, files.new, *asked)
    assert ranked(rarefind, fitted_for, files.new)[0] == said
    assert said["checks"] == 12
    only, _ = ranked(rarefind, fitted_for, files.new, "--budget", "4")
    assert only["checks"] == 4, "a budget that is given stands alone"
    by_week, _ = ranked(rarefind, fitted_for, files.new, "--per", "week")
    assert {row["rank"] for row in by_week["list"]} == {1, 2, 3}
    pd.read_csv(files.new).head(5).to_csv(tmp_path / "five.csv", index=False)
    few, _ = ranked(rarefind, files.model, tmp_path / "five.csv")
    assert few["checks"] == 5, "what a small file cannot fill of the fit's budget is left over"


def test_a_model_without_a_budget_asks_for_one(rarefind, files, tmp_path):
    model = load(files.model)
    model.estimate_ = model.fitted_for_ = None
    rarefind_file = tmp_path / "model.rarefind"
    save(model, rarefind_file)
    result = rarefind("rank", rarefind_file, files.new)
    assert result.returncode == 2
    assert result.stderr == (
        "rarefind: The model was not fitted for a budget: give one (200 checks, or 0.5% of the "
        "rows).\n"
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda t: t.assign(amount=t["amount"] * 100), "amount is above "),
        (lambda t: t.assign(amount=t["amount"] / 1000), "amount is below "),
        (lambda t: t.assign(age=None), "age is missing in 100 % of the rows ("),
        (lambda t: t.assign(region="Nord"), "region is new, or was rare at the fit, in 100 % of"),
    ],
    ids=["cents", "thousands", "empty", "levels"],
)
def test_a_file_unlike_the_fit_is_a_warning(rarefind, files, tmp_path, change, expected):
    change(pd.read_csv(files.new)).to_csv(tmp_path / "new.csv", index=False)
    said, errors = ranked(rarefind, files.model, tmp_path / "new.csv", "--budget", "12")
    assert len(said["warnings"]) == 1
    sentence = said["warnings"][0]
    assert sentence.startswith("The file is unlike the rows of the fit: ")
    assert expected in sentence
    assert errors == f"rarefind: warning: {sentence}\n"
    assert len(said["list"]) == 12, "the list is written all the same"


def test_parts_of_a_file_like_the_fit_are_no_warning(rarefind, files, tmp_path):
    new = pd.read_csv(files.new)
    parts = {"all": new, "south": new[new["region"] == "south"], "few": new.head(8)}
    for name, part in parts.items():
        part.to_csv(tmp_path / f"{name}.csv", index=False)
        said, errors = ranked(rarefind, files.model, tmp_path / f"{name}.csv", "--budget", "2")
        assert (said["warnings"], errors) == ([], ""), name
