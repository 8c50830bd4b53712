"""Growing a tree by random cuts: of a few that are drawn, the best one splits the node.

The rows of a node stand together, the positives and the negatives apart. All cuts of a node are
counted in one pass over its rows, whose codes lie side by side: a row costs one look at memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rarefind._core.kernels import kernel
from rarefind._core.types import Array, Bools, Floats, Ints
from rarefind.trees._columns import TreeColumns
from rarefind.trees._criteria import split_value

# Pairs that are drawn of a column before it is passed over.
_PAIRS = 2
_MISSING = 0


class CodedRows(NamedTuple):
    """Rows of codes, 0 for a missing value and from 1 on rising with the values of a column."""

    codes: Array  # (n, d) of 16 bits, or 32 where there are more values
    least: Floats  # the least value of each code from 1 on, one column after the other
    greatest: Floats
    starts: Ints  # of the columns in these
    has_missing: Bools  # (d,)

    @classmethod
    def of(cls, columns: TreeColumns) -> CodedRows:
        """Put the codes of each row side by side."""
        d, n = columns.codes.shape
        small = columns.n_codes.max(initial=0) < np.iinfo(np.uint16).max
        codes = np.empty((n, d), dtype=np.uint16 if small else np.uint32)
        has_missing = np.zeros(d, dtype=bool)
        for j in range(d):
            missing = columns.codes[j] == columns.n_codes[j]
            has_missing[j] = missing.any()
            codes[:, j] = np.where(missing, _MISSING, columns.codes[j] + 1)
        return cls(
            codes,
            np.concatenate(columns.least),
            np.concatenate(columns.greatest),
            np.cumsum([0, *columns.n_codes], dtype=np.int64),
            has_missing,
        )


class CutPlan(NamedTuple):
    """How a tree is grown."""

    n_features: int  # columns that are drawn for a node
    by_pairs: bool  # cut between a positive and a negative; else anywhere among the node's values
    criterion: int
    min_rows: int
    max_depth: int


class CutTree(NamedTuple):
    """The nodes of a tree, parents before children, the root first."""

    feature: Array  # int32, -1 for a leaf
    threshold: Floats
    missing_left: Bools
    left: Array  # int32, -1 for a leaf; the right child is the next one
    sums: Floats  # (n, 2): the weight of rows and of positives


class _Cuts(NamedTuple):
    """The cuts of a node; codes from FIRST to LAST go left."""

    feature: Ints
    first: Ints
    last: Ints
    threshold: Floats
    n_left: Ints  # rows
    sums: Floats  # (cuts, 2): the weight of positives and of negatives on the left


class _Part(NamedTuple):
    """A node's rows: from where to where among the positives and among the negatives."""

    positive: int
    positive_end: int
    negative: int
    negative_end: int


@kernel
def grow_by_cuts(
    rows: CodedRows, positives: Array, negatives: Array, weight: Floats, plan: CutPlan, seed: int
) -> CutTree:
    """Grow a tree on the rows named, whose order changes; an empty ``weight`` is 1 for each."""
    np.random.seed(seed)  # noqa: NPY002 (Numba has its own, one a thread)
    d = rows.codes.shape[1]
    columns, aside = np.arange(d), np.empty(max(positives.size, negatives.size), np.int32)
    k = plan.n_features
    whole = np.empty((4, k), np.int64)
    cuts = _Cuts(whole[0], whole[1], whole[2], np.empty(k), whole[3], np.empty((k, 2)))
    splits, bounds, sums = np.empty((256, 3), np.int32), np.empty(256), np.empty((256, 2))
    todo = np.empty((64, 6), np.int64)
    _push(todo, 0, 0, 0, _Part(0, positives.size, 0, negatives.size))
    n_todo, n_nodes = 1, 1
    while n_todo > 0:
        n_todo -= 1
        node, depth = todo[n_todo, 0], todo[n_todo, 1]
        part = _Part(todo[n_todo, 2], todo[n_todo, 3], todo[n_todo, 4], todo[n_todo, 5])
        splits[node, 0] = -1
        splits[node, 1] = -1
        splits[node, 2] = 0
        bounds[node] = 0.0
        w_positive = _weight_of(positives, part.positive, part.positive_end, weight)
        w_negative = _weight_of(negatives, part.negative, part.negative_end, weight)
        sums[node, 0] = w_positive + w_negative
        sums[node, 1] = w_positive
        n_positive = part.positive_end - part.positive
        n = n_positive + part.negative_end - part.negative
        if n_positive == 0 or n_positive == n or n < 2 * plan.min_rows or depth >= plan.max_depth:
            continue
        found = 0
        if plan.by_pairs:
            found = _draw_by_pairs(rows, positives, negatives, part, columns, k, cuts)
        if found == 0:
            found = _draw_among_all(rows, positives, negatives, part, columns, k, cuts)
        for i in range(found):
            cuts.n_left[i] = 0
        _count_left(rows, positives, part.positive, part.positive_end, weight, cuts, found, 0)
        _count_left(rows, negatives, part.negative, part.negative_end, weight, cuts, found, 1)
        best = _best_cut(cuts, found, n, w_positive, w_negative, plan)
        if best < 0:
            continue
        j = cuts.feature[best]
        middle = _partition(rows, positives, part.positive, part.positive_end, cuts, best, aside)
        between = _partition(rows, negatives, part.negative, part.negative_end, cuts, best, aside)
        if n_nodes + 2 > bounds.size:
            splits, sums = _longer_table(splits), _longer_table(sums)
            bounds = np.append(bounds, np.empty(bounds.size))
        splits[node, 0] = j
        splits[node, 1] = n_nodes
        # Where there was no missing value, later ones go with most rows.
        most = 2 * cuts.n_left[best] > n
        splits[node, 2] = cuts.first[best] == _MISSING if rows.has_missing[j] else most
        bounds[node] = cuts.threshold[best]
        if n_todo + 2 > todo.shape[0]:
            todo = _longer_table(todo)
        left = _Part(part.positive, middle, part.negative, between)
        right = _Part(middle, part.positive_end, between, part.negative_end)
        _push(todo, n_todo, n_nodes, depth + 1, left)
        _push(todo, n_todo + 1, n_nodes + 1, depth + 1, right)
        n_todo += 2
        n_nodes += 2
    return CutTree(
        splits[:n_nodes, 0].copy(),
        bounds[:n_nodes].copy(),
        splits[:n_nodes, 2] == 1,
        splits[:n_nodes, 1].copy(),
        sums[:n_nodes].copy(),
    )


