"""What a desk receives, and how it works: declared once, in ``desk.toml``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from rarefind._core.files import atomic_write
from rarefind.data.clock import PERIODS, nanoseconds
from rarefind.data.feature_list import EntityFeatures, FeatureList

#: What a column of a transaction may contain.
Kind = Literal["text", "number", "boolean", "time"]
#: What is said of an entity's amounts in a window of time.
Statistic = Literal["count", "mean", "sum", "min", "max"]
FORMAT = 1
FILE = "desk.toml"
_DAY = 86_400_000_000_000  # in nanoseconds
_LONGEST = 36_500 * _DAY
#: Of a budget or a rate.
_MOST = 1_000_000_000
_LENGTHS = {"hour": "1h", "day": "1D", "week": "7D", "month": "30D", "quarter": "91D"}


class _Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A table of desk.toml: a setting that is not known is an error."""


class TransactionSchema(_Section, frozen=True):
    """The columns of a transaction."""

    id: str
    time: str
    amount: str
    #: Digits of an amount after its decimal point: amounts are kept as whole minor units.
    minor_units: int = 2
    #: Of times that are written without a zone, and of the days that budgets are spent in.
    time_zone: str = "UTC"
    #: The column with the outcome of the terminal's own check, and its values for "accepted".
    outcome: str | None = None
    accepted: tuple[str, ...] = ("accepted",)
    #: What else comes with a transaction. These may be missing.
    columns: dict[str, Kind] = {}


class EntitySchema(_Section, frozen=True):
    """Who pays or is paid: a card, a terminal; and what is computed of its history."""

    column: str
    windows: tuple[str, ...] = ("1h", "1D", "7D", "30D")
    statistics: tuple[Statistic, ...] = ("count", "mean", "sum", "min", "max")
    since_last: bool = True
    #: The mean of so many last amounts; 0 for none.
    last: int = 5
    #: The amount over the mean of the entity's earlier amounts in the longest window.
    ratio: bool = True
    #: Columns of which the different values in each window are counted.
    distinct: tuple[str, ...] = ()
    #: The share of frauds among the entity's transactions with ripe labels.
    risk: bool = False


class LabelSchema(_Section, frozen=True):
    """When a label is ripe."""

    #: So long after a transaction, silence means genuine.
    delay: str = "30D"
    #: The delay that features of risk know labels after, where it is not the same.
    risk_delay: str | None = None


class AlertSchema(_Section, frozen=True):
    """The queue of the people who check."""

    #: The entity that is checked, and that can be blocked.
    entity: str
    budget: int = 20
    per: str = "day"
    #: The share of the budget that is drawn at random, with known probability.
    random_share: float = 0.05
    #: For so long a case that was taken is held for the person who took it.
    lease: str = "30min"
    #: A case that nobody has decided so long after its last alert is closed.
    expires: str = "7D"
    #: Whether another person than the one who asked has to approve a block, an erasure, a rule that
    #: denies payments, or a model that is to decide.
    second_person: bool = False

    @property
    def period(self) -> int:
        """The length of the period that the budget is for, in nanoseconds; a month has 30 days."""
        return nanoseconds("alerts.per", _LENGTHS[self.per])


class WebhookSchema(_Section, frozen=True):
    """Messages about alerts to other programs."""

    #: Whether they may be sent to addresses of private networks.
    allow_private: bool = False


class LimitSchema(_Section, frozen=True):
    """What is refused."""

    #: A transaction may come so long after the newest one, by its own time.
    late: str = "7D"
    #: ... and so far ahead of the clock of this machine.
    ahead: str = "2D"
    text: int = 256
    batch: int = 1_000
    body: int = 1_000_000
    waiting: int = 2_000
    #: Transactions a second of one token; 0 for any number.
    rate: int = 5_000
    #: Requests a second of one token to the web process; 0 for any number.
    requests: int = 100


