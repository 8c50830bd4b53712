"""Models on the same rows: what each list of the desk's budget would have found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
import numpy as np

from rarefind._core.types import Bools, Floats, Ints
from rarefind.desk.ledger import Listed
from rarefind.metrics import average_precision
from rarefind.tables.lists import checks_of, list_order, places, top_rows

__all__ = ["BIN_EDGES", "Disagreement", "ModelFigures", "PeriodFigures", "compare_models"]

#: Where the probabilities of calibration are cut: most of the rows have a small one.
BIN_EDGES = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
#: So many rows on which models disagree are kept of a period.
_KEPT = 100
#: So many rows for each check are looked at first: several may be of one card.
_FIRST = 4

Look: TypeAlias = Callable[[Sequence[int]], Mapping[int, Listed]]


class ModelFigures(msgspec.Struct, frozen=True):
    """What a model would have been worth in a period.

    Attributes
    ----------
    average_precision : float or None
        Over all rows of the period; None without a fraud.
    listed, checked : int
        Rows on its list, and those of them that a person has checked.
    hits, money : int
        Rows on the list that are fraud, and their amounts in minor units.
    entity_hits : int
        Rows on the list whose card has a fraud in that period, on this row or on another.
    counts, frauds : tuple of int
        Rows by probability, cut at ``BIN_EDGES``, and the frauds among them.
    sums : tuple of float
        The sum of the probabilities of each bin.
    """

    average_precision: float | None
    listed: int
    checked: int
    hits: int
    entity_hits: int
    money: int
    counts: tuple[int, ...]
    sums: tuple[float, ...]
    frauds: tuple[int, ...]


class Disagreement(msgspec.Struct, frozen=True):
    """A row that is on the list of one model and not of another.

    ``places`` has the place on the list of each model, None where it is not on it; ``scores`` what
    each model says.
    """

    sequence: int
    fraud: bool
    checked: bool
    places: dict[str, int | None]
    scores: dict[str, float]


class PeriodFigures(msgspec.Struct, frozen=True):
    """A period of which all labels are ripe, by the models that have scored it.

    ``rows`` are those that all of the models have scored, ``frauds`` are fraud among them, and
    ``others`` those that some model has not scored: they were erased, or are of an older desk.toml.
    """

    rows: int
    frauds: int
    others: int
    models: dict[str, ModelFigures]
    disagreements: list[Disagreement]


def compare_models(
    sequence: Ints,
    group: Ints,
    scores: Mapping[str, Floats],
    frauds: Collection[int],
    checked: Collection[int],
    budget: int,
    look: Look,
    entity: int,
) -> PeriodFigures:
    """Compare models on the rows that all of them have scored.

    Parameters
    ----------
    sequence, group : ndarray of int
        Of each row its number in the ledger, and the period of the budget that it is of.
    scores : mapping of str to ndarray
        The probabilities of each model; NaN where it has not scored a row.
    frauds, checked : collection of int
        Sequences that are fraud, and those that a person has checked; all others are genuine.
    budget : int
        Checks of each group.
    look : callable
        Gives the transactions of some sequences.
    entity : int
        The place of the entity that is checked.
    """
    # One that has scored nothing is not compared, and takes no row from the others.
    able = {name: own for name, own in scores.items() if np.isfinite(own).any()}
    known = np.ones(sequence.size, dtype=bool)
    for own in able.values():
        known &= np.isfinite(own)
    rows = np.flatnonzero(known if able else ~known)
    sequence, group = sequence[rows], group[rows]
    is_fraud = np.isin(sequence, list(frauds))
    is_checked = np.isin(sequence, list(checked))
    owners = _Owners(sequence, look, entity)
    bad = {
        (int(group[row]), owner)
        for row, owner in zip(
            np.flatnonzero(is_fraud), owners.of(np.flatnonzero(is_fraud)), strict=True
        )
    }
    figures: dict[str, ModelFigures] = {}
    lists: dict[str, Ints] = {}
    for name, own in able.items():
        score = own[rows]
        lists[name] = listed = _list(score, group, budget, owners)
        hit = listed[is_fraud[listed]]
        figures[name] = ModelFigures(
            average_precision=(
                float(average_precision(is_fraud, score)) if is_fraud.any() else None
            ),
            listed=listed.size,
            checked=int(is_checked[listed].sum()),
            hits=hit.size,
            entity_hits=sum(
                (int(group[row]), owner) in bad
                for row, owner in zip(listed, owners.of(listed), strict=True)
            ),
            money=sum(owners.amount(row) for row in hit),
            **_bins(score, is_fraud),
        )
    return PeriodFigures(
        rows=rows.size,
        frauds=int(is_fraud.sum()),
        others=int(known.size - rows.size),
        models=figures,
        disagreements=_disagreements(
            sequence,
            group,
            lists,
            {name: own[rows] for name, own in able.items()},
            is_fraud,
            is_checked,
        ),
    )


class _Owners:
    """Whose rows are: looked up in the ledger as far as it is needed."""

    def __init__(self, sequence: Ints, look: Look, entity: int) -> None:
        self._sequence, self._look, self._entity = sequence, look, entity
        self._known: dict[int, Listed] = {}

    def of(self, rows: Ints) -> list[str]:
        """Who is checked; a row that was erased is of nobody else."""
        wanted = self._sequence[rows].tolist()
        unknown = [each for each in wanted if each not in self._known]
        if unknown:
            self._known |= self._look(unknown)
        return [self._name(each) for each in wanted]

    def amount(self, row: int) -> int:
        """The amount of a row whose owner was asked for."""
        found = self._known.get(int(self._sequence[row]))
        return 0 if found is None else found.amount

    def _name(self, sequence: int) -> str:
        found = self._known.get(sequence)
        if found is None or not found.entities:
            return f"\0{sequence}"
        return found.entities[self._entity]


def _list(score: Floats, group: Ints, budget: int, owners: _Owners) -> Ints:
    """The rows to check of each group, in order; whose they are is asked of the first ones only."""
    order = list_order(score, group)
    place = places(group[order])
    sizes = dict(zip(*np.unique(group, return_counts=True), strict=True))
    deep = _FIRST * max(budget, 1)
    while True:
        # Rows keep their order, by which equal scores are listed.
        near = np.sort(order[place <= deep])
        names = np.array(owners.of(near), dtype=object)
        found = near[top_rows(score[near], group[near], checks_of(budget, None), names)]
        full = dict(zip(*np.unique(group[found], return_counts=True), strict=True))
        if all(full.get(own, 0) >= budget or size <= deep for own, size in sizes.items()):
            return found
        deep *= 4


def _bins(score: Floats, is_fraud: Bools) -> dict[str, Any]:
    last = len(BIN_EDGES) - 2
    at = np.clip(np.searchsorted(BIN_EDGES, score, side="right") - 1, 0, last)
    return {
        "counts": tuple(np.bincount(at, minlength=last + 1).tolist()),
        "sums": tuple(np.bincount(at, weights=score, minlength=last + 1).tolist()),
        "frauds": tuple(np.bincount(at[is_fraud], minlength=last + 1).tolist()),
    }


def _disagreements(
    sequence: Ints,
    group: Ints,
    lists: Mapping[str, Ints],
    scores: Mapping[str, Floats],
    is_fraud: Bools,
    is_checked: Bools,
) -> list[Disagreement]:
    """Rows that are not on all lists, those nearest to the top of one first."""
    place_of = {
        name: dict(zip(listed.tolist(), places(group[listed]).tolist(), strict=True))
        for name, listed in lists.items()
    }
    all_rows = {row for own in place_of.values() for row in own}
    some = [row for row in all_rows if any(row not in own for own in place_of.values())]
    some.sort(
        key=lambda row: (min(own.get(row, len(all_rows) + 1) for own in place_of.values()), row)
    )
    return [
        Disagreement(
            sequence=int(sequence[row]),
            fraud=bool(is_fraud[row]),
            checked=bool(is_checked[row]),
            places={name: own.get(row) for name, own in place_of.items()},
            scores={name: float(scores[name][row]) for name in place_of},
        )
        for row in some[:_KEPT]
    ]
