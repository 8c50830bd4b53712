"""What a card processor sees of a payment beside its amount, made up: countries, kinds, claims."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from rarefind._core.types import Array, Bools, Floats

_DAY = 86_400
_CUSTOMER = 3  # the kind of fraud that is made with a leaked card

# How many of the payments are made on a day of the week, Monday first: Saturday is the peak.
_RHYTHM = np.array([0.80, 0.82, 0.84, 0.86, 0.95, 1.00, 0.60])
# Countries are bands of the square that homes and terminals lie on, from west to east.
_COUNTRIES, _BORDERS = ("FR", "BE", "DE", "ES"), np.array([60.0, 75.0, 90.0])
_CATEGORIES = {
    "grocery": 0.30,
    "restaurant": 0.18,
    "fuel": 0.15,
    "clothing": 0.12,
    "pharmacy": 0.08,
    "electronics": 0.07,
    "travel": 0.05,
    "games": 0.03,
    "jewellery": 0.02,
}
_TYPES, _TYPE_SHARES = ("debit", "credit", "prepaid"), (0.6, 0.35, 0.05)
_LIMIT_FACTORS = (5, 10, 20)  # a card's limit in its customer's usual amounts
_LIMIT_STEP = 50.0

_ZERO_GENUINE, _ZERO_FRAUD = 0.03, 0.12  # such as a fuel station's request before the fuel
_ONLINE_FRAUD, _ONLINE_SHAPE = 0.90, (2.0, 6.0)  # genuine: a Beta distribution over customers
_FAR_AWAY = 0.6  # of the payments with a leaked card are made at any terminal there is
TESTED = 0.5  # of them come after a small payment that tries the card
_TEST_WITHIN, _TEST_AMOUNT = 3_600, 2.0
_WRONG_PIN_GENUINE, _WRONG_PIN_FRAUD = 0.005, 0.02
_CLAIMED, _CLAIM_MEDIAN, _CLAIM_SPREAD = 0.9, 5.0, 1.0  # days, lognormal


class Places(NamedTuple):
    """Where customers and terminals are, and what customers usually pay."""

    homes: Floats
    terminals: Floats
    mean_amount: Floats


class Payments(NamedTuple):
    """Payments with their fraud, in order of time."""

    second: Array
    customer: Array
    terminal: Array
    amount: Floats
    kind: Array


def kept_by_weekday(second: Array, midnight: np.datetime64, rng: np.random.Generator) -> Bools:
    """Which payments are made at all: on each day of the week its share of them."""
    first = int(pd.Timestamp(midnight).day_of_week)
    weekday = (first + second // _DAY) % len(_RHYTHM)
    return rng.random(len(second)) < _RHYTHM[weekday]


def add_details(
    paid: Payments, places: Places, midnight: np.datetime64, rng: np.random.Generator
) -> pd.DataFrame:
    """The payments with small tests and zero amounts among them, and the columns of details."""
    habits, payments = rng.spawn(2)
    people = _people(places, habits)
    paid = _far_away(paid, len(places.terminals), payments)
    paid = _with_tests(paid, payments)
    fraud = paid.kind > 0
    amount = _with_zeros(paid, payments)
    online = np.where(
        fraud,
        payments.random(len(fraud)) < _ONLINE_FRAUD,
        payments.random(len(fraud)) < people.online[paid.customer],
    )
    wrong_pin = payments.random(len(fraud)) < np.where(fraud, _WRONG_PIN_FRAUD, _WRONG_PIN_GENUINE)
    declined = (amount > people.limit[paid.customer]) | (wrong_pin & ~online)
    time = midnight + paid.second.astype("timedelta64[s]")
    return pd.DataFrame(
        {
            "transaction_id": np.arange(len(fraud)),
            "time": time,
            "customer": paid.customer,
            "terminal": paid.terminal,
            "amount": amount,
            "fraud": fraud.astype(np.int64),
            "fraud_kind": paid.kind,
            "country": people.terminal_country[paid.terminal],
            "card_country": people.card_country[paid.customer],
            "ecommerce": online,
            "merchant_category": people.category[paid.terminal],
            "card_type": people.card_type[paid.customer],
            "card_limit": people.limit[paid.customer],
            "outcome": np.where(declined, "declined", "accepted"),
            "claimed_at": _claims(time, fraud & ~declined, payments),
        }
    )


class _People(NamedTuple):
    """What stays the same from payment to payment."""

    card_country: Array
    terminal_country: Array
    category: Array
    card_type: Array
    limit: Floats
    online: Floats


def _people(places: Places, rng: np.random.Generator) -> _People:
    n_customers, n_terminals = len(places.homes), len(places.terminals)
    usual = places.mean_amount * rng.choice(_LIMIT_FACTORS, n_customers)
    return _People(
        card_country=_country(places.homes),
        terminal_country=_country(places.terminals),
        category=rng.choice(list(_CATEGORIES), n_terminals, p=list(_CATEGORIES.values())),
        card_type=rng.choice(np.array(_TYPES), n_customers, p=_TYPE_SHARES),
        limit=np.ceil(usual / _LIMIT_STEP) * _LIMIT_STEP,
        online=rng.beta(*_ONLINE_SHAPE, n_customers),
    )


def _country(places: Floats) -> Array:
    return np.array(_COUNTRIES)[np.searchsorted(_BORDERS, places[:, 0], side="right")]


def _far_away(paid: Payments, n_terminals: int, rng: np.random.Generator) -> Payments:
    """Most payments with a leaked card are not made near the home of its owner."""
    anywhere = rng.integers(n_terminals, size=len(paid.kind))
    moved = (paid.kind == _CUSTOMER) & (rng.random(len(paid.kind)) < _FAR_AWAY)
    return paid._replace(terminal=np.where(moved, anywhere, paid.terminal))


def _with_tests(paid: Payments, rng: np.random.Generator) -> Payments:
    """Before a payment with a leaked card, often a small one within the hour before it."""
    stolen = np.flatnonzero(paid.kind == _CUSTOMER)
    tested = stolen[rng.random(len(stolen)) < TESTED]
    second = np.maximum(paid.second[tested] - rng.integers(60, _TEST_WITHIN, len(tested)), 0)
    test = Payments(
        second,
        paid.customer[tested],
        paid.terminal[tested],
        rng.uniform(0.01, _TEST_AMOUNT, len(tested)).round(2),
        paid.kind[tested],
    )
    both = [np.concatenate(parts) for parts in zip(test, paid, strict=True)]
    in_time = np.argsort(both[0], kind="stable")
    return Payments(*(part[in_time] for part in both))


def _with_zeros(paid: Payments, rng: np.random.Generator) -> Floats:
    """Some amounts are 0; what is fraud for its large amount keeps it, and others take its turn."""
    draw, amount = rng.random(len(paid.kind)), paid.amount.copy()
    can_be_zero = paid.kind > 1
    share = _ZERO_FRAUD * (paid.kind > 0).sum() / max(can_be_zero.sum(), 1)
    amount[(paid.kind == 0) & (draw < _ZERO_GENUINE)] = 0.0
    amount[can_be_zero & (draw < share)] = 0.0
    return amount


def _claims(time: Array, lost: Bools, rng: np.random.Generator) -> Array:
    """When the customer says that it was not them; most do so, days later."""
    claimed = lost & (rng.random(len(lost)) < _CLAIMED)
    delay = rng.lognormal(np.log(_CLAIM_MEDIAN), _CLAIM_SPREAD, len(lost)) * _DAY
    late = time + delay.astype(np.int64).astype("timedelta64[s]")
    return np.where(claimed, late, np.datetime64("NaT", "us"))
