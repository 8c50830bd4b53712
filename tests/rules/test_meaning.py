"""A rule means the same for records, in pandas, Polars, DuckDB, SQLite and PostgreSQL."""

import datetime
import math
import os
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from databases import DIALECTS, query
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rules.drawn import LISTS, NUMBERS, TEXT_VALUES, TEXTS, TIMES, TRUTHS, truths

from rarefind.rules import Rule, RuleError
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

#: More examples, and other ones each time, by RAREFIND_FUZZ=3000 or make fuzz-sql.
FUZZ = int(os.environ.get("RAREFIND_FUZZ", 0))
how_often = settings(max_examples=FUZZ or 120, deadline=None, derandomize=not FUZZ)

FLOATS = (
    *(None, math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, 2.0, 0.5, -5.0, 0.1, 1e10, 2.0**53),
    *(1e308, -1.7976931348623157e308, 5e-324, -1e-200, 2.0**969, 3e-162),
)
WHOLES = (None, 0, 1, -5, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63))
TIME_VALUES = (
    None,
    datetime.datetime(2026, 1, 31),
    datetime.datetime(2026, 3, 1, 23, 59, 59, 999_999),
    datetime.datetime(2024, 2, 29, 0, 0, 0, 1),
    datetime.datetime(1969, 12, 31, 12),
    datetime.datetime(1900, 1, 1, 7, 30),
    datetime.datetime(2199, 12, 31, 6),
)
#: What two columns can hold of which a rule says nothing but that they are compared.
PAIRS = {
    "whole numbers": (pl.Int64, pl.Int64, WHOLES),
    "numbers": (pl.Int64, pl.Float64, None),
    "texts": (pl.String, pl.String, (None, *TEXT_VALUES)),
    "dates": (
        pl.Datetime("us"),
        pl.Datetime("us"),
        (None, datetime.datetime(2026, 1, 31), datetime.datetime(2026, 1, 31, 12, 5, 0, 1)),
    ),
}


def records(pair):
    left, right, shared = PAIRS[pair]
    floats = st.one_of(st.sampled_from(FLOATS), st.floats())
    wholes = st.one_of(st.sampled_from(WHOLES), st.integers(-(2**63), 2**63 - 1))
    some = {pl.Int64: wholes, pl.Float64: floats}
    values = {
        **{name: some[dtype] for name, dtype in NUMBERS.items()},
        **{name: st.sampled_from([None, *TEXT_VALUES]) for name in TEXTS},
        "night": st.sampled_from([None, True, False]),
        "falſe": st.sampled_from([None, 0, 1]),
        **{name: st.sampled_from(TIME_VALUES) for name in TIMES},
        "x": some[left] if shared is None else st.sampled_from(shared),
        "Y": some[right] if shared is None else st.sampled_from(shared),
    }
    return st.lists(st.fixed_dictionaries(values), min_size=1, max_size=6)


tables = st.sampled_from(sorted(PAIRS)).flatmap(
    lambda pair: st.tuples(st.just(pair), records(pair))
)


def by_definition(node, record):
    """What a part of a rule is worth: None is missing or unknown."""
    if isinstance(node, Number | Text | Truth):
        return node.value
    if isinstance(node, Column):
        value = record[node.name]
        if value is None or value != value:
            return None
        if node.name in TRUTHS:
            return value == 1
        return float(value) if node.name in NUMBERS else value
    if isinstance(node, And | Or):
        found = [by_definition(part, record) for part in node.items]
        decides = isinstance(node, Or)
        return decides if decides in found else None if None in found else not decides
    if isinstance(node, IsMissing):
        return (by_definition(node.part, record) is None) != node.negated
    if isinstance(node, IsIn):
        value = by_definition(node.part, record)
        return None if value is None else (value in [v.value for v in node.values]) != node.negated
    if isinstance(node, InList):
        value = by_definition(node.part, record)
        return None if value is None else (value in LISTS[node.name]) != node.negated
    parts = [by_definition(part, record) for part in node.parts()]
    if isinstance(node, Filled):
        return parts[1] if parts[0] is None else parts[0]
    if None in parts:
        return None
    if isinstance(node, Not):
        return not parts[0]
    if isinstance(node, Minus):
        return -parts[0]
    if isinstance(node, FunctionCall):
        return FUNCTIONS[node.name](*parts)
    a, b = parts
    if isinstance(node, Arithmetic):
        return arithmetic(node.op, a, b)
    if isinstance(a, float) or isinstance(b, float):
        a, b = float(a), float(b)
    work = {"=": a == b, "!=": a != b}
    if node.op not in work:
        work |= {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}
    return work[node.op]


def other_case(text, first, last, by):
    return "".join(chr(ord(c) + by) if first <= c <= last else c for c in text)


