"""One row's reason, by name and by number, told and drawn."""

import json

import pytest

from rarefind import load
from rarefind.data import read_table


def test_by_name_and_by_number_it_is_the_same_row(rarefind, files):
    model = load(files.model)
    table = read_table(files.new, like=model.types_)
    number = int(model.priority(table).argmax())
    name = table["claim"].iloc[number]
    told = []
    for which in (("--id", name), ("--row", number + 2)):
        result = rarefind("explain", files.model, files.new, *which, "--json")
        assert result.returncode == 0, result.stderr
        told.append(json.loads(result.stdout))
    assert told[0] == told[1]
    (reason,) = model.explain(table.iloc[[number]])
    assert told[0]["reason"] == str(reason)
    assert told[0]["row"] == number + 2, "the line of the file"
    assert told[0]["claim"] == name
    assert told[0]["score"] == reason.score
    assert told[0]["alert"]
    assert [s["name"] for s in told[0]["similar"]] == [s.name for s in reason.similar]


def test_people_read_bars_and_similar_cases(installed, files):
    result = installed("explain", files.model, files.new, "--row", 5)
    assert result.returncode == 0, result.stderr
    assert "C3 (row 5): score" in result.stdout
    assert "%" in result.stdout
    assert "Most like these known positives:" in result.stdout


@pytest.mark.parametrize(("kind", "mark"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_a_picture_is_drawn(rarefind, files, tmp_path, kind, mark):
    path = tmp_path / f"reason.{kind}"
    result = rarefind("explain", files.model, files.new, "--row", 5, "--picture", path)
    assert result.returncode == 0, result.stderr
    assert path.read_bytes().startswith(mark)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_of_rows_of_one_name_the_highest_is_told(rarefind, files, tmp_path):
    model = load(files.model)
    table = read_table(files.new, like=model.types_).assign(claim="twice")
    table.to_csv(tmp_path / "twice.csv", index=False)
    result = rarefind("explain", files.model, tmp_path / "twice.csv", "--id", "twice")
    assert f"{len(table)} rows have the identifier twice" in result.stdout
    assert f"twice (row {int(model.priority(table).argmax()) + 2}):" in result.stdout
