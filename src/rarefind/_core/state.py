"""What objects of one class hold in a model file: a description of each field, and one function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from rarefind._core.fields import Field

__all__ = ["State", "StateCheck"]

#: Given the fields and the sizes of an object, raises on what no description can say; it may return
#: further sizes for the object that holds this one.
StateCheck: TypeAlias = Callable[[Mapping[str, Any], Mapping[str, int]], Mapping[str, int] | None]


class State:
    """The description of a class's state.

    Parameters
    ----------
    fields : mapping of str to Field
        What is kept, by name; of an estimator what ``fit`` sets, as its parameters are described by
        ``_parameter_constraints``.
    *checks : callable
        Functions of the fields and the sizes for what fields cannot say, such as that a tree has
        no way round.

    Examples
    --------
    >>> import numpy as np
    >>> from rarefind._core.fields import FloatArray, IntArray, Scope
    >>> state = State({"points": FloatArray("n", "d"), "row": IntArray("n", low=0)})
    >>> scope = Scope(lambda value: None)
    >>> state.check({"points": np.zeros((3, 2)), "row": np.arange(3)}, scope)
    {'n': 3, 'd': 2}
    """

    def __init__(self, fields: Mapping[str, Field], *checks: StateCheck) -> None:
        self.fields, self._checks = dict(fields), checks

    def __or__(self, other: State) -> State:
        """Both: a subclass adds what it keeps to what its base keeps."""
        return State({**self.fields, **other.fields}, *self._checks, *other._checks)

    def check(self, state: Mapping[str, Any], scope: Any) -> dict[str, int]:
        """Raise where fields are not as described; the sizes of the object."""
        for name, field in self.fields.items():
            if name in state:
                field.check(state[name], scope, repr(name))
        sizes: dict[str, int] = scope.finish()
        for check in self._checks:
            sizes.update(check(state, sizes) or {})
        return sizes
