from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from rarefind.neighbors import GammaKNNClassifier
from rarefind.plots import ScoreHistogramDisplay


def heights(bars: Any) -> Any:
    return np.array([bar.get_height() for bar in bars])


def labels(display: ScoreHistogramDisplay) -> list[str]:
    return [tick.get_text() for tick in display.ax_.get_xticklabels()]


@pytest.fixture
def ratios() -> tuple[Any, Any]:
    """Scores as γk-NN gives them: ratios, a few of them standing for infinity."""
    rng = np.random.default_rng(0)
    y = np.append(np.ones(40, int), np.zeros(960, int))
    score = rng.lognormal(size=1000) + y
    score[[3, 5, 400]] = [2e100, 2.7e100, 1e100]
    return y, score


def test_bars_are_shares_of_the_class(ranking: Any) -> None:
    y, score = ranking.y, np.clip(ranking.score, -2, 2)
    display = ScoreHistogramDisplay.from_predictions(y, score, bins=8)
    for bars, of_class in ((display.positive_bars_, y == 1), (display.negative_bars_, y == 0)):
        counts = np.histogram(score[of_class], bins=display.edges)[0]
        np.testing.assert_allclose(heights(bars), counts / of_class.sum())
    np.testing.assert_allclose([b.get_x() for b in display.positive_bars_], display.edges[:-1])
    assert (display.edges[0], display.edges[-1]) == (score.min(), 2)


def test_infinite_scores_go_to_a_bin_apart(ratios: Any) -> None:
    y, score = ratios
    display = ScoreHistogramDisplay.from_predictions(y, score)
    finite = score < 1e50
    high = display.edges[-1]
    assert np.quantile(score[finite], 0.995) <= high < 1e3
    assert display.edges[0] == score.min()
    for bars, of_class in ((display.positive_bars_, y == 1), (display.negative_bars_, y == 0)):
        beyond = (score[of_class] > high).mean()
        assert heights(bars)[-1] == pytest.approx(beyond)
        assert heights(bars).sum() == pytest.approx(1)
        assert bars[-1].get_x() > high
    assert display.positive.share[-1] >= 2 / 40
    assert labels(display)[-1] == f"> {high:.3g}"


def test_true_infinities_are_like_those_that_stand_for_it(ratios: Any) -> None:
    y, score = ratios
    infinite = np.where(score > 1e50, np.inf, score)
    one, other = (ScoreHistogramDisplay.from_predictions(y, s) for s in (score, infinite))
    np.testing.assert_array_equal(one.edges, other.edges)
    np.testing.assert_array_equal(one.positive.share, other.positive.share)


def test_minus_infinity_has_its_bin_too(ratios: Any) -> None:
    y, score = ratios
    display = ScoreHistogramDisplay.from_predictions(1 - y, -score)
    assert labels(display)[0].startswith("< ")
    assert display.negative.share[0] == pytest.approx(2 / 40)
    assert heights(display.negative_bars_).sum() == pytest.approx(1)


def test_rarer_positives_are_not_cut_off() -> None:
    rng = np.random.default_rng(0)
    score = np.append(rng.uniform(0.5, 0.9, 10), rng.uniform(0, 0.02, 10_000))
    y = np.append(np.ones(10), np.zeros(10_000))
    display = ScoreHistogramDisplay.from_predictions(y, score)
    assert display.edges[-1] == score.max()
    assert display.positive.share[-1] == 0


def test_one_extreme_positive_does_not_stretch_the_scale(ratios: Any) -> None:
    y, score = ratios
    score[7] = 1e6
    assert ScoreHistogramDisplay.from_predictions(y, score).edges[-1] < 1e3


@pytest.mark.parametrize("score", [[0.3] * 4, [np.inf] * 4, [2e100] * 4])
def test_one_score_for_all_still_draws(score: list[float]) -> None:
    display = ScoreHistogramDisplay.from_predictions([1, 0, 0, 0], score, bins=4)
    assert display.positive.share.sum() == 1
    assert heights(display.negative_bars_).max() == 1


def test_weights_count(ranking: Any) -> None:
    weight = np.random.default_rng(0).integers(0, 3, 200)
    weighted = ScoreHistogramDisplay.from_predictions(*ranking, sample_weight=weight)
    counts = np.histogram(
        ranking.score[ranking.y == 1], weighted.edges, weights=weight[ranking.y == 1]
    )[0]
    np.testing.assert_allclose(weighted.positive.share[1:-1], counts / weight[ranking.y == 1].sum())
    assert weighted.positive.rows == weight[ranking.y == 1].sum()


def test_the_threshold_is_drawn_where_it_is_given(ratios: Any) -> None:
    inside = ScoreHistogramDisplay.from_predictions(*ratios, threshold=1.5)
    beyond = ScoreHistogramDisplay.from_predictions(*ratios, threshold=1e60)
    without = ScoreHistogramDisplay.from_predictions(*ratios)
    assert inside.threshold_line_ is not None
    assert beyond.threshold_line_ is not None
    assert np.asarray(inside.threshold_line_.get_xdata())[0] == 1.5
    last = beyond.positive_bars_[-1]
    middle = last.get_x() + last.get_width() / 2
    assert np.asarray(beyond.threshold_line_.get_xdata())[0] == pytest.approx(middle)
    assert without.threshold_line_ is None


def test_the_threshold_of_an_estimator_is_on_the_scale_of_its_scores(ranking: Any) -> None:
    X, y = ranking.score.reshape(-1, 1), ranking.y
    model = GammaKNNClassifier().fit(X, y)
    pipeline = make_pipeline(MinMaxScaler(), GammaKNNClassifier()).fit(X, y)
    logistic = LogisticRegression().fit(X, y)
    from_estimator = ScoreHistogramDisplay.from_estimator
    assert from_estimator(model, X, y).threshold == model.threshold_
    assert from_estimator(model, X, y, pos_label=0).threshold == -model.threshold_
    assert from_estimator(pipeline, X, y).threshold == 0
    assert from_estimator(logistic, X, y).threshold is None
    assert from_estimator(logistic, X, y, threshold=0.2).threshold == 0.2


def test_alerts_are_what_lies_right_of_the_threshold(ranking: Any) -> None:
    X, y = ranking.score.reshape(-1, 1), ranking.y
    pipeline = make_pipeline(MinMaxScaler(), GammaKNNClassifier()).fit(X, y)
    display = ScoreHistogramDisplay.from_estimator(pipeline, X, y, bins=1)
    alerts = pipeline.decision_function(X) >= display.threshold
    np.testing.assert_array_equal(alerts, pipeline.predict(X) == 1)


def test_title_and_legend_name_the_model_and_the_classes(ranking: Any) -> None:
    display = ScoreHistogramDisplay.from_predictions(*ranking, name="model")
    legend = display.ax_.get_legend()
    assert legend is not None
    positives = int(ranking.y.sum())
    assert [t.get_text() for t in legend.get_texts()] == [
        f"Negatives ({200 - positives})",
        f"Positives ({positives})",
    ]
    assert display.ax_.get_title() == "model: scores of positives and negatives"
    assert display.figure_ is display.ax_.figure


@pytest.mark.parametrize(
    ("y", "bins", "message"),
    [
        ([0, 0], 3, "None of the 2 rows is positive"),
        ([1, 1], 3, "All 2 rows are positive"),
        ([0, 1], 0, "at least one bin, not bins=0"),
    ],
)
def test_errors_say_what_is_wrong(y: list[int], bins: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ScoreHistogramDisplay.from_predictions(y, [0.1, 0.2], bins=bins)
