"""The list of a file: the library's own, with reasons, in any format."""

import json

import pandas as pd
import pytest

from rarefind import load
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
