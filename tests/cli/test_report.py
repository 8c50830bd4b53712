"""``rarefind report``: what it writes and prints, and what it refuses."""

import json
import subprocess
import sys

import pytest
from report_models import Page, check_numbers, fitted, write_files

import rarefind
from rarefind.cli import main
from rarefind.data import read_table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("report")
    write_files(path)
    model = fitted("sgbap", read_table(path / "train.csv"))
    rarefind.save(model, path / "model.rarefind")
    rarefind.save(model.estimator_, path / "bare.rarefind")
    return path


def in_process(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["rarefind", *map(str, arguments)])
    try:
        main()
    except SystemExit as end:
        return end.code or 0
    return 0


def test_the_command_writes_the_page_and_prints_the_figures(folder):
    page = folder / "out" / "page.html"
    page.parent.mkdir()
    files = [str(folder / "model.rarefind"), str(folder / "later.csv")]
    result = subprocess.run(
        [sys.executable, "-m", "rarefind", "report", *files, "-o", str(page), "--json", "-k", "1%"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    figures = json.loads(result.stdout)
    text = page.read_text(encoding="utf-8")
    assert [p.name for p in page.parent.iterdir()] == ["page.html"]
    check_numbers(Page(text), figures)
    assert figures["budget"]["checks"] == 9
    assert figures["card"]["versions"]["rarefind"] == rarefind.__version__
    assert len(figures["model"]["sha256"]) == 64
    assert figures["card"]["kept_out"] == ["secret"]
    assert figures["card"]["left_out"] == {"same": "one value"}


@pytest.mark.parametrize(
    ("model", "data", "options", "message"),
    [
        ("none.rarefind", "later.csv", [], "There is no file"),
        ("model.rarefind", "none.csv", [], "There is no file"),
        ("model.rarefind", ".", [], "is a folder"),
        ("text.rarefind", "later.csv", [], "is not a rarefind model file"),
        ("bare.rarefind", "later.csv", [], "without its table's columns"),
        ("model.rarefind", "text.rarefind", [], "is not of a known kind"),
        ("model.rarefind", "without.csv", [], "amount"),
        ("model.rarefind", "maybe.csv", [], "'maybe' in row 2"),
        ("model.rarefind", "soon.csv", [], "'soon'"),
        ("model.rarefind", "later.csv", ["--budget", "0"], "buys nothing"),
        ("model.rarefind", "later.csv", ["--budget", "901"], "larger than the file"),
        ("model.rarefind", "later.csv", ["--budget", "many"], "not 'many'"),
        ("model.rarefind", "later.csv", ["-o", "nowhere/page.html"], "There is no folder nowhere"),
        ("model.rarefind", "later.csv", ["-o", "later.csv"], "should end in .html"),
        ("model.rarefind", "later.csv", ["-o", "page.pdf"], "should end in .html: a report is a"),
    ],
)
def test_mistakes_end_with_code_2_and_nothing_written(
    folder, monkeypatch, capsys, model, data, options, message
):
    monkeypatch.chdir(folder)
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert in_process(monkeypatch, "report", model, data, *options) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before
