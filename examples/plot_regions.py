"""
Regions of a plane
==================

Where three models predict positive, on the plane of the first two principal components: γk-NN,
γk-NN with the synthetic positives of SMOTE, and scikit-learn's support vectors with balanced
weights. Twenty of the 336 rows are positive.

The models themselves see the two components only, as in figure 3.3 of the thesis, so that every row
lies on the plane.
"""

import matplotlib.pyplot as plt
from imblearn.over_sampling import SMOTE
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from rarefind.data import load_keel
from rarefind.neighbors import GammaKNNClassifier
from rarefind.plots import DecisionRegionDisplay

X, y = load_keel("ecoli4")
models = {
    "γk-NN": GammaKNNClassifier(),
    "SMOTE + γk-NN": GammaKNNClassifier(sampler=SMOTE(), random_state=0),
    "Support vectors": SVC(class_weight="balanced"),
}
figure, axes = plt.subplots(1, 3, figsize=(14, 5.2), layout="constrained")
for ax, (name, last) in zip(axes, models.items(), strict=True):
    model = make_pipeline(StandardScaler(), PCA(2), last).fit(X, y)
    DecisionRegionDisplay.from_estimator(model, X, y, ax=ax, name=name)

# %%
# A model of more columns is drawn on a plane through two of them, the others at their median, or on
# that of the principal components through the mean. The rows are then seen from above: one drawn
# over the region need not be in it.
X, y = load_keel("haberman")
model = make_pipeline(StandardScaler(), GammaKNNClassifier()).fit(X, y)
figure, axes = plt.subplots(1, 2, figsize=(10, 5.2), layout="constrained")
DecisionRegionDisplay.from_estimator(
    model, X, y, features=("Age", "Positive"), ax=axes[0], name="Two of three columns"
)
DecisionRegionDisplay.from_estimator(model, X, y, ax=axes[1], name="Principal components")
