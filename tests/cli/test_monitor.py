"""``rarefind monitor``: what it prints, and what it refuses."""

import hashlib
import io
import json
import sys
import zipfile
from functools import partial

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import rarefind
from rarefind import TableModel
from rarefind.cli import app, main
from rarefind.data import read_table
from rarefind.neighbors import GammaKNNClassifier


def payments(rng, n):
    days = pd.to_timedelta(np.arange(n) * 21 // n, unit="D")
    table = pd.DataFrame(
        {
            "amount": rng.normal(size=n).round(3),
            "age[y]": rng.integers(18, 90, n),
            "country": rng.choice(["FR", "BE"], n),
            "when": pd.Timestamp("2026-01-05") + days,
            **{f"other{i}": rng.normal(size=n).round(3) for i in range(15)},
        }
    )
    table["fraud"] = np.where(table["amount"] + 0.1 * rng.normal(size=n) > 1.8, "yes", "no")
    return table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("monitor")
    rng = np.random.default_rng(0)
    payments(rng, 800).to_csv(folder / "train.csv", index=False)
    estimator = GammaKNNClassifier(k=1, random_state=0)
    model = TableModel(estimator, target="fraud", time="when").fit(read_table(folder / "train.csv"))
    rarefind.save(model, folder / "model.rarefind")
    new = payments(rng, 600)
    new.to_csv(folder / "new.csv", index=False)
    new.to_parquet(folder / "new.parquet")
    listed = model.rank(new, 40, reasons=False).index
    verdict = pd.Series("no", index=listed).reindex(new.index)
    checked = new.drop(columns="fraud").assign(verdict=verdict)
    checked.to_csv(folder / "checked.csv", index=False)
    new.assign(amount=new["amount"] + 5).drop(columns="fraud").to_csv(
        folder / "moved.csv", index=False
    )
    return folder


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.chdir(folder)

    def run(*arguments):
        result = CliRunner().invoke(app, ["monitor", *map(str, arguments)])
        assert result.exit_code == 0, result.output
        assert result.stderr == "" or "-v" in arguments
        return result.stdout

    return run


@pytest.fixture
def refused(folder, monkeypatch, capsys):
    """Run a command that fails, and give the one line it says why in."""
    monkeypatch.chdir(folder)

    def refused(*arguments):
        monkeypatch.setattr(sys, "argv", ["rarefind", "monitor", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        (line,) = printed.err.splitlines()
        return line

    return refused


def test_a_model_that_is_kept(run):
    said = run("model.rarefind", "new.csv", "--budget", "20")
    assert said.startswith("keep: 600 rows\n")
    assert "None of 18 columns changed." in said
    assert "Of 20 rows on the list 20 have a verdict" in said
    assert "… 3 columns more" in said
    assert "2026-01-12" in said
    whole = run("model.rarefind", "new.csv", "--budget", "20", "-v")
    assert "columns more" not in whole
    assert all(name in whole for name in ("age[y]", "country", "other14"))
    assert run("model.rarefind", "new.csv", "-q") == "keep\n"


def test_a_list_without_hits(run):
    said = run("model.rarefind", "checked.csv", "--verdicts", "verdict", "--budget", "40")
    assert said.startswith("retrain: ")
    assert "Of 40 rows on the list 40 have a verdict and 0 are hits" in said
    assert "560 of 600 rows have no verdict" in " ".join(said.split())


def test_columns_that_changed_come_first(run):
    said = run("model.rarefind", "moved.csv")
    rows = [line for line in said.splitlines() if line.startswith(("amount ", "age[y] "))]
    assert rows[0].startswith("amount ")
    assert "changed" in rows[0]
    assert "above " in rows[0]


def test_json_has_everything(run):
    found = json.loads(run("model.rarefind", "new.parquet", "--budget", "20", "--json"))
    assert set(found) == {
        "rows",
        "verdict",
        "because",
        "notes",
        "columns",
        "score",
        "list",
        "weeks",
    }
    assert found["verdict"] == "keep"
    assert len(found["columns"]) == 18
    assert set(found["columns"][0]) == {
        "column",
        "drift",
        "noise",
        "missing_before",
        "missing_now",
        "new_levels",
        "text",
        "verdict",
        "importance",
    }
    assert len(found["weeks"]) == 3
    assert sum(week["rows"] for week in found["weeks"]) == found["rows"] == 600
    assert found["list"]["checked"] == 20
    same = json.loads(run("model.rarefind", "new.csv", "--budget", "20", "--json"))
    assert same == found


def test_bad_files_end_with_one_line(refused, tmp_path, folder):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "ragged.csv").write_text("amount,country\n1,FR\n2\n")
    (tmp_path / "lacking.csv").write_text("amount,country\n1,FR\n2,BE\n")
    (tmp_path / "typed.csv").write_text(
        (folder / "new.csv").read_text().replace("\n-", "\nhigh", 1)
    )
    (tmp_path / "table.xyz").write_text("a")
    assert "There is no file none.rarefind" in refused("none.rarefind", "new.csv")
    assert "There is no file none.csv" in refused("model.rarefind", "none.csv")
    assert "is not a rarefind model file" in refused("new.csv", "new.csv")
    assert "is a folder" in refused("model.rarefind", tmp_path)
    assert "is empty" in refused("model.rarefind", tmp_path / "empty.csv")
    assert "not of a known kind" in refused("model.rarefind", tmp_path / "table.xyz")
    assert "ine 3" in refused("model.rarefind", tmp_path / "ragged.csv")
    lacking = refused("model.rarefind", tmp_path / "lacking.csv")
    assert "'age[y]'" in lacking
    assert "has 'high" in refused("model.rarefind", tmp_path / "typed.csv")
    assert "There is no column 'verdikt'" in refused(
        "model.rarefind", "checked.csv", "--verdicts", "verdikt"
    )
    assert "larger than the file" in refused("model.rarefind", "new.csv", "--budget", "601")
    assert "A budget of 0" in refused("model.rarefind", "new.csv", "--budget", "0")
    assert "'year' is neither a period" in refused(
        "model.rarefind", "new.csv", "--budget", "2", "--per", "year"
    )


def test_bad_models_end_with_one_line(refused, tmp_path, folder):
    content = (folder / "model.rarefind").read_bytes()
    (tmp_path / "cut").write_bytes(content[:-100])
    assert "is damaged" in refused(tmp_path / "cut", "new.csv")
    (tmp_path / "newer").write_bytes(with_format(content, 99))
    assert "Upgrade rarefind" in refused(tmp_path / "newer", "new.csv")
    plain = GammaKNNClassifier(k=1).fit([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])
    rarefind.save(plain, tmp_path / "plain")
    assert "without its table's columns" in refused(tmp_path / "plain", "new.csv")


def with_format(content, number):
    """The model file as a later version would have written it."""
    start = len(b"rarefind\n") + hashlib.sha256().digest_size
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content[start:])) as old, zipfile.ZipFile(packed, "w") as new:
        for name in old.namelist():
            body = old.read(name)
            if name == "manifest.json":
                body = json.dumps({**json.loads(body), "format": number}).encode()
            new.writestr(zipfile.ZipInfo(name), body)
    body = packed.getvalue()
    return b"rarefind\n" + hashlib.sha256(body).digest() + body


