"""
Why a row is on the list, and whether that is true
==================================================

A reason names the columns that put a row at the top. Where the score is a sum, it says what each of
them adds; and what it says can be tested.
"""

# %%
# A booster by trees ranks the rows that were kept out.
from sklearn.model_selection import train_test_split

from rarefind.boosting import SGBAPClassifier
from rarefind.data import load_keel

X, y = load_keel("yeast6")
X, X_new, y, y_new = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
model = SGBAPClassifier(random_state=0).fit(X, y)
first = X_new.iloc[[model.priority(X_new).argmax()]]
reason = model.explain(first)[0]
print(reason)

# %%
# From the mean of all trees to the score of the row, a column at a time. Blue columns lower it.
from rarefind.plots import ReasonDisplay

ReasonDisplay(reason).plot()
print(f"{reason.base:.3f} + {sum(reason.contributions.values()):.3f} = {reason.score:.3f}")

# %%
# Distances make no such sum: γk-NN says how much of its reason each condition carries.
from rarefind.neighbors import GammaKNNClassifier

neighbours = GammaKNNClassifier().fit(X, y)
display = ReasonDisplay.from_estimator(neighbours, first)
print(display.reason.bars())

# %%
# Replace the columns that the reasons of the first 20 rows name by those of ordinary rows: if the
# reasons are true, the rows fall down the list, and further than by other columns.
from rarefind.selection import faithfulness

for name, ranker in {"boosting": model, "neighbours": neighbours}.items():
    print(f"{name}: {faithfulness(ranker, X_new, n_alerts=20, random_state=0)}")
