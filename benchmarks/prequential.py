"""Fraud found a week after learning, as the Fraud Detection Handbook measures it.

python benchmarks/prequential.py --methods quick          # what is left of the worlds to choose by
python benchmarks/prequential.py --methods SGBAP --again  # after a change of SGBAP
python benchmarks/prequential.py --rates "1 in 700" --most 3   # one in 700, the first three worlds
python benchmarks/prequential.py --page
python benchmarks/prequential.py --block final --final
python benchmarks/prequential.py --quick

Learn from seven days, wait seven days for labels, rank the payments of the seven days after that; cards whose fraud
is known by then are left out. Ten worlds of the simulator at two shares of fraud to choose by, ten
others to be run once at the end (benchmarks/_blocks.py), which write docs/prequential.md; the page of the
former is benchmarks/results/prequential_choose.md. Values land in
benchmarks/results/prequential_BLOCK.parquet, so a run can be stopped and goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from _blocks import WORLDS, Block, add_run_options, check_block
from _handbook import BEFORE, CUSTOMERS, DELAY, FOLDS, TEST, TRAIN, fold_rows, make_world
from _methods import AUTO, AUTOML, GROUPS, SGBAP, Effort, folds_of, methods_of, rank_rows
from _scoreboard_page import COST
from large_tables import Task
from sklearn.metrics import roc_auc_score

from rarefind.metrics import average_precision, entity_precision_at_k
from studies import Results, run_study
from studies.catalogue import About
from studies.report import Claim, Report, write_report
from studies.study import Part, Row, Study
from studies.tables import rounded

HERE = Path(__file__).parent
#: Shares of fraud by their names.
RATES = {"0.9 %": 0.009, "1 in 700": 1 / 700}
#: Cards that are checked a day; and what AutoClassifier, AutoGluon and FLAML are given.
CHECKS, LIMIT, TRIALS = 100, 60.0, 6
MEASURES = ("AP", "AUC", "card P@100")


class Prequential(Study):
    """Some methods on the worlds of a block; a run is a fold."""

    about = About("prequential", "Fraud of the week after next", "rarefind", FOLDS)

    def __init__(
        self,
        block: Block = "choose",
        methods: tuple[str, ...] = ("all",),
        most: int | None = None,
        rates: tuple[str, ...] = tuple(RATES),
    ) -> None:
        self.block, self._most, self._rates = block, most, rates
        self._methods = methods_of(methods)

    @property
    def name(self) -> str:
        return f"prequential_{self.block}"

    def parts(self, sets, runs, quick):
        worlds = WORLDS[self.block][: 1 if quick else self._most]
        return [
            Part(f"world {seed}, {rate}", fold, method)
            for seed in worlds
            for rate in self._rates
            for fold in range(runs)
            for method in self._methods
        ]

    def run(self, part, sets, quick):
        seed, rate = part.dataset.removeprefix("world ").split(", ")
        world = make_world(int(seed), RATES[rate], 500 if quick else CUSTOMERS)
        train, test = fold_rows(world, part.run)
        task = Task(world.X[train], world.y[train], world.X[test], world.y[test], world.time[train])
        folds = folds_of(task, 1, part.run)
        effort = Effort(2 if quick else TRIALS, folds, 5.0 if quick else LIMIT, part.run)
        ranked = rank_rows(part.what, task, effort)
        values = {
            "AP": average_precision(task.truth, ranked.score),
            "AUC": roc_auc_score(task.truth, ranked.score),
            "card P@100": entity_precision_at_k(
                task.truth, ranked.score, world.card[test], world.day[test], CHECKS
            ),
            COST: ranked.processor_seconds,
        }
        params = json.dumps(ranked.chosen, default=str)
        return [Row(part.what, m, float(v), 0, params, ranked.seconds) for m, v in values.items()]

    def report(self, found, quick):
        report = Report(self.title, INTRO)
        report.text(
            "These are the final worlds, run once after all choices were made."
            if self.block == "final"
            else "These are the worlds to choose by: nothing on this page is a clean test."
        )
        for rate in RATES:
            values = found[found["dataset"].str.endswith(f", {rate}")]
            if not values.empty:
                ap = by_world(values, "AP")
                report.claims += claims(rate, ap)
                report.table(f"Fraud {rate}; worlds: {len(ap)}", standing(values, ap.index))
        return report


def by_world(found: pd.DataFrame, measure: str) -> pd.DataFrame:
    """A line a world, a column a method: the mean over the folds that all of them were run on."""
    own = found[found["measure"] == measure]
    table = own.pivot_table(index=["dataset", "run"], columns="method", values="value")
    counts = table.notna().sum()
    whole = table[counts.index[counts >= 0.8 * counts.max()]].dropna()
    return whole.groupby("dataset").mean()


def standing(found: pd.DataFrame, worlds: pd.Index) -> pd.DataFrame:
    """A line a method: means over worlds, and how far SGBAP and AutoClassifier are ahead by AP."""
    ap = by_world(found, "AP")
    lines = pd.DataFrame({m: by_world(found, m).loc[worlds].mean() for m in MEASURES})
    lines["± (AP)"] = ap.std() / np.sqrt(len(ap))
    for ours in (SGBAP, AUTO):
        if ours in ap:
            gap = ap.rsub(ap[ours], axis=0)
            lines[f"{ours} ahead by"] = gap.mean()
            lines[f"± ({ours})"] = gap.std() / np.sqrt(len(ap))
    lines[COST] = by_world(found, COST).mean().round(1)
    lines = lines.sort_values("AP", ascending=False)
    return rounded(lines.rename_axis("method").reset_index())


def claims(rate: str, ap: pd.DataFrame) -> list[Claim]:
    """Whether ours are ahead of every rival by more than the standard error over worlds."""
    own = {*GROUPS["ours"], "SGBAP, tuned"}
    rivals = [m for m in ap if m not in own]
    found = []
    for ours in (SGBAP, AUTO):
        if ours not in ap or not rivals:
            continue
        rival = max(rivals, key=ap.mean().__getitem__)
        gap = ap[ours] - ap[rival]
        error = gap.std() / np.sqrt(len(gap))
        least = max(error, 0.02) if rate == "1 in 700" else error
        wanted = "by 0.02 AP and " if rate == "1 in 700" else ""
        found.append(
            Claim(
                f"Fraud {rate}: {ours} is ahead of every rival {wanted}by more than the standard "
                "error over worlds.",
                bool(gap.mean() > least),
                f"{ap[ours].mean():.3f}; {rival} has {ap[rival].mean():.3f}: "
                f"{gap.mean():+.3f} ± {error:.3f}.",
            ).judged_if(len(gap) == len(WORLDS["final"]), "Too few worlds so far.")
        )
    return found


INTRO = (
    "The protocol of the Fraud Detection Handbook (Le Borgne and others 2022, chapter 5) on worlds "
    f"of `rarefind.data.simulate_transactions`: {CUSTOMERS:,} customers; methods learn from {TRAIN} days, "
    f"labels are {DELAY} days late, and the payments of {TEST} days after that are ranked, without those of cards "
    f"whose fraud is known by then; {FOLDS} folds, a week apart, after {BEFORE} days of history. Average "
    f"precision and AUC are of payments, card P@100 is the share of hits among the {CHECKS} cards with the highest "
    "scores of each day, a card that was found left out from then on. At 1 in 700 there are about "
    f"a hundred frauds to learn from. Methods are as on the scoreboard, with one thread: {', '.join(AUTOML)} have "
    f"{LIMIT:.0f} s by the clock, those that are tuned {TRIALS} configurations, judged by the last 30 % of the "
    "payments to learn from. ± is the standard error over worlds, of differences between methods on the "
    "same worlds where it stands after one."
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_run_options(parser)
    parser.add_argument("--most", type=int, help="the first so many worlds")
    parser.add_argument("--rates", nargs="+", choices=list(RATES), default=list(RATES))
    given = parser.parse_args()
    block = check_block(parser, given)
    try:
        study = Prequential(block, tuple(given.methods), given.most, tuple(given.rates))
    except ValueError as error:
        parser.error(str(error))
    results = HERE / "results"
    if not given.page:
        run_study(
            study, results, quick=given.quick, n_jobs=given.jobs, verbose=1, again=given.again
        )
    if given.no_page:
        return
    found = Results(study, results, given.quick).table()
    is_final = block == "final" and not given.quick
    folder, name = (HERE.parent / "docs", "prequential") if is_final else (results, study.name)
    options = " --block final --final" if block == "final" else ""
    page = write_report(
        study.report(found, given.quick),
        name + ("-quick" if given.quick else ""),
        folder,
        f"python benchmarks/prequential.py{options}",
        found,
    )
    print(page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
