"""Features in people's words: "4.4 × the usual amount", not ``amount_to_card_mean = 4.39999``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from typing import Final, NamedTuple

from babel.lists import format_list

from rarefind.data.clock import nanoseconds
from rarefind.desk.api.views import stored_time
from rarefind.desk.charts import Push
from rarefind.desk.explained import Because
from rarefind.desk.pages.formats import Formats
from rarefind.desk.pages.texts import Texts
from rarefind.desk.schema import EntitySchema, Schema

__all__ = ["FeatureWords"]

_SECOND: Final = 1_000_000_000
#: Lengths of windows by the longest unit that measures them.
_UNITS: Final = (("days", 86_400), ("hours", 3_600), ("minutes", 60), ("seconds", 1))
_AMOUNTS: Final = ("mean", "sum", "min", "max")
#: What is missing of somebody who has never paid before.
_NEEDS_HISTORY: Final = ("since_last", "ratio")


class _Feature(NamedTuple):
    """What a feature is: its kind, whose it is, its window, and a column or a number."""

    kind: str
    entity: str
    window: str = ""
    more: str = ""


class FeatureWords:
    """Says what the features and columns of a desk mean, in the language of a visitor.

    Parameters
    ----------
    schema : Schema
        Whose ``feature_labels`` name columns, features and entities.
    t : Texts
    show : Formats
    """

    def __init__(self, schema: Schema, t: Texts, show: Formats) -> None:
        self._schema, self._t, self._show = schema, t, show
        self._features = {
            name: found
            for entity, each in schema.entities.items()
            for name, found in _features_of(entity, each)
        }

    def label(self, name: str) -> str:
        """What people call a column, a feature or an entity."""
        return self._schema.feature_labels.get(name, name)

    def phrase(self, name: str, value: str | float | bool | None) -> str:
        """What it means that a feature or a column has a value; None is missing."""
        found = self._features.get(name)
        own = name in self._schema.feature_labels
        if found is not None and not own:
            return self._of_entity(found, name, value)
        if not own and isinstance(value, float | int) and name in ("hour", "weekend", "night"):
            return self._of_clock(name, value)
        if value is None:
            return self._t("feature.missing", column=self.label(name))
        if name == self._schema.transaction.amount and isinstance(value, float | int) and not own:
            return self._t("feature.amount", amount=self._amount(value))
        return self._t("feature.column", column=self.label(name), value=self._written(value))

    def sent(self, name: str, value: str | float | bool | None) -> str:
        """A value of a transaction as it is stored, as people write it."""
        if value is None:
            return "–"
        if isinstance(value, bool):
            return self._t("feature.yes" if value else "feature.no")
        if isinstance(value, str):
            if self._schema.columns.get(name) == "time":
                return self._show.exactly(stored_time(datetime.fromisoformat(value)))
            return value
        if name == self._schema.transaction.amount:
            return self._amount(value)
        return self._show.number(value)

    def part(self, part: Because) -> str:
        """A part of a reason; one of several columns stays in the model's own words."""
        if part.feature in self._features or part.feature in self._known:
            return self.phrase(part.feature, part.value)
        return part.text

    def pushes(self, parts: Iterable[Because]) -> list[Push]:
        """The parts of a reason as bars."""
        return [Push(self.part(each), each.share, each.lowers) for each in parts]

    def sentence(self, parts: Sequence[Because], most: int = 3) -> str:
        """The heaviest parts that speak for an alert, in one enumeration; may be empty."""
        told = [self.part(each) for each in parts if not each.lowers][:most]
        return format_list(told, locale=self._t.locale) if told else ""

    @cached_property
    def _known(self) -> set[str]:
        return {*self._schema.columns, *self._schema.features.names}

    def _of_entity(self, feature: _Feature, name: str, value: str | float | bool | None) -> str:
        t, kind = self._t, feature.kind
        entity = self.label(feature.entity)
        if not isinstance(value, float | int):
            if kind in _NEEDS_HISTORY:
                return t("feature.first", entity=entity)
            return t("feature.missing", column=name)
        window = self._window(feature.window) if feature.window else ""
        if kind == "count":
            return t("feature.count", count=round(value), entity=entity, window=window)
        if kind in _AMOUNTS:
            amount = self._amount(value)
            return t(f"feature.{kind}", amount=amount, entity=entity, window=window)
        if kind == "since_last":
            length = self._show.length(round(value * _SECOND))
            return t("feature.since_last", length=length, entity=entity)
        if kind == "mean_last":
            amount = self._amount(value)
            return t("feature.mean_last", amount=amount, number=feature.more, entity=entity)
        if kind == "ratio":
            return t("feature.ratio", ratio=self._show.number(_short(value)), entity=entity)
        if kind == "distinct":
            column = self.label(feature.more)
            count = round(value)
            return t("feature.distinct", count=count, column=column, entity=entity, window=window)
        if kind == "risk":
            share = self._show.percent(value, 0 if value >= 0.1 or value == 0 else 1)
            return t("feature.risk", share=share, entity=entity, window=window)
        return t("feature.fraud_count", count=round(value), entity=entity, window=window)

    def _of_clock(self, name: str, value: float) -> str:
        if name == "hour":
            hour = int(value)
            return self._t("feature.hour", begin=f"{hour:02}:00", end=f"{(hour + 1) % 24:02}:00")
        return self._t(f"feature.{name}_{'yes' if value else 'no'}")

    def _window(self, window: str) -> str:
        length = nanoseconds("window", window) // _SECOND
        unit, size = next(each for each in _UNITS if length % each[1] == 0)
        return self._t(f"feature.window.{unit}", count=length // size)

    def _amount(self, value: float) -> str:
        return self._show.amount(round(value * 10**self._schema.transaction.minor_units))

    def _written(self, value: str | float | bool) -> str:
        if isinstance(value, bool):
            return self._t("feature.yes" if value else "feature.no")
        return value if isinstance(value, str) else self._show.number(_short(value))


def _features_of(name: str, entity: EntitySchema) -> Iterator[tuple[str, _Feature]]:
    """What each feature of an entity is, by its name."""
    for window in entity.windows:
        for statistic in entity.statistics:
            yield f"{name}_{statistic}_{window}", _Feature(statistic, name, window)
        for column in entity.distinct:
            found = _Feature("distinct", name, window, column)
            yield f"{name}_distinct_{column}_{window}", found
        for kind in ("risk", "fraud_count"):
            yield f"{name}_{kind}_{window}", _Feature(kind, name, window)
    yield f"{name}_since_last", _Feature("since_last", name)
    yield f"{name}_mean_last_{entity.last}", _Feature("mean_last", name, more=str(entity.last))
    yield f"amount_to_{name}_mean", _Feature("ratio", name)


def _short(value: float) -> float:
    """To two digits where it is small, to a whole number where it is not."""
    return float(f"{value:.2g}") if abs(value) < 100 else round(value)
