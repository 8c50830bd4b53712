"""A tree of trees as text, with the whole model in it."""

from __future__ import annotations

import json

import numpy as np

from rarefind._core.types import Floats
from rarefind.trees._paths import OR_MISSING, leaf_ranks, ranked_leaves, step
from rarefind.trees._ranker import Ranker
from rarefind.trees.graph import MetaTree

_INDENT = "    "
_SETS = """\
A level never seen before is in no set. For a missing value a condition holds only if it says so."""
_BANDS = """\
A condition with ± w, within w of its threshold t, holds in part: the share 0.5 - (x - t) / (2 w)
of the row goes on as if it held, the rest as if not. So a row reaches several leaves, and m is the
mean of their scores by these shares. The row is ranked by the score s of the leaf that it reaches
without bands, moved towards m: by 0.49 (h - s) (m - s) / (1 - s) up if m > s, and by
0.49 (s - l) (s - m) / s down if m < s, where h and l are the next scores of leaves above and below
s, or 1 and 0."""


def export_text(ranker: Ranker, names: list[str]) -> str:
    """Write the tree to be read from top to bottom.

    A block for each outer node that is split, then a line for each leaf. Numbers are written in
    full, so the text is the whole model. Categories that were not seen in training are in no set,
    and a missing value is neither in a set nor out of it, nor below a threshold: where a condition
    holds for missing values, the text says so. Where thresholds have bands, these are behind them,
    and the text says how they move a row.

    Parameters
    ----------
    ranker : Ranker
        The tree, its scores, and its bands if it has any.
    names : list of str
        Names of the features.

    Returns
    -------
    str
    """
    tree, score, width = ranker
    banded = bool((width > 0).any())
    conditions = [
        condition_text(tree, number, names, float(width[number]) if banded else 0.0)
        for number in range(tree.conditions.feature.size)
    ]
    ranks = leaf_ranks(tree, score)
    places = [f"leaf {rank}" if rank else f"node {node}" for node, rank in enumerate(ranks)]
    lines = [
        f"{_count_text(len(conditions), 'condition')}, {_count_text(int(ranks.max()), 'leaf')}"
    ]
    if tree.sets.size:
        lines += [_SETS]
    lines += [_BANDS] if banded else []
    for node in np.flatnonzero(~tree.is_leaf):
        first, second = places[tree.nodes.first[node]], places[tree.nodes.second[node]]
        order = f", {first} ahead of {second}" if banded else ""
        lines += ["", f"{places[node]}: {_sums(tree.nodes.sums[node])}{order}"]
        lines += _inner(tree, int(tree.nodes.root[node]), conditions, places, 1)
    lines.append("")
    lines += [
        f"{places[leaf]}: score {float(score[leaf])!r}, {_sums(tree.nodes.sums[leaf])}"
        for leaf in ranked_leaves(tree, score)
    ]
    return "\n".join(lines) + "\n"


def _count_text(n: int, noun: str) -> str:
    many = "leaves" if noun == "leaf" else f"{noun}s"
    return f"{n} {noun if n == 1 else many}"


def _sums(sums: Floats) -> str:
    rows, weight, positive = map(float, sums)
    if rows == weight:
        return f"{rows:.0f} rows, {positive:.6g} positive"
    return f"{rows:.0f} rows of weight {weight:.6g}, {positive:.6g} positive"


def _inner(
    tree: MetaTree, number: int, conditions: list[str], places: list[str], depth: int
) -> list[str]:
    """The lines of a condition and of all below it, up to the next outer nodes."""
    if number < 0:
        return [_INDENT * depth + f"go to {places[-1 - number]}"]
    lines = [_INDENT * depth + f"if {conditions[number]}:"]
    lines += _inner(tree, step(tree, number, True), conditions, places, depth + 1)
    lines.append(_INDENT * depth + "else:")
    return lines + _inner(tree, step(tree, number, False), conditions, places, depth + 1)


def condition_text(tree: MetaTree, number: int, names: list[str], width: float = 0.0) -> str:
    """A condition in full, with half its band if it has one, and with where missing values go."""
    c = tree.conditions
    feature, missing = int(c.feature[number]), bool(c.missing_left[number])
    name, threshold = readable(names[feature]), float(c.threshold[number])
    if c.set_number[number] >= 0:
        inside, outside, new = sides(tree, number)
        listed = ", ".join(map(repr, outside if new else inside))
        if not listed and new != missing:
            return f"{name} is {'present' if new else 'missing'}"
        return f"{name} {'not in' if new else 'in'} {{{listed}}}{OR_MISSING if missing else ''}"
    if threshold == np.inf:
        return f"{name} is {'missing or ' if missing else ''}present"
    band = f" ± {width!r}" if width > 0 else ""
    return f"{name} <= {threshold!r}{band}{OR_MISSING if missing else ''}"


def sides(tree: MetaTree, number: int) -> tuple[list[float], list[float], bool]:
    """The levels for which a condition holds, those for which not, and if it does for new ones."""
    c = tree.conditions
    levels = tree.levels[int(c.feature[number])]
    codes = tree.sets[c.set_number[number]]
    left = codes[: levels.size]
    return levels[left].tolist(), levels[~left].tolist(), bool(codes[levels.size + 1])


def readable(name: str) -> str:
    """The name, in quotes where it could be confused with what is around it."""
    clear = name.isprintable() and name == name.strip() and name and name[0] != '"'
    return name if clear else json.dumps(name)
