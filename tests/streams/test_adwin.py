import math
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from rarefind.streams._adwin import BUCKETS, LEVELS, Adwin, adwin_add

DELTA = 0.002

# Short patterns, each repeated a number of times: random floats alone hardly ever change enough.
streams = st.lists(
    st.tuples(st.lists(st.floats(0, 1), min_size=1, max_size=4), st.integers(1, 60)), max_size=5
).map(lambda runs: [value for pattern, times in runs for value in pattern * times])


class NaiveAdwin:
    """The definition: buckets are lists of rows, the oldest first, and a cut looks at all rows."""

    def __init__(self):
        self.rows = 0
        self.buckets = []

    @property
    def window(self):
        return list(chain.from_iterable(self.buckets))

    def add(self, value, delta):
        self.rows += 1
        self.buckets.append([value])
        size = 1
        while [len(bucket) for bucket in self.buckets].count(size) > 5:
            old = [len(bucket) for bucket in self.buckets].index(size)
            self.buckets[old : old + 2] = [self.buckets[old] + self.buckets[old + 1]]
            size *= 2
        change = 0
        if self.rows % 32 == 0 and len(self.window) > 10:
            while found := self.find_change(delta):
                change = found
                del self.buckets[0]
        return change

    def find_change(self, delta):
        window = np.array(self.window)
        for cut in np.cumsum([len(bucket) for bucket in self.buckets])[:-1]:
            older, newer = window[:cut], window[cut:]
            if older.size < 5 or newer.size < 5:
                continue
            m = 1 / (1 / (older.size - 4) + 1 / (newer.size - 4))
            log = math.log(2 * math.log(window.size) / delta)
            least = math.sqrt(2 / m * window.var() * log) + 2 / (3 * m) * log
            rise = newer.mean() - older.mean()
            if abs(rise) > least:
                return 1 if rise > 0 else -1
        return 0


@njit
def add_all(state, values, delta):
    return np.array([adwin_add(state, value, delta) for value in values])


def shifting(seed, n=3000, parts=5):
    """Values around a mean that jumps; every other stream is of zeros and ones."""
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.integers(0, n, parts - 1))
    mean = rng.random(parts)[np.searchsorted(ends, np.arange(n), side="right")]
    if seed % 2:
        return (rng.random(n) < mean).astype(float)
    return np.clip(mean + rng.normal(0, 0.1, n), 0, 1)


def coins(seed, *runs):
    """Zeros and ones, for each run a mean and a number of rows."""
    rng = np.random.default_rng(seed)
    return np.concatenate([(rng.random(n) < mean).astype(float) for mean, n in runs])


def like_naive(values, delta):
    state, naive = Adwin.empty(), NaiveAdwin()
    changes = []
    for value in values:
        changes.append(adwin_add(state, value, delta))
        assert changes[-1] == naive.add(value, delta)
        assert state.width == len(naive.window)
        assert state.mean == pytest.approx(np.mean(naive.window), abs=1e-12)
    return changes


@settings(max_examples=60, deadline=None)
@given(values=streams, delta=st.sampled_from([DELTA, 0.05, 0.5]))
def test_is_the_definition(values, delta):
    like_naive(values, delta)


@pytest.mark.parametrize("seed", range(4))
def test_is_the_definition_on_long_streams(seed):
    changes = like_naive(shifting(seed), DELTA)
    assert np.count_nonzero(changes) >= 3


def test_buckets_are_those_of_the_definition():
    state, naive = Adwin.empty(), NaiveAdwin()
    for value in shifting(0, n=1000):
        adwin_add(state, value, DELTA)
        naive.add(value, DELTA)
    kept = [(level, k) for level in reversed(range(LEVELS)) for k in range(state.used[level])]
    assert [2**level for level, _ in kept] == [len(bucket) for bucket in naive.buckets]
    spread = [len(bucket) * np.var(bucket) for bucket in naive.buckets]
    assert [state.total[place] for place in kept] == pytest.approx([*map(sum, naive.buckets)])
    assert [state.spread[place] for place in kept] == pytest.approx(spread, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(values=streams)
def test_the_window_is_the_last_rows(values):
    state = Adwin.empty()
    for n, value in enumerate(values, start=1):
        before = state.width
        change = adwin_add(state, value, DELTA)
        assert (state.width == before + 1) == (change == 0)
        assert 0 < state.width <= n
        assert state.mean == pytest.approx(np.mean(values[n - state.width : n]), abs=1e-9)


def test_before_the_first_row():
    state = Adwin.empty()
    assert state.width == 0
    assert state.mean == 0.0


@pytest.mark.parametrize("mean", [0.01, 0.2, 0.5])
def test_does_not_cut_where_nothing_changes(mean):
    cuts = [
        np.count_nonzero(add_all(Adwin.empty(), coins(s, (mean, 5000)), DELTA)) for s in range(40)
    ]
    assert sum(cuts) == 0


def test_never_cuts_one_value():
    state = Adwin.empty()
    assert not add_all(state, np.full(5000, 0.1), 0.5).any()
    assert state.width == 5000


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("before", "after", "sign"), [(0.2, 0.6, 1), (0.6, 0.2, -1)])
def test_tells_a_rise_from_a_fall(seed, before, after, sign):
    state = Adwin.empty()
    assert not add_all(state, coins(seed, (before, 2000)), DELTA).any()
    changes = add_all(state, coins(seed + 100, (after, 500)), DELTA)
    assert np.flatnonzero(changes)[0] < 160
    assert set(changes) == {0, sign}
    assert state.width <= 700
    assert state.mean == pytest.approx(after, abs=0.12)


