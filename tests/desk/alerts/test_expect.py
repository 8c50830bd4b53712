"""What is expected of cases: the exact distribution, found the slow way, and what is left of it."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind.desk.alerts import expected_amount, expected_hits

CASES = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 10_000)), min_size=1, max_size=7
)  # fmt: skip


def naive(pairs, step):
    """The interval from all that can happen, its ends moved by what rounding may cost."""
    outcomes = []
    for which in product([0, 1], repeat=len(pairs)):
        chance = np.prod([p if hit else 1 - p for hit, (p, _) in zip(which, pairs, strict=True)])
        outcomes.append((sum(a for hit, (_, a) in zip(which, pairs, strict=True) if hit), chance))
    outcomes.sort()
    below, low, high = 0.0, None, None
    for amount, chance in outcomes:
        below += chance
        low = amount if low is None and below > 0.025 else low
        high = amount if high is None and below >= 0.975 - 1e-12 else high
    return low, high if high is not None else outcomes[-1][0]


@settings(max_examples=60, deadline=None)
@given(CASES)
def test_the_interval_of_money_is_that_of_all_that_can_happen(pairs):
    probability, amount = [p for p, _ in pairs], [a for _, a in pairs]
    found = expected_amount(probability, amount)
    assert found.amount == pytest.approx(sum(p * a for p, a in pairs))
    low, high = naive(pairs, sum(amount) / 2_000)
    # Each amount is rounded to a two-thousandth of the sum.
    allowed = len(pairs) * sum(amount) / 2_000 + 1
    if all(min(p, 1 - p) > 0.06 or p in (0, 1) for p in probability):
        assert low - allowed <= found.low <= max(low, found.amount) + allowed
        assert min(high, found.amount) - allowed <= found.high <= high + allowed
    assert found.low <= found.amount + 1
    assert found.high <= sum(amount)


def test_many_cases_are_expected_as_few_are():
    rng = np.random.default_rng(0)
    probability = rng.random(500).tolist()
    exact, many = expected_hits(probability), expected_hits([*probability, 0.0])
    assert many.hits == exact.hits
    assert abs(many.low - exact.low) <= 1
    assert abs(many.high - exact.high) <= 1
    amount = rng.integers(1, 100_000, 500).tolist()
    few, more = (
        expected_amount(probability, amount),
        expected_amount([*probability, 0], [*amount, 0]),
    )
    assert more.low == pytest.approx(few.low, rel=0.01)
    assert more.high == pytest.approx(few.high, rel=0.01)


def test_nothing_is_expected_of_nothing():
    assert expected_amount([], []) == (0.0, 0, 0)
    assert expected_amount([0.5], [0]) == (0.0, 0, 0)
    # What was paid back is not lost.
    assert expected_amount([1.0], [-500]) == (0.0, 0, 0)
