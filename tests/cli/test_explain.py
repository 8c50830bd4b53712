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
    model = load(files.model)
    number = int(model.priority(read_table(files.new, like=model.types_)).argmax())
    result = installed("explain", files.model, files.new, "--row", number + 2)
    assert result.returncode == 0, result.stderr
    assert f"C{number} (row {number + 2}): score" in result.stdout
    assert "What raises its score:" in result.stdout
    assert "%" in result.stdout
    assert "Most like these known positives:" in result.stdout


@pytest.fixture(scope="module", params=["metaap", "metaap-forest", "sgbap", "conditions"])
def directed(rarefind, files, tmp_path_factory, request):
    """A model of a kind that knows what lowers a score."""
    path = tmp_path_factory.mktemp(request.param) / "model.rarefind"
    result = rarefind(
        *("fit", files.known, "--target", "false", "--id", "claim", "--drop", "day"),
        *("--model", request.param, "--budget", "20", "-o", path),
    )
    assert result.returncode == 0, result.stderr
    return path


def test_a_row_near_the_bottom_is_not_accused(rarefind, files, directed):
    """It was told the conditions of its leaf as if they spoke for an alert."""
    model = load(directed)
    table = read_table(files.new, like=model.types_)
    lowest = int(model.priority(table).argmin())
    assert model.explain(table.iloc[[lowest]])[0].rank_in_reference < 0.5
    told = rarefind("explain", directed, files.new, "--row", lowest + 2, "--json")
    said = json.loads(told.stdout)
    assert not said["alert"]
    assert said["because"] == []
    # Of a list of conditions none may hold that lowers a score.
    lowers = said["lowers"] != []
    assert lowers or "conditions" in str(directed)
    assert "because" not in said["reason"]
    assert said["reason"].endswith("% of the known rows; nothing speaks for an alert.")
    shown = rarefind("explain", directed, files.new, "--row", lowest + 2).stdout
    assert ": nothing speaks for an alert; probability" in shown
    assert ("What lowers its score:" in shown) == lowers
    assert "raises" not in shown
    assert "Most like" not in shown


def test_what_raises_and_what_lowers_a_score(rarefind, files, directed):
    """A large claim of the south is false more often, a small one of the north is not."""
    model = load(directed)
    table = read_table(files.new, like=model.types_)
    number = int(model.priority(table).argmax())
    told = rarefind("explain", directed, files.new, "--row", number + 2, "--json")
    said = json.loads(told.stdout)
    assert "amount" in {condition["column"] for condition in said["because"]}
    assert not {c["text"] for c in said["because"]} & {c["text"] for c in said["lowers"]}
    mixed = table.iloc[[number]].assign(region="north")
    for reason in model.explain(mixed):
        lowering = {condition.feature for condition in reason.lowering}
        down = {name for name, added in reason.contributions.items() if added < 0}
        assert "amount" not in lowering | down


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
