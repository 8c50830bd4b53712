"""One compiled builder of decision trees for two classes, a level of the tree at a time.

All nodes of a level are searched in one pass over each column: in the order of its values, with
running sums for every node, or by histograms of its codes. So a level costs the rows times the
columns, whatever the number of nodes.
"""

from __future__ import annotations

import numpy as np

from rarefind._core.kernels import kernel
from rarefind._core.types import Array, Floats
from rarefind.trees._criteria import AP, split_value, useless_value

# With up to this many categories, and missing values, all sets of them are tried.
EXACT_LEVELS = 8
# A split must be better than a useless one by more than rounding.
_LEAST_GAIN = 1e-10


# The columns of a split: codes up to LOW go left, HIGH is the next code in the node; missing
# values go left if MISSING_LEFT is 1. FEATURE is -1 for a leaf, LOW for a set.
FEATURE, LOW, HIGH, MISSING_LEFT, LEFT, RIGHT = range(6)


@kernel
def grow(
    codes: Array,
    order: Array,
    n_codes: Array,
    is_set: Array,
    rows: Array,
    start: int,
    is_positive: Array,
    weight: Floats,
    depth: int,
    rules: tuple[int, int, float],
    n_features: int,
    seed: int,
    node_of: Array,
    slot_of: Array,
) -> tuple[Array, Array, Array]:
    """Grow a tree on ``rows``, which stand in ``order`` from ``start`` on.

    ``rules`` are the criterion, the fewest rows of a side, and the shrinkage.
    Returns three tables with a row a node, of which node 0 is the root: its split, which codes a
    set sends left, and its rows, their weight and that of the positives.
    ``node_of`` is filled with the leaf of each row; ``slot_of`` is room to work.
    """
    np.random.seed(seed)  # noqa: NPY002 (Numba has its own, one a thread)
    widest = int(np.int64(1))
    for j in range(codes.shape[0]):
        if is_set[j]:
            widest = max(widest, n_codes[j] + 1)
    splits = np.full((64, RIGHT + 1), -1, np.int32)
    levels = np.zeros((64, widest), np.bool_)
    sums = np.zeros((64, 3))
    for i in range(rows.size):
        node_of[rows[i]] = 0
    # The nodes from first on are those of the level to split. As constants of Python, kernels would
    # be compiled for them alone, and again for other numbers.
    first, n_nodes = int(np.int64(0)), int(np.int64(1))
    _count_from(rows, node_of, first, is_positive, weight, sums)
    for _ in range(depth):
        node_at = _splittable(sums, first, n_nodes, rules[1])
        if node_at.size == 0:
            break
        _set_slots(rows, node_of, node_at, n_nodes, slot_of)
        wanted = _draw_features(node_at.size, codes.shape[0], n_features)
        found, found_levels = _search_level(
            codes,
            order,
            n_codes,
            is_set,
            rows,
            start,
            is_positive,
            weight,
            rules,
            slot_of,
            sums[node_at],
            wanted,
            widest,
        )
        first = n_nodes
        for slot in range(node_at.size):
            if found[slot, FEATURE] < 0:
                continue
            if n_nodes + 2 > sums.shape[0]:
                splits, levels, sums = _longer(splits, -1), _longer(levels, 0), _longer(sums, 0)
            node = node_at[slot]
            # Loops compile in a tenth of the time that slices take.
            for i in range(LEFT):
                splits[node, i] = found[slot, i]
            splits[node, LEFT] = n_nodes
            splits[node, RIGHT] = n_nodes + 1
            for i in range(widest):
                levels[node, i] = found_levels[slot, i]
            n_nodes += 2
        if n_nodes == first:
            break
        _descend(codes, n_codes, is_set, rows, splits, levels, node_at, slot_of, node_of)
        _count_from(rows, node_of, first, is_positive, weight, sums)
    return splits[:n_nodes], levels[:n_nodes], sums[:n_nodes]


