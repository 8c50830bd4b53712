import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils import check_random_state
from unchecked import save_unchecked

from rarefind.metrics import average_precision
from rarefind.persistence import load
from rarefind.selection import best_threshold
from rarefind.trees import MetaAPClassifier, MetaAPForestClassifier
from rarefind.trees import _forest as forest
from rarefind.trees._bagging import bootstrap, number_of_columns
from rarefind.trees._forest_reasons import _Asked, _median, _typical
from rarefind.trees._paths import merge_conditions, path_weights, row_path


def table(n=200, seed=0, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, 0] + X[:, 1] + 0.7 * rng.normal(size=n) > 1.6


def drawn(model, positive):
    """How often each tree has drawn each row."""
    seeds = check_random_state(model.random_state).randint(2**31 - 1, size=model.n_estimators)
    times = np.zeros((seeds.size, positive.size))
    for row, seed in zip(times, seeds, strict=True):
        rng = np.random.RandomState(seed)
        for own in (np.flatnonzero(positive), np.flatnonzero(~positive)):
            np.add.at(row, own[rng.randint(own.size, size=own.size)], 1)
    return times


@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 10**6))
def test_a_bootstrap_draws_as_many_of_each_class_as_there_are(p, n, seed):
    positive = np.random.default_rng(seed).permutation(np.arange(p + n) < p)
    times = bootstrap(positive, None, np.random.RandomState(seed))
    assert times[positive].sum() == p
    assert times[~positive].sum() == n
    if p + n > 20:
        assert (times == 0).any()


@given(st.integers(2, 30), st.integers(1, 6), st.integers(0, 10**6))
def test_a_bootstrap_draws_whole_groups_and_both_classes(n, n_groups, seed):
    rng = np.random.default_rng(seed)
    positive, groups = rng.random(n) < 0.3, rng.integers(0, n_groups, n)
    positive[0], positive[1] = True, False
    times = bootstrap(positive, groups, np.random.RandomState(seed))
    assert times[positive].any()
    assert times[~positive].any()
    for group in np.unique(groups):
        assert np.unique(times[groups == group]).size == 1


def test_copies_in_a_group_do_not_vouch_for_each_other():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.random(60) < 0.3
    groups = np.repeat(np.arange(60), 6)
    copies = X[groups] + 1e-6 * rng.normal(size=(360, 3))
    forest = MetaAPForestClassifier(30, random_state=0)
    alone = forest.fit(copies, y[groups]).oob_average_precision_
    together = forest.fit(copies, y[groups], groups=groups).oob_average_precision_
    assert alone > 0.9
    assert together < 0.6


def test_with_a_single_positive_every_tree_knows_it():
    X, _ = table(60)
    y = np.arange(60) == 11
    model = MetaAPForestClassifier(8, threshold=None, random_state=0).fit(X, y)
    assert all(tree.tree.nodes.sums[0, 2] > 0 for tree in model.trees_)
    assert model.priority(X).argmax() == 11
    assert np.isnan(model.oob_scores_[11])
    assert np.isnan(model.oob_average_precision_)
    assert model.threshold_ == 0.5
    with pytest.raises(ValueError, match="All rows of one class are in every tree"):
        MetaAPForestClassifier(8, random_state=0).fit(X, y)


@pytest.mark.parametrize("ties", ["leaf", "border"])
@pytest.mark.parametrize("splitter", ["exact", "histogram"])
def test_out_of_bag_scores_are_by_trees_that_have_not_drawn_the_row(ties, splitter):
    X, y = table()
    X[::9, 2] = np.nan
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2, y.size) * (rng.random(y.size) < 0.8)
    model = MetaAPForestClassifier(5, ties=ties, splitter=splitter, random_state=2)
    model.fit(X, y, sample_weight=weight)
    used = weight > 0
    X, y, weight = X[used], y[used], weight[used]
    assert np.isnan(model.oob_scores_[~used]).all()
    oob = model.oob_scores_[used]
    left_out = drawn(model, y) == 0
    scores = np.array([tree.blend(X) for tree in model.trees_])
    known = left_out.any(axis=0)
    assert 0 < (~known).sum() < known.size
    expected = [scores[out, i].mean() for i, out in enumerate(left_out.T) if out.any()]
    np.testing.assert_allclose(oob[known], expected, rtol=1e-12)
    assert np.isnan(oob[~known]).all()
    ap = average_precision(y[known], oob[known], sample_weight=weight[known])
    assert model.oob_average_precision_ == pytest.approx(ap)
    best = best_threshold(y[known], oob[known], "f1", sample_weight=weight[known])
    assert (model.threshold_, model.value_) == pytest.approx((best.threshold, best.value))


