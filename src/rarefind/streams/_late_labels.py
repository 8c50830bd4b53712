"""Rows that wait for their labels, in bounded memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Self

import numpy as np

from rarefind._core.fields import FloatArray, LabelValue, ListOf, StateError
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Bools, Floats, Ints


def _check_ids(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    ids = state["ids"]
    if len(set(ids)) != len(ids) or not all(is_identifier(one) for one in ids):
        raise StateError("'ids' are not identifiers")


@saved(
    "waiting-rows",
    state=State(
        {
            "ids": ListOf(LabelValue(), size="n"),
            "rows": FloatArray("n", "d", nan=True),
            "scores": FloatArray("n", "scores"),
        },
        _check_ids,
    ),
)
class WaitingRows:
    """Rows and the scores they had when they came, by identifier, oldest first."""

    def __init__(self, n_features: int, n_scores: int) -> None:
        self._rows = np.empty((0, n_features))
        self._scores = np.zeros((0, n_scores))
        self._slots: OrderedDict[Hashable, int] = OrderedDict()
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self._slots)

    def __contains__(self, identifier: Hashable) -> bool:
        return identifier in self._slots

    def copy(self) -> Self:
        """Another one with the same rows."""
        return self.from_state(self.get_state())

    def put(self, ids: list[Any], rows: Floats, scores: Floats) -> None:
        """Let rows wait; none of the identifiers may be waiting already."""
        self._make_room(len(ids))
        slots = [self._free.pop() for _ in ids]
        where = _as_index(slots)
        self._rows[where], self._scores[where] = rows, scores
        self._slots.update(zip(ids, slots, strict=True))

    def take(self, ids: list[Any]) -> tuple[Bools, Floats, Floats]:
        """Take rows out: which of them were waiting, and the rows and scores of those."""
        found = [self._slots.pop(identifier, -1) for identifier in ids]
        waiting = np.array(found, dtype=np.intp) >= 0
        return waiting, *self._release([slot for slot in found if slot >= 0])

    def take_oldest(self, n: int) -> tuple[Floats, Floats]:
        """Take out the rows that have waited longest."""
        return self._release([self._slots.popitem(last=False)[1] for _ in range(n)])

    def _release(self, slots: list[int]) -> tuple[Floats, Floats]:
        self._free.extend(slots)
        where = _as_index(slots)
        return self._rows[where].copy(), self._scores[where].copy()

    def _make_room(self, n: int) -> None:
        """Have free places for n more rows; memory grows by doubling."""
        missing = n - len(self._free)
        if missing <= 0:
            return
        size = len(self._rows)
        larger = max(missing, size, 64)
        self._rows = np.concatenate([self._rows, np.zeros((larger, self._rows.shape[1]))])
        self._scores = np.concatenate([self._scores, np.zeros((larger, self._scores.shape[1]))])
        self._free.extend(range(size + larger - 1, size - 1, -1))

    def get_state(self) -> dict[str, Any]:
        """All of it as plain values and arrays."""
        slots: Ints = np.array(list(self._slots.values()), dtype=np.intp)
        return {"ids": list(self._slots), "rows": self._rows[slots], "scores": self._scores[slots]}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Make it again from what :meth:`get_state` gave."""
        ids, rows, scores = state["ids"], state["rows"], state["scores"]
        made = cls(rows.shape[1], scores.shape[1])
        made.put(ids, rows, scores)
        return made


def identifiers(ids: Any) -> list[Any]:
    """Identifiers as texts and whole numbers; one by itself is a list of one."""
    if is_identifier(ids):
        return [ids]
    if isinstance(ids, np.ndarray):
        ids = ids.tolist()
    if isinstance(ids, str | bytes) or not isinstance(ids, Iterable):
        ids = [ids]
    plain = [one.item() if isinstance(one, np.generic) else one for one in ids]
    seen = set()
    for one in plain:
        if not is_identifier(one):
            raise ValueError(
                f"{one!r} is not an identifier: give a text or a whole number for each row."
            )
        if one in seen:
            raise ValueError(f"The identifier {one!r} is given twice.")
        seen.add(one)
    return plain


def is_identifier(one: Any) -> bool:
    """Whether a model file can keep it."""
    return type(one) in (str, int)


def _as_index(slots: list[int]) -> Any:
    """A slice where there is one slot: indexing by a list takes ten times as long."""
    return slice(slots[0], slots[0] + 1) if len(slots) == 1 else slots
