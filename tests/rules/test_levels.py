import pytest

from rarefind.rules import Condition, Reason
from rarefind.rules.levels import in_levels

LEVELS = {"city": ["Lyon", "Nice", "Paris"], "many": [f"c{i}" for i in range(30)]}


def said(op, value, own, feature="city"):
    reason = Reason(1.0, None, [Condition(feature, op, value), Condition("amount", ">", 5.0)])
    found = in_levels(reason, LEVELS, {feature: own})
    assert found.because[1] == reason.because[1]
    return str(found.because[0])


@pytest.mark.parametrize(
    ("op", "value", "own", "text"),
    [
        ("=", 1.0, "Nice", "city = Nice"),
        ("=", 3.0, "Rome", "city = Rome, a new level"),
        ("=", "missing", None, "city = missing"),
        ("in", (1.0,), "Nice", "city = Nice"),
        ("in", (0.0, 2.0), "Lyon", "city in {Lyon, Paris}"),
        ("in or missing", (0.0,), "Lyon", "city = Lyon or missing"),
        ("not in", (0.0,), "Nice", "city not in {Lyon}"),
        (
            "not in or missing or new",
            (0.0, 1.0),
            "Paris",
            "city not in {Lyon, Nice} or missing or new",
        ),
    ],
)
def test_codes_are_said_as_levels(op, value, own, text):
    assert said(op, value, own) == text


def test_of_many_levels_the_rows_own_is_said():
    text = said("in", tuple(map(float, range(30))), "c29", "many")
    assert text.startswith("many in {c29, c0, ")
    assert text.endswith("… 18 more}")
