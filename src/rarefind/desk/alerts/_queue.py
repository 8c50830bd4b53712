"""The queue is a budget: so many checks a period, always the current top."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from rarefind.data.clock import period_around
from rarefind.desk.alerts._case import VERDICTS, Case, CaseError
from rarefind.desk.alerts._cases import Cases
from rarefind.desk.alerts._expected import (
    Expected,
    ExpectedAmount,
    expected_amount,
    expected_hits,
)
from rarefind.desk.alerts._summaries import CaseLine
from rarefind.desk.clock import DeskClock
from rarefind.desk.schema import Schema

__all__ = ["Queue", "Today", "Track"]


@dataclass(frozen=True, slots=True)
class Today:
    """What there is to check in this period.

    Attributes
    ----------
    begins, ends : int
        The period, such as today in the desk's time zone.
    budget : int
        Checks of the period.
    done : int
        Cases decided in it.
    hits : int
        Those of them that were fraud.
    cases : list of Case
        To check now, the highest priority first, those that others hold among them.
    expected : Expected
        How many of these cases are fraud, by the model's probabilities.
    amount : int
        What is at stake in these cases, in minor units.
    money : ExpectedAmount
        How much of it is fraud, by the same probabilities.
    waiting : int
        Cases beyond the budget.
    lines : list of CaseLine
        The cases with what their alerts add up to.
    """

    begins: int
    ends: int
    budget: int
    done: int
    hits: int
    cases: list[Case]
    expected: Expected
    amount: int
    money: ExpectedAmount
    waiting: int
    lines: list[CaseLine]


@dataclass(frozen=True, slots=True)
class Track:
    """What was expected of cases that are decided by now, and how many were fraud."""

    expected: Expected
    found: int

    @property
    def agrees(self) -> bool:
        """Whether as many were found as the probabilities allow, in 95 of 100 times."""
        return self.expected.low <= self.found <= self.expected.high


class Queue:
    """The short list that people work.

    A small share of the budget goes to cases that were drawn at random with known probability, so
    that what the model does not find can be estimated too; the rest to the highest priorities.

    Parameters
    ----------
    cases : Cases
    schema : Schema
    clock : DeskClock
    """

    def __init__(self, cases: Cases, schema: Schema, clock: DeskClock) -> None:
        self._cases, self._schema, self._clock = cases, schema, clock

    def today(self) -> Today:
        """Return what there is to check in the current period."""
        alerts = self._schema.alerts
        begins, ends = self._period()
        decided = self._cases.decided_since(begins)
        chosen = self._choose(decided)
        lines = self._cases.lines(chosen)
        known = [(line.probability, line.amount) for line in lines if line.probability is not None]
        probability = [each for each, _ in known]
        return Today(
            begins=begins,
            ends=ends,
            budget=alerts.budget,
            done=len(decided),
            hits=sum(case.verdict == "fraud" for case in decided),
            cases=chosen,
            expected=expected_hits(probability),
            amount=sum(line.amount for line in lines),
            money=expected_amount(probability, [amount for _, amount in known]),
            waiting=self._cases.waiting.count() - len(chosen),
            lines=lines,
        )

    def track(self, count: int = 200) -> Track:
        """Compare what was expected of the last cases that were decided with what was found.

        Expectations are as good as the probabilities they add up; this says how good they were.
        """
        decided = [
            case
            for verdict in VERDICTS[:2]  # what is unclear is neither
            for case in self._cases.last_found(verdict, count)
        ]
        decided.sort(key=lambda case: case.closed or 0, reverse=True)
        lines = self._cases.lines(decided[:count])
        known = [line for line in lines if line.probability is not None]
        expected = expected_hits([line.probability or 0.0 for line in known])
        return Track(expected, sum(line.case.verdict == "fraud" for line in known))

    def next_for(self, person: str) -> Case | None:
        """Take the case of the highest priority that nobody has; None where there is none left.

        Who has a case already keeps it and gets it again.
        """
        begins, _ = self._period()
        cases = self._choose(self._cases.decided_since(begins))
        own = [case for case in cases if case.holder == person]
        for case in own or [case for case in cases if case.holder is None]:
            try:
                return self._cases.take(case.id, person)
            except CaseError:  # somebody was quicker
                continue
        return None

    def _period(self) -> tuple[int, int]:
        zone = self._schema.transaction.time_zone
        return period_around(self._clock.now(), zone, self._schema.alerts.per)

    def _choose(self, decided: list[Case]) -> list[Case]:
        """The cases for the checks that are left, and those that people hold, by priority."""
        alerts, waiting = self._schema.alerts, self._cases.waiting
        left = max(alerts.budget - len(decided), 0)
        share = ceil(alerts.random_share * alerts.budget)
        drawn = max(share - sum(case.kind == "random" for case in decided), 0)
        by_chance = waiting.drawn(min(drawn, left))
        risky = waiting.risky(left - len(by_chance))
        chosen = {case.id: case for case in [*by_chance, *risky, *waiting.in_hand("taken")]}
        return sorted(chosen.values(), key=lambda case: (-case.priority, case.id))
