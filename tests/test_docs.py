"""What the documents say is there, and runs."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import rarefind

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text(encoding="utf-8")
REFERENCE = (DOCS / "api.rst").read_text(encoding="utf-8")
# The command line has a page of its own, which test_tutorial.py compares with the commands.
ROOMS = sorted(
    f"rarefind.{room.name}"
    for room in pkgutil.iter_modules(rarefind.__path__)
    if not room.name.startswith("_") and room.name != "cli"
)
# Types and lists of names that pages speak of in passing, and need no entry of their own.
_IN_PASSING = {"COUNT_METRIC_NAMES", "REGISTERED_SCORERS", "CountMetric", "DISTANCES", "FORMAT"}


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 90


def test_the_lines_of_the_readme_work_when_pasted(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len([line for line in code.splitlines() if line]) == 5
    exec(code, {"__name__": "__main__"})
    assert capsys.readouterr().out.count("because") == 3


def test_what_commands_print_in_the_readme_is_recorded_in_the_tutorial():
    tutorial = (DOCS / "tutorial.md").read_text(encoding="utf-8").splitlines()
    (block,) = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines():
        if line.startswith("$"):
            begin = line.split(" …")[0]
            assert any(typed.startswith(begin) for typed in tutorial), begin
        else:
            assert line in tutorial, line


def test_pictures_and_pages_named_in_the_readme_are_there():
    named = re.findall(r"\]\(([^)]+)\)", README)
    assert named
    for path in named:
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("name", ROOMS)
def test_everything_public_is_in_the_reference_and_documented(name):
    room = importlib.import_module(name)
    short = name.removeprefix("rarefind.")
    for public in set(room.__all__) - _IN_PASSING:
        entry = f"{short}.{public}"
        assert re.search(rf"^   {entry}$", REFERENCE, re.MULTILINE), entry
        assert getattr(room, public).__doc__


def test_the_reference_names_nothing_else():
    listed = re.findall(r"^   ([a-z]+)\.(\w+)$", REFERENCE, re.MULTILINE)
    assert listed
    for room, name in listed:
        assert name in importlib.import_module(f"rarefind.{room}").__all__, f"{room}.{name}"


@pytest.mark.parametrize(
    "page",
    [DOCS / "start.rst", *sorted((DOCS / "howto").glob("*.rst"))],
    ids=lambda page: page.stem,
)
def test_the_code_of_the_page_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=options)
    assert tried
    assert not failed
    assert "code-block:: python" not in page.read_text(encoding="utf-8"), "code that is not run"


def test_the_glossary_has_the_words_of_the_product():
    page = (DOCS / "glossary.rst").read_text(encoding="utf-8")
    terms = set(re.findall(r"^   (\w.*)$", page, re.MULTILINE))
    words = {"alert", "check", "verdict", "claim", "hit", "budget", "entity", "priority", "reason"}
    words |= {"ripe label", "champion", "challenger", "case", "desk", "ledger"}
    assert terms >= words | {"random share", "propensity"}


def test_every_benchmark_has_a_page_that_is_linked():
    page = (DOCS / "benchmarks.rst").read_text(encoding="utf-8")
    for path in (DOCS / "benchmarks").glob("*.md"):
        assert f"<benchmarks/{path.stem}>\n" in page, path.name
        for result in re.findall(r"results/(\S+\.md)", path.read_text(encoding="utf-8")):
            assert (ROOT / "benchmarks" / "results" / result).exists(), result
