"""Rows as models need them that measure distances, and their reasons back in the rows' columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np

from rarefind._core.fields import FloatArray, IntArray
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Bools, Floats, Ints
from rarefind.rules import Condition
from rarefind.rules.reasons import short

# Levels of a column that get a column of their own, the most frequent.
_MOST_LEVELS = 30

# Scaled numbers go no farther: a model that squares them could not take them.
_FARTHEST = 1e30

# What a prepared column tells of the column that it comes from.
_NUMBER, _MISSING, _LEVEL = 0, 1, 2


@saved(
    "auto-preparation",
    state=State(
        {
            "source": IntArray("n", low=0, rising=True),
            "kind": IntArray("n", low=_NUMBER, high=_LEVEL),
            "shift": FloatArray("n"),
            "scale": FloatArray("n", above=0),
        }
    ),
)
class Preparation(NamedTuple):
    """Numbers scaled, missing values filled and marked, a column a level; one entry a column."""

    #: The column it comes from.
    source: Ints
    #: Whether it is the number, marks a missing value, or marks a level.
    kind: Ints
    #: What is subtracted and what is divided by; of a level, its code and 1.
    shift: Floats
    scale: Floats

    @classmethod
    def learn(cls, X: Floats, is_level: Bools) -> Self:
        """See which columns have missing values, which levels there are, how numbers spread."""
        parts: list[tuple[int, int, float, float]] = []
        for j in range(X.shape[1]):
            missing = np.isnan(X[:, j])
            known = X[~missing, j]
            if is_level[j]:
                codes, counts = np.unique(known, return_counts=True)
                frequent = np.sort(codes[np.argsort(-counts, kind="stable")[:_MOST_LEVELS]])
                parts += [(j, _LEVEL, float(code), 1.0) for code in frequent]
            else:
                # The mean of two numbers is taken of their quarters: their sum may be infinite.
                shift = 4 * float(np.median(known / 4)) if known.size else 0.0
                parts.append((j, _NUMBER, shift, _spread(known) or 1.0))
            if missing.any() and not missing.all():
                parts.append((j, _MISSING, 0.0, 1.0))
        source, kind, shift_of, scale_of = zip(*parts, strict=True)
        return cls(
            np.array(source, dtype=np.intp),
            np.array(kind, dtype=np.intp),
            np.array(shift_of),
            np.array(scale_of),
        )

    def transform(self, X: Floats) -> Floats:
        """The prepared rows; a missing number is filled with the median, which is 0."""
        made = np.empty((len(X), self.source.size))
        for i, (j, kind) in enumerate(zip(self.source, self.kind, strict=True)):
            if kind == _NUMBER:
                with np.errstate(over="ignore"):
                    scaled = (X[:, j] - self.shift[i]) / self.scale[i]
                made[:, i] = np.clip(np.nan_to_num(scaled, nan=0.0), -_FARTHEST, _FARTHEST)
            elif kind == _MISSING:
                made[:, i] = np.isnan(X[:, j])
            else:
                made[:, i] = X[:, j] == self.shift[i]
        return made

    def in_own_columns(
        self, because: list[Condition], own: Floats, made: Sequence[str], names: Sequence[str]
    ) -> list[Condition]:
        """Conditions on the columns ``made`` in terms of those they come from, called ``names``.

        What says nothing about a row is left out: that it lacks a level which another lacks, too,
        or that the number which fills a missing value is near another.
        """
        place = {name: i for i, name in enumerate(made)}
        found: dict[int, Condition] = {}
        for condition in because:
            i = place[condition.feature]
            j = int(self.source[i])
            said = self._condition(i, condition, float(own[j]), names[j])
            if said is None:
                continue
            weight = condition.weight + (found[j].weight if j in found else 0.0)
            found[j] = replace(found.get(j, said), weight=weight)
        return list(found.values())

    def _condition(self, i: int, condition: Condition, own: float, name: str) -> Condition | None:
        kind, like = self.kind[i], float(condition.value)
        if np.isnan(own):
            if kind != _MISSING or like != 1:
                return None
            return Condition(name, "=", "missing", f"{name} is missing", condition.weight)
        if kind == _NUMBER:
            known = like * float(self.scale[i]) + float(self.shift[i])
            text = f"{name} {short(own)} ≈ {short(known)}"
            return Condition(name, "≈", known, text, condition.weight)
        if kind == _LEVEL and own == self.shift[i] and like == 1:
            return Condition(name, "=", own, f"{name} = {own:.6g}", condition.weight)
        return None


def _spread(known: Floats) -> float:
    """The standard deviation, of huge and tiny numbers too, whose squares are not finite or 0."""
    if not known.size:
        return 0.0
    largest = float(np.abs(known).max())
    if 1e-100 < largest < 1e100 or largest == 0:
        return float(np.std(known))
    spread = float(np.std(known / largest)) * largest
    # By less than the least normal number nothing can be divided.
    return max(spread, np.finfo(float).tiny) if spread > 0 else 0.0
