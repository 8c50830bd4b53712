"""What a terminal would act on is written out."""

import pytest

from rarefind._core.text import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain — Île-de-France €", "plain — Île-de-France €"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("a\rb\nc\td", "a\\rb\\nc\\td"),
        ("\x9b31m", "\\x9b31m"),
        ("safe\u202eexe.fdp", "safe\\u202eexe.fdp"),
        ("\ud800", "\\ud800"),
        (12.5, "12.5"),
    ],
)
def test_hidden_characters_are_written_out(text, shown):
    assert visible(text) == shown


def test_new_lines_of_our_own_stay():
    assert visible("a\n\x1b[0m", keep="\n") == "a\n\\x1b[0m"
