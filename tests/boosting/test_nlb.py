import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.base import clone
from sklearn.datasets import make_blobs
from unchecked import save_unchecked

import rarefind
from rarefind.boosting import NLBClassifier
from rarefind.metrics import average_precision

LEAVES = pytest.mark.parametrize("leaves", ["newton", "squared"])
UPDATES = pytest.mark.parametrize("update", ["learner", "all", "none"])
STARTS = pytest.mark.parametrize("start", ["uniform", "mirrored"])


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n) > 1.6


def holed(n=400, seed=0):
    """Numbers with missing values, and a column of eight levels that says most."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, 2)), rng.choice([3, 5, 7, 11, 13, 17, 19, 23], n)])
    y = (np.isin(X[:, 2], [5, 13, 23]) & (X[:, 0] > 0)) ^ (rng.random(n) < 0.02)
    X[rng.random(n) < 0.1, 1] = np.nan
    return X, y


def quick(rounds=12, **params):
    """Rounds without folds."""
    given = {"early_stopping_rounds": None, "threshold": None, "random_state": 0} | params
    return NLBClassifier(n_estimators=rounds, **given)


def toy(seed, n=3000, share=0.1, corner=0.2):
    """The thesis's toy: positives at the top or at the left, negatives in the corner of both."""
    rng = np.random.default_rng(seed)
    positives = round(n * share)
    negatives = n - positives

    def within(m, left, right, bottom, top):
        return np.column_stack([rng.uniform(left, right, m), rng.uniform(bottom, top, m)])

    at_top, in_corner = rng.binomial(positives, 0.5), rng.binomial(negatives, 0.088)
    X = np.vstack(
        [
            within(at_top, 0, 1, 1 - corner, 1),
            within(positives - at_top, 0, corner, 0, 1),
            within(in_corner, 0, corner, 1 - corner, 1),
            within(negatives - in_corner, corner, 1, 0, 1 - corner),
        ]
    )
    return X, np.arange(n) < positives


def learned(model, X):
    """What each tree says of each row, by a booster of that tree alone."""
    codes = model._coding.codes(np.asarray(X, dtype=float))
    kinds, sets = model._coding.feature_types, bool(model._coding.is_set.any())
    data = xgboost.DMatrix(codes, feature_types=kinds, enable_categorical=sets)
    trees = [model._trees.booster()[t : t + 1] for t in range(model.n_learners_)]
    outputs = [tree.predict(data, output_margin=True).astype(float) for tree in trees]
    return np.column_stack(outputs) * model._scale


def naive_scores(model, X):
    """The network as it is written in the thesis, on the trees' outputs."""
    network = model._network
    scores = []
    for h in learned(model, X):
        z = [sum(a * value for a, value in zip(A, h, strict=True)) for A in network.inner.T]
        shown = np.array([max(value, 0.0) for value in z])
        scores.append(network.start + shown @ network.outer)
    return np.array(scores)


def logistic_loss(y, score):
    return np.logaddexp(0, np.where(y, -score, score)).mean()


@LEAVES
def test_with_mirrored_weights_and_no_update_it_is_the_sum_of_the_trees(leaves):
    X, y = table()
    model = quick(update="none", start="mirrored", jitter=0, leaves=leaves).fit(X, y)
    total = np.log(y.mean() / (1 - y.mean())) + learned(model, X).sum(axis=1)
    np.testing.assert_allclose(model.priority(X), total, rtol=1e-9, atol=1e-9)


def test_with_mirrored_weights_and_no_update_it_is_xgboost():
    X, y = table()
    model = quick(update="none", start="mirrored", jitter=0, bins="quantile", max_bins=256)
    score = model.fit(X, y).priority(X)
    prior = np.log(y.mean() / (1 - y.mean()))
    params = {
        "objective": "binary:logistic",
        "base_score": y.mean(),
        "learning_rate": 0.1,
        "max_depth": 3,
        "min_child_weight": 0,
        "max_delta_step": 20,
        "nthread": 1,
    }
    data = xgboost.QuantileDMatrix(X, y, max_bin=256)
    twin = xgboost.train(params | {"max_bin": 256}, data, 12)
    np.testing.assert_allclose(score, twin.predict(data, output_margin=True), rtol=0, atol=1e-4)
    assert np.ptp(score) > 1
    assert not np.allclose(score, prior)


