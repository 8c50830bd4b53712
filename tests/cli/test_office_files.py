"""A day with files as offices have them: from the fit to the list and back."""

import json

import pandas as pd
import pytest

from rarefind.data import read_table

FIT = ("--target", "false", "--budget", "20", "--model", "gamma-knn", "--json")


def french(value):
    return f"{value:,.2f}".replace(",", "\u00a0").replace(".", ",") + " €"


def as_an_office_writes(table):
    days = pd.to_datetime(table["day"]).dt.strftime("%d/%m/%Y")
    amounts = table["amount"].map(french)
    return table.assign(day=days, amount=amounts, age=table["age"].map("{:.0f} %".format))


@pytest.fixture(scope="module")
def office(files, rarefind, tmp_path_factory):
    """The files of the other tests with titles, semicolons, commas, blank and odd labels."""
    folder = tmp_path_factory.mktemp("office")
    known = as_an_office_writes(pd.read_csv(files.known)).replace("nan %", "")
    labels = known["false"].replace({"yes": "Oui", "no": "Non"}).astype(object)
    labels[labels[labels == "Oui"].index[:3]] = "OUI"
    labels.iloc[:7] = None
    text = known.assign(false=labels).to_csv(sep=";", index=False, lineterminator="\r\n")
    (folder / "known.csv").write_text("Export;;;;;;\r\n;;;;;;\r\n" + text, "cp1252", newline="")
    new = as_an_office_writes(pd.read_csv(files.new)).replace("nan %", "")
    new.rename(columns=str.upper).to_csv(
        folder / "new.csv", sep=";", index=False, encoding="cp1252"
    )
    pd.read_csv(files.new, parse_dates=["day"]).to_excel(
        folder / "new.xlsx", index=False, sheet_name="Mars"
    )
    columns = ("--time", "day", "--id", "claim", "--entity", "customer", "--amount", "amount")
    fitted = rarefind("fit", "known.csv", *FIT, *columns, "-o", "m.rarefind", cwd=folder)
    assert fitted.returncode == 0, fitted.stderr
    return folder, fitted


def test_the_fit_says_what_it_made_of_the_file(office, files):
    _, fitted = office
    notes = fitted.stderr.splitlines()
    assert len(notes) == 3
    assert "known.csv: the first line is a title, and line 3 has the names" in notes[0]
    assert "7 of 900 rows have no label in 'false' and are left out" in notes[1]
    assert "Labels of 'false' are read as one: 'OUI' as 'Oui'" in notes[2]
    card, plain = json.loads(fitted.stdout)["card"], files.fitted["card"]
    assert card["rows"] == 893
    assert card["positive"] == "Oui"
    assert card["used"] == plain["used"]


def test_the_list_of_text_and_of_a_sheet_is_the_same(office, rarefind):
    folder, _ = office
    found = []
    for name, options in (("new.csv", ()), ("new.xlsx", ("--sheet", "Mars"))):
        asked = ("rank", "m.rarefind", name, "-k", "5", "--json", *options)
        result = rarefind(*asked, cwd=folder)
        assert result.returncode == 0, result.stderr
        found.append(json.loads(result.stdout)["list"])
    assert found[0] == found[1]
    lines = (folder / "new.csv").read_text("cp1252").splitlines()
    for row in found[0]:
        assert lines[row["row"] - 1].startswith(row["claim"] + ";"), "the line of the file"


def test_the_list_opens_in_excel_and_comes_back(office, rarefind):
    folder, _ = office
    asked = ("rank", "m.rarefind", "new.csv", "-k", "5", "--for", "excel", "-o", "list.csv")
    assert rarefind(*asked, cwd=folder).returncode == 0
    text = (folder / "list.csv").read_bytes()
    assert text.startswith(b"\xef\xbb\xbfrank;row;claim;")
    assert read_table(folder / "list.csv")["amount"].dtype == "float64"
    assert rarefind(*asked[:5], "-o", "list.xlsx", cwd=folder).returncode == 0
    a, b = (read_table(folder / f"list.{kind}") for kind in ("csv", "xlsx"))
    assert a["claim"].tolist() == b["claim"].tolist()
    assert b["priority"].tolist() == pytest.approx(a["priority"].tolist(), rel=1e-14)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--unlabelled", "error"), "has no label in 7 of 900 rows: fill them in, or leave"),
        (("--unlabelled", "maybe"), "--unlabelled is drop or error, not 'maybe'"),
        (("--date-format", "DD/MM"), "'DD/MM' is not a date format: write one as %d/%m/%Y"),
        (("--amount", "region"), "Column 'region' of known.csv has 'east' in row 11, which"),
        (("--sheet", "Mars"), "known.csv has no sheets"),
    ],
)
def test_mistakes_are_told_before_learning(office, rarefind, arguments, sentence):
    folder, _ = office
    result = rarefind("fit", "known.csv", *FIT, *arguments, "-o", "no.rarefind", cwd=folder)
    assert result.returncode == 2
    assert sentence in result.stderr
    assert not (folder / "no.rarefind").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--for", "word", "-o", "list.csv"), "There is no --for word"),
        (("--for", "excel"), "is for a list in a .csv"),
        (("--for", "excel", "-o", "list.json"), "is not a .csv"),
        (("--sheet", "Mai"), "new.xlsx has no sheet 'Mai': its sheets are 'Mars'"),
    ],
)
def test_mistakes_of_lists_are_told(office, rarefind, arguments, sentence):
    folder, _ = office
    result = rarefind("rank", "m.rarefind", "new.xlsx", "-k", "5", *arguments, cwd=folder)
    assert result.returncode == 2
    assert sentence in result.stderr


def test_dates_of_the_first_days_need_a_format(rarefind, files, tmp_path):
    known = pd.read_csv(files.known)
    day = pd.to_datetime(known["day"]).dt.day % 12 + 1
    known["day"] = [f"{a:02d}/{b:02d}/2026" for a, b in zip(day, known.index % 12 + 1, strict=True)]
    known.to_csv(tmp_path / "known.csv", index=False)
    asked = ("fit", "known.csv", *FIT, "--time", "day", "-o", "m.rarefind")
    result = rarefind(*asked, cwd=tmp_path)
    assert result.returncode == 2
    assert "could be read day first or month first: say which by a date format" in result.stderr
    result = rarefind(*asked, "--date-format", "%d/%m/%Y", cwd=tmp_path)
    assert result.returncode == 0, result.stderr


def test_a_cut_packed_file_is_told_in_a_sentence(rarefind, files, tmp_path):
    import gzip

    whole = gzip.compress(files.new.read_bytes())
    for name, data in (("cut", whole[:2000]), ("bad", whole[:900] + bytes(90) + whole[990:])):
        (tmp_path / f"{name}.csv.gz").write_bytes(data)
        result = rarefind("rank", files.model, f"{name}.csv.gz", "-k", "5", cwd=tmp_path)
        assert result.returncode == 2
        assert f"{name}.csv.gz is not a complete gzip file" in result.stderr
        assert result.stderr.count("\n") == 1
