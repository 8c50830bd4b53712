"""Columns and arithmetic in SQL, so that they mean what they mean for records."""

from __future__ import annotations

from sys import float_info

from rarefind.rules.sql_words import sql_number
from rarefind.rules.syntax import Arithmetic, Minus, Node, Number

_DOUBLE = {"sqlite": "REAL", "mysql": "DOUBLE", "duckdb": "DOUBLE"}
# There NaN is a value, which is equal to itself and larger than all others.
_NAN = {"duckdb": "CAST('nan' AS DOUBLE)", "postgresql": "float8 'NaN'"}


def as_double(number: str, dialect: str) -> str:
    """A number of another type as a double."""
    return f"CAST({number} AS {_DOUBLE.get(dialect, 'DOUBLE PRECISION')})"


def sql_column(name: str, kind: str | None, dialect: str) -> str:
    """A column of the table; NULL where its value is missing."""
    if kind == "number":
        # Whole numbers would be divided without a rest.
        number = as_double(name, dialect)
        if dialect == "sqlite":  # it would read any text as a number
            refusal = f"json({name} || ' is not a number')"
            return f"CASE typeof({name}) WHEN 'text' THEN {refusal} ELSE {number} END"
        return f"NULLIF({number}, {_NAN[dialect]})" if dialect in _NAN else number
    if kind == "truth":
        return _truth(name, dialect)
    if kind == "time":
        return _time(name, dialect)
    if kind is None:
        return _any_value(name, dialect)
    return name


def sql_truth_as_number(name: str, dialect: str) -> str:
    """A column of truths as 1 and 0."""
    one, zero = sql_number(1.0, dialect), sql_number(0.0, dialect)
    return _truth(name, dialect, one, zero, _DOUBLE.get(dialect, "DOUBLE PRECISION"))


def _truth(
    name: str, dialect: str, yes: str = "true", no: str = "false", becomes: str = "BOOLEAN"
) -> str:
    """A truth from 1 and 0, too; the query ends where a column has another number."""
    if dialect == "duckdb":
        return (
            f"CASE CAST({name} AS DOUBLE) WHEN 1 THEN {yes} WHEN 0 THEN {no} WHEN {_NAN[dialect]} "
            f"THEN NULL ELSE CAST({name} || ' is not a truth' AS {becomes}) END"
        )
    if dialect == "postgresql":
        return (
            f"CASE CAST({name} AS TEXT) WHEN 'true' THEN {yes} WHEN 'false' THEN {no} "
            f"WHEN '1' THEN {yes} WHEN '0' THEN {no} WHEN '-0' THEN {no} WHEN 'NaN' THEN NULL "
            f"ELSE CAST(CAST({name} AS TEXT) || ' is not a truth' AS {becomes}) END"
        )
    if dialect == "sqlite":
        yes, no = {"true": "1"}.get(yes, yes), {"false": "0"}.get(no, no)
        refusal = f"json({name} || ' is not a truth')"
        return f"CASE {name} WHEN 1 THEN {yes} WHEN 0 THEN {no} ELSE {refusal} END"
    return name if yes == "true" else f"CASE WHEN {name} THEN {yes} WHEN NOT {name} THEN {no} END"


def _time(name: str, dialect: str) -> str:
    """A time without a zone; the query ends where a text of SQLite is not one."""
    if dialect in ("duckdb", "postgresql"):
        return f"CAST({name} AS TIMESTAMP)"
    if dialect != "sqlite":
        return name
    day = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
    return (
        f"CASE WHEN {name} IS NULL THEN NULL WHEN {name} GLOB '{day}*' "
        f"AND strftime('%s', substr({name}, 1, 19)) IS NOT NULL AND (length({name}) <= 19 OR "
        f"({name} GLOB '{day}?*.*' AND substr({name}, 20, 1) = '.' "
        f"AND substr({name}, 21) NOT GLOB '*[^0-9]*')) "
        f"THEN {name} ELSE json({name} || ' is not a time') END"
    )


def _any_value(name: str, dialect: str) -> str:
    """A column of which the rule says nothing: its NaN is missing, whatever its type."""
    if dialect == "duckdb":
        floats = f"typeof({name}) IN ('DOUBLE', 'FLOAT') AND CAST({name} AS VARCHAR) = 'nan'"
    elif dialect == "postgresql":
        types = "'double precision', 'real', 'numeric'"
        floats = f"pg_typeof({name})::text IN ({types}) AND CAST({name} AS TEXT) = 'NaN'"
    else:
        return name
    return f"CASE WHEN {floats} THEN NULL ELSE {name} END"


