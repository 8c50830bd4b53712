"""
A model to read aloud
=====================

A tree ensemble is boiled down to a short list of conditions, each with a weight, and with what it
is worth on rows that nothing was learned from.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from rarefind.conditions import ConditionClassifier
from rarefind.data import load_keel
from rarefind.metrics import average_precision
from rarefind.plots import ReasonDisplay

X, y = load_keel("page-blocks0")
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
model = ConditionClassifier(max_conditions=12, random_state=0).fit(X_train, y_train)
print(model.export_text())

# %%
# How much of the ensemble's average precision lists of each length keep, on held-out rows.
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.semilogx(model.sizes_, model.values_, marker="o", label="list")
axes.axhline(model.ensemble_value_, color="black", linestyle=":", label="ensemble")
axes.axvline(model.n_conditions_, color="tab:red", linewidth=0.8, label="kept")
axes.set(xlabel="conditions", ylabel="average precision")
axes.legend()

# %%
# The list on new rows, and the reason of the first of them.
print(f"average precision {average_precision(y_test, model.priority(X_test)):.2f}")
first = X_test.iloc[[model.priority(X_test).argmax()]]
print(model.explain(first)[0])
ReasonDisplay.from_estimator(model, first)

# %%
# What each condition is worth, with 95 % intervals.
print(model.conditions_[["weight", "precision", "precision_low", "precision_high", "recall"]])