FUNCTIONS = {
    "lower": lambda text: other_case(text, "A", "Z", 32),
    "upper": lambda text: other_case(text, "a", "z", -32),
    "length": lambda text: float(len(text)),
    "starts_with": lambda text, part: text[: len(part)] == part,
    "ends_with": lambda text, part: part == "" or text[-len(part) :] == part,
    "contains": lambda text, part: part in text,
    "hour": lambda time: float(time.hour),
    "weekday": lambda time: float(time.isocalendar().weekday),
    "day": lambda time: float(time.day),
    "month": lambda time: float(time.month),
    "minutes_between": lambda first, second: (
        (second - first) // datetime.timedelta(microseconds=1) / 6e7
    ),
}


def arithmetic(op, a, b):
    """By IEEE 754, except that there is no NaN and no division by 0."""
    if op == "/" and b == 0:
        return None
    work = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
    with np.errstate(all="ignore"):
        value = float(work[op](np.float64(a), np.float64(b)))
    return None if math.isnan(value) else value


def as_polars(pair, rows):
    left, right, _ = PAIRS[pair]
    schema = {**NUMBERS, **dict.fromkeys(TEXTS, pl.String), "night": pl.Boolean, "falſe": pl.Int64}
    schema |= dict.fromkeys(TIMES, pl.Datetime("us"))
    return pl.DataFrame(rows, schema={**schema, "x": left, "Y": right}, strict=True)


def as_pandas(table):
    types = {pl.Float64: "float64", pl.Int64: "Int64", pl.Boolean: "boolean"}
    frame = {}
    for column in table:
        plain = column.to_list()
        dtype = types.get(column.dtype, "datetime64[us]" if column.dtype.is_temporal() else object)
        plain = [math.nan if v is None else v for v in plain] if dtype == "float64" else plain
        frame[column.name] = pd.Series(plain, dtype=dtype)
    return pd.DataFrame(frame)


def in_database(dialect, rule, table):
    sql = f"SELECT CASE WHEN {rule.to_sql(dialect)} THEN 1 ELSE 0 END FROM rows ORDER BY row"
    arrow = table.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64)).to_arrow()
    plain = [f.with_type(pa.string()) if "string" in str(f.type) else f for f in arrow.schema]
    return [found == 1 for (found,) in query(dialect, sql, arrow.cast(pa.schema(plain)))]


CASES = Counter()


@pytest.fixture(scope="module", autouse=True)
def count(request):
    yield
    capture = request.config.pluginmanager.get_plugin("capturemanager")
    if FUZZ:
        with capture.global_and_fixture_disabled():
            print(f"\n{CASES['cases']:,} cases of a rule, a row and a way to run it.")


#: Two infinities have no difference, and a name is no word of the language: each was once told
#: in several ways, and few drawn examples hit on it.
ODD_ROW = {
    **{"amount": math.inf, 'mean of "card"': math.inf, "n": 2**53 + 1, "ıs": None},
    **{"country": "FR", "ho`me %s; --": None, "night": True, "falſe": 1, "x": 1, "Y": 1.0},
    **{"made": datetime.datetime(2026, 1, 31, 12, 5), "opened": None},
}
TWO_INFINITIES = Arithmetic("-", Column("amount"), Column('mean of "card"'))


@how_often
@given(truths, tables)
@example(Compare(">", TWO_INFINITIES, Number(5.0)), ("numbers", [ODD_ROW]))
@example(IsMissing(Column("ıs"), False), ("numbers", [ODD_ROW]))
def test_six_ways_to_run_a_rule_agree(tree, drawn):
    pair, rows = drawn
    rule = Rule(str(tree), lists=LISTS)
    assert rule == Rule(rule.text, lists=LISTS)
    expected = [by_definition(tree, row) is True for row in rows]
    table = as_polars(pair, rows)
    ways = {
        "record": [rule.fires(row) for row in rows],
        "polars": rule.fires_on(table).tolist(),
        "pandas": rule.fires_on(as_pandas(table)).tolist(),
        **{dialect: in_database(dialect, rule, table) for dialect in DIALECTS},
    }
    assert ways == dict.fromkeys(ways, expected)
    CASES["cases"] += len(rows) * len(ways)


