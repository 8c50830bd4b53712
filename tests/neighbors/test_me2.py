from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, cross_val_score

from rarefind import load
from rarefind._core.progress import listen_to_progress
from rarefind.metrics import Cost, average_precision
from rarefind.neighbors import ME2Classifier
from rarefind.selection import best_threshold

FIXED = {"max_radius": 0.2, "lam": 1e-2, "threshold": None}


def imbalanced(n=300, seed=0, d=5):
    return make_classification(
        n, d, n_informative=3, weights=[0.9], flip_y=0.02, class_sep=0.8, random_state=seed
    )


def squared(matrix, a, b):
    return float((a - b) @ matrix @ (a - b))


def naive_rule(x, ellipsoid, X, positive):
    """Section 4.2 for one ellipsoid, on squared distances; ties to the positive."""

    if squared(ellipsoid.matrix, x, ellipsoid.centre) > ellipsoid.radius:
        return False
    to_centre, to_x = (
        np.einsum("ij,jk,ik->i", X - z, ellipsoid.matrix, X - z) for z in (ellipsoid.centre, x)
    )
    # Negatives that hold the ellipsoid back lie on its surface, which rounding must not change.
    inside = to_centre <= ellipsoid.radius * (1 + 1e-6)
    return to_x[inside & positive].min() <= to_x[inside & ~positive].min(initial=np.inf)


@pytest.mark.parametrize("combine", ["nearest", "union"])
@pytest.mark.parametrize("lam", [1.0, 1e-3])
def test_at_one_the_priority_is_the_rule_of_the_paper(combine, lam):
    X, y = imbalanced()
    X, rows, positive = X[:200], X[200:], y[:200] == 1
    model = ME2Classifier(0.1, lam=lam, threshold=None, combine=combine, tol=1e-12)
    model.fit(X, positive)
    assert model.threshold_ == 1
    expected = []
    for x in rows:
        centres = np.array([e.centre for e in model.ellipsoids_])
        nearest = int(((x - centres) ** 2).sum(axis=1).argmin())
        asked = [model.ellipsoids_[nearest]] if combine == "nearest" else model.ellipsoids_
        expected.append(any(naive_rule(x, e, X, positive) for e in asked))
    assert 0 < sum(expected) < len(rows)
    np.testing.assert_array_equal(model.predict(rows), expected)


@st.composite
def grids(draw):
    """Rows on a coarse grid, where ties and copies are the rule."""
    d, n = draw(st.integers(1, 3)), draw(st.integers(4, 16))
    X = draw(hnp.arrays(int, (n, d), elements=st.integers(0, 4))).astype(float)
    positive = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    positive[0], positive[1] = True, False
    return X, positive


@given(grids(), st.sampled_from([0.05, 0.3, 1.0]), st.sampled_from(["nearest", "union"]))
@settings(max_examples=60, deadline=None)
def test_balls_decide_as_the_rule_says_among_ties_and_copies(table, quantile, combine):
    """With balls and a radius that is B all distances are whole numbers, free of rounding."""
    X, positive = table
    model = ME2Classifier(
        quantile, mu=1e15, lam=1e15, threshold=None, combine=combine, pos_label=True
    ).fit(X, positive)
    rows = np.array([[a] * X.shape[1] for a in range(5)], dtype=float)
    expected = []
    for x in rows:
        balls = []
        for c, ellipsoid in zip(X[positive], model.ellipsoids_, strict=True):
            to_negatives = ((X[~positive] - c) ** 2).sum(axis=1)
            bound = np.quantile(to_negatives, quantile, method="inverted_cdf")
            assert ellipsoid.max_radius == bound
            # A radius held back is below B by the last digit, so what is at B is not inside.
            bound = min(bound, ellipsoid.radius)
            inside = ((X - c) ** 2).sum(axis=1) <= bound
            to_rows = ((X - x) ** 2).sum(axis=1)
            to_negative = to_rows[inside & ~positive].min(initial=np.inf)
            hit = ((x - c) ** 2).sum() <= bound
            hit &= to_rows[inside & positive].min() <= to_negative
            here, others = ((to_rows[inside & own] == 0).sum() for own in (positive, ~positive))
            if here and others:  # a copy of both classes: their numbers decide
                hit &= here >= others
            balls.append((((x - c) ** 2).sum(), hit))
        distances = [distance for distance, _ in balls]
        nearest = balls[int(np.argmin(distances))][1]
        expected.append(nearest if combine == "nearest" else any(hit for _, hit in balls))
    np.testing.assert_array_equal(model.predict(rows), expected)


