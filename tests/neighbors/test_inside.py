"""Distances to what is inside an ellipsoid are the same however they are searched."""

import numpy as np
import pytest

from rarefind.neighbors import _inside


@pytest.mark.parametrize("unit", [1.0, 1e-170])
def test_blocks_find_the_same_distances(monkeypatch, unit):
    rng = np.random.default_rng(0)
    positives, negatives = rng.normal(size=(5, 3)), rng.normal(size=(9_000, 3))
    points = np.vstack([2.0 * rng.normal(size=(400, 3)), positives[:2], negatives[:2]])
    negatives[:3] = positives[0]
    radius, floor = 1.5, rng.choice([0.0, 0.8], size=len(points))
    given = (points * unit, positives * unit, negatives * unit, radius * unit**2, floor)
    in_blocks = _inside.distances_to_rows_inside(*given)
    monkeypatch.setattr(_inside, "_WORTH_BLOCKS", 10_000)
    one_by_one = _inside.distances_to_rows_inside(*given)
    np.testing.assert_array_equal(in_blocks, one_by_one)
    assert unit < 1 or 0 < np.isfinite(in_blocks[2]).sum() < len(points)
    assert in_blocks[3:, 400].tolist() == ([1, 3] if unit == 1 else [5, 9_000])
