"""
A short list, and why each row is on it
=======================================

Three in a hundred of these proteins sit in one place of the cell, and we can check twenty. γk-NN
ranks the rows that were kept out; the pictures say what twenty checks buy.
"""

# %%
# Learn from 60 % of the table. The columns are scaled first: distances compare them.
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rarefind.data import load_keel
from rarefind.neighbors import GammaKNNClassifier

X, y = load_keel("yeast5")
X, X_new, y, y_new = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
model = make_pipeline(StandardScaler().set_output(transform="pandas"), GammaKNNClassifier())
model.fit(X, y)
print(f"γ = {model[-1].gamma_:.2f}, {int(y.sum())} positives among {len(y)} rows")

# %%
# What does the budget buy? Beside it, plain k-NN: its few distinct scores make long ties.
from sklearn.neighbors import KNeighborsClassifier

from rarefind.plots import BudgetCurveDisplay

plain = make_pipeline(StandardScaler(), KNeighborsClassifier(3)).fit(X, y)
display = BudgetCurveDisplay.from_estimator(model, X_new, y_new, budget=20, name="γk-NN")
BudgetCurveDisplay.from_estimator(plain, X_new, y_new, name="k-NN", ax=display.ax_)

# %%
# The list itself, and how the scores lie.
from rarefind.plots import ScoreHistogramDisplay, TopKDisplay

TopKDisplay.from_estimator(model, X_new, y_new, k=40)
ScoreHistogramDisplay.from_estimator(model, X_new, y_new)

# %%
# And the reasons, in scaled units.
first = model[-1].priority(model[:-1].transform(X_new)).argsort()[::-1][:3]
for reason in model[-1].explain(model[:-1].transform(X_new.iloc[first])):
    print(reason)
