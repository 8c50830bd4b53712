import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rarefind.boosting import LambdaMARTClassifier, RankBoostClassifier, SGBAPClassifier
from rarefind.boosting import _base as base
from rarefind.boosting._sgbap import draw_batch
from rarefind.boosting._surrogates import SURROGATES
from rarefind.metrics import average_precision, precision_at_k
from rarefind.selection import best_threshold, folds

BOOSTERS = [SGBAPClassifier, RankBoostClassifier, LambdaMARTClassifier]
every_booster = pytest.mark.parametrize("booster", BOOSTERS)
LEVELS = [3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0, 23.0]


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n) > 1.6


def holed(n=400, seed=0):
    """Numbers with missing values, and a column of eight levels that says most."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, 2)), rng.choice(LEVELS, n)])
    y = (np.isin(X[:, 2], [5, 13, 23]) & (X[:, 0] > 0)) ^ (rng.random(n) < 0.02)
    X[rng.random(n) < 0.1, 1] = np.nan
    X[rng.random(n) < 0.05, 2] = np.nan
    return X, y


def quick(rounds=8, booster=SGBAPClassifier, **params):
    """Rounds without folds."""
    given = {"early_stopping_rounds": None, "threshold": None, "random_state": 0} | params
    return booster(n_estimators=rounds, **given)


def log_odds(y):
    return np.log(y.mean() / (1 - y.mean()))


# ---------------------------------------------------------------------- what it is equal to


@pytest.mark.parametrize("method", ["hist", "exact"])
def test_the_logistic_loss_alone_is_xgboost(method):
    X, y = table()
    X[::7, 2] = np.nan
    X = X.astype(np.float32).astype(float)
    model = quick(
        10,
        mix=1.0,
        subsample=1.0,
        bins="quantile",
        tree_method=method,
        max_bins=64,
        max_depth=6,
        min_child_weight=1.0,
    )
    score = model.fit(X, y).priority(X)
    params = {"objective": "binary:logistic", "base_score": float(y.mean()), "max_depth": 6}
    params |= {"learning_rate": 0.1, "tree_method": method, "max_bin": 64, "nthread": 1}
    twin = xgboost.train(params, xgboost.DMatrix(X, y), 10)
    expected = twin.predict(xgboost.DMatrix(X), output_margin=True)
    np.testing.assert_allclose(score, expected, rtol=0, atol=2e-5)
    assert np.ptp(score) > 1
    assert model.base_score_ == pytest.approx(log_odds(y))


@pytest.mark.parametrize(
    "given",
    [
        {"learning_rate": 0.4},
        {"max_depth": 2},
        {"min_child_weight": 6.0},
        {"gamma": 2.0},
        {"reg_lambda": 20.0},
        {"reg_alpha": 3.0},
        {"colsample_bytree": 0.5},
        {"colsample_bylevel": 0.5},
        {"colsample_bynode": 0.5},
        {"monotone_constraints": (0, 1, -1, 0)},
    ],
)
def test_what_is_meant_for_xgboost_gets_there(given):
    X, y = table()
    X = X.astype(np.float32).astype(float)
    shared = {"max_depth": 4, "learning_rate": 0.1, "min_child_weight": 1.0}
    model = quick(4, mix=1.0, subsample=1.0, bins="quantile", max_bins=64, **shared | given)
    score = model.fit(X, y).priority(X)
    shared |= {"objective": "binary:logistic", "base_score": float(y.mean()), "max_bin": 64}
    shared |= {"nthread": 1, "seed": np.random.RandomState(0).randint(2**31 - 1)}
    twin = xgboost.train(shared | given, xgboost.QuantileDMatrix(X, y, max_bin=64), 4)
    expected = twin.predict(xgboost.DMatrix(X), output_margin=True)
    np.testing.assert_allclose(score, expected, rtol=0, atol=2e-5)
    plain = xgboost.train(shared, xgboost.QuantileDMatrix(X, y, max_bin=64), 4)
    assert not np.allclose(score, plain.predict(xgboost.DMatrix(X), output_margin=True), atol=1e-3)


@pytest.mark.parametrize(("positives", "least"), [(3, 0.06), (25, 0.5), (50, 1.0), (80, 1.0)])
def test_leaves_may_be_smaller_where_positives_are_few(positives, least):
    X, _ = table()
    y = np.argsort(np.argsort(-X[:, 0])) < positives
    found = quick(min_child_weight="auto").fit(X, y).priority(X)
    np.testing.assert_array_equal(found, quick(min_child_weight=least).fit(X, y).priority(X))
    assert average_precision(y, found) > 0.9


def test_rounds_of_the_logistic_loss_come_first_if_asked_for():
    X, y = table()
    alone = quick(6, mix=1.0).fit(X, y).priority(X)
    first = quick(6, mix=0.2, init="logistic", init_rounds=6).fit(X, y).priority(X)
    np.testing.assert_array_equal(first, alone)
    # As many rounds are made where more are asked for than there are.
    most = quick(6, mix=0.2, init="logistic", init_rounds=50).fit(X, y).priority(X)
    np.testing.assert_array_equal(most, alone)
    then = quick(7, mix=0.2, init="logistic", init_rounds=6).fit(X, y)
    margin = then.booster_[:6].predict(xgboost.DMatrix(then._coding.codes(X)), output_margin=True)
    np.testing.assert_allclose(then.base_score_ + margin, alone, rtol=1e-6)
    other = quick(7, mix=1.0).fit(X, y).priority(X)
    assert not np.allclose(then.priority(X), other, atol=1e-3)


def test_rankboost_is_boosting_of_the_pairs():
    X, y = table(120)
    X = X.astype(np.float32).astype(float)
    weight = np.random.default_rng(0).uniform(0.5, 2, y.size)
    model = quick(5, RankBoostClassifier, max_depth=6, tree_method="exact", min_child_weight=1.0)
    score = model.fit(X, y, sample_weight=weight).priority(X)
    weight = weight / weight.mean()
    data = xgboost.DMatrix(X)
    params = {"learning_rate": 0.1, "max_depth": 6, "tree_method": "exact", "base_score": 0}
    twin = xgboost.Booster(params | {"nthread": 1}, [data])
    start = np.log(weight[y].sum() / weight[~y].sum())
    for number in range(5):
        now = start + twin.predict(data, output_margin=True).astype(float)
        first = np.zeros(y.size)
        for i in np.flatnonzero(y):
            for j in np.flatnonzero(~y):
                pair = weight[i] * weight[j] * np.exp(now[j] - now[i]) / weight[~y].sum()
                first[j] += pair
                first[i] -= pair
        twin.boost(
            data,
            iteration=number,
            grad=first.astype(np.float32),
            hess=np.abs(first).astype(np.float32),
        )
    expected = start + twin.predict(data, output_margin=True)
    np.testing.assert_allclose(score, expected, rtol=0, atol=2e-5)
    assert np.ptp(score) > 0.5


@pytest.mark.parametrize("n", [150, 1500])
def test_lambdamart_is_xgboosts_ranker_with_all_rows_in_one_group(n):
    X, y = table(n)
    X = X.astype(np.float32).astype(float)
    model = quick(
        6, LambdaMARTClassifier, bins="quantile", max_bins=128, max_depth=6, min_child_weight=1.0
    ).fit(X, y)
    params = {
        "objective": "rank:map",
        "learning_rate": 0.1,
        "max_depth": 6,
        "base_score": 0.0,
        "max_bin": 128,
        "nthread": 1,
        "lambdarank_pair_method": "topk",
        "lambdarank_num_pair_per_sample": min(max(int(y.sum()), 32), 100),
    }
    data = xgboost.QuantileDMatrix(X, y, max_bin=128, qid=np.zeros(n, dtype=int))
    expected = xgboost.train(params, data, 6).predict(data, output_margin=True)
    np.testing.assert_allclose(model.priority(X) - model.base_score_, expected, atol=1e-5)
    assert np.ptp(expected) > 0.1


# ---------------------------------------------------------------------- the loss and its batches


def surrogate_loss(model, y, score):
    """What the model's rounds lower, on all rows."""
    n = y.size
    weight, scratch = np.ones(n), np.zeros((2, n))
    loss = SURROGATES[model.surrogate](
        score, y, weight, model.sharpness, 1 - model.mix, *scratch, 1
    )
    return loss + model.mix * np.logaddexp(0, np.where(y, -score, score)).sum()


