"""Named lists are kept by people, and asked by rules."""

import pytest

from rarefind.desk.control import ControlError, NotThere
from rarefind.rules import RuleError


def test_a_list_is_made_changed_and_deleted(desk):
    lists = desk.control.lists
    assert lists.save("risky", ["YY", "XX", "YY"], "ann").values == ("XX", "YY")
    desk.clock.advance("1h")
    found = lists.save("risky", ["XX", "ZZ"], "bob")
    assert (found.values, found.person) == (("XX", "ZZ"), "bob")
    assert lists.add("risky", ["ÄÖ", "XX"], "bob").values == ("XX", "ZZ", "ÄÖ")
    assert lists.remove("risky", ["XX", "nothing"], "bob").values == ("ZZ", "ÄÖ")
    assert lists.names() == ["risky"]
    lists.delete("risky", "eve")
    assert (lists.names(), lists.all()) == ([], {})
    with pytest.raises(NotThere, match="There is no list 'risky'"):
        lists.add("risky", ["XX"], "bob")
    assert lists.save("risky", [], "ann").values == ()  # and it can come again, empty


def test_saving_the_same_values_changes_nothing(desk):
    desk.control.lists.save("risky", ["XX"], "ann")
    desk.control.lists.save("risky", ["XX"], "bob")
    assert desk.revision == 1
    assert desk.control.lists.get("risky").person == "ann"


def test_a_list_that_a_rule_asks_is_not_deleted(desk):
    control = desk.control
    control.lists.save("risky", ["XX"], "ann")
    control.rules.save("abroad", "country in list('risky')", "ann", role="blocking")
    with pytest.raises(ControlError, match="The rule 'abroad' asks the list 'risky'"):
        control.lists.delete("risky", "ann")
    control.rules.set_role("abroad", "off", "ann")
    control.lists.delete("risky", "ann")
    with pytest.raises(RuleError, match="There is no list 'risky'"):
        control.rules.set_role("abroad", "blocking", "ann")


def test_values_are_texts_of_some_length(sqlite_desk):
    for value in ("", "x" * 257, "a\0b", 7):
        with pytest.raises(ControlError, match="is not a value of a list"):
            sqlite_desk.control.lists.save("risky", [value], "ann")
    with pytest.raises(ControlError, match="would have 100,001 values"):
        sqlite_desk.control.lists.save("risky", map(str, range(100_001)), "ann")
