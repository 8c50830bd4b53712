"""Boosters in model files, asked by many, and given their rows in other ways."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from unchecked import save_unchecked

import rarefind
from rarefind.boosting import NLBClassifier, SGBAPClassifier
from rarefind.boosting._trees import Trees
from rarefind.persistence import read_manifest

QUICK = {"n_estimators": 4, "threshold": None, "early_stopping_rounds": None, "random_state": 0}
FEW = {"n_estimators": 3, "random_state": 0}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    return X, X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=300) > 1.5


@pytest.mark.parametrize("booster", [SGBAPClassifier, NLBClassifier])
@pytest.mark.parametrize("loaded", [False, True])
def test_many_threads_may_ask_at_once(rows, booster, loaded, tmp_path):
    X, y = rows
    model = booster(**QUICK).fit(X, y)
    expected = model.priority(X)
    model._trees = Trees(model._trees.text)  # not yet read by XGBoost
    if loaded:
        rarefind.save(model, tmp_path / "model")
        model = rarefind.load(tmp_path / "model")
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: model.priority(X), range(200)):
            np.testing.assert_array_equal(found, expected)


def test_scores_start_at_0_in_a_form_that_all_versions_read(rows):
    X, y = rows
    text = SGBAPClassifier(**QUICK).fit(X, y)._trees.text.tobytes()
    assert json.loads(text)["learner"]["learner_model_param"]["base_score"] == "0E0"


def with_children(model, children):
    whole = json.loads(model._trees.text.tobytes())
    tree = whole["learner"]["gradient_booster"]["model"]["trees"][0]
    tree["left_children"] = children
    text = json.dumps(whole, separators=(",", ":")).encode()
    model._trees = Trees(np.frombuffer(text, dtype=np.uint8))
    return model


def test_a_malformed_booster_is_refused(rows, tmp_path):
    X, y = rows
    broken = with_children(SGBAPClassifier(**QUICK).fit(X, y), [10**6] * 9)
    save_unchecked(broken, tmp_path / "model")
    with pytest.raises(ValueError, match="not as XGBoost writes them"):
        rarefind.load(tmp_path / "model")


def chain(depth):
    """A tree that goes ever further to the right."""
    n = 2 * depth + 1
    inner = np.arange(n) % 2 == 0
    inner[-1] = False
    left = np.where(inner, np.arange(n) + 1, -1)
    right = np.where(inner, np.arange(n) + 2, -1)
    parent = np.full(n, 2**31 - 1)
    parent[left[inner]] = parent[right[inner]] = np.flatnonzero(inner)
    return left.tolist(), right.tolist(), parent.tolist()


@pytest.mark.parametrize(("depth", "refused"), [(30, False), (31, True), (20_000, True)])
def test_trees_deeper_than_any_fit_makes_are_refused(rows, depth, refused):
    X, y = rows
    text = SGBAPClassifier(**QUICK).fit(X, y)._trees.text.tobytes()
    whole = json.loads(text)
    tree = whole["learner"]["gradient_booster"]["model"]["trees"][0]
    left, right, parent = chain(depth)
    n = len(left)
    tree["tree_param"]["num_nodes"] = str(n)
    tree |= {"left_children": left, "right_children": right, "parents": parent}
    for name in ("split_indices", "split_type", "default_left"):
        tree[name] = [0] * n
    for name in ("split_conditions", "base_weights", "loss_changes", "sum_hessian"):
        tree[name] = [0.5] * n
    trees = Trees(np.frombuffer(json.dumps(whole, separators=(",", ":")).encode(), np.uint8))
    if refused:
        with pytest.raises(ValueError, match="not as XGBoost writes them"):
            trees.check([None] * 3)
    else:
        trees.check([None] * 3)


@pytest.mark.parametrize("part", ["inner", "outer", "start", "scale"])
@pytest.mark.parametrize("how", ["shape", "nan", "type"])
def test_weights_that_are_not_those_of_the_learners_are_refused(rows, part, how, tmp_path):
    X, y = rows
    model = NLBClassifier(**QUICK).fit(X, y)
    values = model._scale if part == "scale" else getattr(model._network, part)
    bad = {
        "shape": np.concatenate([values, values]),
        "nan": np.full_like(values, np.nan),
        "type": values.astype(np.float32),
    }[how]
    if part == "scale":
        model._scale = bad
    else:
        model._network = model._network._replace(**{part: bad})
    save_unchecked(model, tmp_path / "model")
    with pytest.raises(ValueError, match=r"\(a nlb(-network)?: "):
        rarefind.load(tmp_path / "model")


def test_the_file_says_which_xgboost_made_it(rows, tmp_path):
    X, y = rows
    rarefind.save(SGBAPClassifier(**QUICK).fit(X, y), tmp_path / "model")
    assert "xgboost" in read_manifest(tmp_path / "model")["versions"]


def test_bins_ask_for_no_more_threads_than_the_model(rows):
    X, y = rows
    model = SGBAPClassifier(**QUICK, n_jobs=2).fit(X, y)
    assert model._coding.binner.n_jobs is None


def test_levels_do_not_add_bins_to_numbers():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=3000), rng.integers(0, 500, 3000)])
    y = X[:, 0] + rng.normal(size=3000) > 2
    model = SGBAPClassifier(
        **QUICK | {"n_estimators": 30}, bins="quantile", max_bins=8, categorical_features=[1]
    ).fit(X, y)
    trees = model.trees_to_dataframe()
    assert trees.Split[trees.Feature == "x0"].nunique() <= 8


def test_rows_to_judge_by_in_the_form_of_xgboost(rows):
    X, y = rows
    given = {"n_estimators": 10, "random_state": 0}
    one = SGBAPClassifier(**given).fit(X, y, eval_set=(X[:99], y[:99]))
    other = SGBAPClassifier(**given).fit(X, y, eval_set=[(X[:99], y[:99])])
    np.testing.assert_array_equal(one.validation_curve_, other.validation_curve_)


def test_a_budget_of_checks_is_of_the_rows_to_judge_by(rows):
    X, y = rows
    model = SGBAPClassifier(n_estimators=3, eval_metric="precision_at_k", k=9)
    assert model.fit(X, y, eval_set=(X[:90], y[:90]))._share == pytest.approx(0.1)
    assert model.fit(X, y)._share == pytest.approx(0.03)


def test_directions_by_number(rows):
    X, y = rows
    model = SGBAPClassifier(**QUICK, monotone_constraints={0: -1}).fit(X, y)
    low, high = np.zeros((2, 3))
    low[0], high[0] = -3, 3
    assert model.priority([low])[0] >= model.priority([high])[0]


@pytest.mark.parametrize("update", ["learner", "all"])
def test_importances_pick_the_column_that_tells(rows, update):
    X, y = rows
    found = NLBClassifier(**QUICK, update=update).fit(X, y).feature_importances_
    assert found.sum() == pytest.approx(1)
    assert found.argmin() == 2


def test_no_cv_is_five_folds(rows):
    X, y = rows
    curves = [SGBAPClassifier(**FEW, cv=cv).fit(X, y).validation_curve_ for cv in (None, 5)]
    np.testing.assert_array_equal(*curves)


def test_parts_as_tuples_are_parts_as_arrays(rows):
    X, y = rows
    half = np.arange(150)
    pairs = [(half, half + 150)]
    as_tuples = [(tuple(range(150)), tuple(range(150, 300)))]
    curves = [
        SGBAPClassifier(**FEW, cv=cv).fit(X, y).validation_curve_ for cv in (pairs, as_tuples)
    ]
    np.testing.assert_array_equal(*curves)


@pytest.mark.parametrize(
    ("cv", "sentence"),
    [
        ([], "cv has no folds"),
        (
            [(range(200), range(200, 301))],
            "cv names rows beyond the 300 of the table",
        ),
    ],
)
def test_folds_that_are_none_get_a_sentence(rows, cv, sentence):
    with pytest.raises(ValueError, match=sentence):
        SGBAPClassifier(**FEW, cv=cv).fit(*rows)
