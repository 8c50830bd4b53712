"""Paths through a tree of trees, as conditions that a person can read.

A path is a list of condition numbers, each with whether it held. What all its conditions say about
one feature is one thing: the numbers between two bounds, or some categories (levels), and whether a
missing value or a new category, one that was not seen in training, can come along.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from rarefind._core.types import Bools, Floats, Ints
from rarefind.rules import Condition
from rarefind.trees.graph import MetaTree, left_to_right

Path: TypeAlias = list[tuple[int, bool]]

OR_MISSING = " or missing"
_LEVELS_SHOWN = 12
OR_NEW = " or new"


def leaf_ranks(tree: MetaTree, score: Floats) -> Ints:
    """The number of each outer leaf, 1 for the highest score; 0 for nodes that are not leaves."""
    leaves = left_to_right(tree.nodes, tree.is_leaf)
    ranks = np.zeros(tree.nodes.root.size, dtype=np.intp)
    ranked = np.array(leaves)[np.argsort(-score[leaves], kind="stable")]
    ranks[ranked] = np.arange(1, len(leaves) + 1)
    return ranks


def ranked_leaves(tree: MetaTree, score: Floats) -> list[int]:
    """The outer leaves from the highest score to the lowest."""
    ranks = leaf_ranks(tree, score)
    return [int(node) for node in np.argsort(ranks) if ranks[node] > 0]


def plain(value: float | str) -> str:
    """A number with all of its digits, but no ``.0``; the name of a level as it is."""
    return value if isinstance(value, str) else repr(float(value)).removesuffix(".0")


@dataclass(frozen=True)
class _PathValues:
    """What a path says about one feature: a value with ``low < x <= high``, one of the levels."""

    missing: bool
    low: float = -np.inf
    high: float = np.inf
    levels: Bools | None = None  # which levels can be, for a feature that has levels
    new: bool = False  # whether a new level can be, for such a feature

    @property
    def value(self) -> bool:
        """Whether there can be a number, or a known level."""
        return bool(self.low < self.high if self.levels is None else self.levels.any())

    @property
    def possible(self) -> bool:
        return self.missing or self.new or self.value

    @property
    def any_value(self) -> bool:
        """Whether every value is possible, new levels included."""
        if self.levels is not None:
            return self.new and bool(self.levels.all())
        return bool(self.low == -np.inf and self.high == np.inf)

    @property
    def most_levels(self) -> bool:
        """Whether fewer levels are impossible than possible."""
        return self.levels is not None and bool(2 * self.levels.sum() > self.levels.size)

    def after(self, tree: MetaTree, number: int, holds: bool) -> _PathValues:
        """What is known when a condition held, or did not."""
        conditions = tree.conditions
        missing = self.missing and bool(conditions.missing_left[number]) == holds
        if self.levels is not None:
            left = tree.sets[conditions.set_number[number]]
            levels = self.levels & (left[: self.levels.size] == holds)
            new = self.new and bool(left[self.levels.size + 1]) == holds
            return replace(self, missing=missing, levels=levels, new=new)
        threshold = float(conditions.threshold[number])
        if holds:
            return replace(self, missing=missing, high=min(self.high, threshold))
        return replace(self, missing=missing, low=max(self.low, threshold))


def _unknown(tree: MetaTree, feature: int, missing: bool) -> _PathValues:
    """What is known of a feature before any condition."""
    levels = tree.levels.get(feature)
    if levels is None:
        return _PathValues(missing)
    return _PathValues(missing, levels=np.ones(levels.size, dtype=bool), new=True)


def step(tree: MetaTree, number: int, holds: bool) -> int:
    """Where a condition leads: to a condition, or to the outer node ``-1 - step``."""
    side = tree.conditions.left if holds else tree.conditions.right
    return int(side[number])


def row_path(tree: MetaTree, row: Floats) -> Path:
    """The conditions that a coded row meets, and whether they hold."""
    c, path = tree.conditions, []
    at = int(tree.nodes.root[0])
    while at >= 0:
        value, number = row[c.feature[at]], c.set_number[at]
        if value != value:  # missing
            holds = bool(c.missing_left[at])
        elif number >= 0:
            holds = bool(tree.sets[number, int(value)])
        else:
            holds = bool(value <= c.threshold[at])
        path.append((at, holds))
        at = step(tree, at, holds)
        if at < 0:
            at = int(tree.nodes.root[-1 - at])
    return path


def path_leaf(tree: MetaTree, path: Path) -> int:
    """The outer leaf at the end of a path."""
    return -1 - step(tree, *path[-1]) if path else 0


def all_paths(tree: MetaTree, most: int = 10_000, has_missing: Bools | None = None) -> list[Path]:
    """Every path from the root to an outer leaf that some row can take.

    Parameters
    ----------
    tree : MetaTree
        The tree.
    most : int, default=10_000
        More paths than these are refused.
    has_missing : ndarray of bool, default=None
        Features that can be missing; by default all. New categories can be in any that has some.

    Returns
    -------
    list of paths
        In order: where a condition holds comes before where it does not.
    """
    paths: list[Path] = []
    stack: list[tuple[int, Path, dict[int, _PathValues]]] = [(int(tree.nodes.root[0]), [], {})]
    while stack:
        at, path, known = stack.pop()
        if at < 0:
            paths.append(path)
            if len(paths) > most:
                raise ValueError(
                    f"The tree has more than {most:,} paths from its root to its leaves: "
                    "prune it, grow it less deep, or raise `most`."
                )
            continue
        feature = int(tree.conditions.feature[at])
        missing = has_missing is None or bool(has_missing[feature])
        before = known.get(feature) or _unknown(tree, feature, missing)
        for holds in (False, True):
            after = before.after(tree, at, holds)
            if after.possible:
                to = step(tree, at, holds)
                to = to if to >= 0 else int(tree.nodes.root[-1 - to])
                stack.append((to, [*path, (at, holds)], {**known, feature: after}))
    return paths


def path_weights(tree: MetaTree, path: Path) -> Floats:
    """What share each condition of a path has in where it leads.

    A condition adds the change of the log-odds of a positive, smoothed by the base rate. Only
    changes for the leaf's side count: upwards for a leaf above the base rate, else downwards.
    """
    nodes = tree.nodes.sums
    prior = nodes[0, 2] / nodes[0, 1]
    change = _changes(tree, path)
    _, weight, positive = nodes[path_leaf(tree, path)]
    share = np.maximum(change if positive > prior * weight else -change, 0)
    return share / share.sum() if share.sum() > 0 else np.full(len(path), 1 / max(1, len(path)))


def _changes(tree: MetaTree, path: Path) -> Floats:
    """What each condition of a path adds to the log-odds of a positive."""
    nodes = tree.nodes.sums
    prior = nodes[0, 2] / nodes[0, 1]
    before = np.array([tree.conditions.sums[number] for number, _ in path]).reshape(-1, 3)
    ends = [step(tree, number, holds) for number, holds in path]
    after = [tree.conditions.sums[to] if to >= 0 else nodes[-1 - to] for to in ends]
    return _log_odds(np.array(after).reshape(-1, 3), prior) - _log_odds(before, prior)


def _log_odds(sums: Floats, prior: float) -> Floats:
    weight, positive = sums[:, 1], sums[:, 2]
    return np.asarray(np.log((positive + prior) / (weight - positive + 1 - prior)))


def merge_conditions(
    tree: MetaTree,
    path: Path,
    names: list[str],
    weights: Floats | None = None,
    raw_row: Floats | None = None,
    has_missing: Bools | None = None,
) -> list[Condition]:
    """The conditions of a path, one a feature, in the order in which the path meets them.

    Parameters
    ----------
    tree : MetaTree
        The tree.
    path : list of (int, bool)
        Condition numbers, and whether each held.
    names : list of str
        Names of the features.
    weights : ndarray of shape (len(path),), default=None
        Share of each condition; those on one feature are added.
    raw_row : ndarray of shape (n_features,), default=None
        The row that took the path. Without it the conditions are those of all rows that can.
    has_missing : ndarray of bool, default=None
        Without a row: features that can be missing; by default all. New categories can be in any
        that has some.

    Returns
    -------
    list of Condition
        With one of the ops ``<=``, ``>``, ``between`` (for ``low < x <= high``), ``in`` and
        ``not in``, each also with `` or missing`` behind it, or ``=`` with the value ``"missing"``,
        ``"new"`` or ``"present"``. A new level is present and ``not in`` every set; where it goes
        with those ``in`` a set or with ``"missing"``, `` or new`` comes last in the op.
    """
    known: dict[int, _PathValues] = {}
    share: dict[int, float] = {}
    for place, (number, holds) in enumerate(path):
        feature = int(tree.conditions.feature[number])
        if feature not in known:
            missing = has_missing is None or bool(has_missing[feature])
            known[feature] = _unknown(tree, feature, missing)
        known[feature] = known[feature].after(tree, number, holds)
        share[feature] = share.get(feature, 0.0) + (0.0 if weights is None else weights[place])
    found = []
    for feature, what in known.items():
        name, levels = names[feature], tree.levels.get(feature)
        if raw_row is not None:
            condition = _of_row(name, what, levels, float(raw_row[feature]))
        elif what.any_value and what.missing == (has_missing is None or bool(has_missing[feature])):
            continue  # nothing is known
        else:
            condition = _condition(name, what, levels)
        found.append(replace(condition, weight=float(share[feature])))
    return found


def _of_row(name: str, known: _PathValues, levels: Floats | None, value: float) -> Condition:
    """What is known of a feature, in words that hold for a row with this value."""
    if np.isnan(value):
        return Condition(name, "=", "missing", f"{name} is missing")
    if levels is not None and value not in levels:
        return Condition(name, "=", value, f"{name} = {plain(value)}, a new level")
    # Where new levels go does not matter here, so what is shorter is said.
    return _condition(name, replace(known, missing=False, new=known.most_levels), levels)


def _condition(name: str, known: _PathValues, levels: Floats | None) -> Condition:
    """What is known of a feature."""
    if not known.value:
        what = "missing" if known.missing else "new"
        or_new = OR_NEW if known.missing and known.new else ""
        return Condition(name, f"={or_new}", what, f"{name} is {what}{or_new}")
    if known.any_value:
        return Condition(name, "=", "present", f"{name} is present")
    others = OR_MISSING if known.missing else ""
    if levels is None or known.levels is None:
        condition = interval(name, known.low, known.high)
    elif known.new and known.most_levels:
        condition = _not_in(name, tuple(levels[~known.levels].tolist()))
    else:
        condition = _in(name, tuple(levels[known.levels].tolist()))
        others += OR_NEW if known.new else ""
    text = condition.raw_unit_text + others
    return replace(condition, op=condition.op + others, raw_unit_text=text)


def interval(name: str, low: float, high: float) -> Condition:
    """The numbers above ``low`` and up to ``high``, of which one may be infinite."""
    if low == -np.inf:
        return Condition(name, "<=", high, f"{name} <= {plain(high)}")
    if high == np.inf:
        return Condition(name, ">", low, f"{name} > {plain(low)}")
    text = f"{plain(low)} < {name} <= {plain(high)}"
    return Condition(name, "between", (low, high), text)


def _in(name: str, values: tuple[float, ...]) -> Condition:
    text = f"= {plain(values[0])}" if len(values) == 1 else f"in {brace(values)}"
    return Condition(name, "in", values, f"{name} {text}")


def _not_in(name: str, values: tuple[float, ...]) -> Condition:
    return Condition(name, "not in", values, f"{name} not in {brace(values)}")


def brace(values: tuple[float, ...]) -> str:
    """Levels as a set, the first of many."""
    shown = [plain(value) for value in values[:_LEVELS_SHOWN]]
    if len(values) > _LEVELS_SHOWN:
        shown[-1] += f", … {len(values) - _LEVELS_SHOWN} more"
    return "{" + ", ".join(shown) + "}"


def explain_path(tree: MetaTree, row: Floats, raw_row: Floats, names: list[str]) -> list[Condition]:
    """The merged conditions that lead a row to its leaf, the weightiest first.

    Parameters
    ----------
    tree : MetaTree
        The tree.
    row : ndarray of shape (n_features,)
        The row with codes for levels, as of :meth:`MetaTree.coded`.
    raw_row : ndarray of shape (n_features,)
        The same with the values of the levels.
    names : list of str
        Names of the features.

    Returns
    -------
    list of Condition
    """
    path = row_path(tree, row)
    found = merge_conditions(tree, path, names, path_weights(tree, path), raw_row)
    change: dict[str, float] = {}
    for (number, _), own in zip(path, _changes(tree, path).tolist(), strict=True):
        name = names[int(tree.conditions.feature[number])]
        change[name] = change.get(name, 0.0) + own
    found = [replace(condition, lowers=change[condition.feature] < 0) for condition in found]
    return sorted(found, key=lambda condition: -condition.weight)


@dataclass(frozen=True)
class LeafRule:
    """One way into a leaf: a row for which all conditions hold has the leaf's score."""

    #: Number of the leaf, 1 for that with the highest score.
    leaf: int
    score: float
    conditions: list[Condition]

    def __str__(self) -> str:
        texts = [f"({c})" if " or " in c.op else str(c) for c in self.conditions]
        what = " and ".join(texts) or "every row"
        return f"leaf {self.leaf} (score {self.score:.3g}): {what}"


def to_conditions(
    tree: MetaTree,
    score: Floats,
    names: list[str],
    most: int = 10_000,
    has_missing: Bools | None = None,
) -> list[LeafRule]:
    """The tree as rules, of which exactly one holds for each row.

    Parameters
    ----------
    tree : MetaTree
        The tree.
    score : ndarray of shape (n_outer_nodes,)
        Score of each outer node; those of leaves are used.
    names : list of str
        Names of the features.
    most : int, default=10_000
        More rules than these are refused.
    has_missing : ndarray of bool, default=None
        Features that can be missing; by default all. New categories can be in any that has some.

    Returns
    -------
    list of LeafRule
        The highest leaf first.
    """
    ranks = leaf_ranks(tree, score)
    rules = []
    for path in all_paths(tree, most, has_missing):
        leaf = path_leaf(tree, path)
        conditions = merge_conditions(
            tree, path, names, path_weights(tree, path), has_missing=has_missing
        )
        rules.append(LeafRule(int(ranks[leaf]), float(score[leaf]), conditions))
    return sorted(rules, key=lambda rule: rule.leaf)
