import sqlite3

import duckdb
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from trees.naive import random_rows
from trees.test_paths import by_hand, cases, corners, grown, small, tree_of
from trees.test_text import banded, banded_cases, edges, plain, small_with_bands

from rarefind.rules.sql_columns import SqlColumns
from rarefind.rules.sql_words import DIALECTS, _as_division
from rarefind.trees import MetaAPClassifier
from rarefind.trees._borders import band_widths
from rarefind.trees._prune import Pruning
from rarefind.trees._ranker import Ranker
from rarefind.trees._sql import _Writer, to_sql

STRANGE = ['a"b" ; DROP TABLE "rows"; --', "rarefind_node", "rarefind_MEAN_", "größe `x` 'y' [z]\n"]
ROWS = 'my "rows"'
TYPES = {"sqlite": "real", "duckdb": "double"}


def quote(name):
    return '"' + name.replace('"', '""') + '"'


def run(connection, sql, X, names, table=ROWS):
    """Put the rows into a table, with a number each, and run the query on it."""
    columns = ", ".join(f"{quote(name)} DOUBLE" for name in names)
    connection.execute(f"CREATE TABLE {quote(table)} (number INTEGER, {columns})")
    marks = ", ".join("?" * (len(names) + 1))
    rows = [
        [i, *(None if np.isnan(x) else float(x) for x in row)] for i, row in enumerate(X.tolist())
    ]
    connection.executemany(f"INSERT INTO {quote(table)} VALUES ({marks})", rows)
    cursor = connection.execute(sql)
    assert [column[0] for column in cursor.description] == ["number", *names, "priority"]
    found = sorted(cursor.fetchall())
    assert [list(row[:-1]) for row in found] == rows
    return [row[-1] for row in found]


def connect(dialect):
    return sqlite3.connect(":memory:") if dialect == "sqlite" else duckdb.connect()


def check(dialect, ranker, X, names=STRANGE, table=ROWS):
    names = names[: X.shape[1]]
    sql = to_sql(ranker, names, dialect, table)
    found = run(connect(dialect), sql, X, names, table)
    np.testing.assert_array_equal(np.array(found, dtype=float), ranker.priority(X))


def without_bands(case):
    tree, score, X = tree_of(case)
    return plain(tree, score), X


@settings(max_examples=60)
@given(cases)
def test_sqlite_gives_the_same_scores(case):
    check("sqlite", *without_bands(case))


@settings(max_examples=40)
@given(cases)
def test_duckdb_gives_the_same_scores(case):
    check("duckdb", *without_bands(case))


@settings(max_examples=10)
@given(cases)
def test_duckdb_runs_the_standard_form_too(case):
    check("ansi", *without_bands(case))


@settings(max_examples=60)
@given(banded_cases)
def test_sqlite_moves_rows_within_leaves_to_the_last_bit(case):
    check("sqlite", *banded(case))


@settings(max_examples=25)
@given(banded_cases)
def test_duckdb_moves_rows_within_leaves_to_the_last_bit(case):
    check("duckdb", *banded(case))


@settings(max_examples=10)
@given(banded_cases)
def test_duckdb_runs_the_standard_form_with_bands_too(case):
    check("ansi", *banded(case))


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
@pytest.mark.parametrize("table", ["step_1", "t", "s", "order", "rarefind_step_1"])
def test_a_deep_tree_and_tables_with_names_of_our_own(dialect, table):
    tree, score = grown(random_rows(3, 400, ["numbers", "levels", "ties"]), outer=5)
    assert tree.nodes.depth.max() == 5
    X = corners(tree, 3, 300, np.random.default_rng(0))
    check(dialect, plain(tree, score), X, ["t", "s", "step_1"], table)


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_a_very_deep_inner_tree(dialect):
    tree, score = grown(random_rows(3, 3000, ["numbers", "levels"], "ones"), 30, 2, "entropy")
    X = corners(tree, 2, 300, np.random.default_rng(0))
    check(dialect, plain(tree, score), X)


