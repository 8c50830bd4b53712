"""Budgets as they are written: checks, shares, and periods they are spent in.

Nothing heavy is imported: the command line asks before it starts to work.
"""

from __future__ import annotations

import math
from typing import Any

__all__ = ["PERIODS", "budget_share", "check_period"]

#: Periods that a budget can be spent in, and what pandas calls them.
PERIODS = {"hour": "h", "day": "D", "week": "W", "month": "M"}


def budget_share(k: int | float | str) -> float | None:
    """The share of the rows that a budget asks for; None where it is a number of checks."""
    try:
        if isinstance(k, str) and k.strip().endswith("%"):
            amount, is_share = float(k.strip()[:-1]) / 100, True
        else:
            amount = float(k)
            is_share = amount < 1
    except (TypeError, ValueError):
        amount, is_share = 0.0, True
    if is_share and 0 < amount <= 1:
        return amount
    if not is_share and math.isfinite(amount) and amount == int(amount):
        return None
    raise ValueError(f"A budget is a number of checks (200) or a share (0.5% or 0.005), not {k!r}.")


def check_period(per: str | None, time: Any) -> None:
    """Refuse a period that there is not, or that needs a time."""
    if per is not None and per not in PERIODS:
        raise ValueError(f"A period is one of {', '.join(PERIODS)}, not {per!r}.")
    if per is not None and time is None:
        raise ValueError(f"A budget for each {per} needs the column with the time of a row.")
