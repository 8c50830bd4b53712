"""The world of the demo: card payments of some weeks up to now, and those that come next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from rarefind.data.clock import nanoseconds
from rarefind.desk.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DAY", "SCHEMA", "DemoSize", "DemoWorld", "simulate_world"]

DAY: Final = nanoseconds("day", "1D")
SCHEMA: Final = Schema.from_text(
    """
    name = "demo"

    [transaction]
    id = "payment"
    time = "time"
    amount = "amount"
    outcome = "outcome"

    [transaction.columns]
    country = "text"
    card_country = "text"
    ecommerce = "boolean"
    merchant_category = "text"
    card_type = "text"
    card_limit = "number"

    [entities.card]
    column = "card"
    distinct = ["terminal", "country"]

    [entities.terminal]
    column = "terminal"
    risk = true

    [alerts]
    entity = "card"
    random_share = 0.1

    [labels]
    delay = "14D"

    [feature_labels]
    card_country = "the card's country"
    card_limit = "the card's limit"
    card_type = "kind of card"
    ecommerce = "on the internet"
    merchant_category = "kind of shop"
    """
)
_TEN: Final = nanoseconds("hours", "10h")
#: One payment in so many is a fraud.
_ONE_IN = 100
#: It takes the simulator so many days until fraud is as frequent as later.
_BEFORE = 28
#: The share of the simulated payments that are made. While the desk runs, cards pay far more often
#: than before; the fewer payments each has had, and the more cards there are, the less it shows.
_MADE = 1 / 3
#: The desk has a check a day for so many cards, and some at least.
_CARDS_A_CHECK, _FEWEST_CHECKS = 75, 5
#: Days after now whose payments come while the desk runs.
_AHEAD = 4


@dataclass(frozen=True)
class DemoSize:
    """How much has happened before the desk is opened."""

    cards: int = 1_500
    days: int = 63
    seed: int = 7

    @property
    def schema(self) -> Schema:
        """The desk's declaration: more cards, more checks a day."""
        budget = max(self.cards // _CARDS_A_CHECK, _FEWEST_CHECKS)
        return replace(SCHEMA, alerts=replace(SCHEMA.alerts, budget=budget))


@dataclass(frozen=True)
class DemoWorld:
    """Payments in the order of time, with what nobody knows of them when they are made.

    Attributes
    ----------
    begin, now : int
        The first midnight and the present, in nanoseconds since 1970 in UTC.
    before, past, coming : DataFrame
        What was paid before the desk, up to now, and later: the columns of the desk, and ``fraud``
        and ``claimed_at``.
    """

    begin: int
    now: int
    before: pd.DataFrame
    past: pd.DataFrame
    coming: pd.DataFrame

    def at(self, share: float) -> int:
        """The hour of a share of the past, in working time."""
        day = int(share * (self.now - self.begin) // DAY)
        return self.begin + day * DAY + _TEN

    @property
    def frauds(self) -> frozenset[str]:
        """The identifiers of all payments that are fraud."""
        return frozenset(
            id
            for part in (self.past, self.coming)
            for id in part.loc[part["fraud"] == 1, SCHEMA.transaction.id]
        )


def simulate_world(size: DemoSize, now: int) -> DemoWorld:
    """Simulate the payments of the days before a time and of some days after it."""
    import numpy as np
    import pandas as pd

    from rarefind.data import simulate_transactions

    midnight = now // DAY * DAY
    begin = midnight - size.days * DAY
    made = simulate_transactions(
        size.cards,
        size.cards,
        _BEFORE + size.days + 1 + _AHEAD,
        start=pd.Timestamp(begin - _BEFORE * DAY),
        rate=1 / _ONE_IN,
        details=True,
        random_state=size.seed,
    )
    made = made[np.random.default_rng(size.seed).random(len(made)) < _MADE]
    made = made.rename(columns={"transaction_id": "payment", "customer": "card"})
    made = made.drop(columns="fraud_kind")
    for name, mark in (("payment", "p"), ("card", "C"), ("terminal", "T")):
        width = len(str(made[name].max()))
        made[name] = [f"{mark}{number:0{width}d}" for number in made[name]]
    time = made["time"].astype("datetime64[ns]").astype("int64")
    return DemoWorld(
        begin,
        now,
        made[time < begin].reset_index(drop=True),
        made[(time >= begin) & (time <= now)].reset_index(drop=True),
        made[time > now].reset_index(drop=True),
    )
