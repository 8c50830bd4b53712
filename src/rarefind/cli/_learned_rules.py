"""Rules that were learned: which of them are alerts, as text, JSON and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

    from rarefind.rules import RuleSet
    from rarefind.tables import TableModel


class LearnedRules(NamedTuple):
    """The rules of a model, with what each is worth.

    A rule is an alert if it raises the score and the 95 % interval of its precision lies above the
    share of positives among the rows it is measured on. A rule that holds for nearly all rows can
    raise the score and still find fewer positives than checks at random.
    """

    rules: RuleSet
    measures: pd.DataFrame  # a row a rule, as in TableModel.conditions, and whether it is an alert
    unseen: bool  # measured on rows that nothing was learned from

    @classmethod
    def of(cls, model: TableModel, table: pd.DataFrame) -> LearnedRules:
        """Measure the rules, on the rows they were learned from if none were left out for that."""
        from rarefind.rules import Rule, RuleSet

        measures = model.conditions()
        weights = measures["weight"].tolist()
        rules = RuleSet(
            [
                Rule(rule.text, name=rule.name, weight=weight)
                for rule, weight in zip(model.rules(), weights, strict=True)
            ]
        )
        unseen = bool(measures["precision"].notna().any())
        if not unseen:
            positive = (table[model.target] == model.positive_).to_numpy(dtype=bool)
            found = rules.measure(model.read(table), positive, pos_label=True).rules
            base_rate = positive.mean()
            for name in ("precision", "precision_low", "precision_high", "recall", "lift"):
                measures[name] = found[name].to_numpy()
            measures["lift_low"] = measures["precision_low"] / base_rate
            measures["lift_high"] = measures["precision_high"] / base_rate
            measures["support"] = found["alerts"].to_numpy() / len(table)
        is_alert = (measures["weight"] > 0) & (measures["lift_low"] > 1)
        return cls(rules, measures.assign(alert=is_alert), unseen)

    @property
    def alerts(self) -> RuleSet:
        """The rules that are alerts."""
        from rarefind.rules import RuleSet

        is_alert = self.measures["alert"]
        return RuleSet([rule for rule, alert in zip(self.rules, is_alert, strict=True) if alert])

    def to_text(self) -> str:
        """A file of the alerts with their measures as remarks; other rules are remarks only."""
        from rarefind.rules import RuleSet

        alerts, others = [], []
        for rule, said in zip(self.rules, self.measures.to_dict("records"), strict=True):
            if said["alert"]:
                alerts.append(f"# {self._remark(said)}\n{RuleSet([rule]).to_text()}")
            else:
                one_line = " ".join(str(said["rule"]).split())
                others.append(f"# not an alert: {one_line} ({self._remark(said)})\n")
        return "".join([*alerts, *others])

    def _remark(self, said: dict[Any, Any]) -> str:
        low, high = said["precision_low"], said["precision_high"]
        where = "" if self.unseen else " on the rows it was learned from"
        return (
            f"weight {said['weight']:g}, precision {said['precision']:.2f} ({low:.2f} to "
            f"{high:.2f}), recall {said['recall']:.2f}, lift {said['lift']:.3g}{where}"
        )