def everywhere(rule, table):
    """What the rule says of a table of plain lists, in six ways."""
    frame = pl.DataFrame(table)
    rows = [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    return [
        [rule.fires(row) for row in rows],
        rule.fires_on(frame).tolist(),
        rule.fires_on(as_pandas(frame)).tolist(),
        *(in_database(dialect, rule, frame) for dialect in DIALECTS),
    ]


@pytest.mark.parametrize(
    ("text", "table", "fires"),
    [
        ("a - b > 5", {"a": [math.inf], "b": [math.inf]}, False),
        ("coalesce(a - b, 7) > 5", {"a": [math.inf], "b": [math.inf]}, True),
        ("a * b is missing", {"a": [math.inf], "b": [0.0]}, True),
        ("a > 5", {"a": [math.nan]}, False),
        ("a is missing and not (a = a)", {"a": [math.nan]}, False),
        ("a * b > 1e50", {"a": [1e308], "b": [10.0]}, True),
        ("a * b = 0", {"a": [1e-308], "b": [1e-308]}, True),
        ("5e-324 / a = 0", {"a": [1e10]}, True),
        ("a = b", {"a": [2**53 + 1], "b": [2.0**53]}, True),
        ("a = b", {"a": [2**53 + 1], "b": [2**53]}, False),
        ("a = b and a > 0", {"a": [2**53 + 1], "b": [2**53]}, True),
        ("a > 9007199254740992", {"a": [2**53 + 1]}, False),
        ("a = 'é'", {"a": ["e\u0301"]}, False),
        ("a = 'fr'", {"a": ["FR"]}, False),
        ("lower(a) = 'fr'", {"a": ["FR"]}, True),
        ("lower(a) = 'é'", {"a": ["É"]}, False),
        ("upper(a) = 'SſSS'", {"a": ["sſss"]}, True),
        ("length(a) = 2", {"a": ["e\u0301"]}, True),
        ("length(a) = 1", {"a": ["🦆"]}, True),
        ("ends_with(a, '')", {"a": [""]}, True),
        ("ends_with(a, 'xab')", {"a": ["ab"]}, False),
        ("contains(a, b)", {"a": ["a%c"], "b": ["%"]}, True),
        ("starts_with('FRA', a)", {"a": ["FR"]}, True),
        ("not a", {"a": [0.0]}, True),
        ("a", {"a": [1]}, True),
    ],
)
def test_edges_mean_the_same_in_six_ways(text, table, fires):
    assert everywhere(Rule(text), table) == [[fires]] * 6


@pytest.mark.parametrize("name", ["falſe", "ıs", "Miſſing", "İN", "trüe", "TRUE", "Is"])
def test_words_of_the_language_are_ascii(name):
    rule = Rule(f"`{name}` > 1")
    assert rule.columns == {name: "number"}
    assert Rule(rule.text) == rule
    assert rule.text.startswith("`") == name.isascii()


@pytest.mark.parametrize("value", [10**400, -(10**400), Decimal("1e400"), Fraction(10**400)])
def test_numbers_beyond_doubles_are_refused(value):
    with pytest.raises(RuleError, match="'a' holds a number that is too large for a rule"):
        Rule("a > 1").fires({"a": value})
    with pytest.raises(RuleError, match="'a' holds a number that is too large for a rule"):
        Rule("a > 1").fires_on({"a": [value]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"a > {10**400}", "10* is too large a number"),
        ("a > 1e-400", "1e-400 is too small a number to be told from 0"),
        ("a = '\ud800'", "Character 6 of the rule is half of one"),
    ],
)
def test_literals_that_no_double_or_text_holds_are_refused(text, message):
    with pytest.raises(RuleError, match=message):
        Rule(text)


@pytest.mark.parametrize("value", [2, -1, 0.5])
def test_another_number_than_1_and_0_is_no_truth_anywhere(value):
    rule, table = Rule("not a"), pl.DataFrame({"a": [value]})
    for refused in (
        lambda: rule.fires({"a": value}),
        lambda: rule.fires_on(table),
        lambda: rule.fires_on(table.to_pandas()),
    ):
        with pytest.raises(RuleError, match=f"'a' holds {value}, and a truth is needed: write"):
            refused()
    for dialect in DIALECTS:
        with pytest.raises(Exception, match=r"is not a truth|malformed JSON"):
            in_database(dialect, rule, table)


def test_missing_values_have_many_names():
    for value in (None, math.nan, np.float32("nan"), pd.NA, pd.NaT, Decimal("nan")):
        for kind in ("a > 1", "not (a > 1)", "a = 'x'", "a", "a = b"):
            assert not Rule(kind).fires({"a": value, "b": 1})
        assert Rule("a is missing").fires({"a": value})


@pytest.mark.parametrize("values", [(1, "1"), ("2026-01-31", datetime.datetime(2026, 1, 31))])
def test_columns_of_unlike_kinds_are_not_compared(values):
    a, b = values
    with pytest.raises(RuleError, match=r"The column 'a' holds a .* they cannot be compared"):
        Rule("a = b").fires({"a": a, "b": b})
    with pytest.raises(RuleError, match=r"The column 'a' holds a .* they cannot be compared"):
        Rule("a = b").fires_on({"a": [a], "b": [b]})


def test_times_are_compared_as_instants():
    utc = datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.UTC)
    paris = utc.astimezone(datetime.timezone(datetime.timedelta(hours=1)))
    assert Rule("a = b").fires({"a": utc, "b": paris})
    column = pl.Series([utc]).dt.convert_time_zone("Europe/Paris")
    assert Rule("a = b").fires_on(pl.DataFrame({"a": [utc], "b": column})).tolist() == [True]


def test_a_text_is_no_number_in_sqlite_either():
    rule, table = Rule("a >= 0"), pl.DataFrame({"a": ["twelve"]})
    for dialect in DIALECTS:
        with pytest.raises(Exception, match=r"twelve|malformed JSON"):
            in_database(dialect, rule, table)


def test_a_column_that_is_not_there_is_an_error_in_every_database():
    for dialect in DIALECTS:
        with pytest.raises(Exception, match="amont"):
            in_database(dialect, Rule("amont = 'x'"), pl.DataFrame({"amount": ["x"]}))
