"""What the features of a transaction are called and mean: one list for a table and for a desk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from zoneinfo import ZoneInfo

from rarefind.data.clock import nanoseconds

__all__ = [
    "LARGEST_AMOUNT",
    "STATISTICS",
    "EntityFeatures",
    "FeatureList",
    "day_features",
    "window_lengths",
]

#: What can be said of the amounts in a window, in the numbers that kernels know them by.
STATISTICS = ("count", "mean", "sum", "min", "max")
#: Of the row itself; the last features of every list.
OWN = ("amount", "hour", "weekend", "night")
#: In minor units, either sign: beyond it a float no longer has every whole number.
LARGEST_AMOUNT = 2**53
#: Of a quarter of an hour, in which a clock shows the same hour and day in every time zone.
QUARTER = 900_000_000_000
_FOREVER = 2**63 - 1
_SATURDAY = 5
_MORNING = 7  # the hour at which the night ends


@dataclass(frozen=True)
class EntityFeatures:
    """What is computed of an entity's history, such as that of a card.

    Attributes
    ----------
    name : str
        How the names of its features begin.
    column : str
        The column that says whose a transaction is.
    windows : tuple of str
        Lengths of time w before a transaction's time t; a window is (t − w, t].
    statistics : tuple of str
        Of the amounts in each window: count, mean, sum, min and max, the transaction included.
    since_last : bool
        Seconds since the entity's transaction before this one, by its own time.
    last : int
        The mean of so many last amounts, its own among them; 0 for none.
    ratio : bool
        The amount over the mean of the entity's earlier amounts in the longest window.
    distinct : tuple of str
        Columns of which the different values in each window are counted, its own among them.
    risk : bool
        Share and number of known frauds among its transactions in (t − delay − w, t − delay].
    """

    name: str
    column: str
    windows: tuple[str, ...]
    statistics: tuple[str, ...] = ("count", "mean")
    since_last: bool = True
    last: int = 0
    ratio: bool = False
    distinct: tuple[str, ...] = ()
    risk: bool = False

    def __post_init__(self) -> None:
        window_lengths(self.windows)
        unknown = [each for each in self.statistics if each not in STATISTICS]
        if unknown:
            raise ValueError(
                f"statistics are among {', '.join(STATISTICS)}; {unknown[0]!r} is not one of them."
            )
        for given in (self.statistics, self.distinct):
            if len(set(given)) < len(given):
                raise ValueError(f"The features of {self.name!r} repeat one of {list(given)}.")
        if self.last < 0:
            raise ValueError(f"last must not be negative, and is {self.last}.")

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The windows in nanoseconds."""
        return tuple(window_lengths(self.windows).values())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Its features, in the order in which they are computed."""
        name = self.name
        found = [f"{name}_{what}_{w}" for w in self.windows for what in self.statistics]
        found += [f"{name}_since_last"] if self.since_last else []
        found += [f"{name}_mean_last_{self.last}"] if self.last else []
        found += [f"amount_to_{name}_mean"] if self.ratio else []
        found += [f"{name}_distinct_{each}_{w}" for each in self.distinct for w in self.windows]
        if self.risk:
            found += [
                f"{name}_{what}_{w}" for w in self.windows for what in ("risk", "fraud_count")
            ]
        return tuple(found)


@dataclass(frozen=True)
class FeatureList:
    """All features of a transaction: by its entities' histories, and of itself.

    A transaction is described **as of its arrival**: by the transactions that arrived before it and
    the labels known then. One that comes late is described by its own time, and never changes what
    was said of another. Among transactions of one time, those that arrived before count.

    Attributes
    ----------
    time, amount : str
        Names of the columns.
    minor_units : int
        Digits of an amount after its decimal point: sums are those of whole minor units, exact in
        whatever order they come.
    entities : tuple of EntityFeatures
    delay : str
        So long after a transaction its label is trusted: silence until then means genuine.
    memory : str or None
        How far back the last transactions are looked for; None for as far as there are any.
    time_zone : str or None
        Of hours, weekends and nights; None for the local time as the column writes it, which is
        UTC for numbers.
    """

    time: str
    amount: str
    minor_units: int
    entities: tuple[EntityFeatures, ...]
    delay: str = "7D"
    memory: str | None = None
    time_zone: str | None = None

    def __post_init__(self) -> None:
        if self.lag < 0:
            raise ValueError(f"delay must not be negative, and is {self.delay!r}.")
        if not 0 <= self.minor_units <= 6:
            raise ValueError(f"minor_units is from 0 to 6, not {self.minor_units}.")
        if self.memory is not None and self.memory_length < self.reach:
            raise ValueError(
                f"memory is {self.memory!r}, and the windows reach farther back: "
                f"{self.reach / 86_400e9:.9g} days with the delay of labels."
            )
        twice = _first_twice(self.names)
        if twice is not None:
            raise ValueError(f"Two features have the name {twice!r}: rename an entity.")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All features, in the order in which they are computed."""
        return tuple(name for each in self.entities for name in each.names) + OWN

    @cached_property
    def distinct(self) -> tuple[str, ...]:
        """The columns whose different values are counted, each once."""
        return tuple(dict.fromkeys(name for each in self.entities for name in each.distinct))

    @cached_property
    def lag(self) -> int:
        """The delay of labels in nanoseconds."""
        return nanoseconds("delay", self.delay)

    @cached_property
    def memory_length(self) -> int:
        """The memory in nanoseconds."""
        return _FOREVER if self.memory is None else nanoseconds("memory", self.memory)

    @cached_property
    def reach(self) -> int:
        """How far back the windows reach, in nanoseconds."""
        reaches = [max(each.lengths) + each.risk * self.lag for each in self.entities]
        return min(max(reaches, default=0), _FOREVER)


def window_lengths(windows: Sequence[str]) -> dict[str, int]:
    """The windows in nanoseconds, by name."""
    if isinstance(windows, str) or not len(windows):
        raise ValueError(
            f"windows must be a list of lengths of time such as ['1D', '7D'], not {windows!r}."
        )
    lengths = {str(window): nanoseconds("windows", window) for window in windows}
    if len(lengths) < len(windows):
        raise ValueError(f"windows must differ, and are {list(windows)}.")
    if min(lengths.values()) <= 0:
        raise ValueError(f"windows must be longer than 0, and are {list(windows)}.")
    return lengths


def day_features(quarter: int, zone: ZoneInfo) -> tuple[float, float, float]:
    """Hour, weekend and night of a quarter of an hour, which are numbered from 1970 on."""
    local = datetime.fromtimestamp(quarter * (QUARTER // 1_000_000_000), zone)
    return float(local.hour), float(local.weekday() >= _SATURDAY), float(local.hour < _MORNING)


def _first_twice(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
