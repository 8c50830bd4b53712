"""
A tree of trees to read
=======================

MetaAP ranks by a small graph of conditions. Its leaves stand in the order of the list, the first
one left, and several ways may lead to the same one (figure 4.8 of the thesis).
"""

from sklearn.model_selection import train_test_split

from rarefind.data import load_keel
from rarefind.metrics import average_precision
from rarefind.plots import MetaTreeDisplay
from rarefind.trees import MetaAPClassifier

X, y = load_keel("yeast6")
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, test_size=0.3, random_state=3)
model = MetaAPClassifier(random_state=0).fit(X_train, y_train)
MetaTreeDisplay.from_estimator(model)

# %%
# It has been grown to four levels of trees of depth four, and cut back to as many levels as rank
# held-out rows best.
print(f"{model.outer_depth_} levels, {model.n_conditions_} conditions, {model.n_leaves_} leaves")
print(f"average precision {average_precision(y_test, model.priority(X_test)):.2f}")

# %%
# Why the first rows of the list are there.
first = X_test.iloc[model.priority(X_test).argsort()[:-4:-1]]
for reason in model.explain(first):
    print(reason)

# %%
# For another number of checks the grown tree is merged again, without growing it.
model.refit_budget(5)
print(f"for 5 checks: {model.n_conditions_} conditions, {model.n_leaves_} leaves")

# %%
# The whole model as text; ``to_sql()`` gives the same priorities inside a database.
print(model.export_text())
