"""Speed of learning from streams beside river, and memory.

python benchmarks/streams_speed.py            # 4 minutes
python benchmarks/streams_speed.py --quick
"""

from __future__ import annotations

import argparse
import pickle
import resource
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from _report import write
from streams import Parts, rivers

from rarefind.streams import ONLBClassifier

COLUMNS, BATCH = 54, 10_000
ENOUGH = 1_000_000
PATIENCE = 25.0  # seconds for each that learns row by row


def batches(n: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """As many columns as Covtype, 1 % of positives; made batch by batch, as memory is measured."""
    rng = np.random.default_rng(0)
    for _ in range(n // BATCH):
        X = rng.normal(size=(BATCH, COLUMNS))
        signal = X[:, :6].sum(axis=1) + X[:, 6] * X[:, 7] + rng.normal(size=BATCH)
        yield X, (signal > 6.6).astype(int)


def in_batches(n: int) -> pd.DataFrame:
    """Time and memory of one long stream, after 10,000 rows, 100,000 and so on."""
    model, spent, learned, table = ONLBClassifier(random_state=0), 0.0, 0, []
    sizes = 10 ** np.arange(4, 1 + int(np.log10(n)))
    for X, y in batches(n):
        begin = time.perf_counter()
        model.partial_fit(X, y, classes=[0, 1])
        spent += time.perf_counter() - begin
        learned += len(y)
        if learned in sizes:
            table.append(
                {
                    "rows": f"{learned:,}",
                    "seconds": f"{spent:.2f}",
                    "rows a second": round(learned / spent),
                    "model, kB": f"{len(pickle.dumps(model)) / 1e3:.0f}",
                    "peak of the process, MiB": round(
                        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                    ),
                }
            )
    return pd.DataFrame(table)


Step = Callable[[np.ndarray, np.ndarray], Any]


def rate_of(step: Step, size: int, patience: float) -> tuple[float, int]:
    """Rows a second when so many come at a time, and how many rows there was time for."""
    learned, spent = 0, 0.0
    for X, y in batches(ENOUGH):
        for start in range(0, BATCH, size):
            few = slice(start, start + size)
            begin = time.perf_counter()
            step(X[few], y[few])
            spent += time.perf_counter() - begin
            learned += size
            if spent > patience:
                return learned / spent, learned
    return learned / spent, learned


def river_step(model: Any) -> Step:
    def step(X: np.ndarray, y: np.ndarray) -> None:
        x = dict(enumerate(X[0].tolist()))
        model.predict_proba_one(x)
        model.learn_one(x, bool(y[0]))

    return step


def few_at_a_time(patience: float) -> pd.DataFrame:
    """Rows a second with a row a call, which is all that river's have, and with more for ours."""

    def begun() -> ONLBClassifier:
        nothing = np.zeros((1, COLUMNS))
        return ONLBClassifier(random_state=0).partial_fit(nothing, [0], classes=[0, 1])

    ours = [
        (1, begun().partial_fit),
        *((size, begun().learn) for size in (1, 10, 100, 1_000, BATCH)),
    ]
    steps = [(f"ONLB, `{call.__name__}`", size, call.__self__, call) for size, call in ours]
    if find_spec("river"):
        models = {f"river, {name}": make() for name, make in rivers().items()}
        steps += [(name, 1, model, river_step(model)) for name, model in models.items()]
    table = []
    for name, size, model, step in steps:
        rate, learned = rate_of(step, size, patience / (1 if "river" in name else 5))
        row = {"learner": name, "rows a call": size, "rows learned": learned, "rows a second": rate}
        table.append(row | {"model, kB": round(len(pickle.dumps(model)) / 1e3)})
        print(table[-1], flush=True)
    return pd.DataFrame(table)


def ratios(found: pd.DataFrame) -> pd.DataFrame:
    """How many times as fast as each of river's ours is, by the number of rows a call."""
    rate = "rows a second"
    is_river = found.learner.str.startswith("river")
    theirs = found[is_river].set_index("learner")[rate]
    table = pd.DataFrame(
        {
            f"{name[6:]}, {size:,} a call": (own / theirs).map("{:.1f}".format)
            for name, size, own in found.loc[~is_river, ["learner", "rows a call", rate]].to_numpy()
        }
    )
    return table.rename_axis("ONLB beside").reset_index()


def below(found: pd.DataFrame, goal: float = 20.0) -> str:
    """Which ratios miss the goal, in words."""
    table = ratios(found).set_index("ONLB beside").astype(float)
    missed = [
        f"{name[7:]} with {' and '.join(calls)}"
        for name, row in table.iterrows()
        if (calls := [size for size, ratio in row.items() if ratio < goal])
    ]
    return f"Less than {goal:.0f} times as fast: {'; '.join(missed) or 'none'}."


def speed(quick: bool) -> Parts:
    ONLBClassifier().partial_fit(*next(batches(BATCH)), classes=[0, 1])  # compile
    long = in_batches(100_000 if quick else ENOUGH)
    patience = 2.0 if quick else PATIENCE
    each = few_at_a_time(patience)
    texts = [
        f"ONLB as it is (T = 20 nets of two units, P = 10), {COLUMNS} columns, 1 % of positives, "
        f"`partial_fit` with {BATCH:,} rows a call, one thread; compiled before.",
        "Few rows a call. Each row is scored before it is learned: `learn` tells that score, and "
        f"river is asked for it by `predict_proba_one`. As many rows as {patience:.0f} seconds allow, "
        "and a fifth of them for ours. River's ensembles have 20 members. Hoeffding trees become "
        "larger, and so slower, in longer streams than these, and river's AdaBoost learns again and "
        "again what it got wrong, which makes it slower still.",
        f"ONLB's rows a second over river's. {below(each)}",
    ]
    printed = each.assign(**{"rows a second": each["rows a second"].round().astype(int)})
    return list(zip(texts, [long, printed, ratios(each)], strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short runs")
    quick = parser.parse_args().quick
    end, option = ("-quick", " --quick") if quick else ("", "")
    write(f"streams_speed{end}", f"python benchmarks/streams_speed.py{option}", speed(quick))


if __name__ == "__main__":
    main()
