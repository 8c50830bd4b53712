"""How a class describes what it keeps in model files: one description a field.

A description is given once, in ``@saved(tag, state=State({...}))``, and checked where a file is
opened, before anything is done with what it brought: kernels may trust what passed. Sizes have
names: an array ``FloatArray("n", "d")`` and another one ``IntArray("n")`` of the same object must
have the same number of rows, and ``Object("point-set", d="d")`` says that what the object inside
calls ``d`` is what this one calls ``d``. ``"n+1"`` is one more, ``"*"`` any size.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

__all__ = [
    "MOST_COLUMNS",
    "BoolArray",
    "Choice",
    "DictOf",
    "Either",
    "Field",
    "Flag",
    "Float",
    "FloatArray",
    "IntArray",
    "LabelArray",
    "LabelValue",
    "ListOf",
    "Maybe",
    "NameArray",
    "Object",
    "Perhaps",
    "Plain",
    "PlainText",
    "RealNumber",
    "Record",
    "Scope",
    "Size",
    "StateError",
    "TupleOf",
    "Whole",
]

#: A size by its name (``"n"``), with something added (``"n+1"``), or as a number.
Dimension: TypeAlias = str | int
#: The largest whole number that a state may hold: that of 64 bits.
_LARGEST = 2**63
#: No table in a model file has more columns.
MOST_COLUMNS = 2**20


class StateError(ValueError):
    """What is wrong with a state, to follow the name of what holds it."""


class Scope:
    """What is known of one object while its fields are checked: the sizes they agree on."""

    def __init__(self, find: Callable[[Any], Found | None]) -> None:
        self.sizes: dict[str, int] = {}
        self.find = find
        self._later: list[Callable[[], None]] = []

    def agree(self, dimension: Dimension, size: int, where: str) -> None:
        """Learn a size, or see that it is the one already known."""
        name, added = _parts(dimension)
        if name == "*":
            return
        known = added if name is None else self.sizes.setdefault(name, size - added) + added
        if size != known or size < 0:
            raise StateError(f"{where} has {size} entries where {known} belong")

    def later(self, check: Callable[[], None]) -> None:
        """Check something when the sizes of all fields are known."""
        self._later.append(check)

    def size(self, dimension: Dimension) -> int:
        """A size that is known by now."""
        name, added = _parts(dimension)
        return added if name is None else self.sizes[name] + added

    def finish(self) -> dict[str, int]:
        """Make the checks that waited; the sizes."""
        for check in self._later:
            check()
        return self.sizes


class Found:
    """What is known of an object that was checked before the one that holds it."""

    def __init__(self, value: Any, tag: str, sizes: dict[str, int], fitted: bool) -> None:
        self.value, self.tag, self.sizes, self.fitted = value, tag, sizes, fitted


class Field(ABC):
    """Base of descriptions."""

    @abstractmethod
    def check(self, value: Any, scope: Scope, where: str) -> None:
        """Raise where the value is not as described."""

    def inner(self) -> Iterable[Field]:
        """The descriptions inside this one."""
        return ()


class RealNumber(Field):
    """A number within bounds, finite unless NaN or infinity is allowed by name."""

    def __init__(
        self,
        low: float = -math.inf,
        high: float = math.inf,
        *,
        above: float | None = None,
        nan: bool = False,
        inf: bool = False,
    ) -> None:
        self._low, self._high, self._above, self._nan, self._inf = low, high, above, nan, inf

    def check(self, value: Any, scope: Scope, where: str) -> None:
        if isinstance(value, np.generic) and value.dtype.kind in "iuf":  # no date has a size
            value = value.item()
        if type(value) not in (int, float) or (type(value) is int and abs(value) > _LARGEST):
            raise StateError(f"{where} is not a number")
        if math.isnan(value):
            if not self._nan:
                raise StateError(f"{where} is not a number")
        elif math.isinf(value) and not self._inf:
            raise StateError(f"{where} is infinite")
        elif not self._low <= value <= self._high or not _is_above(value, self._above):
            raise StateError(f"{where} is {value!r}, out of its bounds")


class Float(RealNumber):
    """A number of 64 bits, as kernels take it: for a whole number they would be compiled anew."""

    def check(self, value: Any, scope: Scope, where: str) -> None:
        if not isinstance(value, float):
            raise StateError(f"{where} is not a number of 64 bits")
        super().check(value, scope, where)


class Whole(Field):
    """A whole number from ``low`` to ``high``; ``below`` names a size that it must not reach."""

    def __init__(self, low: int = 0, high: int = _LARGEST, *, below: Dimension = "") -> None:
        self._low, self._high, self._below = low, high, below

    def check(self, value: Any, scope: Scope, where: str) -> None:
        if isinstance(value, np.integer) and value.dtype.kind in "iu":
            value = int(value)
        if type(value) is not int or not self._low <= value <= self._high:
            raise StateError(f"{where} is {_short(value)}, not a whole number within its bounds")
        if self._below:
            scope.later(lambda: _check_below(value, scope.size(self._below), where))


class Size(Field):
    """A whole number that is a size: the number of columns, of conditions, of points."""

    def __init__(self, dimension: Dimension, low: int = 0, high: int = _LARGEST) -> None:
        self._dimension, self._low, self._high = dimension, low, high

    def check(self, value: Any, scope: Scope, where: str) -> None:
        Whole(self._low, self._high).check(value, scope, where)
        scope.agree(self._dimension, int(value), where)


class Flag(Field):
    """True or False."""

    def check(self, value: Any, scope: Scope, where: str) -> None:
        if not isinstance(value, bool | np.bool_):
            raise StateError(f"{where} is {_short(value)}, neither true nor false")


class PlainText(Field):
    """A text."""

    def check(self, value: Any, scope: Scope, where: str) -> None:
        if type(value) is not str and type(value) is not np.str_:
            raise StateError(f"{where} is {_short(value)}, not a text")


class Choice(Field):
    """One of a few values."""

    def __init__(self, *options: Any) -> None:
        self._options = options

    def check(self, value: Any, scope: Scope, where: str) -> None:
        if not any(type(value) is type(one) and value == one for one in self._options):
            raise StateError(f"{where} is {_short(value)}, which is not one of its values")


class LabelValue(Field):
    """A label of a class: a text, a number or a truth value."""

    def check(self, value: Any, scope: Scope, where: str) -> None:
        plain = value.item() if isinstance(value, np.generic) else value
        if type(plain) not in (str, int, float, bool):
            raise StateError(f"{where} is not a label")


class Plain(Field):
    """Plain values, arrays and objects of ours, nested as they like: what a parameter may be."""

    def check(self, value: Any, scope: Scope, where: str) -> None:
        pass


class _Array(Field):
    """Base of arrays."""

    _kinds: tuple[Any, ...]

    def __init__(self, *shape: Dimension) -> None:
        self._shape = shape

    def check(self, value: Any, scope: Scope, where: str) -> None:
        if type(value) is not np.ndarray or value.dtype not in self._kinds:
            raise StateError(f"{where} is not an array of the right kind of number")
        if value.ndim != len(self._shape):
            raise StateError(f"{where} has {value.ndim} dimensions where {len(self._shape)} belong")
        for dimension, size in zip(self._shape, value.shape, strict=True):
            scope.agree(dimension, size, where)
        if value.size:
            self._check_values(value, scope, where)

    def _check_values(self, value: Any, scope: Scope, where: str) -> None:
        pass


class FloatArray(_Array):
    """Numbers of 64 bits, or 32: finite unless said otherwise, within bounds, rising if asked."""

    _kinds: tuple[Any, ...] = (np.dtype(np.float64),)

    def __init__(
        self,
        *shape: Dimension,
        low: float = -math.inf,
        high: float = math.inf,
        above: float | None = None,
        nan: bool = False,
        inf: bool = False,
        rising: bool = False,
        strict: bool = False,
        single: bool = False,
    ) -> None:
        super().__init__(*shape)
        if single:
            self._kinds = (np.dtype(np.float64), np.dtype(np.float32))
        self._low, self._high, self._above = low, high, above
        self._nan, self._inf, self._rising, self._strict = nan, inf, rising or strict, strict

    def _check_values(self, value: Any, scope: Scope, where: str) -> None:
        # Without an array of truth values; NaN goes through both, unless it is allowed.
        if self._nan:
            least, most = np.fmin.reduce(value, axis=None), np.fmax.reduce(value, axis=None)
            if math.isnan(least):
                return
        else:
            least, most = value.min(), value.max()
            if math.isnan(least):
                raise StateError(f"{where} holds what is not a number")
        if not self._inf and (math.isinf(least) or math.isinf(most)):
            raise StateError(f"{where} holds infinite numbers")
        if least < self._low or most > self._high or not _is_above(least, self._above):
            raise StateError(f"{where} holds numbers out of their bounds")
        if self._rising:
            _check_rising(value, self._strict, where)


class IntArray(_Array):
    """Whole numbers, by default of 64 bits; ``below`` names a size that none may reach."""

    def __init__(
        self,
        *shape: Dimension,
        low: int | None = None,
        high: int = _LARGEST,
        below: Dimension | None = None,
        rising: bool = False,
        strict: bool = False,
        dtype: Any = np.int64,
    ) -> None:
        super().__init__(*shape)
        self._kinds = (np.dtype(dtype),)
        self._low = low if low is not None else 0 if below is not None else -_LARGEST
        self._high, self._below, self._rising, self._strict = high, below, rising or strict, strict

    def _check_values(self, value: Any, scope: Scope, where: str) -> None:
        least, most = int(value.min()), int(value.max())
        if least < self._low or most > self._high:
            raise StateError(f"{where} holds numbers out of their bounds")
        if self._below is not None:
            below = self._below
            scope.later(lambda: _check_below(most, scope.size(below), where))
        if self._rising:
            _check_rising(value, self._strict, where)


class BoolArray(_Array):
    """Truth values."""

    _kinds = (np.dtype(np.bool_),)


class LabelArray(_Array):
    """Labels, sorted and different: numbers, truth values or texts."""

    def check(self, value: Any, scope: Scope, where: str) -> None:
        if type(value) is not np.ndarray or value.dtype.kind not in "biufUO" or value.ndim != 1:
            raise StateError(f"{where} is not an array of labels")
        (dimension,) = self._shape
        scope.agree(dimension, value.size, where)
        plain = value.tolist()
        kinds = {type(one) for one in plain}
        if not (kinds <= {str} or kinds <= {int, float, bool}):
            raise StateError(f"{where} holds what is not a label")
        if not all(one < two for one, two in pairwise(plain)):
            raise StateError(f"{where} is not sorted, or holds a label twice")


class NameArray(_Array):
    """Names of columns, as scikit-learn keeps them."""

    def check(self, value: Any, scope: Scope, where: str) -> None:
        if type(value) is not np.ndarray or value.dtype != object or value.ndim != 1:
            raise StateError(f"{where} is not an array of names")
        (dimension,) = self._shape
        scope.agree(dimension, value.size, where)
        if not all(type(one) is str for one in value.tolist()):
            raise StateError(f"{where} holds what is not a name")


class ListOf(Field):
    """A list of things alike, of a size that may have a name."""

    def __init__(self, item: Field, size: Dimension | None = None, low: int = 0) -> None:
        self._item, self._size, self._low = item, size, low

    def check(self, value: Any, scope: Scope, where: str) -> None:
        if type(value) is not list or len(value) < self._low:
            raise StateError(f"{where} is not a list of its kind")
        if self._size is not None:
            scope.agree(self._size, len(value), where)
        for part in value:
            self._item.check(part, scope, where)

    def inner(self) -> Iterable[Field]:
        return (self._item,)


class TupleOf(Field):
    """A tuple with a description of each part; with one description and a size, of parts alike."""

    def __init__(self, *items: Field, size: Dimension | None = None) -> None:
        self._items, self._size = items, size

    def check(self, value: Any, scope: Scope, where: str) -> None:
        if type(value) is not tuple:
            raise StateError(f"{where} is not a tuple")
        items = self._items
        if self._size is not None:
            scope.agree(self._size, len(value), where)
            items = items * len(value)
        if len(items) != len(value):
            raise StateError(f"{where} has {len(value)} parts where {len(items)} belong")
        for item, part in zip(items, value, strict=True):
            item.check(part, scope, where)

    def inner(self) -> Iterable[Field]:
        return self._items


class DictOf(Field):
    """A dict with keys alike and values alike."""

    def __init__(self, key: Field, value: Field, size: Dimension | None = None) -> None:
        self._key, self._value, self._size = key, value, size

    def check(self, value: Any, scope: Scope, where: str) -> None:
        if type(value) is not dict:
            raise StateError(f"{where} is not a dictionary")
        if self._size is not None:
            scope.agree(self._size, len(value), where)
        for key, part in value.items():
            self._key.check(key, scope, where)
            self._value.check(part, scope, where)

    def inner(self) -> Iterable[Field]:
        return (self._key, self._value)


class Record(Field):
    """A dict with these keys, or without those that may be absent."""

    def __init__(self, fields: Mapping[str, Field]) -> None:
        self._fields = fields

    def check(self, value: Any, scope: Scope, where: str) -> None:
        if type(value) is not dict:
            raise StateError(f"{where} is not a dictionary")
        check_names(value, self._fields, where)
        for name, part in value.items():
            self._fields[name].check(part, scope, f"{where}, {name}")

    def inner(self) -> Iterable[Field]:
        return self._fields.values()


class Maybe(Field):
    """None, or what is described."""

    def __init__(self, field: Field) -> None:
        self._field = field

    def check(self, value: Any, scope: Scope, where: str) -> None:
        if value is not None:
            self._field.check(value, scope, where)

    def inner(self) -> Iterable[Field]:
        return (self._field,)


class Perhaps(Maybe):
    """What may be absent altogether."""

    def check(self, value: Any, scope: Scope, where: str) -> None:
        self._field.check(value, scope, where)


class Either(Field):
    """What one of several descriptions, which name no sizes, says."""

    def __init__(self, *fields: Field) -> None:
        self._fields = fields

    def check(self, value: Any, scope: Scope, where: str) -> None:
        for field in self._fields:
            try:
                field.check(value, scope, where)
            except StateError:
                continue
            return
        raise StateError(f"{where} is {_short(value)}, which is none of what it may be")

    def inner(self) -> Iterable[Field]:
        return self._fields


class Object(Field):
    """An object of ours with one of these tags, and which of its sizes are which of ours.

    ``most`` names sizes of it that ours limit. Without a tag it may be any of our estimators, which
    must be fitted unless said otherwise.
    """

    def __init__(
        self,
        *tags: str,
        fitted: bool = True,
        most: Mapping[str, Dimension] | None = None,
        **sizes: Dimension,
    ) -> None:
        self.tags, self.sizes, self.most, self._fitted = tags, sizes, most or {}, fitted

    def check(self, value: Any, scope: Scope, where: str) -> None:
        found = scope.find(value)
        if found is None or (self.tags and found.tag not in self.tags):
            raise StateError(f"{where} is not {' or '.join(self.tags) or 'an estimator'}")
        if self._fitted and not found.fitted:
            raise StateError(f"{where} is not fitted")
        for name, dimension in self.sizes.items():
            if name in found.sizes:
                scope.agree(dimension, found.sizes[name], f"{where} ({found.tag}, {name})")
        for name, dimension in self.most.items():
            scope.later(self._check_most(found.sizes[name], scope, dimension, where))

    @staticmethod
    def _check_most(
        size: int, scope: Scope, dimension: Dimension, where: str
    ) -> Callable[[], None]:
        return lambda: _check_below(size - 1, scope.size(dimension), where)


def check_names(given: Iterable[str], fields: Mapping[str, Field], where: str) -> None:
    """Raise where something is there that nothing describes, or something is lacking."""
    names = set(given)
    unknown = sorted(names - fields.keys())
    if unknown:
        raise StateError(f"{where} has {unknown[0]!r}, which does not belong there")
    for name, field in fields.items():
        if name not in names and not isinstance(field, Perhaps):
            raise StateError(f"{where} has no {name!r}")


def _parts(dimension: Dimension) -> tuple[str | None, int]:
    if isinstance(dimension, int):
        return None, dimension
    name, _, added = dimension.partition("+")
    return name, int(added or 0)


def _is_above(value: float, bound: float | None) -> bool:
    return bound is None or value > bound


def _check_below(value: int, size: int, where: str) -> None:
    if value >= size:
        raise StateError(f"{where} names number {value} of {size}")


def _check_rising(value: Any, strict: bool, where: str) -> None:
    # Not by differences, which wrap for unsigned numbers.
    before, after = value[:-1], value[1:]
    if not (before < after if strict else before <= after).all():
        raise StateError(f"{where} does not rise")


def _short(value: Any) -> str:
    return f"{value!r:.40}" if type(value) in (str, int, float, bool, type(None)) else "something"
