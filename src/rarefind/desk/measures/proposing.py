"""Rules proposed from confirmed frauds: learnt on the earlier weeks, judged on the later ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from rarefind._core.types import Bools, Ints
from rarefind.desk.control import Control, rule_columns
from rarefind.desk.measures._counts import RuleCounts, RuleMeasures, Totals
from rarefind.desk.measures._history import HistoryRows
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
    rows: HistoryRows, schema: Schema, control: Control, seed: int = 0
) -> dict[str, RuleMeasures]:
    """Return rules with what they are worth on rows that they were not learnt from.

    Numbers, truths and features are learnt from; a rule that finds nothing later that the rules
    and models in force do not find is left out, and so is one whose precision may be that of a
    random choice. The best come first: most hits that it adds, then
    fewest false alerts.

    Parameters
    ----------
    rows : HistoryRows
    schema : Schema
    control : Control
    seed : int

    Raises
    ------
    TooFewFrauds
    """
    known = np.flatnonzero(rows.judged)
    earlier, later = _split(rows, known[np.argsort(rows.values("time")[known], kind="stable")])
    fraud = rows.labels.fraud
    if fraud[earlier].sum() < _FEWEST_FRAUDS or not fraud[later].any():
        raise TooFewFrauds(
            f"There are {int(fraud[known].sum()):,} ripe frauds among {len(rows):,} transactions; "
            f"to propose rules it takes at least {_FEWEST_FRAUDS} in the earlier weeks, and some "
            "in the later ones."
        )
    rng = np.random.default_rng(seed)
    texts = _learn(rows, schema, _fewer(rng, earlier, fraud[earlier]), seed)
    return _judge(rows.at(_mask(len(rows), later)), _readable(control, texts), Others(control))


def _split(rows: HistoryRows, known: Ints) -> tuple[Ints, Ints]:
    """Rows in the order of time, parted so that most frauds are in the first part."""
    frauds = np.flatnonzero(rows.labels.fraud[known])
    cut = int(frauds[int(_LEARNT * len(frauds))]) if len(frauds) else 0
    return known[:cut], known[cut:]


def _fewer(rng: np.random.Generator, rows: Ints, fraud: Bools) -> Ints:
    """All frauds, and not too many of the others."""
    genuine = rows[~fraud]
    if len(genuine) > _MOST_GENUINE:
        genuine = rng.choice(genuine, _MOST_GENUINE, replace=False)
    return np.sort(np.concatenate([rows[fraud], genuine]))


def _learn(rows: HistoryRows, schema: Schema, places: Ints, seed: int) -> list[str]:
    from rarefind.conditions import ConditionClassifier

    kinds = rule_columns(schema)
    names = [name for name, kind in kinds.items() if kind in ("number", "truth")]
    table = rows.record(names)[places.tolist()]
    X = pd.DataFrame({name: table[name].cast(float).to_numpy() for name in names})
    model = ConditionClassifier(
        max_conditions=_MOST_RULES, measure_size=None, pos_label=True, random_state=seed
    )
    model.fit(X, rows.labels.fraud[places])
    conditions = model.conditions_
    return [str(text) for text in conditions["rule"][conditions["weight"] > 0]]


def _readable(control: Control, texts: Sequence[str]) -> dict[str, Rule]:
    found = {}
    for text in texts:
        try:
            rule = control.rules.check(text)
        except RuleError:
            continue  # such as a truth that is compared with a number
        found[rule.text] = rule
    return found


def _judge(rows: HistoryRows, rules: dict[str, Rule], others: Others) -> dict[str, RuleMeasures]:
    totals = Totals()
    totals.add(rows)
    raised = others.raised(rows)
    found = {
        text: totals.measures(RuleCounts.of(rows, rows.fires(rule), raised))
        for text, rule in rules.items()
    }
    useful = [(text, one) for text, one in found.items() if _is_useful(one)]
    useful.sort(key=lambda each: (-each[1].counts.added, each[1].counts.false_alerts))
    return dict(useful)


def _is_useful(one: RuleMeasures) -> bool:
    """Whether a rule adds hits, and fires on frauds more often than anything at random would."""
    base = one.frauds / max(one.frauds + one.genuine, 1)
    return one.counts.added > 0 and one.precision_interval[0] > base


def _mask(length: int, places: Ints) -> Bools:
    found = np.zeros(length, dtype=bool)
    found[places] = True
    return found
