"""Whether features are today what they were when it was decided: computed again, bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rarefind._core.lazy import lazily
from rarefind.desk.parity._days import ParityDay, ParityDays

if TYPE_CHECKING:
    from rarefind.desk.parity._compare import FeatureComparison, compare_day, compare_new

__all__ = ["FeatureComparison", "ParityDay", "ParityDays", "compare_day", "compare_new"]

# Who only shows results does not need what computes them.
__getattr__ = lazily(
    __name__,
    dict.fromkeys(
        ("FeatureComparison", "compare_day", "compare_new"), "rarefind.desk.parity._compare"
    ),
)
