import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rarefind.data import _simulate, simulate_transactions

N_CUSTOMERS, N_TERMINALS, DAYS = 500, 1_000, 90
SIGMAS = 5
IN_DAY = 2 * stats.norm.cdf(43_200 / 20_000) - 1  # a payment's time falls within its day


def simulate(**options):
    return simulate_transactions(N_CUSTOMERS, N_TERMINALS, DAYS, **options)


@pytest.fixture(scope="module")
def honest():
    """Nobody is compromised."""
    return simulate(fraud_rate=0)


@pytest.fixture(scope="module")
def busy():
    """Two terminals and three customers a day, as many as by default, of a tenth as many."""
    return simulate(fraud_rate=10)


def world():
    return _simulate._settle(N_CUSTOMERS, N_TERMINALS, streams()[0])


def streams(seed=0):
    return np.random.default_rng(seed).spawn(3)


def days_of(table):
    return (table["time"] - pd.Timestamp("2026-01-01")).dt.days.to_numpy()


def reachable(radius=5.0):
    """Which terminals each customer has within the radius, by the definition."""
    place = world()
    apart = np.linalg.norm(place.homes[:, None] - place.terminals[None], axis=2)
    return apart <= radius


def test_columns_are_as_promised(busy):
    n = len(busy)
    assert busy["transaction_id"].tolist() == list(range(n))
    assert busy["time"].is_monotonic_increasing
    assert busy["time"].dt.floor("D").nunique() == DAYS
    assert busy["customer"].between(0, N_CUSTOMERS - 1).all()
    assert busy["terminal"].between(0, N_TERMINALS - 1).all()
    np.testing.assert_array_equal(busy["amount"], busy["amount"].round(2))
    assert (busy["amount"] >= 0).all()
    assert busy["fraud_kind"].isin([0, 1, 2, 3]).all()
    np.testing.assert_array_equal(busy["fraud"], busy["fraud_kind"] > 0)
    kinds = {name: dtype.kind for name, dtype in busy.dtypes.items()}
    assert kinds == {
        "transaction_id": "i",
        "time": "M",
        "customer": "i",
        "terminal": "i",
        "amount": "f",
        "fraud": "i",
        "fraud_kind": "i",
    }


def test_customers_are_spread_as_the_parameters_say():
    place = _simulate._settle(20_000, 30_000, np.random.default_rng(1))
    for values, low, high in [
        (place.homes.ravel(), 0, 100),
        (place.terminals.ravel(), 0, 100),
        (place.mean_amount, 5, 100),
        (place.rate, 0, 4),
    ]:
        assert stats.kstest(values, stats.uniform(low, high - low).cdf).pvalue > 1e-6


def test_daily_counts_are_poisson_with_the_rates_of_the_customers(honest):
    active = reachable().any(axis=1)
    a_day = IN_DAY * world().rate[active].sum()
    counts = np.bincount(days_of(honest), minlength=DAYS)
    assert np.all(np.abs(counts - a_day) < SIGMAS * math.sqrt(a_day))
    assert abs(counts.sum() - DAYS * a_day) < SIGMAS * math.sqrt(DAYS * a_day)

    expected = IN_DAY * DAYS * world().rate * active
    by_customer = np.bincount(honest["customer"], minlength=N_CUSTOMERS)
    assert np.all(np.abs(by_customer - expected) <= SIGMAS * np.sqrt(expected) + SIGMAS)
    # Σ (n − μ)² / μ has mean 1 and variance 2 + 1/μ a cell.
    table = np.histogram2d(honest["customer"], days_of(honest), [np.arange(501), np.arange(91)])[0]
    mean = (IN_DAY * world().rate * active)[:, None]
    frequent = mean[:, 0] > 0.5
    spread = ((table - mean)[frequent] ** 2 / mean[frequent]).mean()
    assert abs(spread - 1) < SIGMAS * math.sqrt(4 / (frequent.sum() * DAYS))


def test_times_of_day_are_around_noon(honest):
    clock = honest["time"] - honest["time"].dt.floor("D")
    seconds = clock.dt.total_seconds().to_numpy()
    within = stats.truncnorm(-2.16, 2.16, loc=43_200, scale=20_000)
    assert stats.kstest(seconds + 0.5, within.cdf).pvalue > 1e-6


def test_amounts_follow_the_customers_mean(honest):
    relative = honest["amount"].to_numpy() / world().mean_amount[honest["customer"]]
    negative = stats.norm.cdf(-2)

    def cdf(x):
        """N(1, 1/2) where positive, and U(0, 2) in place of what is not."""
        return stats.norm.cdf((x - 1) * 2) - negative + negative * np.clip(x / 2, 0, 1)

    assert stats.kstest(relative, cdf).pvalue > 1e-6


