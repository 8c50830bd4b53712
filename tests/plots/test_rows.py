from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from rarefind.metrics import ranking_scores
from rarefind.metrics.scorers import deciding_estimator
from rarefind.neighbors import GammaKNNClassifier
from rarefind.plots._rows import name_of, score_rows

X = np.arange(20.0).reshape(-1, 1)
Y = np.where(X[:, 0] < 4, "fraud", "honest")


@pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB(), GammaKNNClassifier()])
@pytest.mark.parametrize("label", ["fraud", "honest"])
def test_the_label_asked_for_is_ranked_first(model: Any, label: str) -> None:
    rows = score_rows(model.fit(X, Y), X, pos_label=label)
    assert rows.pos_label == label
    assert rows.score[label == Y].mean() > rows.score[label != Y].mean()


def test_without_a_label_the_estimator_decides() -> None:
    second = score_rows(LogisticRegression().fit(X, Y), X)
    rarer = score_rows(GammaKNNClassifier().fit(X, Y), X)
    assert (second.pos_label, second.flipped) == ("honest", False)
    assert (rarer.pos_label, rarer.flipped) == ("fraud", False)
    np.testing.assert_array_equal(rarer.score, ranking_scores(GammaKNNClassifier().fit(X, Y), X))


def test_probabilities_of_the_other_class_stay_probabilities() -> None:
    model = GaussianNB().fit(X, Y)
    np.testing.assert_array_equal(score_rows(model, X, "fraud").score, model.predict_proba(X)[:, 0])


def test_an_unknown_label_is_refused() -> None:
    with pytest.raises(ValueError, match="'theft' is not among the labels fraud and honest"):
        score_rows(GaussianNB().fit(X, Y), X, "theft")


def test_a_pipeline_is_called_by_its_last_step() -> None:
    inner = GaussianNB()
    nested = make_pipeline(MinMaxScaler(), make_pipeline(MinMaxScaler(), inner))
    assert deciding_estimator(nested) is inner
    assert name_of(nested) == "GaussianNB"
