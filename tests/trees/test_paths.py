import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees.naive import ALL, random_rows

from rarefind.trees._columns import read_columns
from rarefind.trees._meta import Plan, grow_meta_tree
from rarefind.trees._paths import (
    LeafRule,
    all_paths,
    explain_path,
    leaf_ranks,
    merge_conditions,
    path_leaf,
    path_weights,
    row_path,
    to_conditions,
)
from rarefind.trees.graph import MetaTree, OuterNodes, TreeConditions

NAMES = ["alm", "mcg", "color", "d"]


def grown(rows, inner=3, outer=3, criterion="max-ap", splitter="exact", min_rows=1, seed=0):
    """A tree of trees on these rows, and a different score for each of its nodes."""
    columns = read_columns(rows.X, rows.positive, rows.is_set, splitter, 8)
    plan = Plan(
        inner, outer, criterion, "precision", "average_precision", min_rows, rows.X.shape[1]
    )
    tree = grow_meta_tree(columns, rows.positive, rows.weight, plan, seed)
    return tree, np.random.default_rng(seed).random(tree.nodes.root.size)


cases = st.fixed_dictionaries(
    {
        "kinds": st.lists(st.sampled_from(["numbers", "ties", "levels"]), min_size=1, max_size=4),
        "n": st.integers(2, 80),
        "seed": st.integers(0, 10**6),
        "inner": st.integers(1, 3),
        "outer": st.integers(1, 3),
        "criterion": st.sampled_from(ALL),
        "splitter": st.sampled_from(["exact", "bins"]),
        "min_rows": st.integers(1, 3),
    }
)


def tree_of(case):
    """A random tree, scores of its nodes, and rows that meet all corners of its conditions."""
    plan = dict(case)
    kinds, n, seed = plan.pop("kinds"), plan.pop("n"), case["seed"]
    tree, score = grown(random_rows(seed, n, kinds), **plan)
    return tree, score, corners(tree, len(kinds), 60, np.random.default_rng(seed))


def corners(tree, d, n, rng):
    """Rows on and beside thresholds, of known and of new levels, with has_missing."""
    X = rng.normal(size=(n, d))
    for j in range(d):
        values = tree.conditions.threshold[tree.conditions.feature == j]
        values = values[np.isfinite(values)]
        if j in tree.levels:
            values = np.append(tree.levels[j], 1234.5)
        values = np.concatenate([values, np.nextafter(values, np.inf), [np.nan]])
        chosen = rng.random(n) < 0.8
        X[chosen, j] = rng.choice(values, chosen.sum())
    return X


