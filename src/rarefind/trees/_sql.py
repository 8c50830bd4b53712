"""A tree of trees as one SQL query.

Several conditions lead to each outer node, so one nested CASE would repeat whole subtrees. The
query moves a place in the tree on instead, with one step for each outer level. Where thresholds
have bands, further steps follow the row's shares to all leaves, as the ranker does and in the same
order of operations, so that the scores are the same to the last bit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from sys import float_info
from typing import NamedTuple

import numpy as np

from rarefind._core.types import Floats
from rarefind.rules.branches import Test
from rarefind.rules.sql_columns import READ, SqlColumns
from rarefind.rules.sql_words import sql_name, sql_number
from rarefind.trees._paths import step
from rarefind.trees._ranker import Ranker, next_scores
from rarefind.trees._text import sides
from rarefind.trees.graph import MetaTree

_INDENT = "  "
# SQLite reads expressions about twice as deep, and not much deeper.
_DEEPEST = 8
# Conditions whose shares are columns at the same time, if one inner tree has not more.
_TOGETHER = 500
# PostgreSQL takes 1664 columns, SQLite 2000.
_MOST_COLUMNS = 1600
# SQLite reads sums of up to 1000 terms.
_MOST_TERMS = 500
_HELPER = r"rarefind_(read|node|mean|own|low|high|up|down|(holds|share|mass)_\d+)"


def to_sql(
    ranker: Ranker,
    names: list[str],
    dialect: str = "ansi",
    table: str = "rows",
    output: str = "priority",
) -> str:
    """Write a query that gives all columns of a table and the score of each row.

    Parameters
    ----------
    ranker : Ranker
        The tree, its scores, and its bands if it has any.
    names : list of str
        The columns of the table that are the features. They hold numbers; a missing value is NULL.
    dialect : {"ansi", "sqlite", "duckdb", "postgresql", "mysql"}, default="ansi"
        Whose SQL. MySQL is asked for version 8.0.14 or later.
    table : str, default="rows"
        The table or view with the rows.
    output : str, default="priority"
        The column of the scores.

    Returns
    -------
    str
        A SELECT without a semicolon, so that it can be a view or part of another query. Its
        scores are those of the model to the last bit. With bands, a tree that would need more
        columns than the database takes is refused; DuckDB takes all.
    """
    columns = SqlColumns(dialect, names)
    columns.check_output(output)
    return tree_query(ranker, columns, sql_name(table, dialect), output)


def tree_query(ranker: Ranker, columns: SqlColumns, rows: str, output: str) -> str:
    """The same for features that are read from the columns of a table, whose name is in quotes."""
    columns = columns.only(ranker.tree.conditions.feature.tolist())
    write = _Writer(ranker.tree, columns)
    priority = write.quote(output)
    if ranker.tree.is_leaf[0]:
        return f"SELECT t.*, {write.literal(ranker.score[0])} AS {priority}\nFROM {rows} AS t"
    if (ranker.width > 0).any():
        bands = _Bands(write, ranker)
        steps, last = [*write.moves(), *bands.steps()], bands.move_within()
    else:
        steps, last = write.moves(), write.by_leaf(ranker.score, write.indent - 1)
    if columns.dialect != "duckdb":
        return _subquery_sql(steps, last, columns, rows, priority)
    if columns.read is not None:
        steps = [_QueryStep({READ + write.tail: columns.reading()}, []), *steps]
    return _stepwise_sql(steps, last, rows, priority)


class _QueryStep(NamedTuple):
    """A step of the query, from one row to one row of further columns."""

    new: dict[str, str]  # the columns that it adds, and how they are computed
    dropped: list[str]  # those of the step before that are not needed any more
    fenced: bool = False  # not to be put into the next step, where its columns are used often


def _subquery_sql(
    steps: list[_QueryStep], last: str, columns: SqlColumns, rows: str, priority: str
) -> str:
    """The steps within a subquery a row, so that their columns are none of the table's."""
    lines, kept = list[str](), list[str]()
    for number, move in enumerate(steps):
        kept = [name for name in kept if name not in move.dropped]
        if len(kept) + len(move.new) > _MOST_COLUMNS:
            raise ValueError(
                f"The tree is too large for a query with bands, which would have a step of more "
                f'than {_MOST_COLUMNS:,} columns: fit with ties="leaf", or prune the tree.'
            )
        carried = [", ".join(f"s.{name}" for name in kept)] if kept else []
        lines.append(f"  {'WITH ' if number == 0 else ''}step_{number + 1} AS (")
        # A query with DISTINCT is not put into another, and of one row it is the same.
        select = "SELECT DISTINCT" if move.fenced else "SELECT"
        lines.append(f"    {select} {_comma_list([*carried, *_as_columns(move.new)], 3)}")
        lines += [f"    FROM step_{number} AS s"] if number else []
        lines.append("  )" + ("," if number + 1 < len(steps) else ""))
        kept += move.new
    lines += [f"  SELECT {last}", f"  FROM step_{len(steps)} AS s"]
    score = "\n" + "\n".join(lines) + "\n"
    if columns.read is not None:
        score = columns.over_row(f"({score})")
    return f"SELECT t.*, ({score}) AS {priority}\nFROM {rows} AS t"


