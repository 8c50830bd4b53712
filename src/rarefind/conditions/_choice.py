"""How long a list is to be."""

from __future__ import annotations

import numpy as np
from sklearn.isotonic import isotonic_regression

from rarefind._core.types import Floats, Ints

# Conditions that go in one step of the elimination, as a share of those that are left.
_STEP = 0.2
# Lists that are too long to be kept, on the way to those that are not.
_LONGER = (6, 3, 2)


def sizes_to_try(longest: int) -> list[int]:
    """Lengths of lists that are tried, from far longer than is kept down to one."""
    sizes = [longest * times for times in _LONGER]
    size = longest
    while size >= 1:
        sizes.append(size)
        size = min(size - 1, int(size * (1 - _STEP)))
    return sizes


def shortest(sizes: Ints, values: Floats, longest: int, whole: float, tolerance: float) -> int:
    """The place of the shortest list that is within the tolerance of the ensemble.

    Where none that may be kept is, the tolerance is from the best of these. Values are made to fall
    with the length first: that a shorter list is better is mostly noise.
    """
    order = np.argsort(sizes)
    falling = np.empty(values.size)
    falling[order] = isotonic_regression(values[order])
    allowed = np.flatnonzero(sizes <= longest)
    least = (1 - tolerance) * min(whole, falling[allowed].max())
    return int(allowed[falling[allowed] >= least][-1])
