"""What conditions are worth on rows that had no part in their choice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

from rarefind._typing import Bools, Floats
from rarefind.metrics._share import share_interval

_WORTH = ("support", "precision", "recall", "lift")


class Measures(NamedTuple):
    """Counts on unseen rows; of no rows where nothing was measured."""

    rows: int
    positives: int
    alerts: Floats  # of each condition
    hits: Floats

    @classmethod
    def of(cls, held: csr_matrix, positive: Bools) -> Measures:
        """Count."""
        hits = np.asarray(held[positive].sum(axis=0), dtype=float).ravel()
        alerts = np.asarray(held.sum(axis=0), dtype=float).ravel()
        return cls(len(positive), int(positive.sum()), alerts, hits)

    def table(self) -> pd.DataFrame:
        """Support, precision, recall and lift of each condition, with 95 % intervals."""
        rows = []
        for alerts, hits in zip(self.alerts.tolist(), self.hits.tolist(), strict=True):
            row = dict.fromkeys(f"{name}{end}" for name in _WORTH for end in ("", "_low", "_high"))
            shares = {
                "support": (alerts, self.rows),
                "precision": (hits, alerts),
                "recall": (hits, self.positives),
            }
            for name, (part, whole) in shares.items():
                row |= _with_interval(name, part, whole, 1.0)
            if self.positives:
                rate = self.positives / self.rows
                row |= _with_interval("lift", hits, alerts, 1 / rate)
            rows.append(row)
        columns = [f"{name}{end}" for name in _WORTH for end in ("", "_low", "_high")]
        return pd.DataFrame(rows, columns=columns, dtype=float)


def _with_interval(name: str, part: float, whole: float, times: float) -> dict[str, float]:
    low, high = share_interval(part, whole)
    value = part / whole if whole else np.nan
    return {name: value * times, f"{name}_low": low * times, f"{name}_high": high * times}