def _stepwise_sql(steps: list[_QueryStep], last: str, rows: str, priority: str) -> str:
    """The steps over the whole table; DuckDB can leave out their columns at the end."""
    # No step may have the name of the table.
    name = "rarefind_step_" if rows.casefold().startswith('"step_') else "step_"
    lines, kept = [], list[str]()
    for number, move in enumerate(steps):
        kept = [*(column for column in kept if column not in move.dropped), *move.new]
        lines.append(f"{'WITH ' if number == 0 else ''}{name}{number + 1} AS (")
        lines.append(f"  SELECT {_comma_list([_all_but(move.dropped), *_as_columns(move.new)], 2)}")
        lines.append(f"  FROM {f'{name}{number}' if number else rows} AS t")
        lines.append(")" + ("," if number + 1 < len(steps) else ""))
    lines.append(f"SELECT {_all_but(kept)}, {last} AS {priority}")
    return "\n".join([*lines, f"FROM {name}{len(steps)} AS t"])


def _as_columns(columns: dict[str, str]) -> list[str]:
    return [f"{text} AS {name}" for name, text in columns.items()]


def _all_but(dropped: list[str]) -> str:
    return f"t.* EXCLUDE ({', '.join(dropped)})" if dropped else "t.*"


def _comma_list(columns: list[str], indent: int) -> str:
    """Columns of a SELECT: two at most in a line, more in a line each."""
    return (", " if len(columns) <= 2 else ",\n" + _INDENT * indent).join(columns)


class _Writer:
    """Writes the parts of a query for one tree in one dialect."""

    def __init__(self, tree: MetaTree, features: SqlColumns) -> None:
        self.tree = tree
        self.features = features
        self.dialect = dialect = features.dialect
        # The step before; DuckDB's has the columns of the table too.
        self.source, self.indent = ("t", 1) if dialect == "duckdb" else ("s", 2)
        names = [*features.names, *features.taken]
        self.tail = ""
        while any(re.fullmatch(_HELPER + self.tail, name.casefold()) for name in names):
            self.tail += "_"
        self.columns = [features.reference(j, self.tail) for j in range(len(features.names))]
        self.node = self.helper("node")

    def helper(self, name: str, number: int | None = None) -> str:
        """The name of a column of the query's own."""
        return f"rarefind_{name}{'' if number is None else f'_{number}'}{self.tail}"

    def moves(self) -> list[_QueryStep]:
        """How each step gets the place of a row from its place in the step before.

        A place is the number of an outer node or, within a deep inner tree, that of a condition
        counted on from them.
        """
        steps: list[_QueryStep] = []
        places, indent = [0], self.indent
        while any(self.root(place) >= 0 for place in places):
            reached: set[int] = set()
            moves = []
            for place in places:
                move = self.inner(self.root(place), place, indent + 2, _DEEPEST, reached)
                room = _room(move, "\n" + _INDENT * (indent + 2))
                moves.append(f"WHEN {place} THEN{room}{move}")
            if len(places) > 1:
                text = self.case(f"{self.source}.{self.node}", moves, indent)
            else:
                text = self.inner(self.root(0), 0, indent, _DEEPEST, reached)
            steps.append(_QueryStep({self.node: text}, [self.node] if steps else []))
            places = sorted(reached)
        return steps

    def root(self, place: int) -> int:
        """The condition to ask at a place, -1 at a leaf."""
        nodes = self.tree.nodes.root
        return int(nodes[place]) if place < nodes.size else place - nodes.size

    def by_leaf(self, value: Floats, indent: int) -> str:
        """From the number of a leaf to a value of it."""
        leaves = np.flatnonzero(self.tree.is_leaf)
        cases = [f"WHEN {leaf} THEN {self.literal(value[leaf])}" for leaf in leaves]
        return self.case(f"{self.source}.{self.node}", cases, indent)

    def case(self, what: str, cases: list[str], indent: int) -> str:
        """A CASE with a line for each of its cases."""
        pad = "\n" + _INDENT * indent
        return f"CASE {what}" + "".join(f"{pad}{_INDENT}{case}" for case in cases) + f"{pad}END"

    def inner(self, number: int, place: int, indent: int, depth: int, reached: set[int]) -> str:
        """An inner tree from a condition on, down to outer nodes; the places that it leads to."""
        if number < 0 or depth == 0:
            reached.add(place)
            return str(place)
        pad = "\n" + _INDENT * (indent + 1)
        sides = []
        for holds in (True, False):
            to = step(self.tree, number, holds)
            place = -1 - to if to < 0 else self.tree.nodes.root.size + to
            text = self.inner(to, place, indent + 2, depth - 1, reached)
            sides.append(_room(text, pad + _INDENT) + text)
        end = "\n" + _INDENT * indent + "END"
        yes, no = sides
        return f"CASE{pad}WHEN {self.condition(number)}{pad}THEN{yes}{pad}ELSE{no}{end}"

    def condition(self, number: int) -> str:
        """A condition; what is neither true nor false there, of NULL, goes as if false."""
        c = self.tree.conditions
        column, missing = self.columns[c.feature[number]], bool(c.missing_left[number])
        or_null = f" OR {column} IS NULL" if missing else ""
        if c.set_number[number] >= 0:
            inside, outside, new = sides(self.tree, number)
            if c.feature[number] in self.features.levels:
                levels = frozenset(outside if new else inside)
                test = Test(levels=levels, negated=new, missing=missing)
                node = self.features.node(int(c.feature[number]), test, [])
                return self.features.condition(node, self.tail)
            listed = ", ".join(map(self.literal, outside if new else inside))
            if listed:
                return f"{column} {'NOT IN' if new else 'IN'} ({listed}){or_null}"
            if new == missing:
                return "1 = 1" if new else "1 = 0"
            return f"{column} IS {'NOT ' if new else ''}NULL"
        threshold = float(c.threshold[number])
        if threshold == np.inf:
            return "1 = 1" if missing else f"{column} IS NOT NULL"
        return f"{column} <= {self.literal(threshold)}{or_null}"

    def literal(self, value: float) -> str:
        """A number that the database reads as the same double."""
        return sql_number(value, self.dialect)

    def quote(self, name: str) -> str:
        """A name in quotes that it cannot leave."""
        return sql_name(name, self.dialect)


