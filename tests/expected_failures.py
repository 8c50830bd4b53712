"""The estimators that scikit-learn's checks run on, each with the checks it cannot pass and why."""

from __future__ import annotations

from typing import Any

from rarefind.neighbors import GammaKNNClassifier

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
]