@pytest.mark.parametrize("radius", [2.0, 5.0, 200.0])
def test_terminals_are_within_the_radius_and_all_alike(radius):
    table = simulate(radius=radius)
    near = reachable(radius)
    assert near[table["customer"], table["terminal"]].all()
    assert set(table["customer"]) <= set(np.flatnonzero(near.any(axis=1)))
    n_near = near.sum(axis=1)[table["customer"]]
    rank = near.cumsum(axis=1)[table["customer"], table["terminal"]] - 1
    # The rank among n is uniform on 0..n-1: mean (n − 1) / 2, variance (n² − 1) / 12.
    surplus = (rank - (n_near - 1) / 2).sum()
    assert abs(surplus) < SIGMAS * math.sqrt(((n_near**2 - 1) / 12).sum())


def test_blocks_of_customers_change_nothing(monkeypatch):
    whole = simulate()
    monkeypatch.setattr(_simulate, "_PAIRS_AT_ONCE", 500)
    pd.testing.assert_frame_equal(simulate(), whole)


def test_a_customer_far_from_all_terminals_pays_nothing():
    table = simulate_transactions(50, 1, 10, radius=1e-9)
    assert table.empty
    assert list(table) == list(simulate_transactions(50, 10, 1))


def test_large_amounts_are_fraud_and_as_many_as_expected(honest):
    np.testing.assert_array_equal(honest["fraud_kind"] == 1, honest["amount"] > 220)
    mean = world().mean_amount[honest["customer"]]
    probability = stats.norm.sf((220 - mean) / (mean / 2))
    found = honest["fraud"].sum()
    assert found > 0
    assert abs(found - probability.sum()) < SIGMAS * math.sqrt(probability.sum())


def test_the_payments_do_not_depend_on_the_fraud(honest, busy):
    columns = ["transaction_id", "time", "customer", "terminal"]
    pd.testing.assert_frame_equal(honest[columns], busy[columns])
    genuine = busy["fraud_kind"] == 0
    np.testing.assert_array_equal(busy.loc[genuine, "amount"], honest.loc[genuine, "amount"])


def struck(events, who, days, lasting):
    """By the definition: was this one drawn on the day or on one of those before it?"""
    drawn = {divmod(int(event), DAYS) for event in events}
    return np.array(
        [
            any((w, day - ago) in drawn for ago in range(lasting))
            for w, day in zip(who.tolist(), days.tolist(), strict=True)
        ]
    )


def draws():
    """The terminals and the customers that `busy` draws."""
    crime = streams()[2]
    terminals = _simulate._draw_events(N_TERMINALS, np.full(DAYS, 2.0), crime)
    return terminals, _simulate._draw_events(N_CUSTOMERS, np.full(DAYS, 3.0), crime)


def test_every_payment_at_a_compromised_terminal_is_fraud(honest, busy):
    events, _ = draws()
    compromised = struck(events, busy["terminal"], days_of(busy), 28)
    large = honest["amount"] > 220
    np.testing.assert_array_equal(busy["fraud_kind"] == 2, compromised & ~large)


def test_a_third_of_the_payments_with_a_leaked_card_is_fraud(honest, busy):
    _, events = draws()
    leaked = struck(events, busy["customer"], days_of(busy), 14)
    by_thief = busy["fraud_kind"] == 3
    assert not np.any(by_thief & ~leaked)

    multiplied = (busy["amount"] != honest["amount"]).to_numpy()
    times_five = (honest["amount"] * 5).round(2)
    np.testing.assert_allclose(busy["amount"][multiplied], times_five[multiplied])
    np.testing.assert_array_equal(multiplied & ~(busy["fraud_kind"] < 3), by_thief & multiplied)
    assert (honest["amount"][by_thief & ~multiplied] == 0).all()
    assert (busy["fraud"][multiplied] == 1).all()

    payments = np.bincount(busy["customer"][leaked], minlength=N_CUSTOMERS)
    stolen = np.bincount(busy["customer"][multiplied], minlength=N_CUSTOMERS)
    zero = np.bincount(busy["customer"][leaked & (honest["amount"] == 0)], minlength=N_CUSTOMERS)
    assert np.all(np.abs(stolen - payments / 3) <= 1 + zero)


def variance_of_struck(table, who, n, a_day, lasting):
    """Of the rows struck by all draws: E[(rows of one draw)²] for each of them, added up."""
    cells = np.histogram2d(table[who], days_of(table), [np.arange(n + 1), np.arange(DAYS + 1)])[0]
    up_to = np.pad(cells.cumsum(axis=1), ((0, 0), (1, 0)))
    ends = np.minimum(np.arange(DAYS) + lasting, DAYS)
    of_a_draw = up_to[:, ends] - up_to[:, :-1]
    return a_day * (of_a_draw**2).mean(axis=0).sum()


def test_fraud_shares_are_those_the_draws_imply():
    found, expected, variance = np.zeros(2), np.zeros(2), np.zeros(2)
    for seed in range(20):
        table = simulate(fraud_rate=10, random_state=seed)
        lasted = days_of(table) + 1
        at_terminal = 1 - (1 - 2 / N_TERMINALS) ** np.minimum(lasted, 28)
        of_customer = 1 - (1 - 3 / N_CUSTOMERS) ** np.minimum(lasted, 14)
        first = (table["fraud_kind"] == 1).to_numpy()  # the first kind stays
        expected[0] += at_terminal[~first].sum()
        expected[1] += (of_customer * (1 - at_terminal) / 3)[~first].sum()
        found += [(table["fraud_kind"] == kind).sum() for kind in (2, 3)]
        variance[0] += variance_of_struck(table, "terminal", N_TERMINALS, 2, 28)
        variance[1] += variance_of_struck(table, "customer", N_CUSTOMERS, 3, 14) / 9
    tolerance = SIGMAS * np.sqrt(variance)
    assert np.all(np.abs(found - expected) < tolerance)
    assert np.all(tolerance < expected / 5), "else the test says nothing"


