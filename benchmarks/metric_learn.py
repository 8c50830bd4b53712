"""LMNN, ITML and RCA beside metric-learn, GMML beside a loop over all pairs.

python benchmarks/metric_learn.py                  # about five minutes on 2 cores
python benchmarks/metric_learn.py --venv FOLDER    # keep, or use, the peer's environment there
python benchmarks/metric_learn.py --quick          # few sets and sizes, to see it work

metric-learn 0.7 does not run with the scikit-learn that rarefind is tested with, so it gets an
environment of its own, and the same arrays through files.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

# One thread for matrix products in both libraries: on small tables threads mostly wait.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd
from _report import write
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from rarefind.data import load_keel
from rarefind.distances import GMML, ITML, LMNN, RCA, ImbML
from rarefind.distances._itml import draw_pairs
from rarefind.distances._lmnn import LMNNLoss, draw_anchors, target_neighbors
from rarefind.metrics import f_beta

SETS = ["glass4", "ecoli3", "pima", "vehicle3", "vowel0"]
LIMIT = 60  # seconds for one fit of the peer

PEER = """
import json, signal, sys, time, warnings
import numpy as np
from metric_learn import ITML, ITML_Supervised, LMNN, RCA
warnings.simplefilter("ignore")

def stop(*_):
    raise TimeoutError

signal.signal(signal.SIGALRM, stop)
LEARNERS = {
    "LMNN as it comes": lambda X, y, **o: LMNN(**o).fit(X, y),
    "LMNN, learn_rate=1e-3": lambda X, y, **o: LMNN(learn_rate=1e-3, **o).fit(X, y),
    "ITML": lambda X, y, **o: ITML_Supervised(random_state=0).fit(X, y),
    "ITML, our pairs": lambda X, y, pairs, similar, bounds: ITML(max_iter=1000, tol=1e-3).fit(
        X[pairs], np.where(similar, 1, -1), bounds=bounds),
    "RCA": lambda X, y: RCA().fit(X, y),
}
for line in sys.stdin:
    job = json.loads(line)
    given = np.load(job["table"])
    options = {k: given[k] for k in given.files if k not in ("X", "y")}
    options.update(job["options"])
    signal.alarm(job["limit"])
    try:
        seconds = []
        while not seconds or (len(seconds) < 5 and max(seconds) < 0.5):
            start = time.perf_counter()
            model = LEARNERS[job["learner"]](given["X"], given["y"], **options)
            seconds.append(time.perf_counter() - start)
        signal.alarm(0)
        np.save(job["out"], model.components_)
        answer = {"seconds": min(seconds), "n_iter": int(getattr(model, "n_iter_", 0))}
    except TimeoutError:
        answer = {"seconds": None}
    finally:
        signal.alarm(0)
    print(json.dumps(answer), flush=True)
