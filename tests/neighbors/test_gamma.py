import logging
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from imblearn.combine import SMOTEENN
from imblearn.over_sampling import ADASYN, SMOTE, BorderlineSMOTE, RandomOverSampler
from naive_copies import score_of_copies
from scipy.spatial.distance import cdist
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rarefind.metrics import AlertsAtMost, Cost, average_precision, count_metric
from rarefind.neighbors import GammaKNNClassifier
from rarefind.selection import folds


def naive_algorithm_1(x, X, positive, k, gamma, distance):
    """Algorithm 1 as printed: find k and k, scale, merge, vote; ties to the positive.

    But where rows are copies of both classes, their numbers decide.
    """
    by_number = score_of_copies(x, X, positive, (k + 1) // 2, k - (k + 1) // 2 + 1)
    if by_number is not None:
        return by_number >= gamma
    to_positives = sorted(gamma * distance(x, z) for z in X[positive])[:k]
    to_negatives = sorted(distance(x, z) for z in X[~positive])[:k]
    merged = sorted([(d, 0) for d in to_positives] + [(d, 1) for d in to_negatives])[:k]
    votes = sum(1 for _, negative in merged if not negative)
    return votes >= Fraction(k, 2)


def manhattan(x, z):
    return Fraction(int(np.abs(x - z).sum()))


@st.composite
def grids(draw):
    """Rows on a coarse grid, where ties and copies are the rule."""
    d, n = draw(st.integers(1, 3)), draw(st.integers(4, 16))
    X = draw(hnp.arrays(int, (n, d), elements=st.integers(0, 4)))
    positive = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    positive[0], positive[1] = True, False
    return X, positive


@given(grids(), st.integers(1, 9), st.integers(1, 40))
@settings(max_examples=150)
def test_predictions_are_those_of_algorithm_1(table, k, twentieths):
    X, positive = table
    gamma = Fraction(twentieths, 20)
    model = GammaKNNClassifier(k=k, gamma=None, distance="manhattan", pos_label=True)
    model.fit(X, positive)
    model.threshold_ = float(gamma)
    rows = np.array([[a] * X.shape[1] for a in range(5)])
    expected = [naive_algorithm_1(x, X, positive, k, gamma, manhattan) for x in rows]
    assert model.predict(rows).tolist() == expected


@pytest.mark.parametrize("distance", ["euclidean", "chebyshev", "cosine"])
@given(st.integers(0, 10_000), st.integers(1, 9), st.floats(0.05, 2))
@settings(max_examples=30)
def test_predictions_are_those_of_algorithm_1_for_real_numbers(distance, seed, k, gamma):
    rng = np.random.default_rng(seed)
    X, rows = rng.normal(size=(40, 3)), rng.normal(size=(10, 3))
    X[30:] = X[20:30]  # copies, of either class
    positive = rng.random(40) < 0.3
    positive[0], positive[1] = True, False
    model = GammaKNNClassifier(k=k, gamma=None, distance=distance, pos_label=True).fit(X, positive)
    model.threshold_ = gamma
    expected = [
        naive_algorithm_1(x, X, positive, k, gamma, lambda a, b: cdist([a], [b], distance)[0, 0])
        for x in rows
    ]
    assert model.predict(rows).tolist() == expected


@given(grids(), st.integers(1, 5), st.sampled_from(["f1", "f2", "g_mean", "balanced_accuracy"]))
@settings(max_examples=60)
def test_the_exact_gamma_is_never_worse_than_a_grid(table, k, name):
    X, positive = table
    if positive.sum() < 4:
        positive[:4] = True
        positive[4:6] = False
    if positive.all() or len(X) < 6:
        return
    metric = count_metric(name)
    model = GammaKNNClassifier(k=min(k, 3), metric=name, distance="manhattan", pos_label=True)
    model.fit(X, positive)

    def pooled_counts(gamma):
        """Leave-one-out by the definition."""
        keep = ~np.eye(len(X), dtype=bool)
        alert = np.array(
            [
                naive_algorithm_1(X[i], X[keep[i]], positive[keep[i]], model.k, gamma, manhattan)
                for i in range(len(X))
            ]
        )
        return (
            float((alert & positive).sum()),
            float((alert & ~positive).sum()),
            float((~alert & positive).sum()),
            float((~alert & ~positive).sum()),
        )

    assert 0 < model.gamma_ <= 1
    at_gamma = float(metric(*pooled_counts(Fraction(model.gamma_))))
    assert model.value_ == pytest.approx(at_gamma)
    grid = max(float(metric(*pooled_counts(Fraction(g, 100)))) for g in range(1, 101, 3))
    assert at_gamma >= grid - 1e-12


def imbalanced(n=300, seed=0, d=5):
    return make_classification(
        n, d, n_informative=3, weights=[0.9], flip_y=0.02, class_sep=0.8, random_state=seed
    )


def test_folds_pool_the_counts_of_all_folds():
    X, y = imbalanced()
    model = GammaKNNClassifier(cv=KFold(4)).fit(X, y)
    scores = np.empty(len(y))
    for train, test in KFold(4).split(X):
        part = GammaKNNClassifier(gamma=None, pos_label=1).fit(X[train], y[train])
        scores[test] = part.priority(X[test])
    alert, positive = scores >= model.gamma_, y == 1
    tp = (alert & positive).sum()
    assert model.value_ == pytest.approx(2 * tp / (alert.sum() + positive.sum()))


def test_gamma_none_is_plain_nearest_neighbours():
    X, y = imbalanced()
    model = GammaKNNClassifier(k=3, gamma=None).fit(X[:200], y[:200])
    peer = KNeighborsClassifier(3).fit(X[:200], y[:200])
    assert np.array_equal(model.predict(X[200:]), peer.predict(X[200:]))
    assert model.gamma_ == model.threshold_ == model.cost_ratio_ == 1
    assert np.isnan(model.value_)
    priority = model.priority(X[200:])
    np.testing.assert_allclose(model.predict_proba(X[200:])[:, 1], priority / (1 + priority))


def test_a_fixed_gamma_is_kept_and_priced():
    X, y = imbalanced()
    model = GammaKNNClassifier(gamma=0.25).fit(X, y)
    assert model.gamma_ == model.threshold_ == 0.25
    assert model.cost_ratio_ == 4
    assert 0 < model.value_ <= 1


@pytest.mark.parametrize(
    "labels", [("ok", "fraud"), ("a_fraud", "ok"), (0, 1), (1, 0), (True, False)]
)
def test_the_rarer_label_is_positive_whatever_its_name(labels):
    X, y = imbalanced()
    named = np.where(y == 1, labels[1], labels[0])
    model = GammaKNNClassifier().fit(X, named)
    plain = GammaKNNClassifier().fit(X, y)
    assert model.pos_label_ == labels[1]
    np.testing.assert_array_equal(model.priority(X), plain.priority(X))
    np.testing.assert_array_equal(model.predict(X) == labels[1], plain.predict(X) == 1)
    sign = 1 if model.classes_[1] == labels[1] else -1
    np.testing.assert_array_equal(model.decision_function(X), sign * plain.decision_function(X))
    column = list(model.classes_).index(labels[1])
    np.testing.assert_array_equal(model.predict_proba(X)[:, column], plain.predict_proba(X)[:, 1])
    np.testing.assert_array_equal(
        model.decision_function(X) > 0, model.predict(X) == model.classes_[1]
    )


def test_pos_label_can_be_the_frequent_one():
    X, y = imbalanced()
    model = GammaKNNClassifier(pos_label=0).fit(X, y)
    assert model.pos_label_ == 0
    assert average_precision(y, model.priority(X), pos_label=0) > 0.9


def test_equal_classes_make_the_second_positive():
    X, y = np.arange(8.0)[:, None], [0, 0, 0, 0, 1, 1, 1, 1]
    assert GammaKNNClassifier().fit(X, y).pos_label_ == 1


def test_a_priority_does_not_depend_on_the_other_rows():
    X, y = imbalanced(600, d=20)
    model = GammaKNNClassifier().fit(X[:400], y[:400])
    together = model.priority(X[400:])
    alone = np.concatenate([model.priority(X[[i]]) for i in range(400, 600)])
    np.testing.assert_array_equal(together, alone)


def test_probabilities_rank_as_the_priority():
    X, y = imbalanced(600)
    model = GammaKNNClassifier().fit(X[:400], y[:400])
    order = np.argsort(model.priority(X[400:]))
    assert np.all(np.diff(model.predict_proba(X[400:])[order, 1]) >= 0)


def test_probabilities_are_calibrated_where_the_ratio_itself_is_not():
    X, y = imbalanced(4000)
    model = GammaKNNClassifier().fit(X[:2000], y[:2000])
    truth, priority = y[2000:] == 1, model.priority(X[2000:])
    probability = model.predict_proba(X[2000:])[:, 1]
    assert probability.mean() == pytest.approx(truth.mean(), abs=0.02)
    ratio_itself = priority / (1 + priority)
    assert ((probability - truth) ** 2).mean() < ((ratio_itself - truth) ** 2).mean()


def test_fewer_positives_than_the_vote_needs_are_never_found():
    X, y = np.arange(10.0)[:, None], np.arange(10) == 9
    model = GammaKNNClassifier(k=3, gamma=None, pos_label=True).fit(X, y)
    assert not model.priority(X).any()
    assert not model.predict(X).any()


def test_fewer_negatives_than_the_vote_needs_make_all_positive():
    X, y = np.arange(10.0)[:, None], np.arange(10) > 0
    model = GammaKNNClassifier(k=3, gamma=None, pos_label=True).fit(X, y)
    assert model.predict(X + 0.1).all()


def test_copies_of_positives_rank_first_and_further_negatives_first_among_them():
    X = np.array([[0.0], [0.0], [5.0], [5.0], [1.0], [1.0], [20.0]])
    y = np.array([1, 1, 1, 1, 0, 0, 0])
    model = GammaKNNClassifier(k=3, gamma=None, pos_label=1).fit(X, y)
    at_zero, at_five, between = model.priority([[0.0], [5.0], [3.5]])
    assert at_five > at_zero > between > 0


@pytest.mark.parametrize("k", [1, 3])
def test_precomputed_distances_give_the_same_model(k):
    X, y = imbalanced()
    by_rows = GammaKNNClassifier(k=k).fit(X[:200], y[:200])
    by_table = GammaKNNClassifier(k=k, distance="precomputed").fit(cdist(X[:200], X[:200]), y[:200])
    assert by_table.gamma_ == pytest.approx(by_rows.gamma_)
    np.testing.assert_allclose(
        by_table.priority(cdist(X[200:], X[:200])), by_rows.priority(X[200:])
    )
    reason = by_table.explain(cdist(X[200:201], X[:200]))[0]
    assert reason.because == []
    assert reason.similar[0].row == by_rows.explain(X[200:201])[0].similar[0].row


@pytest.mark.parametrize(
    "sampler",
    [SMOTE(), BorderlineSMOTE(), ADASYN(), SMOTEENN(), RandomOverSampler()],
    ids=lambda s: type(s).__name__,
)
def test_samplers_get_a_scale_of_their_own(sampler):
    X, y = imbalanced()
    model = GammaKNNClassifier(sampler=sampler, random_state=0).fit(X, y)
    assert 0 < model.gamma_ <= 1
    assert 0 < model.gamma_synthetic_ <= 2
    again = GammaKNNClassifier(sampler=sampler, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.priority(X), again.priority(X))
    assert model.priority(X).shape == (300,)


def test_synthetic_positives_pushed_far_away_change_nothing():
    X, y = imbalanced()
    sampled = GammaKNNClassifier(
        sampler=SMOTE(random_state=0), gamma=0.5, gamma_synthetic=1e9, cv=3
    ).fit(X, y)
    plain = GammaKNNClassifier(gamma=0.5, cv=3).fit(X, y)
    np.testing.assert_array_equal(sampled.priority(X[:50] + 0.1), plain.priority(X[:50] + 0.1))


def test_synthetic_positives_vote_by_the_definition():
    X, y = imbalanced()
    k, gamma, gamma_synthetic = 3, 0.5, 0.8
    model = GammaKNNClassifier(
        k=k, gamma=gamma, gamma_synthetic=gamma_synthetic, sampler=SMOTE(random_state=0), cv=3
    ).fit(X, y)
    drawn, labels = SMOTE(random_state=0).fit_resample(X, y)
    scale = np.where(labels == 1, gamma, 1.0)
    scale[len(X) :] = gamma_synthetic  # SMOTE appends
    rows = X[:60] + 0.05
    nearest = np.argsort(cdist(rows, drawn) * scale, axis=1)[:, :k]
    expected = labels[nearest].sum(axis=1) >= k / 2
    assert np.array_equal(model.predict(rows) == 1, expected)


def test_groups_are_held_out_together():
    # Each entity has two rows, nearly copies: leave-one-out would see the twin.
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(100, 4))
    X = np.vstack([centres, centres + 1e-6])
    y = np.tile(rng.random(100) < 0.2, 2)
    entity = np.tile(np.arange(100), 2)
    leaking = GammaKNNClassifier(k=1).fit(X, y)
    honest = GammaKNNClassifier(k=1).fit(X, y, groups=entity)
    assert leaking.value_ == 1
    assert honest.value_ < 0.6


