"""How long the methods of the scoreboard take to fit and to score, and what memory: 10k to 1M rows."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

SIZES = (10_000, 100_000, 1_000_000)
METHODS = {
    "XGBoost (100 rounds)": "XGBClassifier(n_estimators=100, n_jobs=2)",
    "SGBAP (100 rounds, threshold=None)": (
        "SGBAPClassifier(n_estimators=100, threshold=None, early_stopping_rounds=None, n_jobs=2)"
    ),
    "SGBAP (as it is)": "SGBAPClassifier(n_jobs=2)",
    "LightGBM (100 rounds)": "LGBMClassifier(n_estimators=100, verbosity=-1, n_jobs=2)",
    "HistGradientBoosting": "HistGradientBoostingClassifier()",
    "MetaAP": "MetaAPClassifier(n_jobs=2)",
    "MetaAPForest": "MetaAPForestClassifier(n_jobs=2)",
    "Balanced random forest": (
        "BalancedRandomForestClassifier(n_jobs=2, sampling_strategy='all', replacement=True, "
        "bootstrap=False)"
    ),
    "γk-NN": "GammaKNNClassifier(n_jobs=2)",
    "k-NN": "KNeighborsClassifier(n_jobs=2)",
}
# Brute-force neighbours of a million rows in 30 columns take longer than anybody waits.
MOST = {"k-NN": 100_000}

SCRIPT = """
import json, resource, sys, time, warnings
import numpy as np
from imblearn.ensemble import BalancedRandomForestClassifier
from lightgbm import LGBMClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.neighbors import KNeighborsClassifier
from xgboost import XGBClassifier
from rarefind.boosting import SGBAPClassifier
from rarefind.neighbors import GammaKNNClassifier
from rarefind.trees import MetaAPClassifier, MetaAPForestClassifier
warnings.simplefilter("ignore")
rows = int(sys.argv[1])
rng = np.random.default_rng(0)
X = rng.normal(size=(rows, 30))
y = X[:, 0] + X[:, 1] * X[:, 2] + rng.logistic(size=rows) > 5.2
few = slice(0, 2000)
model = MODEL
model.fit(X[few], y[few])  # kernels are compiled, libraries warm
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
model.fit(X, y)
fitted = time.perf_counter()
asked = X[:10_000]
score = model.priority(asked) if hasattr(model, "priority") else model.predict_proba(asked)
scored = time.perf_counter()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([fitted - start, (scored - fitted) / len(asked) * 1e6, peak / 2**20]))
"""


def speed_lines(quick: bool) -> Iterator[dict[str, str]]:
    """A line a method and a number of rows; ratios are to the first method."""
    for rows in (2_000,) if quick else SIZES:
        first = None
        for name, model in METHODS.items():
            if rows > MOST.get(name, rows):
                continue
            command = [sys.executable, "-c", SCRIPT.replace("MODEL", model), str(rows)]
            shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            fit, score, peak = json.loads(shown)
            first = first or (fit, score)
            yield {
                "rows": f"{rows:,}",
                "method": name,
                "fit, s": f"{fit:.2f}",
                "ratio": f"{fit / first[0]:.2f}",
                "score, µs a row": f"{score:.1f}",
                "score ratio": f"{score / first[1]:.2f}",
                "peak, GiB": f"{peak:.2f}",
            }
