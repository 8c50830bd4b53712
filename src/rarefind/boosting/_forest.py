"""XGBoost's trees as arrays that one kernel walks: for few rows, without XGBoost around them.

To ask XGBoost takes as long for a row as for some dozens, and now and then much longer. Here bins
are folded into the thresholds, which are in the units of the columns: a row need not be coded.
Leaves are added up as XGBoost does it, in 32 bits and in the order of the trees, so that sums are
the same to the last bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rarefind._core.kernels import kernel, read_only
from rarefind._core.types import Array, Bools, Floats, Ints
from rarefind.boosting._coding import Coding
from rarefind.data.bins import find_place

#: Rows up to which a forest takes less time than XGBoost with its setting up.
FEW_ROWS = 64
# Columns of the links.
_COLUMN, _LEFT, _MISSING_LEFT, _SET = range(4)


class Forest(NamedTuple):
    """The nodes of all trees, those of a tree together; the second child follows the first.

    A number goes left where it is below the threshold, a category where it is not in the set.
    """

    links: Array  # (nodes, 4) int32: column, left child or 0, missing goes left, start of the set
    threshold: Floats  # in the units of the column; of a leaf its value
    roots: Ints  # the first node of each tree
    sets: Bools  # for each category of each set, whether it goes right
    columns: Ints  # those of categories
    levels: Floats  # their categories, column after column
    starts: Ints  # where the categories of each begin, and the end

    @classmethod
    def of(cls, trees: list[dict[str, Any]], coding: Coding) -> Forest:
        """The trees as XGBoost writes them in JSON, of rows in this coding."""
        n_levels = coding.n_levels()
        parts = [_tree_nodes(tree, coding, n_levels) for tree in trees]
        sizes = [len(part.links) for part in parts]
        set_sizes = [part.sets.size for part in parts]
        roots, set_starts = (np.cumsum([0, *some])[:-1] for some in (sizes, set_sizes))
        for part, root, set_start in zip(parts, roots, set_starts, strict=True):
            part.links[part.links[:, _LEFT] > 0, _LEFT] += root
            part.links[part.links[:, _SET] >= 0, _SET] += set_start
        arrays = (
            np.concatenate([part.links for part in parts]),
            np.concatenate([part.threshold for part in parts]),
            roots.astype(np.intp),
            np.concatenate([part.sets for part in parts]),
            np.flatnonzero(coding.is_set),
            np.concatenate([np.empty(0), *coding.levels]),
            np.cumsum([0, *(own.size for own in coding.levels)]).astype(np.intp),
        )
        return cls(*map(read_only, arrays))

    def margins(self, X: Floats) -> Array:
        """Sums of the trees, of 32 bits, as XGBoost's margins of a model that starts at 0."""
        return _margins(read_only(X), *self)

    def outputs(self, X: Floats) -> Array:
        """What each tree says of each row, of shape (rows, trees) and 32 bits."""
        return _outputs(read_only(X), *self)


class _Nodes(NamedTuple):
    links: Array
    threshold: Floats
    sets: Bools


def _tree_nodes(tree: dict[str, Any], coding: Coding, n_levels: list[int | None]) -> _Nodes:
    """The nodes of one tree that rows can come to, level by level."""
    left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
    order = [0]
    for node in order:
        if left[node] >= 0:
            order += [int(left[node]), int(right[node])]
    place = np.empty(left.size, dtype=np.int32)
    place[order] = np.arange(len(order))
    column = np.array(tree["split_indices"], dtype=np.int64)[order]
    value = np.array(tree["split_conditions"], dtype=np.float32)[order].astype(np.float64)
    inner, is_set = left[order] >= 0, np.array(tree["split_type"])[order] == 1
    is_number = inner & ~is_set
    value[is_number] = coding.values(column[is_number], value[is_number])
    links = np.zeros((len(order), 4), dtype=np.int32)
    links[inner, _COLUMN] = column[inner]
    links[inner, _LEFT] = place[left[order][inner]]
    links[:, _MISSING_LEFT] = np.array(tree["default_left"])[order]
    links[:, _SET] = -1
    sets = np.zeros(0, dtype=bool)
    starts, sizes = tree["categories_segments"], tree["categories_sizes"]
    for node, start, size in zip(tree["categories_nodes"], starts, sizes, strict=True):
        goes_right = np.zeros(n_levels[int(tree["split_indices"][node])] or 0, dtype=bool)
        goes_right[tree["categories"][start : start + size]] = True
        links[place[node], _SET] = sets.size
        sets = np.append(sets, goes_right)
    return _Nodes(links, value, sets)


@kernel
def _fill_row(given: Floats, columns: Ints, levels: Floats, starts: Ints, row: Floats) -> None:
    """A row with the places of its categories; one that is new is missing."""
    for j in range(given.size):
        row[j] = given[j]
    for s in range(columns.size):
        own = levels[starts[s] : starts[s + 1]]
        row[columns[s]] = find_place(given[columns[s]], own)


@kernel
def _leaf(row: Floats, at: int, links: Array, threshold: Floats, sets: Bools) -> Any:
    """The value of the leaf that a row comes to, from a root on."""
    while links[at, _LEFT] > 0:
        value = row[links[at, _COLUMN]]
        if np.isnan(value):
            goes_left = links[at, _MISSING_LEFT] == 1
        elif links[at, _SET] >= 0:
            goes_left = not sets[links[at, _SET] + int(value)]
        else:
            goes_left = value < threshold[at]
        at = links[at, _LEFT] + (0 if goes_left else 1)
    return np.float32(threshold[at])


@kernel
def _margins(
    X: Floats,
    links: Array,
    threshold: Floats,
    roots: Ints,
    sets: Bools,
    columns: Ints,
    levels: Floats,
    starts: Ints,
) -> Array:
    found = np.empty(X.shape[0], dtype=np.float32)
    row = np.empty(X.shape[1])
    for i in range(X.shape[0]):
        _fill_row(X[i], columns, levels, starts, row)
        total = np.float32(0)
        for t in range(roots.size):
            total += _leaf(row, roots[t], links, threshold, sets)
        found[i] = total
    return found


@kernel
def _outputs(
    X: Floats,
    links: Array,
    threshold: Floats,
    roots: Ints,
    sets: Bools,
    columns: Ints,
    levels: Floats,
    starts: Ints,
) -> Array:
    found = np.empty((X.shape[0], roots.size), dtype=np.float32)
    row = np.empty(X.shape[1])
    for i in range(X.shape[0]):
        _fill_row(X[i], columns, levels, starts, row)
        for t in range(roots.size):
            found[i, t] = _leaf(row, roots[t], links, threshold, sets)
    return found