@kernel
def _search_level(
    codes: Array,
    order: Array,
    n_codes: Array,
    is_set: Array,
    rows: Array,
    start: int,
    is_positive: Array,
    weight: Floats,
    rules: tuple[int, int, float],
    slot_of: Array,
    totals: Floats,
    wanted: Array,
    widest: int,
) -> tuple[Array, Array]:
    """The best split of each node of a level, and which codes it sends left if it is a set."""
    n_slots = totals.shape[0]
    best = np.empty(n_slots)
    for slot in range(n_slots):
        useless = useless_value(rules[0], totals[slot, 2], totals[slot, 1])
        best[slot] = useless + _LEAST_GAIN * max(useless, 1e-3)
    found = np.full((n_slots, LEFT), -1, np.int32)
    found_levels = np.zeros((n_slots, widest), np.bool_)
    for j in range(codes.shape[0]):
        if order.shape[0] > 0 and not is_set[j]:
            _scan_order(
                j,
                codes[j],
                order[j, start : start + rows.size],
                n_codes[j],
                slot_of,
                totals,
                is_positive,
                weight,
                rules,
                wanted,
                best,
                found,
            )
            continue
        sizes = _histogram(codes[j], n_codes[j] + 1, rows, slot_of, n_slots, is_positive, weight)
        if is_set[j]:
            _scan_levels(j, sizes, totals, rules, wanted, best, found, found_levels)
        else:
            _scan_bins(j, sizes, totals, rules, wanted, best, found)
    return found, found_levels


@kernel
def _count_from(
    rows: Array, node_of: Array, first: int, is_positive: Array, weight: Floats, sums: Floats
) -> None:
    """Add rows, weight and weight of positives to the nodes from ``first`` on."""
    for i in range(rows.size):
        row = rows[i]
        node = node_of[row]
        if node >= first:
            sums[node, 0] += 1.0
            sums[node, 1] += weight[row]
            sums[node, 2] += weight[row] * is_positive[row]


@kernel
def _splittable(sums: Floats, first: int, end: int, min_rows: int) -> Array:
    """The nodes with both classes and rows enough for two."""
    chosen = np.empty(end - first, np.int32)
    n = 0
    for node in range(first, end):
        if sums[node, 0] >= 2 * min_rows and 0.0 < sums[node, 2] < sums[node, 1]:
            chosen[n] = node
            n += 1
    return chosen[:n]


@kernel
def _set_slots(rows: Array, node_of: Array, node_at: Array, end: int, slot_of: Array) -> None:
    """Number of each row's node among those to split, -1 for other nodes."""
    slots = np.full(end, -1, np.int32)
    for slot in range(node_at.size):
        slots[node_at[slot]] = slot
    for i in range(rows.size):
        slot_of[rows[i]] = slots[node_of[rows[i]]]


@kernel
def _descend(
    codes: Array,
    n_codes: Array,
    is_set: Array,
    rows: Array,
    splits: Array,
    levels: Array,
    node_at: Array,
    slot_of: Array,
    node_of: Array,
) -> None:
    """Send the rows of the nodes that were split to their children."""
    for i in range(rows.size):
        row = rows[i]
        if slot_of[row] < 0:
            continue
        node = node_at[slot_of[row]]
        j = splits[node, FEATURE]
        if j < 0:
            continue
        code = codes[j, row]
        if is_set[j]:
            goes_left = levels[node, code]
        elif code == n_codes[j]:
            goes_left = splits[node, MISSING_LEFT] == 1
        else:
            goes_left = code <= splits[node, LOW]
        node_of[row] = splits[node, LEFT] if goes_left else splits[node, RIGHT]


@kernel
def _longer(table: Array, fill: int) -> Array:
    grown = np.empty((2 * table.shape[0], table.shape[1]), table.dtype)
    for i in range(grown.shape[0]):
        for j in range(table.shape[1]):
            grown[i, j] = table[i, j] if i < table.shape[0] else fill
    return grown


@kernel
def _draw_features(n_slots: int, d: int, wanted: int) -> Array:
    """For each node, the columns it may split on."""
    chosen = np.ones((n_slots, d), np.bool_)
    if wanted < d:
        chosen[:] = False
        for slot in range(n_slots):
            shuffled = np.random.permutation(d)  # noqa: NPY002
            for i in range(wanted):
                chosen[slot, shuffled[i]] = True
    return chosen


