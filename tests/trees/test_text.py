import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees.naive import random_rows
from trees.test_paths import NAMES, cases, corners, grown, small, tree_of

from rarefind.trees import MetaAPClassifier
from rarefind.trees._borders import band_widths
from rarefind.trees._prune import Pruning
from rarefind.trees._ranker import Ranker
from rarefind.trees._text import condition_text, export_text

STRANGE = ["a <= 3 ± 2.0 or missing", 'b\nelse:"\u2028', "go to leaf 1", ' "c']

banded_cases = st.tuples(cases, st.integers(0, 3), st.sampled_from([0.0, 0.5, 4.0]))


def banded(case):
    """A random ranker with bands, and rows on thresholds, on band edges, beside both, inside."""
    plan, depth, smoothing = dict(case[0]), *case[1:]
    kinds, seed = plan.pop("kinds"), plan["seed"]
    rows = random_rows(seed, plan.pop("n"), kinds)
    tree, _ = grown(rows, **plan)
    width = band_widths(tree, rows.X, rows.weight)
    ranker = Ranker.of(tree, Pruning(depth, smoothing), "precision", width)
    return ranker, edges(ranker, len(kinds), 60, np.random.default_rng(seed))


def edges(ranker, d, n, rng):
    X = corners(ranker.tree, d, n, rng)
    c = ranker.tree.conditions
    for at in np.flatnonzero(ranker.width > 0):
        t, w = c.threshold[at], ranker.width[at]
        near = np.array([t - w, t + w, t + w * rng.uniform(-1, 1)])
        near = np.concatenate([near, np.nextafter(near, t), np.nextafter(near, np.inf)])
        chosen = rng.random(n) < 0.3
        X[chosen, c.feature[at]] = rng.choice(near, chosen.sum())
    return X


def plain(tree, score):
    return Ranker(tree, score, np.empty(0))


def small_with_bands():
    return Ranker(small(), np.array([0.1, 0.45, 0.0125]), np.array([0.12, 0.1 + 0.2, 0.0]))


class Reader:
    """Reads a tree back from its text, by what a person would understand."""

    def __init__(self, text, names):
        self.names = names
        self.has_bands = "holds in part" in text
        self.score = {
            m[1]: float(m[2]) for m in re.finditer(r"(?m)^(leaf \d+): score (\S+),", text)
        }
        parts = re.split(r"(?m)^(node \d+): .*?(?:, (\w+ \d+) ahead of (\w+ \d+))?\n", text)
        self.nodes, self.below = {}, {}
        for name, first, second, body in zip(*(parts[i::4] for i in (1, 2, 3, 4)), strict=True):
            lines = [line for line in body.split("\n") if line.startswith("    ")]
            self.nodes[name] = self._parsed(lines)
            self.below[name] = first, second

    def _parsed(self, lines):
        """An inner tree as (condition, where it holds, where not), or the place to go to."""
        line = lines[0].strip()
        if len(lines) == 1:
            return line.removeprefix("go to ")
        depth = len(lines[0]) - len(lines[0].lstrip())
        middle = lines.index(" " * depth + "else:")
        condition = line.removeprefix("if ").removesuffix(":")
        return condition, self._parsed(lines[1:middle]), self._parsed(lines[middle + 1 :])

    def score_of(self, row):
        place = "node 0" if self.nodes else "leaf 1"
        while place in self.nodes:
            place = self._walk(self.nodes[place], row)
        own = self.score[place]
        return self._moved(own, self._mean(row)) if self.has_bands else own

    def _walk(self, inner, row):
        while not isinstance(inner, str):
            condition, yes, no = inner
            inner = yes if self._holds(condition, row) == 1 else no
        return inner

    def _mean(self, row):
        """Leaves are added in the order in which the tree was grown: pairs, those ahead first."""
        mass, stack = {"node 0": 1.0}, ["node 0"]
        reached = []
        while stack:
            node = stack.pop()
            if node in self.nodes:
                first, second = self.below[node]
                share = self._share(self.nodes[node], row, first)
                mass[first], mass[second] = mass[node] * share, mass[node] * (1.0 - share)
                reached += [first, second]
                stack += [second, first]
        mean = 0.0
        for place in reached:
            mean += mass[place] * self.score.get(place, 0.0)
        return mean

    def _share(self, inner, row, first):
        if isinstance(inner, str):
            return float(inner == first)
        condition, yes, no = inner
        holds = self._holds(condition, row, bands=True)
        yes, no = self._share(yes, row, first), self._share(no, row, first)
        return holds * yes + (1.0 - holds) * no

    def _moved(self, s, m):
        h = min((other for other in self.score.values() if other > s), default=1.0)
        low = max((other for other in self.score.values() if other < s), default=0.0)
        if m > s:
            return s + 0.49 * ((min((m - s) / (1 - s), 1) if s < 1 else 1) * (h - s))
        return s - 0.49 * (min((s - m) / s, 1) * (s - low)) if m < s else s

    def _holds(self, condition, row, bands=False):
        for pattern, test in (
            (r"(.*) <= (\S+)", lambda x, t: x <= float(t)),
            (r"(.*) <= (\S+) or missing", lambda x, t: np.isnan(x) or x <= float(t)),
            (r"(.*) is (present)", lambda x, _: not np.isnan(x)),
            (r"(.*) is (missing)", lambda x, _: np.isnan(x)),
            (r"(.*) not in \{(.*)\}", lambda x, t: not np.isnan(x) and x not in numbers(t)),
            (r"(.*) not in \{(.*)\} or missing", lambda x, t: x not in numbers(t)),
            (r"(.*) in \{(.*)\}", lambda x, t: x in numbers(t)),
            (r"(.*) in \{(.*)\} or missing", lambda x, t: np.isnan(x) or x in numbers(t)),
        ):
            band = re.fullmatch(r"(.* <= \S+) ± (\S+?)( or missing)?", condition)
            plain = band[1] + (band[3] or "") if band else condition
            found = re.fullmatch(pattern, plain)
            if found:
                name = json.loads(found[1]) if found[1].startswith('"') else found[1]
                x = row[self.names.index(name)]
                if bands and band:
                    t, w = float(found[2]), float(band[2])
                    if abs(x - t) < w:
                        return 0.5 - (x - t) / (2 * w)
                return float(test(x, found[2]))
        raise AssertionError(condition)