@pytest.mark.parametrize("surrogate", list(SURROGATES))
@given(st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 10**6))
@settings(max_examples=12)
def test_the_training_loss_falls(surrogate, mix, seed):
    X, y = table(150, seed % 1000)
    losses = [surrogate_loss(quick(surrogate=surrogate, mix=mix), y, np.full(y.size, log_odds(y)))]
    for rounds in (3, 10, 25):
        model = quick(rounds, surrogate=surrogate, mix=mix, random_state=seed).fit(X, y)
        losses.append(surrogate_loss(model, y, model.priority(X)))
    assert (np.diff(losses) < 0).all()


def test_the_sharpness_and_the_share_of_the_logistic_loss_matter():
    X, y = table()
    kinds = [{"surrogate": name, "mix": 0.0} for name in SURROGATES]
    kinds += [{"mix": 0.5}, {"mix": 1.0}, {"mix": 0.0, "sharpness": 3.0}]
    scores = [quick(5, **kind).fit(X, y).priority(X) for kind in kinds]
    for i, score in enumerate(scores):
        for other in scores[:i]:
            assert not np.allclose(score, other, atol=1e-3)


@given(st.integers(1, 40), st.integers(1, 60), st.floats(0.01, 1), st.integers(0, 10**6))
def test_a_batch_has_the_share_of_each_class_and_at_least_a_row(p, n, share, seed):
    rng = np.random.default_rng(seed)
    positive = rng.permutation(np.arange(p + n) < p)
    weight = rng.uniform(0.5, 2, p + n)
    batch = draw_batch(positive, weight, share, seed)
    drawn = batch > 0
    assert drawn[positive].sum() == max(1, int(share * p + 0.5))
    assert drawn[~positive].sum() == max(1, int(share * n + 0.5))
    np.testing.assert_array_equal(batch[drawn], weight[drawn])
    np.testing.assert_array_equal(draw_batch(positive, weight, share, seed), batch)


def test_batches_differ_and_take_every_row_alike():
    positive = np.arange(60) % 6 == 0
    batches = [draw_batch(positive, np.ones(60), 0.3, seed) for seed in range(3000)]
    assert len({batch.tobytes() for batch in batches[:100]}) == 100
    often = np.mean(batches, axis=0)
    np.testing.assert_allclose(often, 0.3, atol=0.04)  # 3 of 10, and 15 of 50


def test_every_round_of_a_fit_draws_its_own_batch(monkeypatch):
    seen = []

    def spy(positive, weight, share, seed):
        seen.append((positive.size, draw_batch(positive, weight, share, seed)))
        return seen[-1][1]

    monkeypatch.setattr("rarefind.boosting._sgbap.draw_batch", spy)
    X, y = table()
    quick(6, subsample=0.4).fit(X, y)
    assert len({batch.tobytes() for _, batch in seen}) == len(seen) == 6
    for _, batch in seen:
        assert (batch > 0)[y].sum() == int(0.4 * y.sum() + 0.5)
    again = seen.copy()
    seen.clear()
    quick(6, subsample=0.4).fit(X, y)
    for (_, one), (_, other) in zip(again, seen, strict=True):
        np.testing.assert_array_equal(one, other)
    seen.clear()
    quick(6, subsample=1.0).fit(X, y)
    assert not seen


