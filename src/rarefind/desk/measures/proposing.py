"""Rules proposed from confirmed frauds: learnt on the earlier weeks, judged on the later ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl

from rarefind._core.types import Bools, Ints
from rarefind.desk.control import Control, rule_columns
from rarefind.desk.measures._counts import RuleCounts, RuleMeasures, Totals
from rarefind.desk.measures._history import History, HistoryRows
from rarefind.desk.measures._others import Others
from rarefind.desk.schema import Schema
from rarefind.rules import Rule, RuleError

__all__ = ["TooFewFrauds", "propose"]

#: The share of the frauds that is learnt from; the later ones judge.
_LEARNT = 0.7
_FEWEST_FRAUDS, _MOST_GENUINE = 20, 100_000
_MOST_RULES = 10


class TooFewFrauds(ValueError):  # noqa: N818
    """There are not enough ripe frauds to learn from, or to judge by; the sentence says so."""


def propose(
    history: History, schema: Schema, control: Control, seed: int = 0
) -> dict[str, RuleMeasures]:
    """Return rules with what they are worth on rows that they were not learnt from.

    Numbers, truths and features are learnt from; a rule that finds nothing later that the rules
    and models in force do not find is left out. The best come first: most hits that it adds, then
    fewest false alerts.

    Parameters
    ----------
    history : History
        It is read a batch at a time.
    schema : Schema
    control : Control
    seed : int

    Raises
    ------
    TooFewFrauds
    """
    known = _ripe_rows(history)
    earlier, later = _split(known)
    if known.fraud[earlier].sum() < _FEWEST_FRAUDS or not known.fraud[later].any():
        raise TooFewFrauds(
            f"There are {int(known.fraud.sum()):,} ripe frauds among {known.rows:,} transactions; "
            f"to propose rules it takes at least {_FEWEST_FRAUDS} in the earlier weeks, and some "
            "in the later ones."
        )
    rng = np.random.default_rng(seed)
    learnt = _fewer(rng, earlier, known.fraud[earlier])
    texts = _learn(history, schema, known.sequence[learnt], known.fraud[learnt], seed)
    rules = _readable(control, texts)
    return _judge(history, np.sort(known.sequence[later]), rules, Others(control))


class _RipeRows(NamedTuple):
    """Rows whose label says something, in the order of the ledger; ``rows`` counts all."""

    sequence: Ints
    time: Ints
    fraud: Bools
    rows: int


def _ripe_rows(history: History) -> _RipeRows:
    found, rows = [], 0
    for batch in history.batches(()):
        rows += len(batch)
        judged = batch.judged
        found.append(
            (
                batch.values("sequence")[judged],
                batch.values("time")[judged],
                batch.labels.fraud[judged],
            )
        )
    empty = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0, dtype=bool))
    sequence, time, fraud = map(np.concatenate, zip(*(found or [empty]), strict=True))
    return _RipeRows(sequence, time, fraud, rows)


def _split(known: _RipeRows) -> tuple[Ints, Ints]:
    """Places in the order of time, parted so that most frauds are in the first part."""
    order = np.argsort(known.time, kind="stable")
    frauds = np.flatnonzero(known.fraud[order])
    cut = int(frauds[int(_LEARNT * len(frauds))]) if len(frauds) else 0
    return order[:cut], order[cut:]


def _fewer(rng: np.random.Generator, rows: Ints, fraud: Bools) -> Ints:
    """All frauds, and not too many of the others."""
    genuine = rows[~fraud]
    if len(genuine) > _MOST_GENUINE:
        genuine = rng.choice(genuine, _MOST_GENUINE, replace=False)
    return np.sort(np.concatenate([rows[fraud], genuine]))


def _learn(history: History, schema: Schema, sequences: Ints, fraud: Bools, seed: int) -> list[str]:
    from rarefind.conditions import ConditionClassifier

    kinds = rule_columns(schema)
    names = [name for name, kind in kinds.items() if kind in ("number", "truth")]
    tables, found = [], []
    for rows in history.batches(names):
        some = rows.at(_is_in(rows, sequences))
        tables.append(some.record(names))
        found.append(some.values("sequence"))
    table = pl.concat(tables)
    X = pd.DataFrame({name: table[name].cast(float).to_numpy() for name in names})
    # Somebody may have been erased meanwhile.
    kept = np.isin(sequences, np.concatenate(found))
    model = ConditionClassifier(
        max_conditions=_MOST_RULES, measure_size=None, pos_label=True, random_state=seed
    )
    model.fit(X, fraud[kept])
    conditions = model.conditions_
    return [str(text) for text in conditions["rule"][conditions["weight"] > 0]]


def _is_in(rows: HistoryRows, sequences: Ints) -> Bools:
    """Which rows are among some, given in order."""
    own = rows.values("sequence")
    place = np.searchsorted(sequences, own)
    return np.asarray(np.append(sequences, -1)[place] == own)


def _readable(control: Control, texts: Sequence[str]) -> dict[str, Rule]:
    found = {}
    for text in texts:
        try:
            rule = control.rules.check(text)
        except RuleError:
            continue  # such as a truth that is compared with a number
        found[rule.text] = rule
    return found


def _judge(
    history: History, sequences: Ints, rules: dict[str, Rule], others: Others
) -> dict[str, RuleMeasures]:
    now, totals = others.now(), Totals()
    counts = dict.fromkeys(rules, RuleCounts())
    columns = {name for rule in rules.values() for name in rule.columns}
    for batch in history.batches(columns | now.columns):
        rows = batch.at(_is_in(batch, sequences))
        totals.add(rows)
        raised = now.raised(rows)
        for text, rule in rules.items():
            counts[text] += RuleCounts.of(rows, rows.fires(rule), raised)
    found = {text: totals.measures(own) for text, own in counts.items()}
    useful = [(text, one) for text, one in found.items() if _is_useful(one)]
    useful.sort(key=lambda each: (-each[1].counts.added, each[1].counts.false_alerts))
    return dict(useful)


def _is_useful(one: RuleMeasures) -> bool:
    """Whether a rule adds hits, and fires on frauds more often than anything at random would."""
    base = one.frauds / max(one.frauds + one.genuine, 1)
    return one.counts.added > 0 and one.precision_interval[0] > base
