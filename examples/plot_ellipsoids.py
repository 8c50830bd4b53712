"""
Excluding ellipsoids
====================

ME² puts an ellipsoid around each positive, as large as the negatives near it allow. A high price on
its shape leaves balls (right), as in figure 1 of the paper.
"""

import matplotlib.pyplot as plt
import numpy as np

from rarefind.neighbors import ME2Classifier
from rarefind.plots import EllipsoidDisplay

rng = np.random.default_rng(3)
along = rng.uniform(-2.5, 2.5, size=160)
above = np.column_stack([along, 0.6 * along + 0.9 + np.abs(rng.normal(0, 0.5, 160))])
below = np.column_stack([along, 0.6 * along - 0.9 - np.abs(rng.normal(0, 0.5, 160))])
middle = rng.uniform(-2, 2, size=5)
positives = np.column_stack([middle, 0.6 * middle + rng.normal(0, 0.15, 5)])
X, y = np.vstack([above, below, positives]), np.repeat([0, 1], [320, 5])

figure, axes = plt.subplots(1, 2, figsize=(11, 5.2), sharex=True, sharey=True, layout="constrained")
for ax, lam, name in zip(axes, (1e-3, 1e6), ("Ellipsoids", "Balls"), strict=True):
    model = ME2Classifier(0.25, lam=lam, mu=0.05, threshold=None).fit(X, y)
    EllipsoidDisplay.from_estimator(model, X, y, ax=ax)
    ax.set(title=name, aspect="equal")

# %%
# Each ellipsoid is at hand: its centre, its axes and their half lengths.
model = ME2Classifier(0.25, lam=1e-3, mu=0.05, threshold=None).fit(X, y)
for ellipsoid in model.ellipsoids_:
    print(ellipsoid.centre.round(2), "half lengths", ellipsoid.lengths.round(2))

# %%
# The theorem's bound on the loss of new negatives, which says when it says nothing.
print(model.bound(0.05))
