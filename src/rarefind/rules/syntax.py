"""What a rule is made of, and how it is written.

A rule is a small tree. Every node can print itself, with no more parentheses than needed, so that a
rule that is parsed and printed is the same rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

#: Words that are part of the language; a column of that name is written in backquotes.
WORDS = frozenset({"and", "or", "not", "in", "is", "missing", "true", "false"})

# In capitals, too; of ASCII only, so that ſ and ı make no word of a name.
_WORD = re.compile("|".join(WORDS), re.ASCII | re.IGNORECASE)
_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")

# How tightly nodes bind: a part that binds less tightly than its place asks for has parentheses.
_OR, _AND, _NOT, _COMPARED, _SUM, _PRODUCT, _SIGN, _ATOM = range(8)


class Node:
    """A part of a rule."""

    binds = _ATOM

    def parts(self) -> tuple[Node, ...]:
        """The nodes directly below."""
        return ()

    def walk(self) -> Iterator[Node]:
        """The node and all below."""
        found = [self]
        while found:
            node = found.pop()
            yield node
            found.extend(reversed(node.parts()))

    def within(self, least: int) -> str:
        """The text, in parentheses where it binds less tightly."""
        return str(self) if self.binds >= least else f"({self})"


@dataclass(frozen=True)
class Number(Node):
    """A number as it is written."""

    value: float

    def __str__(self) -> str:
        whole = self.value.is_integer() and abs(self.value) < 1e15
        return str(int(self.value)) if whole else repr(self.value)


@dataclass(frozen=True)
class Text(Node):
    """A text in quotes."""

    value: str

    def __str__(self) -> str:
        return "'" + self.value.replace("'", "''") + "'"


@dataclass(frozen=True)
class Truth(Node):
    """True or false."""

    value: bool

    def __str__(self) -> str:
        return "true" if self.value else "false"


@dataclass(frozen=True)
class Column(Node):
    """A column, or a named constant."""

    name: str

    def __str__(self) -> str:
        # The parser takes a word of the language also where a dot follows it.
        plain = _NAME.fullmatch(self.name) and not _WORD.fullmatch(self.name.split(".")[0])
        return self.name if plain else "`" + self.name.replace("`", "``") + "`"


@dataclass(frozen=True)
class Minus(Node):
    """A number with its sign turned."""

    part: Node
    binds = _SIGN

    def parts(self) -> tuple[Node, ...]:
        return (self.part,)

    def __str__(self) -> str:
        return f"-{self.part.within(_SIGN)}"


@dataclass(frozen=True)
class Filled(Node):
    """A number, or another one where it is missing."""

    part: Node
    value: Node

    def parts(self) -> tuple[Node, ...]:
        return (self.part, self.value)

    def __str__(self) -> str:
        return f"coalesce({self.part}, {self.value})"


@dataclass(frozen=True)
class FunctionCall(Node):
    """A function of the language; missing where an argument is."""

    name: str
    arguments: tuple[Node, ...]

    def parts(self) -> tuple[Node, ...]:
        return self.arguments

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True)
class Arithmetic(Node):
    """Two numbers added, subtracted, multiplied or divided; what is divided by 0 is missing."""

    op: str
    left: Node
    right: Node

    @property
    def binds(self) -> int:  # type: ignore[override]
        return _SUM if self.op in "+-" else _PRODUCT

    def parts(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    def __str__(self) -> str:
        # From the left: a - b - c is (a - b) - c.
        return f"{self.left.within(self.binds)} {self.op} {self.right.within(self.binds + 1)}"


@dataclass(frozen=True)
class Compare(Node):
    """Two values compared; with a missing one it is unknown."""

    op: str
    left: Node
    right: Node
    binds = _COMPARED

    def parts(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    def __str__(self) -> str:
        return f"{self.left.within(_SUM)} {self.op} {self.right.within(_SUM)}"


@dataclass(frozen=True)
class IsIn(Node):
    """Whether a value is one of a list, which can be empty only where it was given by name."""

    part: Node
    values: tuple[Number | Text, ...]
    negated: bool = False
    binds = _COMPARED

    def parts(self) -> tuple[Node, ...]:
        return (self.part, *self.values)

    def __str__(self) -> str:
        word = "not in" if self.negated else "in"
        return f"{self.part.within(_SUM)} {word} ({', '.join(map(str, self.values))})"


@dataclass(frozen=True)
class InList(Node):
    """Whether a value is in a list that is given by its name beside the rule."""

    part: Node
    name: str
    negated: bool = False
    binds = _COMPARED

    def parts(self) -> tuple[Node, ...]:
        return (self.part,)

    def __str__(self) -> str:
        word = "not in" if self.negated else "in"
        return f"{self.part.within(_SUM)} {word} list({Text(self.name)})"


@dataclass(frozen=True)
class IsMissing(Node):
    """Whether a value is missing; this is never unknown."""

    part: Node
    negated: bool = False
    binds = _COMPARED

    def parts(self) -> tuple[Node, ...]:
        return (self.part,)

    def __str__(self) -> str:
        return f"{self.part.within(_SUM)} is {'not ' if self.negated else ''}missing"


@dataclass(frozen=True)
class Not(Node):
    """The opposite; of the unknown it is unknown."""

    part: Node
    binds = _NOT

    def parts(self) -> tuple[Node, ...]:
        return (self.part,)

    def __str__(self) -> str:
        return f"not {self.part.within(_NOT)}"


@dataclass(frozen=True)
class And(Node):
    """All of them."""

    items: tuple[Node, ...]
    binds = _AND

    def parts(self) -> tuple[Node, ...]:
        return self.items

    def __str__(self) -> str:
        return " and ".join(item.within(_NOT) for item in self.items)


@dataclass(frozen=True)
class Or(Node):
    """At least one of them."""

    items: tuple[Node, ...]
    binds = _OR

    def parts(self) -> tuple[Node, ...]:
        return self.items

    def __str__(self) -> str:
        return " or ".join(item.within(_AND) for item in self.items)