def test_the_seed_of_numpy_is_left_alone():
    X, y = table(80)
    np.random.seed(3)  # noqa: NPY002
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    quick(2).fit(X, y)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


# ---------------------------------------------------------------------- early stopping


def worth(metric, k, y, score, n):
    """What a ranking of held-out rows is worth, of a model of n rows."""
    if metric == "average_precision":
        return average_precision(y, score)
    return precision_at_k(y, score, round(k / n * y.size))


@every_booster
@pytest.mark.parametrize("metric", ["average_precision", "precision_at_k"])
def test_the_curve_is_that_of_models_of_one_to_n_rounds_on_each_fold(booster, metric):
    X, y = table(200, seed=2)
    k = 20
    own = np.arange(200) % 4
    cv = [(np.flatnonzero(own != f), np.flatnonzero(own == f)) for f in range(4)]
    params = {"eval_metric": metric, "k": k, "learning_rate": 0.5}
    model = quick(8, booster, cv=cv, early_stopping_rounds=8, **params).fit(X, y)
    expected = np.zeros(8)
    for number in range(1, 9):
        for train, held in cv:
            twin = quick(number, booster, **params).fit(X[train], y[train])
            expected[number - 1] += worth(metric, k, y[held], twin.priority(X[held]), 200) / 4
    np.testing.assert_allclose(model.validation_curve_, expected, rtol=1e-9)
    best = np.flatnonzero(expected == expected.max())[-1] + 1
    assert model.n_rounds_ == model.booster_.num_boosted_rounds() == best


@given(st.integers(0, 10**6), st.integers(1, 5))
@settings(max_examples=12)
def test_rounds_end_when_held_out_rows_are_ranked_no_better(seed, patience):
    X, y = table(120, seed % 997)
    model = SGBAPClassifier(
        n_estimators=20, learning_rate=0.5, early_stopping_rounds=patience, cv=3, random_state=seed
    ).fit(X, y)
    curve = model.validation_curve_
    naive_best, naive_first, length = -np.inf, 0, 20
    for number, value in enumerate(curve, 1):
        if value > naive_best:
            naive_best, naive_first = value, number
        if number - naive_first == patience:
            length = number
            break
    assert len(curve) == length
    # Of equal rounds the last.
    assert model.n_rounds_ == np.flatnonzero(curve == curve.max())[-1] + 1
    assert model.booster_.num_boosted_rounds() == model.n_rounds_


def test_no_stop_is_thought_of_in_the_rounds_of_the_logistic_loss():
    X, y = table()
    model = SGBAPClassifier(
        n_estimators=12, init="logistic", init_rounds=8, early_stopping_rounds=1, mix=0.0,
        learning_rate=1.0, random_state=0,
    ).fit(X, y)  # fmt: skip
    assert len(model.validation_curve_) >= 9


@every_booster
def test_without_stopping_all_rounds_are_made(booster):
    X, y = table(150)
    model = booster(n_estimators=5, early_stopping_rounds=None, random_state=0).fit(X, y)
    assert model.n_rounds_ == len(model.validation_curve_) == 5
    assert model.booster_.num_boosted_rounds() == 5
    none = quick(5, booster).fit(X, y)
    assert none.n_rounds_ == 5
    assert none.validation_curve_.size == 0
    assert np.isnan(none.value_)
    assert none.threshold_ == 0.0


def test_folds_are_held_out_until_they_hold_300_positives(monkeypatch):
    judged = []
    worth = SGBAPClassifier._worth
    monkeypatch.setattr(
        SGBAPClassifier,
        "_worth",
        lambda self, held, score: (judged.append(held.positive.sum()), worth(self, held, score))[1],
    )
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1200, 2)), np.arange(1200) % 2 == 0
    SGBAPClassifier(n_estimators=1, max_depth=2, pos_label=True, random_state=0).fit(X, y)
    assert judged == [120, 120, 120]


@pytest.mark.parametrize("k", [1, 7, 13, "3%", 0.11, 300, 1000])
def test_any_budget_can_judge_the_rounds(k):
    """A fold has a share of the rows, and so of the checks, which may be no whole number."""
    X, y = table(301)
    model = SGBAPClassifier(
        n_estimators=3, eval_metric="precision_at_k", k=k, cv=3, random_state=0
    ).fit(X, y)
    assert ((model.validation_curve_ >= 0) & (model.validation_curve_ <= 1)).all()


def test_precision_at_k_needs_a_budget():
    X, y = table()
    with pytest.raises(ValueError, match="'precision_at_k' needs k: checks, or a share of rows"):
        SGBAPClassifier(eval_metric="precision_at_k").fit(X, y)
    with pytest.raises(ValueError, match="A budget is a number of checks"):
        SGBAPClassifier(eval_metric="precision_at_k", k="many").fit(X, y)


# ---------------------------------------------------------------------- eval_set


@every_booster
def test_rows_that_rounds_are_judged_by_are_not_learned_from(booster):
    X, y = table(200)
    held, truth = table(100, seed=1)
    garbage = np.random.default_rng(0).permutation(truth)
    model = booster(n_estimators=5, early_stopping_rounds=None, random_state=0)
    score = model.fit(X, y, eval_set=(held, truth)).priority(X)
    threshold = model.threshold_
    other = model.fit(X, y, eval_set=(held, garbage)).priority(X)
    np.testing.assert_array_equal(score, other)
    assert model.threshold_ != threshold
    np.testing.assert_array_equal(quick(5, booster).fit(X, y).priority(X), score)


