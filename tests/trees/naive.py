"""Slow twins of the tree builder: they know rows, not codes, and try everything."""

from itertools import product
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from scipy.special import entr

from rarefind.data import PositiveAwareBinner
from rarefind.trees._grow import EXACT_LEVELS

CONVEX = ("max-ap", "gini", "entropy", "auc")
ALL = (*CONVEX, "ap")


class Rows(NamedTuple):
    """A table, its labels and weights, and which columns hold levels."""

    X: np.ndarray
    positive: np.ndarray
    weight: np.ndarray
    is_set: np.ndarray

    def of(self, chosen):
        return Rows(self.X[chosen], self.positive[chosen], self.weight[chosen], self.is_set)


def column_of(rng, kind, n, positive):
    if kind == "numbers":
        values = rng.normal(size=n) + positive
    elif kind == "ties":
        values = rng.integers(-2, 3, n) + rng.integers(0, 2, n) * positive
    else:
        levels = rng.choice([-3.0, 0.0, 0.5, 1.0, 2.0, 7.0, 1e6, 12.5], rng.integers(1, 9), False)
        values = rng.choice(levels, n)
    return values.astype(float)


def random_rows(seed, n, kinds, weights="floats", missing=0.25):
    """Rows of both classes with columns of ``kinds``, about every other one with missing values."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < rng.uniform(0.1, 0.6)
    positive[rng.permutation(n)[:2]] = True, False
    X = np.column_stack([column_of(rng, kind, n, positive) for kind in kinds])
    X[(rng.random(X.shape) < missing) & (rng.random(len(kinds)) < 0.5)] = np.nan
    for column, kind in zip(X.T, kinds, strict=True):
        if kind == "levels" and np.unique(column).size > EXACT_LEVELS:  # a missing value counts
            column[column == np.nanmax(column)] = np.nan
    weight = {
        "ones": np.ones(n),
        "ints": rng.integers(1, 4, n).astype(float),
        "floats": rng.uniform(0.1, 3, n),
    }[weights]
    return Rows(X, positive, weight, np.array([kind == "levels" for kind in kinds]))


@st.composite
def tables(draw, kinds=("numbers", "ties", "levels"), weights=("ones", "ints", "floats")):
    return random_rows(
        draw(st.integers(0, 10**6)),
        draw(st.integers(2, 30)),
        draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4)),
        draw(st.sampled_from(weights)),
    )


def two_level_ap(rows, first, shrinkage=0.0):
    """AP of ranking the rows ``first`` ahead: each level adds recall times precision."""
    hits = rows.weight[rows.positive & first].sum()
    positives = rows.weight[rows.positive].sum()
    rest = positives - hits
    before = positives / rows.weight.sum()
    precision = hits / rows.weight[first].sum()
    if shrinkage:  # so many rows more, of the precision of all
        precision = (hits + shrinkage * before) / (rows.weight[first].sum() + shrinkage)
    return hits / positives * precision + rest / positives * before


def two_level_auc(rows, first):
    alpha = rows.weight[~rows.positive & first].sum() / rows.weight[~rows.positive].sum()
    beta = rows.weight[rows.positive & first].sum() / rows.weight[rows.positive].sum()
    return alpha * beta / 2 + (1 - alpha) * (beta + 1) / 2  # two trapezia


def precision_within(rows, first, k):
    """Precision of the first weight ``k``, of each level as much as is within, spread evenly."""
    hits, room = 0.0, k
    for level in (first, ~first):
        weight = rows.weight[level].sum()
        within = min(room, weight)
        hits += within * rows.weight[level & rows.positive].sum() / weight
        room -= within
    return hits / k


def impurity(name, rows):
    shares = np.array([rows.weight[rows.positive].sum(), rows.weight[~rows.positive].sum()])
    shares = shares / shares.sum()
    return 1 - (shares**2).sum() if name == "gini" else entr(shares).sum() / np.log(2)


def worth(criterion, rows, left, shrinkage=0.0):
    """What sending the rows ``left`` to one side is worth, by definition."""
    if criterion in ("gini", "entropy"):
        total = rows.weight.sum()
        after = sum(
            rows.weight[side].sum() / total * impurity(criterion, rows.of(side))
            for side in (left, ~left)
        )
        return impurity(criterion, rows) - after
    if criterion == "auc":
        return max(two_level_auc(rows, left), two_level_auc(rows, ~left))
    if criterion == "max-ap":
        return max(two_level_ap(rows, side, shrinkage) for side in (left, ~left))
    both = sum(rows.weight[side].sum() * two_level_ap(rows, side) for side in (left, ~left))
    return both / rows.weight[rows.positive].sum()


def useless(criterion, rows):
    precision = rows.weight[rows.positive].sum() / rows.weight.sum()
    # The published criterion takes the best split, whatever it is worth.
    return {"max-ap": precision, "ap": -1.0, "auc": 0.5}.get(criterion, 0.0)


def partitions(column, is_set, cuts=None):
    """All ways to part the rows of a column in two; numbers only below ``cuts``, if given."""
    missing = np.isnan(column)
    if is_set:
        level = np.unique(column, return_inverse=True)[1]  # a missing value is one
        for sides in product([False, True], repeat=level.max()):
            yield np.array([False, *sides])[level]  # the other half are the complements
        return
    places = [column <= value for value in np.unique(column[~missing])]
    if cuts is not None:
        places = [column < cut for cut in cuts] + [~missing]
    for below in places:
        yield below
        yield below | missing


def best_split(criterion, rows, min_rows=1, cuts=None, columns=None, shrinkage=0.0):
    """Worth of the best partition by one column, and the partition; -inf where there is none."""
    best, found = -np.inf, None
    for j in range(rows.X.shape[1]) if columns is None else columns:
        for left in partitions(rows.X[:, j], rows.is_set[j], cuts and cuts[j]):
            if min(left.sum(), (~left).sum()) >= min_rows:
                value = worth(criterion, rows, left, shrinkage)
                if value > best:
                    best, found = value, left
    return best, found


def bin_cuts(rows, max_bins):
    binner = PositiveAwareBinner(max_bins=max_bins, pos_label=True)
    return binner.fit(rows.X, rows.positive).cuts_


def is_better(value, reference):
    return value > reference + 1e-9 * max(reference, 1e-3)


def inner_leaves(rows, chosen, depth, plan):
    """The rows of each leaf of a tree of the best splits of the rows ``chosen``."""
    here = rows.of(chosen)
    if depth == 0 or here.positive.all() or not here.positive.any():
        return [chosen]
    value, left = best_split(plan.criterion, here, plan.min_rows, shrinkage=plan.shrinkage)
    if not is_better(value, useless(plan.criterion, here)):
        return [chosen]
    return [
        leaf for side in (left, ~left) for leaf in inner_leaves(rows, chosen[side], depth - 1, plan)
    ]


def ordered(leaves, rows, order):
    """Leaves from the first to the last."""
    total = rows.weight[np.concatenate(leaves)][rows.positive[np.concatenate(leaves)]].sum()

    def key(leaf):
        weight, positive = rows.weight[leaf].sum(), rows.weight[leaf][rows.positive[leaf]].sum()
        first = -positive / weight
        if order == "ratio":
            first = (1 - positive / weight) / (positive / total) if positive else np.inf
        return first, -positive, -weight

    return sorted(leaves, key=key)


def two_rows_each(leaves, rows, shrinkage):
    """A row with the positives of each leaf and one with its negatives, precisions shrunk."""
    weight = np.array([rows.weight[leaf].sum() for leaf in leaves])
    positive = np.array([rows.weight[leaf][rows.positive[leaf]].sum() for leaf in leaves])
    if shrinkage:
        base = positive.sum() / weight.sum()
        positive = weight * (positive + shrinkage * base) / (weight + shrinkage)
    both = np.column_stack([positive, weight - positive]).ravel()
    return Rows(np.zeros((both.size, 1)), np.arange(both.size) % 2 == 0, both, rows.is_set)


def merged(leaves, rows, plan, ahead):
    """The rows on either side of the best cut of the leaves in order."""
    budget = None if plan.budget is None else plan.budget - ahead
    here = two_rows_each(leaves, rows, plan.shrinkage if plan.order == "precision" else 0.0)
    pairs = ordered(list(np.arange(here.weight.size).reshape(-1, 2)), here, plan.order)

    def value(n):
        first = np.isin(np.arange(here.weight.size), pairs[:n])
        if plan.target == "roc_auc":
            return (two_level_auc(here, first),)
        if budget is not None and 0 < budget < here.weight.sum():
            return round(precision_within(here, first, budget), 9), two_level_ap(here, first)
        return (two_level_ap(here, first),)

    n = max(range(1, len(leaves)), key=value)
    sides = pairs[:n], pairs[n:]
    return [np.sort(np.concatenate([leaves[p[0] // 2] for p in side])) for side in sides]


def meta_leaves(rows, plan, chosen=None, depth=0, ahead=0.0):
    """The rows of each outer leaf of MetaAP, from the first to the last."""
    chosen = np.arange(rows.positive.size) if chosen is None else chosen
    leaves = inner_leaves(rows, chosen, plan.inner_depth, plan)
    if depth == plan.outer_depth or len(leaves) == 1:
        return [chosen.tolist()]
    first, second = merged(leaves, rows, plan, ahead)
    return meta_leaves(rows, plan, first, depth + 1, ahead) + meta_leaves(
        rows, plan, second, depth + 1, ahead + rows.weight[first].sum()
    )


def path(tree, x):
    """The conditions and the outer leaf that one row meets, by the raw values."""
    outer, at, met = 0, tree.nodes.root[0], []
    while at >= 0:
        met.append(int(at))
        c = tree.conditions
        value, number = x[c.feature[at]], c.set_number[at]
        holds = value <= c.threshold[at]
        if np.isnan(value):
            holds = c.missing_left[at]
        elif number >= 0:
            levels = tree.levels[c.feature[at]]
            known = np.flatnonzero(levels == value)
            holds = tree.sets[number, known[0] if known.size else levels.size + 1]
        at = c.left[at] if holds else c.right[at]
        if at < 0:
            outer = -1 - at
            at = tree.nodes.root[outer]
    return met, int(outer)
