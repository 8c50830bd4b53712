"""A transaction is decided in one order, stored, and taken back when it cannot be stored."""

import json

import pytest

from rarefind.desk import Schema
from rarefind.desk.clock import ManualClock
from rarefind.desk.decision import Decider, RandomShare, RuleBook
from rarefind.desk.features import FeatureState
from rarefind.desk.intake import Intake
from rarefind.desk.ledger import LedgerUnavailable, LedgerUnknown, Position
from rarefind.desk.records import Answer, Entry, Refusal
from rarefind.rules import Rule

SCHEMA = Schema.from_text(
    """
name = "cards"
[transaction]
id = "id"
time = "time"
amount = "amount"
outcome = "checked"
[transaction.columns]
country = "text"
card_country = "text"
ecommerce = "boolean"
[entities.card]
column = "card"
[entities.terminal]
column = "terminal"
risk = true
[alerts]
entity = "card"
random_share = 0.0
"""
)
INTAKE = Intake(SCHEMA)
NOON = 1_769_860_800 * 10**9  # 2026-01-31T12:00:00Z
SENT = {
    "time": "2026-01-31T12:00:00Z",
    "amount": 10,
    "card": "c1",
    "terminal": "t1",
    "checked": "accepted",
    "country": "US",
    "card_country": "FR",
    "ecommerce": False,
}


class MemoryLedger:
    """A ledger in a list, which can be told to fail."""

    def __init__(self):
        self.rows, self.fails = [], None

    @property
    def last(self):
        return Position(len(self.rows), b"")

    def append(self, entries, labels=(), *, labels_read=None):
        if self.fails is LedgerUnknown:
            self.rows += [*entries, *labels]
        if self.fails:
            raise self.fails("gone")
        self.rows += [*entries, *labels]

    def recover(self):
        return self.last

    def find(self, ids):
        return {r.id: r for r in self.rows if isinstance(r, Entry) and r.id in ids}

    def read(self, after, limit):
        return self.rows[after : after + limit]


def desk(ledger=None):
    clock = ManualClock(NOON)
    return Decider(FeatureState(SCHEMA), ledger or MemoryLedger(), secret=b"s", clock=clock)


def sent(id, **changes):
    return INTAKE.decode(json.dumps({"id": id} | SENT | changes).encode()).transactions[0]


class Constant:
    digest, threshold = "m", 0.5

    def __init__(self, value):
        self.value = value

    def score(self, record):
        return self.value(record) if callable(self.value) else self.value


def test_the_rule_of_the_thesis_denies():
    decider = desk()
    text = "amount > 5 * card_mean_30D and country != card_country and not ecommerce"
    decider.rules = RuleBook(blocking=[Rule(text, name="abroad")])
    for i in range(9):
        assert decider.decide([sent(f"a{i}")])[0].decision == "accept"
    assert decider.decide([sent("b", amount=1000)]) == [Answer("b", "deny", "abroad", None, "")]
    assert decider.decide([sent("c", amount=1000, ecommerce=True)])[0].decision == "accept"
    assert [row.sequence for row in decider.ledger.rows] == list(range(1, 12))


def test_terminal_before_blocked_before_rules_and_all_are_stored():
    decider = desk()
    decider.rules = RuleBook(
        blocking=[Rule("amount > 0", name="any")], shadow=[Rule("true", name="s")]
    )
    decider.blocked = frozenset({"c9"})
    found = decider.decide(
        [sent("1", card="c9", checked="no"), sent("2", card="c9"), sent("3"), sent("4", amount=0)]
    )
    assert [each.by for each in found] == ["terminal", "blocked", "any", ""]
    assert decider.ledger.rows[0].outcome.rules == ("any", "s")
    assert len(decider.ledger.rows) == 4


def test_the_same_again_is_answered_the_same_and_another_is_refused():
    decider = desk()
    first = decider.decide([sent("1"), sent("1")])
    assert first[0] == first[1] == decider.decide([sent("1")])[0]
    assert decider.decide([sent("1", amount=11)])[0].kind == "conflict"
    assert len(decider.ledger.rows) == 1


def test_too_late_and_too_early_are_refused():
    decider = desk()
    decider.decide([sent("1")])
    found = decider.decide(
        [sent("2", time="2026-01-01T00:00:00Z"), sent("3", time="2026-02-03T00:00:00Z")]
    )
    assert [each.kind for each in found] == ["late", "ahead"]
    assert all(isinstance(each, Refusal) and each.where == "time" for each in found)
    assert len(decider.ledger.rows) == 1


def test_scoring_rules_and_the_model_raise_and_never_deny():
    decider = desk()
    decider.rules = RuleBook(scoring=[Rule("amount > 50", name="large", weight=2.0)])
    decider.model = Constant(lambda record: record["amount"] / 100)
    small, middle, large = decider.decide([sent("1"), sent("2", amount=50), sent("3", amount=90)])
    assert [each.alert for each in (small, middle, large)] == ["", "risk", "risk"]
    assert large == Answer("3", "accept", "", 0.9, "risk")
    assert decider.ledger.rows[2].outcome.priority == 2.9


def test_a_rule_or_model_that_fails_is_skipped_and_counted():
    decider = desk()
    decider.rules = RuleBook(
        blocking=[Rule("gone > 1", name="old"), Rule("amount / 0 > 1", name="zero")]
    )
    decider.model = Constant(lambda record: record["gone"])
    assert decider.decide([sent("1")]) == [Answer("1", "accept", "", None, "")]
    assert decider.rules.failures == {"old": 1}
    assert decider.model_failures == 1


def test_what_cannot_be_stored_leaves_no_trace():
    decider, other = desk(), desk()
    decider.decide([sent("1")])
    other.decide([sent("1")])
    decider.ledger.fails = LedgerUnavailable
    with pytest.raises(LedgerUnavailable):
        decider.decide([sent("2"), sent("3")])
    with pytest.raises(LedgerUnavailable):
        decider.add_labels([("1", True, "claim")])
    decider.ledger.fails = None
    decider.decide([sent("4")])
    other.decide([sent("4")])
    assert decider.ledger.rows == other.ledger.rows


def test_a_commit_of_unknown_fate_is_looked_up():
    decider = desk()
    decider.ledger.fails = LedgerUnknown
    assert decider.decide([sent("1")])[0].decision == "accept"
    assert len(decider.ledger.rows) == 1


def test_one_batch_is_prepared_at_a_time():
    decider = desk()
    prepared = decider.prepare([sent("1")])
    with pytest.raises(RuntimeError, match="prepared already"):
        decider.prepare([])
    decider.commit(prepared)
    decider.finish(prepared)
    with pytest.raises(RuntimeError, match="not the one"):
        decider.abort(prepared)


def test_the_random_share_is_drawn_with_its_probability():
    schema = SCHEMA.alerts.__class__("card", budget=20, random_share=0.5)
    share = RandomShare(schema, b"key")
    day = 86_400 * 10**9
    for _ in range(100):
        share.add(0)
    assert share.propensity(day) == 0.1
    drawn = sum(share.is_drawn(str(i), 0.1) for i in range(10_000))
    assert 900 < drawn < 1100
    assert not share.is_drawn("1", 0.0)
    assert share.is_drawn("1", 1.0)
