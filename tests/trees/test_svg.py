import re
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from trees.naive import random_rows
from trees.test_paths import NAMES, by_hand, cases, grown, small, tree_of

from rarefind.trees._graphviz import to_graphviz
from rarefind.trees.layout import lay_out
from rarefind.trees.svg import COLOURS, to_svg

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    '</text><script>alert("1")</script>',
    "a & b\x00\n",
    '"];\n} \\',
    "]]>\u202e" + "long " * 20,
]


def groups(root, kind):
    return [g for g in root.iter(f"{SVG}g") if g.get("class") == kind]


def overlap(a, b):
    beside = abs(a.x - b.x) >= (a.width + b.width) / 2
    return not (beside or abs(a.y - b.y) >= (a.height + b.height) / 2)


def points(line):
    """Points along a line: its swing, which is a curve of Bézier, and the straight part."""
    (x0, y0), (x1, y1) = line.start, line.end
    t = np.linspace(0, 1, 30)
    x = x0 * (1 - t) ** 2 * (1 + 2 * t) + x1 * t**2 * (3 - 2 * t)
    middle = (y0 + y1) / 2
    y = y0 * (1 - t) ** 3 + 3 * middle * t * (1 - t) + y1 * t**3
    return [*zip(x, y, strict=True), *((x1, y1 + share * line.run) for share in t)]


@settings(max_examples=60)
@given(cases)
def test_boxes_do_not_overlap_and_lines_keep_clear_of_them(case):
    tree, score, _ = tree_of(case)
    layout = lay_out(tree, score, HOSTILE)
    boxes = layout.boxes
    assert not any(overlap(a, b) for a, b in combinations(boxes, 2))
    for box in boxes:
        assert box.width / 2 <= box.x <= layout.width - box.width / 2
        assert box.height / 2 <= box.y <= layout.height - box.height / 2
    middle = np.array([(box.x, box.y) for box in boxes])
    half = np.array([(box.width, box.height) for box in boxes]) / 2
    for line in layout.lines:
        away = np.abs(np.array(points(line))[:, None] - middle)
        assert not (away < half - 1e-6).all(axis=2).any()


@settings(max_examples=30)
@given(cases)
def test_lines_lead_down_and_leaves_stand_below_by_rank(case):
    tree, score, _ = tree_of(case)
    layout = lay_out(tree, score, NAMES)
    n = tree.conditions.feature.size
    leaves = layout.boxes[n:]
    assert len({leaf.y for leaf in leaves}) == 1
    assert [leaf.x for leaf in leaves] == sorted(leaf.x for leaf in leaves)
    assert [leaf.lines[0] for leaf in leaves] == [f"leaf {i + 1}" for i in range(len(leaves))]
    assert [leaf.heat for leaf in leaves] == sorted((leaf.heat for leaf in leaves), reverse=True)
    assert all(box.y < leaves[0].y for box in layout.boxes[:n])
    assert all(line.start[1] < line.end[1] for line in layout.lines)


@settings(max_examples=30)
@given(cases)
def test_the_svg_shows_every_condition_and_leaf(case):
    tree, score, _ = tree_of(case)
    root = ElementTree.fromstring(to_svg(tree, score, NAMES))
    n, n_leaves = tree.conditions.feature.size, int(tree.is_leaf.sum())
    conditions, leaves = groups(root, "condition"), groups(root, "leaf")
    assert (len(conditions), len(leaves)) == (n, n_leaves)
    for number, group in enumerate(conditions):
        assert NAMES[tree.conditions.feature[number]] in group[2].text
        _, weight, positive = tree.conditions.sums[number]
        shown = [float(part.replace(",", "")) for part in re.findall(r"[\d,.]*\d", group[3].text)]
        np.testing.assert_allclose(shown, [weight - positive, positive], atol=0.051)
    best = np.sort(score[tree.is_leaf])[::-1]
    assert [group[3].text for group in leaves] == [f"{value:.3g}" for value in best]
    kinds = [path.get("class") for path in root.iter(f"{SVG}path")]
    assert kinds.count("always") == 0


def test_the_svg_needs_nothing_else_and_fits_where_it_is_put():
    svg = to_svg(small(), np.array([0.1, 0.45, 0.0125]), NAMES)
    root = ElementTree.fromstring(svg)
    assert root.find(f"{SVG}title").text == "A tree of 3 conditions and 2 leaves"
    assert root.get("width") == "100%"
    width, height = map(float, root.get("viewBox").split()[2:])
    for rect in root.iter(f"{SVG}rect"):
        assert float(rect.get("width")) <= width
        assert float(rect.get("height")) <= height
    assert "<script" not in svg
    assert svg.count("http") == 1  # its namespace
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"alm ≤ 0.3", "(90, 10)", "color = 3", "leaf 1", "0.45", "(11, 9)"} <= set(texts)