def test_the_curve_and_the_threshold_are_those_of_the_given_rows():
    X, y = table(200)
    held, truth = table(150, seed=1)
    weight = np.random.default_rng(0).uniform(0.5, 2, 150)
    model = SGBAPClassifier(n_estimators=8, learning_rate=0.5, metric="f2", random_state=0)
    model.fit(X, y, eval_set=(held, truth, weight))
    curve = [
        average_precision(
            truth, quick(n, learning_rate=0.5).fit(X, y).priority(held), sample_weight=weight
        )
        for n in range(1, 9)
    ]
    np.testing.assert_allclose(model.validation_curve_, curve, rtol=1e-9)
    assert model.n_rounds_ == np.argmax(curve) + 1
    score = model.priority(held)
    best = best_threshold(truth, score, "f2", sample_weight=weight)
    assert (model.threshold_, model.value_) == pytest.approx((best.threshold, best.value))


def test_rows_to_judge_by_may_weigh_nothing():
    X, y = table(200)
    held, truth = table(150, seed=1)
    there = np.arange(150) % 3 > 0
    model = SGBAPClassifier(n_estimators=4, random_state=0)
    model.fit(X, y, eval_set=(held, truth, there.astype(float)))
    curve, threshold = model.validation_curve_, model.threshold_
    model.fit(X, y, eval_set=(held[there], truth[there]))
    np.testing.assert_allclose(model.validation_curve_, curve, rtol=1e-9)
    assert model.threshold_ == threshold


@pytest.mark.parametrize(
    ("eval_set", "sentence"),
    [
        ("rows", r"eval_set must be one tuple \(X, y\) or \(X, y, sample_weight\)"),
        (([[0.0] * 4],), r"eval_set must be one tuple \(X, y\) or \(X, y, sample_weight\)"),
        (([[0.0] * 4] * 2, [0, 2]), "eval_set has the label 2, which y does not have"),
        (([[0.0] * 4] * 2, [0, 0]), "eval_set needs rows of every class"),
        (([[0.0] * 4] * 2, [0, 1], [1, 0]), "eval_set needs rows of every class"),
        (([[0.0] * 4] * 2, [0, 1, 1]), "inconsistent numbers of samples"),
        (([[0.0] * 3] * 2, [0, 1]), "3 features"),
        (([[np.inf] * 4] * 2, [0, 1]), "Column 'x0' holds inf"),
    ],
)
def test_a_mistake_in_the_rows_to_judge_by_gets_its_sentence(eval_set, sentence):
    X, y = table()
    with pytest.raises(ValueError, match=sentence):
        SGBAPClassifier(n_estimators=2).fit(X, y.astype(int), eval_set=eval_set)


# ---------------------------------------------------------------------- rows, weights, groups


@every_booster
def test_rows_of_weight_0_are_not_there(booster):
    X, y = table()
    weight = np.random.default_rng(0).uniform(0.5, 2, y.size) * (np.arange(y.size) % 4 > 0)
    there = weight > 0
    model = booster(n_estimators=4, random_state=0)
    score = model.fit(X, y, sample_weight=weight).priority(X)
    threshold, chance = model.threshold_, model.predict_proba(X)
    curve = model.validation_curve_
    model.fit(X[there], y[there], sample_weight=weight[there])
    np.testing.assert_array_equal(model.priority(X), score)
    np.testing.assert_array_equal(model.predict_proba(X), chance)
    np.testing.assert_array_equal(model.validation_curve_, curve)
    assert model.threshold_ == threshold


@every_booster
def test_the_scale_of_weights_is_nothing(booster):
    X, y = table()
    weight = np.random.default_rng(0).uniform(0.5, 2, y.size)
    model = booster(n_estimators=4, random_state=0)
    score = model.fit(X, y, sample_weight=weight).priority(X)
    threshold = model.threshold_
    np.testing.assert_array_equal(model.fit(X, y, sample_weight=16 * weight).priority(X), score)
    assert model.threshold_ == threshold
    if booster is not LambdaMARTClassifier:
        assert not np.array_equal(model.fit(X, y).priority(X), score)


def test_a_row_of_weight_2_is_two_rows():
    """But for bins and batches, which count rows."""
    X, y = table()
    X = X.astype(np.float32).astype(float)
    weight = 1.0 + (np.arange(y.size) % 3 == 0)
    # Weights are 1 on average: what is a sum of them is scaled with them.
    scale = weight.mean()
    params = {"subsample": 1.0, "tree_method": "exact", "min_child_weight": 0.0}
    for surrogate in SURROGATES:
        once = quick(5, surrogate=surrogate, reg_lambda=1.0 / scale, **params)
        once.fit(X, y, sample_weight=weight)
        rows = np.repeat(np.arange(y.size), weight.astype(int))
        twice = quick(5, surrogate=surrogate, reg_lambda=1.0, **params).fit(X[rows], y[rows])
        if surrogate == "sigmoid":
            continue  # a copy stands half above its twin, a row whole above itself
        np.testing.assert_allclose(once.priority(X), twice.priority(X), atol=1e-4)


def test_weights_must_leave_two_classes():
    X, y = table()
    with pytest.raises(ValueError, match="All rows with weight are of one class"):
        SGBAPClassifier().fit(X, y, sample_weight=(~y).astype(float))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        SGBAPClassifier().fit(X, y, sample_weight=-np.ones(y.size))


def test_groups_stay_on_one_side(monkeypatch):
    X, y = table()
    groups = np.random.default_rng(0).integers(0, 25, y.size)
    weight = (np.arange(y.size) % 5 > 0).astype(float)
    seen = []

    def spy(*args, **kwargs):
        seen.append((folds_of_used(*args, **kwargs), kwargs["groups"]))
        return seen[-1][0]

    folds_of_used = base.folds_of_used
    monkeypatch.setattr(base, "folds_of_used", spy)
    SGBAPClassifier(n_estimators=2, random_state=0).fit(X, y, sample_weight=weight, groups=groups)
    [(pairs, given_groups)] = seen
    np.testing.assert_array_equal(given_groups, groups[weight > 0])
    assert len(pairs) == 5
    for train, held in pairs:
        assert not set(given_groups[train]) & set(given_groups[held])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SGBAPClassifier().fit(X, y, groups=groups[:-1])


