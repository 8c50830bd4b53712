"""Examples of messages, as the description of the web process shows them."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec.structs import replace

from rarefind.desk.messages import (
    AlertSummary,
    CaseFile,
    CasePage,
    CaseSummary,
    ClaimPage,
    ClaimSummary,
    DecidedTransaction,
    EntityExport,
    ExpectedHits,
    ExportedCase,
    GivenLabel,
    GivenVerdict,
    MadeToken,
    NewClaim,
    NewToken,
    NewVerdict,
    NextCase,
    QueueToday,
    Snooze,
    TokenPage,
    TokenSummary,
    TransactionPage,
    TransactionSummary,
    VerdictPage,
    WrittenNote,
)


def _at(hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 1, 31, hour, minute, tzinfo=UTC)


TRANSACTION = TransactionSummary(
    sequence=1200,
    id="a1",
    time=_at(12, 30),
    arrived=_at(12, 30),
    amount=950.0,
    entities={"card": "card-7", "terminal": "terminal-7"},
    transaction={"id": "a1", "time": "2026-01-31T12:30:00Z", "amount": 950.0, "card": "card-7"},
    decision="accept",
    by="",
    rules=["far from home"],
    score=0.83,
    alert="risk",
)
DECIDED = DecidedTransaction(
    sequence=1200,
    id="a1",
    time=_at(12, 30),
    arrived=_at(12, 30),
    amount=950.0,
    entities={"card": "card-7", "terminal": "terminal-7"},
    transaction={"id": "a1", "time": "2026-01-31T12:30:00Z", "amount": 950.0, "card": "card-7"},
    decision="accept",
    by="",
    rules=["far from home"],
    score=0.83,
    alert="risk",
    priority=1.83,
    propensity=0.00002,
    rule_book="5f0c",
    model="91ab",
    features={"card_count_1D": 3.0, "card_mean_30D": 41.2, "card_since_last": None},
    labels=[GivenLabel(fraud=True, source="verdict", arrived=_at(13, 5))],
)
TRANSACTIONS = TransactionPage(entity="card", key="card-7", transactions=[TRANSACTION], next=1200)
OPEN = CaseSummary(
    id=7,
    entity="card",
    key="card-7",
    state="open",
    opened=_at(12, 30),
    priority=1.83,
    kind="risk",
    propensity=0.00002,
    holder=None,
    until=None,
    closed=None,
    verdict=None,
)
TAKEN = replace(OPEN, state="taken", holder="ann", until=_at(13, 30))
DECIDED_CASE = replace(OPEN, state="decided", closed=_at(13, 5), verdict="fraud")
CASES = CasePage(cases=[OPEN], next=7)
NEXT = NextCase(case=TAKEN)
QUEUE = QueueToday(
    begins=_at(0),
    ends=datetime(2026, 2, 1, tzinfo=UTC),
    budget=20,
    done=4,
    hits=1,
    expected=ExpectedHits(hits=5.2, low=2, high=9, known=16),
    amount=11_420.5,
    waiting=31,
    cases=[OPEN],
)
VERDICT = NewVerdict(verdict="fraud", note="The customer was at home and has not paid this.")
GIVEN = GivenVerdict(id=4, verdict="fraud", person="ann", at=_at(13, 5), note="")
VERDICTS = VerdictPage(verdicts=[GIVEN], next=None)
NOTE = WrittenNote(person="ann", at=_at(13), note="the customer is travelling")
SNOOZE = Snooze(until=datetime(2026, 2, 2, 9, tzinfo=UTC))
ALERT = AlertSummary(
    id="a1",
    priority=1.83,
    kind="risk",
    probability=0.83,
    reason="amount is 23 times the card's mean",
    transaction=DECIDED,
)
CASE_FILE = CaseFile(
    case=TAKEN,
    alert_count=1,
    alerts=[ALERT],
    verdict_count=0,
    verdicts=[],
    transactions=[TRANSACTION],
)
NEW_CLAIM = NewClaim(transaction="a1", note="The customer called: not theirs.")
CLAIM = ClaimSummary(
    id=3,
    transaction="a1",
    at=_at(15),
    note="The customer called: not theirs.",
    state="new",
    person=None,
    answered=None,
)
ANSWERED_CLAIM = ClaimSummary(
    id=3,
    transaction="a1",
    at=_at(15),
    note="The customer called: not theirs.",
    state="confirmed",
    person="eve",
    answered=_at(16),
)
CLAIMS = ClaimPage(claims=[CLAIM], next=None)
EXPORT = EntityExport(
    entity="card",
    key="card-7",
    transactions=[DECIDED],
    claims=[CLAIM],
    cases=[ExportedCase(case=DECIDED_CASE, verdicts=[GIVEN], notes=[NOTE])],
    next=None,
)
NEW_TOKEN = NewToken(name="ann", role="investigator")
MADE_TOKEN = MadeToken(name="ann", role="investigator", token="rarefind_investigator_…")
TOKEN = TokenSummary(name="ann", role="investigator", made=_at(9), revoked=None)
TOKENS = TokenPage(tokens=[TOKEN], next=None)