class SnapshotSchema(_Section, frozen=True):
    """What a restart begins from."""

    #: The worker makes a snapshot so often, and compares the features of the rows since.
    every: str = "1h"


class HistorySchema(_Section, frozen=True):
    """The last weeks as columns, which rules and models are tried and measured on."""

    days: int = 90


class RetentionSchema(_Section, frozen=True):
    """How long transactions are kept."""

    days: int = 180
    #: Features look back no farther, where that is less.
    feature_days: int | None = None


class Schema(_Section, frozen=True):
    """A desk as its desk.toml declares it."""

    name: str
    transaction: TransactionSchema
    entities: dict[str, EntitySchema]
    alerts: AlertSchema
    format: int = FORMAT
    #: What people call columns, features and entities, where pages speak of them.
    feature_labels: dict[str, str] = {}
    labels: LabelSchema = LabelSchema()
    limits: LimitSchema = LimitSchema()
    retention: RetentionSchema = RetentionSchema()
    webhooks: WebhookSchema = WebhookSchema()
    snapshots: SnapshotSchema = SnapshotSchema()
    history: HistorySchema = HistorySchema()

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read a declaration; an error names the setting at fault."""
        try:
            declared: dict[str, Any] = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{FILE} is not TOML: {error}.") from None
        if declared.get("format", FORMAT) != FORMAT:
            raise ValueError(
                f"{FILE} has format {declared['format']!r}, and this version of rarefind reads "
                f"format {FORMAT}: install the version that wrote it, or a newer one."
            )
        try:
            schema = msgspec.convert(declared, cls)
        except msgspec.ValidationError as error:
            raise ValueError(f"{FILE}: {error}".replace("`$.", "`")) from None
        schema.check()
        return schema

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """Read the declaration of a desk."""
        return cls.from_text(path.read_text(encoding="utf-8"))

    def to_text(self) -> str:
        """Return the declaration, which reads as the same schema."""
        return msgspec.toml.encode(self).decode()

    def to_file(self, path: Path) -> None:
        """Write the declaration; the file is whole or not there."""
        with atomic_write(path) as part:
            part.write_text(self.to_text(), encoding="utf-8")

    def check(self) -> None:
        """Refuse what msgspec cannot know to be wrong; an error names the setting at fault."""
        _check(self)

    @property
    def days_needed(self) -> int:
        """For how many days transactions must be kept at least, for the features."""
        late = nanoseconds("limits.late", self.limits.late)
        delay = nanoseconds("labels.delay", self.labels.risk_delay or self.labels.delay)
        return max(_days_needed(each, delay, late) for each in self.entities.values())

    @property
    def columns(self) -> dict[str, Kind]:
        """What each column of a transaction contains, the identifier first."""
        own = self.transaction
        found: dict[str, Kind] = {own.id: "text", own.time: "time", own.amount: "number"}
        found |= {entity.column: "text" for entity in self.entities.values()}
        if own.outcome is not None:
            found[own.outcome] = "text"
        return found | own.columns

    @property
    def features(self) -> FeatureList:
        """What is computed of a transaction's entities before it is decided."""
        own, late = self.transaction, nanoseconds("limits.late", self.limits.late)
        # What retention deletes must not be seen again, whichever transaction may still come.
        memory = (self.retention.feature_days or self.retention.days) * _DAY - late
        return FeatureList(
            time=own.time,
            amount=own.amount,
            minor_units=own.minor_units,
            entities=tuple(
                EntityFeatures(
                    name=name,
                    column=each.column,
                    windows=each.windows,
                    statistics=each.statistics,
                    since_last=each.since_last,
                    last=each.last,
                    ratio=each.ratio,
                    distinct=each.distinct,
                    risk=each.risk,
                )
                for name, each in self.entities.items()
            ),
            delay=self.labels.risk_delay or self.labels.delay,
            memory=f"{memory}ns",
            time_zone=own.time_zone,
        )

    def added_since(self, old: Schema) -> tuple[str, ...]:
        """Name the columns that were added to an older schema; any other change is an error."""
        for name, kind in old.columns.items():
            if name not in self.columns:
                raise ValueError(
                    f"Column {name!r} is gone from {FILE}; columns of a desk can only be added. "
                    "Put it back, or start a new desk in another folder."
                )
            if self.columns[name] != kind:
                raise ValueError(
                    f"Column {name!r} was {kind} and is {self.columns[name]} in {FILE}; "
                    "columns of a desk can only be added. Change it back, or add another column."
                )
        fixed = ("id", "time", "amount", "minor_units", "time_zone", "outcome")
        for name in fixed:
            before, now = getattr(old.transaction, name), getattr(self.transaction, name)
            if before != now and not (name == "outcome" and before is None):
                raise ValueError(
                    f"transaction.{name} was {before!r} and is {now!r} in {FILE}; what is stored "
                    "was read the old way. Change it back, or start a new desk in another folder."
                )
        for name, entity in old.entities.items():
            if self.entities.get(name) != entity:
                raise ValueError(
                    f"The entity {name!r} has changed in {FILE}; its stored features were computed "
                    "the old way. Change it back, or start a new desk in another folder."
                )
        if list(self.entities)[: len(old.entities)] != list(old.entities):
            raise ValueError(
                f"The entities in {FILE} are in another order; what is stored goes by it. Put new "
                "ones behind the others."
            )
        return tuple(name for name in self.columns if name not in old.columns)


