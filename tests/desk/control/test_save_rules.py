"""Experts save rules, and what the desk cannot run is refused with a sentence."""

import pytest

from rarefind.desk.control import ControlConflict, ControlError, NotThere
from rarefind.rules import RuleError

THE_RULE = "amount > 5 * card_mean_30D and country != card_country and not ecommerce"


def test_a_rule_has_versions_and_stays_where_it_was(desk):
    rules = desk.control.rules
    first = rules.save("abroad", THE_RULE, "ann")
    rules.save("large", "amount > limit", "ann", constants={"limit": 900}, weight=2)
    desk.clock.advance("1h")
    second = rules.save("abroad", THE_RULE, "bob", role="blocking", note="it is good")
    assert (first.version, first.role, second.version, second.role) == (1, "shadow", 2, "blocking")
    assert [rule.name for rule in rules.all()] == ["abroad", "large"]
    assert rules.history("abroad") == [first, second]
    assert rules.get("large").constants == {"limit": 900}
    third = rules.set_role("abroad", "off", "eve")
    assert (third.version, third.text, third.person) == (3, THE_RULE, "eve")
    assert rules.set_role("abroad", "off", "ann") == third  # once more changes nothing
    assert desk.revision == 4


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("amont > 5", "There is no column 'amont': did you mean 'amount'?"),
        ("card_mean_3D > 5", "There is no column 'card_mean_3D': did you mean 'card_mean_30D'?"),
        ("country in list('riski')", "There is no list 'riski': did you mean 'risky'?"),
        ("country > 5", "The column 'country' holds a text, and a number is needed."),
        ("amount = 'FR'", """A number is needed where the rule has "'FR'", a text."""),
        ("hour(country) < 6", "The column 'country' holds a text, and a time is needed."),
        ("expires > 5", "The column 'expires' holds a time, and a number is needed."),
        ("amount >", "The rule ends too early."),
        ("amount > 5 5", "The rule cannot be read at character 12, '5'."),
        ("lwoer(country) = 'fr'", "There is no function 'lwoer': did you mean 'lower'?"),
        ("amount in list('risky')", """A number is needed where the rule has "'XX'", a text."""),
    ],
)
def test_what_the_desk_cannot_run_is_refused(sqlite_desk, text, sentence):
    sqlite_desk.control.lists.save("risky", ["XX"], "ann")
    with pytest.raises(RuleError) as refused:
        sqlite_desk.control.rules.save("r", text, "ann")
    assert str(refused.value) == sentence
    assert sqlite_desk.control.rules.all() == []


def test_names_roles_and_constants_are_checked(sqlite_desk):
    rules = sqlite_desk.control.rules
    for name in ("", " r", "a\nb", "x" * 201):
        with pytest.raises(ControlError, match="is not a name of a rule"):
            rules.save(name, "amount > 5", "ann")
    with pytest.raises(ControlError, match="give the rule another name"):
        rules.save("blocked", "amount > 5", "ann")
    with pytest.raises(ControlError, match="A role is one of off, shadow"):
        rules.save("r", "amount > 5", "ann", role="deny")
    with pytest.raises(ControlError, match="A weight is a number"):
        rules.save("r", "amount > 5", "ann", weight=float("nan"))
    with pytest.raises(RuleError, match="'amount' is a column: give the constant another name"):
        rules.save("r", "amount > 5", "ann", constants={"amount": 3})
    for constants in ({"limit": "x" * 1_001}, {"limit": "a\0b"}, {"limit": [1]}, {"limit": 1e99}):
        with pytest.raises(RuleError, match="The constant 'limit'"):
            rules.save("r", "country = limit", "ann", constants=constants)
    with pytest.raises(RuleError, match="NUL character"):
        rules.save("r", "country = 'a\0b'", "ann")
    with pytest.raises(NotThere, match="There is no rule 'r'"):
        rules.get("r")


def test_nobody_undoes_the_change_of_another_unseen(desk):
    rules = desk.control.rules
    rules.save("r", "amount > 5", "ann", based_on=0)
    rules.save("r", "amount > 6", "ann", based_on=1)
    with pytest.raises(ControlConflict, match="has version 2 by now, and yours is based on 1"):
        rules.save("r", "amount > 7", "bob", based_on=1)
    assert rules.get("r").text == "amount > 6"
