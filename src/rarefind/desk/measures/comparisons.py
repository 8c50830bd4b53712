"""Champion and challengers on the same ripe weeks: compared by the worker, and read by pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from rarefind.data.clock import nanoseconds, period_around
from rarefind.desk.clock import DeskClock
from rarefind.desk.control import Models
from rarefind.desk.database import Database, migrate
from rarefind.desk.ledger import Ledger
from rarefind.desk.measures._day_names import local_times
from rarefind.desk.measures._figure_tables import STEPS
from rarefind.desk.measures._figures_read import read_place
from rarefind.desk.measures.shadow_scores import read_blocks
from rarefind.desk.measures.side_by_side import (
    BIN_EDGES,
    Disagreement,
    ModelFigures,
    PeriodFigures,
    compare_models,
)
from rarefind.desk.schema import Schema
from rarefind.metrics import Interval
from rarefind.metrics.intervals import share_interval

__all__ = ["CalibrationBin", "Comparisons", "ModelComparison", "ModelValue"]

_DAY = 86_400 * 10**9
#: Models are compared on so many ripe days.
RIPE_DAYS = 28
_as_period = msgspec.json.Decoder(PeriodFigures).decode


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Rows of similar probability: how many there are, what was said, and what they were."""

    low: float
    high: float
    rows: int
    said: float | None
    frauds: int
    share: Interval | None


@dataclass(frozen=True, slots=True)
class ModelValue:
    """What a model would have been worth over the periods that were compared.

    Attributes
    ----------
    average_precision : float or None
        The mean over the periods that have a fraud.
    listed, checked, hits, entity_hits, money : int
        Of its lists together; see :class:`ModelFigures`.
    precision, entity_precision : Interval or None
        Hits over listed rows, with a 95 % interval.
    bins : list of CalibrationBin
    """

    average_precision: float | None
    listed: int
    checked: int
    hits: int
    entity_hits: int
    money: int
    precision: Interval | None
    entity_precision: Interval | None
    bins: list[CalibrationBin]


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """Models on the same rows.

    Attributes
    ----------
    begins, ends : int or None
        The first and the last time of what was compared.
    periods, wanted : int
        Periods that were compared by now, and how many there are to compare.
    rows, frauds, others : int
        See :class:`PeriodFigures`.
    models : dict of str to ModelValue
        By digest.
    disagreements : list of Disagreement
        The newest periods first.
    """

    begins: int | None
    ends: int | None
    periods: int
    wanted: int
    rows: int
    frauds: int
    others: int
    models: dict[str, ModelValue]
    disagreements: list[Disagreement]