def test_looks_every_32_rows():
    values = np.repeat([0.0, 1.0], [16, 48])
    for delta, rows in [(0.5, [31, 63]), (0.05, [63])]:
        assert np.flatnonzero(add_all(Adwin.empty(), values, delta)).tolist() == rows


def test_a_greater_risk_cuts_sooner():
    values = coins(3, (0.2, 2000), (0.35, 2000))
    first = [np.flatnonzero(add_all(Adwin.empty(), values, d))[0] for d in (1e-6, DELTA, 0.3)]
    assert first[0] > first[1] > first[2] > 2000


def test_memory_stays_as_it_is():
    state = Adwin.empty()
    arrays = [(array.shape, array.dtype) for array in state]
    add_all(state, shifting(1, n=200_000, parts=3), DELTA)
    assert [(array.shape, array.dtype) for array in state] == arrays
    assert state.used.max() <= BUCKETS
    assert state.used @ 2 ** np.arange(LEVELS) == state.width > 10_000
    unused = np.arange(BUCKETS + 1) >= state.used[:, None]
    assert not state.total[unused].any()
    assert not state.spread[unused].any()


def test_a_full_window_drops_its_oldest_rows():
    room, levels = Adwin.empty(), 3
    state = Adwin(room.total[:levels], room.spread[:levels], room.used[:levels], room.count)
    values = np.random.default_rng(0).random(500)
    for n, value in enumerate(values, start=1):
        assert adwin_add(state, value, 1e-9) == 0
        assert min(n, 4 * 7) <= state.width <= 5 * 7
        assert state.mean == pytest.approx(values[n - state.width : n].mean(), abs=1e-9)
    assert not room.used[levels:].any()
    assert not room.total[levels:].any()


@pytest.mark.parametrize("stop", [1, 31, 32, 1000, 2047])
def test_a_copy_goes_on_as_the_window_would(stop):
    values = shifting(2)
    state = Adwin.empty()
    add_all(state, values[:stop], DELTA)
    copy = Adwin(*(array.copy() for array in state))
    changes = add_all(state, values[stop:], DELTA)
    assert changes.any()
    np.testing.assert_array_equal(add_all(copy, values[stop:], DELTA), changes)
    for one, other in zip(state, copy, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


@pytest.mark.parametrize("seed", range(6))
def test_is_the_window_of_river(seed):
    windows = pytest.importorskip("river._river_rust.drift")
    river = windows.AdaptiveWindowing(
        delta=DELTA, clock=32, max_buckets=5, min_window_length=5, grace_period=10
    )
    state = Adwin.empty()
    cuts = 0
    for value in shifting(seed, n=10_000, parts=8):
        change = adwin_add(state, value, DELTA)
        assert (change != 0) == river.update(value)
        assert state.width == river.get_width()
        assert state.mean == pytest.approx(river.get_total() / river.get_width(), abs=1e-9)
        cuts += change != 0
    assert cuts >= 3


@pytest.mark.parametrize("seed", range(6))
def test_alarms_as_river_does(seed):
    """River's detector starts again from nothing after each alarm."""
    river = pytest.importorskip("river.drift").ADWIN(delta=DELTA)
    state = Adwin.empty()
    alarms = 0
    for value in shifting(seed, n=10_000, parts=8):
        change = adwin_add(state, value, DELTA)
        river.update(value)
        assert (change != 0) == river.drift_detected
        if change != 0:
            state = Adwin.empty()
            alarms += 1
    assert alarms >= 3