def test_squared_leaves_take_one_newton_step_a_tree():
    """A tree by least squares on the residual, then one multiplier; twice, by hand."""
    X, y = table()
    rate = 0.3
    model = quick(
        2, update="none", start="mirrored", jitter=0, leaves="squared", bins="quantile",
        learning_rate=rate, max_bins=256,
    ).fit(X, y)  # fmt: skip
    data = xgboost.QuantileDMatrix(X, y, max_bin=256)
    params = {"objective": "reg:squarederror", "base_score": 0, "learning_rate": 1, "max_depth": 3}
    params |= {"reg_lambda": 0, "min_child_weight": 0, "max_bin": 256, "nthread": 1}
    score = np.full(y.size, np.log(y.mean() / (1 - y.mean())))
    for _ in range(2):
        chance = 1 / (1 + np.exp(-score))
        booster = xgboost.Booster(params, [data])
        gradient = (chance - y).astype(np.float32)
        booster.boost(data, grad=gradient, hess=np.ones(y.size, dtype=np.float32), iteration=0)
        tree = booster.predict(data, output_margin=True).astype(float)
        step = tree @ (y - chance) / (tree**2 @ (chance * (1 - chance)))
        score = score + rate * step * tree
    np.testing.assert_allclose(model.priority(X), score, rtol=0, atol=1e-4)


@LEAVES
@STARTS
@UPDATES
def test_the_training_loss_falls(leaves, start, update):
    X, y = table(200)
    losses = [
        logistic_loss(y, quick(n, leaves=leaves, start=start, update=update).fit(X, y).priority(X))
        for n in (1, 4, 8, 16)
    ]
    assert (np.diff(losses) < 0).all()
    prior = np.full(y.size, np.log(y.mean() / (1 - y.mean())))
    assert losses[0] < logistic_loss(y, prior)


@LEAVES
@UPDATES
@pytest.mark.parametrize("classes", [2, 3])
def test_priorities_are_those_of_the_naive_network_on_the_trees(leaves, update, classes):
    X, y = holed(250)
    y = y.astype(int)
    if classes == 3:
        y[X[:, 0] < -1] = 2
    model = quick(5, leaves=leaves, update=update, categorical_features=[2]).fit(X, y)
    expected = naive_scores(model, X)
    if classes == 2:
        np.testing.assert_allclose(model.priority(X), expected[:, 0], rtol=1e-6, atol=1e-6)
    else:
        odds = np.exp(expected)
        chance = odds / odds.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.predict_proba(X), chance, atol=1e-6)
        np.testing.assert_array_equal(model.predict(X), expected.argmax(axis=1))


def test_the_scores_of_the_fit_are_those_of_the_model():
    """What the network has seen of its training rows is what it says of them later."""
    X, y = holed(250)
    model = NLBClassifier(n_estimators=6, categorical_features=[2], random_state=0)
    kept = []
    keep = NLBClassifier._keep
    try:
        NLBClassifier._keep = lambda self, grown: (kept.append(grown.builder), keep(self, grown))[1]
        model.fit(X, y)
    finally:
        NLBClassifier._keep = keep
    np.testing.assert_allclose(kept[0].scores[:, 0], model.priority(X), rtol=1e-6, atol=1e-6)


def test_a_row_does_not_depend_on_others():
    X, y = holed()
    model = quick(8, categorical_features=[2]).fit(X, y)
    alone = np.concatenate([model.priority(X[i : i + 1]) for i in range(20)])
    np.testing.assert_array_equal(model.priority(X[:20]), alone)


