import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer as sklearn_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from rarefind.metrics import (
    REGISTERED_SCORERS,
    average_precision,
    f_beta,
    g_mean,
    get_scorer,
    lift_at_k,
    pos_at_top,
    positive_label_of,
    precision_at_k,
    ranking_scores,
    recall_at_k,
)
from rarefind.neighbors import GammaKNNClassifier

X, y = make_classification(
    n_samples=150, n_features=4, weights=[0.85], class_sep=0.8, flip_y=0, random_state=0
)
words = np.where(y, "fraud", "ok")  # the positive label, the rarer, comes first in the alphabet
cv = StratifiedKFold(3)

RANKINGS = {
    "precision_at_10": lambda y, score: precision_at_k(y, score, 10),
    "recall_at_20": lambda y, score: recall_at_k(y, score, 20),
    "lift_at_10": lambda y, score: lift_at_k(y, score, 10),
    "pos_at_top": pos_at_top,
}
DECISIONS = {"g_mean": g_mean, "f2": lambda y, alert: f_beta(y, alert, beta=2)}


def mean_over_folds(name, model, labels, positive):
    """The measure by hand, on the rows that each fold holds out."""
    values = []
    for train, test in cv.split(X, labels):
        model.fit(X[train], labels[train])
        if name in RANKINGS:
            column = list(model.classes_).index(positive)
            values.append(RANKINGS[name](y[test], model.predict_proba(X[test])[:, column]))
        else:
            alert = model.predict(X[test]) == positive
            values.append(DECISIONS[name](y[test], alert.astype(int)))
    return np.mean(values)


@pytest.mark.parametrize("name", [*RANKINGS, *DECISIONS])
@pytest.mark.parametrize(
    ("model", "labels", "parameter"),
    [
        (GammaKNNClassifier(), words, "k"),
        (make_pipeline(StandardScaler(), GammaKNNClassifier()), words, "gammaknnclassifier__k"),
        (LogisticRegression(), y, "C"),
        (make_pipeline(StandardScaler(), LogisticRegression()), y, "logisticregression__C"),
        (GaussianNB(), y, "var_smoothing"),
    ],
    ids=["gamma", "pipeline of gamma", "logistic", "pipeline of logistic", "bayes"],
)
def test_a_grid_search_takes_the_measure_by_its_name(name, model, labels, parameter):
    choices = [1, 5]
    search = GridSearchCV(model, {parameter: choices}, scoring=name, cv=cv, error_score="raise")
    search.fit(X, labels)
    positive = "fraud" if labels is words else 1
    by_hand = [
        mean_over_folds(name, model.set_params(**{parameter: choice}), labels, positive)
        for choice in choices
    ]
    assert search.cv_results_["mean_test_score"] == pytest.approx(by_hand)


def test_several_measures_are_taken_in_one_search():
    wanted = ["precision_at_10", "f0.5"]
    search = GridSearchCV(
        GammaKNNClassifier(), {"k": [1, 3]}, scoring=wanted, refit="f0.5", cv=cv
    ).fit(X, words)
    for name in wanted:
        alone = GridSearchCV(GammaKNNClassifier(), {"k": [1, 3]}, scoring=name, cv=cv).fit(X, words)
        together = search.cv_results_[f"mean_test_{name}"]
        assert together.tolist() == alone.cv_results_["mean_test_score"].tolist()


@pytest.mark.parametrize("name", REGISTERED_SCORERS)
def test_scikit_learn_finds_every_registered_name(name):
    assert sklearn_scorer(name) == get_scorer(name)


def test_names_of_scikit_learn_keep_their_meaning():
    assert type(sklearn_scorer("average_precision")) is not type(get_scorer("average_precision"))
    assert type(sklearn_scorer("f1")) is not type(get_scorer("f1"))