@kernel
def _push(todo: Array, place: int, node: int, depth: int, part: _Part) -> None:
    todo[place, 0] = node
    todo[place, 1] = depth
    todo[place, 2] = part.positive
    todo[place, 3] = part.positive_end
    todo[place, 4] = part.negative
    todo[place, 5] = part.negative_end


@kernel
def _longer_table(table: Array) -> Array:
    longer = np.empty((2 * table.shape[0], table.shape[1]), table.dtype)
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            longer[i, j] = table[i, j]
    return longer


@kernel
def _weight_of(lines: Array, start: int, stop: int, weight: Floats) -> float:
    if weight.size == 0:
        return float(stop - start)
    total = 0.0
    for i in range(start, stop):
        total += weight[lines[i]]
    return total


@kernel
def _below(n: int) -> int:
    """A whole number from 0 on, below ``n``."""
    return int(np.random.random() * n)  # noqa: NPY002


@kernel
def _draw_column(columns: Ints, seen: int) -> int:
    """A column that was not drawn yet: those drawn stand first."""
    at = seen + _below(columns.size - seen)
    column = columns[at]
    columns[at] = columns[seen]
    columns[seen] = column
    return column


@kernel
def _draw_by_pairs(
    rows: CodedRows,
    positives: Array,
    negatives: Array,
    part: _Part,
    columns: Ints,
    k: int,
    cuts: _Cuts,
) -> int:
    """Cuts between a positive and a negative of the node, in columns where these differ."""
    found = 0
    for seen in range(columns.size):
        if found == k:
            break
        j = _draw_column(columns, seen)
        for _ in range(_PAIRS):
            one = positives[part.positive + _below(part.positive_end - part.positive)]
            other = negatives[part.negative + _below(part.negative_end - part.negative)]
            a, b = int(np.int64(rows.codes[one, j])), int(np.int64(rows.codes[other, j]))
            if a != b:
                _draw_cut(rows, j, min(a, b), max(a, b), cuts, found)
                found += 1
                break
    return found


@kernel
def _draw_among_all(
    rows: CodedRows,
    positives: Array,
    negatives: Array,
    part: _Part,
    columns: Ints,
    k: int,
    cuts: _Cuts,
) -> int:
    """Cuts between the least and the greatest value of the node, in columns that vary there."""
    lowest, highest = np.empty(k, np.int64), np.empty(k, np.int64)
    found, seen = 0, 0
    while found < k and seen < columns.size:
        drawn = min(k - found, columns.size - seen)
        for i in range(drawn):
            _draw_column(columns, seen + i)
            lowest[i] = np.iinfo(np.int64).max
            highest[i] = _MISSING
        own = columns[seen : seen + drawn]
        _widen(rows, positives, part.positive, part.positive_end, own, lowest, highest)
        _widen(rows, negatives, part.negative, part.negative_end, own, lowest, highest)
        for i in range(drawn):
            j = own[i]
            if highest[i] == _MISSING:
                continue
            if lowest[i] == highest[i]:
                if not rows.has_missing[j] or not (
                    _any_missing(rows, positives, part.positive, part.positive_end, j)
                    or _any_missing(rows, negatives, part.negative, part.negative_end, j)
                ):
                    continue
                lowest[i] = _MISSING
            _draw_cut(rows, j, lowest[i], highest[i], cuts, found)
            found += 1
        seen += drawn
    return found