@pytest.mark.parametrize("classes", [3, 4])
@pytest.mark.parametrize("named", [False, True])
def test_more_than_two_classes(classes, named):
    X, codes = make_blobs(300, 3, centers=classes, cluster_std=1.5, random_state=1)
    names = np.array(["ash", "beech", "oak", "yew"]) if named else np.arange(4) * 10
    y = names[codes]
    train = np.arange(300) < 200
    model = NLBClassifier(n_estimators=10, cv=2, random_state=0).fit(X[train], y[train])
    assert model.classes_.tolist() == names[:classes].tolist()
    assert model.n_learners_ == classes * model.n_rounds_
    chance = model.predict_proba(X[~train])
    assert chance.shape == (100, classes)
    np.testing.assert_allclose(chance.sum(axis=1), 1.0, rtol=1e-12)
    assert ((chance > 0) & (chance < 1)).all()
    labels = model.predict(X[~train])
    np.testing.assert_array_equal(labels, model.classes_[chance.argmax(axis=1)])
    assert (labels == y[~train]).mean() > 0.9
    for method in ("priority", "decision_function", "explain"):
        assert not hasattr(model, method)
    with pytest.raises(AttributeError):
        model.priority(X)
    assert np.isnan(model.threshold_)
    # The curve is minus the logistic loss of held-out rows, which random guesses have at log(K).
    assert (model.validation_curve_ <= 0).all()
    assert model.validation_curve_[-1] > -np.log(classes)


def test_a_positive_label_needs_two_classes():
    X, y = make_blobs(60, 3, centers=3, random_state=0)
    with pytest.raises(ValueError, match="pos_label needs two classes, and y has 3"):
        quick(2, pos_label=1).fit(X, y)


@pytest.mark.parametrize("positive", ["fraud", "good"])
def test_labels_may_be_words(positive):
    X, y = table()
    words = np.where(y, "fraud", "good")
    model = NLBClassifier(n_estimators=8, pos_label=positive, random_state=0).fit(X, words)
    assert model.pos_label_ == positive
    assert model.classes_.tolist() == ["fraud", "good"]
    truth = words == positive
    assert model.priority(X)[truth].mean() > model.priority(X)[~truth].mean()
    assert set(model.predict(X)) == {"fraud", "good"}
    chance = model.predict_proba(X)[:, int(positive == "good")]
    order = np.argsort(model.priority(X), kind="stable")
    assert (np.diff(chance[order]) >= 0).all()
    alerts = model.predict(X) == positive
    np.testing.assert_array_equal(alerts, model.priority(X) >= model.threshold_)


def test_missing_values_and_levels_are_learned_from():
    X, y = holed()
    X[:, 1] = np.where(y & (np.arange(y.size) % 4 > 0), np.nan, X[:, 1])
    plain = quick(20).fit(X, y)
    levels = quick(20, categorical_features=[2]).fit(X, y)
    assert average_precision(y, levels.priority(X)) > 0.9
    # Levels 5, 13 and 23 have no order that one cut could use.
    without = np.column_stack([X[:, 0], np.zeros(y.size), X[:, 2]])
    by_number = average_precision(y, quick(4, max_depth=2).fit(without, y).priority(without))
    by_sets = quick(4, max_depth=2, categorical_features=[2]).fit(without, y).priority(without)
    assert average_precision(y, by_sets) > by_number + 0.1
    missing = X[:5].copy()
    missing[:, 1] = np.nan
    filled = missing.copy()
    filled[:, 1] = 0.0
    assert (plain.priority(missing) > plain.priority(filled)).all()


def test_a_level_that_is_new_is_a_missing_value():
    X, y = holed()
    model = quick(8, categorical_features=[2]).fit(X, y)
    new, missing = X[:30].copy(), X[:30].copy()
    new[:, 2], missing[:, 2] = 4.0, np.nan
    np.testing.assert_array_equal(model.priority(new), model.priority(missing))
    assert not np.array_equal(model.priority(new), model.priority(X[:30]))