class Comparisons:
    """Compares all models that are not retired, a period at a time.

    A period is compared when all of its labels are ripe and no transaction of it can come any more;
    again, when one of its labels changes or a model is new.

    Parameters
    ----------
    database : Database
        That of the desk, not the ledger.
    ledger : Ledger
        Opened to be read.
    models : Models
    schema : Schema
    clock : DeskClock
    """

    def __init__(
        self, database: Database, ledger: Ledger, models: Models, schema: Schema, clock: DeskClock
    ) -> None:
        migrate(database, "figures", STEPS)
        self._database, self._ledger, self._models = database, ledger, models
        self._schema, self._clock = schema, clock
        self._zone, self._alerts = schema.transaction.time_zone, schema.alerts
        self._budget = f"{self._alerts.budget}/{self._alerts.per}"
        self._late = nanoseconds("limits.late", schema.limits.late)
        self._delay = nanoseconds("labels.delay", schema.labels.delay)
        self._entity = list(schema.entities).index(schema.alerts.entity)

    def periods(self) -> list[tuple[int, int]]:
        """The periods to compare, the newest first: days, or longer ones if the budget's are."""
        unit = "day" if self._alerts.per == "hour" else self._alerts.per
        ripe = self._clock.now() - max(self._delay, self._late)
        begins, ends = period_around(ripe, self._zone, unit)
        oldest = begins - RIPE_DAYS * _DAY
        found: list[tuple[int, int]] = []
        while True:
            begins, ends = period_around(begins - 1, self._zone, unit)
            if found and begins < oldest:
                return found
            found.append((begins, ends))

    def run(self) -> bool:
        """Compare the next period; True if there may be more."""
        wanted = self.periods()
        digests = self._digests()
        known: dict[int, str] = dict(
            self._database.read("SELECT begins, models FROM model_periods")
        )
        self._forget({begins for begins, _ in wanted}, known)
        for begins, ends in wanted:
            able = self._able(digests, ends)
            if able and known.get(begins) != self._made_of(able):
                self._compare(begins, ends, able)
                return True
        return False

    def read(self, digests: list[str] | None = None) -> ModelComparison:
        """Return what some models are worth on the periods that all of them were compared on.

        By default all that are not retired and were compared on some period.
        """
        wanted = self.periods()
        rows = self._database.read(
            "SELECT begins, ends, models, figures FROM model_periods ORDER BY begins DESC"
        )
        # Those of another budget are compared again soon.
        rows = [row for row in rows if self._budget in row[2].split()]
        compared = {name for row in rows for name in row[2].split()}
        names = compared & set(self._digests() if digests is None else digests)
        found = [
            (begins, ends, _as_period(figures))
            for begins, ends, models, figures in rows
            if names <= set(models.split())
        ]
        found = [each for each in found if names <= set(each[2].models) and each[2].rows]
        return ModelComparison(
            begins=min((begins for begins, _, _ in found), default=None),
            ends=max((ends for _, ends, _ in found), default=None),
            periods=len(found),
            wanted=len(wanted),
            rows=sum(each.rows for *_, each in found),
            frauds=sum(each.frauds for *_, each in found),
            others=sum(each.others for *_, each in found),
            models={name: _value([each.models[name] for *_, each in found]) for name in names},
            disagreements=[
                one
                for *_, each in found
                for one in each.disagreements
                if len({one.places[name] is None for name in names}) == 2
            ],
        )

    def card(self, digest: str) -> Mapping[str, Any] | None:
        """Return the card of a model, as the worker has read it from its file; None before."""
        rows = self._database.read(
            "SELECT figures FROM saved_figures WHERE name = :name", name=f"card {digest}"
        )
        return dict(msgspec.json.decode(rows[0][0])) if rows else None

    def scored_up_to(self, digest: str) -> int:
        """The last row of the ledger that a model has scored; 0 if it has not begun."""
        found = read_place(self._database, f"scores {digest}")
        return 0 if found is None else found[0]

    def _digests(self) -> list[str]:
        return sorted(model.digest for model in self._models.all() if model.state != "retired")

    def _made_of(self, digests: list[str]) -> str:
        """What the figures of a period depend on: where it changes, they are made anew."""
        return " ".join([*digests, self._budget])

    def _able(self, digests: list[str], ends: int) -> list[str]:
        """The models that have scored all that could come of a period."""
        _, last = self._ledger.arrived_since(ends + self._late)
        return [digest for digest in digests if self.scored_up_to(digest) >= last]

    def _forget(self, wanted: set[int], known: Mapping[int, str]) -> None:
        gone = [{"begins": begins} for begins in known if begins not in wanted]
        if gone:
            with self._database.write() as writer:
                writer.executemany("DELETE FROM model_periods WHERE begins = :begins", gone)

    def _compare(self, begins: int, ends: int, digests: list[str]) -> None:
        labels = self._database.read(
            "SELECT sequence, fraud, checked FROM labelled_rows WHERE time >= :begins "
            "AND time < :ends AND fraud IS NOT NULL AND day >= :first AND day <= :last",
            begins=begins,
            ends=ends,
            **self._days(begins, ends),
        )
        sequence, time, scores = read_blocks(self._database, digests, begins, ends)
        group = np.zeros(sequence.size, dtype=np.int64)
        if self._alerts.per == "hour" and sequence.size:
            group = local_times(time, self._zone).periods("hour")
        found = compare_models(
            sequence,
            group,
            scores,
            {row for row, fraud, _ in labels if fraud},
            {row for row, _, checked in labels if checked},
            self._alerts.budget,
            self._ledger.listed,
            self._entity,
        )
        with self._database.write() as writer:
            writer.execute("DELETE FROM model_periods WHERE begins = :begins", begins=begins)
            writer.execute(
                "INSERT INTO model_periods VALUES (:begins, :ends, :models, :figures)",
                begins=begins,
                ends=ends,
                models=self._made_of(digests),
                figures=msgspec.json.encode(found).decode(),
            )

    def _days(self, begins: int, ends: int) -> dict[str, str]:
        """The days of a period, by which labels are found."""
        first, last = local_times(np.array([begins, ends - 1]), self._zone).local
        return {
            name: str(np.datetime64(int(each), "ns").astype("datetime64[D]"))
            for name, each in (("first", first), ("last", last))
        }


def _value(found: list[ModelFigures]) -> ModelValue:
    precisions = [one.average_precision for one in found if one.average_precision is not None]
    listed, hits = sum(one.listed for one in found), sum(one.hits for one in found)
    entity_hits = sum(one.entity_hits for one in found)
    return ModelValue(
        average_precision=float(np.mean(precisions)) if precisions else None,
        listed=listed,
        checked=sum(one.checked for one in found),
        hits=hits,
        entity_hits=entity_hits,
        money=sum(one.money for one in found),
        precision=_share(hits, listed),
        entity_precision=_share(entity_hits, listed),
        bins=[_bin(place, found) for place in range(len(BIN_EDGES) - 1)],
    )


def _bin(place: int, found: list[ModelFigures]) -> CalibrationBin:
    rows = sum(one.counts[place] for one in found)
    frauds = sum(one.frauds[place] for one in found)
    said = sum(one.sums[place] for one in found)
    return CalibrationBin(
        BIN_EDGES[place],
        BIN_EDGES[place + 1],
        rows,
        said / rows if rows else None,
        frauds,
        _share(frauds, rows),
    )


def _share(hits: int, of: int) -> Interval | None:
    return Interval(hits / of, *share_interval(hits, of)) if of else None
