"""Random numbers inside kernels: SplitMix64, whose state is one number that a file can keep."""

from __future__ import annotations

from typing import Any

import numpy as np

from rarefind._core.kernels import kernel

#: What the state grows by from one number to the next.
STEP = np.uint64(0x9E3779B97F4A7C15)


@kernel
def uniform(state: Any) -> float:
    """The number from 0 to 1 that belongs to a state; several times faster than NumPy's."""
    mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(11)) / 2.0**53
