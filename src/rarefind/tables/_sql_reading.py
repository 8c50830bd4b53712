"""The values of one column in SQL, as the encoder reads them."""

from __future__ import annotations

import numpy as np

from rarefind.data.types import FALSE_WORDS, MISSING_WORDS, TRUE_WORDS
from rarefind.rules.sql_values import sql_column, sql_truth_as_number
from rarefind.rules.sql_words import sql_name, sql_number, sql_text

_NUMBER = r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
# All that Python and Arrow take for a space.
_SPACES = [code for code in range(0x3001) if chr(code).isspace()]
_DAY = 86_400_000_000
_ISO = (
    "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    "([T ]([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?)?$"
)


class Reader:
    """Reads a column of the row ``t``; NULL is a missing value."""

    def __init__(self, column: str, dialect: str) -> None:
        self.name, self.dialect = column, dialect
        self.column = f"t.{sql_name(column, dialect)}"

    def number(self, written: str | None) -> str:
        """A number; of a column that had texts at the fit, NULL where the text is not one."""
        if written is None:
            return sql_column(self.column, "number", self.dialect)
        if written not in ("integer", "number", "number,") or self.dialect == "ansi":
            raise self._unreadable("numbers", written)
        text = self._trimmed()
        if written != "number,":
            return f"CASE WHEN {self._is_number(text)} THEN {self._as_double(text)} END"
        # Numbers with marks of thousands, which the model reads as well, are left to it: the query
        # ends. 1.234 could be a thousand or one, and is missing.
        plain = f"REPLACE({text}, ',', '.')"
        return (
            f"CASE WHEN {self._is_undecided(text)} THEN NULL "
            f"WHEN {self._is_number(plain)} THEN {self._as_double(plain)} "
            f"WHEN {self._matches(text, '[0-9]', '*[0-9]*')} THEN {self._refusal(text)} END"
        )

    def _is_number(self, text: str) -> str:
        if self.dialect == "sqlite":  # only a text that is a number all through is equal to it
            return f"CAST({text} AS REAL) = REPLACE({text}, '', '')"
        return self._matches(text, f"^({_NUMBER})$", "")

    def _is_undecided(self, text: str) -> str:
        digits, thousand = "[0-9]", ".[0-9][0-9][0-9]"
        if self.dialect != "sqlite":
            return self._matches(text, "^[+-]?[1-9][0-9]{0,2}[.][0-9]{3}$", "")
        unsigned = f"LTRIM({text}, '+-')"
        lengths = [f"{unsigned} GLOB '[1-9]{digits * more}{thousand}'" for more in range(3)]
        return " OR ".join(lengths)

    def _matches(self, text: str, pattern: str, glob: str) -> str:
        return {
            "duckdb": f"regexp_matches({text}, '{pattern}')",
            "postgresql": f"{text} ~ '{pattern}'",
            "mysql": f"{text} REGEXP '{pattern}'",
            "sqlite": f"{text} GLOB '{glob}'",
        }[self.dialect]

    def _as_double(self, text: str) -> str:
        double = {"sqlite": "REAL", "postgresql": "DOUBLE PRECISION"}.get(self.dialect, "DOUBLE")
        return f"CAST({text} AS {double})"

    def _refusal(self, text: str) -> str:
        """What ends the query; MySQL has nothing of the kind."""
        if self.dialect == "mysql":
            return "NULL"
        told = f"{text} || ' is not a number that a query can read'"
        return f"json({told})" if self.dialect == "sqlite" else self._as_double(told)

    def truth(self, written: str | None) -> str:
        """1 and 0; of a column that had words at the fit, NULL where it is none of them."""
        if written is None:
            return sql_truth_as_number(self.column, self.dialect)
        if written != "boolean":
            raise self._unreadable("true and false", written)
        cases = [
            f"WHEN {sql_text(word, self.dialect)} THEN {sql_number(value, self.dialect)}"
            for words, value in ((TRUE_WORDS, 1.0), (FALSE_WORDS, 0.0))
            for word in words
        ]
        return f"CASE LOWER({self._trimmed()}) {' '.join(cases)} END"

    def level(self) -> str:
        """A text without spaces around it; NULL where it says that nothing is known."""
        text = self._trimmed()
        words = ", ".join(sql_text(word, self.dialect) for word in MISSING_WORDS)
        return f"CASE WHEN {text} NOT IN ({words}) THEN {text} END"

    def date_part(self, part: str, origin: str, written: str | None, zone: str | None) -> str:
        """Days since the origin, month, weekday (Monday is 0) or hour."""
        start = int(np.datetime64(origin, "us").astype(np.int64))
        if self.dialect == "sqlite":
            return self._sqlite_date_part(part, start, written, zone)
        if self.dialect not in ("duckdb", "postgresql"):
            raise ValueError(
                f"Column {self.name!r} has dates, which are written differently in each database: "
                "choose sqlite, duckdb or postgresql."
            )
        time, is_duckdb = self._time(written, zone), self.dialect == "duckdb"
        if part == "days":
            micros = (
                f"epoch_us({time})"
                if is_duckdb
                else f"CAST(ROUND(EXTRACT(EPOCH FROM {time}) * 1000000) AS BIGINT)"
            )
            double = "DOUBLE" if is_duckdb else "DOUBLE PRECISION"
            return f"(CAST({micros} - {start} AS {double}) / {sql_number(_DAY, self.dialect)})"
        field = {"month": "MONTH", "weekday": "ISODOW", "hour": "HOUR"}[part]
        double = "DOUBLE" if is_duckdb else "DOUBLE PRECISION"
        value = f"CAST(EXTRACT({field} FROM {time}) AS {double})"
        return f"({value} - {sql_number(1.0, self.dialect)})" if part == "weekday" else value

    def _time(self, written: str | None, zone: str | None) -> str:
        """The time by the clock of the fit's time zone, without one."""
        if written is not None:
            return self._written_time(written)
        has_zone = {
            "duckdb": f"typeof({self.column}) = 'TIMESTAMP WITH TIME ZONE'",
            "postgresql": f"pg_typeof({self.column})::text = 'timestamp with time zone'",
        }[self.dialect]
        plain = f"CAST({self.column} AS TIMESTAMP)"
        text = f"CAST({self.column} AS {'VARCHAR' if self.dialect == 'duckdb' else 'TEXT'})"
        # By the clock on the spot, which a database does not keep: better no answer.
        own = f"CAST({text} || ' has a time zone' AS TIMESTAMP)"
        if zone != "local":
            name = sql_text(zone or "UTC", self.dialect)
            own = f"timezone({name}, CAST({self.column} AS TIMESTAMP WITH TIME ZONE))"
        return f"CASE WHEN {has_zone} THEN {own} ELSE {plain} END"

    def _written_time(self, written: str) -> str:
        """A text as a time; NULL where it cannot be read."""
        form, text = written.removeprefix("date:"), self._trimmed()
        if not written.startswith("date:") or "%z" in form or "%p" in form:
            raise self._unreadable("dates", form)
        if self.dialect == "duckdb":
            if form == "ISO8601":
                return f"TRY_CAST({text} AS TIMESTAMP)"
            return f"TRY_STRPTIME({text}, {sql_text(form, self.dialect)})"
        if form != "ISO8601":
            raise self._unreadable("dates", form)
        month = f"CAST(SUBSTR({text}, 1, 7) || '-01' AS DATE)"
        last = f"EXTRACT(DAY FROM {month} + INTERVAL '1 month' - INTERVAL '1 day')"
        there = f"CASE WHEN CAST(SUBSTR({text}, 9, 2) AS INTEGER) <= {last} THEN {text} END"
        return f"CASE WHEN {text} ~ '{_ISO}' THEN CAST({there} AS TIMESTAMP) END"

    def _sqlite_date_part(
        self, part: str, start: int, written: str | None, zone: str | None
    ) -> str:
        """Dates are texts there, as 2026-01-31 or 2026-01-31 12:30:00."""
        if written not in (None, "date:ISO8601"):
            raise self._unreadable("dates", str(written).removeprefix("date:"))
        if zone not in (None, "UTC", "local"):
            raise ValueError(
                f"Column {self.name!r} is read by the clock of {zone}, and SQLite knows no time "
                "zones: choose another database, or fit on local times."
            )
        text = self.column if written is None else self._trimmed()
        local = f"substr({text}, 1, 19)"
        if zone != "local":
            offset = f"CASE WHEN substr({text}, -6, 1) IN ('+', '-') THEN substr({text}, -6) END"
            zoned = f"CASE WHEN length({text}) > 19 THEN {offset} END"
            local = f"datetime({local} || COALESCE({zoned}, ''))"
        one = sql_number(1.0, "sqlite")
        value = {
            "days": self._sqlite_days(text, local, start),
            "month": f"strftime('%m', {local}) * {one}",
            "weekday": f"((strftime('%w', {local}) + 6) % 7) * {one}",
            "hour": f"strftime('%H', {local}) * {one}",
        }[part]
        wrong = f"json({text} || ' is not a date')" if written is None else "NULL"
        # The name of a day that is not there is moved on to one that is, and "now" is a time, too.
        day = f"substr({text}, 1, 10)"
        is_date = f"typeof({text}) = 'text' AND date({day}, '+0 days') = {day}"
        is_date += f" AND strftime('%s', {local}) IS NOT NULL"
        return f"CASE WHEN {is_date} THEN {value} ELSE {wrong} END"

    def _sqlite_days(self, text: str, local: str, start: int) -> str:
        fraction = f"CAST(round(CAST('0.' || substr({text}, 21) AS REAL) * 1000000) AS INTEGER)"
        micros = f"CASE substr({text}, 20, 1) WHEN '.' THEN {fraction} ELSE 0 END"
        whole = f"strftime('%s', {local}) * 1000000 + {micros} - {start}"
        return f"CAST({whole} AS REAL) / {sql_number(_DAY, 'sqlite')}"

    def _trimmed(self) -> str:
        """A text without the spaces around it."""
        if self.dialect == "sqlite":
            listed = ", ".join(map(str, _SPACES))
            return f"TRIM(CAST({self.column} AS TEXT), char({listed}))"
        if self.dialect == "duckdb":
            space = r"[\s\x0B\x1C-\x1F\x{0085}\p{Z}]+"
            text = f"CAST({self.column} AS VARCHAR)"
            return f"regexp_replace({text}, '^{space}|{space}$', '', 'g')"
        if self.dialect == "postgresql":
            listed = "".join(f"\\u{code:04x}" for code in _SPACES)
            return f"BTRIM(CAST({self.column} AS TEXT), E'{listed}')"
        return f"TRIM({self.column})"

    def _unreadable(self, what: str, form: str) -> ValueError:
        return ValueError(
            f"Column {self.name!r} had {what} as texts ({form}) at the fit, which a query for "
            f"{self.dialect} cannot read: make it a column of {what}, and fit again."
        )
