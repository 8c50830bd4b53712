"""Where the conditions and leaves of a tree of trees are drawn.

Conditions stand in layers, each below all that lead to it; the leaves stand below, the first one
left. A line that passes layers keeps clear of their boxes: it has a place in each layer it passes,
shared with all lines of its kind that lead to the same box.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple, Protocol
from unicodedata import east_asian_width

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import bmat, csr_matrix, identity

from rarefind._core.types import Bools, Floats, Ints
from rarefind.trees._paths import OR_MISSING, brace, plain, ranked_leaves, step
from rarefind.trees._text import condition_text, sides
from rarefind.trees.graph import MetaTree

#: Sizes in points of the drawing; a font of this size fits the boxes.
FONT = 12.0
LINE = 16.0
_LETTER = 0.58 * FONT
_PAD = 10.0
_BOX_GAP = 16.0
_LANE = 4.0
_LAYER_GAP = 34.0
_MARGIN = 12.0
_LONGEST_NAME = 24
_LONGEST_SET = 20
_SWEEPS = 24


@dataclass(frozen=True)
class Box:
    """A condition or a leaf: its middle, its size and what it says."""

    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]
    #: All that can be said, for who asks.
    tip: str
    #: From 0, the lowest score of a leaf, to 1, the highest; None for a condition.
    heat: float | None
    #: Whether an inner tree starts here.
    starts: bool


@dataclass(frozen=True)
class Line:
    """A piece of a line from box to box: a swing to its end, then straight on."""

    #: Whether the condition it comes from holds; None where it leads on in any case.
    holds: bool | None
    start: tuple[float, float]
    end: tuple[float, float]
    #: How far it goes straight on from its end, past the boxes of the layer.
    run: float
    #: Whether it ends at a box.
    arrives: bool


@dataclass(frozen=True)
class TreeLayout:
    """A drawing: boxes and lines between them, y downwards."""

    width: float
    height: float
    boxes: list[Box]
    lines: list[Line]


class ValueWords(Protocol):
    """How the values of features are written, where those of the rows are codes of others."""

    def number(self, feature: int, value: float) -> str:
        """A number that a feature is compared with."""

    def levels(self, feature: int, codes: tuple[float, ...]) -> tuple[str, str]:
        """A set of levels in short, as ``= FR`` or ``in {BE, FR}``, and in full."""


class _Item(NamedTuple):
    """What has a place in a layer: a box, or a line that passes."""

    layer: int
    width: float
    box: int  # -1 for a line


class _Link(NamedTuple):
    """A piece of a line from an item to one in the next layer."""

    start: int
    end: int
    holds: bool | None


def lay_out(
    tree: MetaTree,
    score: Floats,
    names: list[str],
    has_missing: Bools | None = None,
    words: ValueWords | None = None,
) -> TreeLayout:
    """Find a place for every condition, leaf and line.

    Parameters
    ----------
    tree : MetaTree
        The tree.
    score : ndarray of shape (n_outer_nodes,)
        Score of each outer node; those of leaves are used.
    names : list of str
        Names of the features.
    has_missing : ndarray of bool, default=None
        Features whose boxes say where a missing value goes; by default only the tips do.
    words : ValueWords, default=None
        How values are written; by default as they are.

    Returns
    -------
    TreeLayout
        Conditions by their number, then leaves by their rank.
    """
    boxes, ends = boxes_and_ends(tree, score, names, has_missing, words)
    items, links = _items(ends, boxes)
    rows = _order(items, links, len(boxes))
    x = _places(items, links, rows)
    return _drawn(boxes, items, links, rows, x)


def boxes_and_ends(
    tree: MetaTree,
    score: Floats,
    names: list[str],
    has_missing: Bools | None = None,
    words: ValueWords | None = None,
) -> tuple[list[Box], list[tuple[int, int]]]:
    """Boxes without a place, and to which two each condition leads."""
    leaves = ranked_leaves(tree, score)
    boxes = [
        _condition_box(tree, i, names, has_missing, words)
        for i in range(tree.conditions.feature.size)
    ]
    heat = _heat(score[leaves])
    boxes += [_leaf_box(tree, node, i, score, heat[i]) for i, node in enumerate(leaves)]
    return boxes, _ends(tree, leaves)


def _condition_box(
    tree: MetaTree,
    number: int,
    names: list[str],
    has_missing: Bools | None,
    words: ValueWords | None,
) -> Box:
    counts = _counts(tree.conditions.sums[number])
    if words is None:
        lines = (_label(tree, number, names, has_missing), counts)
        tip = condition_text(tree, number, names)
    else:
        short, tip = _in_words(tree, number, names, has_missing, words)
        lines = (short, counts)
    start = np.flatnonzero(tree.nodes.root == number)
    if start.size:
        tip = f"node {start[0]}: {tip}"
    return _box(lines, tip, None, start.size > 0)


def _leaf_box(tree: MetaTree, node: int, place: int, score: Floats, heat: float) -> Box:
    counts = _counts(tree.nodes.sums[node])
    lines = (f"leaf {place + 1}", f"{score[node]:.3g}", counts)
    rows, _, positive = tree.nodes.sums[node]
    tip = (
        f"leaf {place + 1}: score {float(score[node])!r}, {rows:.0f} rows, {positive:.6g} positive"
    )
    return _box(lines, tip, heat)


def _box(lines: tuple[str, ...], tip: str, heat: float | None, starts: bool = False) -> Box:
    width = max(map(_text_width, lines)) + 2 * _PAD
    return Box(0, 0, width, LINE * len(lines) + _PAD, lines, tip, heat, starts)


def _text_width(text: str) -> float:
    return _LETTER * sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _label(tree: MetaTree, number: int, names: list[str], has_missing: Bools | None) -> str:
    """A condition in few words, which leave out where new levels go."""
    c = tree.conditions
    feature, threshold = int(c.feature[number]), float(c.threshold[number])
    name = _cut(names[feature], _LONGEST_NAME)
    missing = OR_MISSING if c.missing_left[number] else ""
    missing = missing if has_missing is not None and has_missing[feature] else ""
    if c.set_number[number] >= 0:
        inside, outside, _ = sides(tree, number)
        if len(outside) < len(inside):
            return f"{name} not in {_cut(brace(tuple(outside)), _LONGEST_SET)}{missing}"
        only = f"= {plain(inside[0])}" if len(inside) == 1 else ""
        return f"{name} {only or 'in ' + _cut(brace(tuple(inside)), _LONGEST_SET)}{missing}"
    if threshold == np.inf:
        return f"{name} is present"
    return f"{name} ≤ {plain(threshold)}{missing}"


def _in_words(
    tree: MetaTree,
    number: int,
    names: list[str],
    has_missing: Bools | None,
    words: ValueWords,
) -> tuple[str, str]:
    """A condition in the words of the rows, short and in full."""
    c = tree.conditions
    feature, threshold = int(c.feature[number]), float(c.threshold[number])
    name = names[feature]
    missing = OR_MISSING if c.missing_left[number] else ""
    missing = missing if has_missing is not None and has_missing[feature] else ""
    if c.set_number[number] >= 0:
        inside, outside, _ = sides(tree, number)
        fewer, no = (outside, "not ") if len(outside) < len(inside) else (inside, "")
        short, full = words.levels(feature, tuple(fewer))
    elif threshold == np.inf:
        short, full, no = "is present", "is present", ""
    else:
        short = full = f"≤ {words.number(feature, threshold)}"
        no = ""
    return f"{_cut(name, _LONGEST_NAME)} {no}{short}{missing}", f"{name} {no}{full}{missing}"


def _cut(text: str, longest: int) -> str:
    """The text in one line, its end left out where it is long."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _counts(sums: Floats) -> str:
    """Negatives and positives."""
    return f"({_count(sums[1] - sums[2])}, {_count(sums[2])})"