class _Bands:
    """Writes the steps that move a score within its leaf's place, by the bands of thresholds.

    They are those of ``rarefind.trees._borders`` and ``moved_within``, operation by operation;
    only products with a constant 0 or 1 are left out.
    """

    def __init__(self, write: _Writer, ranker: Ranker) -> None:
        self.write, self.tree, self.score = write, ranker.tree, ranker.score
        self.width = ranker.width
        self.zero, self.one = write.literal(0.0), write.literal(1.0)
        # The outer node of each condition, and how deep it is in the inner tree.
        self.owner, self.depth = np.zeros((2, self.width.size), dtype=np.intp)
        split = np.flatnonzero(~self.tree.is_leaf)
        self.owner[self.tree.nodes.root[split]] = split
        for at in range(self.width.size):  # children come after their parents
            for to in (step(self.tree, at, True), step(self.tree, at, False)):
                if to >= 0:
                    self.owner[to], self.depth[to] = self.owner[at], self.depth[at] + 1

    def steps(self) -> list[_QueryStep]:
        """From the place of a row to its leaf's score, those beside it, and how far to go."""
        steps = [*self.shares(), *self.masses(), *self.means(), *self.ways()]
        return [move._replace(fenced=True) for move in steps if move.new]

    def column(self, name: str, number: int | None = None) -> str:
        """A column of the step before."""
        return f"{self.write.source}.{self.write.helper(name, number)}"

    def shares(self) -> Iterator[_QueryStep]:
        """For each outer node, the share of its rows that goes to the first node below.

        Deep inner trees are cut; the shares of what is below a cut are columns of a step before.
        """
        helper = self.write.helper
        for batch in self.batches():
            holds = {helper("holds", at): self.holds(at) for at in batch if self.width[at] > 0}
            used = list(holds)
            yield _QueryStep(holds, [])
            for depth in range(max(self.depth[at] for at in batch), -1, -1):
                if depth % _DEEPEST == 0:
                    cut = [at for at in batch if self.depth[at] == depth]
                    new = {helper("share", at): self.share(at) for at in cut}
                    yield _QueryStep(new, [] if depth else list(used))
                    used += new

    def batches(self) -> Iterator[list[int]]:
        """All conditions, those of an outer node together, and not many more than can be."""
        batch: list[int] = []
        for node in np.flatnonzero(~self.tree.is_leaf):
            inside = np.flatnonzero(self.owner == node).tolist()
            if batch and len(batch) + len(inside) > _TOGETHER:
                yield batch
                batch = []
            batch += inside
        yield batch

    def holds(self, at: int) -> str:
        """The share to which a condition with a band holds."""
        conditions, literal = self.tree.conditions, self.write.literal
        column = self.write.columns[conditions.feature[at]]
        distance = f"{column} - {literal(conditions.threshold[at])}"
        width = literal(min(self.width[at], float_info.max))
        inside = f"{literal(0.5)} - ({distance}) / ({literal(2.0)} * {width})"
        beyond = f"WHEN {self.write.condition(at)} THEN {self.one} ELSE {self.zero}"
        return f"CASE WHEN ABS({distance}) < {width} THEN {inside} {beyond} END"

    def share(self, at: int) -> str:
        """The share of the rows at a condition that goes to the first outer node."""
        yes, no = (self.share_after(at, holds) for holds in (True, False))
        if not self.width[at] > 0:
            return f"CASE WHEN {self.write.condition(at)} THEN {yes} ELSE {no} END"
        holds = self.column("holds", at)
        parts = self.part(holds, yes) + self.part(f"({self.one} - {holds})", no)
        return " + ".join(parts) or self.zero

    def share_after(self, at: int, holds: bool) -> str:
        to = step(self.tree, at, holds)
        if to < 0:
            is_first = -1 - to == self.tree.nodes.first[self.owner[at]]
            return self.one if is_first else self.zero
        return self.column("share", to) if self.depth[to] % _DEEPEST == 0 else f"({self.share(to)})"

    def part(self, holds: str, share: str) -> list[str]:
        if share == self.zero:
            return []
        return [holds if share == self.one else f"{holds} * {share}"]

    def masses(self) -> Iterator[_QueryStep]:
        """The share of the row that reaches each outer node, a level at a step."""
        nodes, helper = self.tree.nodes, self.write.helper
        for depth in range(nodes.depth.max()):
            new, used = dict[str, str](), list[str]()
            for node in np.flatnonzero((nodes.depth == depth) & (nodes.root >= 0)).tolist():
                share = self.column("share", nodes.root[node])
                mass = f"{self.column('mass', node)} * " if depth else ""
                new[helper("mass", nodes.first[node])] = f"{mass}{share}"
                new[helper("mass", nodes.second[node])] = f"{mass}({self.one} - {share})"
                used += [helper("share", nodes.root[node])]
                used += [helper("mass", node)] if depth else []
            yield _QueryStep(new, used)

    def means(self) -> Iterator[_QueryStep]:
        """The mean score of all leaves by these shares, added up in the order of their numbers."""
        leaves, mean = np.flatnonzero(self.tree.is_leaf).tolist(), self.write.helper("mean")
        for start in range(0, len(leaves), _MOST_TERMS):
            some = leaves[start : start + _MOST_TERMS]
            terms = [self.column("mean")] if start else []
            terms += [
                f"{self.column('mass', leaf)} * {self.write.literal(self.score[leaf])}"
                for leaf in some
            ]
            used = [mean] if start else []
            used += [self.write.helper("mass", leaf) for leaf in some]
            yield _QueryStep({mean: " + ".join(terms)}, used)

    def ways(self) -> Iterator[_QueryStep]:
        """The score of the row's leaf and those beside it, and how far to go towards them."""
        helper, write = self.write.helper, self.write
        low, high = next_scores(self.score, self.tree.is_leaf)
        beside = {"own": self.score, "low": low, "high": high}
        new = {helper(name): write.by_leaf(of, write.indent + 1) for name, of in beside.items()}
        yield _QueryStep(new, [write.node])
        own, mean = self.column("own"), self.column("mean")
        up = self.way(mean, own, f"{self.one} - {own}")
        down = self.way(own, mean, own)
        yield _QueryStep({helper("up"): up, helper("down"): down}, [helper("mean")])

    def way(self, high: str, low: str, most: str) -> str:
        least = self.write.literal(1e-300)
        room = f"CASE WHEN {most} > {least} THEN {most} ELSE {least} END"
        return f"CASE WHEN {high} > {low} THEN ({high} - {low}) / {room} ELSE {self.zero} END"

    def move_within(self) -> str:
        """The score, less than half the way to the next leaf's."""
        own = self.column("own")
        up, down = (
            f"CASE WHEN {way} < {self.one} THEN {way} ELSE {self.one} END"
            for way in (self.column("up"), self.column("down"))
        )
        above, below = f"({self.column('high')} - {own})", f"({own} - {self.column('low')})"
        return f"{own} + {self.write.literal(0.49)} * ({up} * {above} - {down} * {below})"


def _room(text: str, pad: str) -> str:
    """A new line before a CASE, a space before a number."""
    return pad if text.startswith("CASE") else " "
