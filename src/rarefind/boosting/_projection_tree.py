"""The tree of a round in which directions are learned: a small histogram tree on codes.

XGBoost would have to be given all rows anew whenever the columns change, which is in every round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from rarefind._core.kernels import kernel, read_only
from rarefind._core.types import Array, Bools, Floats, Ints

#: Codes of values are below it; it is the code of a missing one.
MISSING = 64
# Values that cuts are taken from: more move them little.
_MOST_VALUES = 4096
# Histograms of all nodes of a level are held at once.
_DEEPEST = 8
# The least gain of a split, as in XGBoost.
_LEAST_GAIN = 1e-6
# Share of a node's second derivatives that a side has at least: less may be rounding.
_ROUNDING = 1e-9

#: Does a piece of work for each of several things, perhaps at once.
Map = Callable[..., Iterable[Any]]


class TreeParams(NamedTuple):
    """What trees may look like, in XGBoost's words."""

    max_depth: int
    learning_rate: float
    reg_lambda: float
    min_child_weight: float
    gamma: float


class GrownTree(NamedTuple):
    """A tree by what it does."""

    used: Ints  # the columns it splits on, rising
    value: Floats  # what it adds to the score of each row


class Splits(NamedTuple):
    """The best split of each node; a gain of 0 means none."""

    gain: Floats
    column: Ints
    cut: Ints  # the last code on the left
    missing_left: Bools


class Level(NamedTuple):
    """Nodes that may be split, and the rows whose histograms are counted."""

    rows: Ints
    place: Ints  # the node of each of them
    first: Floats
    second: Floats
    parent: Ints  # of each node
    sibling: Ints  # without which a node is what its parent has; -1 for one that is counted
    sums: Floats  # of the derivatives of all rows of each node


def grow_tree(
    codes: Array, first: Floats, second: Floats, shape: TreeParams, parts: int = 1, each: Map = map
) -> GrownTree:
    """Grow a tree a level at a time.

    Parameters
    ----------
    codes : ndarray of uint8 of shape (columns, n)
        Codes below ``MISSING``, or it.
    first, second : ndarray of shape (n,)
        Derivatives of the loss at the scores so far.
    shape : TreeParams
        What the tree may look like.
    parts : int, default=1
        Pieces that the columns are searched in.
    each : callable, default=map
        How the pieces are worked on.

    Returns
    -------
    GrownTree
    """
    edges = np.linspace(0, len(codes), parts + 1).astype(int)
    chunks = [slice(a, b) for a, b in pairwise(edges) if a < b]
    before = [np.empty((codes[chunk].shape[0], 1, MISSING + 1, 2)) for chunk in chunks]
    place, value = np.zeros(first.size, dtype=np.intp), np.zeros(first.size)
    sums, used = np.array([[first.sum(), second.sum()]]), set[int]()
    parent = sibling = np.full(1, -1)
    for _ in range(min(shape.max_depth, _DEEPEST)):
        rows = np.flatnonzero((place >= 0) & (sibling[place] < 0))
        level = Level(rows, place[rows], first[rows], second[rows], parent, sibling, sums)
        best, before = _split(codes, chunks, level, before, shape, each)
        splits = best.gain > 0
        used |= set(best.column[splits].tolist())
        child = np.where(splits, 2 * np.cumsum(splits) - 2, -1)
        leaf = _leaves(sums, shape)
        size, sums = _send_down(codes, place, best, child, leaf, value, first, second)
        parent, sibling = np.repeat(np.flatnonzero(splits), 2), _siblings(size)
        if not size.size:
            break
    there = place >= 0
    value[there] = _leaves(sums, shape)[place[there]]
    return GrownTree(np.array(sorted(used), dtype=np.intp), value)


def _leaves(sums: Floats, shape: TreeParams) -> Floats:
    """What rows of each node get where it ends."""
    return np.asarray(
        -shape.learning_rate * sums[:, 0] / np.maximum(sums[:, 1] + shape.reg_lambda, 1e-300)
    )


def _siblings(size: Ints) -> Ints:
    """For the larger of two children its sibling; the smaller, with -1, is the one counted."""
    sibling = np.arange(size.size) ^ 1
    left_smaller = size[0::2] <= size[1::2]
    sibling[0::2][left_smaller] = -1
    sibling[1::2][~left_smaller] = -1
    return sibling


def _split(
    codes: Array,
    chunks: list[slice],
    level: Level,
    before: list[Floats],
    shape: TreeParams,
    each: Map,
) -> tuple[Splits, list[Floats]]:
    """The best split of each node of a level, and the histograms of the level."""
    nodes = len(level.sums)
    after = [np.zeros((len(counts), nodes, MISSING + 1, 2)) for counts in before]
    least, least_gain = shape.min_child_weight, max(shape.gamma, _LEAST_GAIN)

    def search(k: int) -> Splits:
        own, lam = codes[chunks[k]], shape.reg_lambda
        return Splits(*_search(own, level, before[k], after[k], lam, least, least_gain))

    found = list(each(search, range(len(chunks))))
    return _best_of(found, [chunk.start for chunk in chunks]), after


def _best_of(found: list[Splits], starts: list[int]) -> Splits:
    """The best split of each node among pieces of the columns, of equal ones the first."""
    which = np.argmax([splits.gain for splits in found], axis=0)
    nodes = np.arange(which.size)
    best = Splits(*(np.stack(values)[which, nodes] for values in zip(*found, strict=True)))
    return best._replace(column=best.column + np.array(starts)[which])


