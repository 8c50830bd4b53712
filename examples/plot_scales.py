"""
Two scales: real and synthetic positives
========================================

With SMOTE, γk-NN has one γ for the real positives and one for those made up. Rows held out once
give the F1 of all pairs. Above the dashed line synthetic positives count for less than real ones,
below it for more.
"""

import matplotlib.pyplot as plt
from imblearn.over_sampling import SMOTE
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rarefind.data import load_keel
from rarefind.neighbors import GammaKNNClassifier, scale_map
from rarefind.plots import ScaleMapDisplay

figure, axes = plt.subplots(1, 2, figsize=(10, 6), layout="constrained")
for ax, name in zip(axes, ("abalone9-18", "vehicle1"), strict=True):
    X, y = load_keel(name)
    model = GammaKNNClassifier(sampler=SMOTE(), random_state=0)
    found = scale_map(make_pipeline(StandardScaler(), model), X, y)
    ScaleMapDisplay.from_map(found, ax)
    ax.set_title(f"{name}: {found.best_value:.3f} at the mark")