"""


class Peer:
    """metric-learn in a process and an environment of its own."""

    def __init__(self, venv: Path, folder: Path) -> None:
        python = venv / "bin" / "python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
            install = [str(python), "-m", "pip", "install", "-q"]
            subprocess.run([*install, "metric-learn==0.7.0", "scikit-learn<1.6"], check=True)
        script = folder / "peer.py"
        script.write_text(PEER, encoding="utf-8")
        # PYTHONPATH would bring our scikit-learn along.
        clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        self.folder = folder
        self.process = subprocess.Popen(
            [str(python), str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=clean,
        )

    def fit(self, learner, X, y, limit=LIMIT, arrays=None, **options):
        """Components, seconds and iterations; None where the limit was reached."""
        table, out = self.folder / "table.npz", self.folder / "out.npy"
        np.savez(table, X=X, y=y, **(arrays or {}))
        job = {"table": str(table), "out": str(out), "learner": learner, "limit": limit}
        self.process.stdin.write(json.dumps({**job, "options": options}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if answer["seconds"] is None:
            return None, None, None
        return np.load(out), answer["seconds"], answer["n_iter"]

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=30)


def table_of(name):
    X, y = load_keel(name)
    return StandardScaler().fit_transform(X), y.to_numpy()


def timed(model, X, y):
    """The best of five fits, for both libraries, where one takes less than half a second."""
    seconds = []
    while not seconds or (len(seconds) < 5 and max(seconds) < 0.5):
        start = time.perf_counter()
        model.fit(X, y)
        seconds.append(time.perf_counter() - start)
    return model, min(seconds)


def lmnn_loss(X, y):
    """The loss that both libraries minimise with their defaults: equal parts of pull and push."""
    anchors, weight = draw_anchors(y, len(y), None)
    targets = target_neighbors(X, y, anchors, 3)
    return LMNNLoss(X - X.mean(axis=0), y, anchors, weight, targets, 0.5)


def number(value, form="{:.3g}"):
    return f"> {LIMIT}" if value is None else form.format(value)


def ratio(theirs, ours):
    return f"> {LIMIT / ours:.0f}" if theirs is None else f"{theirs / ours:.1f}"


def compare_lmnn(peer, sets):
    rows = []
    for name in sets:
        X, y = table_of(name)
        loss = lmnn_loss(X, y)
        model, ours = timed(LMNN(), X, y)
        row = {
            "set": name,
            "rows": len(X),
            "loss, Euclidean": f"{loss(np.eye(X.shape[1]))[0]:.0f}",
            "loss, ours": f"{loss(model.components_)[0]:.0f}",
            "s, ours": f"{ours:.2f}",
        }
        for learner in ("LMNN as it comes", "LMNN, learn_rate=1e-3"):
            found, seconds, n_iter = peer.fit(learner, X, y)
            short = learner.removeprefix("LMNN").strip(", ")
            row[f"loss, {short}"] = number(found if found is None else loss(found)[0], "{:.0f}")
            row[f"s, {short}"] = number(seconds, "{:.1f}")
            row[f"iterations, {short}"] = "" if n_iter is None else n_iter
            row[f"time / ours, {short}"] = ratio(seconds, ours)
        rows.append(row)
        print(row, flush=True)
    return pd.DataFrame(rows)


def compare_growth(peer, sizes):
    rows = []
    for n, positives, with_peer in sizes:
        X, y = make_classification(
            n, 30, n_informative=10, weights=[1 - positives], class_sep=0.7, random_state=0
        )
        X = StandardScaler().fit_transform(X)
        model, ours = timed(LMNN(), X, y)
        row = {
            "rows": f"{n:,}",
            "positives": f"{positives:.0%}",
            "s, ours": f"{ours:.2f}",
            "iterations, ours": model.n_iter_,
            "loss, ours": f"{model.loss_:.0f}",
        }
        if with_peer:
            found, seconds, n_iter = peer.fit("LMNN as it comes", X, y)
            row["s, metric-learn"] = number(seconds, "{:.1f}")
            row["iterations, metric-learn"] = "" if n_iter is None else str(n_iter)
            row["loss, metric-learn"] = "" if found is None else f"{lmnn_loss(X, y)(found)[0]:.0f}"
            row["metric-learn / ours"] = ratio(seconds, ours)
        rows.append(row)
        print(row, flush=True)
    return pd.DataFrame(rows).fillna("not run")


def compare_matrices(peer, sets):
    """ITML on the same pairs and bounds, and RCA: the same matrix, and in what time."""
    rows = []
    for name in sets:
        X, y = table_of(name)
        model, ours = timed(ITML(random_state=0), X, y)
        pairs = draw_pairs(y, 40, 40, np.random.RandomState(0))
        differ = (X[pairs.first] != X[pairs.second]).any(axis=1)
        arrays = {
            "pairs": np.column_stack(pairs[:2])[differ],
            "similar": pairs.similar[differ],
            "bounds": np.array(model.bounds_),
        }
        found, seconds, _ = peer.fit("ITML, our pairs", X, y, arrays=arrays)
        rows.append(one_matrix(name, "ITML", model, ours, found, seconds))
        varied = X[:, [all(X[y == c, j].std() > 0 for c in (0, 1)) for j in range(X.shape[1])]]
        model, ours = timed(RCA(reg=0), varied, y)
        found, seconds, _ = peer.fit("RCA", varied, y)
        rows.append(one_matrix(name, "RCA", model, ours, found, seconds))
        start = time.perf_counter()
        naive = naive_gmml(X, y)
        seconds = time.perf_counter() - start
        model, ours = timed(GMML(reg=1e-3), X, y)
        rows.append(one_matrix(name, "GMML (peer: loop)", model, ours, naive, seconds))
        print(rows[-3:], flush=True)
    return pd.DataFrame(rows)


def one_matrix(name, learner, model, ours, found, seconds):
    matrix = model.get_mahalanobis_matrix()
    gap = np.nan if found is None else np.abs(matrix - found.T @ found).max()
    return {
        "set": name,
        "learner": learner,
        "largest difference in M / largest entry": f"{gap / np.abs(matrix).max():.1e}",
        "ms, ours": f"{1000 * ours:.2f}",
        "ms, peer": "" if seconds is None else f"{1000 * seconds:.2f}",
        "peer / ours": ratio(seconds, ours),
    }


def naive_gmml(X, y, reg=1e-3):
    """L of S⁻¹ # D with the sums taken pair by pair."""
    d = X.shape[1]
    sums, counts = np.zeros((2, d, d)), np.zeros(2)
    for i in range(len(X)):
        for j in range(i):
            gap = X[i] - X[j]
            kind = int(y[i] != y[j])
            sums[kind] += gap[:, None] * gap
            counts[kind] += 1
    similar, dissimilar = (
        m + reg * np.trace(m) / d * np.eye(d) for m in sums / counts[:, None, None]
    )
    half, back = power(similar, 0.5), power(similar, -0.5)
    return power(back @ power(half @ dissimilar @ half, 0.5) @ back, 0.5)


