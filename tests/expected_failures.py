"""The estimators that scikit-learn's checks run on, each with the checks it cannot pass and why.

The first of each class meets all of them, the others those of ``SENSITIVE``: what is left out there
is about the class and not its parameters.
"""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import RandomForestClassifier

from rarefind.auto import AutoClassifier
from rarefind.boosting import (
    LambdaMARTClassifier,
    NLBClassifier,
    ProjectionBoostingClassifier,
    RankBoostClassifier,
    SGBAPClassifier,
)
from rarefind.conditions import ConditionClassifier, RuleListClassifier
from rarefind.neighbors import (
    ClassWeightedKNNClassifier,
    DistanceWeightedKNNClassifier,
    DuplicatedKNNClassifier,
    GammaKNNClassifier,
    IMLClassifier,
    KRNNClassifier,
    LocalGammaKNNClassifier,
    ME2Classifier,
    MLFPClassifier,
)
from rarefind.streams import ONLBClassifier, OnlineBoostingClassifier
from rarefind.trees import (
    MetaAPClassifier,
    MetaAPForestClassifier,
    RandomizedForestClassifier,
    TreeRankClassifier,
)

# scikit-learn lists the same check for its own TunedThresholdClassifierCV.
_OWN_THRESHOLD = {
    "check_classifiers_train": (
        "the threshold is tuned or given, not where the probability is one half, "
        "so predict is not argmax of predict_proba"
    ),
}

# Weights of trees are scaled to 1 a row on average, so that shrinkage and smoothing, which speak of
# rows, do not depend on their unit; and repeated rows fall into several folds or are drawn apart.
_WEIGHTS = {
    "check_sample_weight_equivalence_on_dense_data": (
        "a row of weight 2 is one row to folds, bootstraps and the mean weight, a repeated one two"
    ),
}

_TUNED_ON_ROWS_AS_THEY_ARE = {
    "check_class_weight_classifiers": (
        "weights of classes are for learning: the threshold is tuned on the rows as they are"
    ),
}

_PURE_LEAVES = {
    "check_class_weight_classifiers": (
        "leaves are of one class, so that without smoothing weights of classes do not change them"
    ),
}

# Scikit-learn lists the same for its own SGDClassifier.
_A_STEP_A_ROW = {
    "check_sample_weight_equivalence_on_dense_data": (
        "each row is one step, so a row of weight 2 is one long step and a repeated row two"
    ),
}

_RULES = {"high": "x0 > 0.5", "low": "x0 <= -0.5"}

