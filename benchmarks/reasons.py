"""Reasons: whether alerts fall when the columns that their reasons name are replaced.

python benchmarks/reasons.py            # some minutes on 2 cores
python benchmarks/reasons.py --quick
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd
from _report import write
from joblib import Parallel, delayed
from rich.progress import track
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

import rarefind.boosting
import rarefind.conditions
import rarefind.neighbors
import rarefind.trees
from rarefind.base import RareClassifier
from rarefind.conditions import RuleListClassifier
from rarefind.data import load_keel
from rarefind.neighbors import IMLClassifier
from rarefind.selection import faithfulness

SETS = ["yeast6", "abalone9-18", "vowel0"]
SPLITS = 5
ALERTS, DRAWS = 20, 20
FAMILIES = [rarefind.neighbors, rarefind.trees, rarefind.boosting, rarefind.conditions]
# One learns a distance for each row it is asked about, and thousands of them take it an hour; the
# other has rules that people write.
LEFT_OUT = {IMLClassifier, RuleListClassifier}


def estimators() -> list[type]:
    public = [getattr(family, name) for family in FAMILIES for name in family.__all__]
    return [
        thing
        for thing in public
        if isinstance(thing, type) and issubclass(thing, RareClassifier) and thing not in LEFT_OUT
    ]


def one_fit(cls: type, name: str, split: int, train: np.ndarray, test: np.ndarray) -> dict:
    X, y = load_keel(name)
    scaler = StandardScaler().set_output(transform="pandas").fit(X.iloc[train])
    model = cls()
    seed = {"random_state": split} if "random_state" in model.get_params() else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.set_params(**seed).fit(scaler.transform(X.iloc[train]), y.iloc[train])
    found = faithfulness(
        model,
        scaler.transform(X.iloc[test]),
        n_alerts=ALERTS,
        n_draws=DRAWS,
        random_state=split,
    )
    return {
        "estimator": cls.__name__.removesuffix("Classifier"),
        "set": name,
        "lowered": found.share_lowered,
        "drop": found.rank_drop,
        "random": found.against_random,
        "named": found.columns_named,
    }


def measure(quick: bool) -> pd.DataFrame:
    tasks = []
    for name in SETS[:1] if quick else SETS:
        X, y = load_keel(name)
        splits = StratifiedShuffleSplit(1 if quick else SPLITS, test_size=0.3, random_state=0)
        for split, (train, test) in enumerate(splits.split(X, y)):
            tasks += [(cls, name, split, train, test) for cls in estimators()]
    fits = Parallel(n_jobs=-1, return_as="generator")(delayed(one_fit)(*task) for task in tasks)
    return pd.DataFrame(track(fits, "fits", total=len(tasks)))


def summary(found: pd.DataFrame) -> pd.DataFrame:
    by_set = found.pivot_table(index="estimator", columns="set", values="lowered", sort=False)
    means = found.groupby("estimator", sort=False)[["lowered", "drop", "random", "named"]].mean()
    table = pd.DataFrame({f"lowered, {name}": by_set[name] for name in found["set"].unique()})
    table["lowered, mean"] = means["lowered"]
    table["ranks fallen"] = means["drop"]
    table["by other columns"] = means["random"]
    shown = table.map("{:z.0%}".format)
    shown["columns named"] = means["named"].map("{:.1f}".format)
    return shown.reset_index()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    found = measure(quick)
    sizes = ", ".join(f"{name} {load_keel(name)[0].shape[1]}" for name in found["set"].unique())
    text = (
        f"The {ALERTS} rows of the test part with the highest priority, {1 if quick else SPLITS} random "
        "splits 70/30, columns standardised, default settings. The columns that a reason names are "
        f"replaced by those of {DRAWS} rows drawn from the lower half of the list. Lowered is the "
        "share of the alerts whose priority falls, on average over the draws; ranks fallen is how far, as a "
        "share of the list. By other columns is the same fall when as many columns that the reason "
        "does not name are replaced, or all of them where they are fewer; an estimator whose "
        f"reasons name nearly all columns leaves few. Columns: {sizes}. Left out are "
        "IMLClassifier, which learns a distance for each row it is asked about, and RuleListClassifier, "
        "whose rules people write."
    )
    options = " --quick" if quick else ""
    name = "reasons-quick" if quick else "reasons"
    write(name, f"python benchmarks/reasons.py{options}", [(text, summary(found))])


if __name__ == "__main__":
    main()