def test_drawn_negatives_stand_for_all():
    X, y = imbalanced(3000)
    exact = GammaKNNClassifier().fit(X, y)
    drawn = GammaKNNClassifier(max_queries=500, random_state=0).fit(X, y)
    assert drawn.value_ == pytest.approx(exact.value_, abs=0.05)
    assert drawn.gamma_ == pytest.approx(exact.gamma_, abs=0.15)
    np.testing.assert_allclose(
        drawn.predict_proba(X).mean(), exact.predict_proba(X).mean(), atol=0.01
    )


def test_frames_of_pandas_and_polars_are_tables_too():
    X, y = imbalanced()
    names = ["amount", "hour", "age", "speed", "rate"]
    frame = pd.DataFrame(X, columns=names)
    model = GammaKNNClassifier().fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == names
    expected = GammaKNNClassifier().fit(X, y).priority(X)
    np.testing.assert_array_equal(model.priority(frame), expected)
    other = pl.DataFrame(X, schema=names)
    np.testing.assert_array_equal(model.priority(other), expected)
    np.testing.assert_array_equal(GammaKNNClassifier().fit(other, y).priority(other), expected)
    with pytest.raises(ValueError, match="feature names should match"):
        model.priority(frame[names[::-1]])


def test_works_in_pipelines_and_searches():
    X, y = imbalanced()
    pipeline = make_pipeline(StandardScaler(), GammaKNNClassifier())
    search = GridSearchCV(
        pipeline, {"gammaknnclassifier__k": [1, 3]}, scoring="precision_at_20", cv=3
    )
    assert 0 < search.fit(X, y).best_score_ <= 1
    assert cross_val_score(pipeline, X, y, scoring="average_precision", cv=3).mean() > 0.3


