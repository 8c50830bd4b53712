"""What XGBoost wrote, changed: nodes of trees, settings, bytes.

It is kept in model files as an array of bytes: JSON, or in some to come UBJSON.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from fuzz import json_mutations
from fuzz.sealed import Parts

_INDICES = ("left_children", "right_children", "parents", "split_indices", "split_type")
_VALUES = ("split_conditions", "base_weights", "loss_changes", "sum_hessian", "default_left")
_SETS = ("categories", "categories_nodes", "categories_segments", "categories_sizes")
_ODD_INDICES = [0, 1, -1, 2, 3, 2**30, 2**31 - 1, -(2**31), 2**31, 10**6, 1.5, "1", None]
_ODD_VALUES = [float("nan"), float("inf"), 1e38, -1e38, 1e300, 0, -1, "NaN", None, 10**400]


def _pick(parts: Parts, rng: np.random.Generator) -> tuple[int, Any] | None:
    """One of the boosters in a file: the number of its array, and what it says."""
    known = [i for i, array in enumerate(parts.arrays) if _is_booster(array)]
    if not known:
        return None
    i = int(rng.choice(known))
    try:
        return i, json.loads(parts.arrays[i].tobytes())
    except ValueError:
        return None


def _is_booster(array: Any) -> bool:
    is_text = isinstance(array, np.ndarray) and array.dtype == np.uint8 and array.ndim == 1
    return is_text and array[:2].tobytes() == b'{"'


def _put(parts: Parts, i: int, model: Any) -> None:
    text = json.dumps(model, separators=(",", ":"))
    parts.arrays[i] = np.frombuffer(text.encode(), np.uint8)


def nodes(parts: Parts, rng: np.random.Generator) -> str | None:
    """A node with other relatives, another column or another value; or one more node."""
    found = _pick(parts, rng)
    if found is None:
        return None
    i, model = found
    trees = model["learner"]["gradient_booster"]["model"]["trees"]
    if not trees:
        return None
    number = int(rng.integers(len(trees)))
    tree = trees[number]
    how = int(rng.integers(5))
    if how == 0:
        what = _append_node(tree, rng)
    elif how == 1:
        other = trees[rng.integers(len(trees))]
        name = str(rng.choice([*_INDICES, *_VALUES]))
        tree[name] = list(other[name])
        what = f"{name} of another tree"
    elif how == 2:
        name = str(rng.choice([*_INDICES, *_VALUES, *_SETS]))
        tree[name] = tree[name][:-1] if rng.random() < 0.5 else [*tree[name], 0]
        what = f"{name} of length {len(tree[name])}"
    else:
        name = str(rng.choice([*_INDICES, *_VALUES, *_SETS]))
        odd = _ODD_INDICES if name in (*_INDICES, *_SETS) else _ODD_VALUES
        if not tree[name]:
            return None
        at = int(rng.integers(len(tree[name])))
        tree[name][at] = odd[rng.integers(len(odd))]
        what = f"{name}[{at}] = {tree[name][at]!r:.20}"
    _put(parts, i, model)
    return f"booster {i}, tree {number}: {what}"


def _append_node(tree: Any, rng: np.random.Generator) -> str:
    """A node that was pruned, of a parent that may not be there."""
    parent = _ODD_INDICES[rng.integers(10)]
    pruned = {"left_children": -1, "right_children": -1, "split_indices": 2**31 - 1}
    for name in (*_INDICES, *_VALUES):
        tree[name].append(pruned.get(name, 0))
    tree["parents"][-1] = parent
    counts = tree["tree_param"]
    counts["num_nodes"] = str(int(counts["num_nodes"]) + 1)
    if "num_deleted" in counts:
        counts["num_deleted"] = str(int(counts["num_deleted"]) + int(rng.integers(2)))
    return f"one more node, of parent {parent}"


def settings(parts: Parts, rng: np.random.Generator) -> str | None:
    """Anything else that XGBoost wrote."""
    found = _pick(parts, rng)
    if found is None:
        return None
    i, model = found
    what = json_mutations.change(_without_nodes(model) if rng.random() < 0.7 else model, rng)
    _put(parts, i, model)
    return None if what is None else f"booster {i}: {what}"


def _without_nodes(model: Any) -> Any:
    """The settings, which would else be drowned by the numbers of the nodes."""
    learner = model["learner"]
    trees = learner["gradient_booster"]["model"]["trees"]
    return {
        "learner": {key: value for key, value in learner.items() if key != "gradient_booster"},
        "model": {
            key: value
            for key, value in learner["gradient_booster"]["model"].items()
            if key != "trees"
        },
        "params": [tree["tree_param"] for tree in trees],
    }


def text(parts: Parts, rng: np.random.Generator) -> str | None:
    """Bytes changed, taken out or put in; or the same trees in XGBoost's binary form."""
    found = _pick(parts, rng)
    if found is None:
        return None
    i, _ = found
    content = bytearray(parts.arrays[i].tobytes())
    form = "JSON"
    if rng.random() < 0.3:
        import xgboost

        booster = xgboost.Booster({"verbosity": 0})
        try:
            booster.load_model(content)
        except (xgboost.core.XGBoostError, ValueError):
            return None
        content, form = bytearray(booster.save_raw("ubj")), "UBJSON"
    at = int(rng.integers(len(content)))
    how = str(rng.choice(["flip", "cut", "put in", "take out", "escape", "none"]))
    if how == "flip":
        content[at] ^= int(rng.integers(1, 256))
    elif how == "cut":
        del content[at:]
    elif how == "put in":
        content[at:at] = rng.bytes(int(rng.integers(1, 9)))
    elif how == "take out":
        del content[at : at + int(rng.integers(1, 9))]
    elif how == "escape":
        content[at:at] = b"\\u0000"
    parts.arrays[i] = np.frombuffer(bytes(content), np.uint8)
    return f"booster {i} as {form}: {how} at {at}"