@every_booster
@pytest.mark.parametrize(
    "labels", [(False, True), (0, 1), (-1, 1), (7, 3), ("good", "bad"), ("a", "b"), (0.0, 1.0)]
)
def test_labels_may_be_of_any_kind(booster, labels):
    X, y = table(150)
    named = np.where(y, labels[1], labels[0])
    model = quick(3, booster, threshold=-1.0).fit(X, named)
    assert model.pos_label_ == labels[1]
    np.testing.assert_array_equal(model.priority(X), quick(3, booster).fit(X, y).priority(X))
    alert = model.priority(X) >= -1.0
    np.testing.assert_array_equal(model.predict(X), np.where(alert, *labels[::-1]))


@every_booster
def test_the_positive_label_can_be_the_commoner_one(booster):
    X, y = table(150)
    model = booster(n_estimators=5, pos_label=False, random_state=0).fit(X, y)
    assert model.pos_label_ is np.False_ or model.pos_label_ is False
    assert average_precision(~y, model.priority(X)) > (~y).mean() + 0.1
    chance = model.predict_proba(X)[:, 0]
    order = np.argsort(model.priority(X), kind="stable")
    assert (np.diff(chance[order]) >= 0).all()
    with pytest.raises(ValueError, match="pos_label"):
        booster(pos_label="x").fit(X, y)


@every_booster
def test_a_row_does_not_depend_on_others(booster):
    X, y = holed()
    model = booster(n_estimators=6, categorical_features=[2], random_state=0).fit(X, y)
    for method in (model.priority, model.predict_proba, model._contributions):
        alone = np.concatenate([method(X[i : i + 1]) for i in range(20)])
        np.testing.assert_array_equal(method(X[:20]), alone)
    rows = model.priority(X)
    np.testing.assert_array_equal(model.priority(X[::-1])[::-1], rows)


def test_blocks_of_rows_are_scored_as_all_of_them(monkeypatch):
    X, y = holed()
    model = quick(5, categorical_features=[2]).fit(X, y)
    whole, added = model.priority(X), model._contributions(X)
    monkeypatch.setattr("rarefind.boosting._run.BLOCK", 37)
    np.testing.assert_array_equal(model.priority(X), whole)
    np.testing.assert_array_equal(model._contributions(X), added)


# ----------------------------------------------------------- missing values, categories, order


@every_booster
def test_a_missing_value_is_learned_from(booster):
    X, y = table()
    X[:, 3] = np.where(y, np.nan, 0.0)
    X[:10, 3] = np.where(np.isnan(X[:10, 3]), 0.0, np.nan)
    model = quick(10, booster).fit(X, y)
    missing, filled = X[:20].copy(), X[:20].copy()
    missing[:, 3], filled[:, 3] = np.nan, 0.0
    assert (model.priority(missing) > model.priority(filled)).all()
    assert model.feature_importances_.argmax() == 3


@pytest.mark.parametrize("bins", ["positive-aware", "quantile"])
def test_levels_may_be_given_by_name_number_or_truth_value(bins):
    X, y = holed()
    frame = pd.DataFrame(X, columns=["a", "b", "level"])
    named = quick(5, bins=bins, categorical_features=["level"]).fit(frame, y).priority(frame)
    for given_levels in ([2], [-1], np.array([False, False, True])):
        model = quick(5, bins=bins, categorical_features=given_levels).fit(X, y)
        np.testing.assert_array_equal(model.priority(X), named)
    # One stump has all levels that tell, where as a number it has some of them.
    stump = {"bins": bins, "max_depth": 1, "subsample": 1.0}
    by_set = quick(1, categorical_features=[2], **stump).fit(X, y).priority(X)
    plain = quick(1, **stump).fit(X, y).priority(X)
    assert average_precision(y, by_set) > average_precision(y, plain) + 0.05
    with pytest.raises(ValueError, match="names 'colour', which is not a column"):
        quick(categorical_features=["colour"]).fit(frame, y)
    with pytest.raises(ValueError, match="holds 2 truth values for 3 columns"):
        quick(categorical_features=[True, False]).fit(X, y)


@every_booster
@given(st.sampled_from([-1.0, 0.0, 4.0, 3.5, 24.0, 1e9]))
@settings(max_examples=6)
def test_a_level_that_is_new_is_a_missing_value(booster, level):
    X, y = holed()
    model = quick(4, booster, categorical_features=[2]).fit(X, y)
    new, missing = X[:30].copy(), X[:30].copy()
    new[:, 2], missing[:, 2] = level, np.nan
    np.testing.assert_array_equal(model.priority(new), model.priority(missing))
    assert not np.array_equal(model.priority(new), model.priority(X[:30]))


def test_what_levels_are_called_is_nothing():
    X, y = holed()
    renamed = X.copy()
    # In the same order: XGBoost takes them in it where they say the same.
    renamed[:, 2] = [np.nan if np.isnan(v) else 1e6 * LEVELS.index(v) - 17.5 for v in X[:, 2]]
    one = quick(5, categorical_features=[2]).fit(X, y).priority(X)
    other = quick(5, categorical_features=[2]).fit(renamed, y).priority(renamed)
    np.testing.assert_array_equal(one, other)


