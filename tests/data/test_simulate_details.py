import numpy as np
import pandas as pd
import pytest

from rarefind.data import simulate_transactions

COLUMNS = ["transaction_id", "time", "customer", "terminal", "amount", "fraud", "fraud_kind"]
SIGMAS = 5


@pytest.fixture(scope="module")
def detailed():
    """Ten times the fraud, so that shares of it can be told."""
    return simulate_transactions(1_000, 2_000, 84, fraud_rate=10, details=True)


def is_share(found, share):
    """Whether the share of true values is the expected one, within noise."""
    return abs(found.mean() - share) < SIGMAS * np.sqrt(share * (1 - share) / len(found))


def test_the_columns_of_old_come_first_and_those_of_a_card_processor_after(detailed):
    assert list(detailed)[:7] == COLUMNS
    assert list(detailed)[7:] == [
        "country",
        "card_country",
        "ecommerce",
        "merchant_category",
        "card_type",
        "card_limit",
        "outcome",
        "claimed_at",
    ]
    assert detailed["time"].is_monotonic_increasing
    assert detailed["transaction_id"].tolist() == list(range(len(detailed)))
    np.testing.assert_array_equal(detailed["fraud"], detailed["fraud_kind"] > 0)


def test_without_details_nothing_changes():
    before = simulate_transactions(100, 200, 20, fraud_rate=5)
    assert list(before) == COLUMNS
    # What the version without details made.
    assert (len(before), int(before["fraud"].sum())) == (2419, 144)
    assert before["amount"].sum() == pytest.approx(155551.59)


def test_zero_amounts_are_as_frequent_as_seen(detailed):
    zero = detailed["amount"] == 0
    assert is_share(zero[detailed["fraud"] == 0], 0.03)
    assert is_share(zero[detailed["fraud"] == 1], 0.12)


def test_fraud_is_mostly_online(detailed):
    assert is_share(detailed.loc[detailed["fraud"] == 1, "ecommerce"], 0.9)
    assert detailed.loc[detailed["fraud"] == 0, "ecommerce"].mean() < 0.3


def test_saturdays_are_the_peak_and_sundays_the_low(detailed):
    daily = detailed.groupby(detailed["time"].dt.day_name()).size()
    assert daily.idxmax() == "Saturday"
    assert daily.idxmin() == "Sunday"


def test_half_of_the_payments_with_a_leaked_card_are_tried_before(detailed):
    leaked = detailed[detailed["fraud_kind"] == 3]
    small = (leaked["amount"] > 0) & (leaked["amount"] <= 2)
    # A small payment for each two large ones; some of either are zero.
    assert small.mean() == pytest.approx(1 / 3 * 0.88, abs=0.06)
    tests = leaked[small]
    later = tests.merge(leaked[~small], on=["customer", "terminal"], suffixes=("", "_after"))
    wait = (later["time_after"] - later["time"]).dt.total_seconds()
    followed = later.loc[wait.between(0, 3_600), "transaction_id"].nunique()
    assert followed > 0.9 * len(tests)


def test_the_terminal_declines_what_is_over_the_limit(detailed):
    over = detailed["amount"] > detailed["card_limit"]
    assert over.any()
    assert (detailed.loc[over, "outcome"] == "declined").all()
    assert set(detailed["outcome"]) == {"accepted", "declined"}
    assert (detailed["outcome"] == "declined").mean() < 0.03


def test_customers_claim_most_of_what_they_lost_and_late(detailed):
    claimed = detailed["claimed_at"].notna()
    assert not claimed[(detailed["fraud"] == 0) | (detailed["outcome"] == "declined")].any()
    lost = (detailed["fraud"] == 1) & (detailed["outcome"] == "accepted")
    assert is_share(claimed[lost], 0.9)
    delay = (detailed["claimed_at"] - detailed["time"])[claimed]
    assert (delay > pd.Timedelta(0)).all()
    assert delay.median() / pd.Timedelta("5D") == pytest.approx(1, rel=0.2)


def test_what_belongs_to_a_card_or_a_terminal_stays_with_it(detailed):
    for column in ("card_country", "card_type", "card_limit"):
        assert (detailed.groupby("customer")[column].nunique() == 1).all()
    for column in ("country", "merchant_category"):
        assert (detailed.groupby("terminal")[column].nunique() == 1).all()


@pytest.mark.parametrize(("one_in", "details"), [(300, False), (700, True)])
def test_a_rate_of_fraud_is_met(one_in, details):
    found = simulate_transactions(2_000, 4_000, 90, rate=1 / one_in, details=details)
    assert found["fraud"].mean() == pytest.approx(1 / one_in, rel=0.1)


def test_a_rate_below_that_of_large_amounts_is_refused():
    with pytest.raises(ValueError, match="amounts over 220, which are always fraud, are 1 in"):
        simulate_transactions(500, 1_000, 30, rate=1e-5)
