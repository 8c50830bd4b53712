"""The calls of the web process about settings, and about what waits for a second person."""

from __future__ import annotations

from typing import Literal

from rarefind.desk.client._calls import Call
from rarefind.desk.client._web_requests import WebRequests, path_of
from rarefind.desk.messages import ChangePage, ChangeSummary, NewSetting, SettingSummary

__all__ = ["SettingCalls"]

ChangeStateName = Literal["waiting", "approved", "rejected"]
ChangeKindName = Literal["rule", "model", "setting"]


class SettingCalls(WebRequests):
    """Settings that are changed while the desk runs, and changes that wait."""

    def changes(
        self, state: ChangeStateName = "waiting", *, before: int | None = None, limit: int = 100
    ) -> Call[ChangePage]:
        """List changes that wait for a second person, or were approved or rejected."""
        return self._read(ChangePage, "/changes", state=state, before=before, limit=limit)

    def approve_change(self, kind: ChangeKindName, change: int) -> Call[ChangeSummary]:
        """Make a change of a rule, a model or a setting that another person has asked for."""
        return self._do(ChangeSummary, path_of("changes", f"{kind}s", change, "approve"))

    def reject_change(self, kind: ChangeKindName, change: int) -> Call[ChangeSummary]:
        """Answer that a change is not to be made, or take back one that was asked for."""
        return self._do(ChangeSummary, path_of("changes", f"{kind}s", change, "reject"))

    def settings(self) -> Call[list[SettingSummary]]:
        """List the settings that can be changed: what counts, and what desk.toml says."""
        return self._read(list[SettingSummary], "/settings")

    def change_setting(self, name: str, value: bool | float | str) -> Call[SettingSummary]:
        """Let a setting such as ``alerts.budget`` have another value from now on."""
        sent = NewSetting(value=value)
        return self._do(SettingSummary, path_of("settings", name), sent, method="PUT")

    def reset_setting(self, name: str) -> Call[SettingSummary]:
        """Let a setting be again what desk.toml says."""
        return self._do(SettingSummary, path_of("settings", name), method="DELETE")
