import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unchecked import save_unchecked

from rarefind.metrics import average_precision
from rarefind.persistence import load
from rarefind.selection import best_threshold
from rarefind.trees import RandomizedForestClassifier
from rarefind.trees import _randomized as randomized
from rarefind.trees._level_order import LevelOrder


def table(n=200, seed=0, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X[:, 0] + X[:, 1] + 0.7 * rng.normal(size=n) > 1.6
    X[:, 3] = rng.integers(0, 5, n)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def fitted(n_estimators=6, seed=0, **settings):
    X, y = table(seed=seed)
    model = RandomizedForestClassifier(
        n_estimators, categorical_features=[3], random_state=seed, **settings
    )
    return model.fit(X, y), X, y


def naive_priority(model, X):
    """Each row down each tree, by the definition."""
    trees, total = model.trees_, np.zeros(len(X))
    for i, row in enumerate(X):
        for root in trees.starts[:-1]:
            at = root
            while trees.feature[at] >= 0:
                j, value = int(trees.feature[at]), row[trees.feature[at]]
                if trees.levels.is_level[j]:
                    values, place = trees.levels.of_column(j)
                    known = values == value
                    value = place[known][0] if known.any() else np.nan
                left = trees.missing_left[at] if np.isnan(value) else value <= trees.threshold[at]
                at = trees.left[at] + (0 if left else 1)
            total[i] += trees.score[at]
    return total / trees.n_trees


@given(st.integers(0, 999))
@settings(max_examples=5)
def test_the_priority_is_the_mean_score_of_the_leaves(seed):
    model, X, _ = fitted(seed=seed)
    X[::7, 3] = 9  # a new category
    found = model.priority(X)
    np.testing.assert_allclose(found, naive_priority(model, X), rtol=1e-12)
    alone = np.concatenate([model.priority(X[i : i + 1]) for i in range(20)])
    np.testing.assert_array_equal(found[:20], alone)
    scorer = model._row_function()
    assert [scorer(row) for row in X[:20]] == found[:20].tolist()


def test_scores_are_precisions_drawn_to_the_parent():
    model, _, _ = fitted(smoothing=1.5)
    trees = model.trees_
    expected = np.empty(trees.score.size)
    for root in trees.starts[:-1]:
        expected[root] = trees.sums[root, 1] / trees.sums[root, 0]
    for node in range(trees.left.size):
        for child in (trees.left[node], trees.left[node] + 1) if trees.left[node] >= 0 else ():
            weight, positive = trees.sums[child]
            expected[child] = (positive + 1.5 * expected[node]) / (weight + 1.5)
    np.testing.assert_allclose(trees.score, expected, rtol=1e-5)


def test_out_of_bag_scores_are_by_trees_that_held_the_row_out(monkeypatch):
    held, real = [], randomized.draw_share

    def draw(*given):
        drawn = real(*given)
        held.append(drawn.held_out)
        return drawn

    monkeypatch.setattr(randomized, "draw_share", draw)
    model, X, y = fitted(7, smoothing=0.25)
    total, times = np.zeros(y.size), np.zeros(y.size)
    coded = model.trees_.levels.encode(X)
    for number, rows in enumerate(held):
        one = model.trees_._replace(starts=model.trees_.starts[number : number + 2])
        total[rows] += one.mean_score(coded[rows])
        times[rows] += 1
    known = times > 0
    assert (~known).sum() > 0
    np.testing.assert_allclose(model.oob_scores_[known], (total / np.maximum(times, 1))[known])
    assert np.isnan(model.oob_scores_[~known]).all()
    oob = model.oob_scores_[known]
    assert model.oob_average_precision_ == pytest.approx(average_precision(y[known], oob))
    best = best_threshold(y[known], oob, "f1")
    assert (model.threshold_, model.value_) == pytest.approx((best.threshold, best.value))


def test_the_smoothing_is_what_ranks_rows_held_out_best():
    found = {m: fitted(30, smoothing=m)[0] for m in randomized.SMOOTHINGS}
    values = {m: model.oob_average_precision_ for m, model in found.items()}
    chosen = fitted(30)[0]
    assert chosen.smoothing_ == max(values, key=lambda m: values[m])
    assert chosen.oob_average_precision_ == max(values.values())


def test_as_many_jobs_as_one_likes(monkeypatch):
    monkeypatch.setattr(randomized, "_ROWS_A_TASK", 64)
    one, X, _ = fitted(20, n_jobs=1)
    two = fitted(20, n_jobs=2)[0]
    np.testing.assert_array_equal(one.priority(X), two.priority(X))
    np.testing.assert_array_equal(one.oob_scores_, two.oob_scores_)
    parts = np.concatenate([one.priority(X[:50]), one.priority(X[50:])])
    np.testing.assert_array_equal(one.priority(X), parts)


@pytest.mark.parametrize(("wanted", "least", "most"), [("mixed", 2, 16), ("sqrt", 4, 4), (3, 3, 3)])
def test_trees_have_their_own_number_of_columns(wanted, least, most, monkeypatch):
    asked, real = [], randomized.grow_by_cuts

    def grow(coded, positives, negatives, weight, plan, seed):
        asked.append((plan.n_features, plan.by_pairs))
        return real(coded, positives, negatives, weight, plan, seed)

    monkeypatch.setattr(randomized, "grow_by_cuts", grow)
    X, y = table(80, d=16)
    RandomizedForestClassifier(60, max_features=wanted, random_state=0).fit(X, y)
    columns = [n for n, _ in asked]
    assert (min(columns), max(columns)) == (least, most)
    assert sum(by_pairs for _, by_pairs in asked) == 30


def test_a_single_positive_is_in_every_tree():
    X, _ = table(60)
    y = np.arange(60) == 11
    model = RandomizedForestClassifier(8, threshold=None, random_state=0).fit(X, y)
    assert model.priority(X).argmax() == 11
    assert np.isnan(model.oob_scores_[11])
    assert model.smoothing_ == randomized.SMOOTHINGS[0]
    with pytest.raises(ValueError, match="All rows of one class are in every tree"):
        RandomizedForestClassifier(8, random_state=0).fit(X, y)


def test_copies_in_a_group_do_not_vouch_for_each_other():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.random(60) < 0.3
    groups = np.repeat(np.arange(60), 6)
    copies = X[groups] + 1e-6 * rng.normal(size=(360, 3))
    forest = RandomizedForestClassifier(60, random_state=0)
    assert forest.fit(copies, y[groups]).oob_average_precision_ > 0.9
    assert forest.fit(copies, y[groups], groups=groups).oob_average_precision_ < 0.6


def test_weights_say_how_much_a_row_counts():
    X, y = table()
    weight = np.random.default_rng(0).integers(1, 4, y.size).astype(float)
    weight[::5] = 0
    model = RandomizedForestClassifier(5, random_state=0).fit(X, y, sample_weight=weight)
    assert np.isnan(model.oob_scores_[::5]).all()
    own = weight[weight > 0] / weight[weight > 0].mean()
    for root in model.trees_.starts[:-1]:
        assert model.trees_.sums[root, 0] < own.sum()
    heavy = np.where(y, 50.0, 1.0)
    both = [RandomizedForestClassifier(20, random_state=0, smoothing=4.0) for _ in range(2)]
    plain, more = both[0].fit(X, y), both[1].fit(X, y, sample_weight=heavy)
    assert more.priority(X).mean() > plain.priority(X).mean()


def test_deep_interactions_are_found_where_positives_are_in_cells():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6))
    cell = (X[:, :3] > 0) @ [1, 2, 4]
    y = np.isin(cell, [1, 6]) & (rng.random(3000) < 0.3)
    model = RandomizedForestClassifier(60, random_state=0).fit(X[::2], y[::2])
    found = average_precision(y[1::2], model.priority(X[1::2]))
    assert found > 2.5 * y.mean()