def _count(count: float) -> str:
    return f"{count:,.1f}".removesuffix(".0")


def _heat(score: Floats) -> Floats:
    spread = np.ptp(score)
    return (score - score.min()) / spread if spread > 0 else np.ones(score.size)


def _ends(tree: MetaTree, leaves: list[int]) -> list[tuple[int, int]]:
    """The boxes to which each condition leads, where it holds and where it does not."""
    n = tree.conditions.feature.size
    place = {node: n + i for i, node in enumerate(leaves)}

    def box(pointer: int) -> int:
        if pointer >= 0:
            return pointer
        root = int(tree.nodes.root[-1 - pointer])
        return root if root >= 0 else place[-1 - pointer]

    return [(box(step(tree, i, True)), box(step(tree, i, False))) for i in range(n)]


def _layers(ends: list[tuple[int, int]], n_boxes: int) -> list[int]:
    """The longest way to each box from the root; leaves stand below all conditions."""
    layer = [0] * n_boxes
    for number, children in enumerate(ends):  # conditions come before those they lead to
        for child in children:
            layer[child] = max(layer[child], layer[number] + 1)
    n = len(ends)
    return layer[:n] + [max(layer)] * (n_boxes - n)


def _items(ends: list[tuple[int, int]], boxes: list[Box]) -> tuple[list[_Item], list[_Link]]:
    """Boxes and the lines that pass layers, and the pieces of lines between them."""
    layer = _layers(ends, len(boxes))
    items = [_Item(layer[i], box.width, i) for i, box in enumerate(boxes)]
    lanes: dict[tuple[int, int, bool | None], int] = {}
    links: dict[_Link, None] = {}
    for number, (yes, no) in enumerate(ends):
        kinds: list[tuple[int, bool | None]] = [(yes, True), (no, False)]
        for target, holds in [(yes, None)] if yes == no else kinds:
            at = number
            for between in range(layer[number] + 1, layer[target]):
                lane = lanes.setdefault((target, between, holds), len(items))
                if lane == len(items):
                    items.append(_Item(between, _LANE, -1))
                links[_Link(at, lane, holds)] = None
                at = lane
            links[_Link(at, target, holds)] = None
    return items, list(links)


