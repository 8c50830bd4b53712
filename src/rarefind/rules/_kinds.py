"""What the columns of a rule contain (numbers, texts, truths or times), known before it is run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from rarefind.rules._functions import check_functions, function_of
from rarefind.rules._parse import RuleError
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

NUMBER, TEXT, TRUTH, TIME = "number", "text", "truth", "time"
KINDS = (NUMBER, TEXT, TRUTH, TIME)


#: Named lists as rules have them.
Lists = dict[str, tuple[Number | Text, ...]]


def with_constants(
    tree: Node, constants: Mapping[str, Any], lists: Mapping[str, Iterable[Any]]
) -> tuple[Node, Lists]:
    """The tree with values in the place of named constants and lists, and the lists it names."""
    check_functions(tree)
    named = {node.name for node in tree.walk() if isinstance(node, InList)}
    for name in sorted(named - lists.keys()):
        near = get_close_matches(name, lists, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "give it as one of lists."
        raise RuleError(f"There is no list {name!r}: {hint}")
    values = {name: _literal(name, value) for name, value in constants.items()}
    used = {name: _list(name, lists[name]) for name in sorted(named)}
    return _replace_constants(tree, values, used), used


def check_constants(constants: Mapping[str, Any]) -> None:
    """Raise on a constant that no rule could use."""
    for name, value in constants.items():
        _literal(name, value)


def kinds_of(tree: Node, columns: Mapping[str, str] | None) -> dict[str, str | None]:
    """The columns of a rule, in order, with what they contain; None where anything would do.

    ``columns`` names what the columns of the table contain. Without it, that is inferred from how
    a column is used, which must be the same everywhere.
    """
    if columns is not None:
        _check_known(tree, columns)
    found = _Kinds(columns)
    found.ask(tree, TRUTH)
    found.spread()
    return found.kinds


def _check_known(tree: Node, columns: Mapping[str, str]) -> None:
    for kind in columns.values():
        if kind not in KINDS:
            raise RuleError(f"{kind!r} is not a kind of column: known are {', '.join(KINDS)}.")
    for node in tree.walk():
        if isinstance(node, Column) and node.name not in columns:
            near = get_close_matches(node.name, columns, n=1)
            hint = f": did you mean {near[0]!r}?" if near else "."
            raise RuleError(f"There is no column {node.name!r}{hint}")


class _Kinds:
    """The kinds of the columns seen so far, and the pairs that must be of one kind."""

    def __init__(self, columns: Mapping[str, str] | None) -> None:
        self.columns = columns
        self.kinds: dict[str, str | None] = {}
        self.pairs: list[tuple[str, str]] = []

    def ask(self, node: Node, wanted: str | None) -> str | None:
        """The kind of a node, of which ``wanted`` is asked; None where it is not known yet."""
        kind: str | None
        if isinstance(node, Column):
            return self._settle(node.name, wanted)
        if isinstance(node, Number | Minus | Arithmetic | Filled):
            kind = NUMBER
            for part in node.parts():
                self.ask(part, NUMBER)
        elif isinstance(node, Text):
            kind = TEXT
        elif isinstance(node, FunctionCall):
            function = function_of(node)
            kind = function.gives
            for part, taken in zip(node.arguments, function.takes, strict=True):
                self.ask(part, taken)
        elif isinstance(node, Truth | IsMissing):
            kind = TRUTH
            for part in node.parts():
                self.ask(part, None)
        elif isinstance(node, And | Or | Not):
            kind = TRUTH
            for part in node.parts():
                self.ask(part, TRUTH)
        else:
            kind = TRUTH
            self._ask_both_sides(node)
        if wanted is not None and kind != wanted:
            raise RuleError(f"A {wanted} is needed where the rule has {str(node)!r}, a {kind}.")
        return kind

    def _ask_both_sides(self, node: Node) -> None:
        if isinstance(node, Compare) and node.op not in ("=", "!="):
            for part in node.parts():
                self.ask(part, NUMBER)
            return
        first, *others = node.parts()
        if not others:  # in an empty list
            self.ask(first, None)
            return
        if isinstance(node, IsIn) and len({type(value) for value in node.values}) > 1:
            raise RuleError(f"The list in {str(node)!r} mixes numbers and texts.")
        # What one side is, the other must be; literals are never asked first.
        kind = self.ask(others[0], self.ask(first, None))
        self.ask(first, kind)
        if kind is None and isinstance(first, Column) and isinstance(others[0], Column):
            self.pairs.append((first.name, others[0].name))

    def _settle(self, name: str, wanted: str | None) -> str | None:
        known = self.kinds.get(name)
        if self.columns is not None:
            known = self.columns[name]
        if known is not None and wanted is not None and known != wanted:
            raise RuleError(f"The column {name!r} holds a {known}, and a {wanted} is needed.")
        self.kinds[name] = known or wanted
        return self.kinds[name]

    def spread(self) -> None:
        """What one of a pair turned out to be, the other is."""
        for _ in self.pairs:
            for pair in self.pairs:
                for one, other in (pair, pair[::-1]):
                    self._settle(one, self.kinds[other])


def _literal(name: str, value: Any) -> Node:
    if isinstance(value, bool):
        return Truth(value)
    if isinstance(value, int | float) and abs(value) <= 1e50:
        return Number(float(value)) if value >= 0 else Minus(Number(-float(value)))
    if isinstance(value, str):
        return Text(value)
    raise RuleError(
        f"The constant {name!r} is {value!r:.40}, which is not a number, a text, true or false."
    )


def _list(name: str, given: Iterable[Any]) -> tuple[Number | Text, ...]:
    """The values of a list, each once; those of a set in order."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise RuleError(f"The list {name!r} is {given!r:.40}: give numbers or texts, in a tuple.")
    values: list[Number | Text] = []
    for value in dict.fromkeys(given):
        if isinstance(value, str):
            values.append(Text(value))
        elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1e50:
            values.append(Number(float(value)))
        else:
            raise RuleError(f"The list {name!r} has {value!r:.40}, no number and no text.")
    if len({type(value) for value in values}) > 1:
        raise RuleError(f"The list {name!r} mixes numbers and texts.")
    if isinstance(given, set | frozenset):
        values.sort(key=lambda node: node.value)
    return tuple(values)


def _replace_constants(node: Node, values: dict[str, Node], lists: Lists) -> Node:
    def inner(part: Node) -> Node:
        return _replace_constants(part, values, lists)

    if isinstance(node, Column):
        return values.get(node.name, node)
    if isinstance(node, And | Or):
        return type(node)(tuple(inner(part) for part in node.items))
    if isinstance(node, Compare | Arithmetic):
        return type(node)(node.op, inner(node.left), inner(node.right))
    if isinstance(node, Filled):
        return Filled(inner(node.part), inner(node.value))
    if isinstance(node, FunctionCall):
        return FunctionCall(node.name, tuple(inner(part) for part in node.arguments))
    if isinstance(node, InList):
        return IsIn(inner(node.part), lists[node.name], node.negated)
    if isinstance(node, IsIn):
        return IsIn(inner(node.part), node.values, node.negated)
    if isinstance(node, IsMissing):
        return IsMissing(inner(node.part), node.negated)
    if isinstance(node, Not | Minus):
        return type(node)(inner(node.part))
    return node
