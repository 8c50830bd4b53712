"""
Two stumps that do not add up
=============================

Red points lie in the top row and in the left column of a square. In the corner where both cross,
most points are blue. A sum of two stumps that lifts the row and the column lifts the corner most of
all, and so puts blue points at the top of the list. Non-linear boosting joins the same two stumps
in several representations, and one of them can take the corner back.

The thesis shows this in figures 4.1 and 4.3, with an average precision of 0.45 for the sum and 0.91
for non-linear boosting. It holds under three conditions: the corner must be mostly blue, though
each of its sides is mostly red (the cells' order is no sum of a column and a row); all weights must
be learned, the outer ones too, in several sweeps and without shrinkage; and the weights must start
far apart, which ten representations from U(-1, 1) do and mirrored ones with little noise do not.
"""

import matplotlib.pyplot as plt
import numpy as np

from rarefind.boosting import NLBClassifier
from rarefind.metrics import average_precision

rng = np.random.default_rng(0)


def uniform(size, x, y):
    return np.column_stack([rng.uniform(*x, size), rng.uniform(*y, size)])


red = np.vstack([uniform(150, (0, 1), (0.8, 1)), uniform(150, (0, 0.2), (0, 1))])
blue = np.vstack([uniform(240, (0, 0.2), (0.8, 1)), uniform(2460, (0.2, 1), (0, 0.8))])
X = np.vstack([red, blue])
y = np.repeat(["red", "blue"], [len(red), len(blue)])

# %%
# Two stumps, once added up and once joined.

stumps = {
    "n_estimators": 2,
    "max_depth": 1,
    "learning_rate": 1.0,
    "early_stopping_rounds": None,
    "threshold": None,
    "random_state": 0,
}
models = {
    "added up": NLBClassifier(
        **{**stumps, "learning_rate": 0.5}, update="none", start="mirrored", jitter=0.0
    ),
    "joined": NLBClassifier(**stumps, update="all", sweeps=5),
}

# %%
# The darker, the nearer to the top of the list.

side = np.linspace(0.0025, 0.9975, 200)
grid = np.column_stack([axis.ravel() for axis in np.meshgrid(side, side)])
figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X, y)
    value = average_precision(y, model.priority(X), pos_label="red")
    rank = np.unique(model.priority(grid), return_inverse=True)[1].reshape(200, 200)
    ax.pcolormesh(side, side, rank, cmap="Reds", alpha=0.6)
    ax.plot(*blue.T, ".", color="tab:blue", markersize=2)
    ax.plot(*red.T, ".", color="darkred", markersize=4)
    ax.set(title=f"{name}: average precision {value:.2f}", aspect="equal")
figure.tight_layout()
plt.show()
