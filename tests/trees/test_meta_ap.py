import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold
from sklearn.utils import check_random_state
from trees.naive import random_rows

import rarefind
from rarefind.metrics import average_precision, count_metric, precision_at_k
from rarefind.plots import MetaTreeDisplay
from rarefind.selection import folds
from rarefind.trees import MetaAPClassifier
from rarefind.trees import _classifier as classifier
from rarefind.trees._prune import SMOOTHINGS

# Nothing is chosen and nothing held out.
PLAIN = {"prune": False, "smoothing": 1.0, "threshold": None}


def table(n=240, seed=0, d=3):
    """About one row in eight is positive, mostly in a corner."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, 0] + X[:, 1] + 0.7 * rng.normal(size=n) > 1.8


def folds_of(model, X, y, groups=None):
    """The folds that ``fit`` makes with an integer seed."""
    seed = int(check_random_state(model.random_state).randint(2**31 - 1))
    return folds(X, y, model.cv, groups=groups, random_state=seed)


def held_out_scores(model, X, y, pairs, weight=None):
    """Fit the same tree, in the shape that was chosen, on each fold."""
    alone = MetaAPClassifier(**model.get_params()).set_params(
        inner_depth=model.inner_depth_,
        outer_depth=model.outer_depth_,
        smoothing=model.smoothing_,
        prune=False,
        threshold=None,
        pos_label=model.pos_label_,
    )
    found = []
    for train, test in pairs:
        own = None if weight is None else weight[train]
        found.append(alone.fit(X[train], y[train], sample_weight=own).priority(X[test]))
    return found


def mean_ap(model, X, y, pairs):
    scores = held_out_scores(model, X, y, pairs)
    return np.mean([average_precision(y[t], s) for s, (_, t) in zip(scores, pairs, strict=True)])


@pytest.mark.parametrize("ties", ["leaf", "border"])
@pytest.mark.parametrize("scores", ["precision", "position"])
def test_the_held_out_value_is_the_mean_of_folds_by_hand(ties, scores):
    X, y = table()
    X[::7, 2] = np.nan
    model = MetaAPClassifier(2, 3, ties=ties, scores=scores, random_state=3).fit(X, y)
    pairs = folds_of(model, X, y)
    assert len(pairs) == 5
    assert model.held_out_value_ == pytest.approx(mean_ap(model, X, y, pairs), rel=1e-9)


def test_bins_of_a_fold_are_cut_by_its_own_rows():
    X, y = table(1000)
    model = MetaAPClassifier(2, 2, splitter="histogram", max_bins=16, random_state=3).fit(X, y)
    by_hand = mean_ap(model, X, y, folds_of(model, X, y))
    assert model.held_out_value_ == pytest.approx(by_hand, rel=1e-9)


@pytest.mark.parametrize("ties", ["leaf", "border"])
def test_no_other_depth_or_smoothing_ranks_held_out_rows_better(ties):
    X, y = table(seed=1)
    given_for = {"inner_depth": 2, "ties": ties, "random_state": 0, "prune": False}
    model = MetaAPClassifier(2, 3, ties=ties, random_state=0).fit(X, y)
    values = {
        (depth, m): MetaAPClassifier(outer_depth=depth, smoothing=m, **given_for)
        .fit(X, y)
        .held_out_value_
        for depth in range(4)
        for m in SMOOTHINGS
    }
    assert values[model.outer_depth_, model.smoothing_] == model.held_out_value_
    assert max(values.values()) == model.held_out_value_
    assert min(values.values()) < model.held_out_value_


@pytest.mark.parametrize("metric", ["f1", "g_mean", "accuracy"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_the_threshold_is_the_best_for_the_pooled_held_out_rows(metric, class_weight):
    """Weights of classes count while growing and not here."""
    X, y = table()
    weight = np.random.default_rng(0).uniform(0.5, 2, y.size)
    model = MetaAPClassifier(
        2, 2, metric=metric, class_weight=class_weight, ties="border", random_state=1
    ).fit(X, y, sample_weight=weight)
    pairs = folds_of(model, X, y)
    if class_weight is None:
        scores = held_out_scores(model, X, y, pairs, weight)
    else:  # "balanced" is by all rows there
        own = weight * np.where(y, 1 / y.mean(), 1 / (1 - y.mean()))
        scores = held_out_scores(model.set_params(class_weight=None), X, y, pairs, own)
    of_folds = [
        average_precision(y[test], score, sample_weight=weight[test])
        for score, (_, test) in zip(scores, pairs, strict=True)
    ]
    assert model.held_out_value_ == pytest.approx(np.mean(of_folds), rel=1e-9)
    score = np.concatenate(scores)
    held = np.concatenate([test for _, test in pairs])
    measure = count_metric(metric)

    def worth(threshold):
        alert = score >= threshold
        cells = [alert & y[held], alert & ~y[held], ~alert & y[held], ~alert & ~y[held]]
        return float(measure(*(np.array(weight[held][cell].sum()) for cell in cells)))

    values = [worth(t) for t in [*np.unique(score), np.inf]]
    assert model.value_ == pytest.approx(max(values), rel=1e-9)
    assert worth(model.threshold_) == pytest.approx(max(values), rel=1e-9)


@pytest.mark.parametrize("positive_is", ["a", "z"])
@pytest.mark.parametrize("threshold", ["auto", 0.3, None])
def test_predict_decision_and_priority_agree_whatever_the_labels(positive_is, threshold):
    X, positive = table()
    y = np.where(positive, positive_is, "m")
    model = MetaAPClassifier(2, 3, threshold=threshold, random_state=0).fit(X, y)
    assert model.pos_label_ == positive_is
    if threshold != "auto":
        assert model.threshold_ == (0.5 if threshold is None else threshold)
    alert = model.priority(X) >= model.threshold_
    assert 0 < alert.sum() < y.size
    np.testing.assert_array_equal(model.predict(X) == positive_is, alert)
    decision = model.decision_function(X)
    np.testing.assert_array_equal(model.classes_[(decision > 0).astype(int)], model.predict(X))
    upwards = decision if model.classes_[1] == positive_is else -decision
    np.testing.assert_allclose(upwards, model.priority(X) - model.threshold_, atol=1e-300)
    same = MetaAPClassifier(2, 3, threshold=threshold, random_state=0).fit(X, positive)
    np.testing.assert_array_equal(same.priority(X), model.priority(X))
    assert same.threshold_ == model.threshold_


def test_missing_values_are_learned_from_and_can_come_later():
    """A missing value in the first column is the sign of a positive; the second has none at fit."""
    X, y = table()
    X[y, 0] = np.nan
    model = MetaAPClassifier(2, 2, random_state=0).fit(X, y)
    assert average_precision(y, model.priority(X)) == 1
    assert model.held_out_value_ > 0.95
    assert "x0 is missing" in str(model.explain(X[y][:1])[0])
    later = X[:20].copy()
    later[:, 1] = np.nan
    assert np.isfinite(model.priority(later)).all()
    np.testing.assert_array_equal(model.priority(later) > model.priority(X[~y]).max(), y[:20])


@pytest.mark.parametrize("when", ["fit", "predict"])
def test_infinity_is_refused_by_the_name_of_its_column(when):
    X, y = table()
    X = pd.DataFrame(X, columns=["amount", "age", "count"])
    bad = X.copy()
    bad.loc[3, "age"] = -np.inf
    with pytest.raises(ValueError, match=r"Column 'age' holds inf in 1 of 240 rows"):
        MetaAPClassifier(1, 1).fit(bad if when == "fit" else X, y).predict(bad)


@pytest.mark.parametrize("value", [3.0, np.nan])
@pytest.mark.parametrize("ties", ["leaf", "border"])
def test_columns_that_never_change_give_one_leaf(value, ties):
    X, y = np.full((60, 2), value), np.arange(60) % 6 == 0
    model = MetaAPClassifier(ties=ties, random_state=0).fit(X, y)
    assert model.n_leaves_ == 1
    assert model.n_conditions_ == 0
    new = np.array([[9.0, 9.0], [np.nan, 3.0]])
    assert model.priority(new).tolist() == pytest.approx([1 / 6] * 2)
    assert model.apply(new).tolist() == [1, 1]
    assert [reason.because for reason in model.explain(new)] == [[], []]
    assert "Score 0.167" in str(model.explain(new)[0])
    np.testing.assert_allclose(model.predict_proba(new)[:, 1], 1 / 6, atol=0.02)
    model.refit_budget(5)
    assert model.held_out_value_ == pytest.approx(1 / 6)


@pytest.mark.parametrize("ties", ["leaf", "border"])
@pytest.mark.parametrize("splitter", ["exact", "histogram"])
def test_what_can_be_told_apart_is(ties, splitter):
    X, _ = table()
    y = (X[:, 0] > 0.4) & (X[:, 1] < 0.2)
    model = MetaAPClassifier(ties=ties, splitter=splitter, random_state=0).fit(X, y)
    assert average_precision(y, model.priority(X)) == 1
    assert model.held_out_value_ > 0.9
    np.testing.assert_array_equal(model.predict(X), y)


def test_as_many_jobs_as_one_likes():
    X, y = table()
    one = MetaAPClassifier([1, 2], 3, random_state=0, n_jobs=1).fit(X, y)
    two = MetaAPClassifier([1, 2], 3, random_state=0, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.priority(X), two.priority(X))
    for name in ("held_out_value_", "threshold_", "inner_depth_", "outer_depth_", "smoothing_"):
        assert getattr(one, name) == getattr(two, name)


@pytest.mark.parametrize("given_as", [(1, 2, 3), [3, 1, 2], range(1, 4)])
def test_of_several_inner_depths_the_best_is_taken(given_as):
    X, y = table()
    values = {
        depth: MetaAPClassifier(depth, 2, random_state=0).fit(X, y).held_out_value_
        for depth in (1, 2, 3)
    }
    model = MetaAPClassifier(given_as, 2, random_state=0).fit(X, y)
    assert model.inner_depth_ == max(values, key=values.get)
    assert model.held_out_value_ == max(values.values()) > min(values.values())
    alone = MetaAPClassifier(model.inner_depth_, 2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.priority(X), alone.priority(X))


def test_auto_chooses_among_three_inner_depths():
    X, y = table(120)
    auto = MetaAPClassifier("auto", 2, random_state=0).fit(X, y)
    same = MetaAPClassifier(np.array([1, 2, 4]), 2, random_state=0).fit(X, y)
    assert auto.held_out_value_ == same.held_out_value_
    assert auto.inner_depth_ == same.inner_depth_


@pytest.mark.parametrize("bad", [[], (), [0, 1], [21], [1.5], ["a"], [[1, 2]], [None]])
def test_inner_depths_that_are_none(bad):
    X, y = table(60)
    expected = f"inner_depth is a depth from 1 to 20, several of them, or 'auto'; not {bad!r}."
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        MetaAPClassifier(bad).fit(X, y)


def test_a_budget_and_its_target_go_together():
    X, y = table(60)
    with pytest.raises(ValueError, match=r"^target='precision_at_k' needs k: [^.]*\(0\.5%\)\.$"):
        MetaAPClassifier(target="precision_at_k").fit(X, y)
    with pytest.raises(ValueError, match=r"^k is the budget of target='precision_at_k': [^.]*\.$"):
        MetaAPClassifier(k=10).fit(X, y)
    with pytest.raises(ValueError, match="A budget is a number of checks"):
        MetaAPClassifier(target="precision_at_k", k="many").fit(X, y)


@given(st.integers(0, 10**6), st.integers(1, 30))
@settings(max_examples=40)
def test_a_cut_for_the_budget_is_at_least_as_good_there(seed, k):
    rows = random_rows(seed, 30, ["numbers", "ties"], "ones")
    if rows.positive.sum() < 2:
        return
    given_for = {**PLAIN, "shrinkage": 0, "ties": "leaf", "pos_label": True, "smoothing": 0}
    for_ap = MetaAPClassifier(3, 1, **given_for).fit(rows.X, rows.positive)
    for_k = MetaAPClassifier(3, 1, target="precision_at_k", k=k, **given_for)
    for_k.fit(rows.X, rows.positive)
    at_k, by_ap = (
        precision_at_k(rows.positive, model.priority(rows.X), k) for model in (for_k, for_ap)
    )
    assert at_k >= by_ap - 1e-9


def test_a_budget_can_change_the_first_cut():
    X, y = table(seed=2)
    for_ap = MetaAPClassifier(3, 1, **PLAIN, ties="leaf").fit(X, y)
    changed = []
    for k in (3, 10, 40, "50%"):
        for_k = MetaAPClassifier(3, 1, target="precision_at_k", k=k, **PLAIN, ties="leaf").fit(X, y)
        changed.append(not np.array_equal(for_k.apply(X), for_ap.apply(X)))
    assert any(changed)


@pytest.mark.parametrize("k", [0.1, "20%"])
def test_for_a_budget_the_held_out_value_is_precision_there(k):
    """Trees of folds are grown for the same share of their fewer rows."""
    X, _ = table(250)
    noisy = X[:, 0] + X[:, 1] + 0.7 * np.random.default_rng(1).normal(size=250)
    y = noisy >= np.sort(noisy)[-40]  # so that folds, and shares of them, are whole numbers
    model = MetaAPClassifier(
        3, 2, target="precision_at_k", k=k, prune=False, ties="leaf", random_state=0
    ).fit(X, y)
    pairs = folds_of(model, X, y)
    share = 0.1 if k == 0.1 else 0.2
    by_hand = [
        precision_at_k(y[test], score, share)
        for score, (_, test) in zip(held_out_scores(model, X, y, pairs), pairs, strict=True)
    ]
    assert model.held_out_value_ == pytest.approx(np.mean(by_hand), rel=1e-9)


def budget_search(model, share):
    """Which shape ranks best about the first share of held-out rows, and its precision there."""
    around = [np.mean([fold[i].around(share) for fold in model._held_out]) for i in range(16)]
    best = int(np.argmax(around))
    return best, np.mean([fold[best].precision(share) for fold in model._held_out])


@pytest.mark.parametrize("ties", ["leaf", "border"])
def test_another_budget_without_growing_again(monkeypatch, ties, tmp_path):
    X, y = table(seed=4)
    model = MetaAPClassifier(2, 3, ties=ties, random_state=0).fit(X, y)
    grown = model._grown
    rarefind.save(model, tmp_path / "model.rf")
    loaded = rarefind.load(tmp_path / "model.rf")

    def fail(*args):
        raise AssertionError("grown again")

    monkeypatch.setattr(classifier, "grow_meta_tree", fail)
    for k in (6, "25%", 6):
        assert model.refit_budget(k) is model
        best, value = budget_search(model, 6 / 240 if k == 6 else 0.25)
        assert (model.outer_depth_, model.smoothing_) == (best // 4, SMOOTHINGS[best % 4])
        assert model.held_out_value_ == pytest.approx(value, rel=1e-9)
        assert model._grown is grown
        assert model.n_leaves_ == model.apply(X).max()
        alert = model.priority(X) >= model.threshold_
        np.testing.assert_array_equal(model.predict(X), alert)
        np.testing.assert_array_equal(loaded.refit_budget(k).priority(X), model.priority(X))
        assert loaded.threshold_ == model.threshold_


@pytest.mark.parametrize("ties", ["leaf", "border"])
def test_the_budget_a_model_was_grown_for_changes_nothing(ties):
    X, y = table(seed=4)
    fixed = {"target": "precision_at_k", "k": 12, "random_state": 0, "ties": ties}
    model = MetaAPClassifier(2, 3, **fixed).fit(X, y)
    again = MetaAPClassifier(2, 3, **fixed).fit(X, y).refit_budget(12)
    np.testing.assert_array_equal(again.priority(X), model.priority(X))
    assert again.held_out_value_ == pytest.approx(model.held_out_value_, rel=1e-12)
    assert again.threshold_ == pytest.approx(model.threshold_)
    assert again.value_ == pytest.approx(model.value_)


def test_another_budget_keeps_the_levels_of_a_tree_that_is_not_pruned():
    X, y = table(seed=4)
    model = MetaAPClassifier(2, 3, prune=False, random_state=0).fit(X, y)
    for k in (3, 12, "50%"):
        assert model.refit_budget(k).outer_depth_ == 3


def test_a_number_for_the_threshold_stays_with_another_budget():
    X, y = table()
    for threshold in (0.2, None):
        model = MetaAPClassifier(2, 3, threshold=threshold, random_state=0).fit(X, y)
        assert model.refit_budget(10).threshold_ == (0.5 if threshold is None else threshold)


def test_another_budget_needs_rows_held_out():
    X, y = table()
    model = MetaAPClassifier(2, 2, **PLAIN).fit(X, y)
    assert np.isnan(model.held_out_value_)
    with pytest.raises(ValueError, match=r"^refit_budget needs held-out rows"):
        model.refit_budget(10)


@pytest.mark.parametrize("scores", ["precision", "position"])
@pytest.mark.parametrize("order", ["precision", "ratio"])
@pytest.mark.parametrize("ties", ["leaf", "border"])
def test_leaf_one_is_the_top_of_the_list(scores, order, ties):
    X, y = table()
    model = MetaAPClassifier(2, 3, scores=scores, order=order, ties=ties, **PLAIN).fit(X, y)
    leaf, priority = model.apply(X), model.priority(X)
    assert np.unique(leaf).tolist() == list(range(1, model.n_leaves_ + 1))
    assert model.n_leaves_ > 2
    for rank in range(1, model.n_leaves_):
        assert priority[leaf == rank].min() >= priority[leaf == rank + 1].max()


@given(st.integers(0, 10**6))
@settings(max_examples=30)
def test_bins_of_few_values_grow_the_same_tree(seed):
    rows = random_rows(seed, 80, ["ties", "ties", "levels"], "floats")
    sets = np.flatnonzero(rows.is_set)
    exact, binned = (
        MetaAPClassifier(
            2, 3, splitter=splitter, categorical_features=sets, pos_label=True, **PLAIN
        ).fit(rows.X, rows.positive, sample_weight=rows.weight)
        for splitter in ("exact", "histogram")
    )
    for name in ("feature", "missing_left", "left", "right", "threshold"):
        one, other = (getattr(model.tree_.conditions, name) for model in (exact, binned))
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(exact.priority(rows.X), binned.priority(rows.X))


class Recording(GroupKFold):
    """Remembers the groups on both sides of every fold."""

    def split(self, X, y=None, groups=None):
        self.seen = []
        for train, test in super().split(X, y, groups):
            self.seen.append((set(groups[train]), set(groups[test])))
            yield train, test


def test_groups_stay_together():
    X, y = table()
    groups = np.arange(y.size) % 30
    cv = Recording(4)
    model = MetaAPClassifier(2, 2, cv=cv, random_state=0).fit(X, y, groups=groups)
    assert len(cv.seen) == 4
    assert all(not train & test for train, test in cv.seen)
    by_hand = mean_ap(model, X, y, folds_of(model, X, y, groups))
    assert model.held_out_value_ == pytest.approx(by_hand, rel=1e-9)


def test_groups_matter_for_folds_by_number():
    """Copies of one row are held out together, so a model that knows them by heart gains none."""
    rng = np.random.default_rng(0)
    X, y = np.repeat(rng.normal(size=(40, 2)), 6, axis=0), np.repeat(rng.random(40) < 0.3, 6)
    groups = np.repeat(np.arange(40), 6)
    model = MetaAPClassifier(4, 4, shrinkage=0, random_state=0)
    apart = model.fit(X, y).held_out_value_
    together = model.fit(X, y, groups=groups).held_out_value_
    assert apart > 0.9
    assert together < 0.7


def holds(condition, value):
    if condition.value == "missing":
        return bool(np.isnan(value))
    if condition.value == "present":
        return not np.isnan(value)
    if condition.op == "between":
        return condition.value[0] < value <= condition.value[1]
    return {
        "<=": lambda: value <= condition.value,
        ">": lambda: value > condition.value,
        "in": lambda: value in condition.value,
        "not in": lambda: value not in condition.value,
        "=": lambda: value == condition.value,
    }[condition.op]()


@pytest.mark.parametrize("ties", ["leaf", "border"])
def test_reasons_hold_for_their_rows(ties):
    X, y = table()
    X[::5, 1] = np.nan
    X[:, 2] = np.round(X[:, 2])
    y = y | (X[:, 2] == -2)
    names = ["amount", "age", "kind"]
    frame = pd.DataFrame(X, columns=names)
    model = MetaAPClassifier(3, 3, ties=ties, categorical_features=["kind"], random_state=0)
    reasons = model.fit(frame, y).explain(frame)
    used = set()
    for row, reason, priority in zip(X, reasons, model.priority(frame), strict=True):
        features = [condition.feature for condition in reason.because]
        used.update(features)
        assert len(set(features)) == len(features) > 0
        weights = [condition.weight for condition in reason.because]
        assert sum(weights) == pytest.approx(1)
        assert weights == sorted(weights, reverse=True)
        assert all(holds(c, row[names.index(c.feature)]) for c in reason.because)
        assert reason.score == priority
        assert 0 <= reason.rank_in_reference <= 1
    assert used == set(names)
    ranks = np.array([reason.rank_in_reference for reason in reasons])
    order = np.argsort(model.priority(frame))
    assert (np.diff(ranks[order]) >= 0).all()
    assert ranks.max() > ranks.min() + 0.5


def test_the_rank_is_the_share_of_held_out_rows_below():
    X, y = table()
    model = MetaAPClassifier(2, 3, random_state=0).fit(X, y)
    known = np.concatenate(held_out_scores(model, X, y, folds_of(model, X, y)))
    for reason in model.explain(X[:20]):
        assert reason.rank_in_reference == pytest.approx((known < reason.score).mean())


def test_without_rows_held_out_there_is_no_rank():
    X, y = table()
    reason = MetaAPClassifier(2, 2, **PLAIN).fit(X, y).explain(X[:1])[0]
    assert reason.rank_in_reference is None


def test_progress_is_shown_when_asked_for(capsys):
    X, y = table(60)
    MetaAPClassifier([1, 2], 1, verbose=0, cv=3, random_state=0).fit(X, y)
    assert capsys.readouterr().out == ""
    MetaAPClassifier([1, 2], 1, verbose=1, cv=3, random_state=0).fit(X, y)
    shown = capsys.readouterr().out
    assert "MetaAPClassifier: trees" in shown
    assert "7/7" in shown  # two inner depths on three folds, and the tree of all rows


@given(st.integers(0, 10**6), st.sampled_from(["precision", "position"]))
@settings(max_examples=25)
def test_a_weight_is_a_number_of_copies(seed, scores):
    """Bands are as wide as different rows ask for, so ties stay here."""
    rows = random_rows(seed, 40, ["numbers", "ties", "levels"], "ints")
    times = rows.weight.astype(int)
    model = MetaAPClassifier(
        2,
        3,
        prune=False,
        smoothing=0,
        shrinkage=0,
        threshold=None,
        ties="leaf",
        scores=scores,
        pos_label=True,
    )
    weighted = model.fit(rows.X, rows.positive, sample_weight=times).priority(rows.X)
    model.fit(np.repeat(rows.X, times, axis=0), np.repeat(rows.positive, times))
    np.testing.assert_allclose(model.priority(rows.X), weighted, rtol=1e-9)


def test_with_a_single_positive_nothing_is_held_out():
    X, _ = table(40)
    y = np.arange(40) == 7
    model = MetaAPClassifier(2, 2, threshold=None).fit(X, y)
    assert np.isnan(model.held_out_value_)
    assert model.priority(X).argmax() == 7
    with pytest.raises(ValueError, match="The rarer label has 1 row"):
        MetaAPClassifier(2, 2).fit(X, y)


def test_what_is_shown_of_a_tree_speaks_of_levels():
    rng = np.random.default_rng(0)
    cities = pd.Categorical(rng.choice(["Lyon", "Nice", "Paris"], 300))
    frame = pd.DataFrame({"amount": rng.normal(size=300), "city": cities})
    y = (frame.city == "Nice") & (frame.amount > 0)
    model = MetaAPClassifier(random_state=0).fit(frame, y)
    shown = (model.export_text(), model.to_graphviz(), model.to_svg(), model.to_sql())
    assert all("Nice" in text for text in shown)
    assert any("city = Nice" in str(rule) for rule in model.to_conditions())
    boxes = MetaTreeDisplay.from_estimator(model).layout.boxes
    assert any("Nice" in line for box in boxes for line in box.lines)
    # What the model scores by stays numbers.
    assert model.tree_.levels[1].dtype == np.float64