@pytest.mark.parametrize("ties", ["leaf", "border"])
def test_a_tree_is_a_metaap_tree_of_its_bootstrap(ties):
    """With all columns to choose among nothing is drawn but rows."""
    X, y = table(120)
    model = MetaAPForestClassifier(
        3, inner_depth=2, outer_depth=2, max_features=None, ties=ties, random_state=0
    ).fit(X, y)
    alone = MetaAPClassifier(
        2, 2, prune=False, smoothing=1.0, threshold=None, ties=ties, pos_label=True
    )
    for ranker, times in zip(model.trees_, drawn(model, y), strict=True):
        own = times > 0
        # A row weighs 1 on average there, and here as often as it was drawn.
        scale = times[own].mean()
        alone.set_params(smoothing=1 / scale, shrinkage=5 / scale)
        alone.fit(X[own], y[own], sample_weight=times[own])
        np.testing.assert_allclose(ranker.blend(X), alone._ranker.blend(X), rtol=1e-9)


@pytest.mark.parametrize("ties", ["leaf", "border"])
def test_the_priority_is_the_mean_of_the_trees(ties):
    X, y = table()
    model = MetaAPForestClassifier(6, ties=ties, random_state=0).fit(X, y)
    mean = np.mean([tree.blend(X) for tree in model.trees_], axis=0)
    np.testing.assert_allclose(model.priority(X), mean, rtol=1e-12)
    alone = np.concatenate([model.priority(X[i : i + 1]) for i in range(30)])
    np.testing.assert_array_equal(model.priority(X[:30]), alone)
    assert ((mean >= 0) & (mean <= 1)).all()


def test_borders_change_scores_and_make_fewer_ties():
    X, y = table()
    leaf, border = (
        MetaAPForestClassifier(2, inner_depth=1, outer_depth=2, ties=ties, random_state=0).fit(X, y)
        for ties in ("leaf", "border")
    )
    for one, other in zip(leaf.trees_, border.trees_, strict=True):
        np.testing.assert_array_equal(
            one.tree.conditions.threshold, other.tree.conditions.threshold
        )
        assert one.width.size == 0
        assert (other.width > 0).any()
    assert np.unique(border.priority(X)).size > 2 * np.unique(leaf.priority(X)).size


