"""Recall from random checks: the estimate by its definition, and how often its interval holds."""

import numpy as np
import pytest

from rarefind.desk.measures.recall import (
    RandomChecks,
    estimate_recall,
    weighted_count_interval,
)


def checks_of(found, propensity, is_fraud, drawn, checked):
    """A day from its transactions without an alert, one entry each."""
    hits = drawn & checked & is_fraud
    return RandomChecks(
        found=found,
        drawn=int(drawn.sum()),
        checked=int((drawn & checked).sum()),
        hits=int(hits.sum()),
        weight=float((1 / propensity[hits]).sum()),
        squares=float((1 / propensity[hits] ** 2).sum()),
        least=float(propensity.min()),
    )


def test_the_estimate_is_horvitz_and_thompsons():
    one = RandomChecks(found=6, drawn=4, checked=4, hits=1, weight=4.0, squares=16.0, least=0.25)
    two = RandomChecks(found=2, drawn=4, checked=2, hits=1, weight=2.0, squares=4.0, least=0.5)
    assert estimate_recall([one]).value == 6 / (6 + 4)
    # Of eight that were drawn six were checked: each stands for 8/6.
    assert estimate_recall([one, two]).value == pytest.approx(8 / (8 + 6 * 8 / 6))


def test_without_a_hit_only_a_least_recall_is_said():
    none = RandomChecks(found=50, drawn=40, checked=40, hits=0, weight=0, squares=0, least=0.1)
    found = estimate_recall([none])
    assert (found.value, found.high, found.hits) == (None, 1.0, 0)
    assert found.low == pytest.approx(50 / (50 + 10 * -np.log(0.025)))
    assert estimate_recall([]) is None
    nobody_looked = RandomChecks(5, drawn=4, checked=0, hits=0, weight=0, squares=0, least=0.1)
    assert estimate_recall([nobody_looked]) is None
    not_drawn = RandomChecks(5, 0, 0, 0, 0.0, 0.0, 1.0, cannot_be_drawn=3)
    assert estimate_recall([not_drawn]) is None


def test_equal_weights_give_the_exact_interval_of_a_count():
    # Garwood's interval of a Poisson count of 3, times the weight.
    low, high = weighted_count_interval(3 * 10.0, 3 * 100.0, 10.0)
    assert (low, high) == pytest.approx((6.187, 87.673), abs=0.001)


@pytest.mark.parametrize("share_checked", [1.0, 0.6])
@pytest.mark.parametrize("draws", [0.002, 0.02, 0.2])
def test_the_interval_holds_the_true_recall_as_often_as_it_says(draws, share_checked):
    random = np.random.default_rng(7)
    held, trials = 0, 1_500
    for _ in range(trials):
        days, found, missed = [], 0, 0
        for _day in range(4):
            propensity = draws * random.uniform(0.4, 1.6) * np.ones(700)
            is_fraud = random.random(700) < 0.03
            caught = int(random.binomial(40, 0.7))
            drawn = random.random(700) < propensity
            checked = random.random(700) < share_checked
            days.append(checks_of(caught, propensity, is_fraud, drawn, checked))
            found, missed = found + caught, missed + int(is_fraud.sum())
        estimate = estimate_recall(days)
        low, high = (0.0, 1.0) if estimate is None else (estimate.low, estimate.high)
        held += low <= found / (found + missed) <= high
    assert held / trials >= 0.94
