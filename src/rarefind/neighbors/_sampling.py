"""Over-samplers of imbalanced-learn, with a mark on the rows they made up."""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from rarefind._core.types import Array, Bools, Floats, Ints


class Resampled(NamedTuple):
    """A resampled table; ``row`` is the number a positive had, -1 for a synthetic one."""

    X: Floats
    positive: Bools
    row: Ints


def resample(sampler: Any, X: Floats, positive: Bools, seed: int) -> Resampled:
    """Run a sampler and find out which positives are real.

    Nothing is assumed about the order of what comes back, nor that all rows do: a positive is real
    when it equals an original positive that is not accounted for yet.
    """
    sampler = clone(sampler)
    params = sampler.get_params()
    if "random_state" in params and params["random_state"] is None:
        sampler.set_params(random_state=seed)
    positives = int(positive.sum())
    if positives > 1:
        sampler.set_params(**_fewer_neighbours(sampler, params, positives - 1))
    try:
        drawn, labels = sampler.fit_resample(X, positive.astype(int))
    except ValueError as error:
        raise ValueError(
            f"{type(sampler).__name__} cannot resample {positives} positives and "
            f"{positive.size - positives} negatives: {error}"
        ) from error
    drawn, is_pos = np.asarray(drawn, dtype=np.float64), np.asarray(labels) == 1
    if not is_pos.any() or is_pos.all():
        raise ValueError(f"{type(sampler).__name__} left one of the classes without rows.")
    row = np.full(is_pos.size, -1, dtype=np.intp)
    row[is_pos] = _rows_of(drawn[is_pos], X, np.flatnonzero(positive))
    return Resampled(drawn, is_pos, row)


def _fewer_neighbours(sampler: Any, params: dict[str, Any], most: int) -> dict[str, Any]:
    """Neighbours among the positives are at most the others there are."""
    names = ["k_neighbors", "smote__k_neighbors"]
    if sys.modules.get("imblearn") is None:  # the sampler is of another library
        return _at_most(most, names, params)
    from imblearn.combine import SMOTEENN, SMOTETomek
    from imblearn.over_sampling import ADASYN, SMOTE

    if isinstance(sampler, ADASYN):
        names.append("n_neighbors")
    fewer = _at_most(most, names, params)
    if isinstance(sampler, SMOTEENN | SMOTETomek) and params["smote"] is None and most < 5:
        fewer["smote"] = SMOTE(k_neighbors=most, random_state=params["random_state"])
    return fewer


def _at_most(most: int, names: list[str], params: dict[str, Any]) -> dict[str, Any]:
    return {n: most for n in names if isinstance(params.get(n), int) and params[n] > most}


def _rows_of(drawn: Floats, X: Floats, candidates: Ints) -> Ints:
    """For each drawn row the candidate that equals it, each candidate once; -1 for the others."""
    waiting: dict[bytes, list[int]] = defaultdict(list)
    for row in candidates[::-1]:
        waiting[_key(X[row])].append(int(row))
    return np.array([_take(waiting, _key(values)) for values in drawn], dtype=np.intp)


def _take(waiting: dict[bytes, list[int]], key: bytes) -> int:
    rows = waiting.get(key)
    return rows.pop() if rows else -1


def _key(values: Array) -> bytes:
    return bytes((values + 0.0).tobytes())  # -0.0 and 0.0 are one value
