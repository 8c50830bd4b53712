"""The estimators that scikit-learn's checks run on, each with the checks it cannot pass and why."""

from __future__ import annotations

from typing import Any

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

# scikit-learn lists the same check for its own TunedThresholdClassifierCV.
_OWN_THRESHOLD = {
    "check_classifiers_train": (
        "the threshold is tuned or given, not where the probability is one half, "
        "so predict is not argmax of predict_proba"
    ),
}

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
    (IMLClassifier(k=1, n_selected=2, max_rounds=1), {}),
]
