import numpy as np
import optuna
import pandas as pd
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from rarefind._core.deadline import OutOfTimeError, check_time_left, deadline, until
from rarefind.metrics import get_scorer
from rarefind.neighbors import GammaKNNClassifier
from rarefind.selection import folds, tune

X, y = make_classification(n_samples=90, n_features=4, weights=[0.8], random_state=0)
tree = DecisionTreeClassifier(random_state=0)
space = {"max_depth": (1, 8), "min_samples_leaf": (1, 20)}


def same(one, other):
    pd.testing.assert_frame_equal(one.trials, other.trials)
    return (one.params, one.value) == (other.params, other.value)


def search(n_trials=8, **arguments):
    settings = {"estimator": tree, "space": space, "X": X, "y": y, "cv": 3} | arguments
    return tune(n_trials=n_trials, **settings)


def depth(model, X, y):
    return float(model.get_depth())


@pytest.mark.parametrize("metric", ["average_precision", "f2", get_scorer("recall_at_k", k="10%")])
def test_the_value_is_the_mean_over_the_same_folds(metric):
    found = search(metric=metric)
    model, scorer = clone(tree).set_params(**found.params), get_scorer(metric)
    values = [
        scorer(clone(model).fit(X[train], y[train]), X[test], y[test])
        for train, test in folds(X, y, 3, random_state=0)
    ]
    assert found.value == pytest.approx(np.mean(values))
    assert found.value == found.trials["value"].max()


def test_groups_stay_on_one_side():
    groups = np.arange(90) % 17
    found = search(groups=groups)
    model, scorer = clone(tree).set_params(**found.params), get_scorer("average_precision")
    values = [
        scorer(clone(model).fit(X[train], y[train]), X[test], y[test])
        for train, test in folds(X, y, 3, groups=groups, random_state=0)
    ]
    assert found.value == pytest.approx(np.mean(values))


def test_the_estimator_is_fitted_on_all_rows_with_the_best_parameters():
    found = search()
    expected = clone(tree).set_params(**found.params).fit(X, y)
    assert found.estimator.get_params() == expected.get_params()
    assert found.estimator.predict_proba(X).tolist() == expected.predict_proba(X).tolist()
    assert not hasattr(tree, "classes_")


def test_the_same_seed_gives_the_same_answer_and_another_seed_other_trials():
    assert same(search(random_state=3), search(random_state=3))
    assert not search(random_state=3).trials.equals(search(random_state=4).trials)


def test_more_trials_begin_with_the_same_trials():
    few, many = search(n_trials=5), search(n_trials=12)
    pd.testing.assert_frame_equal(few.trials, many.trials[:5])


def test_a_stopped_and_resumed_search_ends_like_one_that_never_stopped(tmp_path):
    storage = tmp_path / "trials.db"
    assert len(search(n_trials=4, storage=storage).trials) == 4
    assert same(search(n_trials=8, storage=storage), search(n_trials=8))


def test_a_search_longer_than_the_startup_is_resumed_with_its_pruned_trials(tmp_path):
    storage = str(tmp_path / "trials.db")
    search(n_trials=13, storage=storage)
    assert same(search(n_trials=20, storage=storage), search(n_trials=20))


def test_a_search_interrupted_within_a_trial_runs_that_trial_again(tmp_path):
    calls = []

    def interrupted(model, X, y):
        calls.append(model)
        if len(calls) == 11:
            raise KeyboardInterrupt
        return get_scorer("average_precision")(model, X, y)

    storage = tmp_path / "trials.db"
    with pytest.raises(KeyboardInterrupt):
        search(metric=interrupted, storage=storage)
    assert same(search(metric=interrupted, storage=storage), search())


def test_a_trial_left_by_a_killed_search_is_run_again(tmp_path):
    storage = tmp_path / "trials.db"
    search(n_trials=3, storage=storage)
    optuna.load_study(study_name="rarefind", storage=f"sqlite:///{storage}").ask()
    assert same(search(storage=storage), search())


def test_a_finished_search_is_not_run_again(tmp_path):
    fits = []

    def counted(model, X, y):
        fits.append(model)
        return depth(model, X, y)

    storage = tmp_path / "trials.db"
    first = search(n_trials=3, metric=counted, storage=storage)
    assert len(fits) == 9
    assert same(search(n_trials=3, metric=counted, storage=storage), first)
    assert len(fits) == 9


class OtherTree(DecisionTreeClassifier):
    """Another classifier with the same parameters."""


