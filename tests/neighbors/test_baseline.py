import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rarefind.metrics import Cost, count_metric
from rarefind.neighbors import (
    ClassWeightedKNNClassifier,
    DistanceWeightedKNNClassifier,
    DuplicatedKNNClassifier,
    KRNNClassifier,
)
from rarefind.neighbors._baseline import nearness

BASELINES = (
    ClassWeightedKNNClassifier,
    DistanceWeightedKNNClassifier,
    DuplicatedKNNClassifier,
    KRNNClassifier,
)
every_baseline = pytest.mark.parametrize("baseline", BASELINES, ids=lambda b: b.__name__)


def imbalanced(n=300, seed=0, d=5):
    return make_classification(
        n, d, n_informative=3, weights=[0.9], flip_y=0.02, class_sep=0.8, random_state=seed
    )


def f1_at(model, score, y):
    alert, positive = score >= model.threshold_, y == 1
    counts = (
        (alert & positive).sum(),
        (alert & ~positive).sum(),
        (~alert & positive).sum(),
        (~alert & ~positive).sum(),
    )
    return float(count_metric("f1")(*map(float, counts)))


@every_baseline
def test_the_published_rule_holds_nothing_out(baseline):
    X, y = imbalanced()
    model = baseline().fit(X, y)
    assert np.isnan(model.value_)
    priority = model.priority(X + 0.01)
    assert (priority >= 0).all()
    probability = model.predict_proba(X + 0.01)[:, 1]
    np.testing.assert_array_equal(probability >= 0.5, model.predict(X + 0.01) == 1)
    order = np.argsort(priority)
    assert (np.diff(probability[order]) >= 0).all()
    assert probability.max() > 0.6
    assert model.explain(X[:1])[0].rank_in_reference is None


@every_baseline
def test_auto_is_the_best_threshold_of_leaving_one_out(baseline):
    X, y = imbalanced(120)
    model = baseline(threshold="auto").fit(X, y)
    assert model.value_ >= baseline(threshold=1.0).fit(X, y).value_
    scores = np.empty(len(y))
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        part = baseline(pos_label=1).fit(X[rest], y[rest])
        scores[i] = part.priority(X[i : i + 1])[0]
    assert model.value_ == pytest.approx(f1_at(model, scores, y))


@every_baseline
def test_folds_pool_the_counts_of_all_folds(baseline):
    X, y = imbalanced(160)
    model = baseline(threshold="auto", cv=KFold(4)).fit(X, y)
    scores = np.empty(len(y))
    for train, test in KFold(4).split(X):
        part = baseline(pos_label=1).fit(X[train], y[train])
        scores[test] = part.priority(X[test])
    assert model.value_ == pytest.approx(f1_at(model, scores, y))


@every_baseline
def test_a_number_is_kept_and_calibrated(baseline):
    X, y = imbalanced()
    model = baseline(threshold=0.8).fit(X, y)
    assert model.threshold_ == 0.8
    assert 0 < model.value_ < 1
    assert model.explain(X[:1])[0].rank_in_reference is not None
    probability = model.predict_proba(X + 0.01)[:, 1]
    assert probability.mean() == pytest.approx((y == 1).mean(), abs=0.1)
    order = np.argsort(model.priority(X + 0.01), kind="stable")
    assert (np.diff(probability[order]) >= 0).all()


@every_baseline
def test_a_row_is_scored_alone_as_among_others(baseline):
    X, y = imbalanced()
    model = baseline(threshold="auto").fit(X[:200], y[:200])
    together = model.priority(X)
    alone = np.concatenate([model.priority(X[i : i + 1]) for i in range(190, 230)])
    np.testing.assert_array_equal(together[190:230], alone)
    np.testing.assert_array_equal(model.priority(X[::-1]), together[::-1])


@every_baseline
@pytest.mark.parametrize("threshold", [None, "auto"])
def test_either_label_can_be_the_positive(baseline, threshold):
    X, y = imbalanced()
    model = baseline(threshold=threshold).fit(X, y)
    renamed = np.where(y == 1, "a fraud", "ok")
    other = baseline(threshold=threshold).fit(X, renamed)
    assert other.pos_label_ == "a fraud"
    rows = X + 0.05
    np.testing.assert_array_equal(other.priority(rows), model.priority(rows))
    np.testing.assert_array_equal(other.predict(rows) == "a fraud", model.predict(rows) == 1)
    np.testing.assert_array_equal(other.decision_function(rows), -model.decision_function(rows))
    common = baseline(threshold=threshold, pos_label=0).fit(X, y)
    assert common.pos_label_ == 0
    assert (common.priority(rows) >= 0).all()
    assert common.predict(rows).tolist().count(0) > 200