def test_what_does_not_hold_is_dashed_and_where_missing_values_go_is_said_when_asked():
    tree, score = small(), np.array([0.1, 0.45, 0.0125])
    root = ElementTree.fromstring(to_svg(tree, score, NAMES, has_missing=np.ones(3, dtype=bool)))
    for path in root.iter(f"{SVG}path"):
        if path.get("class"):
            assert (path.get("class") == "fails") == (path.get("stroke-dasharray") is not None)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert "color = 3 or missing" in texts
    tips = [group[0].text for group in groups(root, "condition")]
    assert tips == ["node 0: alm <= 0.3", "alm <= 0.5", "color not in {1.0, 2.0, 4.0} or missing"]


@pytest.mark.parametrize("kinds", [["numbers"] * 4, ["levels"] * 4])
def test_hostile_names_stay_names(kinds):
    tree, score = grown(random_rows(2, 150, kinds))
    svg = to_svg(tree, score, HOSTILE)
    root = ElementTree.fromstring(svg)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        *("svg", "title", "rect", "path", "text", "g")
    }
    dot = to_graphviz(tree, score, HOSTILE)
    assert statements(dot) == expected_statements(tree)


def statements(dot):
    """Kinds of the statements of a graph in DOT, with what is in quotes taken out."""
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', "Q", dot)
    lines = [line.strip() for line in bare.splitlines()[1:-1]]
    assert bare.splitlines()[0] == "digraph tree {"
    assert bare.splitlines()[-1] == "}"
    patterns = {
        "node": r"\d+ \[label=Q, tooltip=Q, fillcolor=Q\];",
        "edge": r"\d+ -> \d+ \[color=Q(, style=dashed)?\];",
        "defaults": r"node \[.*\];",
        "rank": r"\{ rank=sink; (\d+; ?)+\}",
    }
    found = [k for line in lines for k, pattern in patterns.items() if re.fullmatch(pattern, line)]
    assert len(found) == len(lines)
    return {kind: found.count(kind) for kind in patterns}


def expected_statements(tree):
    n = tree.conditions.feature.size
    return {"node": n + int(tree.is_leaf.sum()), "edge": 2 * n, "defaults": 1, "rank": 1}


@settings(max_examples=30)
@given(cases)
def test_graphviz_has_every_condition_leaf_and_arrow(case):
    tree, score, _ = tree_of(case)
    dot = to_graphviz(tree, score, NAMES)
    assert statements(dot) == expected_statements(tree)
    arrows = [tuple(map(int, pair)) for pair in re.findall(r"(\d+) -> (\d+)", dot)]
    into = {end for _, end in arrows}
    assert into == set(range(1, tree.conditions.feature.size + int(tree.is_leaf.sum()))) - (
        set() if arrows else {0}
    )


def test_one_black_arrow_where_both_sides_lead_to_the_same_place():
    nodes = [(0, 1, 1, -1, 0, (9, 9, 2)), (-1, -1, -1, 0, 1, (9, 9, 2))]
    tree = by_hand([(0, 0.5, False, -1, -2, -2, (9, 9, 2))], nodes)
    score = np.array([0.2, 0.2])
    kinds = [line.holds for line in lay_out(tree, score, NAMES).lines]
    assert kinds == [None]
    assert to_graphviz(tree, score, NAMES).count("->") == 1
    assert 'class="always" d="M' in to_svg(tree, score, NAMES)
    assert COLOURS[None] in to_graphviz(tree, score, NAMES)


def test_a_tree_without_conditions_is_drawn_too():
    tree, _ = grown(random_rows(0, 20, ["ties"], "ones"), min_rows=20)
    root = ElementTree.fromstring(to_svg(tree, np.array([0.25]), NAMES))
    assert len(groups(root, "leaf")) == 1
    assert "leaf 1" in to_graphviz(tree, np.array([0.25]), NAMES)


def test_long_names_are_cut_in_boxes_and_whole_in_tips():
    layout = lay_out(small(), np.ones(3), ["x" * 100, "b", "c"])
    assert layout.boxes[0].lines[0] == "x" * 23 + "… ≤ 0.3"
    assert "x" * 100 in layout.boxes[0].tip
    wide = lay_out(small(), np.ones(3), ["数" * 10, "b", "c"]).boxes[0].width
    assert wide > lay_out(small(), np.ones(3), ["n" * 10, "b", "c"]).boxes[0].width + 50