@every_booster
@pytest.mark.parametrize("bins", ["positive-aware", "quantile"])
@pytest.mark.parametrize("constraints", [[1, -1, 0, 0], {"x0": 1, "x1": -1}])
def test_priorities_rise_and_fall_as_they_must(booster, bins, constraints):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4))
    y = np.sin(3 * X[:, 0]) + np.cos(3 * X[:, 1]) + X[:, 2] > 1.6
    model = quick(15, booster, bins=bins, monotone_constraints=constraints, learning_rate=0.3)
    model.fit(X, y)
    free = quick(15, booster, bins=bins, learning_rate=0.3).fit(X, y)
    grid = np.linspace(-4, 4, 60)
    freely = 0
    for row in rng.normal(size=(15, 4)):
        for column, direction in ((0, 1), (1, -1)):
            rows = np.tile(row, (60, 1))
            rows[:, column] = grid
            assert (direction * np.diff(model.priority(rows)) >= -1e-6).all()
            freely += (direction * np.diff(free.priority(rows)) < -1e-3).sum()
    assert freely > 0
    assert np.ptp(model.priority(X)) > 0.1


@pytest.mark.parametrize(
    ("constraints", "sentence"),
    [
        ({"x9": 1}, "monotone_constraints names 'x9', which is not a column"),
        ([1, 0], "monotone_constraints has 2 directions for 3 columns"),
        ([2, 0, 0], "monotone_constraints must be -1, 0 or 1"),
        ({"x0": 0.5}, "monotone_constraints must be -1, 0 or 1"),
        ({"x2": 1}, "names a column of categories, which have no order"),
    ],
)
def test_a_mistake_in_the_constraints_gets_its_sentence(constraints, sentence):
    X, y = holed()
    with pytest.raises(ValueError, match=sentence):
        quick(monotone_constraints=constraints, categorical_features=[2]).fit(X, y)


# ---------------------------------------------------------------------- thresholds, probabilities


@every_booster
def test_the_threshold_is_the_best_for_held_out_rows(booster):
    X, y = table(201)
    # The same in each fold: weights are 1 on average over all rows.
    weight = np.repeat(np.random.default_rng(1).uniform(0.5, 2, 67), 3)
    own = np.arange(201) % 3
    cv = [(np.flatnonzero(own != f), np.flatnonzero(own == f)) for f in range(3)]
    model = booster(n_estimators=4, cv=cv, early_stopping_rounds=None, random_state=0)
    model.fit(X, y, sample_weight=weight)
    score = np.zeros(201)
    for train, held in cv:
        twin = quick(4, booster).fit(X[train], y[train], sample_weight=weight[train])
        score[held] = twin.priority(X[held])
    best = best_threshold(y, score, "f1", sample_weight=weight)
    assert model.threshold_ == pytest.approx(best.threshold, rel=1e-5)
    assert model.value_ == pytest.approx(best.value, rel=1e-5)
    np.testing.assert_array_equal(model.predict(X), model.priority(X) >= model.threshold_)
    fixed = booster(n_estimators=4, cv=cv, early_stopping_rounds=None, threshold=-1.5)
    fixed.set_params(random_state=0).fit(X, y, sample_weight=weight)
    assert fixed.threshold_ == -1.5
    alert = score >= -1.5
    hits = weight[alert & y].sum()
    f1 = 2 * hits / (weight[alert].sum() + weight[y].sum())
    assert fixed.value_ == pytest.approx(f1, rel=1e-5)


@every_booster
@pytest.mark.parametrize("with_folds", [True, False])
def test_probabilities_rank_as_priorities(booster, with_folds):
    X, y = table()
    model = booster(n_estimators=10, random_state=0) if with_folds else quick(10, booster)
    model.fit(X, y)
    chance = model.predict_proba(X)
    assert ((chance > 0) & (chance < 1)).all()
    np.testing.assert_allclose(chance.sum(axis=1), 1.0, rtol=1e-12)
    score = model.priority(X)
    order = np.argsort(score, kind="stable")
    rises = np.diff(score[order]) > 1e-9
    assert (np.diff(chance[order, 1])[rises] > 0).all()


@every_booster
def test_probabilities_are_calibrated(booster):
    def draw(n, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 3))
        return X, rng.random(n) < 1 / (1 + np.exp(3.5 - 1.5 * X[:, 0] - X[:, 1]))

    X, y = draw(6000, 0)
    model = booster(n_estimators=30, max_depth=3, random_state=0, max_bins=64).fit(X, y)
    X, y = draw(20_000, 1)
    chance = model.predict_proba(X)[:, 1]
    assert chance.mean() == pytest.approx(y.mean(), abs=0.01)
    # LambdaMART leaves most rows tied at the end, and its scores are far from log-odds.
    off = 0.03 if booster is LambdaMARTClassifier else 0.01
    for own in np.array_split(np.argsort(chance), 5):
        expected, found = chance[own].mean(), y[own].mean()
        assert found == pytest.approx(expected, abs=off + 0.15 * expected)


# ---------------------------------------------------------------------- reasons


@every_booster
@pytest.mark.parametrize("bins", ["positive-aware", "quantile"])
def test_contributions_and_their_mean_add_up_to_the_score(booster, bins):
    X, y = holed()
    model = quick(8, booster, bins=bins, categorical_features=[2]).fit(X, y)
    data = xgboost.DMatrix(
        model._coding.codes(X), feature_types=["q", "q", "c"], enable_categorical=True
    )
    values = model.booster_.predict(data, pred_contribs=True)
    added = model._contributions(X)
    np.testing.assert_allclose(added, values[:, :-1], rtol=1e-6, atol=1e-7)
    assert added.shape == X.shape
    expected = model.priority(X) - model.base_score_ - values[:, -1]
    np.testing.assert_allclose(added.sum(axis=1), expected, atol=1e-5)


