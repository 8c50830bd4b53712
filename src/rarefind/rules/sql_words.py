"""Names and numbers in the SQL of several databases."""

from __future__ import annotations

from fractions import Fraction
from math import frexp

DIALECTS = ("ansi", "sqlite", "duckdb", "postgresql", "mysql")


def check_dialect(dialect: str) -> None:
    """Refuse a dialect that nothing is written in."""
    if dialect not in DIALECTS:
        raise ValueError(f"There is no dialect {dialect!r}: known are {', '.join(DIALECTS)}.")


def sql_name(name: str, dialect: str) -> str:
    """A name in quotes that it cannot leave."""
    if "\0" in name:
        raise ValueError(f"The name {name!r} has a NUL character, which no SQL can hold.")
    # SQLite takes a name in double quotes that is not a column for a text.
    mark = "`" if dialect in ("mysql", "sqlite") else '"'
    return mark + name.replace(mark, 2 * mark) + mark


def sql_table(table: str, dialect: str) -> str:
    """A table, or schema.table, in quotes."""
    if not all(table.split(".")):
        raise ValueError(f"{table!r} is not a table: write its name, or schema.table.")
    return ".".join(sql_name(part, dialect) for part in table.split("."))


def sql_text(text: str, dialect: str) -> str:
    """A text in quotes that it cannot leave."""
    if "\0" in text:
        raise ValueError(f"The text {text!r} has a NUL character, which no SQL can hold.")
    text = text.replace("'", "''")
    # There a backslash begins an escape, unless a mode is set.
    return "'" + (text.replace("\\", "\\\\") if dialect == "mysql" else text) + "'"


def sql_number(value: float, dialect: str) -> str:
    """A number that the database reads as the same double."""
    value = float(value)
    if dialect == "postgresql":
        return f"float8 '{value!r}'"  # else it would be NUMERIC
    if dialect == "sqlite":
        return repr(value) if _sqlite_reads(value) else _as_division(value)
    return repr(value) if "e" in repr(value) else f"{value!r}e0"  # else it would be DECIMAL


def _sqlite_reads(value: float) -> bool:
    """Whether every SQLite reads the decimal as this double.

    It divides the digits by a power of ten, in 80 bits where the machine has them, and rounds
    again: exact operands are needed, and no harm by the second rounding.
    """
    whole = Fraction(repr(value))
    places = 0
    while (whole * 10**places).denominator > 1:
        places += 1
    digits = abs(int(whole * 10**places))
    return digits < 2**53 and places <= 22 and float(_to_64_bits(abs(whole))) == abs(value)


def _to_64_bits(value: Fraction) -> Fraction:
    """The nearest number with a significand of 64 bits."""
    if value == 0:
        return value
    shift = 64 - (value.numerator.bit_length() - value.denominator.bit_length())
    scale = Fraction(2) ** shift
    while round(value * scale) >= 2**64:
        scale /= 2
    return round(value * scale) / scale


def _as_division(value: float) -> str:
    """A double as a whole number times or over powers of two, which no rounding touches."""
    fraction, exponent = frexp(value)
    text, exponent = f"CAST({int(fraction * 2**53)} AS REAL)", exponent - 53
    sign = "*" if exponent > 0 else "/"
    exponent = abs(exponent)
    while exponent > 0:
        text += f" {sign} {2 ** min(exponent, 62)}"
        exponent -= 62
    return f"({text} /* {value!r} */)"
