"""AutoGluon, in an environment of its own, and FLAML: within a time limit, with one thread."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from large_tables import FOLDER, Task

from studies.arrays import Floats

#: Where AutoGluon is installed; it asks for versions of its own, and for a gigabyte.
ENVIRONMENT = FOLDER / "autogluon"
PACKAGE = "autogluon.tabular[lightgbm,catboost,xgboost]==1.6.3"

SCRIPT = """
import json, sys
import numpy as np, pandas as pd
from autogluon.tabular import TabularPredictor
folder, limit = sys.argv[1], float(sys.argv[2])
given = np.load(folder + "/task.npz")
names = [f"c{i}" for i in range(given["X"].shape[1])]
table = pd.DataFrame(given["X"], columns=names).assign(y=given["y"].astype(int))
model = TabularPredictor("y", "binary", "average_precision", path=folder + "/model", verbosity=0)
model.fit(table, time_limit=limit, num_cpus=1, num_gpus=0)
score = model.predict_proba(pd.DataFrame(given["test"], columns=names))[1].to_numpy()
np.save(folder + "/score.npy", score)
print(json.dumps(model.model_best))
"""


def autogluon_scores(task: Task, limit: float, seed: int) -> tuple[Floats, str]:
    """Scores of the rows to test, and which of its models is the best."""
    python = _environment()
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "task.npz", X=task.X, y=task.y, test=task.test)
        # PYTHONPATH would bring our packages along.
        clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        threads = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"], "1")
        command = [str(python), "-W", "ignore", "-c", SCRIPT, folder, str(limit)]
        done = subprocess.run(
            command, env=clean | threads, cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"AutoGluon has failed: {done.stderr[-2000:]}")
        return np.load(Path(folder) / "score.npy"), json.loads(done.stdout.splitlines()[-1])


def _environment() -> Path:
    python = ENVIRONMENT / "bin" / "python"
    installed = ENVIRONMENT / "installed"
    if not installed.exists():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", PACKAGE], check=True)
        installed.touch()
    return python


def flaml_scores(task: Task, limit: float, seed: int) -> tuple[Floats, str]:
    """Scores of the rows to test, and which of its learners is the best."""
    from flaml import AutoML

    model = AutoML()
    model.fit(
        task.X,
        task.y.astype(int),
        task="classification",
        metric="ap",
        time_budget=limit,
        n_jobs=1,
        seed=seed,
        verbose=0,
        split_type="auto" if task.times is None else "time",
    )
    return model.predict_proba(task.test)[:, 1], str(model.best_estimator)
