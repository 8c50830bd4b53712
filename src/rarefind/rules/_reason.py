"""A reason a person can read aloud and defend."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Condition:
    """One thing that holds for the row and speaks for its place on the list.

    Examples
    --------
    >>> from rarefind.rules import Condition
    >>> str(Condition("amount", ">", 220.0, weight=0.7))
    'amount > 220'
    """

    feature: str
    #: One of ``<``, ``<=``, ``>``, ``>=``, ``=``, ``in``, ``not in``, ``between`` (above the first
    #: value, up to the second) and ``≈`` (as in a known positive); rules may have `` or missing``
    #: and `` or new`` behind it.
    op: str
    value: Any
    #: The condition in the words and units of the original table, where they are known.
    raw_unit_text: str = ""
    #: Share of the reason that this condition carries.
    weight: float = 0.0

    def __str__(self) -> str:
        if self.raw_unit_text:
            return self.raw_unit_text
        return f"{self.feature} {self.op} {short(self.value)}"


@dataclass(frozen=True)
class Similar:
    """A known positive that looks like the row."""

    #: Row number in the table the model was fitted on; -1 for a synthetic positive.
    row: int
    distance: float
    #: What the row is called, where its table has a column for that.
    name: str = ""

    def __str__(self) -> str:
        name = self.name or ("a synthetic positive" if self.row < 0 else f"row {self.row}")
        return f"{name} (distance {short(self.distance)})"


@dataclass(frozen=True)
class Reason:
    """Why a row stands where it stands.

    Examples
    --------
    >>> from rarefind.rules import Condition, Reason, Similar
    >>> print(Reason(1.8, 0.992, [Condition("amount", "≈", 210)], [Similar(17, 0.12)]))
    Score 1.8, above 99.2 % of the known rows, because amount ≈ 210; most like known positive
    row 17 (distance 0.12).
    """

    score: float
    #: Share of the reference rows with a lower score; None where the fit kept no reference.
    rank_in_reference: float | None
    because: list[Condition] = field(default_factory=list)
    similar: list[Similar] = field(default_factory=list)

    def __str__(self) -> str:
        # Scores beyond all ratios stand for a row that equals a known positive.
        text = "Score above all others" if self.score >= 1e99 else f"Score {short(self.score)}"
        if self.rank_in_reference is not None:
            text += f", above {100 * self.rank_in_reference:.1f} % of the known rows"
        if self.because:
            text += ", because " + ", ".join(map(str, self.because))
        if self.similar:
            known = " and ".join(map(str, self.similar[:3]))
            text += f"; most like known positive{'s' if len(self.similar) > 1 else ''} {known}"
        return text + "."


def short(value: Any) -> str:
    """Three significant digits for a number, anything else as it prints."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:.3g}" if abs(value) < 1e6 or abs(value) >= 1e15 else f"{value:.0f}"