def numbers(listed):
    return [float(number) for number in listed.split(", ") if number]


@settings(max_examples=60)
@given(cases)
def test_the_text_is_the_whole_model(case):
    tree, score, X = tree_of(case)
    for names in (NAMES, STRANGE):
        names = names[: X.shape[1]]
        reader = Reader(export_text(plain(tree, score), names), names)
        read = [reader.score_of(row) for row in X]
        np.testing.assert_array_equal(read, score[tree.apply(X)])


@settings(max_examples=60)
@given(banded_cases)
def test_the_text_is_the_whole_model_with_bands_too(case):
    ranker, X = banded(case)
    for names in (NAMES, STRANGE):
        names = names[: X.shape[1]]
        reader = Reader(export_text(ranker, names), names)
        assert reader.has_bands == (ranker.width > 0).any()
        read = [reader.score_of(row) for row in X]
        np.testing.assert_array_equal(read, ranker.priority(X))


def test_it_reads_from_top_to_bottom():
    text = export_text(plain(small(), np.array([0.1, 0.45, 0.0125])), NAMES)
    assert text == (
        "3 conditions, 2 leaves\n"
        "A level never seen before is in no set. "
        "For a missing value a condition holds only if it says so.\n"
        "\n"
        "node 0: 100 rows, 10 positive\n"
        "    if alm <= 0.3:\n"
        "        if color not in {1.0, 2.0, 4.0} or missing:\n"
        "            go to leaf 1\n"
        "        else:\n"
        "            go to leaf 2\n"
        "    else:\n"
        "        if alm <= 0.5:\n"
        "            go to leaf 1\n"
        "        else:\n"
        "            go to leaf 2\n"
        "\n"
        "leaf 1: score 0.45, 20 rows, 9 positive\n"
        "leaf 2: score 0.0125, 80 rows, 1 positive\n"
    )


@pytest.mark.parametrize(
    ("missing", "new", "said", "of_all"),
    [
        (True, True, "color not in {1.0, 2.0, 4.0} or missing", "color not in {} or missing"),
        (False, True, "color not in {1.0, 2.0, 4.0}", "color is present"),
        (True, False, "color in {3.0} or missing", "color in {1.0, 2.0, 3.0, 4.0} or missing"),
        (False, False, "color in {3.0}", "color in {1.0, 2.0, 3.0, 4.0}"),
    ],
)
def test_where_missing_values_and_new_levels_go_is_said(missing, new, said, of_all):
    tree = small(missing, new)
    assert condition_text(tree, 2, NAMES) == said
    everything = np.array([[True] * 4 + [missing, new]])
    assert condition_text(tree._replace(sets=everything), 2, NAMES) == of_all
    nothing = np.array([[False] * 4 + [missing, new]])
    if missing and not new:
        assert condition_text(tree._replace(sets=nothing), 2, NAMES) == "color is missing"


def test_bands_are_said_behind_thresholds():
    text = export_text(small_with_bands(), NAMES)
    assert "    if alm <= 0.3 ± 0.12:\n" in text
    assert "        if alm <= 0.5 ± 0.30000000000000004:\n" in text
    assert "        if color not in {1.0, 2.0, 4.0} or missing:\n" in text
    assert "\nnode 0: 100 rows, 10 positive, leaf 1 ahead of leaf 2\n" in text
    assert max(map(len, text.split("\n"))) <= 100


def test_bands_of_no_width_are_not_spoken_of():
    ranker = small_with_bands()
    without = export_text(ranker._replace(width=np.empty(0)), NAMES)
    assert export_text(ranker._replace(width=np.zeros(3)), NAMES) == without


@pytest.mark.parametrize("ties", ["border", "leaf"])
def test_a_fitted_model_is_read_back_from_its_text(ties):
    rows = random_rows(2, 300, ["numbers", "ties"], missing=0)
    model = MetaAPClassifier(ties=ties, random_state=0).fit(rows.X, rows.positive)
    reader = Reader(model.export_text(), ["x0", "x1"])
    assert reader.has_bands == (ties == "border")
    read = [reader.score_of(row) for row in rows.X]
    np.testing.assert_array_equal(read, model.priority(rows.X))


def test_weights_are_said_where_rows_have_them():
    tree, score = grown(random_rows(1, 60, ["numbers", "ties"], "floats"))
    assert " rows of weight " in export_text(plain(tree, score), NAMES)


def test_a_tree_without_conditions_is_a_leaf():
    tree, _ = grown(random_rows(0, 20, ["ties"], "ones"), min_rows=20)
    text = export_text(plain(tree, np.array([0.25])), NAMES)
    assert text.startswith("0 conditions, 1 leaf\n\nleaf 1: score 0.25, 20 rows, ")
