from rarefind.rules import Condition, Reason, Similar
from rarefind.rules._reason import short


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
