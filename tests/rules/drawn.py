"""Rules that Hypothesis draws, and what their columns are called."""

import polars as pl
from hypothesis import strategies as st

from rarefind.rules.syntax import (
    And,
    Arithmetic,
    Column,
    Compare,
    Filled,
    FunctionCall,
    InList,
    IsIn,
    IsMissing,
    Minus,
    Not,
    Number,
    Or,
    Text,
    Truth,
)

NUMBERS = {"amount": pl.Float64, 'mean of "card"': pl.Float64, "n": pl.Int64, "ıs": pl.Float64}
TEXTS = ("country", "ho`me %s; --")
TRUTHS = ("night", "falſe")
TIMES = ("made", "opened")
TEXT_VALUES = (
    "FR",
    "fr",
    "FR ",
    "it's",
    "",
    "\\",
    "é",
    "e\u0301",
    "ſ",
    "\u212a",
    "ÀFr",
    "🦆f",
    "'; DROP TABLE rows; --",
)

#: Lists that rules can name.
LISTS = {"texts": ("FR", "it's", "é"), "numbers": (1, -5, 0.1), "it's empty": ()}


def call(name, *arguments):
    return st.builds(lambda *parts: FunctionCall(name, parts), *arguments)


literals = st.one_of(
    st.sampled_from([0.0, 1.0, 2.0, 0.5, 5.0, 1e-3, 1e10, 0.1, 2.0**53, 1e50, 5e-324, 1e-200]),
    st.floats(0, 1e50),
).map(Number)
numbers = st.deferred(
    lambda: st.one_of(
        literals,
        st.sampled_from(list(NUMBERS)).map(Column),
        st.sampled_from(list(NUMBERS)).map(Column),
        numbers.map(Minus),
        st.builds(Filled, numbers, numbers),
        st.builds(Arithmetic, st.sampled_from("+-*/"), numbers, numbers),
        call("length", texts),
        st.sampled_from(["hour", "weekday", "day", "month"]).flatmap(
            lambda name: call(name, times)
        ),
        call("minutes_between", times, times),
    )
)
times = st.sampled_from(TIMES).map(Column)
text_literals = st.one_of(
    st.sampled_from(TEXT_VALUES),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4),
).map(Text)
texts = st.deferred(
    lambda: st.one_of(
        text_literals,
        st.sampled_from(TEXTS).map(Column),
        st.sampled_from(TEXTS).map(Column),
        call("lower", texts),
        call("upper", texts),
    )
)
unknown = st.sampled_from([Column("x"), Column("Y")])
truths = st.deferred(
    lambda: st.one_of(
        st.booleans().map(Truth),
        st.sampled_from(TRUTHS).map(Column),
        st.builds(Compare, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), numbers, numbers),
        st.builds(Compare, st.sampled_from(["=", "!="]), texts, texts),
        st.builds(Compare, st.sampled_from(["=", "!="]), unknown, unknown),
        st.builds(
            IsIn, numbers, st.lists(literals, min_size=1, max_size=3).map(tuple), st.booleans()
        ),
        st.builds(
            IsIn,
            st.sampled_from(TEXTS).map(Column),
            st.lists(text_literals, min_size=1, max_size=3).map(tuple),
            st.booleans(),
        ),
        *(call(name, texts, texts) for name in ("starts_with", "ends_with", "contains")),
        st.builds(InList, texts, st.sampled_from(["texts", "it's empty"]), st.booleans()),
        st.builds(InList, numbers, st.sampled_from(["numbers", "it's empty"]), st.booleans()),
        st.builds(IsMissing, st.one_of(numbers, texts, times, unknown), st.booleans()),
        truths.map(Not),
        st.lists(truths, min_size=2, max_size=3).map(lambda parts: And(tuple(parts))),
        st.lists(truths, min_size=2, max_size=3).map(lambda parts: Or(tuple(parts))),
    )
)
