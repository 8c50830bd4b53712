"""The limits that a rule has of its own: what retires it, and from which day on it is off."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date

from rarefind.desk.control._errors import ControlError

__all__ = ["LIMITS", "THE_DESK", "check_limits", "check_sunset"]

#: Who turns a rule off by its limits, as the audit log names it.
THE_DESK = "the desk"
#: What a limit may be of: whether a smaller or a larger value fails it, and the measure.
LIMITS = (
    "min_precision",
    "min_detection_rate",
    "max_false_alert_rate",
    "max_false_alerts_a_day",
)


def check_limits(limits: Mapping[str, float]) -> dict[str, float]:
    """Raise on a limit that is not known, or cannot be reached."""
    for name, bound in limits.items():
        if name not in LIMITS:
            raise ControlError(f"{name!r} is not a limit of rules; they are {', '.join(LIMITS)}.")
        most = math.inf if name == "max_false_alerts_a_day" else 1.0
        if not (math.isfinite(bound) and 0 <= bound <= most):
            what = "a number from 0 on" if most > 1 else "a share from 0 to 1"
            raise ControlError(f"The limit {name} is {what}, not {bound!r}.", name)
    return {name: float(bound) for name, bound in limits.items()}


def check_sunset(sunset: str) -> str:
    """Raise on what is not a day; empty is none."""
    if sunset:
        try:
            if date.fromisoformat(sunset).isoformat() != sunset:
                raise ValueError
        except ValueError:
            raise ControlError(f"{sunset!r} is not a day such as 2026-12-31.", "sunset") from None
    return sunset
