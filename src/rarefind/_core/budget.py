"""Budgets as they are written: checks, or a share of the rows.

Nothing heavy is imported: the command line asks before it starts to work.
"""

from __future__ import annotations

import math

__all__ = ["budget_share", "check_budget"]


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


def check_budget(k: int | float | str, rows: int | None = None, where: str = "the file") -> None:
    """Refuse what is not a budget, one of 0 checks, and more checks than there are rows."""
    if str(k).strip().rstrip("%").strip() in ("0", "0.0"):
        raise ValueError("A budget of 0 checks buys nothing: give the checks that you can afford.")
    if budget_share(k) is None and rows is not None and float(k) > rows:
        raise ValueError(
            f"The budget of {float(k):,.0f} checks is larger than {where}, which has {rows:,} "
            "rows: give fewer checks, or a share of the rows (0.5%)."
        )
