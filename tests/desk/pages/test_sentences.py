"""Sentences of the domain in the reader's language: none that reaches a page is forgotten."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import rarefind.desk as desk
from rarefind.desk.pages.sentences import find_sentence, in_language
from rarefind.desk.pages.texts import texts_in

FRENCH = texts_in("fr")
#: Whose errors and sentences are shown on pages.
MODULES = [
    "rarefind.rules._parse",
    "rarefind.rules._kinds",
    "rarefind.rules._functions",
    "rarefind.desk.control._errors",
    "rarefind.desk.control._limits",
    "rarefind.desk.control._rules",
    "rarefind.desk.control._blocks",
    "rarefind.desk.control._approval",
    "rarefind.desk.alerts._cases",
    "rarefind.desk.alerts._notes",
    "rarefind.desk.webhooks._addresses",
    "rarefind.desk.webhooks._endpoints",
    "rarefind.desk.worker._reasons",
    "rarefind.desk.measures._watch",
    "rarefind.desk.measures.proposing",
    "rarefind.data.drift",
    "rarefind.tables._card",
]
#: Said to programs only, or of files that are brought by the command line.
ELSEWHERE = (
    "Standard SQL has no function",
    "A rule is a text, not",
    "The list 'x' is 'x': give numbers",
    "The list 'x' has 'x', no number",
    "There is no webhook",
    # Made of words that are in the catalogue; examples of them are below.
    "The 'x' is 'x'",
    "The events are 'x''x'",
)


def said_in(name):
    """Sentences of a module, with something in their places."""
    path = Path(import_module(name).__file__)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        called = (
            node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        )
        if called.endswith(("Error", "Conflict", "NotThere", "NoSuchCase", "TooFewFrauds")):
            texts = node.args[:1]
        elif isinstance(node, ast.Return) or (
            isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "append"
        ):
            texts = [node.value] if isinstance(node, ast.Return) else node.args
        else:
            continue
        for text in texts:
            if isinstance(text, ast.JoinedStr | ast.Constant):
                sentence = filled(text)
                if sentence.endswith((".", "?")) and " " in sentence:
                    yield sentence


def filled(text):
    if isinstance(text, ast.Constant):
        return str(text.value)
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else "'x'" for part in text.values
    )


@pytest.mark.parametrize("name", MODULES)
def test_every_sentence_of_a_module_is_in_the_catalogue(name):
    said = (
        set(said_in(name)) if name != "rarefind.data.drift" else {"FR: 73 % of rows, 24 % at fit"}
    )
    assert said, "the module says nothing: take it off the list"
    unknown = {
        each
        for each in said
        if find_sentence(FRENCH, each) is None and not each.startswith(ELSEWHERE)
    }
    assert not unknown, "add it to [sentence] of all catalogues"


def test_every_action_of_the_audit_log_is_in_the_catalogue():
    """Actions are texts of two or three small words beside the person who acts."""
    found = set()
    for path in Path(desk.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(getattr(node, "func", None), "attr", "") or getattr(
                getattr(node, "func", None), "id", ""
            )
            if name in (
                "add",
                "record",
                "record_change",
                "_record",
                "_change",
                "_set_password",
                "_add",
            ):
                found |= {
                    each.value
                    for each in node.args
                    if isinstance(each, ast.Constant)
                    and re.fullmatch("[a-z]+( [a-z]+)+", str(each.value))
                }
    assert "make token" in found
    assert not {each for each in found if find_sentence(FRENCH, each) is None}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("The rule has 12,345 characters; at most 10,000 are taken.", "La règle a 12 345 caract"),
        ("A number is needed where the rule has 'country', a text.", "Il faut un nombre là où"),
        (
            "above 0.5 and up to 1: 80 % of rows, under 1 % at fit",
            "plus de 0,5 et jusqu’à 1 : 80 %",
        ),
        ("in March: 80 % of rows, 2 % at fit", "en mars : 80 % des lignes"),
        ("The precision is 0.01 (95 % interval 0.001 to 0.02), below its limit 0.05.", "Précision"),
        ("The events are alert.raised, and not 'x'.", "Les événements sont alert.raised, et non"),
        (
            "labels.delay must be longer than 0, not '-1D'.",
            "labels.delay doit être plus long que 0",
        ),
        ("What nobody has thought of.", "What nobody has thought of."),
    ],
)
def test_a_sentence_keeps_its_values_as_the_language_writes_them(said, told):
    assert in_language(FRENCH, said).replace("\u202f", " ").startswith(told)
    assert in_language(texts_in("en"), said) == said
