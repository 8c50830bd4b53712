import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rarefind.trees._bagging import draw_share


@given(st.integers(1, 30), st.integers(1, 60), st.integers(0, 10**6))
def test_a_share_of_each_class_is_drawn_and_the_rest_held_out(p, n, seed):
    positive = np.random.default_rng(seed).permutation(np.arange(p + n) < p)
    rng = np.random.RandomState(seed)
    drawn = draw_share(positive, None, 0.8, None, rng)
    assert positive[drawn.positives].all()
    assert not positive[drawn.negatives].any()
    for own, number in ((drawn.positives, p), (drawn.negatives, n)):
        assert own.size == (1 if number == 1 else min(max(1, round(0.8 * number)), number - 1))
    every = np.concatenate(drawn)
    np.testing.assert_array_equal(np.sort(every), np.arange(p + n))


@given(st.integers(2, 10), st.integers(0, 10**6))
def test_some_of_the_negatives_are_taken(p, seed):
    positive = np.arange(400) < p
    drawn = draw_share(positive, None, 0.8, 5, np.random.RandomState(seed))
    most = round(0.8 * (400 - p))
    assert 5 * drawn.positives.size <= drawn.negatives.size <= most
    assert drawn.held_out.size == 400 - drawn.positives.size - most
    together = np.concatenate(drawn)
    assert np.unique(together).size == together.size


def test_the_number_of_negatives_is_even_in_its_logarithm():
    positive = np.arange(10_000) < 13
    sizes = [
        draw_share(positive, None, 0.8, 1, np.random.RandomState(seed)).negatives.size
        for seed in range(300)
    ]
    middle = np.sqrt(10 * 0.8 * 9_987)
    assert 0.4 < np.mean(np.array(sizes) < middle) < 0.6


@given(st.integers(2, 30), st.integers(1, 6), st.integers(0, 10**6))
def test_whole_groups_are_held_out(n, n_groups, seed):
    rng = np.random.default_rng(seed)
    positive, groups = rng.random(n) < 0.3, rng.integers(0, n_groups, n)
    positive[0], positive[1] = True, False
    drawn = draw_share(positive, groups, 0.8, None, np.random.RandomState(seed))
    assert drawn.positives.size
    assert drawn.negatives.size
    held_out = set(groups[drawn.held_out])
    assert held_out.isdisjoint(groups[np.concatenate(drawn[:2])])
