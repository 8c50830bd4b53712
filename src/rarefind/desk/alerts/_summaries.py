"""A case in one line: what is at stake, how probable it is, and why it is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rarefind.desk.alerts._case import ALERT_COLUMNS, Alert, Case, as_alert
from rarefind.desk.database import Database

__all__ = ["CaseLine", "case_lines", "with_rule"]

_BEST = (
    f"SELECT {ALERT_COLUMNS} FROM (SELECT {ALERT_COLUMNS}, row_number() OVER "
    "(PARTITION BY case_id ORDER BY priority DESC, sequence DESC) AS place "
    "FROM alerts WHERE case_id IN :cases) AS ranked WHERE place = 1"
)


@dataclass(frozen=True, slots=True)
class CaseLine:
    """A case with what its alerts add up to.

    Attributes
    ----------
    case : Case
    alerts : int
        How many.
    amount : int
        Of all of them, in minor units.
    probability : float or None
        That of the most probable one; None where no model has scored them.
    best : Alert or None
        That of the highest priority, the last of them.
    """

    case: Case
    alerts: int
    amount: int
    probability: float | None
    best: Alert | None


def case_lines(database: Database, cases: Sequence[Case]) -> list[CaseLine]:
    """Return a line a case, in the same order."""
    if not cases:
        return []
    numbers = [case.id for case in cases]
    sums = {
        row[0]: row[1:]
        for row in database.read(
            "SELECT case_id, count(*), sum(amount), max(probability) FROM alerts "
            "WHERE case_id IN :cases GROUP BY case_id",
            cases=numbers,
        )
    }
    best = {alert.case: alert for alert in map(as_alert, database.read(_BEST, cases=numbers))}
    lines = []
    for case in cases:
        alerts, amount, probability = sums.get(case.id, (0, 0, None))
        lines.append(CaseLine(case, alerts, int(amount), probability, best.get(case.id)))
    return lines


def with_rule(database: Database, cases: Sequence[Case], rule: str) -> set[int]:
    """Return the numbers of those cases in which a rule fired on some alert."""
    if not cases:
        return set()
    rows = database.read(
        "SELECT case_id, rules FROM alerts WHERE case_id IN :cases AND rules <> ''",
        cases=[case.id for case in cases],
    )
    return {case for case, rules in rows if rule in rules.split("\n")}
