"""From stored rules to a book of rules that run; those that are known are not made again.

A rule takes milliseconds to read, and is read in the process that decides: after a change only what
has changed may cost time there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from rarefind.desk.control._rule_rows import DeskRule
from rarefind.desk.decision import RuleBook
from rarefind.rules import Rule, RuleError

__all__ = ["BookMaker"]

_Key: TypeAlias = tuple[str, int, tuple[tuple[str, int], ...]]


class BookMaker:
    """Makes books of rules.

    Parameters
    ----------
    columns : dict of str to str
        What rules may name, with kinds.
    """

    def __init__(self, columns: Mapping[str, str]) -> None:
        self._columns = columns
        #: Rules by name, version and the versions of their lists, and why others do not run.
        self._known: dict[_Key, Rule | str] = {}
        self._last: tuple[list[_Key], RuleBook, list[str]] | None = None

    def lists_to_read(self, rules: Sequence[DeskRule], versions: Mapping[str, int]) -> set[str]:
        """Return the names of the lists whose values rules need that are not known yet."""
        return {
            name
            for rule in _running(rules)
            if _key(rule, versions) not in self._known
            for name in rule.lists
        }

    def make(
        self,
        rules: Sequence[DeskRule],
        versions: Mapping[str, int],
        lists: Mapping[str, tuple[str, ...]],
    ) -> tuple[RuleBook, list[str]]:
        """Return the book, and a sentence for each rule that does not run.

        The same rules as before are the same book, with the failures that it has counted.
        """
        running = _running(rules)
        keys = [_key(rule, versions) for rule in running]
        if self._last is None or self._last[0] != keys:
            known = {
                key: self._known[key] if key in self._known else self._rule(rule, lists)
                for key, rule in zip(keys, running, strict=True)
            }
            self._known = known
            self._last = keys, *_book(running, list(known.values()))
        _, book, notes = self._last
        return book, list(notes)

    def _rule(self, rule: DeskRule, lists: Mapping[str, tuple[str, ...]]) -> Rule | str:
        try:
            return Rule(
                rule.text,
                name=rule.name,
                columns=self._columns,
                constants=rule.constants,
                lists=lists,
                weight=rule.weight,
            )
        except RuleError as error:
            return f"The rule {rule.name!r} does not run: {error}"


def _running(rules: Sequence[DeskRule]) -> list[DeskRule]:
    return [rule for rule in rules if rule.role != "off"]


def _key(rule: DeskRule, versions: Mapping[str, int]) -> _Key:
    # A version of a rule never changes: its number says all.
    return rule.name, rule.version, tuple((name, versions.get(name, 0)) for name in rule.lists)


def _book(rules: list[DeskRule], made: list[Rule | str]) -> tuple[RuleBook, list[str]]:
    found: dict[str, list[Rule]] = {"blocking": [], "scoring": [], "shadow": []}
    notes: list[str] = []
    for rule, own in zip(rules, made, strict=True):
        if isinstance(own, str):
            notes.append(own)
        else:
            found[rule.role].append(own)
    return RuleBook(**found), notes
