"""Which payments the prequential page learns from and ranks."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from rarefind.data import simulate_transactions

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def handbook():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        yield import_module("_handbook")


@pytest.fixture(scope="module")
def world(handbook):
    """Five cards that pay at noon of every day; each has a day of fraud."""
    days = handbook.BEFORE + handbook.TRAIN + handbook.DELAY + handbook.TEST * handbook.FOLDS
    day, card = (part.ravel() for part in np.meshgrid(np.arange(days), np.arange(5)))
    start = handbook.BEFORE
    fraud_on = np.array([start + 2, start + 7, start + 14, start - 1, days + 1])
    return handbook.World(np.zeros((day.size, 1)), day == fraud_on[card], day + 0.5, card)


def test_labels_of_the_delay_are_not_learned_from(handbook, world):
    for fold in range(handbook.FOLDS):
        train, test = handbook.fold_rows(world, fold)
        start = handbook.BEFORE + 7 * fold
        assert sorted(set(world.day[train])) == list(range(start, start + 7))
        assert sorted(set(world.day[test])) == list(range(start + 14, start + 21))


def test_a_card_is_left_out_from_the_day_its_fraud_is_known(handbook, world):
    _, test = handbook.fold_rows(world, 0)
    ranked = {card: (world.day[test][world.card[test] == card] - 44).tolist() for card in range(5)}
    week = list(range(7))
    assert ranked[0] == []  # fraud in the days to learn from
    assert ranked[1] == [0]  # on the first day of the delay: known after more than seven days
    assert ranked[2] == week  # on a day to rank: to be found
    assert ranked[3] == week  # before all that: forgotten, as in the handbook
    assert ranked[4] == week


def test_a_payment_is_not_described_by_labels_that_came_later(handbook):
    payments = simulate_transactions(40, 40, 45, rate=0.05, random_state=5)
    day = (payments["time"] - payments["time"].min().normalize()).dt.days
    others = payments.assign(fraud=payments["fraud"].where(day < 30, 1 - payments["fraud"]))
    one, other = handbook.describe(payments), handbook.describe(others)
    is_early = one.day < 30 + handbook.DELAY
    np.testing.assert_array_equal(one.X[is_early], other.X[is_early])
    assert not np.array_equal(one.X[~is_early], other.X[~is_early])
