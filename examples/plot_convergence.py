"""
How fast online boosters learn
==============================

Streams have progressive validation: each row is scored before it is learned. The curves show the
share of rows that were wrong so far, for online non-linear boosting and for five linear methods on
the same weak learners, nets with two hidden units. The thesis shows them in figure 4.5 for MNIST
and Abalone; here are the small digits that come with scikit-learn (0 to 4 against 5 to 9) and the
page blocks of KEEL, in random order, once.

As there, non-linear boosting leads on both. All methods have their default settings here, twenty
nets each; ``benchmarks/streams.py`` compares them on more sets, with settings chosen for each.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits

from rarefind.data import load_keel
from rarefind.streams import ONLBClassifier, OnlineBoostingClassifier

digits, number = load_digits(return_X_y=True)
blocks, kind = load_keel("page-blocks0")
streams = {
    "digits": (digits, number >= 5),
    "page blocks": (blocks.to_numpy(float), np.asarray(kind) == 1),
}
models = {
    "ONLB": ONLBClassifier(random_state=0),
    "online.BBM": OnlineBoostingClassifier(method="bbm", random_state=0),
    "AdaBoost.OL": OnlineBoostingClassifier(method="adaboost", random_state=0),
    "AdaBoost.OL.W": OnlineBoostingClassifier(method="adaboost-w", random_state=0),
    "online gradient boosting": OnlineBoostingClassifier(method="gradient", random_state=0),
    "boosting on streams": OnlineBoostingClassifier(method="stream", random_state=0),
}

# %%
# ``learn`` returns scores of rows before they were learned. A score of 0 or more means positive.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.2))
for ax, (name, (X, y)) in zip(axes, streams.items(), strict=True):
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    for method, model in models.items():
        model = clone(model)
        wrong = (model.learn(X, y, classes=[False, True]) >= 0) != y
        error = np.cumsum(wrong) / np.arange(1, len(y) + 1)
        ax.plot(error, label=f"{method}: {error[-1]:.3f}", lw=2 if method == "ONLB" else 1)
    ax.set(title=name, xlabel="rows", ylabel="share of wrong rows so far", ylim=(0, 3 * error[-1]))
    ax.legend(fontsize=8)
figure.tight_layout()
plt.show()
