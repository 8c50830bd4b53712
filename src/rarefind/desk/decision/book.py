"""The rules of a desk: those that deny, those that raise an alert, and those only watched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from rarefind.rules import Rule
from rarefind.rules.rule_set import RuleSet

# What a rule raises on a record that it cannot be run on; a RuleError is a ValueError.
_FAILURES = (KeyError, TypeError, ValueError, ArithmeticError)


class RuleBook:
    """Rules in force at one time; a change makes another book.

    Parameters
    ----------
    blocking, scoring, shadow : iterable of Rule
        Rules that deny, that raise an alert, and that are only watched. Names differ.

    Attributes
    ----------
    digest : str
        Of all rules and their roles; empty where there are none.
    failures : Counter
        How often a rule could not be run on a transaction, by its name; it was skipped then.
    """

    def __init__(
        self,
        blocking: Iterable[Rule] = (),
        scoring: Iterable[Rule] = (),
        shadow: Iterable[Rule] = (),
    ) -> None:
        self.blocking, self.scoring, self.shadow = tuple(blocking), tuple(scoring), tuple(shadow)
        RuleSet([*self.blocking, *self.scoring, *self.shadow])  # no two have one name
        self.failures: Counter[str] = Counter()
        self.digest = self._digest()

    def fire(self, rules: Sequence[Rule], record: Mapping[str, Any]) -> list[Rule]:
        """Return the rules that hold for a record; one that cannot be run is counted, no more."""
        found = []
        for rule in rules:
            try:
                if rule.run(record) is True:
                    found.append(rule)
            except _FAILURES:
                self.failures[rule.name] += 1
        return found

    def _digest(self) -> str:
        roles = (("block", self.blocking), ("score", self.scoring), ("shadow", self.shadow))
        lines = [
            repr((role, rule.name, rule.text, sorted(rule.constants.items()), rule.weight))
            + (repr(rule.lists) if rule.lists else "")
            for role, rules in roles
            for rule in rules
        ]
        return blake2b("\n".join(lines).encode(), digest_size=32).hexdigest() if lines else ""