def power(matrix, t):
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * values**t) @ vectors.T


def compare_neighbours(peer, sets):
    """F1 of 3-NN in 5 folds under each distance, pooled over the folds."""
    ours = {
        "LMNN": LMNN(),
        "ITML": ITML(random_state=0),
        "RCA": RCA(),
        "GMML": GMML(),
        "ImbML": ImbML(random_state=0),
    }
    theirs = ("LMNN as it comes", "ITML", "RCA")
    rows = []
    for name in sets:
        X, y = load_keel(name)
        X, y = X.to_numpy(), y.to_numpy()
        predicted = {}
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
            scaler = StandardScaler().fit(X[train])
            inside, outside = scaler.transform(X[train]), scaler.transform(X[test])
            maps = {"Euclidean": np.eye(X.shape[1])}
            for learner, model in ours.items():
                maps[learner] = clone(model).fit(inside, y[train]).components_
            for learner in theirs:
                maps[f"metric-learn {learner}"] = peer.fit(learner, inside, y[train])[0]
            for learner, found in maps.items():
                predicted.setdefault(learner, np.zeros(len(y)))
                if found is None or not np.isfinite(found).all():
                    predicted[learner][:] = np.nan
                    continue
                knn = KNeighborsClassifier(3).fit(inside @ found.T, y[train])
                predicted[learner][test] = knn.predict(outside @ found.T)
        rows.append(
            {"set": name}
            | {k: np.nan if np.isnan(v).any() else f_beta(y, v) for k, v in predicted.items()}
        )
        print(rows[-1], flush=True)
    table = pd.DataFrame(rows).set_index("set")
    table.loc["mean"] = table.mean(skipna=False)
    shown = table.T.map(lambda v: "failed" if np.isnan(v) else f"{v:.3f}")
    return shown.reset_index(names="distance")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--venv", type=Path)
    chosen = parser.parse_args()
    sets = SETS[:2] if chosen.quick else SETS
    sizes = [(1_000, 0.02, True), (5_000, 0.02, True), (20_000, 0.02, False)]
    sizes += [(1_000, 0.5, True), (5_000, 0.5, True), (20_000, 0.5, False)]
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        peer = Peer((chosen.venv or Path(folder) / "venv").absolute(), Path(folder))
        # Compile before the clock runs.
        for model in (LMNN(), ITML(), GMML(), RCA()):
            model.fit(*table_of(SETS[0]))
        try:
            parts = [
                (
                    "LMNN on whole sets, standardised, three targets, equal parts of pull and push: the "
                    "loss reached, by one function for all, and the time. metric-learn as it comes has "
                    "learn_rate=1e-7; its steps halve when the loss rises, so it was also given 1e-3. "
                    f"A fit of the peer ends after {LIMIT} s. Matrix products take one thread in both; "
                    "our search for impostors takes all cores. Fits under half a second are the best "
                    "of five.",
                    compare_lmnn(peer, sets),
                ),
                (
                    "LMNN as rows grow (30 columns). metric-learn makes square tables of the rows of a "
                    "class, several gigabytes at 20,000 rows, and was not run there.",
                    compare_growth(peer, sizes[:2] if chosen.quick else sizes),
                ),
                (
                    "The same matrix: ITML on the same pairs and bounds, RCA with the classes as "
                    "chunklets (columns that vary in both), GMML beside a loop over all pairs.",
                    compare_matrices(peer, sets),
                ),
                (
                    "F1 of plain 3-NN, 5 folds, standardised, every learner with its defaults. "
                    "metric-learn's RCA fails where a column is constant within the classes.",
                    compare_neighbours(peer, sets),
                ),
            ]
        finally:
            peer.close()
    write(
        "metric_learn-quick" if chosen.quick else "metric_learn",
        f"python benchmarks/metric_learn.py{' --quick' if chosen.quick else ''}",
        parts,
    )


if __name__ == "__main__":
    main()
