"""What experts have saved decides: the rule of a card processor, with lists and time of day."""

import json

from desk.decision.test_decide import NOON, SCHEMA, SENT, MemoryLedger, sent

from rarefind.desk import Schema
from rarefind.desk.clock import ManualClock
from rarefind.desk.control import Control
from rarefind.desk.database import SqliteDatabase
from rarefind.desk.decision import Decider
from rarefind.desk.features import FeatureState
from rarefind.desk.intake import Intake
from rarefind.desk.records import Answer

# if trx_amount > 5 × mean_cardholder_amount and trx_country ≠ cardholder_country and not is_ecom
THE_RULE = "amount > 5 * card_mean_30D and country != card_country and not ecommerce"


def running(tmp_path):
    clock = ManualClock(NOON)
    control = Control(SqliteDatabase(tmp_path / "desk.db"), SCHEMA, tmp_path, clock)
    return control, Decider(FeatureState(SCHEMA), MemoryLedger(), secret=b"s", clock=clock)


def use(control, decider):
    found = control.in_force()
    decider.rules, decider.blocked, decider.model = found.rules, found.blocked, found.model


def test_the_rule_of_a_card_processor_denies_by_its_name(tmp_path):
    control, decider = running(tmp_path)
    control.rules.save("far from home", THE_RULE, "ann", role="blocking")
    control.rules.save("large", "amount > 500", "ann", role="scoring", weight=2)
    use(control, decider)
    for i in range(9):
        assert decider.decide([sent(f"a{i}")])[0].decision == "accept"
    denied, alone, home = decider.decide(
        [
            sent("b", amount=1000),
            sent("c", amount=1000, ecommerce=True),
            sent("d", amount=1000, country="FR"),
        ]
    )
    # What raises alerts is not touched by what denies.
    assert denied == Answer("b", "deny", "far from home", None, "risk")
    assert (alone.decision, alone.alert, home.decision) == ("accept", "risk", "accept")
    outcome = decider.ledger.rows[9].outcome
    assert (outcome.rules, outcome.priority, outcome.model) == (("far from home", "large"), 2, "")
    control.rules.set_role("far from home", "shadow", "ann")
    use(control, decider)
    watched = sent("e", amount=9000)
    assert decider.decide([watched])[0].decision == "accept"
    assert decider.ledger.rows[-1].outcome.rules == ("large", "far from home")


def test_a_rule_asks_a_list_and_the_list_changes(tmp_path):
    control, decider = running(tmp_path)
    control.lists.save("risky", ["XX"], "ann")
    control.rules.save("risky", "upper(country) in list('risky')", "ann", role="blocking")
    use(control, decider)
    assert [each.by for each in decider.decide([sent("1"), sent("2", country="xx")])] == [
        *("", "risky"),
    ]
    digest = decider.rules.digest
    control.lists.add("risky", ["US"], "bob")
    use(control, decider)
    assert decider.decide([sent("3")])[0].by == "risky"
    assert decider.rules.digest != digest  # a decision can be traced to the list of its time


def test_a_rule_asks_the_clock_of_the_desk(tmp_path):
    # Half past midnight in Paris, where the desk is, and Sunday by then.
    schema = Schema.from_text(
        SCHEMA.to_text().replace("[transaction]", '[transaction]\ntime_zone = "Europe/Paris"')
    )
    clock = ManualClock(NOON)
    control = Control(SqliteDatabase(tmp_path / "desk.db"), schema, tmp_path, clock)
    decider = Decider(FeatureState(schema), MemoryLedger(), secret=b"s", clock=clock)
    control.rules.save("night", "hour(time) < 5 and weekday(time) = 7", "ann", role="blocking")
    control.rules.save("feature", "hour < 5 and weekend = 1", "ann", role="shadow")
    use(control, decider)
    early = json.dumps(SENT | {"id": "1", "time": "2026-01-31T23:30:00Z"}).encode()
    late = json.dumps(SENT | {"id": "2", "time": "2026-02-01T12:00:00+01:00"}).encode()
    intake = Intake(schema)
    (one,) = decider.decide(intake.decode(early).transactions)
    (other,) = decider.decide(intake.decode(late).transactions)
    assert (one.by, other.by) == ("night", "")
    assert decider.ledger.rows[0].outcome.rules == ("night", "feature")


def test_a_blocked_card_is_refused_until_the_block_is_lifted(tmp_path):
    control, decider = running(tmp_path)
    block = control.blocks.ask("c1", "ann")
    use(control, decider)
    assert [each.by for each in decider.decide([sent("1"), sent("2", card="c2")])] == [
        *("blocked", ""),
    ]
    control.blocks.lift(block.id, "ann")
    use(control, decider)
    assert decider.decide([sent("3")])[0].decision == "accept"