def test_levels_may_be_given_by_name():
    X, y = holed()
    frame = pd.DataFrame(X, columns=["a", "b", "level"])
    named = quick(5, categorical_features=["level"]).fit(frame, y).priority(frame)
    for given in ([2], [False, False, True]):
        model = quick(5, categorical_features=given).fit(X, y)
        np.testing.assert_array_equal(model.priority(X), named)


def curve_by_hand(X, y, held, rounds, **params):
    """AP of held-out rows after each round, by a model of as many rounds."""
    train = ~held
    models = [quick(n, **params).fit(X[train], y[train]) for n in range(1, rounds + 1)]
    return np.array([average_precision(y[held], model.priority(X[held])) for model in models])


@pytest.mark.parametrize(
    ("update", "leaves"), [("learner", "newton"), ("all", "squared"), ("none", "squared")]
)
def test_stopping_early_keeps_the_best_round(update, leaves):
    X, y = table(300, seed=3)
    held = np.arange(300) % 2 == 0
    params = {"learning_rate": 0.5, "update": update, "leaves": leaves}
    model = quick(12, early_stopping_rounds=3, **params)
    model.fit(X[~held], y[~held], eval_set=(X[held], y[held]))
    curve = model.validation_curve_
    np.testing.assert_allclose(curve, curve_by_hand(X, y, held, len(curve), **params), rtol=1e-6)
    # Of equal rounds the last.
    assert model.n_rounds_ == model.n_learners_ == np.flatnonzero(curve == curve.max())[-1] + 1
    assert len(curve) == min(12, curve.argmax() + 1 + 3)


def test_without_stopping_all_rounds_are_made():
    X, y = table()
    model = NLBClassifier(n_estimators=7, early_stopping_rounds=None, random_state=0).fit(X, y)
    assert model.n_rounds_ == model.n_learners_ == len(model.validation_curve_) == 7
    assert quick(7).fit(X, y).validation_curve_.size == 0


@pytest.mark.parametrize("depth", [1, 3])
def test_splits_are_counted_a_tree(depth):
    X, y = table()
    model = quick(6, max_depth=depth).fit(X, y)
    nodes = model._trees.booster().trees_to_dataframe()
    inner = (nodes["Feature"] != "Leaf").groupby(nodes["Tree"]).sum()
    assert model.n_splits_ == pytest.approx(inner.mean())
    assert len(inner) == model.n_learners_ == 6
    assert 0 < model.n_splits_ <= 2**depth - 1


@LEAVES
@UPDATES
def test_contributions_and_means_add_up_to_the_score(leaves, update):
    X, y = holed(250)
    model = quick(6, leaves=leaves, update=update, categorical_features=[2]).fit(X, y)
    data = xgboost.DMatrix(
        model._coding.codes(X), feature_types=model._coding.feature_types, enable_categorical=True
    )
    means = np.array(
        [
            model._trees.booster()[t : t + 1].predict(data, pred_contribs=True)[0, -1]
            for t in range(model.n_learners_)
        ]
    )
    slopes = model._network.slopes(learned(model, X))
    expected = model.priority(X) - model._network.start[0] - slopes @ (model._scale * means)
    np.testing.assert_allclose(model._contributions(X).sum(axis=1), expected, rtol=1e-4, atol=1e-4)


def test_reasons_name_the_columns_that_raise_the_score():
    X, y = table()
    model = NLBClassifier(n_estimators=10, random_state=0).fit(X, y)
    for row, reason in enumerate(model.explain(X[:40])):
        added = model._contributions(X[row : row + 1])[0]
        order = [f"x{j}" for j in np.argsort(-added, kind="stable") if added[j] > 0]
        assert [condition.feature for condition in reason.because] == order
        weights = [condition.weight for condition in reason.because]
        assert sum(weights) == pytest.approx(1.0 if order else 0.0)
        assert reason.score == model.priority(X[row : row + 1])[0]
        assert 0 <= reason.rank_in_reference <= 1