@kernel
def _histogram(
    codes: Array,
    n: int,
    rows: Array,
    slot_of: Array,
    n_slots: int,
    is_positive: Array,
    weight: Floats,
) -> Array:
    """Rows, weight and weight of positives for each node and code."""
    sizes = np.zeros((n_slots, n, 3))
    for i in range(rows.size):
        row = rows[i]
        slot = slot_of[row]
        if slot >= 0:
            code = codes[row]
            sizes[slot, code, 0] += 1.0
            sizes[slot, code, 1] += weight[row]
            sizes[slot, code, 2] += weight[row] * is_positive[row]
    return sizes


@kernel
def _try(
    n_l: float,
    w_l: float,
    p_l: float,
    totals: Floats,
    slot: int,
    rules: tuple[int, int, float],
    split: tuple[int, int, int, int],
    best: Floats,
    found: Array,
) -> bool:
    """Keep a split, (feature, low, high, missing_left), if it is better than the node's best."""
    n_r, w_r, p_r = totals[slot, 0] - n_l, totals[slot, 1] - w_l, totals[slot, 2] - p_l
    criterion, min_rows, shrinkage = rules
    if n_l < min_rows or n_r < min_rows or w_l <= 0.0 or w_r <= 0.0:
        return False
    # What is left of sums of weights may be a rounding error.
    p_l, p_r = min(max(p_l, 0.0), w_l), min(max(p_r, 0.0), w_r)
    value = split_value(criterion, shrinkage, p_l, w_l, p_r, w_r)
    if value <= best[slot] + 1e-12 * abs(best[slot]):
        return False
    best[slot] = value
    feature, low, high, missing_left = split
    found[slot, FEATURE] = feature
    found[slot, LOW] = low
    found[slot, HIGH] = high
    found[slot, MISSING_LEFT] = missing_left
    return True


@kernel
def _try_sides(
    before: Floats,
    missing: Floats,
    totals: Floats,
    slot: int,
    rules: tuple[int, int, float],
    cut: tuple[int, int, int],
    best: Floats,
    found: Array,
) -> None:
    """Try a cut, (feature, low, high), with missing values on either side, or with most rows."""
    n, w, p = before[slot, 0], before[slot, 1], before[slot, 2]
    if missing[slot, 0] == 0.0:
        most = 1 if 2.0 * w >= totals[slot, 1] else 0
        _try(n, w, p, totals, slot, rules, (*cut, most), best, found)
        return
    _try(n, w, p, totals, slot, rules, (*cut, 0), best, found)
    n, w, p = n + missing[slot, 0], w + missing[slot, 1], p + missing[slot, 2]
    _try(n, w, p, totals, slot, rules, (*cut, 1), best, found)


@kernel
def _scan_order(
    j: int,
    codes: Array,
    order: Array,
    n_codes: int,
    slot_of: Array,
    totals: Floats,
    is_positive: Array,
    weight: Floats,
    rules: tuple[int, int, float],
    wanted: Array,
    best: Floats,
    found: Array,
) -> None:
    """Try every place between two different values of a column, for all nodes at once."""
    n_slots = totals.shape[0]
    missing = np.zeros((n_slots, 3))
    present = order.size
    while present > 0 and codes[order[present - 1]] == n_codes:
        present -= 1
        row = order[present]
        slot = slot_of[row]
        if slot >= 0:
            missing[slot, 0] += 1.0
            missing[slot, 1] += weight[row]
            missing[slot, 2] += weight[row] * is_positive[row]
    before = np.zeros((n_slots, 3))
    last = np.full(n_slots, -1, np.int32)
    # But for AP, no criterion is best between two values of negatives only.
    skips = rules[0] != AP and rules[1] == 1
    dull = np.ones(n_slots, np.bool_)
    for i in range(present):
        row = order[i]
        slot = slot_of[row]
        if slot < 0 or not wanted[slot, j]:
            continue
        code = codes[row]
        if code != last[slot]:
            if last[slot] >= 0 and not (skips and dull[slot] and not is_positive[row]):
                cut = (j, last[slot], code)
                _try_sides(before, missing, totals, slot, rules, cut, best, found)
            last[slot] = code
            dull[slot] = True
        before[slot, 0] += 1.0
        before[slot, 1] += weight[row]
        if is_positive[row]:
            before[slot, 2] += weight[row]
            dull[slot] = False
    for slot in range(n_slots):
        _try_missing(j, before, last[slot], n_codes, totals, slot, rules, best, found)