CHECKED: list[tuple[Any, dict[str, str]]] = [
    (GammaKNNClassifier(), {}),
    (GammaKNNClassifier(k=1, gamma=None), {}),
    (GammaKNNClassifier(k=2, gamma=0.5, distance="manhattan"), _OWN_THRESHOLD),
    (GammaKNNClassifier(k=4, cv=3, distance="cosine"), _OWN_THRESHOLD),
    (LocalGammaKNNClassifier(), {}),
    (LocalGammaKNNClassifier(k=1, version="V1", n_regions=2, cv=3), {}),
    (MLFPClassifier(), {}),
    (MLFPClassifier(k=1, matrix="full", threshold=None), {}),
    (MLFPClassifier(mu="auto", n_trials=2, cv=2, constraint=False), {}),
    (ME2Classifier(), {}),
    (ME2Classifier(0.1, lam=0.1, combine="union", threshold=None), {}),
    (DistanceWeightedKNNClassifier(), {}),
    (DistanceWeightedKNNClassifier(k=2, threshold="auto", distance="manhattan"), {}),
    (ClassWeightedKNNClassifier(), {}),
    (ClassWeightedKNNClassifier(threshold="auto"), {}),
    (DuplicatedKNNClassifier(), {}),
    (DuplicatedKNNClassifier(k=5, threshold="auto", cv=3), {}),
    (KRNNClassifier(), {}),
    (KRNNClassifier(k=2, threshold="auto", distance="chebyshev"), {}),
    # It learns a distance for each row asked about: as few and as small ones as it can.
    (IMLClassifier(k=1, n_selected=2, max_rounds=1, n_jobs=1), {}),
    (MetaAPClassifier(), _WEIGHTS),
    (MetaAPClassifier(2, 2, ties="leaf", threshold=None, prune=False, smoothing=1.0), _WEIGHTS),
    (MetaAPClassifier("auto", 2, criterion="ap", order="ratio", scores="position"), _WEIGHTS),
    (MetaAPClassifier(2, 2, target="precision_at_k", k="10%", splitter="histogram"), _WEIGHTS),
    (TreeRankClassifier(), _WEIGHTS),
    (
        TreeRankClassifier(2, 3, threshold=None, prune=False),
        {
            "check_class_weight_classifiers": (
                "scores are positions, so the first half of the leaves is positive by any weights"
            )
        },
    ),
    (
        MetaAPForestClassifier(10),
        _OWN_THRESHOLD | _WEIGHTS | _TUNED_ON_ROWS_AS_THEY_ARE,
    ),
    (
        MetaAPForestClassifier(10, ties="border", criterion="gini", threshold=0.5),
        _OWN_THRESHOLD | _WEIGHTS,
    ),
    (
        RandomizedForestClassifier(20),
        _WEIGHTS,
    ),
    (
        RandomizedForestClassifier(
            20, cuts="range", max_features="sqrt", negative_ratio=None, smoothing=0, threshold=0.5
        ),
        _WEIGHTS | _PURE_LEAVES,
    ),
    (SGBAPClassifier(n_estimators=40), _OWN_THRESHOLD | _WEIGHTS),
    (SGBAPClassifier(n_estimators=10, mix=0, threshold=None, early_stopping_rounds=None), _WEIGHTS),
    (
        SGBAPClassifier(n_estimators=40, surrogate="sigmoid", bins="quantile"),
        _OWN_THRESHOLD | _WEIGHTS,
    ),
    (SGBAPClassifier(n_estimators=40, surrogate="log", init="logistic", init_rounds=5), _WEIGHTS),
    (RankBoostClassifier(n_estimators=40), _WEIGHTS),
    (LambdaMARTClassifier(n_estimators=40), _WEIGHTS),
    (
        ProjectionBoostingClassifier(
            n_estimators=10, max_rounds=3, early_stopping_rounds=None, threshold=None
        ),
        _OWN_THRESHOLD | _WEIGHTS,
    ),
    (
        ProjectionBoostingClassifier(
            n_estimators=10, directions="pca", min_loading=0.2, eliminate=False, cv=2, threshold=0.0
        ),
        _OWN_THRESHOLD | _WEIGHTS,
    ),
    (NLBClassifier(n_estimators=20), _OWN_THRESHOLD | _WEIGHTS),
    (NLBClassifier(n_estimators=5, leaves="squared", update="all", start="mirrored"), _WEIGHTS),
    (ONLBClassifier(epochs=30), _OWN_THRESHOLD | _A_STEP_A_ROW),
    (
        ONLBClassifier(n_estimators=5, epochs=50, threshold=None, steps="constant", target="slope"),
        _A_STEP_A_ROW,
    ),
    (
        ONLBClassifier(n_estimators=5, epochs=50, positive_memory=20),
        _OWN_THRESHOLD | _A_STEP_A_ROW | _TUNED_ON_ROWS_AS_THEY_ARE,
    ),
    (OnlineBoostingClassifier(epochs=30), _OWN_THRESHOLD | _A_STEP_A_ROW),
    (ConditionClassifier(max_conditions=5, n_estimators=10, cv=3), _WEIGHTS),
    (
        ConditionClassifier(
            RandomForestClassifier(5, max_depth=2), threshold=None, measure_size=None, cv=2
        ),
        _OWN_THRESHOLD | _WEIGHTS,
    ),
    (RuleListClassifier(_RULES), _OWN_THRESHOLD | _WEIGHTS),
    (RuleListClassifier(_RULES, weights="equal", threshold=None), _OWN_THRESHOLD | _WEIGHTS),
    (AutoClassifier(trials=2, candidates=["metaap", "gamma-knn"], cv=3), _OWN_THRESHOLD),
    (OnlineBoostingClassifier(method="stream", epochs=50, threshold=None), _A_STEP_A_ROW),
]

# The checks that parameters can change the answer to. All others are about a class's signature, its
# tags, how labels and tables are read and what is refused: RareClassifier does that before any
# parameter is looked at.
SENSITIVE = {
    # Fits and scores agree with one another.
    "check_classifiers_train",
    "check_decision_proba_consistency",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_fit_idempotent",
    "check_dict_unchanged",
    "check_pipeline_consistency",
    "check_positive_only_tag_during_fit",
    "check_non_transformer_estimators_n_iter",
    # What is fitted is kept apart from what was given, and can be stored.
    "check_estimators_overwrite_params",
    "check_dont_overwrite_parameters",
    "check_estimators_pickle",
    "check_estimators_pickle(readonly_memmap=True)",
    # Weights enter each loss, tree and fold in its own way.
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weights_not_overwritten",
    "check_all_zero_sample_weights_error",
    "check_classifiers_one_label_sample_weights",
    "check_class_weight_classifiers",
    # Few rows, one column, one class: folds, neighbours and bins run out of them.
    "check_fit2d_1sample",
    "check_fit2d_1feature",
    "check_classifiers_one_label",
    # Missing values are allowed by some parameters and not by others.
    "check_estimators_nan_inf",
    # Other parameters run other kernels, which may ask for another layout of the rows.
    "check_f_contiguous_array_estimator",
    "check_readonly_memmap_input",
    # The number of columns reaches the parts that parameters choose.
    "check_n_features_in_after_fitting",
}
