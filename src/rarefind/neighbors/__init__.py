"""Nearest neighbours for few positives."""

from rarefind.neighbors._gamma import GammaKNNClassifier

__all__ = ["GammaKNNClassifier"]