def test_the_command_itself(folder, installed, rarefind):
    well = installed("monitor", "model.rarefind", "moved.csv", "--json", cwd=folder)
    assert (well.returncode, well.stderr) == (0, "")
    assert json.loads(well.stdout)["rows"] == 600
    (folder / "ragged.csv").write_text("amount,country\n1,FR\n2\n")
    badly = rarefind("monitor", "model.rarefind", "ragged.csv", cwd=folder)
    assert (badly.returncode, badly.stdout) == (2, "")
    assert badly.stderr.startswith("rarefind: ")
    assert len(badly.stderr.splitlines()) == 1


def test_help_names_every_option():
    said = CliRunner().invoke(app, ["monitor", "--help"], env={"COLUMNS": "200"}).stdout
    for option in (
        "--verdicts",
        "--budget",
        "--per",
        "--one-per",
        "--json",
        "--quiet",
        "--verbose",
        "Example",
    ):
        assert option in said


@pytest.mark.parametrize("kind", ["csv", "excel", "xlsx"])
def test_the_checked_list_comes_back(rarefind, files, tmp_path, kind):
    """As the analyst saved it: with commas, from Excel in French, or as a workbook."""
    path = tmp_path / ("list.xlsx" if kind == "xlsx" else "list.csv")
    ranked = rarefind("rank", files.model, files.new, "--budget", "12", "-o", path)
    assert ranked.returncode == 0, ranked.stderr
    read = partial(pd.read_excel, engine="openpyxl") if kind == "xlsx" else pd.read_csv
    listed = read(path)
    truth = files.labelled.set_index("claim")["false"]
    verdict = listed["claim"].map(truth).where(listed["rank"] <= 10)
    listed = listed.assign(comment="called", verdict=verdict)
    if kind == "xlsx":
        listed.to_excel(path, index=False)
    elif kind == "excel":
        listed.to_csv(path, index=False, sep=";", decimal=",", encoding="utf-8-sig")
    else:
        listed.to_csv(path, index=False)
    result = rarefind("monitor", files.model, files.new, "--checked", path, "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)["list"]
    hits = int((verdict == "yes").sum())
    assert (found["listed"], found["checked"], found["hits"]) == (12, 10, hits)


def test_a_checked_list_without_identifiers_goes_by_row(rarefind, files, tmp_path):
    model, path = tmp_path / "model.rarefind", tmp_path / "list.csv"
    fitted = rarefind(
        *("fit", files.known, "--target", "false", "--drop", "claim", "--budget", "9"),
        *("--model", "metaap", "-o", model),
    )
    assert fitted.returncode == 0, fitted.stderr
    assert rarefind("rank", model, files.new, "-o", path).returncode == 0
    listed = pd.read_csv(path)
    verdict = files.labelled["false"].iloc[listed["row"] - 2].to_numpy()
    listed.assign(verdict=verdict).to_csv(path, index=False)
    result = rarefind("monitor", model, files.new, "--checked", path, "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)["list"]
    assert (found["listed"], found["checked"]) == (9, 9)
    assert found["hits"] == (verdict == "yes").sum()
    listed.assign(verdict="maybe").to_csv(path, index=False)
    result = rarefind("monitor", model, files.new, "--checked", path)
    assert result.returncode == 2
    assert result.stderr == (
        f"rarefind: The list has the verdict 'maybe' on row {listed['row'][0]}: write yes or no, "
        "or nothing where the row was not checked.\n"
    )
