"""Rules, blocks, labels and erasures that people decide reach a desk that runs."""

import pytest
from desk.databases import KINDS
from desk_running import new_database, payment, running

from rarefind.desk.database import DatabaseUnavailable
from rarefind.desk.decision import RuleBook
from rarefind.desk.records import LabelEntry
from rarefind.rules import Rule


@pytest.fixture(params=KINDS)
def desk(request, tmp_path, monkeypatch):
    url = new_database() if request.param == "postgresql" else None
    with running(tmp_path / "desk", monkeypatch, url=url) as desk:
        yield desk.start()


def label_rows(desk):
    return [row for row in desk.rows() if isinstance(row, LabelEntry)]


def test_rules_and_blocks_are_in_force_without_a_restart(desk):
    assert desk.post(payment(1)).json()["decision"] == "accept"
    assert desk.notes() == ["There is no model yet: rules alone decide."]
    desk.control.rules.save("large", "amount > 10", role="blocking", person="ann")
    desk.wait_for(lambda: desk.metric("rarefind_revision") == 1)
    assert desk.post(payment(2)).json()["by"] == "large"
    desk.control.blocks.ask("c7", "ann", "confirmed fraud")
    desk.wait_for(lambda: desk.metric("rarefind_revision") == 2)
    assert desk.post(payment(3)).json()["by"] == "blocked"
    assert desk.post(payment(4, card="c8")).json()["by"] == "large"
    first, second, *_ = desk.rows()
    assert first.outcome.rule_book == ""
    assert second.outcome.rule_book


def test_settings_count_without_a_restart_and_after_one(desk):
    desk.post(payment(1))
    settings = desk.control.settings
    settings.change("alerts.budget", 1_000, "ada")
    settings.change("alerts.random_share", 0.9, "ada")
    settings.change("limits.rate", 3, "ada")
    settings.change("retention.days", 60, "ada")
    desk.wait_for(lambda: desk.metric("rarefind_revision") == 4)
    for _ in range(2):
        state = desk.process.decider.state
        assert state.schema == settings.schema()
        assert state.histories.features == settings.schema().features
        assert desk.process.door.limit.rate == 3
        number = len(desk.rows()) + 1
        desk.post(payment(number))
        assert desk.rows()[-1].outcome.propensity == pytest.approx(0.9)
        desk.restart()
    settings.reset("limits.rate", "ada")
    desk.wait_for(lambda: desk.process.door.limit.rate != 3)


def test_a_rule_that_divides_by_zero_does_not_hold(desk):
    desk.control.rules.save("zero", "amount / (amount - amount) > 1", role="blocking", person="ann")
    desk.wait_for(lambda: desk.metric("rarefind_revision") == 1)
    assert desk.post(payment(1)).json()["decision"] == "accept"


def test_a_rule_that_cannot_be_run_is_counted_and_named(desk):
    desk.process.decider.rules = RuleBook(blocking=[Rule("gone > 1", name="old")])
    assert desk.post(payment(1)).json()["decision"] == "accept"
    assert desk.metric("rarefind_rule_errors") == 1
    sentence = "The rule 'old' could not be run on 1 transactions since it was read."
    assert sentence in desk.notes()
    desk.control.rules.save("any", "amount > 10", role="blocking", person="ann")
    desk.wait_for(lambda: desk.metric("rarefind_revision") == 1)
    assert desk.metric("rarefind_rule_errors") == 1, "it is counted from the start"
    assert sentence not in desk.notes()


def test_a_model_that_fails_leaves_the_decision_to_rules(desk):
    class Failing:
        digest, threshold = "m", 0.5

        def score(self, record):
            return record["nothing"]

    desk.process.decider.model = Failing()
    assert desk.post(payment(1)).json() == {
        "id": "p1",
        "decision": "accept",
        "by": "",
        "score": None,
        "alert": "",
    }
    assert desk.metric("rarefind_model_errors") == 1
    assert any("could not score 1 transactions" in each for each in desk.notes())
    desk.process.decider.model.score = lambda record: float("nan")
    assert desk.post(payment(2)).json()["score"] is None
    assert desk.metric("rarefind_model_errors") == 2


