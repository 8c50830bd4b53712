"""
Let AutoClassifier choose
=========================

Which estimator is best differs from table to table. :class:`rarefind.auto.AutoClassifier` tries
them on rows that they have not seen, for the number of checks you can afford. Beside it: one
booster as it comes.
"""

from sklearn.model_selection import train_test_split
from xgboost import XGBClassifier

from rarefind.auto import AutoClassifier
from rarefind.data import load_keel

X, y = load_keel("yeast5")
X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
model = AutoClassifier(budget=20, trials=8, random_state=0).fit(X, y)

# %%
# What was tried, best first. The first line is the best of several, and so a little too good.
print(model.leaderboard_.to_string(index=False))

# %%
# Rows that neither has seen say what the choice is worth.
from rarefind.plots import BudgetCurveDisplay

plain = XGBClassifier(n_estimators=100, random_state=0).fit(X, y)
display = BudgetCurveDisplay.from_estimator(model, X_new, y_new, budget=20, name="AutoClassifier")
BudgetCurveDisplay.from_estimator(plain, X_new, y_new, name="XGBoost", ax=display.ax_)

# %%
# It explains its rows as any other estimator does.
first = model.priority(X_new).argsort()[::-1][:2]
print(*model.explain(X_new.iloc[first]), sep="\n")