def large(n, inner, outer, smoothing=1.0):
    """A ranker with bands grown as far as it goes."""
    rows = random_rows(3, n, ["numbers", "levels", "numbers"], "ones")
    tree, _ = grown(rows, inner, outer, "entropy")
    width = band_widths(tree, rows.X, rows.weight)
    return Ranker.of(tree, Pruning(outer, smoothing), "precision", width)


@pytest.mark.parametrize(
    ("dialect", "n", "inner", "outer"),
    [
        ("sqlite", 3000, 30, 2),
        ("sqlite", 1500, 4, 40),
        ("duckdb", 600, 30, 2),
        ("duckdb", 300, 2, 40),
    ],
)
def test_large_trees_with_bands(dialect, n, inner, outer):
    ranker = large(n, inner, outer)
    check(dialect, ranker, edges(ranker, 3, 300, np.random.default_rng(0)))


def chain(n):
    """A tree of one condition at each of ``n`` outer levels, with bands."""
    sums = (9, 9, 1)
    conditions = [(0, i + 0.5, i % 2 == 0, -1, -2 - 2 * i, -3 - 2 * i, sums) for i in range(n)]
    nodes = [(0, 1, 2, -1, 0, sums)]
    for i in range(n):
        nodes.append((-1, -1, -1, 2 * i, i + 1, sums))
        below = (i + 1, 2 * i + 3, 2 * i + 4) if i + 1 < n else (-1, -1, -1)
        nodes.append((*below, 2 * i, i + 1, sums))
    score = np.random.default_rng(0).random(2 * n + 1)
    return Ranker(by_hand(conditions, nodes), score, np.full(n, n / 3))


@pytest.mark.parametrize(("dialect", "n"), [("sqlite", 100), ("duckdb", 30)])
def test_many_outer_levels_with_bands(dialect, n):
    check(dialect, chain(n), np.linspace(-3, n + 3, 200)[:, None])


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
@pytest.mark.parametrize("width", [5e-324, 1e-310, 1e-16, 1e17, 1e300])
def test_bands_of_any_width(dialect, width):
    ranker = small_with_bands()._replace(width=np.array([width, 0.25, 0.0]))
    alm = [-1.7e308, -1e17, 0.0, 0.3, np.nextafter(0.3, 1), 0.45, 1e17, 1.7e308, np.nan]
    X = np.array([[x, 0.0, color] for x in alm for color in (1.0, 3.0, 9.0, np.nan)])
    check(dialect, ranker, X)


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
@pytest.mark.parametrize(
    "score",
    [(0.5, 1.0, 0.0), (0.5, 0.0, 1.0), (0.5, 0.3, 0.3), (0.5, 1e-305, 0.0), (0.5, 1.0, 1.0)],
)
def test_scores_at_the_ends_and_equal_ones(dialect, score):
    ranker = small_with_bands()._replace(score=np.array(score))
    check(dialect, ranker, edges(ranker, 3, 200, np.random.default_rng(0)))


def test_a_tree_too_large_for_a_database_is_refused(monkeypatch):
    monkeypatch.setattr("rarefind.trees._sql._MOST_COLUMNS", 20)
    ranker = chain(21)
    with pytest.raises(ValueError, match='20 columns: fit with ties="leaf", or prune the tree'):
        to_sql(ranker, ["a"], "sqlite")
    assert to_sql(ranker, ["a"], "duckdb")


def test_bands_of_no_width_change_nothing():
    ranker, names = small_with_bands(), ["alm", "mcg", "color"]
    for dialect in DIALECTS:
        without = to_sql(ranker._replace(width=np.empty(0)), names, dialect)
        assert to_sql(ranker._replace(width=np.zeros(3)), names, dialect) == without


@pytest.mark.parametrize("ties", ["border", "leaf"])
def test_a_fitted_model_gives_the_same_priorities_in_a_database(ties):
    rows = random_rows(2, 300, ["numbers", "ties"])
    model = MetaAPClassifier(ties=ties, random_state=0).fit(rows.X, rows.positive)
    sql = model.to_sql("sqlite", ROWS)
    found = run(connect("sqlite"), sql, rows.X, ["x0", "x1"])
    np.testing.assert_array_equal(found, model.priority(rows.X))


doubles = st.floats(allow_nan=False, allow_infinity=False)