@kernel
def _widen(
    rows: CodedRows,
    lines: Array,
    start: int,
    stop: int,
    columns: Ints,
    lowest: Ints,
    highest: Ints,
) -> None:
    """Take rows into the range of codes of each column; missing values are outside of it."""
    for i in range(start, stop):
        row = lines[i]
        for s in range(columns.size):
            code = np.int64(rows.codes[row, columns[s]])
            highest[s] = max(highest[s], code)
            lowest[s] = min(lowest[s], code if code != _MISSING else lowest[s])


@kernel
def _any_missing(rows: CodedRows, lines: Array, start: int, stop: int, j: int) -> bool:
    found = False
    for i in range(start, stop):
        found |= rows.codes[lines[i], j] == _MISSING
    return found


@kernel
def _draw_cut(rows: CodedRows, j: int, a: int, b: int, cuts: _Cuts, place: int) -> None:
    """Draw a cut between two codes, of which the lower may be that of a missing value.

    It is drawn evenly among the values between, and lies between two codes: inside a bin, where no
    row can tell the sides apart, it is drawn again between this bin and the next.
    """
    cuts.feature[place] = j
    if a == _MISSING:
        cuts.first[place] = _MISSING
        cuts.last[place] = _MISSING
        cuts.threshold[place] = -np.inf
        return
    least, greatest = rows.least[rows.starts[j] :], rows.greatest[rows.starts[j] :]
    threshold = _between(greatest[a - 1], least[b - 1])
    low, high = a, b
    while high - low > 1:
        middle = (low + high) // 2
        if least[middle - 1] <= threshold:
            low = middle
        else:
            high = middle
    if threshold < greatest[low - 1]:
        threshold = _between(greatest[low - 1], least[low])
    missing_left = rows.has_missing[j] and _below(2) == 0
    cuts.first[place] = _MISSING if missing_left else 1
    cuts.last[place] = low
    cuts.threshold[place] = threshold


@kernel
def _between(low: float, high: float) -> float:
    """A number from ``low`` on and below ``high``."""
    share = np.random.random()  # noqa: NPY002
    drawn = (1.0 - share) * low + share * high
    return drawn if low <= drawn < high else low


@kernel
def _goes_left(rows: CodedRows, row: int, cuts: _Cuts, place: int) -> bool:
    code = np.int64(rows.codes[row, cuts.feature[place]])
    return cuts.first[place] <= code <= cuts.last[place]


@kernel
def _count_left(
    rows: CodedRows,
    lines: Array,
    start: int,
    stop: int,
    weight: Floats,
    cuts: _Cuts,
    found: int,
    kind: int,
) -> None:
    """Add up what goes left by each cut, of the positives (kind 0) or the negatives (1)."""
    count = np.zeros(found, np.int64)
    if weight.size == 0:
        for i in range(start, stop):
            for place in range(found):
                count[place] += _goes_left(rows, lines[i], cuts, place)
        for place in range(found):
            cuts.sums[place, kind] = count[place]
    else:
        for place in range(found):
            cuts.sums[place, kind] = 0.0
        for i in range(start, stop):
            for place in range(found):
                if _goes_left(rows, lines[i], cuts, place):
                    count[place] += 1
                    cuts.sums[place, kind] += weight[lines[i]]
    for place in range(found):
        cuts.n_left[place] += count[place]


@kernel
def _best_cut(
    cuts: _Cuts, found: int, n: int, w_positive: float, w_negative: float, plan: CutPlan
) -> int:
    """The cut that is worth most, the first of equal ones; -1 where sides have too few rows."""
    best, worth = -1, -np.inf
    for place in range(found):
        n_left = cuts.n_left[place]
        if n_left < plan.min_rows or n - n_left < plan.min_rows:
            continue
        # What is left of sums of weights may be a rounding error.
        p_left = cuts.sums[place, 0]
        p_right = max(w_positive - p_left, 0.0)
        w_left = p_left + cuts.sums[place, 1]
        w_right = p_right + max(w_negative - cuts.sums[place, 1], 0.0)
        if w_right <= 0.0:
            continue
        value = split_value(plan.criterion, 0.0, p_left, w_left, p_right, w_right)
        if value > worth:
            best, worth = place, value
    return best


@kernel
def _partition(
    rows: CodedRows, lines: Array, start: int, stop: int, cuts: _Cuts, place: int, aside: Array
) -> int:
    """Put the rows that go left first, in their order; where the others begin."""
    middle, n_right = start, 0
    for i in range(start, stop):
        row = lines[i]
        if _goes_left(rows, row, cuts, place):
            lines[middle] = row
            middle += 1
        else:
            aside[n_right] = row
            n_right += 1
    for i in range(n_right):
        lines[middle + i] = aside[i]
    return middle
