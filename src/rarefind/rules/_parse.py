"""From the text of a rule to its tree."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, cast

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedCharacters, UnexpectedInput

from rarefind._core.text import without_middle
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
    Node,
    Not,
    Number,
    Or,
    Text,
    Truth,
)

#: A rule has no more characters and no more parts, and they are not nested deeper.
LONGEST, MOST_PARTS, DEEPEST = 10_000, 1_000, 50
#: No number in a rule is larger: products of several of them are still numbers.
LARGEST = 1e50

# Words of the language are the same in capitals, of ASCII only: ſ and ı are letters of names.
_GRAMMAR = r"""
?start: either
?either: both (_OR both)*
?both: opposite (_AND opposite)*
?opposite: _NOT opposite -> opposite
    | compared
?compared: sum
    | sum COMPARISON sum -> compare
    | sum _IN "(" _values ")" -> is_in
    | sum _NOT _IN "(" _values ")" -> is_not_in
    | sum _IN _LIST "(" TEXT ")" -> in_list
    | sum _NOT _IN _LIST "(" TEXT ")" -> not_in_list
    | sum _IS _MISSING -> is_missing
    | sum _IS _NOT _MISSING -> is_not_missing
_values: value ("," value)*
?value: "-" NUMBER -> minus_number
    | NUMBER -> number
    | TEXT -> text
?sum: product
    | sum SIGN product -> arithmetic
    | sum "-" product -> difference
?product: signed
    | product TIMES signed -> arithmetic
?signed: "-" signed -> minus
    | atom
?atom: NUMBER -> number
    | TEXT -> text
    | _TRUE -> true
    | _FALSE -> false
    | NAME -> column
    | QUOTED -> quoted
    | _COALESCE "(" sum "," sum ")" -> filled
    | FUNCTION "(" sum ("," sum)* ")" -> call
    | "(" either ")"

