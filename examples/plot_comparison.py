"""
Models side by side on the same folds
=====================================

γk-NN beside plain k-NN, a forest, and SMOTE with γk-NN, on one data set. One set proves nothing:
the measured means over thirty sets are among the benchmarks.
"""

from imblearn.over_sampling import SMOTE
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rarefind.data import load_keel
from rarefind.neighbors import GammaKNNClassifier
from rarefind.plots import ComparisonDisplay
from rarefind.selection import compare

X, y = load_keel("abalone9-18")
models = {
    "k-NN": make_pipeline(StandardScaler(), KNeighborsClassifier(3)),
    "γk-NN": make_pipeline(StandardScaler(), GammaKNNClassifier()),
    "SMOTE + γk-NN": make_pipeline(
        StandardScaler(), GammaKNNClassifier(sampler=SMOTE(), random_state=0)
    ),
    "random forest": RandomForestClassifier(random_state=0),
}
cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=1, random_state=0)
comparison = compare(models, X, y, cv, ["average_precision", "f1", "g_mean"])
print(comparison)

# %%
ComparisonDisplay.from_comparison(comparison)
