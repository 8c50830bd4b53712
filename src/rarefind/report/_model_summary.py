"""What a person can read of a model: a tree, rules, or the columns that count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rarefind.conditions import ConditionClassifier
from rarefind.report._tree import draw_tree
from rarefind.rules.reasons import short
from rarefind.tables.rules import condition_texts

if TYPE_CHECKING:
    from rarefind.rules import Reason
    from rarefind.tables import TableModel

_MOST_COLUMNS, _MOST_CONDITIONS, _MOST_MODELS = 12, 20, 12

_HEADS = {
    "candidate": "model",
    "precision_at_k": "checks that are hits",
    "precision_at_k_sd": "± over folds",
    "average_precision_sd": "± over folds",
}
_HOW = {
    "GammaKNNClassifier": "A row ranks high when it lies nearer to known positives than to known "
    "negatives, column by column. There is no formula beyond that: the known rows are the model.",
    "LocalGammaKNNClassifier": "A row ranks high when it lies nearer to known positives than to "
    "known negatives, with a scale of its own in each region of the table.",
    "MLFPClassifier": "A row ranks high when it lies near known positives, in a distance that was "
    "learned to bring positives together.",
    "ME2Classifier": "Around each known positive lies a region without negatives; a row ranks high "
    "when it lies in such regions or near them.",
    "MetaAPClassifier": "A tree of yes-or-no questions. A row goes down from the top and ends in a "
    "leaf; leaves with a higher share of known positives come first.",
    "MetaAPForestClassifier": "Many trees of questions, each grown on other rows; a row's score is "
    "their mean.",
    "RandomizedForestClassifier": "Many deep trees of questions drawn at random; a row's score is "
    "the mean share of known positives in the leaves it ends in.",
    "TreeRankClassifier": "A tree of trees; leaves with a higher share of known positives come "
    "first.",
    "SGBAPClassifier": "Many small trees added up, each chosen to bring positives to the top of "
    "the list.",
    "NLBClassifier": "Small trees joined by a small network.",
    "ProjectionBoostingClassifier": "Many small trees added up, which may also ask for weighted "
    "sums of columns.",
    "ConditionClassifier": "A list of rules with weights. The score of a row is the sum of the "
    "weights of the rules that hold for it.",
    "RuleListClassifier": "Rules written by experts, with weights.",
    "AutoClassifier": "Several models were tried on rows held out for that; the best, or an "
    "average of the best, was kept.",
}


def summarize(model: TableModel, reasons: list[Reason]) -> tuple[dict[str, Any], str | None]:
    """What can be read of a model, and its tree as an SVG element if it has one."""
    estimator = model.estimator_
    name, best = _best_of(estimator)
    found: dict[str, Any] = {
        "estimator": type(estimator).__name__,
        "how": _HOW.get(type(estimator).__name__, ""),
        "leaderboard": _leaderboard(estimator),
        "better_than_random": bool(getattr(estimator, "beats_chance_", True)),
        "best": None if best is estimator else str(name),
        "best_how": "" if best is estimator else _how(str(name), best),
        "tree": None,
        "conditions": None,
        "importances": None,
        "shares": None,
        "reasons": None,
    }
    svg = None
    # A member of AutoClassifier may have made columns for itself, which have no names in the table.
    if best.n_features_in_ == len(model.encoder_.original_columns_):
        if hasattr(best, "tree_") and hasattr(best, "to_svg"):
            svg, found["tree"] = draw_tree(model, best)
        if isinstance(best, ConditionClassifier):
            found["conditions"] = _conditions(model, best)
        found["importances"] = _importances(model, best)
    if found["conditions"] is None and found["importances"] is None:
        found["shares"] = _measured(model)
        if svg is None and found["shares"] is None:
            found["reasons"] = _columns_in_reasons(reasons)
    return found, svg


def _best_of(estimator: Any) -> tuple[str, Any]:
    """The best member of an AutoClassifier; any other model is its own best."""
    members = getattr(estimator, "members_", None)
    if not isinstance(members, dict) or not members:
        return type(estimator).__name__, estimator
    best = getattr(estimator, "best_name_", None)
    return (str(best), members[best]) if best in members else next(iter(members.items()))


def _how(name: str, estimator: Any) -> str:
    """How a candidate ranks: plain XGBoost may be run by a class that can do more."""
    if name.startswith("xgboost"):
        return "Many small trees added up: gradient boosting by XGBoost."
    return _HOW.get(type(estimator).__name__, "")


def _leaderboard(estimator: Any) -> dict[str, Any] | None:
    table = getattr(estimator, "leaderboard_", None)
    if not isinstance(table, pd.DataFrame):
        return None
    shown = table.head(_MOST_MODELS)
    heads = [str(name) for name in shown.columns]
    return {
        "columns": [_HEADS.get(name, name).replace("_", " ") for name in heads],
        "rows": [[plain(value) for value in row] for row in shown.itertuples(index=False)],
        "more": len(table) - len(shown),
    }


def _conditions(model: TableModel, estimator: Any) -> dict[str, Any]:
    texts = condition_texts(model.encoder_, *estimator.condition_branches())
    table = pd.DataFrame(estimator.conditions_).assign(rule=texts)
    order = table["weight"].abs().sort_values(ascending=False, kind="stable").index
    names = ("weight", "precision", "precision_low", "precision_high", "recall", "lift")
    rows = [
        {"rule": str(row["rule"]), **{name: plain(row[name]) for name in names}}
        for row in table.loc[order[:_MOST_CONDITIONS]].to_dict("records")
    ]
    return {"rules": rows, "more": len(table) - len(rows)}


def _importances(model: TableModel, estimator: Any) -> list[dict[str, Any]] | None:
    """Share of each column of the table in the gain of the model's splits."""
    shares = getattr(estimator, "feature_importances_", None)
    if shares is None:
        return None
    by_column = pd.Series(shares).groupby(np.array(model.encoder_.original_columns_)).sum()
    return _largest(by_column)


def _measured(model: TableModel) -> list[dict[str, Any]] | None:
    """Share of the score that each column carries, as the fit measured it."""
    shares = getattr(model, "column_shares_", None)
    return _largest(pd.Series(shares)) if shares else None


def _columns_in_reasons(reasons: list[Reason]) -> dict[str, Any]:
    """Share of each column in the reasons of some rows, for a model without weights."""
    carried: dict[str, float] = {}
    for reason in reasons:
        for condition in reason.raising:
            carried[condition.feature] = carried.get(condition.feature, 0.0) + condition.weight
    total = sum(carried.values()) or 1.0
    shares = {name: weight / total for name, weight in carried.items()}
    return {"cases": len(reasons), "columns": _largest(pd.Series(shares, dtype=float))}


def _largest(shares: pd.Series[float]) -> list[dict[str, Any]]:
    shares = shares.sort_values(ascending=False, kind="stable")
    first = shares[shares > 0].head(_MOST_COLUMNS)
    rows: list[dict[str, Any]] = [
        {"column": str(name), "share": float(value)} for name, value in first.items()
    ]
    others = int((shares > 0).sum()) - len(rows)
    if others > 0:
        rest = max(0.0, float(shares.sum() - first.sum()))
        rows.append({"column": f"{others} other columns", "share": rest})
    return rows


def plain(value: Any) -> Any:
    """A value for JSON: None for numbers that are not finite, other types as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else short(value)
