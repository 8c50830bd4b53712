"""XGBoost's trees as plain state: text that is looked through before XGBoost reads it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np
import xgboost

from rarefind._core.fields import IntArray, StateError
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Array, Floats
from rarefind.boosting._coding import Coding
from rarefind.boosting._forest import Forest
from rarefind.boosting._scoring import Scoring

_START, _NEW_START = b'"base_score":"0E0"', b'"base_score":"[0E0]"'
# What XGBoost writes for the column of a pruned node, and for the parent of the root.
_PRUNED = _NO_PARENT = 2**31 - 1


# A booster is made ready by one thread and then only read: XGBoost can be asked by many.
_MAKING = Lock()
# No fit grows deeper trees, and XGBoost explains a row by recursion.
_MOST_LEVELS = 31
# Leaves are of the size of log-odds: sums of larger ones would not be finite.
_LARGEST_LEAF = 1e30
_OBJECTIVES = ("reg:squarederror", "rank:map", "rank:ndcg", "rank:pairwise")
# What XGBoost writes of each node.
_VALUES = ("split_conditions", "base_weights", "loss_changes", "sum_hessian")
_NODES: dict[str, Any] = {
    "left_children": np.int64,
    "right_children": np.int64,
    "parents": np.int64,
    "split_indices": np.int64,
    "split_type": np.int64,
    "default_left": np.int64,
    **dict.fromkeys(_VALUES, np.float32),
}


@saved("boosted-trees", state=State({"text": IntArray("*", dtype=np.uint8)}))
class Trees:
    """A grown booster, kept as XGBoost's own JSON.

    The text is what goes into a model file; XGBoost reads it when it is first asked for scores.
    """

    _booster: xgboost.Booster | None
    _n_threads: int
    _single_trees: tuple[xgboost.Booster, list[xgboost.Booster]] | None
    _means: Floats | None
    _leaf_values: list[Array] | None
    _forest: Forest | None
    _scoring: Scoring | None
    _has_scoring: bool

    def __init__(self, text: Array) -> None:
        self.text = text
        self._forget()

    def get_state(self) -> dict[str, Any]:
        """What a model file keeps."""
        return {"text": self.text}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Trees:
        """Make it again from what a file kept."""
        return cls(np.ascontiguousarray(state["text"], np.uint8))

    @classmethod
    def of(cls, booster: xgboost.Booster) -> Trees:
        """Keep a booster whose scores start at 0."""
        text = bytes(booster.save_raw("json"))
        # XGBoost 3 writes a list, which XGBoost 2 would take for one half.
        return cls(np.frombuffer(text.replace(_NEW_START, _START), dtype=np.uint8))

    def booster(self, n_threads: int = 1) -> xgboost.Booster:
        """The booster, read from the text and ready to be asked by several threads at once."""
        with _MAKING:
            if self._booster is None or self._n_threads != n_threads:
                made = xgboost.Booster({"verbosity": 0, "nthread": n_threads})
                made.load_model(bytearray(self.text.tobytes()))
                made.set_param({"nthread": n_threads})
                made.save_config()  # XGBoost sets itself up now, not in the first of many calls
                self._booster, self._n_threads = made, n_threads
            return self._booster

    def single_trees(self, n_threads: int = 1) -> list[xgboost.Booster]:
        """A booster for each tree; to cut them out takes longer than to ask them."""
        booster = self.booster(n_threads)
        with _MAKING:
            if self._single_trees is None or self._single_trees[0] is not booster:
                parts = [booster[t : t + 1] for t in range(booster.num_boosted_rounds())]
                self._single_trees = booster, parts
            return self._single_trees[1]

    def means(self, ask: Callable[[], Floats]) -> Floats:
        """The mean output, which is the same for all rows: asked for once, then kept."""
        if self._means is None:
            self._means = ask()
        return self._means

    def leaf_values(self) -> list[Array]:
        """The value of each node of each tree, by the node's number; of use at leaves only."""
        if self._leaf_values is None:
            self._leaf_values = [
                np.array(tree["split_conditions"], dtype=np.float32) for tree in self.parse()
            ]
        return self._leaf_values

    def forest(self, coding: Coding) -> Forest:
        """The trees as arrays for few rows, made once: rows are always in the same coding."""
        if self._forest is None:
            self._forest = Forest.of(self.parse(), coding)
        return self._forest

    def parse(self) -> list[dict[str, Any]]:
        """The trees as XGBoost writes them in JSON."""
        model = json.loads(self.text.tobytes())["learner"]["gradient_booster"]["model"]
        trees: list[dict[str, Any]] = model["trees"]
        return trees

    def scoring(self, coding: Coding) -> Scoring | None:
        """How columns are coded for scores; None where they have no bins."""
        if not self._has_scoring:
            asked = np.zeros(coding.is_set.size, dtype=bool)
            thresholds: dict[int, list[Array]] = {j: [np.empty(0)] for j in range(asked.size)}
            for tree in self.parse():
                inner = np.array(tree["left_children"]) != -1
                column = np.array(tree["split_indices"])[inner]
                value = np.array(tree["split_conditions"], dtype=np.float32)[inner]
                asked[column] = True
                for j in np.unique(column).tolist():
                    thresholds[j].append(value[column == j])
            whole = {j: np.concatenate(values) for j, values in thresholds.items()}
            self._scoring, self._has_scoring = Scoring.of(coding, whole, asked), True
        return self._scoring

    def __getstate__(self) -> dict[str, Any]:
        return {"text": self.text}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.text = state["text"]
        self._forget()

    def _forget(self) -> None:
        """What is made from the text when it is needed."""
        self._booster = None
        self._n_threads = 0
        self._single_trees = None
        self._means = None
        self._leaf_values = None
        self._forest = None
        self._scoring = None
        self._has_scoring = False

    def check(self, levels: Sequence[int | None]) -> int:
        """Refuse what XGBoost would read beyond its arrays, or for ever: it trusts its files.

        ``levels`` has the number of categories of each column, None for numbers. Returns the number
        of trees.
        """
        try:
            text = self.text.tobytes()
            # XGBoost leaves escapes as they are, and reads other beginnings as other formats.
            plain = text.startswith(b'{"') and b"\\" not in text
            found = json.loads(text) if plain else {}
            with np.errstate(over="ignore"):  # what is too large is infinite, and refused
                sound = plain and _is_sound(found["learner"], levels)
            if sound:
                self.booster()  # XGBoost may still know better
        except (
            KeyError,
            TypeError,
            ValueError,
            AttributeError,
            IndexError,
            OverflowError,
            RecursionError,
            xgboost.core.XGBoostError,
        ):
            sound = False
        if not sound:
            raise StateError("the trees are not as XGBoost writes them")
        return len(found["learner"]["gradient_booster"]["model"]["trees"])


