"""
γ and the imbalance
===================

The positives of a table are thinned at random, step by step, and γ is found again each time: the
rarer they are, the closer they have to be brought. This is figure 2.4 of the thesis, on another
table.
"""

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rarefind.data import load_keel
from rarefind.neighbors import GammaKNNClassifier, gamma_by_imbalance
from rarefind.plots import ImbalanceDisplay

X, y = load_keel("yeast1")
model = make_pipeline(StandardScaler(), GammaKNNClassifier(k=3))
found = gamma_by_imbalance(model, X, y, random_state=0)
print(found.groupby(["ratio", "positives"])[["gamma", "value"]].median().round(2))

# %%
# How far depends on what γ maximises: F1 holds false alarms dearer than the G-mean does, the more
# so the more negatives there are to raise them.
display = ImbalanceDisplay.from_table(found, name="F1")
model = make_pipeline(StandardScaler(), GammaKNNClassifier(k=3, metric="g_mean"))
ImbalanceDisplay.from_estimator(model, X, y, random_state=0, name="G-mean", ax=display.ax_)