def sql_arithmetic(node: Arithmetic, left: str, right: str, dialect: str) -> str:
    """A sum, difference, product or quotient; NULL where it is not a number."""
    if node.op == "/":
        right = f"NULLIF({right}, {sql_number(0.0, dialect)})"
    plain = f"({left} {node.op} {right})"
    # No number of a rule is so large that adding it gives infinity, or NaN.
    if node.op in "+-" and (_is_literal(node.left) or _is_literal(node.right)):
        return plain
    if dialect == "postgresql":
        return _in_postgresql(node.op, left, right)
    return f"NULLIF({plain}, {_NAN[dialect]})" if dialect in _NAN else plain


def _is_literal(node: Node) -> bool:
    return isinstance(node, Number) or (isinstance(node, Minus) and _is_literal(node.part))


def _in_postgresql(op: str, left: str, right: str) -> str:
    """There an overflow, and a product too near to 0, is an error; everywhere else ±∞, and 0.

    Whether it would come to that is told by a product of scaled numbers, which is rounded at the
    same place. Each test stands in a CASE of its own, and OFFSET 0 keeps the two numbers apart, so
    that nothing is computed before its test, not even what is constant.
    """
    if op == "-":
        op, right = "+", f"(- {right})"
    result = {"+": _SUM, "*": _PRODUCT, "/": _QUOTIENT}[op]
    nan = _NAN["postgresql"]
    both = f"SELECT {left} AS a, {right} AS b OFFSET 0"
    return f"(SELECT NULLIF({result}, {nan}) FROM ({both}) AS v)"


def _power(exponent: int) -> str:
    return sql_number(2.0**exponent, "postgresql")


_LARGEST = sql_number(float_info.max, "postgresql")
_ZERO, _ONE, _INFINITE = sql_number(0.0, "postgresql"), _power(0), "float8 'Infinity'"

_SUM = (
    f"CASE WHEN ABS(v.a) BETWEEN {_power(960)} AND {_LARGEST} "
    f"AND ABS(v.b) BETWEEN {_power(960)} AND {_LARGEST} THEN "
    f"CASE WHEN ABS(v.a * {_power(-10)} + v.b * {_power(-10)}) >= {_power(1014)} "
    f"THEN v.a * {_INFINITE} ELSE v.a + v.b END "
    "ELSE v.a + v.b END"
)
_PRODUCT = (
    f"CASE WHEN ABS(v.a) BETWEEN {_ONE} AND {_LARGEST} "
    f"AND ABS(v.b) BETWEEN {_ONE} AND {_LARGEST} THEN "
    f"CASE WHEN ABS((v.a * {_power(-512)}) * (v.b * {_power(-512)})) >= {_ONE} "
    f"THEN (v.a * {_INFINITE}) * v.b ELSE v.a * v.b END "
    f"WHEN ABS(v.a) < {_ONE} AND ABS(v.b) < {_ONE} AND v.a <> {_ZERO} AND v.b <> {_ZERO} THEN "
    f"CASE WHEN GREATEST(ABS(v.a), ABS(v.b)) < {_power(-538)} THEN {_ZERO} "
    f"WHEN (LEAST(ABS(v.a), ABS(v.b)) * {_power(1000)}) * GREATEST(ABS(v.a), ABS(v.b)) "
    f"<= {_power(-75)} THEN {_ZERO} ELSE v.a * v.b END "
    "ELSE v.a * v.b END"
)
_QUOTIENT = (
    f"CASE WHEN ABS(v.b) < {_ONE} AND ABS(v.a) <= {_LARGEST} THEN "
    f"CASE WHEN ABS(v.a) >= ABS(v.b) * {_power(1000)} THEN "
    f"CASE WHEN ABS(v.a * {_power(-550)}) / ABS(v.b * {_power(550)}) >= {_power(-76)} "
    f"THEN (v.a * {_INFINITE}) / v.b ELSE v.a / v.b END "
    "ELSE v.a / v.b END "
    f"WHEN ABS(v.a) < {_ONE} AND v.a <> {_ZERO} AND ABS(v.b) <= {_LARGEST} THEN "
    f"CASE WHEN ABS(v.b) > ABS(v.a) * {_power(1000)} THEN "
    f"CASE WHEN ABS(v.a * {_power(550)}) / ABS(v.b * {_power(-550)}) <= {_power(25)} "
    f"THEN {_ZERO} ELSE v.a / v.b END "
    "ELSE v.a / v.b END "
    "ELSE v.a / v.b END"
)
