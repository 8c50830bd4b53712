"""Branches of the ensembles that others have fitted: XGBoost, LightGBM and scikit-learn."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import xgboost
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.tree import BaseDecisionTree
from sklearn.utils.validation import check_is_fitted

from rarefind.rules.branches import (
    Branch,
    BranchList,
    Split,
    Test,
    below_in_32_bits,
    branches_of,
    xgboost_branches,
)


def break_up(ensemble: Any) -> BranchList:
    """All branches of a fitted ensemble of trees, in the columns it was fitted to."""
    ensemble = unfreeze(ensemble)
    if hasattr(ensemble, "fit"):
        check_is_fitted(ensemble)
    if hasattr(ensemble, "tree_branches"):  # rarefind's own
        broken: BranchList = ensemble.tree_branches()
        return broken
    if isinstance(ensemble, xgboost.XGBModel):
        if not np.isnan(ensemble.missing):
            raise ValueError(
                f"XGBoost with missing={ensemble.missing} cannot be broken into conditions: put "
                "NaN in the place of missing values."
            )
        ensemble = ensemble.get_booster()
    if isinstance(ensemble, xgboost.Booster):
        return BranchList(_of_xgboost(ensemble), [])
    booster = getattr(ensemble, "booster_", ensemble)
    if hasattr(booster, "dump_model"):
        return BranchList(_of_lightgbm(booster), [])
    trees = _sklearn_trees(ensemble)
    if trees:
        return BranchList([branch for tree in trees for branch in _of_sklearn(*tree)], [])
    kind = type(ensemble.steps[-1][1] if isinstance(ensemble, Pipeline) else ensemble).__name__
    raise ValueError(
        f"{kind} cannot be broken into conditions: known are XGBoost, LightGBM, scikit-learn's "
        "trees, forests and GradientBoosting, and rarefind's trees and boosters of trees."
    )


def _of_xgboost(booster: xgboost.Booster) -> list[Branch]:
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    model = learner["gradient_booster"]
    # DART keeps its trees one level deeper.
    model = model["gbtree"]["model"] if "gbtree" in model else model.get("model", {})
    if "trees" not in model:
        raise ValueError("A linear booster has no trees to break into conditions.")
    best = booster.attributes().get("best_iteration")
    trees = model["trees"]
    if best is not None:  # what XGBoost predicts with after an early stop
        trees = trees[: model["iteration_indptr"][int(best) + 1]]
    return [
        branch
        for tree in trees
        for branch in xgboost_branches(tree, lambda column, limit: below_in_32_bits(limit))
    ]


def unfreeze(ensemble: Any) -> Any:
    """What scikit-learn's FrozenEstimator holds; anything else as it is."""
    return ensemble.estimator if isinstance(ensemble, FrozenEstimator) else ensemble


def check_same_columns(ensemble: Any, n_features: int, names: list[str] | None) -> None:
    """Refuse a table that is not of the columns the ensemble was fitted to."""
    ensemble = unfreeze(ensemble)
    fitted = getattr(ensemble, "n_features_in_", n_features)
    if isinstance(ensemble, xgboost.Booster):
        fitted = ensemble.num_features()
    elif hasattr(ensemble, "num_feature"):  # LightGBM's booster
        fitted = ensemble.num_feature()
    if fitted != n_features:
        raise ValueError(f"The estimator was fitted to {fitted} columns, and X has {n_features}.")
    known = getattr(ensemble, "feature_names_in_", None)
    if known is not None and names is not None and list(map(str, known)) != names:
        raise ValueError(
            "The columns of X are not those the estimator was fitted to, in the same order."
        )


def _sklearn_trees(ensemble: Any) -> list[tuple[Any, Any]]:
    """Trees, and the columns that each has seen: None for all."""
    if isinstance(ensemble, BaseDecisionTree):
        return [(ensemble.tree_, None)]
    members = np.ravel(getattr(ensemble, "estimators_", []))
    if not members.size or not all(isinstance(member, BaseDecisionTree) for member in members):
        return []
    seen = getattr(ensemble, "estimators_features_", [None] * members.size)
    return [(member.tree_, columns) for member, columns in zip(members, seen, strict=True)]


def _of_sklearn(tree: Any, columns: Any) -> list[Branch]:
    missing_left = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count, dtype=bool))

    def split(node: int) -> Split:
        # Rows are rounded to 32 bits, thresholds are not.
        above = np.nextafter(_round_down(tree.threshold[node]), np.float32(np.inf))
        limit = below_in_32_bits(float(above))
        left, column = bool(missing_left[node]), int(tree.feature[node])
        if columns is not None:
            column = int(columns[column])
        return column, Test(high=limit, missing=left), Test(low=limit, missing=not left)

    return branches_of(tree.children_left, tree.children_right, split)


def _round_down(value: float) -> np.float32:
    """The largest 32-bit number that is no more than the value."""
    near = np.float32(value)
    return near if float(near) <= value else np.nextafter(near, np.float32(-np.inf))


# What LightGBM takes for 0.
_ZERO = 1e-35


def _of_lightgbm(booster: Any) -> list[Branch]:
    last = booster.best_iteration if booster.best_iteration > 0 else None
    dumped = booster.dump_model(num_iteration=last)
    return [
        branch
        for tree in dumped["tree_info"]
        for branch in _of_lightgbm_tree(tree["tree_structure"])
    ]


def _of_lightgbm_tree(root: dict[str, Any]) -> list[Branch]:
    nodes: list[dict[str, Any]] = [root]
    left: list[int] = []
    right: list[int] = []
    for node in nodes:  # grows while it is read: children are put at the end
        if "left_child" not in node:
            left.append(-1)
            right.append(-1)
            continue
        left.append(len(nodes))
        right.append(len(nodes) + 1)
        nodes += [node["left_child"], node["right_child"]]
    return branches_of(left, right, lambda number: _lightgbm_split(nodes[number]))


def _lightgbm_split(node: dict[str, Any]) -> Split:
    column, kind = int(node["split_feature"]), node["missing_type"]
    if node["decision_type"] == "==":
        levels = frozenset(float(level) for level in str(node["threshold"]).split("||"))
        # Missing is category 0 unless missing values were seen; then it is in no set.
        missing = kind != "NaN" and 0.0 in levels
        return (
            column,
            Test(levels=levels, missing=missing),
            Test(levels=levels, negated=True, missing=not missing),
        )
    limit, default_left = float(node["threshold"]), bool(node["default_left"])
    if kind == "Zero":
        raise ValueError(
            "LightGBM with zero_as_missing cannot be broken into conditions: fit it without."
        )
    missing = default_left if kind == "NaN" else limit >= -_ZERO  # else missing is 0
    return column, Test(high=limit, missing=missing), Test(low=limit, missing=not missing)
