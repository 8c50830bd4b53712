"""The scoreboard: rarefind's estimators and AutoClassifier beside what people use today.

python benchmarks/scoreboard.py --data ../shared/data               # what is left of the block to choose by
python benchmarks/scoreboard.py --half large --methods quick        # one fit each of the large tables
python benchmarks/scoreboard.py --half large --methods SGBAP --again   # after a change of SGBAP
python benchmarks/scoreboard.py --half small --most 10 --methods ours defaults
python benchmarks/scoreboard.py --half large --sets clusters profiles --methods automl
python benchmarks/scoreboard.py --page                              # the page of what is done so far
python benchmarks/scoreboard.py --block final --final --data ../shared/data
python benchmarks/scoreboard.py --speed                             # what fits and scores cost
python benchmarks/scoreboard.py --quick                             # to see it work

There are two blocks (benchmarks/_blocks.py): one to choose by, whose page is
benchmarks/results/scoreboard_choose.md, and a final one, which is run once, when all choices are
made, and writes docs/scoreboard.md. Every value lands in benchmarks/results/scoreboard_BLOCK.parquet,
so a run can be stopped and goes on where it was.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from pathlib import Path

# One thread each, whatever a method takes by itself: set before any of them is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from _blocks import Block, add_run_options, check_block, small_block
from _methods import Effort, Ranked, folds_of, methods_of, rank_rows
from _scoreboard_page import COST, add_half
from large_tables import WEB_PAGES, Task, described, large_names, load_large
from scoreboard_speed import speed_lines
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from rarefind.data import list_keel, list_published
from rarefind.metrics import average_precision, f_beta, pos_at_top, precision_at_k
from studies import Results, run_study
from studies.catalogue import About
from studies.report import Report, write_report
from studies.sets import Sets
from studies.study import Part, Row, Study

HERE = Path(__file__).parent
# Configurations of those that are tuned, and the folds that they are judged by.
TRIALS, FOLDS = {"small": 12, "large": 6}, {"small": 3, "large": 1}
# Seconds of AutoClassifier, AutoGluon and FLAML: small sets, large tables, and those with so many rows.
SHORT, LONG, LONGER, MANY = 30.0, 60.0, 300.0, 500_000
# Small sets have so many positives, and at most such a share of them.
FEWEST, MOST_SHARE = 15, 0.35


class Scoreboard(Study):
    """Some methods on the sets of a block, and of one half of it or both."""

    about = About("scoreboard", "Scoreboard", "rarefind", 1)
    protocol = 3

    def __init__(
        self,
        block: Block = "choose",
        halves: tuple[str, ...] = ("small", "large"),
        methods: tuple[str, ...] = ("all",),
        most: int | None = None,
        only: tuple[str, ...] = (),
    ) -> None:
        self.block, self._halves, self._most, self._only = block, halves, most, only
        self._methods = methods_of(methods)
        self._totals: dict[str, int] = {}

    @property
    def name(self) -> str:
        return f"scoreboard_{self.block}"

    def parts(self, sets, runs, quick):
        if quick:
            methods = [m for m in self._methods if m in ("SGBAP", "XGBoost (300)", "γk-NN")]
            return [Part(name, 0, m) for name in ("glass4", "crash deaths") for m in methods]
        # Of a half-done board a fair part is done: all methods of a set, then the next set.
        return [
            Part(name, run, method)
            for run in range(runs)
            for half in self._halves
            for name in self.names(half, sets)[: self._most]
            if not self._only or name in self._only
            for method in self._methods
        ]

    def names(self, half, sets):
        """The sets of a half of the block."""
        if half == "large":
            return large_names(self.block, sets.folder)
        return [name for name in small_names(sets) if small_block(name) == self.block]

    def run(self, part, sets, quick):
        task, half = load_task(part, sets)
        limit = SHORT if half == "small" else LONG if len(task.y) < MANY else LONGER
        folds = folds_of(task, FOLDS[half], part.run)
        effort = Effort(2 if quick else TRIALS[half], folds, 5.0 if quick else limit, part.run)
        return rows_of(part.what, task, rank_rows(part.what, task, effort))

    def report(self, found, quick):
        report = Report(self.title, INTRO)
        report.text(
            "This is the final block, run once after all choices were made."
            if self.block == "final"
            else "This is the block to choose by: nothing on this page is a clean test."
        )
        large = set(large_names(self.block, Path())) | {WEB_PAGES}
        is_large = found["dataset"].isin(large)
        for half, values in (("large", found[is_large]), ("small", found[~is_large])):
            total = self._totals.get(half, values["dataset"].nunique())
            add_half(report, half, values, total)
        return report

    def count_sets(self, sets):
        """How many sets there are in all, for the page."""
        self._totals = {half: len(self.names(half, sets)) for half in ("small", "large")}


def rows_of(name: str, task: Task, ranked: Ranked) -> list[Row]:
    """Every measure of what a method made of a table."""
    truth, score = task.truth, ranked.score
    values = {
        "AP": average_precision(truth, score),
        "P@k": precision_at_k(truth, score, int(truth.sum())),
        "AUC": roc_auc_score(truth, score),
        "Pos@Top": pos_at_top(truth, score),
        COST: ranked.processor_seconds,
    }
    if ranked.decided is not None:
        values["F1"] = f_beta(truth, ranked.decided)
    params = json.dumps(ranked.chosen, default=str)
    return [Row(name, m, float(v), 0, params, ranked.seconds) for m, v in values.items()]


def small_names(sets: Sets) -> list[str]:
    """Every public set at hand, each once whatever its names, in an order that has nothing to do with it."""
    known = set(list_keel()) | set([] if sets.folder is None else list_published(sets.folder))
    fit: dict[str, np.ndarray] = {}
    for name in sorted(known, key=lambda name: hashlib.sha256(name.encode()).digest()):
        X, y = sets.load(name)
        if y.sum() >= FEWEST and y.mean() <= MOST_SHARE and y.size < 20_000:
            traits = np.array([y.size, y.sum(), *np.sort(X[y].mean(axis=0))])
            if not any(is_same(traits, other) for other in fit.values()):
                fit[name] = traits
    return list(fit)


def is_same(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two sets are one under two names: columns may be ordered anew, copies left out."""
    return one.size == other.size and np.allclose(one, other, rtol=0.01)