def test_whole_numbers_a_day_are_kept_and_others_drawn_around_them():
    rng = np.random.default_rng(0)
    events = _simulate._draw_events(100, np.full(400, 3.0), rng)
    assert np.bincount(events % 400).tolist() == [3] * 400
    assert len(np.unique(events)) == 1200, "nobody twice a day"
    numbers = np.bincount(_simulate._draw_events(100, np.full(400, 2.3), rng) % 400)
    assert numbers.min() == 2
    assert abs(numbers.mean() - 2.3) < SIGMAS * math.sqrt(0.3 / 400)
    everybody = _simulate._draw_events(4, np.full(3, 1e6), rng)
    assert everybody.tolist() == list(range(12))


def test_a_rate_scales_the_fraud():
    shares = [(simulate(fraud_rate=r)["fraud_kind"] > 1).mean() for r in (0, 5, 10)]
    assert shares[0] == 0
    # At the lower rate some 90 terminals are drawn: a sd of about a tenth, and heavy tails.
    assert shares[2] / shares[1] == pytest.approx(2, rel=0.5)


def test_the_share_does_not_depend_on_the_size():
    sizes = [(250, 500), (1_000, 2_000)]
    share = [
        np.mean(
            [
                simulate_transactions(*size, 120, fraud_rate=4, random_state=seed)["fraud"].mean()
                for seed in range(4)
            ]
        )
        for size in sizes
    ]
    assert share[0] == pytest.approx(share[1], rel=0.25)


def test_drift_moves_the_mix_and_shrinks_the_amounts(honest):
    drifting = simulate(fraud_rate=50, drift=1.0)
    steady = simulate(fraud_rate=50)
    late = days_of(drifting) >= DAYS - 20

    def share(table, kind):
        return (table["fraud_kind"][late] == kind).mean()

    # In the last 20 days (and the windows before them) u is above 0.45.
    assert share(drifting, 2) < 0.7 * share(steady, 2)
    assert share(drifting, 3) > 1.5 * share(steady, 3)

    u = days_of(drifting) / (DAYS - 1)
    stolen = (drifting["fraud_kind"] == 3).to_numpy()
    expected = (honest["amount"] * (5 - 3 * u)).round(2)
    np.testing.assert_allclose(drifting["amount"][stolen], expected[stolen], atol=0.0101)
    assert (steady["amount"] / honest["amount"])[late & (steady["fraud_kind"] == 3)].min() > 4


@pytest.mark.parametrize("size", [(10_000, 5_000), (300, 700)])
def test_drift_leaves_the_sum_of_the_fraud(size):
    change = np.linspace(0, 1, 11)
    terminals, customers = _simulate._numbers_a_day(*size, change)
    share = terminals / size[0] * 28 + customers / size[1] * 14 / 3
    np.testing.assert_allclose(share, 0.0084)
    np.testing.assert_allclose(terminals / terminals[0], 1 - change, atol=1e-12)


def test_a_seed_fixes_everything():
    pd.testing.assert_frame_equal(simulate(random_state=3), simulate(random_state=3))
    assert not simulate(random_state=3).equals(simulate(random_state=4))
    by_generator = simulate(random_state=np.random.default_rng(3))
    pd.testing.assert_frame_equal(by_generator, simulate(random_state=3))
    assert len(simulate(random_state=None))


def test_it_starts_when_told(honest):
    later = simulate(fraud_rate=0, start="2030-02-03 17:00")
    shift = pd.Timestamp("2030-02-03") - pd.Timestamp("2026-01-01")
    pd.testing.assert_series_equal(later["time"], honest["time"] + shift)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_customers": 0}, "'n_customers' parameter of simulate_transactions must be an int"),
        ({"n_terminals": 2.5}, "'n_terminals' parameter"),
        ({"days": 0}, "'days' parameter"),
        ({"radius": 0}, "'radius' parameter"),
        ({"radius": math.nan}, "'radius' parameter"),
        ({"fraud_rate": -1}, "'fraud_rate' parameter"),
        ({"fraud_rate": math.inf}, "'fraud_rate' parameter"),
        ({"drift": 1.5}, "'drift' parameter"),
        ({"random_state": -1}, "'random_state' parameter"),
        ({"random_state": "seed"}, "'random_state' parameter"),
        ({"start": "someday"}, "start must be a date without a time zone.*'someday'"),
        ({"start": None}, "start must be a date"),
        ({"start": "2026-01-01T00:00Z"}, "start must be a date without a time zone"),
    ],
)
def test_mistakes_get_a_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        simulate_transactions(**{"n_customers": 5, "days": 2, **arguments})