def _neighbours(links: list[_Link], n: int) -> tuple[list[list[int]], list[list[int]]]:
    """The items above and below each."""
    above: list[list[int]] = [[] for _ in range(n)]
    below: list[list[int]] = [[] for _ in range(n)]
    for link in links:
        above[link.end].append(link.start)
        below[link.start].append(link.end)
    return above, below


def _order(items: list[_Item], links: list[_Link], n_boxes: int) -> list[list[int]]:
    """The items of each layer from left to right, with few crossings; leaves stay by rank."""
    above, below = _neighbours(links, len(items))
    rows: list[list[int]] = [[] for _ in range(items[n_boxes - 1].layer + 1)]
    for i, item in enumerate(items):
        rows[item.layer].append(i)
    place = [0] * len(items)
    for row in rows:
        _number(row, place)
    best, fewest = [list(row) for row in rows], np.inf
    for sweep in range(_SWEEPS):
        upwards = sweep % 2 == 0
        side = below if upwards else above
        for row in reversed(rows[:-1]) if upwards else rows[:-1]:
            centre = {i: fmean(place[j] for j in side[i] or [i]) for i in row}
            if sweep % 4 >= 2:
                row.reverse()  # ties the other way round, to leave what is best only nearby
            row.sort(key=lambda i: centre[i])
            _number(row, place)
        for row in rows[:-1]:
            _swap(row, place, above, below)
        crossings = _crossings(items, links, np.array(place))
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    return best


def _number(row: list[int], place: list[int]) -> None:
    """Note which place each item has in its layer."""
    for number, item in enumerate(row):
        place[item] = number


def _swap(row: list[int], place: list[int], above: list[list[int]], below: list[list[int]]) -> None:
    """Swap neighbours in a layer while that takes crossings away."""
    swapped = True
    while swapped:
        swapped = False
        for left in range(len(row) - 1):
            a, b = row[left], row[left + 1]
            gain = sum(
                (place[i] > place[j]) - (place[i] < place[j])
                for side in (above, below)
                for i in side[a]
                for j in side[b]
            )
            if gain > 0:
                row[left], row[left + 1] = b, a
                place[a], place[b] = place[b], place[a]
                swapped = True


def _crossings(items: list[_Item], links: list[_Link], place: Ints) -> int:
    """How many pairs of pieces cross."""
    layer = np.array([items[link.start].layer for link in links])
    start = place[[link.start for link in links]]
    end = place[[link.end for link in links]]
    crossed = 0
    for number in np.unique(layer):
        a, b = start[layer == number], end[layer == number]
        crossed += int(((a[:, None] < a) & (b[:, None] > b)).sum())
    return crossed


def _places(items: list[_Item], links: list[_Link], rows: list[list[int]]) -> Floats:
    """Where each item stands in its layer, by a linear program.

    Lines that pass layers are to be straight, a box in the middle of those it leads to and of those
    that lead to it, and all lines short; items of a layer keep their order and their distance.
    """
    n = len(items)
    wishes = _wishes(items, links)
    wish = _matrix([parts for _, parts in wishes], n)
    slack = identity(len(wishes), format="csr")
    order = _matrix([{i: 1.0, j: -1.0} for row in rows for i, j in pairwise(row)], n)
    apart = np.concatenate([np.diff(_room(items, row)) for row in rows])
    found = linprog(
        np.append(np.zeros(n), [weight for weight, _ in wishes]),
        A_ub=bmat([[wish, -slack], [-wish, -slack], [order, None]]),
        b_ub=np.concatenate([np.zeros(2 * len(wishes)), -apart]),
        method="highs",
    )
    return np.asarray(found.x[:n])