def test_a_priority_does_not_depend_on_the_other_rows():
    X, y = imbalanced()
    for combine in ("nearest", "union"):
        model = ME2Classifier(combine=combine, random_state=0).fit(X, y)
        together = model.priority(X[:60])
        alone = np.concatenate([model.priority(X[i : i + 1]) for i in range(60)])
        np.testing.assert_array_equal(together, alone)
        np.testing.assert_array_equal(together, model.set_params(n_jobs=1).priority(X[:60]))
        assert np.isfinite(together).all()


def test_union_is_never_below_nearest():
    X, y = imbalanced()
    nearest = ME2Classifier(**FIXED).fit(X, y)
    union = ME2Classifier(**FIXED, combine="union").fit(X, y)
    rows = np.random.default_rng(0).normal(size=(200, 5))
    assert (union.priority(rows) >= nearest.priority(rows)).all()
    assert (union.priority(rows) > nearest.priority(rows)).any()


@pytest.mark.parametrize("combine", ["nearest", "union"])
def test_the_unit_of_the_columns_does_not_matter(combine):
    X, y = imbalanced()
    one = ME2Classifier(combine=combine, random_state=0).fit(X, y)
    other = ME2Classifier(combine=combine, random_state=0).fit(X * 8, y)
    assert (one.max_radius_, one.mu_, one.lam_) == (other.max_radius_, other.mu_, other.lam_)
    priority = one.priority(X[:50] + 0.1)
    np.testing.assert_allclose(other.priority(8 * (X[:50] + 0.1)), priority, rtol=1e-9)


@pytest.mark.parametrize("threshold", ["auto", None, 0.7])
@pytest.mark.parametrize("combine", ["nearest", "union"])
def test_the_global_choice_is_the_best_of_all_on_the_pooled_folds(threshold, combine):
    X, y = imbalanced(200)
    options = {"threshold": threshold, "combine": combine, "cv": KFold(3)}
    model = ME2Classifier(**options).fit(X, y)

    def value(max_radius, lam):
        scores = np.empty(len(y))
        for train, test in KFold(3).split(X):
            part = ME2Classifier(max_radius, lam=lam, combine=combine, threshold=None, pos_label=1)
            scores[test] = part.fit(X[train], y[train]).priority(X[test])
        if threshold == "auto":
            return best_threshold(y, scores, "f1", bounds=(0, np.inf)).value
        alert = scores >= (1 if threshold is None else threshold)
        return 2 * (alert & (y == 1)).sum() / (alert.sum() + y.sum())

    assert model.value_ == pytest.approx(value(model.max_radius_, model.lam_), abs=1e-3)
    assert model.value_ >= max(value(q, lam) for q in (0.01, 0.2) for lam in (1.0, 1e-2)) - 1e-3
    assert not model.tuned_locally_.any()


@pytest.mark.parametrize("combine", ["nearest", "union"])
def test_local_tuning_gives_each_positive_its_own_parameters(combine):
    X, y = imbalanced()
    options = {"combine": combine, "random_state": 0, "threshold": None}
    model = ME2Classifier(tuning="local", **options).fit(X, y)
    everyone = ME2Classifier(**options).fit(X, y)
    p = int(y.sum())
    assert model.max_radius_.shape == model.lam_.shape == model.mu_.shape == (p,)
    assert model.tuned_locally_.shape == (p,)
    assert 0 < model.tuned_locally_.sum() < p
    others = ~model.tuned_locally_
    assert set(model.max_radius_[others]) == {everyone.max_radius_}
    assert len(set(zip(model.max_radius_, model.lam_, strict=True))) > 1
    if combine == "nearest":
        assert model.value_ >= everyone.value_


def test_numbers_are_kept_and_nothing_is_held_out():
    X, y = imbalanced()
    model = ME2Classifier(0.3, mu=0.5, lam=0.1, threshold=None).fit(X, y)
    assert (model.max_radius_, model.mu_, model.lam_) == (0.3, 0.5, 0.1)
    assert np.isnan(model.value_)
    priority = model.priority(X)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], priority / (1 + priority))
    assert model.explain(X[:1])[0].rank_in_reference is None


def test_mu_can_be_tuned_too():
    X, y = imbalanced(150)
    model = ME2Classifier(0.1, mu="auto", random_state=0).fit(X, y)
    assert model.mu_ in (1.0, 0.1, 0.01)


def test_one_positive_is_enough_without_tuning():
    X = np.array([[0.0, 0], [1, 0], [0, 1], [3, 3], [0.2, 3]])
    y = [1, 0, 0, 0, 0]
    for threshold in (None, 0.5):
        model = ME2Classifier(0.5, lam=0.1, threshold=threshold).fit(X, y)
        assert model.predict([[0.05, 0.05], [3, 3]]).tolist() == [1, 0]
    with pytest.raises(ValueError, match="holding some out needs at least 2"):
        ME2Classifier().fit(X, y)


