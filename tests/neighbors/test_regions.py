import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind.metrics import count_metric, f_beta
from rarefind.neighbors._ratio import ratio, scale_ratios
from rarefind.neighbors._regions import (
    HeldOutRatios,
    LocalScales,
    best_gamma,
    cluster,
    nearest_centre,
)
from rarefind.selection import folds

F1 = count_metric("f1")


def held_out(seed, n=60, share=0.3):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(n // 2, 2)), rng.normal([6, 0], 1, size=(n - n // 2, 2))])
    positive = rng.random(n) < share
    positive[:2], positive[2:4] = True, False
    score = np.round(rng.gamma(2, 0.3, n) * (1 + positive), 1)
    return HeldOutRatios(X, score, positive, np.ones(n))


def best_by_trying(rows):
    tried = [t for t in [*rows.score, 1.0] if 0 < t <= 1]
    return max(f_beta(rows.positive, rows.score >= t) for t in tried)


@given(st.integers(0, 50), st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_version_1_tunes_gamma_inside_each_region(seed, n_regions):
    rows = held_out(seed)
    found = LocalScales(F1, 3, 0.5, None).regions(rows, n_regions, 0)
    at = ((rows.X[:, None] - found.centres) ** 2).sum(axis=2).argmin(axis=1)
    for j, (gamma, fell_back) in enumerate(zip(found.gammas, found.fell_back, strict=True)):
        own = rows.of(at == j)
        assert fell_back == (own.positive.sum() < 3)
        if fell_back:
            assert gamma == 0.5
        else:
            reached = f_beta(own.positive, own.score >= gamma)
            assert reached == pytest.approx(best_by_trying(own))


@pytest.mark.parametrize("seed", range(5))
def test_version_2_averages_over_rows_the_average_over_clusterings(seed):
    rows = held_out(seed)
    found = LocalScales(F1, 3, 0.5, 4).regions(rows, 2, 7)
    by_row = [[] for _ in rows.score]
    for number, (inside, _) in enumerate(folds(rows.X, rows.positive, 4, random_state=7)):
        centres = cluster(rows.of(inside), 2, 7 + number)
        at = nearest_centre(rows.X, centres)
        for j in range(2):
            own = rows.of(inside[at[inside] == j])
            gamma = best_gamma(own, F1) if own.positive.sum() >= 3 else 0.5
            for i in inside[at[inside] == j]:
                by_row[i].append(gamma)
    assert {len(values) for values in by_row} == {3}
    mean = np.array([np.mean(values) for values in by_row])
    at = nearest_centre(rows.X, found.centres)
    np.testing.assert_allclose(found.gammas, [mean[at == j].mean() for j in range(2)])


def test_regions_without_positives_fall_back():
    rows = held_out(0)
    rows = rows._replace(positive=rows.positive & (rows.X[:, 0] < 3))
    for n_clusterings in (None, 3):
        found = LocalScales(F1, 1, 0.25, n_clusterings).regions(rows, 2, 0)
        right = found.centres[:, 0].argmax()
        assert found.fell_back[right]
        assert found.gammas[right] == 0.25
        assert not found.fell_back[1 - right]


def test_the_number_of_regions_is_one_where_all_are_alike_and_more_where_they_differ():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2)) + np.where(rng.random(2000) < 0.5, 0, 12)[:, None]
    positive = rng.random(2000) < 0.1
    left = X[:, 0] < 6
    alike = np.where(positive, 1.0, 0.2) + rng.random(2000) * 0.2
    rows = HeldOutRatios(X, alike, positive, np.ones(2000))
    chooser = LocalScales(F1, 5, best_gamma(rows, F1), None)
    assert len(chooser.chosen(rows, 0).gammas) == 1
    differ = np.where(left, alike, alike / 4)
    rows = rows._replace(score=differ)
    chooser = LocalScales(F1, 5, best_gamma(rows, F1), None)
    found = chooser.chosen(rows, 0)
    assert len(found.gammas) > 1
    assert f_beta(positive, found.scale(X, differ) >= 1) == 1
    assert f_beta(positive, differ >= chooser.global_gamma) < 1


def test_there_are_no_more_regions_than_different_rows():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0)
    rows = HeldOutRatios(X, np.ones(20), np.arange(20) % 2 == 0, np.ones(20))
    assert len(cluster(rows, 5, 0)) == 2


def test_scaled_ratios_keep_the_infinite_ones_on_top():
    score = ratio(np.array([0.0, 1e-90, 1.0]), np.array([0.5, 1e9, 1.0]))
    found = scale_ratios(score, np.array([1.0, 0.01, 0.5]))
    assert found[0] > found[1] > found[2] == 2