def test_metrics_of_every_kind_set_the_threshold():
    X, y = imbalanced()
    alerts = GammaKNNClassifier(metric=AlertsAtMost(0.05)).fit(X, y)
    assert (alerts.predict(X + 0.01) == 1).sum() <= 2 * 0.05 * len(X)
    cheap = GammaKNNClassifier(metric=Cost(c_fp=1, c_fn=100)).fit(X, y)
    dear = GammaKNNClassifier(metric=Cost(c_fp=100, c_fn=1)).fit(X, y)
    assert cheap.gamma_ < dear.gamma_
    custom = GammaKNNClassifier(metric=lambda tp, fp, fn, tn: tp / (tp + fp + fn)).fit(X, y)
    assert custom.gamma_ == GammaKNNClassifier(metric="f1").fit(X, y).gamma_


class Recorder:
    """A scikit-learn callback that counts the steps of a fit."""

    def __init__(self):
        self.ended = 0

    def setup(self, estimator, context):
        self.ended = 0

    def on_fit_task_begin(self, estimator, context):
        return None

    def on_fit_task_end(self, estimator, context):
        self.ended += 1

    def teardown(self, estimator, context):
        return None


def test_a_long_fit_reports_to_callbacks():
    X, y = imbalanced()
    model = GammaKNNClassifier(cv=4)
    if not hasattr(model, "set_callbacks"):
        pytest.skip("this scikit-learn has no callbacks yet")
    recorder = Recorder()
    model.set_callbacks(recorder).fit(X, y)
    assert recorder.ended == 5, "four folds and the fit itself"