@given(st.integers(0, 999))
@settings(max_examples=4)
def test_reasons_are_few_short_and_hold_for_their_rows(seed):
    model, X, _ = fitted(12, seed=seed)
    for row, reason, score in zip(X[:15], model.explain(X[:15]), model.priority(X), strict=False):
        assert 0 < len(reason.because) <= 5
        assert sum(condition.weight for condition in reason.because) == pytest.approx(1)
        assert reason.score == score
        for condition in reason.because:
            value, bound = row[int(condition.feature[1:])], condition.value
            if condition.op == "between":
                assert bound[0] < value <= bound[1]
            elif condition.op in ("<=", ">"):
                assert (value <= bound) == (condition.op == "<=")
            else:
                assert condition.feature != "x0" or np.isnan(value) or value == bound


def test_categories_of_a_table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.normal(size=300), "c": pd.Categorical(rng.choice(list("uvwxyz"), 300))}
    )
    y = frame["c"].isin(["v", "y"]) & (frame["a"] > 0)
    model = RandomizedForestClassifier(20, random_state=0).fit(frame, y)
    assert average_precision(y, model.priority(frame)) > 0.99
    assert "c" in {c.feature for c in model.explain(frame[y].iloc[:1])[0].because}


def test_the_order_of_categories_rises_with_their_precision():
    column = np.repeat([3.0, 5.0, 7.0, np.nan], [40, 40, 1, 4])
    positive = np.zeros(85, dtype=bool)
    positive[:2] = positive[40:60] = positive[80] = True
    is_level = np.array([False, True])
    X = np.column_stack([np.zeros(85), column])
    order = LevelOrder.of(X, positive, np.ones(85), is_level)
    # One positive of one row says less than 20 of 40.
    assert order.place[1].tolist() == [0, 2, 1]
    coded = order.encode(np.array([[0, 3.0], [0, 7.0], [0, 4.0], [0, np.nan]]))
    np.testing.assert_array_equal(coded[:, 1], [0, 1, np.nan, np.nan])


def test_trees_of_a_file_are_checked(tmp_path):
    model, X, _ = fitted()
    trees = model.trees_
    first = int(np.flatnonzero(trees.left >= 0)[1])
    round_about = trees.left.copy()
    round_about[first] = 0
    shared = trees.left.copy()
    shared[first] = trees.left[0]
    broken = {
        "a node leads nowhere": [trees._replace(left=round_about), trees._replace(left=shared)],
        "'starts' are not those": [trees._replace(starts=trees.starts[:-1])],
        "more positives than rows": [trees._replace(sums=trees.sums[:, ::-1].copy())],
        "order of the categories": [
            trees._replace(levels=trees.levels._replace(place={3: np.zeros(5)}))
        ],
    }
    for message, forests in broken.items():
        for forest in forests:
            model.trees_ = forest
            save_unchecked(model, tmp_path / "model")
            with pytest.raises(ValueError, match=message):
                load(tmp_path / "model")
    model.trees_ = trees
    save_unchecked(model, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").priority(X), model.priority(X))
