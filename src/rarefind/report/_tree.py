"""The picture of a tree in the words of the table: levels and dates, not their codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rarefind.tables import TableModel

# A picture with more boxes cannot be read.
_MOST_BOXES = 80
# Letters of a set of levels in a box; a longer one has a name, and is written in full below.
_LONGEST_SET = 30
# Levels of a set that are written in full.
_MOST_LEVELS = 200
_DAYS = ": days"


def draw_tree(model: TableModel, estimator: Any) -> tuple[str | None, dict[str, Any]]:
    """The tree of an estimator as an SVG element, if it is small enough, and what to say of it."""
    conditions, leaves = int(estimator.n_conditions_), int(estimator.n_leaves_)
    found: dict[str, Any] = {"conditions": conditions, "leaves": leaves, "sets": []}
    if conditions + leaves > _MOST_BOXES:
        return None, found
    words = _TreeWords(model)
    names = [str(name) for name in model.encoder_.get_feature_names_out()]
    svg: str = estimator.to_svg([name.removesuffix(_DAYS) for name in names], words)
    return svg, {**found, "sets": words.sets}


class _TreeWords:
    """Levels by their names and days as dates; long sets of levels are called A, B, and so on."""

    def __init__(self, model: TableModel) -> None:
        self._encoder = model.encoder_
        self._names = [str(name) for name in model.encoder_.get_feature_names_out()]
        self._known: dict[tuple[int, tuple[float, ...]], str] = {}
        self.sets: list[dict[str, Any]] = []

    def number(self, feature: int, value: float) -> str:
        if self._names[feature].endswith(_DAYS):
            return self._encoder.describe(feature, value)[1]
        return f"{value:.6g}"

    def levels(self, feature: int, codes: tuple[float, ...]) -> tuple[str, str]:
        texts = [self._level(feature, code) for code in codes]
        full = f"= {texts[0]}" if len(texts) == 1 else f"in {{{', '.join(texts)}}}"
        if len(full) <= _LONGEST_SET:
            return full, full
        key = (feature, codes)
        if key not in self._known:
            self._known[key] = _letters(len(self._known))
            more = max(0, len(texts) - _MOST_LEVELS)
            self.sets.append(
                {
                    "name": self._known[key],
                    "column": self._names[feature],
                    "levels": texts[:_MOST_LEVELS],
                    "more": more,
                }
            )
        return f"in {self._known[key]} ({len(texts)})", full

    def _level(self, feature: int, code: float) -> str:
        plan = self._encoder.level_codes(feature)
        return f"{code:.6g}" if plan is None else plan.describe(0, code)


def _letters(number: int) -> str:
    """A, B, …, Z, AA, AB, …"""
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("A") + rest) + name
    return name