def _check(schema: Schema) -> None:
    """Refuse what msgspec cannot know to be wrong."""
    own = schema.transaction
    named = [own.id, own.time, own.amount, *(each.column for each in schema.entities.values())]
    named += [own.outcome] if own.outcome is not None else []
    for name in [*named, *own.columns]:
        # JSON would write the last two in another form.
        if not name or not name.isprintable() or '"' in name or "\\" in name:
            raise ValueError(f"{FILE}: {name!r} is not a name for a column.")
    both = [name for name in own.columns if name in named]
    if both or len(set(named)) < len(named):
        twice = both or sorted(name for name in named if named.count(name) > 1)
        raise ValueError(f"{FILE} declares column {twice[0]!r} twice.")
    if not 0 <= own.minor_units <= 6:
        raise ValueError(f"{FILE}: minor_units is from 0 to 6, not {own.minor_units}.")
    if schema.alerts.entity not in schema.entities:
        raise ValueError(
            f"{FILE}: alerts.entity is {schema.alerts.entity!r}; "
            f"the entities are {', '.join(schema.entities) or 'none'}."
        )
    if schema.alerts.per not in PERIODS:
        raise ValueError(
            f"{FILE}: alerts.per is one of {', '.join(PERIODS)}, not {schema.alerts.per!r}."
        )
    if not 0 <= schema.alerts.random_share < 1:
        raise ValueError(f"{FILE}: alerts.random_share is from 0 to below 1.")
    _check_numbers(schema)
    for name, entity in schema.entities.items():
        _check_entity(schema, name, entity)
    lengths = {
        "labels.delay": schema.labels.delay,
        "labels.risk_delay": schema.labels.risk_delay or schema.labels.delay,
        "alerts.lease": schema.alerts.lease,
        "alerts.expires": schema.alerts.expires,
        "snapshots.every": schema.snapshots.every,
        "limits.late": schema.limits.late,
        "limits.ahead": schema.limits.ahead,
    }
    for name, length in lengths.items():
        _check_length(name, length)
    try:
        ZoneInfo(own.time_zone)
    except (ZoneInfoNotFoundError, ValueError):
        raise ValueError(f"{FILE}: {own.time_zone!r} is not a time zone.") from None
    _check_features(schema)
    _check_feature_labels(schema)