def by_hand(conditions, nodes, sets=((False,),), levels=None):
    """A tree from (feature, threshold, missing_left, set, left, right, sums) and node sums."""
    *columns, sums = zip(*conditions, strict=True)
    kinds = (np.int32, float, bool, np.int32, np.int32, np.int32)
    columns = [np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    *outer, outer_sums = zip(*nodes, strict=True)
    outer = [np.array(column, np.int32) for column in outer]
    return MetaTree(
        TreeConditions(*columns, np.array(sums, float)),
        OuterNodes(*outer, np.array(outer_sums, float)),
        np.array(sets),
        levels or {},
    )


def small(missing=True, new=True):
    """Rows with alm over 0.3 and at most 0.5, or of color 3, are ahead; a missing alm is not.

    A missing color is, and so is a new color if asked for.
    """
    conditions = [
        (0, 0.3, False, -1, 2, 1, (100, 100, 10)),
        (0, 0.5, False, -1, -2, -3, (40, 40, 8)),
        (2, np.nan, missing, 0, -2, -3, (60, 60, 2)),
    ]
    nodes = [
        (0, 1, 2, -1, 0, (100, 100, 10)),
        (-1, -1, -1, 0, 1, (20, 20, 9)),
        (-1, -1, -1, 0, 1, (80, 80, 1)),
    ]
    sets = [[False, False, True, False, missing, new]]
    return by_hand(conditions, nodes, sets, {2: np.arange(1.0, 5)})


def holds(condition, value, levels):
    """Whether a merged condition holds, by what its op and value are said to mean."""
    op, *others = condition.op.split(" or ")
    said, missing = condition.value, np.isnan(value)
    new = levels is not None and value not in levels and not missing
    if (missing and "missing" in others) or (new and "new" in others):
        return True
    if op == "=":
        return {"missing": missing, "present": not missing, "new": new}[said]
    if missing:
        return False
    if op == "between":
        return said[0] < value <= said[1]
    return {
        "<=": lambda: value <= said,
        ">": lambda: value > said,
        "in": lambda: value in said,
        "not in": lambda: value not in said,
    }[op]()


def followed(rules, row, tree):
    """The rules of which all conditions hold for a row."""

    def all_hold(rule):
        where = [NAMES.index(c.feature) for c in rule.conditions]
        said = zip(rule.conditions, where, strict=True)
        return all(holds(c, row[j], tree.levels.get(j)) for c, j in said)

    return [rule for rule in rules if all_hold(rule)]


def test_leaves_are_numbered_by_falling_score():
    tree = small()
    assert leaf_ranks(tree, np.array([0.5, 0.1, 0.9])).tolist() == [0, 2, 1]
    assert leaf_ranks(tree, np.array([0.5, 0.1, 0.1])).tolist() == [0, 1, 2]


@settings(max_examples=60)
@given(cases)
def test_every_row_satisfies_exactly_the_rule_of_its_leaf(case):
    tree, score, X = tree_of(case)
    names = NAMES[: X.shape[1]]
    rules = to_conditions(tree, score, names)
    assert [r.leaf for r in rules] == sorted(r.leaf for r in rules)
    for row, leaf in zip(X, tree.apply(X), strict=True):
        found = followed(rules, row, tree)
        assert [(r.score, r.leaf) for r in found] == [(score[leaf], leaf_ranks(tree, score)[leaf])]


@settings(max_examples=60)
@given(cases)
def test_the_reasons_of_a_row_hold_for_it_and_their_shares_add_up(case):
    tree, _, X = tree_of(case)
    names = NAMES[: X.shape[1]]
    for raw, row, leaf in zip(X[:20], tree.encode(X)[:20], tree.apply(X), strict=False):
        path = row_path(tree, row)
        assert path_leaf(tree, path) == leaf
        found = explain_path(tree, row, raw, names)
        assert len({c.feature for c in found}) == len(found)
        assert [c.weight for c in found] == sorted((c.weight for c in found), reverse=True)
        if path:
            assert sum(c.weight for c in found) == pytest.approx(1)
        for c in found:
            value, levels = raw[names.index(c.feature)], tree.levels.get(names.index(c.feature))
            if levels is not None and value not in levels and not np.isnan(value):
                assert (c.op, c.value) == ("=", value)
                continue
            assert holds(c, value, levels)
            assert ("missing" in str(c)) == np.isnan(value)
            assert "new" not in str(c)


@given(cases)
@settings(max_examples=30)
def test_without_missing_values_no_rule_speaks_of_them(case):
    tree, score, X = tree_of(case)
    has_missing = np.zeros(X.shape[1], dtype=bool)
    rules = to_conditions(tree, score, NAMES, has_missing=has_missing)
    text = "\n".join(map(str, rules))
    assert "missing" not in text
    assert "present" not in text
    X = X[~np.isnan(X).any(axis=1)]
    for row, leaf in zip(X, tree.apply(X), strict=True):
        assert [rule.score for rule in followed(rules, row, tree)] == [score[leaf]]


def test_the_words_of_conditions():
    tree = small()
    score = np.array([0.1, 0.45, 0.0125])
    assert [str(rule) for rule in to_conditions(tree, score, NAMES)] == [
        "leaf 1 (score 0.45): alm <= 0.3 and (color = 3 or missing or new)",
        "leaf 1 (score 0.45): 0.3 < alm <= 0.5",
        "leaf 2 (score 0.0125): alm <= 0.3 and color in {1, 2, 4}",
        "leaf 2 (score 0.0125): (alm > 0.5 or missing)",
    ]
    rows = np.array([[0.4, 0, 3], [0.2, 0, 3], [0.2, 0, 9], [0.2, 0, np.nan], [np.nan, 0, 1]])
    said = [
        [str(c) for c in explain_path(tree, coded, raw, NAMES)]
        for coded, raw in zip(tree.encode(rows), rows, strict=True)
    ]
    assert said[0] == ["0.3 < alm <= 0.5"]
    assert said[1] == ["color = 3", "alm <= 0.3"]
    assert said[2] == ["color = 9, a new level", "alm <= 0.3"]
    assert said[3] == ["color is missing", "alm <= 0.3"]
    assert said[4] == ["alm is missing"]
    assert str(LeafRule(1, 0.5, [])) == "leaf 1 (score 0.5): every row"


@pytest.mark.parametrize(
    ("missing", "new", "yes", "no"),
    [
        (True, True, "color = 3 or missing or new", "color in {1, 2, 4}"),
        (True, False, "color = 3 or missing", "color not in {3}"),
        (False, True, "color = 3 or new", "color in {1, 2, 4} or missing"),
        (False, False, "color = 3", "color not in {3} or missing"),
    ],
)
def test_missing_values_and_new_levels_are_told_apart(missing, new, yes, no):
    tree = small(missing, new)
    (held,), (failed,) = (merge_conditions(tree, [(2, side)], NAMES) for side in (True, False))
    assert [str(held), str(failed)] == [yes, no]
    for value, goes in ((np.nan, missing), (9.0, new)):
        assert holds(held, value, tree.levels[2]) == goes
        assert holds(failed, value, tree.levels[2]) != goes
    # A row of a known level hears the shorter side, of both kinds the same.
    row = np.array([0.2, 0.0, 1.0])
    said = explain_path(tree, tree.encode(row[None])[0], row, NAMES)
    assert {str(c) for c in said} == {"alm <= 0.3", "color not in {3}"}


@pytest.mark.parametrize(
    ("missing", "new", "yes", "no"),
    [
        (False, False, "color in {1, 2}", "color is missing or new"),
        (False, True, "color is present", "color is missing"),
        (True, False, "color in {1, 2} or missing", "color is new"),
    ],
)
def test_a_path_may_have_no_known_level(missing, new, yes, no):
    nodes = [
        (0, 1, 2, -1, 0, (9, 9, 2)),
        (-1, -1, -1, 0, 1, (5, 5, 2)),
        (-1, -1, -1, 0, 1, (4, 4, 0)),
    ]
    condition = (2, np.nan, missing, 0, -2, -3, (9, 9, 2))
    tree = by_hand([condition], nodes, [[True, True, missing, new]], {2: np.array([1.0, 2.0])})
    assert [str(merge_conditions(tree, [(0, side)], NAMES)[0]) for side in (True, False)] == [
        yes,
        no,
    ]
    without = all_paths(tree, has_missing=np.zeros(3, dtype=bool))
    assert without == ([[(0, True)]] if new else [[(0, True)], [(0, False)]])
    rules = to_conditions(tree, np.array([0.0, 0.9, 0.1]), NAMES)
    for value in (1.0, 2.0, 9.0, np.nan):
        row = np.array([0.0, 0.0, value])
        leaf = tree.apply(row[None])[0]
        assert [rule.leaf for rule in followed(rules, row, tree)] == [leaf]


def test_a_path_may_only_ask_whether_there_is_a_number():
    nodes = [
        (0, 1, 2, -1, 0, (9, 9, 2)),
        (-1, -1, -1, 0, 1, (5, 5, 2)),
        (-1, -1, -1, 0, 1, (4, 4, 0)),
    ]
    tree = by_hand([(0, np.inf, False, -1, -2, -3, (9, 9, 2))], nodes)
    assert str(merge_conditions(tree, [(0, True)], NAMES)[0]) == "alm is present"
    assert str(merge_conditions(tree, [(0, False)], NAMES)[0]) == "alm is missing"
    assert all_paths(tree, has_missing=np.zeros(1, dtype=bool)) == [[(0, True)]]


def test_weights_are_changes_of_smoothed_log_odds_on_the_side_of_the_leaf():
    def odds(p, w):
        return np.log((p + 0.1) / (w - p + 0.9))

    tree = small()
    up = odds(8, 40) - odds(10, 100), odds(9, 20) - odds(8, 40)
    np.testing.assert_allclose(path_weights(tree, [(0, False), (1, True)]), np.array(up) / sum(up))
    # Towards the low leaf the first condition speaks against it.
    np.testing.assert_allclose(path_weights(tree, [(0, False), (1, False)]), [0, 1])
    assert path_weights(tree, []).size == 0


def test_too_many_paths_are_refused():
    with pytest.raises(ValueError, match="more than 3 paths from its root"):
        all_paths(small(), most=3)
    assert len(all_paths(small(), most=4)) == 4
