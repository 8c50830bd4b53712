"""What people have decided about a desk, as decisions need it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from rarefind.desk.decision.book import RuleBook
from rarefind.desk.schema import Schema

__all__ = ["DeskModel", "Settings"]


class DeskModel(Protocol):
    """What a desk needs of a model: the score of a record of columns and features.

    A score from ``threshold`` on is an alert.
    """

    digest: str
    threshold: float

    def score(self, record: Mapping[str, Any]) -> float:
        """Return the calibrated probability that a record is fraud."""


class Settings(Protocol):
    """What people have decided about a desk, as of one time."""

    @property
    def rules(self) -> RuleBook:
        """The rules in force."""

    @property
    def blocked(self) -> frozenset[str]:
        """The entities that are blocked."""

    @property
    def schema(self) -> Schema | None:
        """The settings that count; None for those that decisions began with."""

    @property
    def model(self) -> DeskModel | None:
        """The model that scores, if there is one."""