COMPARISON: "<=" | ">=" | "!=" | "<>" | "==" | "<" | ">" | "="
SIGN: "+"
TIMES: "*" | "/"
NUMBER: /([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?/
TEXT: /'([^']|'')*'|"([^"]|"")*"/
NAME: /(?!(?ai:and|or|not|in|is|missing|true|false)\b)[^\W\d]\w*(\.[^\W\d]\w*)*/
QUOTED: /`([^`]|``)+`/
FUNCTION.1: /(?!(?ai:and|or|not|in|is|missing|true|false)\b)[^\W\d]\w*(?=[ \t\r\n]*\()/
_LIST.3: /(?ai:list)(?=[ \t\r\n]*\()/
_COALESCE.3: /(?ai:coalesce)(?=[ \t\r\n]*\()/
_OR.2: /(?ai:or)\b/
_AND.2: /(?ai:and)\b/
_NOT.2: /(?ai:not)\b/
_IN.2: /(?ai:in)\b/
_IS.2: /(?ai:is)\b/
_MISSING.2: /(?ai:missing)\b/
_TRUE.2: /(?ai:true)\b/
_FALSE.2: /(?ai:false)\b/
%ignore /[ \t\r\n]+/
"""

_SAME = {"==": "=", "<>": "!="}
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


class RuleError(ValueError):
    """A rule that cannot be read, or that does not fit its columns.

    Names and values of any length may stand in its sentence, whose middle is then left out.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(without_middle(sentence))


def parse(text: str) -> Node:
    """The tree of a rule; an error names the place of what is wrong."""
    if not isinstance(text, str):
        raise RuleError(f"A rule is a text, not {type(text).__name__}.")
    if len(text) > LONGEST:
        raise RuleError(f"The rule has {len(text):,} characters; at most {LONGEST:,} are taken.")
    if not text.strip():
        raise RuleError("The rule is empty.")
    broken = _HALF_CHARACTER.search(text)
    if broken:
        raise RuleError(f"Character {broken.start() + 1} of the rule is half of one: write UTF-8.")
    try:
        tree = cast(Node, _parser().parse(text))
    except UnexpectedInput as error:
        raise RuleError(_sentence(text, error)) from None
    check_size(tree)
    return tree


def check_size(tree: Node) -> None:
    """Refuse what is nested so deeply, or has so many parts, that nobody wrote it."""
    level, parts, depth = [tree], 0, 0
    while level:
        parts, depth = parts + len(level), depth + 1
        if parts > MOST_PARTS:
            raise RuleError(f"The rule has more than {MOST_PARTS:,} parts.")
        if depth > DEEPEST:
            raise RuleError(f"The rule is nested more than {DEEPEST} deep.")
        level = [part for node in level for part in node.parts()]


@cache
def _parser() -> Lark:
    # Nodes are made while the text is read, without recursion.
    return Lark(_GRAMMAR, parser="lalr", transformer=_RuleBuilder(), start="start")


class _RuleBuilder(Transformer[Token, Node]):
    """What each line of the grammar makes."""

    def either(self, items: list[Node]) -> Node:
        return Or(tuple(items))

    def both(self, items: list[Node]) -> Node:
        return And(tuple(items))

    def opposite(self, items: list[Node]) -> Node:
        return Not(items[0])

    def compare(self, items: list[Any]) -> Node:
        left, op, right = items
        return Compare(_SAME.get(str(op), str(op)), left, right)

    def is_in(self, items: list[Any]) -> Node:
        return IsIn(items[0], tuple(items[1:]))

    def is_not_in(self, items: list[Any]) -> Node:
        return IsIn(items[0], tuple(items[1:]), negated=True)

    def in_list(self, items: list[Any]) -> Node:
        return InList(items[0], _unquoted(items[1]))

    def not_in_list(self, items: list[Any]) -> Node:
        return InList(items[0], _unquoted(items[1]), negated=True)

    def is_missing(self, items: list[Node]) -> Node:
        return IsMissing(items[0])

    def is_not_missing(self, items: list[Node]) -> Node:
        return IsMissing(items[0], negated=True)

    def arithmetic(self, items: list[Any]) -> Node:
        left, op, right = items
        return Arithmetic(str(op), left, right)

    def difference(self, items: list[Node]) -> Node:
        return Arithmetic("-", items[0], items[1])

    def minus(self, items: list[Node]) -> Node:
        return Minus(items[0])

    def filled(self, items: list[Node]) -> Node:
        return Filled(items[0], items[1])

    def call(self, items: list[Any]) -> Node:
        name = str(items[0])
        return FunctionCall(name.lower() if name.isascii() else name, tuple(items[1:]))

    def number(self, items: list[Any]) -> Number:
        value = float(items[0])
        if value > LARGEST:
            raise RuleError(f"{items[0]:.40} is too large a number.")
        if value == 0 and re.match("[0.]*[^0.eE]", str(items[0])):
            raise RuleError(f"{items[0]:.40} is too small a number to be told from 0.")
        return Number(value)

    def minus_number(self, items: list[Any]) -> Number:
        return Number(-self.number(items).value)

    def text(self, items: list[Any]) -> Node:
        return Text(_unquoted(items[0]))

    def true(self, items: list[Any]) -> Node:
        return Truth(True)

    def false(self, items: list[Any]) -> Node:
        return Truth(False)

    def column(self, items: list[Any]) -> Node:
        return Column(str(items[0]))

    def quoted(self, items: list[Any]) -> Node:
        return Column(str(items[0][1:-1]).replace("``", "`"))


def _unquoted(token: str) -> str:
    quote = token[0]
    return str(token[1:-1]).replace(quote * 2, quote)


def _sentence(text: str, error: UnexpectedInput) -> str:
    """One sentence: what was found, and where."""
    place = error.pos_in_stream or 0
    if isinstance(error, UnexpectedCharacters):
        if text[place] in "'\"`":
            return f"The quote at character {place + 1} of the rule is not closed."
        return f"The rule cannot be read at character {place + 1}, {text[place]!r}."
    token = getattr(error, "token", None)
    if token is None or token.type == "$END":
        return "The rule ends too early."
    return (
        f"The rule cannot be read at character {token.start_pos + 1}, "
        f"{text[token.start_pos :][:20]!r}."
    )
