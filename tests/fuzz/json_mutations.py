"""Trees of JSON with odd values, other keys, and nodes that were exchanged."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

_NUMBERS = [0, -1, 1, 2, 3, 7, 60, 255, 10**5, 10**7, 2**31 - 1, 2**31, 2**53 + 1, 2**63, -(2**63)]
_ODD: list[Any] = [
    *(None, True, False, "", "x", "nan", "\ud800", "auto", "x" * 5000, 0.5, -0.5, 1e308, 5e-324),
    *(float("nan"), float("inf"), float("-inf"), [], {}, [[]], [1, 2], ["a"], {"a": 1}),
    *({"$tuple": []}, {"$dict": []}, {"$dict": [[1]]}, {"$scalar": 5}, {"$unsaved": 3}),
    *({"$array": -1}, {"$array": 0}, {"$array": "0"}, {"$array": 1e9}, {"$array": True}),
    *({"$objects": [1, 2], "shape": [3]}, {"$objects": [], "shape": [0, 10**12]}),
    *({"$": "f-beta", "state": {"beta": -1}}, {"$": 5, "state": {}}, {"$": "unsaved", "state": []}),
    *([0] * 1000, "=1+1", "\x1b[31m", 10**400),
]


def odd_value(rng: np.random.Generator) -> Any:
    """Something that may not be expected."""
    if rng.random() < 0.4:
        return _NUMBERS[rng.integers(len(_NUMBERS))]
    return copy.deepcopy(_ODD[rng.integers(len(_ODD))])


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Every container of the tree with each of its keys."""
    found, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node))
        for key in keys:
            found.append((node, key))
            if isinstance(node[key], dict | list):
                waiting.append(node[key])
    return found


def change(tree: Any, rng: np.random.Generator, n_arrays: int = 0) -> str | None:
    """Change one node of a tree in place."""
    places = _places(tree) if isinstance(tree, dict | list) else []
    if not places:
        return None
    node, key = places[rng.integers(len(places))]
    where = f"{key}={node[key]!r:.40}"
    how = _WAYS[rng.integers(len(_WAYS))]
    done = how(node, key, places, rng)
    return None if done is None else f"{where} {done}"


def _replace(node: Any, key: Any, places: Any, rng: np.random.Generator) -> str:
    node[key] = odd_value(rng)
    return f"became {node[key]!r:.60}"


def _near(node: Any, key: Any, places: Any, rng: np.random.Generator) -> str | None:
    """A number a little off, or of another sign or type."""
    value = node[key]
    if isinstance(value, bool):
        node[key] = not value
    elif isinstance(value, int | float):
        ways = [value + 1, value - 1, -value, value * 1000, float(value), str(value), [value]]
        node[key] = ways[rng.integers(len(ways))]
    elif isinstance(value, str):
        ways = [value + "x", value[:-1], value.upper(), [value], value * 100, 5]
        node[key] = ways[rng.integers(len(ways))]
    else:
        return None
    return f"became {node[key]!r:.60}"


def _remove(node: Any, key: Any, places: Any, rng: np.random.Generator) -> str:
    del node[key]
    return "removed"


def _rename(node: Any, key: Any, places: Any, rng: np.random.Generator) -> str | None:
    if not isinstance(node, dict):
        return None
    names = [f"{key}x", "_check_state", "__class__", "$", "$array", "__dict__", "priority", ""]
    name = names[rng.integers(len(names))]
    node[name] = node.pop(key) if rng.random() < 0.5 else copy.deepcopy(node[key])
    return f"also or only as {name!r}"


def _copy_of_another(node: Any, key: Any, places: Any, rng: np.random.Generator) -> str:
    other, name = places[rng.integers(len(places))]
    node[key] = copy.deepcopy(other[name])
    return f"became a copy of {name}={other[name]!r:.40}"


def _exchange(node: Any, key: Any, places: Any, rng: np.random.Generator) -> str:
    other, name = places[rng.integers(len(places))]
    mine, yours = copy.deepcopy(node[key]), copy.deepcopy(other[name])
    node[key] = yours
    other[name] = mine
    return f"exchanged with {name}={yours!r:.40}"


def _sibling(node: Any, key: Any, places: Any, rng: np.random.Generator) -> str | None:
    keys = list(node) if isinstance(node, dict) else list(range(len(node)))
    if len(keys) < 2:
        return None
    other = keys[rng.integers(len(keys))]
    node[key], node[other] = node[other], node[key]
    return f"exchanged with {other}"


def _array_reference(node: Any, key: Any, places: Any, rng: np.random.Generator) -> str | None:
    """Another array where one is referred to."""
    known = [(n, k) for n, k in places if k == "$array" and isinstance(n, dict)]
    if len(known) < 2:
        return None
    (node, _), (other, _) = (known[i] for i in rng.choice(len(known), 2, replace=False))
    was, node["$array"] = node["$array"], other["$array"]
    return f"… instead: array {was!r:.20} became a second array {other['$array']!r:.20}"


def _often(node: Any, key: Any, places: Any, rng: np.random.Generator) -> str:
    times = int(rng.choice([2, 20, 2000]))
    node[key] = [node[key]] * times
    return f"{times} times"


def _longer(node: Any, key: Any, places: Any, rng: np.random.Generator) -> str | None:
    """A list with other elements, fewer, or the same over and over."""
    lists = [(n, k) for n, k in places if isinstance(n[k], list) and n[k]]
    if not lists:
        return None
    node, key = lists[rng.integers(len(lists))]
    value = node[key]
    often = value * 1000 if len(value) < 100 else value  # a file is small, or takes its time
    ways = [value[:-1], value + value[-1:], value[::-1], often, [], value[1:]]
    way = int(rng.integers(len(ways)))
    node[key] = ways[way]
    names = ["one fewer", "one more", "reversed", "1000 times", "empty", "without the first"]
    return f"… instead: list {key!r:.40} {names[way]}"


def _tag(node: Any, key: Any, places: Any, rng: np.random.Generator) -> str | None:
    objects = [n for n, k in places if k == "$" and isinstance(n, dict)]
    if not objects:
        return None
    node = objects[rng.integers(len(objects))]
    was = node["$"]
    if rng.random() < 0.5:
        node["$"] = objects[rng.integers(len(objects))].get("$", "x")
        return f"… instead: {was!r:.40} became {node['$']!r:.40}"
    node["version"] = [0, -1, 1, 2, 99, 1.5, "1", True, None][rng.integers(9)]
    return f"… instead: {was!r:.40} of version {node['version']!r}"


_WAYS = [
    *(_replace, _replace, _replace, _near, _near, _remove, _rename, _copy_of_another),
    *(_exchange, _sibling, _array_reference, _often, _longer, _tag),
]