def _is_sound(learner: Any, levels: Sequence[int | None]) -> bool:
    booster = learner["gradient_booster"]
    model = booster["model"]
    trees = model["trees"]
    params = learner["learner_model_param"]
    types = ["q" if n is None else "c" for n in levels]
    return bool(
        booster["name"] == "gbtree"
        and learner["objective"]["name"] in _OBJECTIVES
        and learner.get("feature_types", []) in ([], types)
        and learner.get("feature_names", []) == []
        and learner.get("attributes", {}) == {}
        and not any(model.get("cats", {}).values())
        and int(params["num_feature"]) == len(levels)
        and int(params["num_class"]) == 0
        and int(params["num_target"]) == 1
        and float(params["base_score"]) == 0
        and [tree["id"] for tree in trees] == list(range(len(trees)))
        and model["tree_info"] == [0] * len(trees)
        and int(model["gbtree_model_param"]["num_trees"]) == len(trees)
        and int(model["gbtree_model_param"].get("num_parallel_tree", 1)) == 1
        and model.get("iteration_indptr", list(range(len(trees) + 1)))
        == list(range(len(trees) + 1))
        and all(_is_sound_tree(tree, levels) for tree in trees)
    )


def _is_sound_tree(tree: Any, levels: Sequence[int | None]) -> bool:
    n = int(tree["tree_param"]["num_nodes"])
    if n < 1 or int(tree["tree_param"]["size_leaf_vector"]) not in (0, 1):
        return False
    if not _NODES.keys() <= tree.keys() or {len(tree[name]) for name in _NODES} != {n}:
        return False
    node = {name: np.array(tree[name], dtype=kind) for name, kind in _NODES.items()}
    left, right, parent = node["left_children"], node["right_children"], node["parents"]
    feature, kind = node["split_indices"], node["split_type"]
    inner = left != -1
    children = np.concatenate([left[inner], right[inner]])
    # Nodes that were pruned stay in the arrays, marked.
    kept = feature != _PRUNED
    # Every other node but the root is the child of one node: a tree, without a way round.
    if ((right != -1) != inner).any() or not kept[0] or parent[0] != _NO_PARENT:
        return False
    # XGBoost goes up from pruned nodes, too.
    if ((parent[1:] < 0) | (parent[1:] >= np.arange(1, n))).any():
        return False
    if np.sort(children).tolist() != np.flatnonzero(kept)[1:].tolist():
        return False
    above = np.flatnonzero(inner)
    if (parent[children] != np.concatenate([above, above])).any():
        return False
    if _reached(left, right, inner) != kept.sum():
        return False
    if not all(np.isfinite(node[name]).all() for name in _VALUES):
        return False
    if (np.abs(node["split_conditions"][kept & ~inner]) > _LARGEST_LEAF).any():
        return False
    if ((feature < 0) | (feature >= len(levels)))[inner].any():
        return False
    is_set = np.array([own is not None for own in levels])
    return bool(
        (kind[inner] == is_set[feature[inner]]).all()
        and all(0 <= bits.min() <= bits.max() <= 1 for bits in (kind, node["default_left"]))
        and _are_sound_sets(tree, above[kind[above] == 1], feature, levels)
    )


def _reached(left: Array, right: Array, inner: Array) -> int:
    """How many nodes lie below the root, and it; -1 if they lie too deep."""
    seen, level = 0, np.array([0])
    for _ in range(_MOST_LEVELS + 1):
        if not level.size:
            return seen
        seen += level.size
        level = level[inner[level]]
        level = np.concatenate([left[level], right[level]])
    return -1


def _are_sound_sets(tree: Any, nodes: Array, feature: Array, levels: Sequence[int | None]) -> bool:
    """Whether the categories that splits by sets speak of are all there."""
    start = np.array(tree["categories_segments"], dtype=np.int64)
    size = np.array(tree["categories_sizes"], dtype=np.int64)
    named = np.array(tree["categories"], dtype=np.int64)
    # The sets follow each other: none is shared, as each takes memory of its own.
    return bool(
        start.size == size.size == nodes.size
        and list(tree["categories_nodes"]) == nodes.tolist()
        and (size >= 0).all()
        and np.array_equal(start, np.cumsum(size) - size)
        and size.sum() == named.size
        and (named >= 0).all()
        and (named < np.repeat([levels[feature[node]] for node in nodes], size)).all()
    )