@every_booster
def test_reasons_name_the_columns_that_raise_the_score(booster):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    y = X.sum(axis=1) > 4
    X[::9, 1] = np.nan
    model = booster(n_estimators=10, random_state=0).fit(X, y)
    most = 0
    for i, reason in enumerate(model.explain(X[:60])):
        added = model._contributions(X[i : i + 1])[0]
        expected = [j for j in np.argsort(-added, kind="stable") if added[j] > 0][:5]
        assert [condition.feature for condition in reason.because] == [f"x{j}" for j in expected]
        shares = added[expected] / added[expected].sum() if expected else np.empty(0)
        assert [condition.weight for condition in reason.because] == pytest.approx(list(shares))
        for j, condition in zip(expected, reason.because, strict=True):
            if np.isnan(X[i, j]):
                assert str(condition) == f"x{j} is missing"
            else:
                assert condition.value == X[i, j]
        assert reason.score == model.priority(X[i : i + 1])[0]
        most = max(most, len(expected))
    assert most == 5


def test_ranks_are_those_among_held_out_rows():
    X, y = table(200)
    held, truth = table(100, seed=1)
    model = SGBAPClassifier(n_estimators=4, random_state=0).fit(X, y, eval_set=(held, truth))
    known = model.priority(held)
    for score, reason in zip(model.priority(X), model.explain(X), strict=True):
        assert reason.rank_in_reference == pytest.approx((known < score).mean())
    assert quick(4).fit(X, y).explain(X[:1])[0].rank_in_reference is None


@every_booster
def test_importances_pick_the_column_that_says_most(booster):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 2] + 0.2 * rng.normal(size=300) > 1
    X[:, 3] = 1.0
    found = quick(10, booster).fit(X, y).feature_importances_
    assert found.sum() == pytest.approx(1.0)
    assert found.argmax() == 2
    assert found[2] > 0.7
    assert found[3] == 0


# ---------------------------------------------------------------------- the trees in units


def walked(nodes, leaves, row, names):
    """The leaf of one tree that a row comes to, by the words of the docstring."""
    node = f"{nodes['Tree'].iloc[0]}-0"
    while node not in leaves:
        here = nodes.loc[node]
        value = row[names.index(here["Feature"])]
        if np.isnan(value):
            node = here["Missing"]
        elif isinstance(here["Category"], list):
            node = here["Yes"] if value in here["Category"] else here["No"]
        else:
            node = here["Yes"] if value < here["Split"] else here["No"]
    return leaves[node]


def naive_priorities(model, X):
    """The sum of the leaves that rows come to."""
    frame = model.trees_to_dataframe().set_index("ID")
    names = model._feature_names()
    score = np.full(len(X), model.base_score_)
    for _, nodes in frame.groupby("Tree"):
        leaves = nodes["Gain"][nodes["Feature"] == "Leaf"].to_dict()
        score += [walked(nodes, leaves, row, names) for row in X]
    return score


@every_booster
@pytest.mark.parametrize(
    ("bins", "method"),
    [("positive-aware", "hist"), ("quantile", "hist"), ("positive-aware", "exact")],
)
def test_the_trees_as_a_table_give_the_priorities(booster, bins, method):
    X, y = holed()
    if bins == "quantile" or method == "exact":
        X = X.astype(np.float32).astype(float)  # what XGBoost sees of the numbers itself
    sets = [2] if method == "hist" else None
    model = quick(4, booster, bins=bins, tree_method=method, categorical_features=sets)
    frame = model.fit(pd.DataFrame(X, columns=["a", "b", "level"]), y).trees_to_dataframe()
    assert set(frame["Feature"]) <= {"a", "b", "level", "Leaf"}
    cuts = frame.loc[frame["Feature"] == "a", "Split"].unique()
    assert cuts.size
    if bins == "positive-aware" and method == "hist":
        assert np.isfinite(cuts).all()
    if sets:
        spoken = frame.loc[frame["Feature"] == "level", "Category"]
        assert len(spoken)
        assert set(np.concatenate(spoken.to_list())) <= set(LEVELS)
    # Rows on the thresholds, just below them, with missing values, and with a level that is new.
    rows = np.repeat(X[:3], cuts.size, axis=0)
    rows[:, 0] = np.tile(cuts, 3)
    # A number just below is the next one in as many bits as it is compared in.
    kind = np.float64 if bins == "positive-aware" and method == "hist" else np.float32
    rows[:, 0] = rows[:, 0].astype(kind)
    below = rows.copy()
    below[:, 0] = np.nextafter(rows[:, 0].astype(kind), kind(-np.inf))
    new = X[:20].copy()
    new[:, 2] = np.nan
    every = np.vstack([X[:80], rows, below, new])
    every = every[np.isfinite(every[:, 0])]
    named = pd.DataFrame(every, columns=["a", "b", "level"])
    np.testing.assert_allclose(naive_priorities(model, every), model.priority(named), atol=1e-5)


def test_a_column_of_one_level_and_one_of_none_are_taken():
    X, y = holed()
    X = np.column_stack([X, np.full(len(X), 4.0), np.full(len(X), np.nan)])
    model = quick(4, categorical_features=[2, 3, 4]).fit(X, y)
    alone = quick(4, categorical_features=[2]).fit(X[:, :3], y)
    np.testing.assert_array_equal(model.priority(X), alone.priority(X[:, :3]))
    assert np.isfinite(naive_priorities(model, X[:5])).all()


# ---------------------------------------------------------------------- being an estimator


@every_booster
def test_the_same_seed_gives_the_same_model(booster):
    X, y = table()
    model = booster(n_estimators=5, subsample=0.6, colsample_bytree=0.5, random_state=4)
    first = model.fit(X, y).priority(X)
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(again.priority(X), first)
    np.testing.assert_array_equal(again.validation_curve_, model.validation_curve_)
    assert again.threshold_ == model.threshold_
    other = clone(model).set_params(random_state=5).fit(X, y)
    assert not np.array_equal(other.priority(X), first)


