from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
import pytest

from rarefind._core.types import Floats, Ints

mpl.use("Agg")


class Ranking(NamedTuple):
    y: Ints
    score: Floats


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture
def ranking() -> Ranking:
    """Two hundred rows with many ties, positives near the top."""
    rng = np.random.default_rng(0)
    y = (rng.random(200) < 0.1).astype(np.intp)
    return Ranking(y, np.round(rng.normal(size=200) + 1.5 * y, 1))