@pytest.mark.parametrize(
    "other",
    [
        {"space": {"max_depth": (1, 9), "min_samples_leaf": (1, 20)}},
        {"space": {"max_depth": (1, 8)}},
        {"random_state": 1},
        {"y": 1 - y},
        {"X": X[::-1]},
        {"cv": 4},
        {"metric": "f2"},
        {"estimator": DecisionTreeClassifier(random_state=0, criterion="entropy")},
        {"estimator": OtherTree(random_state=0)},
    ],
    ids=["range", "space", "seed", "labels", "rows", "folds", "metric", "parameter", "class"],
)
def test_trials_of_another_search_are_refused(tmp_path, other):
    storage = tmp_path / "trials.db"
    search(n_trials=1, storage=storage)
    with pytest.raises(ValueError, match=r"trials\.db has trials of another search"):
        search(n_trials=2, storage=storage, **other)


def test_other_choices_are_another_space(tmp_path):
    storage = tmp_path / "trials.db"
    search(n_trials=1, storage=storage, space={"criterion": ["gini", "entropy"]})
    with pytest.raises(ValueError, match="has trials of another search"):
        search(n_trials=2, storage=storage, space={"criterion": ["gini", "log_loss"]})


def test_a_scorer_of_ones_own_is_known_again_by_another_process(tmp_path):
    def define():
        def leaves(model, X, y):
            return float(model.get_n_leaves())

        return leaves

    here, there = define(), define()  # the same function at another place in memory
    storage = tmp_path / "trials.db"
    search(n_trials=2, metric=here, storage=storage)
    assert same(search(n_trials=4, metric=there, storage=storage), search(n_trials=4, metric=here))


def test_poor_trials_are_stopped_early():
    found = search(n_trials=25, metric=depth, space={"max_depth": (1, 8)})
    pruned = found.trials[found.trials["state"] == "pruned"]
    complete = found.trials[found.trials["state"] == "complete"]
    assert len(pruned) + len(complete) == 25
    assert len(pruned) > 0
    assert (pruned["folds"] < 3).all()
    assert pruned["value"].isna().all()
    assert (complete["folds"] == 3).all()
    assert pruned.index.min() >= 5  # the first trials are what the later ones are held against
    assert pruned["max_depth"].max() < found.params["max_depth"]


def test_without_pruning_every_trial_is_completed():
    found = search(n_trials=25, metric=depth, space={"max_depth": (1, 8)}, prune=False)
    assert set(found.trials["state"]) == {"complete"}
    assert set(found.trials["folds"]) == {3}


def test_no_trial_begins_after_the_timeout(tmp_path, clock):
    def slow(model, X, y):
        clock.now += 1.0  # thrice a trial: once a fold
        return 1.0

    storage = tmp_path / "trials.db"
    with pytest.warns(UserWarning, match="The time was over after 2 of 8 trials: give a longer"):
        assert len(search(timeout=5, metric=slow).trials) == 2
    with pytest.warns(UserWarning, match="after 1 of 8"):
        assert len(search(timeout=0, metric=slow).trials) == 1
    search(n_trials=2, metric=slow, storage=storage)
    with pytest.warns(UserWarning, match="after 2 of 8"):
        assert len(search(timeout=-1, metric=slow, storage=storage).trials) == 2
    with pytest.warns(UserWarning, match="after 3 of 8"):
        assert len(search(timeout="0.15m", metric=slow).trials) == 3


def test_a_search_has_a_limit_and_says_how_far_it_is(clock, capsys):
    """Minutes passed without a word, and there was no end but that of all trials."""

    def slow(model, X, y):
        clock.now += 50.0
        return float(model.get_depth())

    with pytest.warns(UserWarning, match="after 4 of 8 trials"):
        found = search(metric=slow, prune=False)
    assert len(found.trials) == 4, "ten minutes by default, and 150 seconds a trial"
    best = found.trials["value"].cummax()
    assert capsys.readouterr().err.splitlines() == [
        f"Tuning DecisionTreeClassifier: {n} of 8 trials, best value {best[n - 1]:.4g}, at most "
        f"{600 - 150 * n} s more"
        for n in range(1, 5)
    ]
    found = search(metric=slow, prune=False, timeout=None, verbose=0)
    assert len(found.trials) == 8
    assert capsys.readouterr() == ("", "")


def test_a_trial_under_way_is_given_up(clock):
    class Patient(LogisticRegression):
        def fit(self, X, y):
            clock.now += 10.0
            check_time_left(deadline())
            return super().fit(X, y)

    asked = {"estimator": Patient(), "space": {"C": (0.1, 1.0)}}
    with pytest.warns(UserWarning, match="after 1 of 8 trials"):
        found = search(**asked, timeout=45)
    assert found.trials["folds"].tolist() == [3]
    with pytest.raises(OutOfTimeError), until(clock.now + 45):  # of a fit around it
        search(**asked, timeout=None)