@every_booster
def test_two_threads_rank_as_one(booster):
    X, y = table()
    params = {"surrogate": "sigmoid"} if booster is SGBAPClassifier else {}
    one, two = (quick(5, booster, n_jobs=n, **params).fit(X, y).priority(X) for n in (1, 2))
    np.testing.assert_allclose(one, two, atol=1e-5)


@every_booster
def test_a_model_can_be_pickled(booster):
    X, y = holed()
    model = booster(n_estimators=4, categorical_features=[2], random_state=0).fit(X, y)
    read = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(read.priority(X), model.priority(X))
    np.testing.assert_array_equal(read.predict_proba(X), model.predict_proba(X))
    assert list(map(str, read.explain(X[:4]))) == list(map(str, model.explain(X[:4])))
    assert read.trees_to_dataframe().equals(model.trees_to_dataframe())


@every_booster
def test_searches_and_pipelines_work(booster):
    X, y = table(150)
    search = GridSearchCV(
        quick(3, booster), {"max_depth": [1, 3]}, scoring="average_precision", cv=2
    ).fit(X, y)
    assert search.best_score_ > y.mean()
    pipeline = make_pipeline(StandardScaler(), quick(3, booster)).fit(X, y)
    assert average_precision(y, pipeline[-1].priority(pipeline[:-1].transform(X))) > y.mean()


@every_booster
def test_pandas_and_polars_give_the_same(booster):
    X, y = table(150)
    names = ["age", "amount", "hour", "visits"]
    expected = quick(4, booster).fit(X, y).priority(X)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        model = quick(4, booster).fit(frame, y)
        np.testing.assert_array_equal(model.priority(frame), expected)
        known = set(getattr(model, "feature_names_in_", ["x0", "x1", "x2", "x3"]))
        said = {c.feature for reason in model.explain(frame[:30]) for c in reason.because}
        assert said <= known
        assert set(model.trees_to_dataframe()["Feature"]) <= {*known, "Leaf"}


@every_booster
def test_a_single_positive_can_be_learned_from(booster):
    X, _ = table(80)
    y = np.arange(80) == 11
    X[11] = 5.0
    model = quick(20, booster, min_child_weight=0.0).fit(X, y)
    assert np.isfinite(model.priority(X)).all()
    assert model.priority(X)[11] == model.priority(X).max()
    assert booster(n_estimators=2, threshold=0.0).fit(X, y).validation_curve_.size == 0
    with pytest.raises(
        ValueError, match="The rarer label has 1 row: holding some out needs at least 2"
    ):
        booster(n_estimators=2).fit(X, y)


@every_booster
def test_columns_that_say_nothing_leave_the_prior(booster):
    y = np.arange(60) < 12
    model = booster(n_estimators=3, random_state=0).fit(np.ones((60, 2)), y)
    score = model.priority(np.ones((4, 2)))
    assert np.ptp(score) == 0
    if booster is SGBAPClassifier:
        assert abs(score[0] - np.log(12 / 48)) < 0.5
    np.testing.assert_array_equal(model.feature_importances_, [0, 0])
    assert model.explain(np.ones((1, 2)))[0].because == []
    chance = model.predict_proba(np.ones((1, 2)))[0, 1]
    assert chance == pytest.approx(0.2, abs=0.05)


@every_booster
@pytest.mark.parametrize("with_folds", [True, False])
@pytest.mark.parametrize("surrogate", list(SURROGATES))
def test_scores_stay_finite_however_large_the_steps(booster, with_folds, surrogate):
    X, y = table(120)
    params = {"surrogate": surrogate} if booster is SGBAPClassifier else {}
    params |= {"learning_rate": 50.0, "min_child_weight": 0.0, "random_state": 0}
    if with_folds:
        params |= {"cv": 2, "early_stopping_rounds": 50, "threshold": "auto"}
    model = quick(6, booster, **params).fit(X, y)
    assert np.isfinite(model.priority(X)).all()
    chance = model.predict_proba(X)
    assert ((chance >= 0) & (chance <= 1)).all()


def test_progress_is_shown_if_asked_for(capsys):
    X, y = table(80)
    SGBAPClassifier(n_estimators=2, random_state=0).fit(X, y)
    assert not "".join(capsys.readouterr())
    SGBAPClassifier(n_estimators=2, random_state=0, verbose=1).fit(X, y)
    assert "rounds" in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    "params",
    [
        {"surrogate": "auc"},
        {"mix": 1.5},
        {"subsample": 0.0},
        {"n_estimators": 0},
        {"learning_rate": 0.0},
        {"sharpness": -1.0},
        {"bins": "equal"},
        {"max_depth": 0},
        {"eval_metric": "auc"},
        {"early_stopping_rounds": 0},
        {"metric": "no such metric"},
    ],
)
def test_what_no_parameter_may_be_is_refused(params):
    X, y = table(60)
    with pytest.raises(
        ValueError, match=next(iter(params)) if "metric" not in params else "metric"
    ):
        SGBAPClassifier(**params).fit(X, y)


def test_more_than_two_classes_are_refused():
    X, _ = table(60)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        SGBAPClassifier().fit(X, np.arange(60) % 3)


def test_folds_are_those_of_the_seed():
    """The positives decide how many: three of them make three folds."""
    X, _ = table(60)
    y = np.arange(60) < 3
    seen = []
    original = base.folds_of_used
    try:
        base.folds_of_used = lambda *a, **k: seen.append(original(*a, **k)) or seen[-1]
        SGBAPClassifier(n_estimators=1, random_state=0).fit(X, y)
    finally:
        base.folds_of_used = original
    assert len(seen[0]) == 3
    seed = np.random.RandomState(0).randint(2**31 - 1)
    for (train, held), (a, b) in zip(seen[0], folds(X, y, 5, random_state=seed), strict=True):
        np.testing.assert_array_equal(train, a)
        np.testing.assert_array_equal(held, b)
