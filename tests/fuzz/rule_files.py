"""Files of rules, changed: each is refused, or its rules mean one thing and are read back."""

from __future__ import annotations

import json
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fuzz.byte_mutations import mutate_bytes, mutate_text
from fuzz.json_mutations import change
from fuzz.verdicts import HONEST, OTHER_TABLE, READ, REFUSED, WrongError, check_sentence, name_of

_TEXT = """# Rules of the desk
let limit = 5
let home = 'FR'
large: amount > limit * card_mean and not (country in ('FR', 'BE') or night)
weight large = 2.5
odd: coalesce(`mean of "card"`, 0) - amount / n <> -1e-3
  or country is missing
abroad: country != home and n >= 2
weight abroad = 1
"""
_WORDS = [
    *("and", "or", "not", "in", "is", "missing", "true", "false", "coalesce(", "let ", "weight "),
    *("(", ")", "((((", "))", ",", "+", "-", "--", "*", "/", "=", "==", "!=", "<>", "<", ">=", ":"),
    *("'", '"', "`", "''", "``", "'it''s'", "`a b`", "#", "\n", "\n ", "\r", "\t", "\0", ";", "\\"),
    *(
        "0",
        "1e50",
        "1e51",
        "1e400",
        "5e-324",
        "1e-400",
        ".5",
        "5.",
        "1" * 400,
        "0x1f",
        "1_000",
        "٣",
    ),
    *("amount", "country", "night", "n", "limit", "home", "x", "ſ", "ıs", "falſe", "é", "a.b", "𝟙"),
    *("not " * 60, "(" * 60, "-" * 60, " and amount > 1" * 300, "x" * 11_000, "amount + " * 60),
    *("large: n > 1\n", "let limit = 7\n", "weight odd = nan\n", "weight odd = 1e999\n", "\u2028"),
]


def _table() -> pd.DataFrame:
    """Rows with values of all kinds, missing ones among them."""
    odd = [0.0, -1.0, 5.0, 250.0, np.nan, np.inf, -np.inf, 1e300]
    return pd.DataFrame(
        {
            "amount": odd,
            "card_mean": odd[::-1],
            "n": range(len(odd)),
            'mean of "card"': [None, *odd[1:]],
            "country": ["FR", "BE", None, "US", "", "it's", "fr", "FR "],
            "night": [True, False, None, True, False, None, True, False],
            "x": ["a", None, "é", "", "'", "b", "c", "d"],
        }
    )


class RuleKind(NamedTuple):
    """A kind of file of rules."""

    name: str
    path: Path

    @property
    def group(self) -> str:
        """All run the same code."""
        return "rules"

    def write_mutant(self, seed: int, number: int, path: Path) -> str:
        """Other words, other bytes, and of JSON other values."""
        data, what = self.path.read_bytes(), ""
        if number != HONEST:
            rng = np.random.default_rng([seed, number, zlib.crc32(self.name.encode())])
            way = rng.random()
            if way < 0.15:
                data, what = mutate_bytes(data, rng)
            elif way < 0.5 and self.path.suffix == ".json":
                data, what = _other_values(data, rng)
            else:
                text, what = mutate_text(data.decode(), rng, _WORDS)
                data = text.encode()
        path.write_bytes(data)
        return what

    def judge(self, path: Path, say: Callable[[str], None]) -> str:
        """Read the rules, run them and write them."""
        return judge_rules(path, say)


def _other_values(data: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
    tree = json.loads(data)
    what = change(tree, rng)
    if rng.random() < 0.3:
        rule = tree.get("rules")
        if isinstance(rule, list) and rule and isinstance(rule[0], dict):
            rule[0]["rule"], more = mutate_text(str(rule[0].get("rule")), rng, _WORDS)
            what = f"{what}; {more}"
    return json.dumps(tree).encode(errors="surrogatepass"), str(what)


def judge_rules(path: Path, say: Callable[[str], None]) -> str:
    """The verdict on one file."""
    from rarefind.rules import RuleSet, read_rules

    warnings.simplefilter("ignore")
    table = _table()
    refused = False
    for doing, given in (("read_rules", None), ("read_rules for a table", table)):
        say(doing)
        try:
            rules = read_rules(path, given)
        except ValueError as error:
            _check_sentences(str(error))
            refused = refused or given is None
        except BaseException as error:
            raise WrongError(f"{doing} raised {name_of(error)}") from error
    if refused:
        return REFUSED
    rules = read_rules(path)
    for way in ("json", "text"):
        say(way)
        _check_read_back(rules, way, RuleSet)
    for dialect in ("ansi", "sqlite", "duckdb", "postgresql", "mysql"):
        say(f"to_sql {dialect}")
        for asked in (None, "rows"):
            _or_sentence(f"to_sql {dialect}", lambda d=dialect, a=asked: rules.to_sql(d, a))
    say("fires_on")
    return _check_meaning(rules, table)


def _check_sentences(text: str) -> None:
    """One a mistake, a line each."""
    for line in text.split("\n"):
        check_sentence(line)


def _or_sentence(doing: str, ask: Callable[[], Any]) -> Any:
    """What is answered; None where that is an error in a sentence."""
    try:
        return ask()
    except ValueError as error:
        check_sentence(str(error))
    except BaseException as error:
        raise WrongError(f"{doing} raised {name_of(error)}") from error
    return None


def _check_read_back(rules: Any, way: str, cls: Any) -> None:
    written = _or_sentence(f"to_{way}", getattr(rules, f"to_{way}"))
    if written is None:
        return
    try:
        again = getattr(cls, f"from_{way}")(written)
    except BaseException as error:
        raise WrongError(f"what to_{way} wrote is not read: {name_of(error)}") from error
    told = [[(r.name, r, r.weight) for r in each] for each in (rules, again)]
    if told[0] != told[1]:
        raise WrongError(f"what to_{way} wrote is read as other rules")


def _check_meaning(rules: Any, table: pd.DataFrame) -> str:
    """A rule fires on the same rows of a table and records, or is told not to fit both."""
    verdict = READ
    for rule in rules:
        fired = _or_sentence("fires_on", lambda rule=rule: rule.fires_on(table))
        records = table.astype(object).to_dict("records")
        alone = [_or_sentence("fires", lambda r=r, rule=rule: rule.fires(r)) for r in records]
        if fired is None:
            verdict = OTHER_TABLE
        elif None not in alone and fired.tolist() != alone:
            raise WrongError(f"{rule.text[:80]!r} fires on other rows of a table than on records")
    return verdict


def rule_kinds(folder: Path) -> list[RuleKind]:
    """Honest files of rules, which are written if the folder has none."""
    if not any(folder.iterdir()):
        from rarefind.rules import RuleSet

        (folder / "desk.rules").write_text(_TEXT, encoding="utf-8")
        (folder / "desk.json").write_text(RuleSet.from_text(_TEXT).to_json(), encoding="utf-8")
    return [RuleKind(f"rules-{path.suffix[1:]}", path) for path in sorted(folder.iterdir())]