def test_without_a_completed_trial_there_is_no_answer():
    with pytest.raises(ValueError, match="No trial was completed"):
        search(n_trials=0)


def test_every_kind_of_range_is_searched():
    found = search(
        n_trials=20,
        prune=False,
        space={
            "max_depth": (1, 5),
            "min_samples_leaf": (1, 16, "log"),
            "min_weight_fraction_leaf": (0.0, 0.4),
            "ccp_alpha": (1e-6, 1e-1, "log"),
            "max_features": [None, "sqrt", 2, 0.5],
            "class_weight": [None, "balanced", {0: 1, 1: 5}],
            "criterion": CategoricalDistribution(["gini", "entropy"]),
            "min_impurity_decrease": FloatDistribution(0.0, 0.5, step=0.25),
        },
    )
    trials = found.trials
    assert set(trials["max_depth"]) <= {1, 2, 3, 4, 5}
    assert trials["min_samples_leaf"].between(1, 16).all()
    assert trials["min_weight_fraction_leaf"].between(0, 0.4).all()
    assert trials["min_weight_fraction_leaf"].nunique() == 20
    assert trials["ccp_alpha"].between(1e-6, 1e-1).all()
    assert trials["ccp_alpha"].median() < 1e-2  # most of a logarithmic range is small
    assert set(trials["criterion"]) == {"gini", "entropy"}
    assert set(trials["min_impurity_decrease"]) <= {0.0, 0.25, 0.5}
    chosen = [found.params["max_features"], *trials["max_features"]]
    assert all(value in ("sqrt", 2, 0.5) or pd.isna(value) for value in chosen)
    assert found.params["class_weight"] in (None, "balanced", {0: 1, 1: 5})
    assert found.estimator.get_params().items() >= found.params.items()


def test_choices_may_be_objects_also_in_a_file(tmp_path):
    model = make_pipeline(StandardScaler(), LogisticRegression())
    choices = ["passthrough", StandardScaler(), MinMaxScaler()]
    arguments = {"estimator": model, "space": {"standardscaler": choices}}
    storage = tmp_path / "trials.db"
    found = search(n_trials=6, storage=storage, **arguments)
    assert found.params["standardscaler"] in choices
    assert {id(c) for c in found.trials["standardscaler"]} <= {id(c) for c in choices}
    assert search(n_trials=8, storage=storage, **arguments).value == search(**arguments).value


@pytest.mark.parametrize(
    "wrong", [(1,), (1, 2, 3), (1, 2, "linear"), (1, 2, "log", 4), [], "gini", 3, None], ids=str
)
def test_what_is_no_range_is_refused(wrong):
    with pytest.raises(ValueError, match=r"A space is .* or a list of choices, not"):
        search(space={"max_depth": wrong})


def test_the_rarer_label_is_positive_for_its_estimators():
    words = np.where(y, "fraud", "ok")
    arguments = {"estimator": GammaKNNClassifier(), "space": {"k": [1, 3, 5]}, "n_trials": 3}
    named = search(y=words, metric="precision_at_10", **arguments)
    assert named.value == search(y=y, metric="precision_at_10", **arguments).value


def test_an_unknown_metric_is_refused_before_the_first_trial(tmp_path):
    with pytest.raises(ValueError, match="Unknown metric 'nonsense'"):
        search(metric="nonsense", storage=tmp_path / "trials.db")
    assert not list(tmp_path.iterdir())


def test_an_error_of_a_trial_is_not_hidden():
    with pytest.raises(ValueError, match="max_depth"):
        search(space={"max_depth": [-1]})


def test_numpy_integers_are_whole_numbers():
    found = search(space={"max_depth": (np.int64(1), np.int64(3))}, n_trials=2)
    assert isinstance(found.params["max_depth"], int)


def test_a_score_that_is_no_number_ends_the_search():
    with pytest.raises(ValueError, match="The metric is nan with"):
        search(metric=lambda estimator, X, y: float("nan"), n_trials=3)


def test_text_labels_are_tuned_for_the_rarer_one():
    rng = np.random.default_rng(0)
    rows, fraud = rng.normal(size=(200, 2)), np.arange(200) % 10 == 0
    rows[fraud] += 1.5
    settings = {"space": {"C": [1.0]}, "n_trials": 1}
    named = tune(LogisticRegression(), X=rows, y=np.where(fraud, "fraud", "ok"), **settings)
    numbered = tune(LogisticRegression(), X=rows, y=fraud.astype(int), **settings)
    assert named.value == pytest.approx(numbered.value)
