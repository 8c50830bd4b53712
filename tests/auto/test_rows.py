from contextlib import suppress

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rarefind.auto._rows import Known, check_times, in_time


def known(n=2000, positives=40, groups=None, times=None, seed=0):
    rng = np.random.default_rng(seed)
    positive = np.zeros(n, dtype=bool)
    positive[rng.choice(n, positives, replace=False)] = True
    return Known(rng.normal(size=(n, 2)), positive, groups, times)


def test_samples_keep_positives_as_far_as_they_fit_in():
    rows = known()
    everything = np.arange(2000)
    some = rows.sample(everything, 400, 1)
    assert some.size == np.unique(some).size == 400
    assert rows.positive[some].sum() == 40
    few = rows.sample(everything, 80, 1)
    assert few.size == 80
    assert rows.positive[few].sum() == 20
    np.testing.assert_array_equal(rows.sample(everything, 80, 1), few)
    np.testing.assert_array_equal(rows.sample(everything, 5000, 1), everything)


def test_rows_that_judge_stand_for_all_that_are_held_out():
    rows = known(60_000, 600)
    for fold in rows.folds(2, 0):
        held = np.setdiff1d(np.arange(60_000), fold.train)
        assert fold.judged.size == 20_000
        assert np.isin(fold.judged, held).all()
        own = rows.positive[fold.judged]
        assert fold.weight.sum() == pytest.approx(held.size)
        assert fold.weight[own].sum() == pytest.approx(rows.positive[held].sum())
        assert (fold.weight[own] == 1).all()


def test_groups_stay_on_one_side_also_inside_a_fit():
    groups = np.arange(2000) // 5
    rows = known(groups=groups)
    for fold in rows.folds(5, 0):
        assert not set(groups[fold.train]) & set(groups[fold.judged])
    own = np.arange(0, 2000, 2)
    for train, held in rows.inner(own, 0):
        assert not set(groups[own[train]]) & set(groups[own[held]])


@given(st.lists(st.integers(0, 12), min_size=12, max_size=60), st.integers(0, 9))
def test_what_judges_is_later_than_what_is_learned_from(whole, seed):
    times = np.array(whole)
    positive = np.random.default_rng(seed).random(times.size) < 0.4
    pairs = []
    with suppress(ValueError):  # where nothing is before anything else
        pairs = in_time(times, positive, 4)
    assume(pairs)
    judged = np.concatenate([held for _, held in pairs])
    assert judged.size == np.unique(judged).size
    for train, held in pairs:
        assert times[train].max() < times[held].min()
        for part in (train, held):
            assert 0 < positive[part].sum() < part.size


def test_inside_a_fit_the_last_part_in_time_is_held_out():
    times = np.random.default_rng(1).integers(0, 500, 2000)
    rows = known(times=times)
    own = np.arange(1, 2000, 3)
    ((train, held),) = rows.inner(own, 0)
    assert times[own[train]].max() < times[own[held]].min()


@pytest.mark.parametrize(
    ("times", "sentence"),
    [
        ([1, 2], "There are 2 times for 3 rows"),
        ([1, np.nan, 2], "missing in 1 rows"),
        (["a", "b", "c"], "numbers or dates"),
    ],
)
def test_times_that_do_not_order_rows_are_refused(times, sentence):
    with pytest.raises(ValueError, match=sentence):
        check_times(times, 3)
