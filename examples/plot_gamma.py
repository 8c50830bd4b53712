"""
What γ does
===========

The region that a few positives cover among many negatives, for plain nearest neighbours and for
the γ that maximises F1 on held-out rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from rarefind.neighbors import GammaKNNClassifier

rng = np.random.default_rng(0)
negatives = rng.normal(size=(300, 2))
positives = rng.normal([1.6, 1.2], 0.45, size=(12, 2))
X, y = np.vstack([negatives, positives]), np.repeat([0, 1], [300, 12])

grid = np.stack(np.meshgrid(np.linspace(-3, 3.5, 250), np.linspace(-3, 3.5, 250)), axis=-1)
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), sharex=True, sharey=True)
for ax, gamma in zip(axes, (None, "auto"), strict=True):
    model = GammaKNNClassifier(k=1, gamma=gamma).fit(X, y)
    found = model.predict(grid.reshape(-1, 2)).reshape(250, 250)
    ax.contourf(
        grid[..., 0], grid[..., 1], found, levels=[0.5, 1.5], colors=["#D55E00"], alpha=0.25
    )
    ax.scatter(*negatives.T, s=6, color="#0072B2", label="negative")
    ax.scatter(*positives.T, s=28, color="#D55E00", marker="x", label="positive")
    ax.set(title=f"γ = {model.gamma_:.2f}", aspect="equal")
axes[0].legend(loc="lower left")
figure.tight_layout()

# %%
# Every γ at once: the ratio of the two distances ranks the plane, and γ is where it is cut.
model = GammaKNNClassifier(k=1).fit(X, y)
figure, ax = plt.subplots(figsize=(5.4, 4.4))
priority = np.log10(np.clip(model.priority(grid.reshape(-1, 2)), 0.05, 20)).reshape(250, 250)
drawn = ax.contourf(grid[..., 0], grid[..., 1], priority, levels=20, cmap="cividis")
ax.contour(grid[..., 0], grid[..., 1], priority, levels=[np.log10(model.gamma_)], colors="white")
ax.scatter(*positives.T, s=28, color="white", marker="x")
ax.set(title="log₁₀ of the ratio; white: the chosen γ", aspect="equal")
figure.colorbar(drawn)
