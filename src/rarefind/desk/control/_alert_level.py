"""From which probability on a model raises an alert: often enough for the people who check."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np

from rarefind.desk.intake import Intake
from rarefind.desk.ledger import Ledger
from rarefind.desk.records import Entry
from rarefind.desk.schema import Schema

__all__ = ["alert_level", "recent_entries"]

#: Of the recent transactions so many for each check of the budget: several may be of one card, and
#: the queue shows the best.
_FOR_EACH_CHECK = 3
_RECENT = 50_000


def recent_entries(ledger: Ledger) -> list[Entry]:
    """Return the last transactions of a ledger that are whole."""
    found = ledger.read(max(ledger.last.sequence - _RECENT, 0), _RECENT)
    return [each for each in found if isinstance(each, Entry) and each.body]


def alert_level(
    score: Callable[[Mapping[str, Any]], float],
    schema: Schema,
    recent: Sequence[Entry],
    own: float,
) -> float:
    """Return the model's own threshold, or a lower one where it would leave checks unused.

    A threshold that is best for decisions may be passed by fewer transactions than there are checks
    a day. Then the queue would be shorter than the budget, so the threshold is the probability that
    three times the budget of the recent transactions have.

    Parameters
    ----------
    score : callable
        The model's probability of a record.
    schema : Schema
    recent : sequence of Entry
        Transactions that the desk has decided.
    own : float
        The model's own threshold.
    """
    known = 8 * len(schema.features.names)
    # Features of an older desk.toml are not those that the model scores.
    recent = [each for each in recent if len(each.features) == known]
    if not recent:
        return own
    times = [each.time for each in recent]
    periods = (max(times) - min(times)) / schema.alerts.period
    wanted = ceil(_FOR_EACH_CHECK * schema.alerts.budget * periods)
    if not 0 < wanted <= len(recent):
        return own
    intake = Intake(schema)
    scores = np.sort([score(intake.record(each)) for each in recent])
    return min(own, float(scores[-wanted]))