def test_labels_reach_the_ledger_once_and_in_their_order(desk):
    desk.post([payment(n) for n in range(3)])
    desk.label(["p1", "p2", "unknown"], "fraud")
    desk.label(["p1"], "unclear", "correction")
    desk.label(["p2"], "genuine", "correction")
    desk.wait_for(lambda: desk.process.decider.ledger.labels_read == 5)
    found = [(each.id, each.fraud, each.source) for each in label_rows(desk)]
    assert found == [
        ("p1", True, "verdict"),
        ("p2", True, "verdict"),
        ("p1", None, "correction"),
        ("p2", False, "correction"),
    ]
    desk.restart()
    desk.label(["p0"], "fraud")
    desk.wait_for(lambda: desk.process.decider.ledger.labels_read == 6)
    assert [each.id for each in label_rows(desk)] == ["p1", "p2", "p1", "p2", "p0"]
    assert desk.verify().is_whole
    assert desk.metric("rarefind_labels_waiting") == 0


def test_a_label_taken_back_is_no_risk_any_more(desk):
    old = payment(1, time="2026-01-29T12:00:00Z")
    desk.post(old)
    for verdict, risk in (("fraud", 1.0), ("unclear", 0.0), ("fraud", 1.0), ("genuine", 0.0)):
        before = desk.process.decider.ledger.labels_read
        desk.label(["p1"], verdict)
        desk.wait_for(lambda before=before: desk.process.decider.ledger.labels_read > before)
        state = desk.process.decider.state
        sent = desk.process.door.intake.decode(
            b'{"id": "x", "time": "2026-01-31T12:00:00Z", '
            b'"amount": 1, "card": "c1", "terminal": "t3"}'
        )
        found = dict(zip(state.names, state.describe(sent.transactions[0]), strict=True))
        assert found["terminal_risk_30D"] == risk


def test_an_order_to_erase_is_carried_out(desk):
    desk.post([payment(n, card="5500-0000-0000-0004") for n in range(3)])
    desk.post([payment(n) for n in range(3, 6)])
    order = desk.control.orders.erase("card", "5500-0000-0000-0004", "ann")
    done = desk.wait_for(
        lambda: (found := desk.control.orders.get(order.id)).state == "done" and found
    )
    assert done.result == {"transactions": 3}
    assert [row.entities for row in desk.rows()] == [()] * 3 + [("c7", "t3")] * 3
    assert desk.verify().erased == 3
    files = [each for each in desk.path.rglob("ledger.db*") if each.is_file()]
    assert b"5500-0000-0000-0004" not in b"".join(each.read_bytes() for each in files)
    assert not list(desk.folder.snapshots.iterdir())


def test_an_erasure_that_was_broken_off_is_finished_after_the_restart(desk):
    desk.post([payment(n, card="c9") for n in range(3)])
    desk.stop()
    order = desk.control.orders.erase("card", "c9", "ann")
    with desk.people as folder:
        folder.open_ledger().erase(0, "c9", by="ann", now=1, limit=2, order=order.id)
    desk.start()
    desk.wait_for(lambda: desk.control.orders.get(order.id).state == "done")
    assert desk.control.orders.get(order.id).result == {"transactions": 3}


def test_a_desk_database_that_is_away_delays_no_payment(desk, monkeypatch):
    desk.control.rules.save("large", "amount > 10", role="blocking", person="ann")
    desk.wait_for(lambda: desk.metric("rarefind_revision") == 1)

    def away(sql, **parameters):
        raise DatabaseUnavailable("desk.db: it is away.")

    monkeypatch.setattr(desk.process.watch._database, "read", away)
    desk.wait_for(lambda: any("cannot be followed now" in each for each in desk.notes()))
    assert desk.post(payment(1)).json()["by"] == "large"
    desk.control.rules.save("large", "amount > 99", role="blocking", person="ann")
    monkeypatch.undo()
    desk.wait_for(lambda: desk.metric("rarefind_revision") == 2)
    assert desk.post(payment(2)).json()["by"] == ""
    desk.wait_for(lambda: not desk.process.watch.trouble)
