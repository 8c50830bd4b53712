"""The protocol of the Fraud Detection Handbook: which payments are learned from, and which are ranked."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from rarefind.data import simulate_transactions, transaction_features
from studies.arrays import Bools, Floats, Ints

#: Days to learn from, until labels are known, and to rank; before them, days for the histories.
TRAIN, DELAY, TEST, BEFORE = 7, 7, 7, 30
FOLDS = 2
CUSTOMERS = 5_000


class World(NamedTuple):
    """Payments as numbers: what describes each, whether it is fraud, its time in days, its card."""

    X: Floats
    y: Bools
    time: Floats
    card: Ints

    @property
    def day(self) -> Ints:
        """Whole days since the beginning."""
        return self.time.astype(np.intp)


@lru_cache(maxsize=1)
def make_world(seed: int, rate: float, customers: int = CUSTOMERS) -> World:
    """A world of the simulator."""
    days = BEFORE + TRAIN + DELAY + TEST * FOLDS
    table = simulate_transactions(customers, 2 * customers, days, rate=rate, random_state=seed)
    return describe(table)


def describe(table: pd.DataFrame) -> World:
    """Simulated payments by what was known of their cards and terminals when they were made."""
    X = transaction_features(table, delay=f"{DELAY}D").to_numpy(float)
    time = (table["time"] - table["time"].min().normalize()).dt.total_seconds() / 86_400
    return World(
        np.nan_to_num(X, nan=-1.0),  # several rivals take no missing values
        table["fraud"].to_numpy() == 1,
        time.to_numpy(),
        table["customer"].to_numpy(),
    )


def fold_rows(world: World, fold: int) -> tuple[Ints, Ints]:
    """Rows to learn from and rows to rank.

    On each day to rank, a card is left out whose fraud was in the days to learn from, or later but
    longer ago than the delay: its owner knows, and nobody pays with it.
    """
    start = BEFORE + TEST * fold
    day = world.day
    is_fraud = world.y & (day >= start)
    first = np.full(world.card.max() + 1, np.inf)
    np.minimum.at(first, world.card[is_fraud], day[is_fraud])
    is_known = first[world.card] < day - DELAY
    learned = (day >= start) & (day < start + TRAIN)
    begin = start + TRAIN + DELAY
    ranked = (day >= begin) & (day < begin + TEST) & ~is_known
    return np.flatnonzero(learned), np.flatnonzero(ranked)
