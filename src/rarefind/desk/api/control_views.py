"""What people have decided, as it is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rarefind.desk.api.parameters import next_page
from rarefind.desk.api.views import Views, instant, instant_or_none
from rarefind.desk.control import (
    AuditRow,
    Block,
    ChangeKind,
    ChangeRequest,
    Control,
    DeskRule,
    ModelRow,
    NamedList,
    Order,
    SettingRow,
)
from rarefind.desk.messages import (
    AuditEntry,
    BlockSummary,
    ChangeSummary,
    ListSummary,
    ModelSummary,
    OrderSummary,
    RuleSummary,
    RuleTrial,
    SettingSummary,
    TriedCase,
    WebhookSummary,
)
from rarefind.desk.webhooks import Webhook

if TYPE_CHECKING:
    from rarefind.desk.measures import HistoryTrial


def rule_summary(rule: DeskRule, waiting: Mapping[str, int] | None = None) -> RuleSummary:
    """A version of a rule; ``waiting`` are the numbers of changes by what they change."""
    return RuleSummary(
        name=rule.name,
        version=rule.version,
        text=rule.text,
        role=rule.role,
        weight=rule.weight,
        constants=rule.constants,
        lists=list(rule.lists),
        note=rule.note,
        person=rule.person,
        at=instant(rule.at),
        limits=rule.limits,
        sunset=rule.sunset,
        waiting=(waiting or {}).get(rule.name),
    )


def rule_trial(trial: HistoryTrial, views: Views) -> RuleTrial:
    """What a rule would have done."""
    measures, counts = trial.measures, trial.measures.counts
    return RuleTrial(
        rows=trial.rows,
        missing=trial.missing,
        days=measures.days,
        alerts=counts.alerts,
        hits=counts.hits,
        false_alerts=counts.false_alerts,
        added=counts.added,
        not_ripe=counts.not_ripe,
        denied=counts.denied,
        amount=views.amount(counts.money),
        amount_added=views.amount(counts.money_added),
        alerts_a_day=measures.alerts_a_day,
        precision=measures.precision,
        detection_rate=measures.detection_rate,
        false_alert_rate=measures.false_alert_rate,
        cases=[
            TriedCase(
                id=case.id,
                time=instant(case.time),
                entity=case.entity,
                amount=views.amount(case.amount),
                score=case.score,
                fraud=case.fraud,
                is_new=case.is_new,
            )
            for case in trial.cases
        ],
    )


def list_summary(found: NamedList, limit: int) -> ListSummary:
    """A named list with some of its values."""
    return ListSummary(
        name=found.name,
        person=found.person,
        changed=instant(found.changed),
        count=found.count,
        values=list(found.values),
        next=next_page(found.values, limit, str),
    )


def model_summary(model: ModelRow, waiting: Mapping[str, int] | None = None) -> ModelSummary:
    """A model; ``waiting`` are the numbers of changes by what they change."""
    return ModelSummary(
        digest=model.digest,
        name=model.name,
        estimator=model.estimator,
        columns=list(model.columns),
        own_threshold=model.own_threshold,
        threshold=model.threshold,
        state=model.state,
        added=instant(model.added),
        added_by=model.added_by,
        changed=instant(model.changed),
        changed_by=model.changed_by,
        waiting=(waiting or {}).get(model.digest),
    )


def waiting_changes(control: Control, kind: ChangeKind) -> dict[str, int]:
    """The numbers of changes that wait for a second person, by what they change."""
    return {each.subject: each.id for each in control.requests.waiting(kind)}


def change_summary(change: ChangeRequest) -> ChangeSummary:
    """A change that somebody has asked for."""
    return ChangeSummary(
        id=change.id,
        kind=change.kind,
        subject=change.subject,
        content=change.content,
        state=change.state,
        asked=instant(change.asked),
        asked_by=change.asked_by,
        answered=instant_or_none(change.answered),
        answered_by=change.answered_by,
    )


def setting_summary(row: SettingRow) -> SettingSummary:
    """A setting that can be changed."""
    change = row.change
    return SettingSummary(
        name=row.name,
        value=row.value,
        declared=row.declared,
        changed=None if change is None else instant(change.at),
        changed_by=None if change is None else change.person,
        waiting=None if row.waiting is None else row.waiting.id,
    )


def block_summary(block: Block, entity: str) -> BlockSummary:
    """A block of an entity of the kind that the desk checks."""
    return BlockSummary(
        id=block.id,
        entity=entity,
        key=block.entity,
        state=block.state,
        note=block.note,
        asked=instant(block.asked),
        asked_by=block.asked_by,
        answered=instant_or_none(block.answered),
        answered_by=block.answered_by,
        lifted=instant_or_none(block.lifted),
        lifted_by=block.lifted_by,
        lift_note=block.lift_note,
    )


def order_summary(order: Order) -> OrderSummary:
    """An order to the decision process."""
    return OrderSummary(
        id=order.id,
        kind=order.kind,
        entity=order.entity,
        key=order.key,
        state=order.state,
        asked=instant(order.asked),
        asked_by=order.asked_by,
        answered=instant_or_none(order.answered),
        answered_by=order.answered_by,
        ended=instant_or_none(order.ended),
        result=order.result,
    )


def audit_entry(row: AuditRow) -> AuditEntry:
    """A row of the log."""
    return AuditEntry(
        number=row.number,
        at=instant(row.at),
        person=row.person,
        action=row.action,
        subject=row.subject,
        detail=row.detail,
    )


def webhook_summary(webhook: Webhook) -> WebhookSummary:
    """An address that messages are sent to."""
    return WebhookSummary(
        id=webhook.id,
        url=webhook.url,
        events=list(webhook.events),
        made_by=webhook.made_by,
        made=instant(webhook.made),
        failures=webhook.failures,
        waiting=webhook.waiting,
        dead=webhook.dead,
    )