def test_verbose_shows_progress_and_silence_is_the_default(capsys):
    X, y = imbalanced()
    GammaKNNClassifier().fit(X, y)
    assert capsys.readouterr().out == ""
    GammaKNNClassifier(verbose=1).fit(X, y)
    assert "leave one out" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metric": "f_one"}, "Unknown metric 'f_one'"),
        ({"metric": Cost(c_fn=np.ones(300))}, "find the threshold with best_threshold"),
        ({"gamma": {0: 1.0, 1: 0.5}}, "more than two classes"),
        ({"k": 0}, "'k' parameter"),
        ({"gamma": 0.0}, "'gamma' parameter"),
        ({"distance": "precomputed"}, "square table"),
        ({"pos_label": "fraud"}, "pos_label='fraud' is not among the labels 0 and 1"),
        ({"sampler": SMOTE(sampling_strategy=0.01)}, "SMOTE cannot resample"),
    ],
)
def test_mistakes_get_a_sentence(change, message):
    X, y = imbalanced()
    with pytest.raises(ValueError, match=message):
        GammaKNNClassifier(**change).fit(X, y)


def test_precomputed_tables_are_checked():
    table = cdist(np.arange(6.0)[:, None], np.arange(6.0)[:, None])
    y = [0, 0, 0, 0, 1, 1]
    with pytest.raises(ValueError, match="no precomputed distances"):
        GammaKNNClassifier(distance="precomputed", sampler=SMOTE()).fit(table, y)
    with pytest.raises(ValueError, match="not be negative"):
        GammaKNNClassifier(distance="precomputed").fit(-table, y)


