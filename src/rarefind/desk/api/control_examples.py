"""Examples of what people decide, as the description of the web process shows them."""

from __future__ import annotations

from datetime import UTC, datetime

from rarefind.desk.messages import (
    AuditEntry,
    AuditPage,
    BlockPage,
    BlockSummary,
    ChangePage,
    ChangeSummary,
    LiftedBlock,
    ListNames,
    ListSummary,
    ListValues,
    MadeWebhook,
    ModelSummary,
    NewBlock,
    NewRole,
    NewRule,
    NewSetting,
    NewWebhook,
    OrderPage,
    OrderSummary,
    Promotion,
    RuleHistory,
    RuleSummary,
    RuleTrial,
    SettingSummary,
    TriedCase,
    TriedRule,
    WebhookSummary,
)

_AT = datetime(2026, 1, 31, 14, tzinfo=UTC)
_TEXT = "amount > factor * card_mean_30D and not ecommerce"

NEW_RULE = NewRule(
    text=_TEXT, role="shadow", weight=1.0, constants={"factor": 5.0}, note="Watch it.", based_on=0
)
RULE = RuleSummary(
    name="far above the mean",
    version=1,
    text=_TEXT,
    role="shadow",
    weight=1.0,
    constants={"factor": 5.0},
    lists=[],
    note="Watch it.",
    person="eve",
    at=_AT,
)
HISTORY = RuleHistory(versions=[RULE], next=None)
TRIED_RULE = TriedRule(text=_TEXT, constants={"factor": 5.0})
RULE_TRIAL = RuleTrial(
    rows=1_000_000,
    missing=0,
    days=60,
    alerts=1_200,
    hits=310,
    false_alerts=540,
    added=45,
    not_ripe=350,
    denied=0,
    amount=61_400.5,
    amount_added=9_120.0,
    alerts_a_day=20.0,
    precision=310 / 850,
    detection_rate=0.21,
    false_alert_rate=0.0008,
    cases=[
        TriedCase(
            id="p-4711",
            time=_AT,
            entity="c-17",
            amount=612.5,
            score=0.41,
            fraud=None,
            is_new=True,
        )
    ],
)
NEW_ROLE = NewRole(role="scoring", note="Half of what it found was fraud.")
VALUES = ListValues(values=["FR", "US"])
LISTS = ListNames(names=["countries"], next=None)
LIST = ListSummary(
    name="countries", person="eve", changed=_AT, count=2, values=["FR", "US"], next=None
)
MODEL = ModelSummary(
    digest="91ab6c0d",
    name="january.rarefind",
    estimator="SGBAPClassifier",
    columns=["amount", "card_mean_30D"],
    own_threshold=0.31,
    threshold=0.31,
    state="challenger",
    added=_AT,
    added_by="sam",
    changed=_AT,
    changed_by="sam",
)
PROMOTION = Promotion(threshold=0.4)
NEW_BLOCK = NewBlock(key="card-7", note="Confirmed fraud.")
LIFTED = LiftedBlock(note="The customer has a new card.")
BLOCK = BlockSummary(
    id=12,
    entity="card",
    key="card-7",
    state="waiting",
    note="Confirmed fraud.",
    asked=_AT,
    asked_by="ann",
    answered=None,
    answered_by=None,
    lifted=None,
    lifted_by=None,
    lift_note="",
)
BLOCKS = BlockPage(blocks=[BLOCK], next=None)
ORDER = OrderSummary(
    id=2,
    kind="erase",
    entity="card",
    key="",
    state="done",
    asked=_AT,
    asked_by="max",
    answered=_AT,
    answered_by="max",
    ended=_AT,
    result={"transactions": 41},
)
ORDERS = OrderPage(orders=[ORDER], next=None)
AUDIT = AuditPage(
    rows=[
        AuditEntry(
            number=1,
            at=_AT,
            person="eve",
            action="save rule",
            subject="far above the mean",
            detail={"version": 1},
        )
    ],
    next=None,
    last="1:5f0c",
)
NEW_WEBHOOK = NewWebhook(url="https://example.com/alerts", events=["alert.raised"])
WEBHOOK = WebhookSummary(
    id=1,
    url="https://example.com/alerts",
    events=["alert.raised"],
    made_by="max",
    made=_AT,
    failures=0,
    waiting=0,
    dead=0,
)
MADE_WEBHOOK = MadeWebhook(webhook=WEBHOOK, secret="rarefind_webhook_…")
SETTING = SettingSummary(
    name="alerts.budget", value=40, declared=20, changed=_AT, changed_by="ada", waiting=None
)
NEW_SETTING = NewSetting(value=40)
CHANGE = ChangeSummary(
    id=3,
    kind="model",
    subject="91ab6c0d",
    content={"name": "january.rarefind", "threshold": 0.4},
    state="waiting",
    asked=_AT,
    asked_by="sam",
    answered=None,
    answered_by=None,
)
CHANGES = ChangePage(changes=[CHANGE], next=None)