def test_the_number_in_the_name_is_the_budget():
    assert get_scorer("recall_at_35") == get_scorer("recall_at_k", k=35)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("average_precision", {}),
        ("precision_at_k", {"k": "10%"}),
        ("recall_at_least", {"recall": 0.5}),
        ("alerts_at_most", {"k": 10}),
        ("f_beta", {"beta": 3}),
        ("balanced_accuracy", {}),
    ],
)
def test_a_row_of_weight_two_counts_as_two_rows(name, params):
    model, weight = GaussianNB().fit(X, y), np.arange(y.size) % 3
    scorer = get_scorer(name, **params)
    repeated = scorer(model, np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert scorer(model, X, y, sample_weight=weight) == pytest.approx(repeated)


def test_a_cost_is_scored_with_its_prices():
    model = GaussianNB().fit(X, y)
    alert = model.predict(X)
    cost = 2 * np.sum((alert == 1) & (y == 0)) + 9 * np.sum((alert == 0) & (y == 1))
    assert get_scorer("cost", c_fp=2, c_fn=9)(model, X, y) == -cost


def test_a_scorer_of_ones_own_is_taken_as_it_is():
    def own(model, X, y):
        return 1.0

    assert get_scorer(own) is own


@pytest.mark.parametrize("kind", ["precision", "recall", "lift"])
def test_a_measure_at_k_needs_its_k(kind):
    with pytest.raises(ValueError, match=f"{kind}_at_k needs a number of checks.*{kind}_at_200"):
        get_scorer(f"{kind}_at_k")


def test_an_unknown_name_is_refused_before_the_search():
    with pytest.raises(ValueError, match="Unknown metric 'precision_at_most'"):
        get_scorer("precision_at_most")


@pytest.mark.parametrize(
    "model",
    [
        GammaKNNClassifier(),
        make_pipeline(StandardScaler(), GammaKNNClassifier()),
        make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), GammaKNNClassifier())),
        GridSearchCV(GammaKNNClassifier(), {"k": [1, 3]}, cv=cv),
        GridSearchCV(
            make_pipeline(StandardScaler(), GammaKNNClassifier()),
            {"gammaknnclassifier__k": [1, 3]},
            cv=cv,
        ),
    ],
    ids=["alone", "pipeline", "pipeline in a pipeline", "search", "search of a pipeline"],
)
def test_the_rarer_label_is_positive_wherever_the_classifier_sits(model):
    model.fit(X, words)
    assert positive_label_of(model) == "fraud"
    score = ranking_scores(model, X)
    assert average_precision(words, score, pos_label="fraud") > 2 * y.mean()


def test_the_second_class_is_positive_where_the_classifier_does_not_say():
    assert positive_label_of(GaussianNB().fit(X, words)) == "ok"
    assert positive_label_of(make_pipeline(GaussianNB()).fit(X, y)) == 1


@pytest.mark.parametrize(
    "model", [LogisticRegression(), LinearSVC(), GaussianNB(), RandomForestClassifier(10)], ids=str
)
def test_scores_rank_as_the_classifier_itself_does(model):
    model.fit(X, y)
    own = model.decision_function(X) if hasattr(model, "decision_function") else None
    own = model.predict_proba(X)[:, 1] if own is None else own
    assert ranking_scores(model, X).tolist() == own.tolist()


def test_the_priority_comes_first():
    model = GammaKNNClassifier().fit(X, words)
    assert ranking_scores(model, X).tolist() == model.priority(X).tolist()


@pytest.mark.parametrize(
    "model", [GammaKNNClassifier(), LogisticRegression(), GaussianNB()], ids=str
)
def test_scores_rank_for_the_label_asked_for(model):
    model.fit(X, words)
    fraud, ok = (ranking_scores(model, X, label) for label in ("fraud", "ok"))
    assert average_precision(words, fraud, pos_label="fraud") > 2 * y.mean()
    order = np.lexsort([ok, -fraud])
    assert (np.diff(fraud[order]) <= 0).all()
    assert (np.diff(ok[order]) >= 0).all()


def test_a_label_that_is_not_there_cannot_be_ranked_for():
    with pytest.raises(ValueError, match="pos_label='theft' is not among the labels fraud and ok"):
        ranking_scores(GaussianNB().fit(X, words), X, "theft")


def test_a_choice_among_searched_models_is_scored_on_the_rarer_label():
    search = GridSearchCV(GammaKNNClassifier(), {"k": [3]}, scoring="precision_at_10", cv=cv)
    alone = cross_val_score(GammaKNNClassifier(k=3), X, words, scoring="precision_at_10", cv=cv)
    nested = cross_val_score(search, X, words, scoring="precision_at_10", cv=cv)
    assert nested.tolist() == alone.tolist()


@pytest.mark.parametrize("labels", [np.arange(y.size) % 3, np.zeros(y.size)], ids=["three", "one"])
def test_a_ranking_needs_two_classes(labels):
    model = DummyClassifier().fit(X, labels)
    number = np.unique(labels).size
    with pytest.raises(ValueError, match=f"needs two classes, and there are {number}"):
        ranking_scores(model, X)
    with pytest.raises(ValueError, match=f"needs two classes, and there are {number}"):
        get_scorer("average_precision")(model, X, labels)


def test_mistakes_in_a_name_are_met_at_once():
    with pytest.raises(ValueError, match="A budget is a number of checks"):
        get_scorer("precision_at_0")
    with pytest.raises(ValueError, match="Rankings are measured by average_precision"):
        get_scorer("precision_at_the_top")


def test_the_positive_label_can_be_said():
    rows, labels = np.arange(10.0)[:, None], np.where(np.arange(10) > 6, "fraud", "ok")
    model = LogisticRegression().fit(rows, labels)
    assert get_scorer("average_precision", pos_label="fraud")(model, rows, labels) == 1
    assert get_scorer("recall", pos_label="fraud")(model, rows, labels) == 1
