"""What a page of the queue shows: which cases, narrowed down how, and why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Final, Literal, get_args
from urllib.parse import urlencode

from rarefind.desk.alerts import After, Case, CaseLine, Today, with_rule
from rarefind.desk.api.door import WebDoor

__all__ = ["SHOWN", "QueueFilter", "QueuePage", "list_cases", "why_empty"]

#: Which cases: those for today's budget, one's own, those of others, put aside, and all.
Shown = Literal["today", "mine", "others", "snoozed", "all"]
SHOWN: Final[tuple[Shown, ...]] = get_args(Shown)
_PAGE: Final = 50
#: Of long lists so many cases are looked at for a page that is narrowed down.
_LOOKED_AT: Final = 1_000
#: More rows of the ledger than this are too many to wait for.
_BEHIND: Final = 1_000


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """What a visitor wants to see.

    ``kind`` is ``risk``, ``random`` or empty; ``amount`` at least so much, in minor units; ``rule``
    the name of a rule that fired; ``after`` where the page begins.
    """

    shown: Shown = "today"
    kind: str = ""
    amount: int | None = None
    rule: str = ""
    after: After | None = None

    @classmethod
    def read(cls, query: dict[str, str], unit: int) -> QueueFilter:
        """Read what stands in an address; what cannot be read is left out."""
        shown: Shown = next((each for each in SHOWN if each == query.get("show")), "today")
        kind = query.get("kind", "")
        return cls(
            shown,
            kind if kind in ("risk", "random") else "",
            _amount(query.get("amount", ""), unit),
            query.get("rule", "")[:200],
            _after(query.get("after", "")),
        )

    @property
    def is_narrow(self) -> bool:
        """Whether some cases of the list are left out."""
        return bool(self.kind or self.amount or self.rule)

    def address(self, path: str, unit: int, after: CaseLine | None = None, **other: str) -> str:
        """The address of this list, or of the part of it after a case, or of another one."""
        wanted = {
            "show": "" if self.shown == "today" else self.shown,
            "kind": self.kind,
            "amount": "" if self.amount is None else f"{self.amount / unit:g}",
            "rule": self.rule,
            "after": "" if after is None else f"{after.case.priority!r},{after.case.id}",
        } | other
        query = urlencode({name: value for name, value in wanted.items() if value})
        return path + (f"?{query}" if query else "")


@dataclass(frozen=True, slots=True)
class QueuePage:
    """A page of cases, each with its rank in the list (0 where it is not known)."""

    lines: list[tuple[int, CaseLine]]
    more: CaseLine | None = None


def list_cases(door: WebDoor, today: Today, wanted: QueueFilter, person: str) -> QueuePage:
    """The cases of a page."""
    if wanted.shown == "all":
        return _all(door, wanted)
    if wanted.shown == "snoozed":
        ranked = _snoozed(door, wanted)
    else:
        ranked = list(enumerate(today.lines, start=1))
    if wanted.shown == "mine":
        ranked = [each for each in ranked if each[1].case.holder == person]
    elif wanted.shown == "others":
        ranked = [each for each in ranked if each[1].case.holder not in (None, person)]
    kept = _narrowed(door, wanted, [line for _, line in ranked])
    ranked = [each for each in ranked if each[1].case.id in kept]
    if wanted.after is not None:
        ranked = [each for each in ranked if _is_after(each[1].case, wanted.after)]
    page = ranked[:_PAGE]
    return QueuePage(page, page[-1][1] if len(ranked) > _PAGE else None)


def why_empty(door: WebDoor, today: Today, wanted: QueueFilter) -> tuple[str, int]:
    """The key of the text that says why a list is empty, and the number in it."""
    if wanted.is_narrow or wanted.after is not None:
        return "narrow", 0
    if wanted.shown in ("mine", "others", "snoozed"):
        return wanted.shown, 0
    behind = door.ledger.last.sequence - door.cases.read_up_to
    if behind > _BEHIND:
        return "behind", behind
    if today.done >= today.budget:
        return "spent", today.waiting
    snoozed = door.cases.waiting.count_snoozed()
    if snoozed:
        return "all_snoozed", snoozed
    if door.ledger.last.sequence == 0:
        return "no_transactions", 0
    return "nothing", 0


def _all(door: WebDoor, wanted: QueueFilter) -> QueuePage:
    """All that nobody has put aside, read part by part until the page is full."""
    found: list[CaseLine] = []
    after, looked_at = wanted.after, 0
    # Few questions are quicker than many where most cases are left out.
    size = _LOOKED_AT // 2 if wanted.is_narrow else _PAGE + 1
    while True:
        cases = door.cases.waiting.page(after, size)
        lines = door.cases.lines(cases)
        kept = _narrowed(door, wanted, lines)
        looked_at += len(cases)
        for line in lines:
            after = After(line.case.priority, line.case.id)
            if line.case.id in kept:
                found.append(line)
        if len(found) > _PAGE:
            return QueuePage([(0, line) for line in found[:_PAGE]], found[_PAGE - 1])
        if len(cases) < size:
            return QueuePage([(0, line) for line in found])
        if looked_at >= _LOOKED_AT:
            return QueuePage([(0, line) for line in found], lines[-1])


def _snoozed(door: WebDoor, wanted: QueueFilter) -> list[tuple[int, CaseLine]]:
    """What is put aside, with its ranks; no more than a page needs where all are wanted."""
    cases = list(enumerate(door.cases.waiting.in_hand("snoozed", _LOOKED_AT), start=1))
    if wanted.after is not None:
        cases = [each for each in cases if _is_after(each[1], wanted.after)]
    if not wanted.is_narrow:
        cases = cases[: _PAGE + 1]
    lines = door.cases.lines([case for _, case in cases])
    return [(rank, line) for (rank, _), line in zip(cases, lines, strict=True)]


def _narrowed(door: WebDoor, wanted: QueueFilter, lines: list[CaseLine]) -> set[int]:
    """The numbers of the cases that a visitor wants to see."""
    kept = [
        line.case
        for line in lines
        if (not wanted.kind or line.case.kind == wanted.kind)
        and (wanted.amount is None or line.amount >= wanted.amount)
    ]
    if wanted.rule:
        return with_rule(door.database, kept, wanted.rule)
    return {case.id for case in kept}


def _is_after(case: Case, after: After) -> bool:
    return (-case.priority, case.id) > (-after.priority, after.id)


def _amount(text: str, unit: int) -> int | None:
    try:
        amount = float(text.replace("\u202f", "").replace(" ", "").replace(",", "."))
    except ValueError:
        return None
    return round(amount * unit) if isfinite(amount) and 0 < amount < 1e12 else None


def _after(text: str) -> After | None:
    priority, _, number = text.partition(",")
    try:
        after = After(float(priority), int(number))
    except ValueError:
        return None
    return after if isfinite(after.priority) and 0 <= after.id < 2**62 else None
