import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata, wilcoxon
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from rarefind.metrics import get_scorer
from rarefind.neighbors import GammaKNNClassifier
from rarefind.selection import Comparison, TemporalSplit, compare, folds

X, y = make_classification(n_samples=120, n_features=4, weights=[0.8], random_state=0)
MODELS = {"blind": DummyClassifier(), "bayes": GaussianNB(), "logistic": LogisticRegression()}


def comparison(values):
    """Values of one metric, a row a fold, a column a model."""
    rows = [
        {"model": name, "fold": fold, "metric": "ap", "value": value, "seconds": 1.0}
        for name, column in values.items()
        for fold, value in enumerate(column)
    ]
    return Comparison(pd.DataFrame(rows))


@pytest.mark.parametrize(
    "arguments",
    [
        {"cv": 4},
        {"cv": 3, "random_state": 7},
        {"cv": 3, "groups": np.arange(120) % 19},
        {"cv": StratifiedKFold(3)},
        {"cv": TemporalSplit(60, 10, 20)},
    ],
    ids=["number", "seed", "groups", "splitter", "time"],
)
def test_every_model_is_measured_on_the_same_folds(arguments):
    found = compare(MODELS, X, y, metrics=["average_precision", "f1"], **arguments)
    pairs = folds(X, y, **({"random_state": 0} | arguments))
    for metric in ("average_precision", "f1"):
        scorer, wide = get_scorer(metric), found.by_fold(metric)
        assert wide.shape == (len(pairs), 3)
        for (name, model), (fold, (train, test)) in itertools.product(
            MODELS.items(), enumerate(pairs)
        ):
            fitted = clone(model).fit(X[train], y[train])
            assert wide.loc[fold, name] == pytest.approx(scorer(fitted, X[test], y[test]))


def test_every_value_is_kept():
    found = compare(MODELS, X, y, cv=3, metrics=["f1", "f2"])
    assert list(found.scores) == ["model", "fold", "metric", "value", "seconds"]
    assert len(found.scores) == 3 * 3 * 2
    assert found.metrics == ["f1", "f2"]
    assert list(found.by_fold()) == list(MODELS)
    assert found.by_fold().equals(found.by_fold("f1"))
    assert (found.scores["seconds"] > 0).all()


@pytest.mark.parametrize(
    "metrics", ["g_mean", ["g_mean"], get_scorer("g_mean"), [get_scorer("g_mean")]]
)
def test_one_metric_needs_no_list(metrics):
    found = compare(MODELS, X, y, cv=3, metrics=metrics)
    expected = compare(MODELS, X, y, cv=3, metrics=("f1", "g_mean")).by_fold("g_mean")
    assert found.by_fold().equals(expected)


def test_a_scorer_of_ones_own_goes_by_its_name():
    def rows(model, X, y):
        return float(len(y))

    found = compare(MODELS, X, y, cv=3, metrics=rows)
    assert found.metrics == ["rows"]
    assert (found.scores["value"] == 40).all()


def test_no_scorer_is_lost_to_another_of_the_same_name():
    metrics = [lambda model, X, y: 0.0, lambda model, X, y: 1.0]
    found = compare(MODELS, X, y, cv=3, metrics=metrics)
    assert [found.table(name)["mean"].unique().tolist() for name in found.metrics] == [[0], [1]]


tables = st.integers(1, 6).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 10), min_size=n, max_size=n), min_size=1, max_size=4)
)


@settings(max_examples=60, deadline=None)
@given(tables)
def test_the_table_sums_up_the_folds(columns):
    values = {f"m{i}": [v / 10 for v in column] for i, column in enumerate(columns)}
    table = comparison(values).table()
    assert set(table.index) == set(values)
    assert table["mean"].is_monotonic_decreasing
    ranks = rankdata([[-v for v in fold] for fold in zip(*values.values(), strict=True)], axis=1)
    best = table.index[0]
    for i, (name, column) in enumerate(values.items()):
        row = table.loc[name]
        assert row["mean"] == pytest.approx(np.mean(column))
        assert row["sd"] == pytest.approx(np.std(column, ddof=1) if len(column) > 1 else 0)
        assert row["mean_rank"] == pytest.approx(np.mean(ranks[:, i]))
        if name == best:
            assert np.isnan(row["p_value"])
        elif column == values[best]:
            assert row["p_value"] == 1
        else:
            assert 0 < row["p_value"] <= 1


