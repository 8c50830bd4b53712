"""What a model file may contain: each class registers itself, with a tag that never changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple, TypeAlias, TypeVar

__all__ = ["MARK", "SavedType", "rename_fields", "saved", "saved_type", "type_of_tag"]

#: How model files begin.
MARK = b"rarefind\n"

State: TypeAlias = dict[str, Any]
#: Makes the state of an older version of a class one of the present version.
Upgrade: TypeAlias = Callable[[int, State], State]
C = TypeVar("C", bound=type)


class SavedType(NamedTuple):
    """How objects of one class are kept in a model file."""

    cls: Any
    tag: str
    version: int
    upgrade: Upgrade | None

    def state(self, value: Any) -> State:
        """What is kept of an object."""
        if hasattr(value, "get_state"):
            return dict(value.get_state())
        names = _field_names(self.cls)
        if names is not None:
            return {name: getattr(value, name) for name in names}
        # What scikit-learn keeps for a fit under way, and callbacks, are not part of a model.
        return {name: own for name, own in vars(value).items() if not name.startswith("_skl_")}

    def make(self, state: State, version: int) -> Any:
        """The object with a state that some version of its class has written."""
        if version < self.version and self.upgrade is not None:
            state = self.upgrade(version, state)
        if hasattr(self.cls, "from_state"):
            return self.cls.from_state(state)
        if _field_names(self.cls) is not None:
            return self.cls(**state)
        made = self.cls.__new__(self.cls)
        made.__dict__.update(state)
        return made


_BY_TAG: dict[str, SavedType] = {}
_BY_CLASS: dict[type, SavedType] = {}


def saved(tag: str, version: int = 1, *, upgrade: Upgrade | None = None) -> Callable[[C], C]:
    """Let objects of a class be kept in model files.

    Of a NamedTuple or a dataclass the fields are kept, of any other class the attributes; a class
    with other needs has ``get_state`` and ``from_state``. A ``_check_state`` is called on objects
    that a file brings, before anything else is done with them.

    Parameters
    ----------
    tag : str
        The name of the class in files, for ever: it stays when the class is renamed or moved.
    version : int, default=1
        The version of the state; one more whenever attributes are renamed or change their meaning.
    upgrade : callable, default=None
        Given an older version and its state, returns the present state.
    """

    def register(cls: C) -> C:
        if tag in _BY_TAG:
            raise TypeError(f"{cls.__name__} and {_BY_TAG[tag].cls.__name__} share the tag {tag}.")
        if version > 1 and upgrade is None:
            raise TypeError(f"{cls.__name__} must say how its older states are upgraded.")
        _BY_TAG[tag] = _BY_CLASS[cls] = SavedType(cls, tag, version, upgrade)
        return cls

    return register


def rename_fields(names: dict[str, str]) -> Upgrade:
    """An upgrade from version 1 that gives fields their new names."""

    def upgrade(_: int, state: State) -> State:
        return {names.get(name, name): value for name, value in state.items()}

    return upgrade


def saved_type(cls: type) -> SavedType | None:
    """How objects of a class are kept; None where they are not."""
    return _BY_CLASS.get(cls)


def type_of_tag(tag: Any) -> SavedType | None:
    """The class with a tag, if it has been imported."""
    return _BY_TAG.get(tag) if isinstance(tag, str) else None


def _field_names(cls: Any) -> list[str] | None:
    if is_dataclass(cls):
        return [field.name for field in fields(cls)]
    return list(cls._fields) if issubclass(cls, tuple) else None
