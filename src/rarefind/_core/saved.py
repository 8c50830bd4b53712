"""What a model file may contain: each class registers itself, with a tag that never changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from inspect import Parameter, signature
from typing import Any, NamedTuple, TypeAlias, TypeVar

from rarefind._core.fields import Found, PlainText, Scope, StateError, check_names
from rarefind._core.sklearn_compat import check_parameters, may_be_an_object
from rarefind._core.state import State as Description

__all__ = [
    "SavedType",
    "StateChecker",
    "Unsaved",
    "check_object",
    "rename_fields",
    "saved",
    "saved_type",
    "type_of_tag",
    "types_so_far",
]

State: TypeAlias = dict[str, Any]
#: Makes the state of an older version of a class one of the present version.
Upgrade: TypeAlias = Callable[[int, State], State]
C = TypeVar("C", bound=type)


class SavedType(NamedTuple):
    """How objects of one class are kept in a model file."""

    cls: Any
    tag: str
    version: int
    description: Description
    upgrade: Upgrade | None

    @property
    def parameters(self) -> list[str]:
        """The parameters of an estimator; of other classes none."""
        names = getattr(self.cls, "_get_param_names", None)
        own = names is not None and not hasattr(self.cls, "get_state")
        return list(self.cls._get_param_names()) if own else []

    def state(self, value: Any) -> State:
        """What is kept of an object."""
        if hasattr(value, "get_state"):
            return dict(value.get_state())
        names = _field_names(self.cls)
        if names is not None:
            return {name: getattr(value, name) for name in names}
        known = self.description.fields
        return {
            name: own
            for name, own in vars(value).items()
            if name in known or not name.startswith(_NOT_OURS)
        }

    def present(self, state: State, version: int) -> State:
        """A state that some version of the class has written, as the present one would have."""
        if version < self.version and self.upgrade is not None:
            state = self.upgrade(version, state)
        # What is newer than the file has the value it has by default.
        state = {**_defaults(self.cls), **state}
        # Nobody's file starts more threads than there are cores here.
        if type(state.get("n_jobs")) is int:
            state["n_jobs"] = min(state["n_jobs"], os.cpu_count() or 1)
        return state

    def make(self, state: State) -> Any:
        """The object with a state of the present version."""
        if hasattr(self.cls, "from_state"):
            return self.cls.from_state(state)
        if _field_names(self.cls) is not None:
            return self.cls(**state)
        made = self.cls.__new__(self.cls)
        made.__dict__.update(state)
        return made


class StateChecker:
    """Checks objects against what their classes say of them, those inside before those around."""

    def __init__(self) -> None:
        self._found: dict[int, Found] = {}

    def check(self, kind: SavedType, state: Mapping[str, Any]) -> tuple[dict[str, int], bool]:
        """Raise where a state is not as described; its sizes, and whether it is fitted."""
        where = f"a {kind.tag}"
        parameters = kind.parameters
        given = {name: state[name] for name in parameters if name in state}
        if parameters:
            known = {
                name: value
                for name, value in given.items()
                if not (isinstance(value, Unsaved) and may_be_an_object(kind.cls, name))
            }
            try:
                check_parameters(kind.cls, known)
            except (ValueError, TypeError) as error:
                raise StateError(str(error).rstrip(".")) from None
        if given.get("n_jobs") == 0:
            raise StateError(f"{where} has 0 for n_jobs")
        if parameters and not state.keys() - given.keys():
            return {}, False
        fields = kind.description.fields
        check_names(state.keys() - (given.keys() - fields.keys()), fields, where)
        try:
            return kind.description.check(state, Scope(self._find)), True
        except StateError as error:
            raise StateError(f"{where}: {error}") from None

    def remember(self, value: Any, kind: SavedType, sizes: dict[str, int], fitted: bool) -> None:
        """Know an object that was checked when one is checked that holds it."""
        self._found[id(value)] = Found(value, kind.tag, sizes, fitted)

    def check_tree(self, value: Any) -> None:
        """Check all objects of ours in a value."""
        if id(value) in self._found:
            return
        kind = saved_type(type(value))
        if kind is not None:
            state = kind.state(value)
            self.check_tree(list(state.values()))
            self.remember(value, kind, *self.check(kind, state))
        elif type(value) in (list, tuple):
            for part in value:
                self.check_tree(part)
        elif type(value) is dict:
            self.check_tree([*value.keys(), *value.values()])

    def _find(self, value: Any) -> Found | None:
        return self._found.get(id(value))


def check_object(value: Any) -> None:
    """Raise on an object whose state no model file could hold."""
    StateChecker().check_tree(value)


# What scikit-learn keeps on an estimator for itself: a fit under way, callbacks, requests.
_NOT_OURS = ("_skl_", "_metadata_request", "_sklearn_output_config")
_BY_TAG: dict[str, SavedType] = {}
_BY_CLASS: dict[type, SavedType] = {}


def saved(
    tag: str, version: int = 1, *, state: Description, upgrade: Upgrade | None = None
) -> Callable[[C], C]:
    """Let objects of a class be kept in model files.

    Of a NamedTuple or a dataclass the fields are kept, of any other class the attributes; a class
    with other needs has ``get_state`` and ``from_state``. What a file brings is checked against
    the description before an object is made of it.

    Parameters
    ----------
    tag : str
        The name of the class in files, for ever: it stays when the class is renamed or moved.
    version : int, default=1
        The version of the state; one more whenever attributes are renamed or change their meaning.
    state : State
        What is kept, field by field; of an estimator what ``fit`` sets.
    upgrade : callable, default=None
        Given an older version and its state, returns the present state.
    """

    def register(cls: C) -> C:
        if tag in _BY_TAG:
            raise TypeError(f"{cls.__name__} and {_BY_TAG[tag].cls.__name__} share the tag {tag}.")
        if version > 1 and upgrade is None:
            raise TypeError(f"{cls.__name__} must say how its older states are upgraded.")
        _BY_TAG[tag] = _BY_CLASS[cls] = SavedType(cls, tag, version, state, upgrade)
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


def types_so_far() -> list[SavedType]:
    """All classes that have registered by now."""
    return list(_BY_TAG.values())


def _defaults(cls: Any) -> State:
    """What parameters and fields are where nothing is said of them."""
    if is_dataclass(cls):
        known = [field for field in fields(cls) if field.init]
        made = {f.name: f.default_factory() for f in known if f.default_factory is not MISSING}
        return made | {f.name: f.default for f in known if f.default is not MISSING}
    if issubclass(cls, tuple):
        return dict(cls._field_defaults)
    if not hasattr(cls, "_get_param_names") or hasattr(cls, "get_state"):
        return {}
    given = signature(cls.__init__).parameters
    names = [name for name in cls._get_param_names() if given[name].default is not Parameter.empty]
    return {name: given[name].default for name in names}


def _field_names(cls: Any) -> list[str] | None:
    if is_dataclass(cls):
        return [field.name for field in fields(cls)]
    return list(cls._fields) if issubclass(cls, tuple) else None


@saved("unsaved", state=Description({"text": PlainText()}))
@dataclass(frozen=True)
class Unsaved:
    """Stands for a parameter that a model file does not keep."""

    text: str

    def __repr__(self) -> str:
        return f"Unsaved({self.text})"