def _matrix(sums: list[dict[int, float]], n: int) -> csr_matrix:
    """A row for each sum, with its parts."""
    values = [part for parts in sums for part in parts.values()]
    column = [item for parts in sums for item in parts]
    row = np.repeat(np.arange(len(sums)), [len(parts) for parts in sums])
    return csr_matrix((values, (row, column)), (len(sums), n))


def _wishes(items: list[_Item], links: list[_Link]) -> list[tuple[float, dict[int, float]]]:
    """Sums of places that should be zero, with how much each of them matters."""
    wishes = []
    for start, end, _ in links:
        passing = (items[start].box < 0) + (items[end].box < 0)
        wishes.append(((0.1, 0.5, 4.0)[passing], {start: 1.0, end: -1.0}))
    above, below = _neighbours(links, len(items))
    for item, others in [*enumerate(below), *enumerate(above)]:
        if items[item].box >= 0 and len(others) > 1:
            wishes.append((1.0, {item: 1.0} | dict.fromkeys(others, -1 / len(others))))
    return wishes


def _room(items: list[_Item], row: list[int]) -> Floats:
    """How far right of the first each item of a layer must be at least."""
    width = np.array([items[i].width for i in row])
    is_box = np.array([items[i].box >= 0 for i in row])
    gap = np.where(is_box[1:] | is_box[:-1], _BOX_GAP, 1.5 * _LANE)
    return np.append(0.0, np.cumsum((width[1:] + width[:-1]) / 2 + gap))


def _drawn(
    boxes: list[Box], items: list[_Item], links: list[_Link], rows: list[list[int]], x: Floats
) -> TreeLayout:
    """The boxes and lines in their places."""
    width = np.array([item.width for item in items])
    x = x - (x - width / 2).min() + _MARGIN
    heights = [max(boxes[items[i].box].height for i in row if items[i].box >= 0) for row in rows]
    tops = _MARGIN + np.append(0.0, np.cumsum(np.array(heights) + _LAYER_GAP))
    placed = [
        replace(box, x=float(x[i]), y=float(tops[items[i].layer] + box.height / 2))
        for i, box in enumerate(boxes)
    ]
    leaves_from, arrives_at = _ports(items, links, x)
    lines, passed = [], set()
    for number, (start, end, holds) in enumerate(links):
        top, bottom = _edge(start, items, boxes, tops, heights), float(tops[items[end].layer])
        arrives = items[end].box >= 0
        run = 0.0 if arrives or end in passed else heights[items[end].layer]
        passed.add(end)
        ends = (float(leaves_from[number]), top), (float(arrives_at[number]), bottom)
        lines.append(Line(holds, *ends, run, arrives))
    full = float((x + width / 2).max()) + _MARGIN
    return TreeLayout(full, float(tops[-1] - _LAYER_GAP + _MARGIN), placed, lines)


def _edge(
    start: int, items: list[_Item], boxes: list[Box], tops: Floats, heights: list[float]
) -> float:
    """Where a line leaves an item downwards."""
    layer, box = items[start].layer, items[start].box
    return float(tops[layer] + (boxes[box].height if box >= 0 else heights[layer]))


def _ports(items: list[_Item], links: list[_Link], x: Floats) -> tuple[Floats, Floats]:
    """Where along a box each line leaves and arrives, so that lines at a box do not cross."""
    leaves = x[[link.start for link in links]]
    arrives = x[[link.end for link in links]]
    starts: list[list[int]] = [[] for _ in items]
    ends: list[list[int]] = [[] for _ in items]
    for n, link in enumerate(links):
        starts[link.start].append(n)
        ends[link.end].append(n)
    for i, (item, out, into) in enumerate(zip(items, starts, ends, strict=True)):
        if item.box < 0:
            continue
        for found, far, spread in ((out, arrives, leaves), (into, leaves, arrives)):
            found.sort(key=lambda n: far[n])
            apart = min(18.0, 0.7 * item.width / max(1, len(found)))
            for place, n in enumerate(found):
                spread[n] = x[i] + apart * (place - (len(found) - 1) / 2)
    return leaves, arrives
