import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score
from trees.naive import ALL, CONVEX, random_rows, worth
from trees.naive import useless as slow_useless

from rarefind.trees._criteria import CRITERIA, split_value, useless_value


@st.composite
def splits(draw):
    """Rows of both classes, and which of them go left."""
    seed, n = draw(st.integers(0, 10**6)), draw(st.integers(2, 30))
    rows = random_rows(seed, n, ["numbers"], draw(st.sampled_from(["ones", "ints", "floats"])))
    left = np.random.default_rng(seed).random(n) < draw(st.floats(0, 1))
    left[:2] = True, False
    return rows, left


def sums(rows, left):
    return [
        rows.weight[side & classes].sum()
        for side in (left, ~left)
        for classes in (rows.positive, np.full(left.size, True))
    ]


def value(criterion, rows, left, shrinkage=0.0):
    return split_value(CRITERIA[criterion], shrinkage, *sums(rows, left))


def ranked(metric, rows, first):
    return metric(rows.positive, first.astype(float), sample_weight=rows.weight)


@given(splits())
def test_ap_weighs_the_average_precisions_of_both_rankings(split):
    rows, left = split
    sides = [(rows.weight[side].sum(), ranked(average_precision_score, rows, side))
             for side in (left, ~left)]  # fmt: skip
    expected = sum(weight * ap for weight, ap in sides) / rows.weight[rows.positive].sum()
    assert value("ap", rows, left) == pytest.approx(expected)


@given(splits())
def test_ap_in_shares(split):
    rows, left = split
    p_l, w_l, p_r, w_r = sums(rows, left)
    a, b = p_l / (p_l + p_r), w_l / (w_l + w_r)
    assert value("ap", rows, left) == pytest.approx(1 + (2 * a - 1) * (a - b))


@given(splits())
def test_max_ap_is_the_better_of_both_rankings(split):
    rows, left = split
    expected = max(ranked(average_precision_score, rows, side) for side in (left, ~left))
    assert value("max-ap", rows, left) == pytest.approx(expected)


@given(splits())
def test_max_ap_is_the_precision_plus_what_the_richer_side_adds(split):
    rows, left = split
    p_l, w_l, p_r, w_r = sums(rows, left)
    before = (p_l + p_r) / (w_l + w_r)
    gain = max(p / (p_l + p_r) * (p / w - before) for p, w in ((p_l, w_l), (p_r, w_r)))
    assert value("max-ap", rows, left) == pytest.approx(before + gain)


@given(splits())
def test_auc_is_that_of_the_better_side_first(split):
    rows, left = split
    expected = max(ranked(roc_auc_score, rows, side) for side in (left, ~left))
    assert value("auc", rows, left) == pytest.approx(expected)


@pytest.mark.parametrize("criterion", ALL)
@given(splits())
def test_every_criterion_is_its_slow_twin(criterion, split):
    rows, left = split
    assert value(criterion, rows, left) == pytest.approx(worth(criterion, rows, left), abs=1e-12)


@given(splits(), st.floats(0, 50))
def test_shrinkage_adds_rows_of_the_precision_before(split, shrinkage):
    rows, left = split
    found = value("max-ap", rows, left, shrinkage)
    assert found == pytest.approx(worth("max-ap", rows, left, shrinkage), abs=1e-12)
    p_l, w_l, p_r, w_r = sums(rows, left)
    before = (p_l + p_r) / (w_l + w_r)
    gains = [
        p / (p_l + p_r) * ((p + shrinkage * before) / (w + shrinkage) - before)
        for p, w in ((p_l, w_l), (p_r, w_r))
    ]
    assert found == pytest.approx(before + max(gains))
    assert found <= value("max-ap", rows, left) + 1e-12


@pytest.mark.parametrize("criterion", ["ap", "gini", "entropy", "auc"])
@given(splits(), st.floats(0, 50))
def test_only_max_ap_is_shrunk(criterion, split, shrinkage):
    assert value(criterion, *split, shrinkage) == value(criterion, *split)


@pytest.mark.parametrize("criterion", ALL)
@given(splits())
def test_sides_have_no_names(criterion, split):
    rows, left = split
    assert value(criterion, rows, left) == pytest.approx(value(criterion, rows, ~left), abs=1e-12)


share = st.floats(0.001, 0.999)


@pytest.mark.parametrize("criterion", CONVEX)
@given(st.tuples(share, share), st.tuples(share, share), share)
def test_convex_criteria_bend_upwards(criterion, one, other, precision):
    def of(shares):
        p_l, n_l = shares[0] * precision, shares[1] * (1 - precision)
        return split_value(CRITERIA[criterion], 0.0, p_l, p_l + n_l, precision - p_l, 1 - p_l - n_l)

    middle = of((np.array(one) + other) / 2)
    assert middle <= (of(one) + of(other)) / 2 + 1e-9


def test_ap_does_not_bend_upwards():
    def of(a, b):
        return split_value(CRITERIA["ap"], 0.0, 10 * a, 100 * b, 10 * (1 - a), 100 * (1 - b))

    assert of(0.5, 0.5) > (of(0.4, 0.3) + of(0.6, 0.7)) / 2 + 0.01


@pytest.mark.parametrize("criterion", CONVEX)
@given(share, share, st.floats(0.1, 1e6))
def test_a_split_that_changes_no_precision_is_useless(criterion, part, precision, weight):
    p = precision * weight
    found = split_value(
        CRITERIA[criterion], 0.0, part * p, part * weight, (1 - part) * p, (1 - part) * weight
    )
    assert found == pytest.approx(useless_value(CRITERIA[criterion], p, weight), abs=1e-9)


@pytest.mark.parametrize("criterion", ALL)
@given(splits())
def test_useless_is_the_least_of_convex_criteria_and_known_to_the_twin(criterion, split):
    rows, left = split
    p, w = rows.weight[rows.positive].sum(), rows.weight.sum()
    found = useless_value(CRITERIA[criterion], p, w)
    assert found == pytest.approx(slow_useless(criterion, rows))
    if criterion in CONVEX:
        assert value(criterion, rows, left) >= found - 1e-12
