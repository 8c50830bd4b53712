from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score
from trees.naive import Rows, ordered, precision_within, two_level_ap, two_level_auc

from rarefind.metrics import precision_at_k
from rarefind.trees import _merge
from rarefind.trees._merge import best_cut, rank_leaves, shrunk

METRICS = {"average_precision": average_precision_score, "roc_auc": roc_auc_score}
TWINS = {"average_precision": two_level_ap, "roc_auc": two_level_auc}

few = settings(max_examples=30)

leaf = st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(any)
counts = st.lists(leaf, min_size=2, max_size=10).filter(
    lambda leaves: all(sum(count) > 0 for count in zip(*leaves, strict=True))
)


class Leaves:
    """Leaves with positives and negatives, and their rows."""

    def __init__(self, counts, factor):
        self.leaf = np.repeat(np.arange(len(counts)), [sum(count) for count in counts])
        positive = np.concatenate([[True] * p + [False] * n for p, n in counts])
        weight = factor * np.ones(self.leaf.size)
        self.rows = Rows(np.zeros((self.leaf.size, 1)), positive, weight, np.array([False]))
        self.positive = np.bincount(self.leaf, weight * positive)
        self.weight = np.bincount(self.leaf, weight)

    def holds(self, leaves):
        """Which rows are in the leaves."""
        return np.isin(self.leaf, leaves)

    def scored(self, metric, first):
        rows = self.rows
        return metric(rows.positive, first.astype(float), sample_weight=rows.weight)


leaves = st.builds(Leaves, counts, st.sampled_from([1.0, 0.3, 7.0]))


def subsets(n):
    for size in range(1, n):
        yield from combinations(range(n), size)


@pytest.mark.parametrize("order", ["precision", "ratio"])
@given(leaves)
def test_the_order_of_leaves(order, leaves):
    found = rank_leaves(leaves.positive, leaves.weight, order)
    rows_of = [np.flatnonzero(leaves.leaf == i) for i in range(leaves.positive.size)]
    expected = ordered(rows_of, leaves.rows, order)
    for i, rows in zip(found, expected, strict=True):
        assert leaves.weight[i] == pytest.approx(leaves.rows.weight[rows].sum())
        assert leaves.positive[i] == pytest.approx(
            leaves.rows.weight[rows][leaves.rows.positive[rows]].sum()
        )


@pytest.mark.parametrize(
    ("order", "expected"), [("precision", [0, 2, 1, 3]), ("ratio", [0, 1, 2, 3])]
)
def test_the_published_order_prefers_many_positives(order, expected):
    positive, weight = np.array([1.0, 40, 1, 0]), np.array([1.0, 100, 2, 50])
    assert rank_leaves(positive, weight, order).tolist() == expected


@given(leaves, st.floats(0.1, 50))
def test_shrinkage_draws_precisions_to_that_of_all(leaves, shrinkage):
    base = leaves.positive.sum() / leaves.weight.sum()
    precision = shrunk(leaves.positive, leaves.weight, shrinkage) / leaves.weight
    expected = (leaves.positive + shrinkage * base) / (leaves.weight + shrinkage)
    np.testing.assert_allclose(precision, expected)
    same = shrunk(leaves.positive, leaves.weight, 0.0)
    np.testing.assert_allclose(same, leaves.positive)


@pytest.mark.parametrize("target", METRICS)
@given(leaves)
@few
def test_values_are_those_of_the_ranking_in_two_levels(target, leaves):
    formula = {"average_precision": _merge.two_level_ap, "roc_auc": _merge.two_level_auc}[target]
    total = leaves.positive.sum(), leaves.weight.sum()
    for chosen in [*subsets(leaves.positive.size)][:6]:
        first, chosen = leaves.holds(chosen), list(chosen)
        expected = leaves.scored(METRICS[target], first)
        assert TWINS[target](leaves.rows, first) == pytest.approx(expected)
        found = formula(leaves.positive[chosen].sum(), leaves.weight[chosen].sum(), *total)
        assert found == pytest.approx(expected)


@pytest.mark.parametrize("target", METRICS)
@given(leaves)
@few
def test_in_the_order_of_precision_no_set_of_leaves_is_better(target, leaves):
    left = best_cut(leaves.positive, leaves.weight, "precision", target)
    assert 0 < left.sum() < left.size
    reached = leaves.scored(METRICS[target], leaves.holds(np.flatnonzero(left)))
    twin = TWINS[target]
    assert reached >= max(twin(leaves.rows, leaves.holds(s)) for s in subsets(left.size)) - 1e-9


def prefixes(leaves, order):
    ranked = rank_leaves(leaves.positive, leaves.weight, order)
    return [ranked[:i] for i in range(1, ranked.size)]


@pytest.mark.parametrize("order", ["precision", "ratio"])
@pytest.mark.parametrize("target", METRICS)
@given(leaves)
@few
def test_the_cut_is_the_best_in_its_order(target, order, leaves):
    left = best_cut(leaves.positive, leaves.weight, order, target)
    tried = prefixes(leaves, order)
    assert set(np.flatnonzero(left)) in [set(prefix) for prefix in tried]
    best = max(leaves.scored(METRICS[target], leaves.holds(prefix)) for prefix in tried)
    reached = leaves.scored(METRICS[target], leaves.holds(np.flatnonzero(left)))
    assert reached == pytest.approx(best)


def at_budget(leaves, order, k):
    """Precision at k and AP of every prefix, and which was chosen."""
    left = best_cut(leaves.positive, leaves.weight, order, "average_precision", k)
    tried = prefixes(leaves, order)
    chosen = [set(prefix) for prefix in tried].index(set(np.flatnonzero(left)))
    masks = [leaves.holds(prefix) for prefix in tried]
    values = [precision_within(leaves.rows, first, k) for first in masks]
    return values, [two_level_ap(leaves.rows, first) for first in masks], chosen, masks


@pytest.mark.parametrize("order", ["precision", "ratio"])
@given(counts.map(lambda c: Leaves(c, 1.0)), st.data())
def test_the_cut_for_a_budget_is_the_best_for_it(order, leaves, data):
    k = data.draw(st.integers(1, leaves.leaf.size - 1))
    values, aps, chosen, masks = at_budget(leaves, order, k)
    total = leaves.positive.sum(), leaves.weight.sum()
    for first, value in zip(masks, values, strict=True):
        public = precision_at_k(leaves.rows.positive, first.astype(float), k, pos_label=True)
        sums = leaves.rows.positive[first].sum(), first.sum()
        assert value == pytest.approx(public)
        assert _merge.two_level_precision(*sums, *total, k) == pytest.approx(public)
    assert values[chosen] == pytest.approx(max(values))
    equal = [ap for value, ap in zip(values, aps, strict=True) if value > max(values) - 1e-10]
    assert aps[chosen] == pytest.approx(max(equal))


@given(leaves, st.floats(0.01, 0.99))
def test_budgets_may_be_weights(leaves, share):
    k = share * leaves.weight.sum()
    values, _, chosen, _ = at_budget(leaves, "precision", k)
    assert values[chosen] == pytest.approx(max(values))


def test_a_budget_changes_the_cut():
    positive, weight = np.array([2.0, 30, 0]), np.array([2.0, 60, 100])
    assert best_cut(positive, weight, "precision", "average_precision").tolist() == [1, 1, 0]
    cut = best_cut(positive, weight, "precision", "average_precision", 2.0)
    assert cut.tolist() == [1, 0, 0]