def _check_numbers(schema: Schema) -> None:
    counts = {
        "alerts.budget": schema.alerts.budget,
        "limits.rate": schema.limits.rate,
        "limits.requests": schema.limits.requests,
    }
    for name, count in counts.items():
        if not 0 <= count <= _MOST:
            raise ValueError(f"{FILE}: {name} is from 0 to {_MOST:,}, not {count:,}.")
    days = {"retention.days": schema.retention.days, "history.days": schema.history.days}
    days["retention.feature_days"] = schema.retention.feature_days or schema.retention.days
    for name, count in days.items():
        if not 1 <= count <= _LONGEST // _DAY:
            raise ValueError(f"{FILE}: {name} is from 1 to {_LONGEST // _DAY:,}, not {count:,}.")


def _check_length(name: str, length: str) -> None:
    found = nanoseconds(f"{FILE}: {name}", length)
    if name in ("alerts.lease", "alerts.expires") and found <= 0:
        raise ValueError(f"{FILE}: {name} must be longer than 0, not {length!r}.")
    if found > _LONGEST:
        raise ValueError(f"{FILE}: {name} is {length!r}: no length is above a hundred years.")


def _days_needed(entity: EntitySchema, delay: int, late: int) -> int:
    """The days that an entity's features look back from a transaction that comes late."""
    longest = max(nanoseconds("windows", window) for window in entity.windows)
    return -(-(longest + entity.risk * delay + late) // _DAY)


def _check_feature_labels(schema: Schema) -> None:
    known = {*schema.columns, *schema.features.names, *schema.entities}
    for name, label in schema.feature_labels.items():
        if name not in known:
            raise ValueError(
                f"{FILE}: feature_labels names {name!r}, which is not a column, a feature or an "
                "entity of this desk."
            )
        if not label.strip() or not label.isprintable():
            raise ValueError(f"{FILE}: feature_labels.{name} is empty, or cannot be printed.")


def _check_features(schema: Schema) -> None:
    late = nanoseconds("limits.late", schema.limits.late)
    delay = nanoseconds("labels.delay", schema.labels.risk_delay or schema.labels.delay)
    if late < 0 or delay < 0 or nanoseconds("labels.delay", schema.labels.delay) < 0:
        raise ValueError(f"{FILE}: limits.late and labels.delay must not be negative.")
    days = schema.retention.feature_days or schema.retention.days
    if days > schema.retention.days:
        raise ValueError(f"{FILE}: retention.feature_days is more than retention.days.")
    for name, each in schema.entities.items():
        needed = _days_needed(each, delay, late)
        if needed > days:
            raise ValueError(
                f"{FILE}: retention.days is {days}, and the features of {name!r} "
                f"look back {needed} days (window, delay of labels and limits.late): keep "
                "transactions longer, or shorten these."
            )
    try:
        features = schema.features
    except ValueError as error:
        raise ValueError(f"{FILE}: {error}") from None
    taken = [name for name in schema.columns if name in features.names]
    if taken and taken != [schema.transaction.amount]:
        other = next(name for name in taken if name != schema.transaction.amount)
        raise ValueError(f"{FILE}: column {other!r} has the name of a feature. Rename it.")


def _check_entity(schema: Schema, name: str, entity: EntitySchema) -> None:
    if not name.isidentifier():
        raise ValueError(f"{FILE}: the entity {name!r} needs a plain name: it begins features.")
    if not entity.windows:
        raise ValueError(f"{FILE}: entities.{name}.windows is empty.")
    for window in entity.windows:
        if nanoseconds(f"{FILE}: entities.{name}.windows", window) <= 0:
            raise ValueError(
                f"{FILE}: entities.{name}.windows has {window!r}: it must be longer than 0."
            )
    for column in entity.distinct:
        if schema.columns.get(column) != "text":
            raise ValueError(
                f"{FILE}: entities.{name}.distinct names {column!r}, which is not a text column."
            )