def test_probabilities_are_calibrated_and_rank_alike():
    X, y = imbalanced(600)
    model = ME2Classifier(random_state=0).fit(X[:400], y[:400])
    probability = model.predict_proba(X[400:])[:, 1]
    priority = model.priority(X[400:])
    order = np.argsort(priority)
    assert (np.diff(probability[order]) >= 0).all()
    assert average_precision(y[400:], priority) > 2 * y[400:].mean()
    assert abs(probability.mean() - y[400:].mean()) < 0.05


def test_groups_stay_on_one_side():
    X, y = imbalanced(120)
    groups = np.arange(120) // 2
    assert 0 <= ME2Classifier(random_state=0).fit(X, y, groups=groups).value_ <= 1


def test_a_solver_cut_short_says_so():
    X, y = imbalanced()
    with pytest.warns(ConvergenceWarning, match=r"of 3\d ellipsoids did not reach tol=1e-12"):
        ME2Classifier(0.9, lam=1e-5, threshold=None, tol=1e-12, max_iter=1).fit(X, y)


def test_a_cost_by_row_is_refused():
    X, y = imbalanced(60)
    with pytest.raises(ValueError, match="find the threshold with best_threshold"):
        ME2Classifier(metric=Cost(c_fp=1, c_fn=np.ones(60))).fit(X, y)


@pytest.mark.parametrize("labels", [("ok", "fraud"), ("a_fraud", "ok"), (1, 0)])
def test_the_rarer_label_is_positive_whatever_its_name(labels):
    X, y = imbalanced(150)
    named = np.where(y == 1, labels[1], labels[0])
    model = ME2Classifier(random_state=0).fit(X, named)
    plain = ME2Classifier(random_state=0).fit(X, y)
    assert model.pos_label_ == labels[1]
    np.testing.assert_array_equal(model.priority(X), plain.priority(X))
    np.testing.assert_array_equal(model.predict(X) == labels[1], plain.predict(X) == 1)


@pytest.mark.parametrize("combine", ["nearest", "union"])
def test_reasons_name_the_positive_and_the_features_that_are_close(combine):
    X, y = imbalanced()
    table = pd.DataFrame(X, columns=list("abcde"))
    model = ME2Classifier(combine=combine, random_state=0).fit(table, y)
    rows = table.iloc[:40] + 0.05
    reasons = model.explain(rows)
    for x, priority, reason in zip(rows.to_numpy(), model.priority(rows), reasons, strict=True):
        assert reason.score == priority
        assert 0 <= reason.rank_in_reference <= 1
        (similar,) = reason.similar
        ellipsoid = next(e for e in model.ellipsoids_ if e.row == similar.row)
        assert similar.distance**2 == pytest.approx(squared(ellipsoid.matrix, x, ellipsoid.centre))
        assert ellipsoid.radius / similar.distance**2 >= priority * (1 - 1e-9)
        if reason.because:
            assert sum(c.weight for c in reason.because) == pytest.approx(1)
        for condition in reason.because:
            assert condition.op == "≈"
            assert condition.value == table[condition.feature][similar.row]
    best = reasons[int(np.argmax(model.priority(rows)))]
    assert best.because
    assert f"row {best.similar[0].row}" in str(best)


def test_it_works_in_a_cross_validation():
    X, y = imbalanced(200)
    scores = cross_val_score(ME2Classifier(random_state=0), X, y, scoring="average_precision")
    assert scores.mean() > 0.3


def test_of_many_rows_some_are_held_out_and_stand_for_all():
    X, y = imbalanced(600)
    whole = ME2Classifier(random_state=0, max_queries=600).fit(X, y)
    drawn = ME2Classifier(random_state=0, max_queries=200).fit(X, y)
    plain = ME2Classifier(random_state=0).fit(X, y)
    np.testing.assert_array_equal(whole.priority(X), plain.priority(X))
    assert whole.threshold_ == plain.threshold_
    assert len(plain.reference_.score) == 600
    assert len(drawn.reference_.score) == 200 + y.sum()
    # 200 of the negatives have the weight of all.
    positives = 1 - drawn.reference_.below[-2]
    assert positives * 600 == pytest.approx(1)


@pytest.mark.parametrize("combine", ["nearest", "union"])
def test_progress_is_reported_for_every_ellipsoid(combine):
    X, y = imbalanced(200)
    said = []
    with listen_to_progress(lambda done, total: said.append((done, total))):
        ME2Classifier(combine=combine, random_state=0).fit(X, y)
    # Twelve settings and the chosen one, on held-out rows; then on all.
    steps = (12 + 1 + 1) * y.sum()
    assert [done for done, _ in said] == list(range(1, steps + 1))
    assert {total for _, total in said} == {steps}


def test_a_file_from_before_max_queries_has_the_default():
    old = load(Path(__file__).parents[1] / "files" / "0.1.0" / "ME2Classifier-1.rarefind")
    assert old.get_params()["max_queries"] == 50_000