def test_as_many_jobs_as_one_likes():
    X, y = table()
    one, two = (MetaAPForestClassifier(6, random_state=1, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.priority(X), two.priority(X))
    np.testing.assert_array_equal(one.oob_scores_, two.oob_scores_)
    assert one.threshold_ == two.threshold_
    other = MetaAPForestClassifier(6, random_state=2).fit(X, y)
    assert not np.array_equal(other.priority(X), one.priority(X))


@pytest.mark.parametrize(
    ("wanted", "d", "expected"),
    [
        ("sqrt", 10, 3),
        ("sqrt", 1, 1),
        ("third", 10, 3),
        ("third", 2, 1),
        (2, 10, 2),
        (99, 10, 10),
        (0.5, 10, 5),
        (0.01, 10, 1),
        (1.0, 10, 10),
        (None, 10, 10),
    ],
)
def test_how_many_columns_a_split_may_choose_among(wanted, d, expected, monkeypatch):
    assert number_of_columns(wanted, d) == expected
    asked = []

    def grow(columns, positive, weight, plan, seed):
        asked.append(plan.n_features)
        return real(columns, positive, weight, plan, seed)

    real = forest.grow_meta_tree
    monkeypatch.setattr(forest, "grow_meta_tree", grow)
    X, y = table(60, d=max(d, 2))
    MetaAPForestClassifier(2, max_features=wanted, threshold=None).fit(X[:, :d], y)
    assert asked == [expected] * 2


def test_few_columns_to_choose_among_make_trees_differ():
    X, y = table(d=6)
    first = {}
    for wanted in (1, None):
        model = MetaAPForestClassifier(
            12, inner_depth=1, outer_depth=1, max_features=wanted, random_state=0
        ).fit(X, y)
        first[wanted] = {int(tree.tree.conditions.feature[0]) for tree in model.trees_}
    assert len(first[1]) >= 4
    assert first[None] <= {0, 1}


def holds(condition, value):
    if condition.value == "missing":
        return bool(np.isnan(value))
    if condition.op == "between":
        return condition.value[0] < value <= condition.value[1]
    return {
        "<=": lambda: value <= condition.value,
        ">": lambda: value > condition.value,
        "=": lambda: value == condition.value,
    }[condition.op]()


@given(st.integers(0, 999))
@settings(max_examples=5)
def test_reasons_are_few_and_hold_for_their_rows(seed):
    """Each bound is one of a tree, and the row is on its side in every tree: so also here."""
    X, y = table(150, seed, d=7)
    X[:, 3] = np.round(X[:, 3])
    X[::6, 1] = np.nan
    names = [f"c{j}" for j in range(7)]
    frame = pd.DataFrame(X, columns=names)
    model = MetaAPForestClassifier(6, categorical_features=["c3"], random_state=seed)
    reasons = model.fit(frame, y).explain(frame.iloc[:25])
    bounds = [set(tree.tree.conditions.threshold.tolist()) for tree in model.trees_]
    for row, reason, priority in zip(X, reasons, model.priority(frame.iloc[:25]), strict=False):
        assert 0 < len(reason.because) <= 5
        features = [condition.feature for condition in reason.because]
        assert len(set(features)) == len(features)
        weights = [condition.weight for condition in reason.because]
        assert sum(weights) == pytest.approx(1)
        assert weights == sorted(weights, reverse=True)
        for condition in reason.because:
            assert holds(condition, row[names.index(condition.feature)])
            assert condition.feature in condition.raw_unit_text
            if condition.op in ("<=", ">"):
                assert any(condition.value in found for found in bounds)
        assert reason.score == priority
        assert 0 <= reason.rank_in_reference <= 1


def test_a_feature_weighs_what_it_weighs_in_the_trees():
    X, y = table(d=3)
    model = MetaAPForestClassifier(5, random_state=0).fit(X, y)
    for row, reason in zip(X[:10], model.explain(X[:10]), strict=True):
        share = dict.fromkeys(("x0", "x1", "x2"), 0.0)
        for ranker in model.trees_:
            path = row_path(ranker.tree, row)
            for (at, _), weight in zip(path, path_weights(ranker.tree, path), strict=True):
                share[f"x{ranker.tree.conditions.feature[at]}"] += weight / 5
        found = {condition.feature: condition.weight for condition in reason.because}
        assert found == pytest.approx({name: s for name, s in share.items() if s > 0})
        low, high = _by_hand(model, row, "x0")
        shown = [c for c in reason.because if c.feature == "x0"]
        if shown and shown[0].op == "between":
            assert shown[0].value == (low, high)
        elif shown and shown[0].op in ("<=", ">"):
            assert shown[0].value == (high if shown[0].op == "<=" else low)


def _by_hand(model, row, name):
    """Lower and upper bound such that half of the weight lies on either side of each."""
    sides = []
    for ranker in model.trees_:
        path = row_path(ranker.tree, row)
        weights = path_weights(ranker.tree, path)
        for c in merge_conditions(ranker.tree, path, ["x0", "x1", "x2"], weights, row):
            if c.feature == name:
                low = {">": c.value, "between": c.value[0] if c.op == "between" else 0}
                high = {"<=": c.value, "between": c.value[1] if c.op == "between" else 0}
                sides.append((low.get(c.op, -np.inf), high.get(c.op, np.inf), c.weight))
    return [_weighted_middle([(side[i], side[2]) for side in sides]) for i in (0, 1)]


def _weighted_middle(pairs):
    half, running = sum(weight for _, weight in pairs) / 2, 0.0
    for value, weight in sorted(pairs):
        running += weight
        if running >= half:
            return value
    return None


def test_typical_bounds_by_hand():
    bounds = [(-np.inf, 5.0), (1.0, 6.0), (2.0, np.inf), (-np.inf, 9.0)]
    weights = [0.1, 0.4, 0.4, 0.1]
    asked = [_Asked(*own, weight) for own, weight in zip(bounds, weights, strict=True)]
    typical = _typical("x", asked, 4.0, 0.3)
    assert (typical.op, typical.value, typical.weight) == ("between", (1.0, 6.0), 0.3)
    assert str(typical) == "1 < x <= 6"
    # Where most of the weight comes without a bound, there is none.
    typical = _typical("x", [asked[0], asked[2]], 4.0, 1.0)
    assert (typical.op, typical.value) == (">", 2.0)
    assert str(_typical("x", asked, np.nan, 1.0)) == "x is missing"
    assert str(_typical("x", [_Asked(-np.inf, np.inf, 1.0)], 4.0, 1.0)) == "x = 4"


@pytest.mark.parametrize("weights", [[1, 1, 1], [5, 1, 1], [0, 0, 1], [0, 0, 0]])
def test_the_median_is_one_of_the_values(weights):
    values = np.array([3.0, 1.0, 2.0])
    expected = {(1, 1, 1): 2.0, (5, 1, 1): 3.0, (0, 0, 1): 2.0, (0, 0, 0): 1.0}
    assert _median(values, np.array(weights, dtype=float)) == expected[tuple(weights)]


def test_predictions_are_by_the_threshold_whatever_the_labels():
    X, positive = table()
    for label in ("a", "z"):
        y = np.where(positive, label, "m")
        model = MetaAPForestClassifier(5, random_state=0).fit(X, y)
        alert = model.priority(X) >= model.threshold_
        assert 0 < alert.sum() < y.size
        np.testing.assert_array_equal(model.predict(X) == label, alert)
        assert np.array_equal(model.decision_function(X) > 0, alert == (label == "z"))


def test_progress_is_shown_when_asked_for(capsys):
    X, y = table(60)
    MetaAPForestClassifier(3, random_state=0, threshold=None).fit(X, y)
    assert capsys.readouterr().out == ""
    MetaAPForestClassifier(3, random_state=0, threshold=None, verbose=1).fit(X, y)
    shown = capsys.readouterr().out
    assert "MetaAPForestClassifier: trees" in shown
    assert "3/3" in shown


def test_columns_that_never_change():
    y = np.arange(40) % 5 == 0
    model = MetaAPForestClassifier(4, random_state=0).fit(np.ones((40, 2)), y)
    np.testing.assert_allclose(model.priority(np.array([[2.0, np.nan]])), 0.2)
    assert model.explain(np.ones((1, 2)))[0].because == []


@pytest.mark.parametrize("ties", ["leaf", "border"])
def test_a_row_scores_the_same_alone_and_among_many(ties):
    rng = np.random.default_rng(0)
    X, y = table(forest._FEW_ROWS + 100)
    X[:, 3] = rng.integers(0, 4, len(X))
    X[rng.random(X.shape) < 0.05] = np.nan
    model = MetaAPForestClassifier(5, ties=ties, categorical_features=[3], random_state=0)
    model.fit(X, y)
    X[::7, 3] = 9  # a new category
    many = model.priority(X)
    np.testing.assert_array_equal([model.priority(row[None])[0] for row in X[:50]], many[:50])


def test_trees_of_a_file_know_the_same_categories(tmp_path):
    X, y = table()
    X[:, 3] = np.arange(len(X)) % 4
    model = MetaAPForestClassifier(3, categorical_features=[3], random_state=0).fit(X, y)
    # The last tree knows fewer: a code of the first one's would lie beyond its sets.
    last = model.trees_[-1]
    fewer = last.tree._replace(levels={3: np.array([0.0])})
    model.trees_[-1] = last._replace(tree=fewer)
    save_unchecked(model, tmp_path / "model")
    with pytest.raises(ValueError, match="different categories"):
        load(tmp_path / "model")
