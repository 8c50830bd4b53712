import warnings
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rarefind._core import fields
from rarefind._core.fields import (
    BoolArray,
    Choice,
    DictOf,
    Either,
    FloatArray,
    IntArray,
    LabelArray,
    ListOf,
    Maybe,
    Object,
    Perhaps,
    PlainText,
    RealNumber,
    Record,
    Scope,
    Size,
    StateError,
    TupleOf,
    Whole,
)
from rarefind._core.saved import check_object, saved, types_so_far
from rarefind._core.state import State
from rarefind.persistence import load
from rarefind.persistence._file import _ROOMS


def check(fields, **state):
    return State(fields).check(state, Scope(lambda value: None))


def test_sizes_agree_across_fields():
    described = {"a": FloatArray("n", "d"), "b": IntArray("n"), "c": BoolArray("d+1")}
    one = {"a": np.zeros((3, 2)), "b": np.arange(3), "c": np.ones(3, dtype=bool)}
    assert check(described, **one) == {"n": 3, "d": 2}
    for name, wrong in (("b", np.arange(4)), ("c", np.ones(2, dtype=bool)), ("a", np.zeros(3))):
        with pytest.raises(StateError, match=name):
            check(described, **{**one, name: wrong})


def test_a_size_is_a_number_too():
    assert check({"n": Size("n"), "a": FloatArray("n")}, n=2, a=np.zeros(2)) == {"n": 2}
    with pytest.raises(StateError, match="has 2 entries where 3 belong"):
        check({"n": Size("n"), "a": FloatArray("n")}, n=3, a=np.zeros(2))


def test_a_size_may_be_bounded():
    assert check({"n": Size("n", low=1, high=9)}, n=9) == {"n": 9}
    with pytest.raises(StateError, match=r"n.* is 10, not a whole number within its bounds"):
        check({"n": Size("n", low=1, high=9)}, n=10)


def test_a_description_says_what_it_checks():
    with pytest.raises(TypeError, match="abstract"):
        fields.Field()


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        (
            RealNumber(0, 1),
            [0, 0.5, np.float64(1)],
            [2, -1, True, "1", None, np.nan, np.inf, 2**70, np.datetime64(1, "ns")],
        ),
        (RealNumber(above=0), [1e-300], [0, -1.0, -np.inf]),
        (RealNumber(nan=True, inf=True), [np.nan, np.inf, -np.inf], [None, "nan"]),
        (fields.Float(0), [1.0, np.float64(2)], [1, -1.0, np.nan]),
        (Whole(0, 5), [0, 5, np.int64(3)], [6, -1, 1.0, True, "1", np.timedelta64(1)]),
        (fields.Flag(), [True, np.bool_(False)], [1, None, "yes"]),
        (PlainText(), ["", "a"], [1, b"a", None]),
        (Choice("a", 1), ["a", 1], ["b", 1.0, True, None]),
        (fields.LabelValue(), ["a", 1, 0.5, True, np.int64(1)], [None, [], b"a"]),
        (Maybe(Whole()), [None, 3], ["3"]),
        (Either(Whole(), PlainText()), [3, "3"], [0.5, None]),
        (ListOf(Whole(), low=1), [[1], [1, 2]], [[], ["a"], (1,), None]),
        (TupleOf(Whole(), PlainText()), [(1, "a")], [(1,), [1, "a"], ("a", 1)]),
        (DictOf(PlainText(), Whole()), [{}, {"a": 1}], [{1: 1}, {"a": "b"}, []]),
        (
            Record({"a": Whole(), "b": Perhaps(PlainText())}),
            [{"a": 1}, {"a": 1, "b": ""}],
            [{}, {"b": ""}],
        ),
        (
            LabelArray("n"),
            [np.array([0, 1]), np.array(["a", "b"])],
            [np.array([1, 0]), np.zeros((2, 1))],
        ),
        (
            fields.NameArray("n"),
            [np.array(["a"], object)],
            [np.array(["a"]), np.array([1], object)],
        ),
        (Object("point-set"), [], [None, 5, np.zeros(3)]),
    ],
    ids=lambda part: type(part).__name__,
)
def test_values_are_as_described(field, good, bad):
    for value in good:
        check({"x": field}, x=value)
    for value in bad:
        with pytest.raises(StateError, match="'x'"):
            check({"x": field}, x=value)


