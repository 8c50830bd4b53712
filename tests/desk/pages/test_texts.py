"""Texts: the same keys in every language, each of them used, with the same places to fill."""

import ast
import re
import string
from pathlib import Path

import pytest

import rarefind.desk.pages as room
from rarefind.desk.pages.texts import LOCALES, choose_language, texts_in
from rarefind.desk.people import LANGUAGES, PeopleError

FOLDER = Path(room.__file__).parent
TEMPLATES = sorted((FOLDER / "templates").glob("*.html"))
MODULES = sorted(FOLDER.glob("*.py"))
ENGLISH = texts_in("en")


def forms(text):
    return [text] if isinstance(text, str) else list(text.values())


def places(text):
    return {name for form in forms(text) for _, name, _, _ in string.Formatter().parse(form)} - {
        None
    }


def said():
    """All texts in quotation marks of templates and pages: whole, and the beginnings of keys."""
    whole, begun = set(), set()
    for path in TEMPLATES:
        text = path.read_text(encoding="utf-8")
        whole |= set(re.findall(r'"([\w.]+)"(?! ~)', text))
        begun |= set(re.findall(r'"([\w.]+[._])" ~', text))
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                begun.add(str(node.values[0].value))
            elif isinstance(node, ast.keyword) and node.arg == "said":
                if isinstance(node.value, ast.Constant):
                    whole.add(f"said.{node.value.value}")
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                whole.add(node.value)
    return whole, {each for each in begun if re.fullmatch(r"[a-z_]+\.[\w.]*|[a-z_]+\.", each)}


@pytest.mark.parametrize("language", [language for language in LOCALES if language != "en"])
def test_every_language_has_the_same_texts_with_the_same_places(language):
    other = texts_in(language)
    assert other.keys() == ENGLISH.keys()
    for key in ENGLISH.keys():  # noqa: SIM118
        assert places(other._texts[key]) == places(ENGLISH._texts[key]), key
        assert type(other._texts[key]) is type(ENGLISH._texts[key]), key


def test_every_text_is_used():
    whole, begun = said()
    begun -= {"said."}
    unused = {
        key for key in ENGLISH.keys() - whole if not any(key.startswith(each) for each in begun)
    }
    assert not unused


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_every_key_of_a_template_is_there_and_no_text_is_written_in_it(path):
    text = path.read_text(encoding="utf-8")
    for key in re.findall(r'\bt\("([\w.]+)"[,)]', text):
        assert key in ENGLISH, key
    text = re.sub(r"\{% block width %\}.*?\{% endblock %\}", "", text)
    bare = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", "", text, flags=re.DOTALL)
    words = set(re.findall(r"[A-Za-zéû]{3,}", bare))
    assert words <= {"rarefind", "doctype", "html"}, words


def test_a_template_has_neither_a_style_nor_a_script_of_its_own():
    for path in TEMPLATES:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\sstyle=|<style|\son\w+=|javascript:|\|safe", text), path.name
        assert not re.search(r"<script(?! src=)", text), path.name


def test_every_error_of_people_has_its_text():
    for kind in PeopleError.kinds():
        assert f"people.error.{kind}" in ENGLISH


def test_the_languages_of_accounts_are_those_of_the_catalogue():
    assert set(LANGUAGES) == {"", *LOCALES}


@pytest.mark.parametrize(
    ("language", "count", "shown"),
    [("en", 1, "1 day"), ("en", 0, "0 days"), ("fr", 0, "0 jour"), ("fr", 1200, "1 200 jours")],
)
def test_numbers_choose_their_form_and_are_written_as_the_language_does(language, count, shown):
    assert texts_in(language)("settings.days", count=count).replace("\u202f", " ") == shown


@pytest.mark.parametrize(
    ("wanted", "accepted", "found"),
    [
        ("fr", "en", "fr"),
        ("", "fr-CA, en;q=0.9", "fr"),
        ("", "de;q=1, en;q=0.2, fr;q=0.4", "fr"),
        ("", "fr;q=0, *", "en"),
        ("", ";;q=x,,", "en"),
        ("de", "", "en"),
    ],
)
def test_the_language_is_that_of_the_account_or_of_the_browser(wanted, accepted, found):
    assert choose_language(wanted, accepted) == found
