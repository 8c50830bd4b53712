"""What the demo measures: simulated payments with rare fraud, the same days for every model."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from rarefind._core.types import Floats
    from rarefind.metrics import Interval
    from rarefind.tables import TableModel

# Days: those before the first fill the longest windows of the features.
_BEFORE, _TRAIN, _DELAY, _TEST = 35, 14, 7, 28
_TERMINALS_A_CUSTOMER = 2
# At a fraud rate of 1 the simulator makes about one payment in so many fraudulent.
_USUALLY_ONE_IN = 125
_LARGE_AMOUNT = 1  # the kind of fraud that the simulator's fraud rate leaves alone
_RESAMPLES = 2_000

OURS, XGBOOST = "SGBAP (rarefind)", "XGBoost"
LIGHTGBM, STEADY_LIGHTGBM = "LightGBM", "LightGBM, min_child_weight=1"


class World(NamedTuple):
    """One simulated world: what was learned from, what was ranked, and every model's scores."""

    seed: int
    learned_from: dict[str, int]
    test: pd.DataFrame
    scores: dict[str, Floats]
    model: TableModel

    @property
    def day(self) -> pd.Series[Any]:
        """The day of each ranked payment."""
        return self.test["time"].dt.normalize().rename("day")

    def hits_a_day(self, name: str, checks: int) -> Floats:
        """Customers with fraud that a model's list finds on each day, none of them twice."""
        from rarefind.metrics import entity_precision_by_day

        test = self.test
        share = entity_precision_by_day(
            test["fraud"], self.scores[name], test["customer"], self.day, checks
        )
        return checks * share

    def average_precision(self, name: str) -> float:
        """Of the payments of all test days."""
        from rarefind.metrics import average_precision

        return average_precision(self.test["fraud"], self.scores[name])


def simulate_world(
    customers: int, one_in: int, seed: int, say: Callable[[str], None], n_jobs: int = -1
) -> World:
    """Simulate payments, fit every model to two weeks, and rank four weeks after the labels' delay.

    Labels of the week between are not known yet. A customer whose fraud is known is not ranked.
    """
    from rarefind.boosting import SGBAPClassifier
    from rarefind.selection import PrequentialSplit
    from rarefind.tables import TableModel

    say(f"Simulating payments of {customers:,} customers (seed {seed})")
    table = _payments(customers, one_in, seed)
    split = PrequentialSplit(
        n_splits=1,
        test=f"{_TEST}D",
        delay=f"{_DELAY}D",
        train=f"{_TRAIN}D",
        time="time",
        entity="customer",
        drop_known_positives=True,
    )
    known, ahead = next(split.split(table, table["fraud"]))
    train, test = table.iloc[known], table.iloc[ahead]

    say(f"Fitting {OURS} to {len(train):,} payments, {train['fraud'].sum()} of them fraud")
    model = TableModel(
        SGBAPClassifier(random_state=0, n_jobs=n_jobs),
        target="fraud",
        positive=1,
        time="time",
        entity="customer",
        amount="amount",
        id="transaction_id",
        drop=["terminal"],
    ).fit(train)
    scores = {OURS: model.priority(test)}
    columns = list(model.encoder_.columns_)
    for name, peer in plain_boosters(n_jobs).items():
        say(f"Fitting {name}")
        peer.fit(train[columns], train["fraud"])
        scores[name] = peer.predict_proba(test[columns])[:, 1].astype(float)
    learned_from = {"rows": len(train), "positives": int(train["fraud"].sum())}
    return World(seed, learned_from, test, scores, model)


def plain_boosters(n_jobs: int) -> dict[str, Any]:
    """XGBoost and, where it is installed, LightGBM: 300 rounds, their own bins.

    LightGBM also with the ``min_child_weight`` of XGBoost: with its own, 0.001, leaves of single
    rows grow without bound where positives are this rare.
    """
    from xgboost import XGBClassifier

    common: dict[str, Any] = {"n_estimators": 300, "learning_rate": 0.1, "n_jobs": n_jobs}
    boosters: dict[str, Any] = {XGBOOST: XGBClassifier(max_depth=6, **common)}
    if find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        common |= {"verbose": -1, "deterministic": True, "force_col_wise": True}
        boosters[STEADY_LIGHTGBM] = LGBMClassifier(min_child_weight=1.0, **common)
        boosters[LIGHTGBM] = LGBMClassifier(**common)
    return boosters


def interval(daily: Floats) -> Interval:
    """The mean of daily values with a 95 % bootstrap interval: days drawn with replacement."""
    from rarefind.metrics import Interval

    rng = np.random.default_rng(0)
    drawn = daily[rng.integers(daily.size, size=(_RESAMPLES, daily.size))].mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(float(daily.mean()), float(low), float(high))


def _payments(customers: int, one_in: int, seed: int) -> pd.DataFrame:
    """Payments and their features, with about one fraud in ``one_in``, all kinds equally thinned.

    Fewer cards and terminals are compromised; of the large amounts, which are always fraud, the
    same share is left.
    """
    from rarefind.data import simulate_transactions, transaction_features

    rate = _USUALLY_ONE_IN / one_in
    days = _BEFORE + _TRAIN + _DELAY + _TEST
    terminals = _TERMINALS_A_CUSTOMER * customers
    paid = simulate_transactions(customers, terminals, days, fraud_rate=rate, random_state=seed)
    left = np.random.default_rng(seed).random(len(paid)) < rate
    paid = paid[left | (paid["fraud_kind"] != _LARGE_AMOUNT)].reset_index(drop=True)
    features = transaction_features(paid, delay=f"{_DELAY}D")
    return features.join(paid[["transaction_id", "time", "customer", "terminal", "fraud"]])
