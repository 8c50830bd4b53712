import pytest

from rarefind.rules import Condition, Reason, Similar
from rarefind.rules.reasons import short


def test_a_reason_reads_as_a_sentence():
    reason = Reason(
        1.8,
        0.992,
        [Condition("amount", ">", 220.0), Condition("hour", "≈", 3, "at 3 in the night")],
        [Similar(17, 0.12), Similar(-1, 0.2)],
    )
    assert str(reason) == (
        "Score 1.8, above 99.2 % of the known rows, because amount > 220, at 3 in the night; "
        "most like known positives row 17 (distance 0.12) and a synthetic positive (distance 0.2)."
    )
    assert str(Reason(0.5, None)) == "Score 0.5."
    assert str(Reason(2.5e100, None)) == "Score above all others."


def test_numbers_are_short_and_the_rest_is_as_it_is():
    assert [short(v) for v in (0.123456, 12345.6, 2.5e8, 2e100, "Paris", True)] == [
        "0.123",
        "1.23e+04",
        "250000000",
        "2e+100",
        "Paris",
        "True",
    ]


def test_contributions_do_not_tell_reasons_apart():
    plain = Reason(1.5, 0.9, [Condition("amount", "=", 3.0)])
    full = Reason(1.5, 0.9, [Condition("amount", "=", 3.0)], [], 1.0, {"amount": 0.5})
    assert plain == full
    assert str(plain) == str(full)
    assert plain.base is None
    assert plain.contributions == {}


def test_bars_are_as_long_as_shares_to_an_eighth():
    conditions = [Condition("a", ">", 1, weight=0.7), Condition("share %", "<", 2, weight=0.2625)]
    first, second = Reason(1.0, None, conditions).bars(10).split("\n")
    assert first == "a > 1       " + "███████   " + "  70 %"
    assert second == "share % < 2 " + "██▋       " + "  26 %"


def test_bars_stay_within_their_width():
    conditions = [Condition("a", ">", 1, weight=w) for w in (1.0, 1.0000001, 0.999, 0.0, -0.1)]
    bars = [line[6:9] for line in Reason(1.0, None, conditions).bars(3).split("\n")]
    assert bars == ["███", "███", "███", "   ", "   "]
    assert Reason(1.0, None).bars() == ""
    with pytest.raises(ValueError, match="at least one character wide, not 0"):
        Reason(1.0, None).bars(0)
