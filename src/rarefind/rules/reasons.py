"""A reason a person can read aloud and defend."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rarefind._core.text import visible

# Rows below this share of the known ones have no reason to be checked.
_LOW = 0.5


@dataclass(frozen=True)
class Condition:
    """One thing that holds for the row and speaks for its place on the list, or against it.

    Examples
    --------
    >>> from rarefind.rules import Condition
    >>> str(Condition("amount", ">", 220.0, weight=0.7))
    'amount > 220'
    """

    feature: str
    #: One of ``<``, ``<=``, ``>``, ``>=``, ``=``, ``in``, ``not in``, ``between`` (above the first
    #: value, up to the second), ``≈`` (as in a known positive) and ``holds`` (what the text says of
    #: several columns); rules may have `` or missing`` and `` or new`` behind it.
    op: str
    value: Any
    #: The condition in the words and units of the original table, where they are known.
    raw_unit_text: str = ""
    #: Share of the reason that this condition carries.
    weight: float = 0.0
    #: Whether it lowers the score, and so speaks against the row.
    lowers: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        # A sentence is one line, whatever the values of a file are.
        return visible(self.raw_unit_text or f"{self.feature} {self.op} {short(self.value)}")


@dataclass(frozen=True)
class Similar:
    """A known positive that looks like the row."""

    #: Row number in the table the model was fitted on; -1 for a synthetic positive.
    row: int
    distance: float
    #: The row identifier, where its table has a column for that.
    name: str = ""

    def __str__(self) -> str:
        name = self.name or ("a synthetic positive" if self.row < 0 else f"row {self.row}")
        return f"{visible(name)} (distance {short(self.distance)})"


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
    #: What contributions add to; None where there are none.
    base: float | None = field(default=None, compare=False)
    #: What each column adds to the score, by its name, in models whose score is such a sum: with
    #: ``base`` they make ``score``. Empty elsewhere.
    contributions: dict[str, float] = field(default_factory=dict, compare=False)

    @property
    def raising(self) -> list[Condition]:
        """The conditions that raise the score; none for a row near the bottom."""
        if self.is_low:
            return []
        return [condition for condition in self.because if not condition.lowers]

    @property
    def lowering(self) -> list[Condition]:
        """The conditions that lower the score, in models that know them."""
        return [condition for condition in self.because if condition.lowers]

    @property
    def is_low(self) -> bool:
        """Whether the row ranks in the lower half of the known rows: nothing speaks for it."""
        return self.rank_in_reference is not None and self.rank_in_reference < _LOW

    def bars(self, width: int = 20, *, lowering: bool = False) -> str:
        """The conditions a line each, with a bar of its share, for a terminal.

        Parameters
        ----------
        width : int, default=20
            Characters of a bar of 100 %.
        lowering : bool, default=False
            Show the conditions that lower the score, instead of those that raise it.

        Returns
        -------
        str
            Empty where no condition is known.

        Examples
        --------
        >>> from rarefind.rules import Condition, Reason
        >>> because = [Condition("amount", ">", 220, weight=0.7), Condition("hour", "≈", 3)]
        >>> print(Reason(1.8, None, because).bars(10))
        amount > 220 ███████     70 %
        hour ≈ 3                  0 %
        """
        if width < 1:
            raise ValueError(f"A bar is at least one character wide, not {width}.")
        shown = self.lowering if lowering else self.raising
        texts = [str(condition) for condition in shown]
        longest = max(map(len, texts), default=0)
        return "\n".join(
            f"{text:<{longest}} {_bar(share, width):<{width}} {100 * share:3.0f} %"
            for text, share in zip(texts, (c.weight for c in shown), strict=True)
        )

    def __str__(self) -> str:
        text = heading(self)
        if self.is_low:
            return f"{text}; nothing speaks for an alert."
        if self.raising:
            text += ", because " + ", ".join(map(str, self.raising))
        if self.similar:
            known = " and ".join(map(str, self.similar[:3]))
            text += f"; most like known positive{'s' if len(self.similar) > 1 else ''} {known}"
        return text + "."


def heading(reason: Reason) -> str:
    """The score and where it stands."""
    # Scores beyond all ratios stand for a row that equals a known positive.
    text = "Score above all others" if reason.score >= 1e99 else f"Score {short(reason.score)}"
    if reason.rank_in_reference is None:
        return text
    above = "above only" if reason.is_low else "above"
    return f"{text}, {above} {100 * reason.rank_in_reference:.1f} % of the known rows"


def _bar(share: float, width: int) -> str:
    """A bar to an eighth of a character."""
    whole, eighths = divmod(round(8 * width * min(max(share, 0.0), 1.0)), 8)
    return "█" * whole + " ▏▎▍▌▋▊▉"[eighths].strip()


def short(value: Any) -> str:
    """Three significant digits for a number, anything else as it prints."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:.3g}" if abs(value) < 1e6 or abs(value) >= 1e15 else f"{value:.0f}"