def test_the_p_value_is_that_of_the_signed_ranks_against_the_best():
    values = {
        "second": [0.5, 0.3, 0.7, 0.2, 0.65, 0.1],
        "best": [0.61, 0.33, 0.69, 0.42, 0.7, 0.17],
    }
    differences = np.subtract(values["best"], values["second"])
    ranks = rankdata(np.abs(differences))

    def distance(signs):
        return abs(signs @ ranks)

    all_signs = np.array(list(itertools.product([-1, 1], repeat=6)))
    as_far = [distance(signs) >= distance(np.sign(differences)) for signs in all_signs]
    p_value = comparison(values).table().loc["second", "p_value"]
    assert p_value == pytest.approx(np.mean(as_far))
    assert p_value == wilcoxon(differences).pvalue


def test_the_p_value_of_measured_models_agrees_with_scipy():
    found = compare(MODELS, X, y, cv=8, metrics="average_precision")
    wide, table = found.by_fold(), found.table()
    best = wide.mean().idxmax()
    assert table.index[0] == best
    for name in set(MODELS) - {best}:
        expected = wilcoxon(wide[best] - wide[name]).pvalue
        assert table.loc[name, "p_value"] == pytest.approx(expected)


def test_equal_models_do_not_differ_and_keep_their_order():
    table = comparison({"b": [0.5, 0.7], "a": [0.5, 0.7]}).table()
    assert table.index.tolist() == ["b", "a"]
    assert table.loc["a", "p_value"] == 1
    assert table["mean_rank"].tolist() == [1.5, 1.5]


def test_the_comparison_shows_itself_best_first():
    shown = str(comparison({"blind": [0.1, 0.1, 0.1], "logistic": [0.5, 0.6, 0.7]}))
    assert [line.split() for line in shown.splitlines()] == [
        ["ap", "mean", "rank", "p", "against", "best"],
        ["model"],
        ["logistic", "0.600", "±", "0.100", "1.00"],
        ["blind", "0.100", "±", "0.000", "2.00", "0.250"],
    ]


def test_every_metric_is_shown():
    blocks = str(compare(MODELS, X, y, cv=3, metrics=["f1", "g_mean"])).split("\n\n")
    assert [block.split()[0] for block in blocks] == ["f1", "g_mean"]


def test_folds_at_the_same_time_give_the_same_values():
    one, two = (compare(MODELS, X, y, cv=3, n_jobs=n).scores for n in (1, 2))
    columns = ["model", "fold", "metric", "value"]
    assert one[columns].equals(two[columns])


def test_frames_and_lists_are_taken():
    expected = compare(MODELS, X, y, cv=3).by_fold()
    frame = pd.DataFrame(X, index=range(200, 320))
    assert compare(MODELS, frame, pd.Series(y, frame.index), cv=3).by_fold().equals(expected)
    assert compare(MODELS, X.tolist(), y.tolist(), cv=3).by_fold().equals(expected)


def test_the_models_given_are_not_fitted():
    model = GaussianNB()
    compare({"bayes": model}, X, y, cv=3)
    assert not hasattr(model, "classes_")


def test_all_models_are_measured_on_the_same_positives():
    words = np.where(y, "fraud", "ok")
    models = {"gamma": GammaKNNClassifier(), "logistic": LogisticRegression()}
    named = compare(models, X, words, cv=3, metrics="precision_at_10").by_fold()
    assert named.equals(compare(models, X, y, cv=3, metrics="precision_at_10").by_fold())


def test_the_positive_label_can_be_named():
    words = np.where(y, "fraud", "ok")
    found = compare(MODELS, X, words, cv=3, metrics=["f1", "pos_at_top"], pos_label="ok")
    expected = compare(MODELS, X, 1 - y, cv=3, metrics=["f1", "pos_at_top"], pos_label=1)
    for metric in found.metrics:
        assert found.by_fold(metric).equals(expected.by_fold(metric))


def test_a_metric_that_was_not_measured_is_refused():
    with pytest.raises(ValueError, match="'f3' was not measured; ap were"):
        comparison({"a": [0.1]}).table("f3")


def test_without_a_model_there_is_nothing_to_compare():
    with pytest.raises(ValueError, match="no model to compare"):
        compare({}, X, y)


def test_an_unknown_metric_is_refused():
    with pytest.raises(ValueError, match="Unknown metric 'nonsense'"):
        compare(MODELS, X, y, metrics=["f1", "nonsense"])


def test_the_progress_is_shown_when_asked(capsys):
    compare(MODELS, X, y, cv=3)
    assert capsys.readouterr().out == ""
    compare(MODELS, X, y, cv=3, verbose=1)
    shown = capsys.readouterr().out
    assert "Comparing" in shown
    assert "9/9" in shown