def test_too_few_positives_to_tune_say_what_to_do():
    X, y = np.random.default_rng(0).normal(size=(50, 2)), np.arange(50) < 2
    with pytest.raises(ValueError, match=r"of 2 too few .* set k=1, or give gamma a number"):
        GammaKNNClassifier(k=3).fit(X, y)
    assert GammaKNNClassifier(k=3, gamma=0.5).fit(X, y).gamma_ == 0.5
    assert GammaKNNClassifier(k=1).fit(X, y).gamma_ > 0
    alone = np.where(np.arange(50) < 1, "fraud", "ok")
    with pytest.raises(ValueError, match=r"The rarer label \(fraud\) has 1 row"):
        GammaKNNClassifier(k=1, cv=5).fit(X, alone)
    assert GammaKNNClassifier(k=1, gamma=0.5, cv=5).fit(X, alone).gamma_ == 0.5


def test_folds_are_as_many_as_the_positives_allow():
    X, y = imbalanced(100)
    y = (np.arange(100) < 3).astype(int)
    assert len(folds(X, y, 10)) == 3
    assert GammaKNNClassifier(k=1, cv=10).fit(X, y).gamma_ > 0


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("gamma", [0.1, 0.5, 0.99])
def test_false_negatives_never_grow_with_gamma_up_to_one(k, gamma):
    """Proposition 1: what plain nearest neighbours find, γk-NN with γ ≤ 1 finds too."""
    X, y = imbalanced(200)
    queries = np.random.default_rng(1).normal(size=(300, X.shape[1]))
    plain = GammaKNNClassifier(k, gamma=None).fit(X, y).predict(queries)
    assert (GammaKNNClassifier(k, gamma=gamma).fit(X, y).predict(queries) >= plain).all()


def test_a_long_fit_says_so_before(monkeypatch, caplog, clock):
    # A logger of its own: tools that configure logging disable those that are there.
    logger = logging.Logger("rarefind.neighbors", "INFO")
    logger.addHandler(caplog.handler)
    monkeypatch.setattr("rarefind.neighbors._classifier._LOG", logger)
    X, y = imbalanced(5000)
    GammaKNNClassifier().fit(X, y)
    assert not caplog.messages
    clock.tick = 60.0
    GammaKNNClassifier().fit(X, y)
    GammaKNNClassifier(max_queries=4000, random_state=0).fit(X, y)
    every, some = caplog.messages
    assert "of all 5,000 rows" in every
    assert "max_queries" in every
    drawn = min(4000, (y == 0).sum()) + (y == 1).sum()
    assert f"of {drawn:,} drawn at random of 5,000 rows" in some
