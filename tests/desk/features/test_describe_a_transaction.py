import numpy as np

from rarefind.desk import Schema
from rarefind.desk.features import FeatureState
from rarefind.desk.records import Transaction

DAY = 86_400 * 10**9
START = 1_772_323_200 * 10**9

SCHEMA = Schema.from_text(
    """
name = "cards"
[transaction]
id = "id"
time = "time"
amount = "amount"
[transaction.columns]
country = "text"
[entities.card]
column = "card"
windows = ["1D", "7D"]
distinct = ["terminal", "country"]
[entities.terminal]
column = "terminal"
windows = ["1D", "7D"]
risk = true
[labels]
delay = "2D"
[alerts]
entity = "card"
"""
)


def payment(n, days, amount, card="c1", terminal="t1", country="FR"):
    values = {"card": card, "terminal": terminal, "country": country}
    time = START + int(days * DAY)
    return Transaction(f"{n}", time, amount, (card, terminal), values, True, b"")


def described(state, transaction):
    return dict(zip(state.names, state.describe(transaction).tolist(), strict=True))


def test_a_transaction_is_described_by_those_before_it():
    state = FeatureState(SCHEMA)
    state.add(payment(1, 0, 1_000))
    state.add(payment(2, 2, 2_000, terminal="t2", country=None))
    found = described(state, payment(3, 2.5, 6_000))
    assert found["card_count_1D"] == 2
    assert found["card_mean_7D"] == 30
    assert found["card_max_7D"] == found["amount"] == 60
    assert found["card_mean_last_5"] == 30
    assert found["amount_to_card_mean"] == 4
    assert found["card_since_last"] == 43_200
    assert found["card_distinct_terminal_7D"] == 2
    assert found["card_distinct_country_7D"] == 1
    assert found["terminal_count_7D"] == 2


def test_a_late_transaction_is_described_by_its_own_time():
    state = FeatureState(SCHEMA)
    state.add(payment(1, 0, 1_000))
    state.add(payment(2, 3, 2_000))
    found = described(state, payment(3, 1, 3_000))
    assert found["card_count_7D"] == 2
    assert found["card_since_last"] == 86_400
    state.add(payment(3, 1, 3_000))
    assert described(state, payment(4, 3, 1))["card_count_7D"] == 4


def test_a_label_counts_when_it_is_known_and_ripe():
    state = FeatureState(SCHEMA)
    first = payment(1, 0, 1_000)
    state.add(first)
    state.add(payment(2, 0.5, 1_000))
    now = payment(3, 3, 1_000, card="c2")
    assert described(state, now)["terminal_risk_7D"] == 0
    first_label = state.add_label("1", first.entities, first.time, True)
    assert described(state, now)["terminal_risk_7D"] == 0.5
    assert described(state, payment(4, 1, 1))["terminal_risk_7D"] == 0, "too young by its own time"
    second_label = state.add_label("1", first.entities, first.time, True)
    assert described(state, now)["terminal_fraud_count_7D"] == 1, "told twice, counted once"
    state.undo(second_label)
    assert described(state, now)["terminal_risk_7D"] == 0.5
    state.undo(first_label)
    assert described(state, now)["terminal_risk_7D"] == 0


def test_what_could_not_be_stored_is_taken_back():
    state = FeatureState(SCHEMA)
    state.add(payment(1, 0, 1_000))
    now = payment(4, 1, 700)
    before, newest = state.describe(now), state.newest
    done = [state.add(payment(n, 3 - n, 10**n, terminal="t9")) for n in (2, 3)]
    assert not np.array_equal(state.describe(now), before)
    for undo in reversed(done):
        state.undo(undo)
    np.testing.assert_array_equal(state.describe(now), before)
    assert state.newest == newest