@kernel
def _search(
    codes: Array,
    level: Level,
    before: Floats,
    after: Floats,
    reg_lambda: float,
    least: float,
    least_gain: float,
) -> tuple[Floats, Ints, Ints, Bools]:
    """Fill the histograms of a level, and find the best split of each of its nodes."""
    rows, place, first, second, parent, sibling, sums = level
    nodes = sums.shape[0]
    gain = np.zeros(nodes)
    column = np.zeros(nodes, dtype=np.intp)
    cut = np.zeros(nodes, dtype=np.intp)
    missing_left = np.zeros(nodes, dtype=np.bool_)
    for c in range(codes.shape[0]):
        own, counts = codes[c], after[c]
        for i in range(rows.size):
            k, code = place[i], own[rows[i]]
            counts[k, code, 0] += first[i]
            counts[k, code, 1] += second[i]
        for k in range(nodes):
            if sibling[k] >= 0:
                counts[k] = before[c, parent[k]] - counts[sibling[k]]
        for k in range(nodes):
            all_g, all_h = sums[k, 0], sums[k, 1]
            lost_g, lost_h = counts[k, MISSING, 0], counts[k, MISSING, 1]
            enough = max(least, _ROUNDING * all_h)
            whole = all_g * all_g / (all_h + reg_lambda) if all_h + reg_lambda > 0 else 0.0
            g = h = 0.0
            for b in range(MISSING):
                if counts[k, b, 0] == 0 and counts[k, b, 1] == 0:
                    continue  # no value: the cut before it is the same
                g += counts[k, b, 0]
                h += counts[k, b, 1]
                for side in range(2):
                    if side == 1 and lost_h == 0:
                        break
                    left_g, left_h = g + side * lost_g, h + side * lost_h
                    right_g, right_h = all_g - left_g, all_h - left_h
                    if left_h < enough or right_h < enough or left_h <= 0 or right_h <= 0:
                        continue
                    found = (
                        left_g * left_g / (left_h + reg_lambda)
                        + right_g * right_g / (right_h + reg_lambda)
                        - whole
                    )
                    if found > least_gain and found > gain[k]:
                        gain[k], column[k], cut[k], missing_left[k] = found, c, b, side == 1
    return gain, column, cut, missing_left


@kernel
def _send_down(
    codes: Array,
    place: Ints,
    best: Splits,
    child: Ints,
    leaf: Floats,
    value: Floats,
    first: Floats,
    second: Floats,
) -> tuple[Ints, Floats]:
    """Give rows of nodes that end their value, and send the others to the next level.

    Returns the sizes and the sums of the nodes there; ``child`` is the left one, -1 for an end.
    """
    nodes = 0
    for k in range(child.size):
        if child[k] >= 0:
            nodes += 2
    size = np.zeros(nodes, dtype=np.intp)
    sums = np.zeros((nodes, 2))
    for i in range(place.size):
        k = place[i]
        if k < 0:
            continue
        if child[k] < 0:
            value[i] = leaf[k]
            place[i] = -1
            continue
        code = codes[best.column[k], i]
        left = best.missing_left[k] if code == MISSING else code <= best.cut[k]
        k = child[k] if left else child[k] + 1
        place[i] = k
        size[k] += 1
        sums[k, 0] += first[i]
        sums[k, 1] += second[i]
    return size, sums


def code_numbers(values: Floats, positive: Bools, codes: Array) -> None:
    """Code columns, given as rows, by cuts at quantiles of all values and of the positives'.

    Parameters
    ----------
    values : ndarray of shape (columns, n)
        The columns.
    positive : ndarray of bool of shape (n,)
        Which rows are positive.
    codes : ndarray of uint8 of shape (columns, n)
        Where codes are written to.
    """
    rare = np.flatnonzero(positive)
    every = slice(None, None, -(-positive.size // _MOST_VALUES))
    rare = rare[:: -(-max(rare.size, 1) // _MOST_VALUES)]
    for column, out in zip(values, codes, strict=True):
        cuts = _cuts(np.sort(column[every]), np.sort(column[rare]))
        _write_codes(read_only(column), cuts, out)


def _cuts(every: Floats, rare: Floats) -> Floats:
    """The least values of bins, of which there are no more than there are codes."""
    every, rare = (_spaced(values[~np.isnan(values)], MISSING // 2) for values in (every, rare))
    return np.unique(np.concatenate([every[1:], rare]))


def _spaced(values: Floats, n: int) -> Floats:
    """About ``n`` of the sorted values, evenly spaced; all different ones where they are few."""
    distinct = values[np.concatenate([[True], values[1:] > values[:-1]])] if values.size else values
    if distinct.size <= n:
        return distinct
    return values[np.arange(n) * values.size // n]


@kernel
def _write_codes(column: Floats, cuts: Floats, codes: Array) -> None:
    """The number of cuts at or below each value, by halves without a branch."""
    padded = np.full(MISSING - 1, np.inf)
    padded[: cuts.size] = cuts
    for i in range(column.size):
        value, low, half = column[i], 0, MISSING // 2
        while half > 0:
            low += half if padded[low + half - 1] <= value else 0
            half //= 2
        codes[i] = MISSING if np.isnan(value) else min(low, cuts.size)


def code_levels(column: Floats, positive: Bools, weight: Floats, codes: Array) -> None:
    """Code categories by their place in the order of their positive rates."""
    known = ~np.isnan(column)
    codes[~known] = MISSING
    levels, which = np.unique(column[known], return_inverse=True)
    if not levels.size:
        return
    whole = np.bincount(which, weight[known])
    rate = np.bincount(which, weight[known] * positive[known]) / whole
    rank = np.empty(levels.size, dtype=np.intp)
    rank[np.argsort(rate, kind="stable")] = np.arange(levels.size)
    if levels.size > MISSING:
        rank = rank * MISSING // levels.size
    codes[known] = rank[which]
