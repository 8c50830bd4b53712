"""Nearest neighbours for few positives."""

from typing import TYPE_CHECKING

from rarefind._core.lazy import lazily

if TYPE_CHECKING:
    from rarefind.neighbors._class_weighted import ClassWeightedKNNClassifier
    from rarefind.neighbors._distance_weighted import DistanceWeightedKNNClassifier
    from rarefind.neighbors._duplicated import DuplicatedKNNClassifier
    from rarefind.neighbors._gamma import GammaKNNClassifier
    from rarefind.neighbors._iml import IMLClassifier
    from rarefind.neighbors._local_gamma import LocalGammaKNNClassifier
    from rarefind.neighbors._me2 import ME2Classifier
    from rarefind.neighbors._mlfp import MLFPClassifier
    from rarefind.neighbors._rare_class import KRNNClassifier
    from rarefind.neighbors.imbalance import gamma_by_imbalance
    from rarefind.neighbors.scale_maps import scale_map

__all__ = [
    "ClassWeightedKNNClassifier",
    "DistanceWeightedKNNClassifier",
    "DuplicatedKNNClassifier",
    "GammaKNNClassifier",
    "IMLClassifier",
    "KRNNClassifier",
    "LocalGammaKNNClassifier",
    "ME2Classifier",
    "MLFPClassifier",
    "gamma_by_imbalance",
    "scale_map",
]

__getattr__ = lazily(
    __name__,
    {
        "ClassWeightedKNNClassifier": "rarefind.neighbors._class_weighted",
        "DistanceWeightedKNNClassifier": "rarefind.neighbors._distance_weighted",
        "DuplicatedKNNClassifier": "rarefind.neighbors._duplicated",
        "GammaKNNClassifier": "rarefind.neighbors._gamma",
        "IMLClassifier": "rarefind.neighbors._iml",
        "KRNNClassifier": "rarefind.neighbors._rare_class",
        "LocalGammaKNNClassifier": "rarefind.neighbors._local_gamma",
        "ME2Classifier": "rarefind.neighbors._me2",
        "MLFPClassifier": "rarefind.neighbors._mlfp",
        "gamma_by_imbalance": "rarefind.neighbors.imbalance",
        "scale_map": "rarefind.neighbors.scale_maps",
    },
)
