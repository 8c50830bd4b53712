import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rarefind.auto._judge import Held, _in_order, beats_chance, is_clearly_better, judge
from rarefind.auto._member import RankScale
from rarefind.metrics import average_precision


def held(shift, n=2000, share=0.03, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < share
    return Held(positive, rng.normal(size=n) + shift * positive, np.ones(n))


def test_worth_is_the_mean_of_both_measures_as_shares_of_the_best():
    positive = np.array([True, False, True, False, False])
    part = Held(positive, np.array([5.0, 4, 3, 2, 1]), np.ones(5))
    found = judge(part, 0.2)
    assert found.precision == 1
    assert found.average_precision == pytest.approx((1 + 2 / 3) / 2)
    assert found.worth == pytest.approx((found.average_precision + 1) / 2)
    assert judge(part, 0.8).worth == pytest.approx((found.average_precision + 0.5 / 0.5) / 2)


@given(st.integers(0, 200))
def test_average_precision_in_an_order_is_that_of_scores_without_ties(seed):
    rng = np.random.default_rng(seed)
    positive, score, weight = rng.random(30) < 0.3, rng.permutation(30), rng.random(30)
    if not positive.any():
        return
    expected = average_precision(positive, score, sample_weight=weight)
    assert _in_order(positive, weight, np.argsort(-score)) == pytest.approx(expected)


def test_chance_is_told_from_skill():
    assert beats_chance([held(1.5)], tried=15, seed=0)
    lucky = [beats_chance([held(0.0, 300, 0.05, seed)], tried=15, seed=0) for seed in range(30)]
    assert sum(lucky) <= 2


def test_a_mean_is_taken_only_where_it_is_clearly_better():
    good, better = held(1.0), held(1.0)
    better = better._replace(score=better.score + 1.0 * better.positive)
    assert is_clearly_better([better], [good], 0.1, seed=0)
    assert not is_clearly_better([better], [good], 0.001, seed=0)
    assert not is_clearly_better([good], [good], 0.1, seed=0)
    assert not is_clearly_better([good], [better], 0.1, seed=0)


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30),
    st.lists(st.floats(-1e4, 1e4), min_size=2, max_size=30),
)
def test_ranks_rise_with_scores_between_0_and_1(known, new):
    scale = RankScale.of(np.array(known), np.ones(len(known)))
    scores = np.unique(np.round(new, 3))
    ranks = scale.of_scores(scores)
    assert ((ranks > 0) & (ranks < 1)).all()
    assert (np.diff(ranks) > 0).all()


def test_a_rank_is_the_share_of_held_out_rows_below():
    rng = np.random.default_rng(0)
    known, weight = rng.normal(size=50_000), rng.random(50_000)
    scale = RankScale.of(known, weight)
    assert scale.score.size <= 4096
    for score in (-3.0, -0.5, 0.0, 1.0, 3.5):
        below = weight[known < score].sum() / weight.sum()
        assert scale.of_scores(np.array([score]))[0] == pytest.approx(below, rel=0.02, abs=1e-5)
