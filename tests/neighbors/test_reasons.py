import numpy as np
import pandas as pd
import pytest
from imblearn.over_sampling import SMOTE

from rarefind.neighbors import GammaKNNClassifier
from rarefind.selection.calibration import Reference


@pytest.fixture
def table():
    """Positives differ from negatives in the amount only."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"hour": rng.uniform(0, 1, 200), "amount": rng.uniform(0, 1, 200)})
    y = np.arange(200) < 10
    frame.loc[y, "amount"] += 3
    return frame, y


def test_the_reason_names_the_feature_and_the_known_positives(table):
    frame, y = table
    model = GammaKNNClassifier(k=3).fit(frame, y)
    case = frame.iloc[[0]] + 0.01
    (reason,) = model.explain(case)
    assert reason.score == model.priority(case)[0]
    assert reason.because[0].feature == "amount"
    assert reason.because[0].weight > 0.8
    like = frame["amount"].iloc[[s.row for s in reason.similar]]
    own = case["amount"].iloc[0]
    assert reason.because[0].value == min(like, key=lambda known: abs(known - own))
    distances = np.linalg.norm(frame[y] - case.to_numpy(), axis=1)
    assert [s.row for s in reason.similar] == np.argsort(distances)[:2].tolist()
    np.testing.assert_allclose([s.distance for s in reason.similar], np.sort(distances)[:2])
    assert str(reason).startswith("Score ")
    assert "because amount" in str(reason)


def test_weights_are_shares_of_what_speaks_for_the_row(table):
    frame, y = table
    for reason in GammaKNNClassifier().fit(frame, y).explain(frame[y]):
        weights = [c.weight for c in reason.because]
        assert weights == sorted(weights, reverse=True)
        assert sum(weights) == pytest.approx(1)


def test_a_row_far_from_all_positives_has_nothing_that_speaks_for_it(table):
    frame, y = table
    negative = frame[~y].iloc[[0]]
    assert GammaKNNClassifier(k=1).fit(frame, y).explain(negative)[0].because == []


def test_the_rank_is_the_share_of_held_out_rows_below(table):
    frame, y = table
    model = GammaKNNClassifier(cv=3).fit(frame, y)
    reasons = model.explain(frame + 0.001)
    by_score = sorted(reasons, key=lambda r: r.score)
    ranks = [r.rank_in_reference for r in by_score]
    assert ranks == sorted(ranks)
    assert 0 <= ranks[0] <= ranks[-1] <= 1
    assert (
        GammaKNNClassifier(gamma=None).fit(frame, y).explain(frame[:1])[0].rank_in_reference is None
    )


def test_weighted_ranks():
    reference = Reference.of(np.array([3.0, 1.0, 2.0]), np.array([1.0, 2.0, 1.0]))
    ranks = reference.ranks(np.array([0.5, 1.0, 1.5, 2.5, 9.0]))
    assert ranks.tolist() == [0, 0, 0.5, 0.75, 1]


def test_synthetic_positives_are_called_so(table):
    frame, y = table
    model = GammaKNNClassifier(sampler=SMOTE(random_state=0), gamma=1.0, gamma_synthetic=0.01, cv=3)
    reason = model.fit(frame, y).explain(frame[y].iloc[[0]] + 0.05)[0]
    assert reason.similar[0].row == -1
    assert "a synthetic positive" in str(reason)
