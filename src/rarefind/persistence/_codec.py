"""Models as trees of plain values, and back.

What JSON has no word for is an object with a key that begins with ``$``. Objects of rarefind's own
classes are named by the tags that these have registered (:mod:`rarefind._core.saved`); nothing else
is ever built. Parameters that are somebody else's objects, such as a sampler or a function, are
kept as the text they print: a loaded model scores as the saved one, but to fit it again they must
be set again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rarefind._core.fields import StateError
from rarefind._core.saved import SavedType, StateChecker, Unsaved, saved_type

_DEEPEST = 60
_PLAIN = (bool, int, float, str)
# Whole numbers of more bits are nobody's identifiers, and slow to work with.
_MOST_BITS = 512


class RefusedError(Exception):
    """What is wrong with a file, to follow its name."""


class Encoder:
    """Takes a model apart; collects its arrays and the modules its classes come from."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray[Any, Any]] = []
        self.modules: set[str] = set()

    def encode(self, value: Any, depth: int = 0, is_parameter: bool = False) -> Any:
        """The tree of a value."""
        if depth > _DEEPEST:
            raise ValueError("This model is nested too deeply to be saved.")

        def inner(part: Any) -> Any:
            return self.encode(part, depth + 1, is_parameter)

        if value is None or type(value) in _PLAIN:
            return value
        kind = saved_type(type(value))
        if kind is not None:
            return self._encode_object(kind, value, depth)
        if isinstance(value, np.ndarray):
            if value.dtype == object:
                cells = [inner(v) for v in value.ravel().tolist()]
                return {"$objects": cells, "shape": list(value.shape)}
            self.arrays.append(value)
            return {"$array": len(self.arrays) - 1}
        if isinstance(value, np.generic) and value.dtype != object:
            return {"$scalar": inner(value.reshape(1))}
        if type(value) is list:
            return [inner(v) for v in value]
        if type(value) is tuple:
            return {"$tuple": [inner(v) for v in value]}
        if type(value) is dict:
            return {"$dict": [[inner(k), inner(v)] for k, v in value.items()]}
        if is_parameter:
            return {"$unsaved": repr(value)[:1000]}
        # What was learned is kept whole or not at all.
        raise ValueError(f"A {type(value).__name__} cannot be kept in a model file.")

    def _encode_object(self, kind: SavedType, value: Any, depth: int) -> Any:
        self.modules.add(kind.cls.__module__)
        parameters = set(value.get_params(deep=False)) if hasattr(value, "get_params") else set()
        state = {
            name: self.encode(part, depth + 1, name in parameters)
            for name, part in kind.state(value).items()
        }
        return {"$": kind.tag, "version": kind.version, "state": state}


class Decoder:
    """Puts a model together again from its tree, and checks each object before it is made.

    Parameters
    ----------
    array : callable
        The array with a number; each is asked for once.
    find : callable
        How objects with a tag are made, or None for a tag that nothing has.
    """

    def __init__(
        self, array: Callable[[int], Any], find: Callable[[Any], SavedType | None]
    ) -> None:
        self._array, self._find = array, find
        self._checker = StateChecker()
        self.arrays: set[int] = set()

    def decode(self, tree: Any, depth: int = 0) -> Any:
        """The value that a tree stands for."""
        if depth > 2 * _DEEPEST:
            raise RefusedError("is nested too deeply.")
        if isinstance(tree, list):
            return [self.decode(part, depth + 1) for part in tree]
        if not isinstance(tree, dict):
            if type(tree) is int and tree.bit_length() > _MOST_BITS:
                raise RefusedError("holds a whole number that is far too large.")
            return tree
        kind = next(iter(tree), "")
        # Files of format 1 may have objects without a version.
        if len(tree) != _SIZES.get(kind, 0) and tree.keys() != {"$", "state"}:
            raise RefusedError("holds a value of an unknown kind.")
        if kind == "$":
            return self._decode_object(tree, depth)
        if kind == "$unsaved":
            return Unsaved(str(tree[kind]))
        if kind == "$array":
            return self._decode_array(tree[kind])
        content = self.decode(tree[kind], depth + 1)
        if kind == "$scalar":
            return _scalar(content)
        if not isinstance(content, list):
            raise RefusedError("holds a value of an unknown kind.")
        if kind == "$objects":
            return _objects(content, tree["shape"])
        return tuple(content) if kind == "$tuple" else _dict(content)

    def _decode_array(self, number: Any) -> Any:
        if type(number) is not int or number < 0:
            raise RefusedError("does not hold a whole model (an array has no number).")
        # A few letters could else stand for as much memory as anybody likes.
        if number in self.arrays:
            raise RefusedError(f"refers twice to its array {number}.")
        self.arrays.add(number)
        return self._array(number)

    def _decode_object(self, tree: dict[str, Any], depth: int) -> Any:
        kind = self._find(tree["$"])
        if kind is None:
            raise RefusedError(f"names {tree['$']!r:.60}, which is not part of a rarefind model.")
        version = tree.get("version", 1)
        if type(version) is not int or version < 1:
            raise RefusedError(f"holds a {kind.tag} of no known version ({version!r:.60}).")
        if version > kind.version:
            raise RefusedError(
                f"holds a {kind.tag} of version {version}, and this rarefind reads versions up to "
                f"{kind.version}. Upgrade rarefind."
            )
        state = {name: self.decode(part, depth + 1) for name, part in tree["state"].items()}
        state = kind.present(state, version)
        try:
            sizes, fitted = self._checker.check(kind, state)
        except StateError as error:
            raise RefusedError(f"does not hold a whole model ({error}).") from None
        made = kind.make(state)
        self._checker.remember(made, kind, sizes, fitted)
        return made


#: The keys of a value that JSON has no word for, by the first of them.
_SIZES = {
    "$": 3,
    "$array": 1,
    "$scalar": 1,
    "$objects": 2,
    "$tuple": 1,
    "$dict": 1,
    "$unsaved": 1,
}


def _scalar(content: Any) -> Any:
    if type(content) is not np.ndarray or content.shape != (1,):
        raise RefusedError("does not hold a whole model (a number is not one).")
    return content[0]


def _objects(content: list[Any], shape: Any) -> Any:
    whole = type(shape) is list and all(type(size) is int and size >= 0 for size in shape)
    if not whole or math.prod(shape) != len(content) or max(shape, default=0) > len(content):
        raise RefusedError("holds an array that is not as long as it says.")
    made = np.empty(len(content), dtype=object)
    for place, value in enumerate(content):
        made[place] = value
    return made.reshape(shape)


def _dict(content: list[Any]) -> dict[Any, Any]:
    if not all(type(pair) is list and len(pair) == 2 for pair in content):
        raise RefusedError("holds a dictionary without pairs.")
    made = dict(content)
    if len(made) != len(content):
        raise RefusedError("holds a dictionary that says something twice.")
    return made