@UPDATES
@STARTS
def test_the_same_seed_gives_the_same_model(update, start):
    X, y = table()
    model = NLBClassifier(n_estimators=6, update=update, start=start, random_state=5)
    first = model.fit(X, y).priority(X)
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(again.priority(X), first)
    assert again.threshold_ == model.threshold_
    other = clone(model).set_params(random_state=6).fit(X, y).priority(X)
    assert not np.array_equal(other, first)


@pytest.mark.parametrize("classes", [2, 3])
@LEAVES
def test_a_saved_model_says_the_same(tmp_path, classes, leaves):
    X, y = holed(250)
    y = y.astype(int)
    if classes == 3:
        y[X[:, 0] < -1] = 2
    model = NLBClassifier(n_estimators=4, leaves=leaves, categorical_features=[2], random_state=0)
    model.fit(X, y)
    rarefind.save(model, tmp_path / "model.rarefind")
    read = rarefind.load(tmp_path / "model.rarefind")
    np.testing.assert_array_equal(read.predict(X), model.predict(X))
    np.testing.assert_array_equal(read.predict_proba(X), model.predict_proba(X))
    if classes == 2:
        np.testing.assert_array_equal(read.priority(X), model.priority(X))
        assert list(map(str, read.explain(X[:5]))) == list(map(str, model.explain(X[:5])))


def test_a_file_with_the_weights_of_other_learners_is_refused(tmp_path):
    X, y = table()
    model = quick(4).fit(X, y)
    model._network = model._network._replace(inner=model._network.inner[:-1])
    save_unchecked(model, tmp_path / "model.rarefind")
    with pytest.raises(ValueError, match=r"nlb-network, learners\) has 3 entries where 4 belong"):
        rarefind.load(tmp_path / "model.rarefind")


def test_rows_of_weight_0_are_not_there_and_the_scale_of_weights_is_nothing():
    X, y = table()
    weight = np.where(
        np.arange(y.size) % 5 == 0, 0.0, np.random.default_rng(0).uniform(1, 2, y.size)
    )
    model = NLBClassifier(n_estimators=6, random_state=0)
    score = model.fit(X, y, sample_weight=weight).priority(X)
    threshold = model.threshold_
    there = weight > 0
    model.fit(X[there], y[there], sample_weight=weight[there])
    np.testing.assert_array_equal(model.priority(X), score)
    assert model.threshold_ == threshold
    np.testing.assert_array_equal(model.fit(X, y, sample_weight=8 * weight).priority(X), score)
    assert not np.array_equal(model.fit(X, y).priority(X), score)


@pytest.mark.parametrize("rate", [5.0, 1000.0])
@LEAVES
@UPDATES
def test_scores_stay_finite_however_large_the_steps(rate, leaves, update):
    X, y = table(150)
    score = quick(5, learning_rate=rate, leaves=leaves, update=update).fit(X, y).priority(X)
    assert np.isfinite(score).all()


def test_columns_that_say_nothing_leave_the_prior():
    y = np.arange(60) < 12
    model = NLBClassifier(n_estimators=3, random_state=0).fit(np.ones((60, 2)), y)
    np.testing.assert_allclose(model.priority(np.ones((4, 2))), np.log(12 / 48), rtol=1e-6)
    assert model.explain(np.ones((1, 2)))[0].because == []
    assert model.n_splits_ == 0


def test_two_stumps_say_this_and_that_but_not_both():
    """What no sum of stumps can say."""
    found = {"all": [], "none": []}
    for seed in range(5):
        X, y = toy(seed)
        for update in ("all", "none"):
            model = quick(
                2, max_depth=1, learning_rate=1.0, update=update, sweeps=5, random_state=seed
            )
            score = model.fit(X, y).priority(X)
            found[update].append(average_precision(y, score))
    assert np.median(found["all"]) > 0.85
    linear = []
    for seed in range(5):
        X, y = toy(seed)
        for rate in (0.5, 1.0):
            model = quick(
                2, max_depth=1, learning_rate=rate, update="none", start="mirrored", jitter=0
            )
            linear.append(average_precision(y, model.fit(X, y).priority(X)))
    assert max(linear) < 0.5
    assert np.median(found["none"]) < 0.5
