"""Words that only we would use stay out of the package and of what its commands print."""

import ast
import io
import re
import tokenize
from collections import defaultdict
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from rarefind.cli import app

SRC = Path(__file__).parents[1] / "src"
FILES = sorted(path for path in SRC.rglob("*") if path.suffix in {".py", ".html", ".css", ".lark"})

# What is not said anywhere, and what to say instead. Spaces stand for any white space, names are
# read word by word: `takes_holes` and `TakesHoles` both say "holes".
ANYWHERE = {
    "holes?": "missing values",
    "(?<!by )(?<!at )(?<!than )(?<!beyond )(?<!beats )chances?": "probability; or 'by chance'",
    "luck|lucky": "by chance, within noise",
    "evidence": "estimate",
    "bought": "estimate",
    "promised?": "estimate",
    "flows?": "stream",
    "teach(es)?|taught": "fit, learn, train",
    "listens?(?! to)": "forward",
    "as everywhere": "see RareClassifier",
    "an other": "another",
    "(?<!there )is no(?! longer| more| less| fewer)": "is not a",
    "holds? no": "has no",
    "makes? do|making do": "within the time limit, best effort",
    "that is not kept": "fewer hits than expected",
    "whose row it is": "entity",
    "what a row is called": "row identifier",
    "moments?(?!\\()": "time, timestamp",  # moments(column) has a mean and a variance
    "stamps?": "timestamp",
}
# What nothing is called; in a sentence these are English.
NAMES = {
    "looks(?! like)": "hold-out",
    "gathered|planned": "hold-out, hold_out()",
    "refuses?": "check_…",
    "let go": "train, update",
    "pace": "StepSize; or the time that a fit takes",
}
# What the title of a thesis says, what files of 0.1.0 call what has another name now, and what
# uvicorn calls what it reads.
QUOTED = (
    "uvicorn.protocols.http.flow_control import FlowControl",
    "(FlowControl)",
    "self.flow",
    "Extremely Imbalanced Data Flows",
    '"Evidence": "budget-estimate"',
    '"chance": "generator"',
    '"_holes": "_has_missing"',
    "Version 1 called the estimate the evidence.",
    '"evidence_"',
)


def words_of(text):
    """The text with the words of its names apart; every line stays where it is."""
    text = re.sub(r"[ \t]*\n[ \t#]*", "\n", text)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).replace("_", " ")


def said(text, table):
    """Where a text says what it should not: (line, what, what instead)."""
    text = words_of(text)
    for pattern, instead in table.items():
        spaced = pattern.replace(" ", r"\s")
        for found in re.finditer(rf"(?<![a-z])(?:{spaced})(?![a-z])", text, re.IGNORECASE):
            yield text[: found.start()].count("\n") + 1, found[0], instead


def names_of(source):
    """The source with all but its names left out; every name stays on its line."""
    lines = defaultdict(list)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME:
            lines[token.start[0]].append(token.string)
    return "\n".join(" . ".join(lines[n]) for n in range(1, max(lines, default=0) + 1))


def as_list(found, where):
    return [f"{where}:{line}: {what!r}: say {instead}" for line, what, instead in sorted(found)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_the_package_speaks_plainly(path):
    text = path.read_text(encoding="utf-8")
    for quoted in QUOTED:
        text = text.replace(quoted, "")
    found = as_list(said(text, ANYWHERE), path)
    if path.suffix == ".py":
        found += as_list(said(names_of(text), NAMES), path)
    found += as_list(said(path.stem, ANYWHERE | NAMES), path)
    assert not found, "\n".join(found)


def commands(command, above=()):
    """Every command, and every group of them, by the words that one types."""
    yield above
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*above, name))


@pytest.mark.parametrize("typed", commands(get_command(app)), ids=" ".join)
def test_the_help_of_every_command_speaks_plainly(typed):
    shown = CliRunner().invoke(app, [*typed, "--help"], env={"COLUMNS": "1000"})
    assert shown.exit_code == 0
    found = as_list(said(shown.stdout, ANYWHERE), " ".join(["rarefind", *typed]))
    assert not found, "\n".join(found)


def test_what_is_quoted_is_still_there():
    texts = [path.read_text(encoding="utf-8") for path in FILES]
    assert [quoted for quoted in QUOTED if not any(quoted in text for text in texts)] == []


def test_functions_are_named_by_what_they_do():
    participles = {"fired", "followed", "gathered", "planned", "told"}
    found = [
        f"{path.relative_to(SRC)}:{node.lineno}: {node.name}"
        for path in SRC.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.strip("_") in participles
    ]
    assert not found


def test_no_two_classes_share_a_name():
    places = defaultdict(list)
    for path in SRC.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path.relative_to(SRC)}:{node.lineno}")
    assert not {name: where for name, where in places.items() if len(where) > 1}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It has holes.", 1),
        ("the whole of it", 0),
        ("takes_holes = TakesHoles", 2),
        ("better than chance, by chance", 0),
        ("the chance of a row", 1),
        ("this is no\n    number", 1),
        ("there is no number, it is no longer one", 0),
        ("overflow of a workflow", 0),
        ("timestamps", 0),
    ],
)
def test_the_words_are_found(text, count):
    assert len(list(said(text, ANYWHERE))) == count
