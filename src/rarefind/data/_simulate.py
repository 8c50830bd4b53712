"""Card payments with three kinds of fraud, made up."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas.api.typing import NaTType
from scipy.spatial import KDTree
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from rarefind._core.types import Array, Floats
from rarefind.data._simulate_details import (
    TESTED,
    Payments,
    Places,
    add_details,
    kept_by_weekday,
)

_SIDE = 100.0  # of the square that customers and terminals live on
_DAY = 86_400
_NOON, _SPREAD = _DAY / 2, 20_000.0  # seconds
_LARGE = 220.0

# Drawn a day, of how many, and how long each stays compromised.
_TERMINALS_A_DAY, _OF_TERMINALS, _TERMINAL_DAYS = 2, 10_000, 28
_CUSTOMERS_A_DAY, _OF_CUSTOMERS, _CUSTOMER_DAYS = 3, 5_000, 14
_ONE_IN = 3  # payments with a misused card
_FACTOR, _LAST_FACTOR = 5.0, 2.0

_AMOUNT, _TERMINAL, _CUSTOMER = 1, 2, 3  # kinds of fraud
_PAIRS_AT_ONCE = 2_000_000
_AROUND = (0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4)

_CONSTRAINTS = {
    "n_customers": [Interval(Integral, 1, None, closed="left")],
    "n_terminals": [Interval(Integral, 1, None, closed="left")],
    "days": [Interval(Integral, 1, None, closed="left")],
    "radius": [Interval(Real, 0, None, closed="neither")],
    "fraud_rate": [Interval(Real, 0, None, closed="left")],
    "drift": [Interval(Real, 0, 1, closed="both")],
    "rate": [Interval(Real, 0, 1, closed="neither"), None],
    "details": ["boolean"],
    "random_state": [Interval(Integral, 0, None, closed="left"), np.random.Generator, None],
}


def simulate_transactions(
    n_customers: int = 5_000,
    n_terminals: int = 10_000,
    days: int = 183,
    *,
    start: str | pd.Timestamp = "2026-01-01",
    radius: float = 5.0,
    fraud_rate: float = 1.0,
    drift: float = 0.0,
    rate: float | None = None,
    details: bool = False,
    random_state: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    """Make up card payments, a few of them fraudulent, after the fraud-detection handbook [1]_.

    Customers and terminals are spread evenly over a square of side 100. A customer has a mean
    amount from U(5, 100) and a number of payments a day that is Poisson with a rate from U(0, 4).
    A payment is made at N(noon, 20,000 s), and dropped when that is not within the day; at a random
    terminal within ``radius`` of home (a customer with none there pays nothing); of an amount from
    N(mean, mean / 2), drawn again from U(0, 2 mean) when negative.

    Fraud comes in three kinds. A payment of more than one kind has the first of them.

    1. *amount*: more than 220.
    2. *terminal*: each day two terminals are compromised; all their payments of that day and the 27
       after it are fraudulent.
    3. *customer*: each day three customers' cards are leaked; of their payments of that day and the
       13 after it one third has the amount multiplied by five and is fraudulent.

    The default gives about 1.75 million payments, 0.8 % of them fraudulent. Nothing is compromised
    before the first day, so fraud becomes more frequent over the first four weeks.

    Parameters
    ----------
    n_customers, n_terminals : int
        The two and three a day above are for the default numbers. They grow in proportion to
        ``n_terminals / 10_000`` and ``n_customers / 5_000``, so the share of fraud does not depend
        on the size.
    days : int
    start : str or Timestamp, default="2026-01-01"
        The first day, without a time zone; a time of day is ignored.
    radius : float, default=5.0
    fraud_rate : float, default=1.0
        Multiplies the number of terminals and customers drawn a day (never beyond all there are).
        What is not whole in that number is drawn from a Poisson distribution with that mean; whole
        numbers are kept as they are. The kind *amount* does not depend on it.
    drift : float from 0 to 1, default=0.0
        How far the fraud has changed by the last day. With u growing evenly from 0 on the first day
        to 1 on the last, terminals a day are multiplied by 1 − drift·u and customers a day by
        1 + 2·drift·u: without drift terminals make twice the fraud that customers make, so the sum
        stays where it was. The factor on the amounts is 5 − 3·drift·u. 0 means no change.
    rate : float, default=None
        The share of payments that are fraudulent, such as 1 / 700: ``fraud_rate`` is found for it,
        as near as whole compromised terminals and customers come.
    details : bool, default=False
        Add what a card processor sees, after [2]_: more columns, and habits. Fewer payments on
        Sundays and most on Saturdays; zero amounts (3 % of genuine payments, 12 % of fraud); a
        small test payment before half of those with a leaked card, which are mostly made far from
        its owner's home; 90 % of fraud online; payments that the terminal declines, over the limit
        or with a wrong PIN; and claims of customers, most of them days later.
    random_state : int, Generator or None, default=0
        The payments themselves do not depend on ``fraud_rate`` and ``drift``: the same seed with
        another of these has the same customers at the same terminals at the same times.

    Returns
    -------
    DataFrame
        In order of time: ``transaction_id`` (from 0), ``time`` (whole seconds), ``customer``,
        ``terminal``, ``amount``, ``fraud`` (0 or 1), ``fraud_kind`` (0 for none, else as above).
        With details also ``country`` (of the terminal), ``card_country``, ``ecommerce``,
        ``merchant_category``, ``card_type``, ``card_limit``, ``outcome`` (of the terminal's own
        check: ``accepted`` or ``declined``) and ``claimed_at`` (missing without a claim).

    Notes
    -----
    The handbook lets a later kind replace an earlier one and multiplies an amount again when a card
    is leaked twice; here the first kind stays and an amount is multiplied at most once.

    References
    ----------
    .. [1] Y.-A. Le Borgne, W. Siblini, B. Lebichot, G. Bontempi, "Reproducible machine learning for
       credit card fraud detection: practical handbook", Université Libre de Bruxelles, 2022,
       chapter 3.
    .. [2] J. Frery, "Ensemble Learning for Extremely Imbalanced Data Flows", thesis, Université de
       Lyon, 2019, sections 2.4 and 2.5.

    Examples
    --------
    >>> from rarefind.data import simulate_transactions
    >>> payments = simulate_transactions(n_customers=200, n_terminals=400, days=60)
    >>> list(payments)
    ['transaction_id', 'time', 'customer', 'terminal', 'amount', 'fraud', 'fraud_kind']
    >>> print(f"{payments['fraud'].mean():.1%} of {len(payments):,} are fraudulent")
    1.5% of 23,837 are fraudulent
    """
    arguments = {
        "n_customers": n_customers,
        "n_terminals": n_terminals,
        "days": days,
        "radius": radius,
        "fraud_rate": fraud_rate,
        "drift": drift,
        "rate": rate,
        "details": details,
        "random_state": random_state,
    }
    validate_parameter_constraints(_CONSTRAINTS, arguments, "simulate_transactions")
    midnight = _first_midnight(start)
    # One stream each, so that a change in one part leaves the draws of the others as they were.
    people, payments, crime, more = np.random.default_rng(random_state).spawn(4)
    world = _settle(n_customers, n_terminals, people)
    paid = _pay(world, radius, days, payments)
    if details:
        kept = kept_by_weekday(paid.second, midnight, more)
        paid = _Payments(*(part[kept] for part in paid))
    if rate is not None:
        fraud_rate = _fraud_rate_for(
            rate,
            TESTED if details else 0.0,
            lambda tried: np.bincount(
                _defraud(paid, world, days, tried, drift, deepcopy(crime))[1], minlength=4
            ),
        )
    amount, kind = _defraud(paid, world, days, fraud_rate, drift, crime)
    made = Payments(paid.second, paid.customer, paid.terminal, amount, kind)
    if details:
        places = Places(world.homes, world.terminals, world.mean_amount)
        return add_details(made, places, midnight, more)
    return pd.DataFrame(
        {
            "transaction_id": np.arange(len(kind)),
            "time": midnight + paid.second.astype("timedelta64[s]"),
            "customer": paid.customer,
            "terminal": paid.terminal,
            "amount": amount,
            "fraud": (kind > 0).astype(np.int64),
            "fraud_kind": kind,
        }
    )


def _fraud_rate_for(rate: float, tests: float, kinds_at: Callable[[float], Array]) -> float:
    """The fraud rate for a share of fraudulent payments, given the kinds that a fraud rate makes.

    The share grows almost in proportion to the fraud rate; since whole terminals and customers are
    drawn, some rates around that are tried, and the best is taken. ``tests`` is the number of small
    payments that come with each one with a leaked card.
    """

    def beyond_large(kinds: Array) -> tuple[float, float]:
        """How many frauds are wanted beside the large amounts, and how many there are."""
        payments = kinds.sum() + tests * kinds[_CUSTOMER]
        return rate * payments - kinds[_AMOUNT], kinds[_TERMINAL] + (1 + tests) * kinds[_CUSTOMER]

    kinds = kinds_at(1.0)
    wanted, found = beyond_large(kinds)
    if wanted < 0:
        raise ValueError(
            f"rate is 1 in {1 / rate:,.0f}, and amounts over {_LARGE:g}, which are always "
            f"fraud, are 1 in {kinds.sum() / kinds[_AMOUNT]:,.0f} payments: ask for more fraud."
        )
    tried = wanted / max(found, 1) * np.array(_AROUND)
    errors = [abs(np.subtract(*beyond_large(kinds_at(each)))) for each in tried]
    return float(tried[int(np.argmin(errors))])


class _World(NamedTuple):
    """Where everybody is, and how customers pay."""

    homes: Floats
    terminals: Floats
    mean_amount: Floats
    rate: Floats


class _Payments(NamedTuple):
    """Payments in order of time, seconds since the first midnight."""

    second: Array
    customer: Array
    terminal: Array
    amount: Floats


def _first_midnight(start: str | pd.Timestamp) -> np.datetime64:
    day: pd.Timestamp | NaTType = pd.NaT
    with suppress(TypeError, ValueError):
        day = pd.Timestamp(start)
    if isinstance(day, NaTType) or day.tz is not None:
        raise ValueError(
            f"start must be a date without a time zone such as '2026-01-01', not {start!r}."
        )
    return day.normalize().to_datetime64().astype("datetime64[us]")


def _settle(n_customers: int, n_terminals: int, rng: np.random.Generator) -> _World:
    return _World(
        homes=rng.uniform(0, _SIDE, (n_customers, 2)),
        terminals=rng.uniform(0, _SIDE, (n_terminals, 2)),
        mean_amount=rng.uniform(5, 100, n_customers),
        rate=rng.uniform(0, 4, n_customers),
    )


def _pay(world: _World, radius: float, days: int, rng: np.random.Generator) -> _Payments:
    each_day = rng.poisson(world.rate[:, None], (len(world.rate), days))
    day = np.repeat(np.tile(np.arange(days), len(world.rate)), each_day.ravel())
    customer = np.repeat(np.arange(len(world.rate)), each_day.sum(axis=1))
    time_of_day = rng.normal(_NOON, _SPREAD, len(day))
    terminal = _choose_terminals(world, radius, customer, rng)
    amount = _draw_amounts(world.mean_amount[customer], rng)

    kept = np.flatnonzero((time_of_day >= 0) & (time_of_day < _DAY) & (terminal >= 0))
    second = day[kept] * _DAY + time_of_day[kept].astype(np.int64)
    in_time = np.argsort(second, kind="stable")
    rows = kept[in_time]
    return _Payments(second[in_time], customer[rows], terminal[rows], amount[rows])


def _choose_terminals(
    world: _World, radius: float, customer: Array, rng: np.random.Generator
) -> Array:
    """A random terminal near home for each payment, -1 where there is none; customers ascend."""
    n_customers, n_terminals = len(world.homes), len(world.terminals)
    tree = KDTree(world.terminals)
    draw = rng.random(len(customer))
    chosen = np.empty(len(customer), dtype=np.int64)
    # In blocks: all pairs of a large world, or of a large radius, would not fit in memory.
    near = n_terminals * min(1.0, np.pi * (radius / _SIDE) ** 2)
    block = max(1, int(_PAIRS_AT_ONCE / max(near, 1)))
    for first in range(0, n_customers, block):
        homes = KDTree(world.homes[first : first + block])
        pairs = homes.sparse_distance_matrix(tree, radius, output_type="ndarray")
        who, where = pairs["i"], pairs["j"]
        order = np.lexsort((where, who))
        starts = np.searchsorted(who[order], np.arange(homes.n + 1))
        part = slice(*np.searchsorted(customer, [first, first + homes.n]))
        mine = customer[part] - first
        n_near = np.diff(starts)[mine]
        # The appended -1 answers for those with none.
        options = np.append(where[order], -1)
        pick = starts[mine] + (draw[part] * n_near).astype(np.int64)
        chosen[part] = options[np.where(n_near > 0, pick, -1)]
    return chosen


def _draw_amounts(mean: Floats, rng: np.random.Generator) -> Floats:
    amount = rng.normal(mean, mean / 2)
    negative = np.flatnonzero(amount < 0)
    amount[negative] = rng.uniform(0, 2 * mean[negative])
    return amount.round(2)


def _defraud(
    paid: _Payments,
    world: _World,
    days: int,
    fraud_rate: float,
    drift: float,
    rng: np.random.Generator,
) -> tuple[Floats, Array]:
    """The amounts with those of misused cards multiplied, and the kind of fraud of each payment."""
    day = paid.second // _DAY
    change = drift * np.arange(days) / max(days - 1, 1)
    n_terminals, n_customers = len(world.terminals), len(world.homes)
    terminals_a_day, customers_a_day = _numbers_a_day(n_terminals, n_customers, change)
    terminal_events = _draw_events(n_terminals, fraud_rate * terminals_a_day, rng)
    customer_events = _draw_events(n_customers, fraud_rate * customers_a_day, rng)

    misused = np.flatnonzero(_is_struck(paid.customer, day, customer_events, days, _CUSTOMER_DAYS))
    stolen = _one_in_three(misused, paid.customer, rng)
    factor = _FACTOR - (_FACTOR - _LAST_FACTOR) * change
    amount = paid.amount.copy()
    amount[stolen] = (amount[stolen] * factor[day[stolen]]).round(2)

    # Last to first, so that the first kind stays.
    kind = np.zeros(len(day), dtype=np.int64)
    kind[stolen] = _CUSTOMER
    kind[_is_struck(paid.terminal, day, terminal_events, days, _TERMINAL_DAYS)] = _TERMINAL
    kind[paid.amount > _LARGE] = _AMOUNT
    return amount, kind


def _numbers_a_day(n_terminals: int, n_customers: int, change: Floats) -> tuple[Floats, Floats]:
    """How many terminals and customers are drawn each day."""
    # 2/10,000 · 28 days is twice 3/5,000 · 14 days · 1/3: what one loses the other gains, doubled.
    terminals = _TERMINALS_A_DAY * n_terminals / _OF_TERMINALS * (1 - change)
    customers = _CUSTOMERS_A_DAY * n_customers / _OF_CUSTOMERS * (1 + 2 * change)
    return terminals, customers


def _draw_events(n: int, a_day: Floats, rng: np.random.Generator) -> Array:
    """Who of ``n`` is struck on which day, as sorted ``who * days + day``."""
    # Rounded, lest 2.9999999 be taken for a number that is not whole.
    a_day = a_day.round(9)
    whole = np.floor(a_day)
    numbers = np.minimum(whole + rng.poisson(a_day - whole), n).astype(np.int64)
    who = [rng.choice(n, number, replace=False) for number in numbers]
    return np.sort(np.concatenate(who) * len(a_day) + np.repeat(np.arange(len(a_day)), numbers))


def _is_struck(who: Array, day: Array, events: Array, days: int, lasting: int) -> Array:
    """Whether the last event of each payment's entity up to its day still lasts."""
    now = who * days + day
    before_all = np.insert(events, 0, -1)
    last = before_all[np.searchsorted(events, now, side="right")]
    return (last >= who * days) & (now - last < lasting)


def _one_in_three(rows: Array, customer: Array, rng: np.random.Generator) -> Array:
    """Every third of the rows in random order within each customer: a third of each, to a row."""
    order = np.lexsort((rng.random(len(rows)), customer[rows]))
    return rows[order][rng.integers(_ONE_IN) :: _ONE_IN]
