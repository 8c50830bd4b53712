"""Models as trees of plain values, and back.

What JSON has no word for is an object with a key that begins with ``$``. Objects of rarefind's own
classes are named by the tags that these have registered (:mod:`rarefind._core.saved`); nothing else
is ever built. Parameters that are somebody else's objects, such as a sampler or a function, are
kept as the text they print: a loaded model scores as the saved one, but to fit it again they must
be set again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rarefind._core.saved import SavedType, saved, saved_type

_DEEPEST = 60
_PLAIN = (bool, int, float, str)


class RefusedError(Exception):
    """What is wrong with a file, to follow its name."""


@saved("unsaved")
@dataclass(frozen=True)
class Unsaved:
    """Stands for a parameter that a model file does not keep."""

    text: str

    def __repr__(self) -> str:
        return f"Unsaved({self.text})"


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
    """Puts a model together again from its tree.

    Parameters
    ----------
    array : callable
        The array with a number.
    find : callable
        How objects with a tag are made, or None for a tag that nothing has.
    """

    def __init__(
        self, array: Callable[[Any], Any], find: Callable[[Any], SavedType | None]
    ) -> None:
        self._array, self._find = array, find

    def decode(self, tree: Any) -> Any:
        """The value that a tree stands for."""
        if isinstance(tree, list):
            return [self.decode(v) for v in tree]
        if not isinstance(tree, dict):
            return tree
        if "$" in tree:
            return self._decode_object(tree)
        if "$array" in tree:
            return self._array(tree["$array"])
        if "$scalar" in tree:
            return self.decode(tree["$scalar"])[0]
        if "$objects" in tree:
            made = np.empty(len(tree["$objects"]), dtype=object)
            made[:] = [self.decode(v) for v in tree["$objects"]]
            return made.reshape(tree["shape"])
        if "$tuple" in tree:
            return tuple(self.decode(v) for v in tree["$tuple"])
        if "$dict" in tree:
            return {self.decode(k): self.decode(v) for k, v in tree["$dict"]}
        if "$unsaved" in tree:
            return Unsaved(str(tree["$unsaved"]))
        raise RefusedError("holds a value of an unknown kind.")

    def _decode_object(self, tree: dict[str, Any]) -> Any:
        kind = self._find(tree["$"])
        if kind is None:
            raise RefusedError(f"names {tree['$']!r}, which is not part of a rarefind model.")
        version = tree.get("version", 1)
        if type(version) is not int or version < 1:
            raise RefusedError(f"holds a {kind.tag} of no known version ({version!r}).")
        if version > kind.version:
            raise RefusedError(
                f"holds a {kind.tag} of version {version}, and this rarefind reads versions up to "
                f"{kind.version}. Upgrade rarefind."
            )
        state = {name: self.decode(part) for name, part in tree["state"].items()}
        made = kind.make(state, version)
        if hasattr(made, "_check_state") and _has_learned(made):
            made._check_state()
        return made


def _has_learned(estimator: Any) -> bool:
    """Whether it holds more than its parameters."""
    return bool(vars(estimator).keys() - estimator.get_params(deep=False).keys())