@every_baseline
def test_priorities_have_few_ties(baseline):
    X, y = imbalanced(600)
    priority = baseline().fit(X[:300], y[:300]).priority(X[300:])
    assert np.unique(priority).size > 0.95 * priority.size


@every_baseline
@pytest.mark.parametrize(
    ("distance", "p"),
    [("manhattan", 2), ("chebyshev", 2), ("cosine", 2), ("minkowski", 3), ("minkowski", np.inf)],
)
def test_distances_of_every_kind(baseline, distance, p):
    X, y = imbalanced()
    model = baseline(distance=distance, p=p, threshold="auto").fit(X, y)
    assert model.value_ > 0.3
    reason = model.explain(X[:1])[0]
    assert reason.score == model.priority(X[:1])[0]


@every_baseline
def test_reasons_name_known_positives_and_features(baseline):
    X, y = imbalanced()
    frame = pd.DataFrame(X, columns=["amount", "hour", "age", "speed", "rate"])
    model = baseline(threshold="auto").fit(frame, y)
    rows = frame[y == 1][:5] + 0.01
    reasons = model.explain(rows)
    np.testing.assert_array_equal([r.score for r in reasons], model.priority(rows))
    for reason, row in zip(reasons, np.flatnonzero(y == 1)[:5], strict=True):
        assert reason.similar[0].row == row
        assert {c.feature for c in reason.because} <= set(frame.columns)
        assert 0 <= reason.rank_in_reference <= 1
        assert "most like known positive" in str(reason)


@every_baseline
def test_groups_are_held_out_together(baseline):
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(100, 4))
    X = np.vstack([centres, centres + 1e-6])
    y = np.tile(rng.random(100) < 0.2, 2)
    entity = np.tile(np.arange(100), 2)
    leaking = baseline(k=1, threshold="auto").fit(X, y)
    honest = baseline(k=1, threshold="auto").fit(X, y, groups=entity)
    assert leaking.value_ > 0.9
    assert honest.value_ < 0.6


@every_baseline
def test_drawn_rows_stand_for_all(baseline):
    X, y = imbalanced(2000)
    exact = baseline(threshold="auto").fit(X, y)
    drawn = baseline(threshold="auto", max_queries=400, random_state=0).fit(X, y)
    assert drawn.value_ == pytest.approx(exact.value_, abs=0.07)


@every_baseline
def test_too_few_positives_to_tune_say_what_to_do(baseline):
    X, y = np.random.default_rng(0).normal(size=(50, 2)), np.arange(50) < 1
    with pytest.raises(ValueError, match=r"of 1 too few are left .* or give threshold a number"):
        baseline(threshold="auto").fit(X, y)
    assert baseline(threshold=0.5).fit(X, y).threshold_ == 0.5
    assert baseline().fit(X, y).priority(X).shape == (50,)


@every_baseline
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metric": "f_one"}, "Unknown metric 'f_one'"),
        ({"metric": Cost(c_fn=np.ones(300))}, "find the threshold with best_threshold"),
        ({"k": 0}, "'k' parameter"),
        ({"threshold": 0.0}, "'threshold' parameter"),
        ({"distance": "precomputed"}, "'distance' parameter"),
    ],
)
def test_mistakes_get_a_sentence(baseline, change, message):
    X, y = imbalanced()
    with pytest.raises(ValueError, match=message):
        baseline(**change).fit(X, y)


@every_baseline
def test_works_in_pipelines(baseline):
    X, y = imbalanced()
    pipeline = make_pipeline(StandardScaler(), clone(baseline(k=5)))
    assert cross_val_score(pipeline, X, y, scoring="average_precision", cv=3).mean() > 0.3


@every_baseline
def test_verbose_shows_progress_and_silence_is_the_default(baseline, capsys):
    X, y = imbalanced()
    baseline(threshold="auto").fit(X, y)
    assert capsys.readouterr().out == ""
    baseline(threshold="auto", verbose=1).fit(X, y)
    assert "leave one out" in capsys.readouterr().out
    baseline(threshold="auto", cv=3, verbose=1).fit(X, y)
    assert "folds" in capsys.readouterr().out


def test_nearness_orders_as_the_ratio_does():
    inf = np.inf
    d_pos = np.array([inf, inf, 1.0, 2.0, 1.0, 1.0, 0.0, 0.0, 5.0])
    d_neg = np.array([1.0, inf, 0.0, 1.0, 1.0, 9.0, 1.0, 8.0, inf])
    found = nearness(d_pos, d_neg)
    assert found[:3].tolist() == [0, 0, 0]
    assert (np.diff(found[2:]) > 0).all()
    assert found.max() < 1
    rare, even, common = nearness(np.zeros(3), np.zeros(3), np.array([1e-3, 1.0, 50.0]))
    assert 0 < rare < found[3] < even == found[4] < common < found[6]