def load_task(part: Part, sets: Sets) -> tuple[Task, str]:
    """Rows to learn from and rows to test, and of which half they are."""
    if part.dataset in (*large_names("choose", Path()), *large_names("final", Path())):
        return load_large(part.dataset, sets.folder), "large"
    X, y = sets.load(part.dataset)
    own, other, labels, truth = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=part.run
    )
    return Task(own, labels, other, truth), "small"


INTRO = (
    "rarefind beside what people use today, measured in one way for all, each with one thread. Two "
    "halves: every public set at hand with fewer than 20,000 rows, at least "
    f"{FEWEST} positives and at most {100 * MOST_SHARE:.0f} % of them, each once whatever its names, split "
    "70/30; and large tables with 0.05 to 5 % positives (`benchmarks/large_tables.py`), in time order "
    "where there is time. Each half has two blocks, written down in `benchmarks/_blocks.py`: one to choose "
    "by, one run once at the end. ExtraTrees, RandomForest, CatBoost, LightGBM and XGBoost are there as "
    "they are, with so many trees or rounds; and tuned: configurations drawn at random from a grid, "
    f"{TRIALS['small']} judged by average precision on {FOLDS['small']} folds of the training rows on small sets, "
    f"{TRIALS['large']} by one held-out part, later rows where there is time, on large ones. AutoClassifier, "
    f"AutoGluon and FLAML have the same time limit: {SHORT:.0f} s for small sets, {LONG:.0f} s for large ones and "
    f"{LONGER:.0f} s from {MANY:,} rows on, by the clock; so what else the machine did at that time "
    "costs them rows or models, and what they really used of the processor stands beside. rarefind's "
    "other estimators are as they are, but for `SGBAP, tuned`. All methods see the same numbers: "
    "texts are coded by their frequency, missing values are -1. k of P@k is the number of "
    "positives among the test rows; F1 is of those that decide by a threshold of held-out rows."
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_run_options(parser)
    parser.add_argument("--half", choices=["small", "large"], help="by default both")
    parser.add_argument("--sets", nargs="+", default=[], help="some sets of the block only")
    parser.add_argument("--most", type=int, help="the first so many sets of each half")
    parser.add_argument("--data", type=Path, help="a folder of more public sets")
    parser.add_argument("--speed", action="store_true", help="measure speed and memory only")
    given = parser.parse_args()
    block = check_block(parser, given)
    results = HERE / "results"
    if given.speed:
        write_speed(results, given.quick)
        return
    halves = (given.half,) if given.half else ("small", "large")
    try:
        study = Scoreboard(block, halves, tuple(given.methods), given.most, tuple(given.sets))
    except ValueError as error:
        parser.error(str(error))
    if not given.page:
        run_study(
            study,
            results,
            data=given.data,
            quick=given.quick,
            n_jobs=given.jobs,
            verbose=1,
            again=given.again,
        )
    if given.no_page:
        return
    print(write_page(study, results, given.data, given.quick).read_text(encoding="utf-8"))


def write_page(study: Scoreboard, results: Path, data: Path | None, quick: bool) -> Path:
    """The page of all that was run of a block, whatever was asked for this time."""
    found = Results(study, results, quick).table()
    sets = Sets(data)
    if not quick:
        study.count_sets(sets)
    report = study.report(found, quick)
    options = "" if study.block == "choose" else " --block final --final"
    command = f"python benchmarks/scoreboard.py{options}" + (f" --data {data}" if data else "")
    if quick:
        return write_report(report, f"{study.name}-quick", results, command, found)
    names = [n for n in large_names(study.block, data) if n in set(found["dataset"])]
    if names:
        report.table("The large tables", described(names, data))
    kept = results / "scoreboard_speed.json"
    if study.block == "final" and kept.exists():
        report.table(SPEED, pd.read_json(kept, dtype=False))
    folder, name = (
        (HERE.parent / "docs", "scoreboard") if study.block == "final" else (results, study.name)
    )
    return write_report(report, name, folder, command, found)


def write_speed(results: Path, quick: bool) -> None:
    lines = []
    for line in speed_lines(quick=quick):
        print(line, flush=True)
        lines.append(line)
    if not quick:
        pd.DataFrame(lines).to_json(results / "scoreboard_speed.json", orient="records")


SPEED = (
    "Speed and memory (`python benchmarks/scoreboard.py --speed`): 30 columns, 1 % positive, "
    "2 threads; each line in a process of its own, all in one run; ratios are to XGBoost's 100 rounds; "
    "AutoClassifier is left out, as it takes the time that it is given, and k-NN of a million rows, "
    "which takes longer than anybody waits"
)


if __name__ == "__main__":
    main()