@given(hnp.arrays(np.float64, hnp.array_shapes(max_dims=1, max_side=6)))
def test_arrays_of_numbers_are_judged_as_one_by_one(values):
    finite = bool(np.isfinite(values).all())
    some = not np.isnan(values).any()
    rising = all(a <= b for a, b in pairwise(values))
    inside = bool(((values >= -1) & (values <= 1)).all())
    for field, sound in (
        (FloatArray("n"), finite),
        (FloatArray("n", inf=True), some),
        (FloatArray("n", nan=True), not np.isinf(values).any()),
        (FloatArray("n", low=-1, high=1), inside),
        (FloatArray("n", rising=True), finite and rising),
    ):
        if sound:
            check({"x": field}, x=values)
        else:
            with pytest.raises(StateError):
                check({"x": field}, x=values)


@given(st.lists(st.integers(0, 255), min_size=2, max_size=5))
def test_rising_is_not_judged_by_differences_which_wrap(values):
    array = np.array(values, dtype=np.uint8)
    field = IntArray("n", rising=True, dtype=np.uint8)
    if sorted(values) == values:
        check({"x": field}, x=array)
    else:
        with pytest.raises(StateError, match="does not rise"):
            check({"x": field}, x=array)


def test_numbers_of_other_fields_are_there_whatever_the_order():
    described = {"at": IntArray("*", below="n"), "x": FloatArray("n")}
    check(described, at=np.array([0, 2]), x=np.zeros(3))
    for wrong in (-1, 3):
        with pytest.raises(StateError, match="at"):
            check(described, at=np.array([wrong]), x=np.zeros(3))


@pytest.mark.parametrize("dtype", [">f8", "f4", "i8", "c16", "O", "U1", "M8[s]"])
def test_kernels_get_the_numbers_they_are_compiled_for(dtype):
    with pytest.raises(StateError, match="right kind"):
        check({"x": FloatArray("n")}, x=np.zeros(2).astype(dtype))


def registered():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for room in _ROOMS:
            module = import_module(f"rarefind.{room}")
            for name in module.__all__:
                getattr(module, name)
    import_module("rarefind.persistence._pipeline")
    return [kind for kind in types_so_far() if not kind.tag.startswith("test-")]


def objects_in(field):
    if isinstance(field, Object):
        yield field
    for part in field.inner():
        yield from objects_in(part)


@pytest.mark.parametrize("kind", registered(), ids=lambda kind: kind.tag)
def test_every_saved_class_is_described(kind):
    assert kind.description.fields
    tags = {other.tag for other in registered()}
    for field in kind.description.fields.values():
        for inside in objects_in(field):
            assert set(inside.tags) <= tags
    names = getattr(kind.cls, "_fields", None)
    if names is not None:
        assert set(names) == set(kind.description.fields)


def test_sizes_that_descriptions_name_are_known(monkeypatch):
    """A misspelt size would compare nothing."""
    compared, plain = [], Object.check

    def looked(self, value, scope, where):
        plain(self, value, scope, where)
        known = scope.find(value).sizes
        compared.extend((self.tags, name, name in known) for name in self.sizes)

    monkeypatch.setattr(Object, "check", looked)
    for path in sorted((Path(__file__).parents[1] / "files" / "0.1.0").glob("*-1.rarefind")):
        load(path)
    named = {(tags, name) for tags, name, _ in compared}
    assert named
    assert named == {(tags, name) for tags, name, known in compared if known}


def test_objects_inside_are_checked_first_and_agree():
    @saved("test-inner", state=State({"x": FloatArray("n")}))
    class Inner:
        def __init__(self, x):
            self.x = x

    @saved("test-outer", state=State({"y": IntArray("n"), "inner": Object("test-inner", n="n")}))
    class Outer:
        def __init__(self, y, inner):
            self.y, self.inner = y, inner

    check_object(Outer(np.arange(3), Inner(np.zeros(3))))
    with pytest.raises(StateError, match=r"test-outer: 'inner' .test-inner, n. has 2 entries"):
        check_object(Outer(np.arange(3), Inner(np.zeros(2))))
    with pytest.raises(StateError, match="test-inner: 'x' holds what is not a number"):
        check_object(Outer(np.arange(1), Inner(np.full(1, np.nan))))
