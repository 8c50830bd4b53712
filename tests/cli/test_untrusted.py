"""Values of a file are printed so that a terminal does not act on them."""

import json

import pandas as pd
import pytest

from rarefind.data import read_table

HIDDEN = "\x1b[2J\x1b]0;title\x07\r\x9b"


@pytest.fixture(scope="module")
def hostile(files, tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "new.csv"
    table = pd.read_csv(files.new)
    table["claim"] = HIDDEN + table["claim"]
    table["region"] = HIDDEN + table["region"].fillna("")
    table.to_csv(path, index=False, lineterminator="\r\n")
    assert read_table(path)["claim"].iloc[0] == (HIDDEN + "C0"), "the file holds them"
    return path


@pytest.mark.parametrize(
    "arguments", [("rank", "--budget", "5"), ("explain", "--row", "5"), ("monitor",)]
)
def test_escape_sequences_do_not_reach_the_terminal(rarefind, files, hostile, arguments):
    result = rarefind(arguments[0], files.model, hostile, *arguments[1:])
    assert result.returncode == 0, result.stderr
    for text in (result.stdout, result.stderr):
        assert not set("\x1b\x07\x9b\r") & set(text)
    if arguments[0] != "monitor":
        assert "\\x1b[2J" in result.stdout


def test_json_has_them_written_out(rarefind, files, tmp_path):
    table = pd.read_csv(files.known)
    table = table.rename(columns={"region": f"region{HIDDEN[-1]}"})
    table.to_csv(tmp_path / "known.csv", index=False)
    model = tmp_path / "model.rarefind"
    fitted = rarefind(
        *("fit", tmp_path / "known.csv", "--target", "false", "--drop", "claim", "-k", "9"),
        *("--model", "gamma-knn", "-q", "-o", model),
    )
    assert fitted.returncode == 0, fitted.stderr
    result = rarefind("monitor", model, tmp_path / "known.csv", "--json")
    assert result.returncode == 0, result.stderr
    assert result.stdout.isascii()
    names = [each["column"] for each in json.loads(result.stdout)["columns"]]
    assert f"region{HIDDEN[-1]}" in names


def test_errors_and_column_names_are_printed_so_too(rarefind, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(f"amount,fr{HIDDEN[:4]}aud\n1,no\n", newline="")
    result = rarefind("fit", path, "--target", "fraud", "-k", "5", "-o", tmp_path / "m.rarefind")
    assert result.returncode == 2
    assert "\x1b" not in result.stderr
    assert "\\x1b" in result.stderr