LITTLE = [5e-324, 2.2e-308, 0.1, 1 / 3, 0.1 + 0.2, 1e-5 / 3, 7 / 7e5, -0.1]
GREAT = [1.7976931348623157e308, 2**53 + 2.0, 1e15, 1e22, 1e23, -1e300]


@settings(max_examples=40)
@given(st.lists(st.one_of(doubles, st.floats(0, 1)), min_size=20, max_size=20))
@example(LITTLE + GREAT)
@example(np.random.default_rng(0).random(500).tolist())
@example((np.arange(500) / 7e4).tolist())
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_numbers_are_read_as_the_same_doubles(dialect, values):
    write = _Writer(small(), SqlColumns(dialect, ["a", "b", "c"]))
    listed = ", ".join(f"typeof({x}), {x}" for x in map(write.literal, values))
    found = connect(dialect).execute(f"SELECT {listed}").fetchone()
    assert {str(kind).lower() for kind in found[::2]} == {TYPES[dialect]}
    assert list(found[1::2]) == values


@given(doubles)
def test_a_division_by_powers_of_two_is_exact(value):
    found = sqlite3.connect(":memory:").execute(f"SELECT {_as_division(value)}").fetchone()[0]
    assert found == value


def test_short_numbers_stay_readable():
    sql = to_sql(plain(small(), np.array([0, 0.45, 0.0125])), ["alm", "mcg", "color"], "sqlite")
    assert "t.`alm` <= 0.3\n" in sql
    assert "t.`color` NOT IN (1.0, 2.0, 4.0) OR t.`color` IS NULL" in sql
    assert "THEN 0.0125" in sql


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
@pytest.mark.parametrize("inside", [[0, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]])
@pytest.mark.parametrize("missing", [True, False])
@pytest.mark.parametrize("new", [True, False])
def test_missing_values_and_new_categories_go_their_own_ways(dialect, inside, missing, new):
    tree = small(missing, new)._replace(sets=np.array([[*inside, missing, new]]) == 1)
    color = np.array([1.0, 2.0, 3.0, 4.0, 9.0, -1.0, np.nan])
    X = np.column_stack([np.full(7, 0.2), np.zeros(7), color])
    score = np.array([0.0, 0.45, 0.0125])
    check(dialect, plain(tree, score), X)
    np.testing.assert_array_equal(tree.apply(X) == 1, np.array([*inside, new, new, missing]) == 1)


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_a_tree_without_conditions_is_a_constant(dialect):
    rows = random_rows(0, 20, ["ties"], "ones")
    tree, score = grown(rows, min_rows=20)
    check(dialect, plain(tree, score), rows.X)


def test_each_dialect_has_its_quotes_and_numbers():
    names = ['a"b', "`c`", "d"]
    sql = {d: to_sql(plain(small(), np.array([0, 0.5, 0.25])), names, d) for d in DIALECTS}
    assert 't."a""b" <= 0.3e0' in sql["ansi"]
    assert 't."a""b" <= float8 \'0.3\'' in sql["postgresql"]
    assert '`a"b` <= 0.3e0' in sql["mysql"]
    assert "AS `priority`" in sql["mysql"]
    assert "t.* EXCLUDE (rarefind_node)" in sql["duckdb"]
    assert "t.`a``b` <= " in to_sql(plain(small(), np.ones(3)), ["a`b", "c", "d"], "mysql")


def test_a_column_that_is_not_there_is_no_text():
    sql = to_sql(plain(small(), np.array([0, 0.5, 0.25])), ["alm", "mcg", "color"], "sqlite")
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE rows (alm REAL)")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        connection.execute(sql)


def test_what_cannot_be_written_is_said():
    ranker, names = plain(small(), np.ones(3)), ["alm", "mcg", "color"]
    with pytest.raises(ValueError, match="no dialect 'oracle': known are ansi, sqlite, duckdb"):
        to_sql(ranker, names, "oracle")
    with pytest.raises(ValueError, match="has a column 'MCG' already"):
        to_sql(ranker, names, output="MCG")
    with pytest.raises(ValueError, match="NUL character"):
        to_sql(ranker, ["a\0b", "mcg", "color"])
