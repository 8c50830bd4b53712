"""Settings that can be changed while the desk runs, and changes that wait for a second person."""

from __future__ import annotations

from typing import Any, Literal

from rarefind.desk.messages._base import Instant, ReadMessage, SentMessage

__all__ = ["ChangePage", "ChangeSummary", "NewSetting", "SettingSummary"]

SettingValue = bool | int | float | str


class SettingSummary(ReadMessage, frozen=True, kw_only=True):
    """A setting: what counts, what desk.toml says, and who has changed it.

    ``waiting`` is the number of a change that waits for a second person.
    """

    name: str
    value: SettingValue
    declared: SettingValue
    changed: Instant | None
    changed_by: str | None
    waiting: int | None


class NewSetting(SentMessage, frozen=True, kw_only=True):
    """What a setting shall be."""

    value: SettingValue


class ChangeSummary(ReadMessage, frozen=True, kw_only=True):
    """A change that somebody has asked for, and another person approves or rejects."""

    id: int
    kind: Literal["rule", "model", "setting"]
    subject: str
    content: dict[str, Any]
    state: Literal["waiting", "approved", "rejected"]
    asked: Instant
    asked_by: str
    answered: Instant | None
    answered_by: str | None


class ChangePage(ReadMessage, frozen=True, kw_only=True):
    """Some changes, the newest first; ``next`` is the ``before`` of the next page, or null."""

    changes: list[ChangeSummary]
    next: int | None