@kernel
def _try_missing(
    j: int,
    present: Floats,
    last: int,
    n_codes: int,
    totals: Floats,
    slot: int,
    rules: tuple[int, int, float],
    best: Floats,
    found: Array,
) -> None:
    """Try all numbers on the left and the missing values, if any, on the right."""
    if last >= 0:
        n, w, p = present[slot, 0], present[slot, 1], present[slot, 2]
        split = (j, last, n_codes, 0)
        _try(n, w, p, totals, slot, rules, split, best, found)


@kernel
def _scan_bins(
    j: int,
    sizes: Floats,
    totals: Floats,
    rules: tuple[int, int, float],
    wanted: Array,
    best: Floats,
    found: Array,
) -> None:
    """Try every cut between two bins with rows of a node."""
    n_slots, n_codes = sizes.shape[0], sizes.shape[1] - 1
    before = np.zeros((n_slots, 3))
    missing = sizes[:, n_codes]
    for slot in range(n_slots):
        if not wanted[slot, j]:
            continue
        last = -1
        for code in range(n_codes):
            if sizes[slot, code, 0] == 0.0:
                continue
            if last >= 0:
                cut = (j, last, code)
                _try_sides(before, missing, totals, slot, rules, cut, best, found)
            for i in range(3):
                before[slot, i] += sizes[slot, code, i]
            last = code
        _try_missing(j, before, last, n_codes, totals, slot, rules, best, found)


@kernel
def _scan_levels(
    j: int,
    sizes: Floats,
    totals: Floats,
    rules: tuple[int, int, float],
    wanted: Array,
    best: Floats,
    found: Array,
    found_levels: Array,
) -> None:
    """Try sets of categories: all of them when few, else those of the highest precisions.

    A missing value is a category like others. One that is not in the node goes with most rows.
    """
    for slot in range(sizes.shape[0]):
        seen = np.flatnonzero(sizes[slot, :, 0])
        if not wanted[slot, j] or seen.size < 2:
            continue
        if seen.size <= EXACT_LEVELS + (sizes[slot, sizes.shape[1] - 1, 0] > 0.0):
            for subset in range(1, 2 ** (seen.size - 1)):
                inside = np.empty(seen.size, np.bool_)
                n, w, p = 0.0, 0.0, 0.0
                for i in range(seen.size):
                    inside[i] = ((subset >> i) & 1) == 1
                    if inside[i]:
                        n += sizes[slot, seen[i], 0]
                        w += sizes[slot, seen[i], 1]
                        p += sizes[slot, seen[i], 2]
                _try_set(j, n, w, p, seen, inside, totals, slot, rules, best, found, found_levels)
            continue
        # Of many categories some have positives by chance: each is shrunk before they are added up.
        base, shrinkage = totals[slot, 2] / totals[slot, 1], rules[2] * (rules[0] == 0)
        shrunk = np.empty(seen.size)
        for i in range(seen.size):
            w, p = sizes[slot, seen[i], 1], sizes[slot, seen[i], 2]
            shrunk[i] = w * (p + shrinkage * base) / (w + shrinkage) if shrinkage > 0.0 else p
        ranked = np.argsort(-shrunk / sizes[slot, :, 1][seen], kind="mergesort")
        inside = np.zeros(seen.size, np.bool_)
        n, w, p = 0.0, 0.0, 0.0
        for i in ranked[:-1]:
            inside[i] = True
            n += sizes[slot, seen[i], 0]
            w += sizes[slot, seen[i], 1]
            p += shrunk[i]
            _try_set(j, n, w, p, seen, inside, totals, slot, rules, best, found, found_levels)


@kernel
def _try_set(
    j: int,
    n: float,
    w: float,
    p: float,
    seen: Array,
    inside: Array,
    totals: Floats,
    slot: int,
    rules: tuple[int, int, float],
    best: Floats,
    found: Array,
    found_levels: Array,
) -> None:
    """Try the levels that are inside on the left."""
    most = 1 if 2.0 * w >= totals[slot, 1] else 0
    if _try(n, w, p, totals, slot, rules, (j, -1, -1, most), best, found):
        found_levels[slot] = most == 1
        for i in range(seen.size):
            found_levels[slot, seen[i]] = inside[i]
