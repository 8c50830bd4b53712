"""From transactions to answers: in one order, and stored before anybody is told."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from rarefind.data.clock import nanoseconds
from rarefind.data.histories import Undo
from rarefind.desk.clock import DeskClock
from rarefind.desk.decision.book import RuleBook
from rarefind.desk.decision.memory import Memory, open_memory
from rarefind.desk.decision.random_share import RandomShare
from rarefind.desk.decision.settings import DeskModel, Settings
from rarefind.desk.features import FeatureState
from rarefind.desk.ledger import Ledger, LedgerUnavailable, LedgerUnknown
from rarefind.desk.records import (
    AlertKind,
    Answer,
    Entry,
    LabelEntry,
    Outcome,
    Refusal,
    Transaction,
)


@dataclass
class Prepared:
    """Transactions that are decided and not stored yet, and how to take them back."""

    answers: list[Answer | Refusal]
    entries: list[Entry] = field(default_factory=list)
    labels: list[LabelEntry] = field(default_factory=list)
    undos: list[Undo] = field(default_factory=list)
    labels_read: int | None = None


class Decider:
    """Decides about transactions, one batch at a time.

    ``decide`` does it all. A server that must not wait for the disk calls :meth:`prepare`, then
    :meth:`commit` elsewhere, then :meth:`finish`, or :meth:`abort` if it could not be stored.

    Parameters
    ----------
    state : FeatureState
    ledger : Ledger
    secret : bytes
        At most 64, kept from senders: it decides who is drawn at random.
    clock : DeskClock, default=DeskClock()
    """

    def __init__(
        self,
        state: FeatureState,
        ledger: Ledger,
        *,
        secret: bytes,
        clock: DeskClock | None = None,
    ) -> None:
        schema = state.schema
        self.state, self.ledger, self.clock = state, ledger, clock or DeskClock()
        self.rules = RuleBook()
        self.blocked: frozenset[str] = frozenset()
        self.model: DeskModel | None = None
        self.model_failures = 0
        self._earlier_failures = 0
        self.share = RandomShare(schema.alerts, secret)
        self._secret = secret
        self._checked = list(schema.entities).index(schema.alerts.entity)
        self._ahead = nanoseconds("limits.ahead", schema.limits.ahead)
        self._open: Prepared | None = None
        self._in_doubt = False

    def use(self, settings: Settings) -> None:
        """Decide by other rules, blocked entities, settings and another model from now on."""
        if settings.rules is not self.rules:
            self._earlier_failures += self.rules.failures.total()
        self.rules, self.blocked, self.model = settings.rules, settings.blocked, settings.model
        schema = settings.schema
        if schema is not None and schema != self.state.schema:
            self.state.use(schema)
            self.share.use(schema.alerts)

    @property
    def rule_failures(self) -> int:
        """How often a rule could not be run since the start."""
        return self._earlier_failures + self.rules.failures.total()

    def use_memory(self, memory: Memory) -> None:
        """Go on from what is remembered up to the ledger's last row."""
        self.state, self.share = memory.state, memory.share

    def restore(self, snapshots: Path | None = None) -> int:
        """Remember what the ledger has, from the newest good snapshot of a folder on.

        Returns the number of rows that were read.
        """
        memory, _ = open_memory(self.state.schema, self._secret, self.ledger, snapshots)
        count = memory.follow(self.ledger)
        self.use_memory(memory)
        return count

    def decide(self, batch: Sequence[Transaction]) -> list[Answer | Refusal]:
        """Decide, store and answer; what could not be stored leaves everything as it was."""
        prepared = self.prepare(batch)
        return self._store(prepared).answers

    def add_labels(
        self, labels: Iterable[tuple[str, bool | None, str]], *, labels_read: int | None = None
    ) -> int:
        """Learn labels as identifier, fraud and source; returns how many were of known rows.

        A label that takes an earlier one back has None for fraud. With ``labels_read``, the ledger
        keeps in the same commit that the desk's labels up to that number were seen.
        """
        given = list(labels)
        prepared = self._begin([])
        prepared.labels_read = labels_read
        now, sequence = self.clock.now(), self.ledger.last.sequence
        try:
            known = self.ledger.find([id for id, _, _ in given]) if given else {}
            for id, fraud, source in given:
                entry = known.get(id)
                if entry is None:
                    continue
                sequence += 1
                if entry.body:  # not erased
                    prepared.undos.append(
                        self.state.add_label(id, entry.entities, entry.time, bool(fraud))
                    )
                prepared.labels.append(LabelEntry(sequence, id, now, fraud, source))
        except BaseException:
            self.abort(prepared)
            raise
        return len(self._store(prepared).labels)

    def prepare(self, batch: Sequence[Transaction]) -> Prepared:
        """Decide about transactions and add them to the histories; nothing is stored yet."""
        prepared = self._begin([])
        try:
            stored = self.ledger.find([each.id for each in batch]) if batch else {}
            own = dict(stored)
            now, sequence = self.clock.now(), self.ledger.last.sequence
            for transaction in batch:
                before = own.get(transaction.id)
                refusal = self._refusal(transaction, before, now)
                if refusal is not None:
                    prepared.answers.append(refusal)
                    continue
                if before is None:
                    sequence += 1
                    before = own[transaction.id] = self._entry(transaction, sequence, now)
                    prepared.undos.append(self.state.add(transaction))
                    prepared.entries.append(before)
                    self.share.add(transaction.time)
                prepared.answers.append(_answer(before))
        except BaseException:
            self.abort(prepared)
            raise
        return prepared

    def commit(self, prepared: Prepared) -> None:
        """Store what was prepared.

        Raises
        ------
        LedgerUnavailable
            If nothing of it is stored: abort it.
        LedgerUnknown
            If it cannot be found out now whether it is. Neither finish nor abort it: the next
            batch begins by finding out.
        """
        if not prepared.entries and not prepared.labels and prepared.labels_read is None:
            return
        try:
            self.ledger.append(prepared.entries, prepared.labels, labels_read=prepared.labels_read)
        except LedgerUnknown as error:
            self._in_doubt = True
            try:
                is_stored = self._is_stored(prepared)
            except LedgerUnavailable as still:
                raise LedgerUnknown(str(still)) from error
            if not is_stored:
                raise LedgerUnavailable(str(error)) from error

    def finish(self, prepared: Prepared) -> list[Answer | Refusal]:
        """Return the answers, after what was prepared was stored."""
        self._check_open(prepared)
        self._open = None
        return prepared.answers

    def needs_rest(self, waiting: int) -> bool:
        """Whether ``rest`` should be called before the next batch; see ``Ledger.needs_rest``."""
        return self.ledger.needs_rest(waiting)

    def rest(self) -> None:
        """Do a little of what the ledger would have to do at once later."""
        self.ledger.rest()

    def abort(self, prepared: Prepared) -> None:
        """Take back what was prepared and not stored."""
        self._check_open(prepared)
        for undo in reversed(prepared.undos):
            self.state.undo(undo)
        for entry in prepared.entries:
            self.share.undo(entry.time)
        self._open = None

    def settle(self) -> None:
        """Finish or abort a batch whose commit was lost, as the ledger says by now."""
        if self._open is not None and self._in_doubt:
            (self.finish if self._is_stored(self._open) else self.abort)(self._open)
        if self._open is not None:
            raise RuntimeError("A batch is prepared already: finish or abort it first.")

    def _begin(self, answers: list[Answer | Refusal]) -> Prepared:
        self.settle()
        self._open = Prepared(answers)
        return self._open

    def _is_stored(self, prepared: Prepared) -> bool:
        """Ask the ledger whether a batch whose commit was lost is there."""
        found = self.ledger.recover()
        rows = prepared.labels or prepared.entries
        if rows:
            is_stored = found.sequence >= rows[-1].sequence
        else:
            is_stored = self.ledger.labels_read == prepared.labels_read
        self._in_doubt = False
        return is_stored

    def _check_open(self, prepared: Prepared) -> None:
        if self._open is not prepared:
            raise RuntimeError("This batch is not the one that is prepared.")

    def _store(self, prepared: Prepared) -> Prepared:
        try:
            self.commit(prepared)
        except LedgerUnknown:
            raise
        except BaseException:
            self.abort(prepared)
            raise
        self.finish(prepared)
        return prepared

    def _refusal(self, sent: Transaction, before: Entry | None, now: int) -> Refusal | None:
        own = self.state.schema.transaction
        if before is not None:
            if before.body == sent.body:
                return None
            detail = f"Another transaction has the identifier {sent.id!r}: send one of its own."
            return Refusal("conflict", detail, own.id)
        if sent.time < self.state.earliest:
            late = self.state.schema.limits.late
            detail = (
                f"The time is more than {late} before the newest transaction's: it is too late."
            )
            return Refusal("late", detail, own.time)
        if sent.time > now + self._ahead:
            ahead = self.state.schema.limits.ahead
            detail = f"The time is more than {ahead} ahead of this machine's clock: correct it."
            return Refusal("ahead", detail, own.time)
        return None

    def _entry(self, transaction: Transaction, sequence: int, now: int) -> Entry:
        features = self.state.describe(transaction)
        record: dict[str, Any] = dict(zip(self.state.names, features.tolist(), strict=True))
        record |= transaction.values
        return Entry(
            sequence,
            transaction.id,
            transaction.time,
            now,
            transaction.amount,
            transaction.entities,
            transaction.body,
            features.astype("<f8", copy=False).tobytes(),
            self._outcome(transaction, record),
        )

    def _outcome(self, transaction: Transaction, record: Mapping[str, Any]) -> Outcome:
        book, model = self.rules, self.model
        blocking = book.fire(book.blocking, record)
        scoring = book.fire(book.scoring, record)
        shadow = book.fire(book.shadow, record)
        by = ""
        if not transaction.accepted:
            by = "terminal"
        elif transaction.entities[self._checked] in self.blocked:
            by = "blocked"
        elif blocking:
            by = blocking[0].name
        score = self._score(record)
        propensity = self.share.propensity(transaction.time)
        alert: AlertKind = ""
        if scoring or (score is not None and model is not None and score >= model.threshold):
            alert = "risk"
        elif self.share.is_drawn(transaction.id, propensity):
            alert = "random"
        decision: Literal["accept", "deny"] = "deny" if by else "accept"
        return Outcome(
            decision,
            by,
            tuple(rule.name for rule in (*blocking, *scoring, *shadow)),
            score,
            (score or 0.0) + sum(rule.weight or 0.0 for rule in scoring),
            alert,
            propensity,
            book.digest,
            model.digest if model is not None and score is not None else "",
        )

    def _score(self, record: Mapping[str, Any]) -> float | None:
        """The model's score; None without one, or where it fails: then rules alone decide."""
        if self.model is None:
            return None
        try:
            score = float(self.model.score(record))
        except Exception:
            score = math.nan
        if not math.isfinite(score):
            self.model_failures += 1
            return None
        return score


def _answer(entry: Entry) -> Answer:
    outcome = entry.outcome
    return Answer(entry.id, outcome.decision, outcome.by, outcome.score, outcome.alert)
