"""The published figures, by our names for the sets."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import pandas as pd

#: Names of sets in the papers, and of the same sets here.
ALIASES = {
    "hayes": "hayes-roth",
    "yeast-1vs7": "yeast-1_vs_7",
    "yeast-0-5-6-7-9vs4": "yeast-0-5-6-7-9_vs_4",
}
# The sources by the number that their names begin with.
_ME2, _ICTAI = "003", "002"
_OF_ONE_SOURCE = {
    (_ME2, "wine"): "redwinequality4",
    (_ME2, "abalone17"): "abalone-17_vs_7-8-9-10",
    (_ME2, "abalone20"): "abalone-20_vs_8-9-10",
    (_ICTAI, "wine4"): "redwinequality4",
}
# Names of lines that are means, not sets.
_MEANS = ("mean", "average")


@cache
def all_figures() -> pd.DataFrame:
    """The figures of every table and source."""
    with files("studies").joinpath("published.csv").open(encoding="utf-8") as file:
        table = pd.read_csv(file, dtype={"table": str, "source": str})
    table["source"] = table["source"].str[:3]
    names = zip(table["source"], table["dataset"], strict=True)
    table["dataset"] = [_OF_ONE_SOURCE.get(pair, ALIASES.get(pair[1], pair[1])) for pair in names]
    return table.assign(k=table["k"].fillna(0).astype(int))


def published(source: str, table: str) -> pd.DataFrame:
    """The figures of a table: ``dataset``, ``method``, ``metric``, ``k``, ``value``, ``sd``.

    Lines of means over sets are left out: they are computed over the sets at hand.
    """
    found = _table(source, table)
    return found[~found["dataset"].isin(_MEANS)].reset_index(drop=True)


def published_means(source: str, table: str) -> pd.DataFrame:
    """The lines of means over sets that a table has: ``method``, ``metric``, ``k``, ``value``."""
    found = _table(source, table)
    return found[found["dataset"].isin(_MEANS)].drop(columns="dataset").reset_index(drop=True)


def published_value(source: str, table: str, method: str, metric: str) -> float:
    """The one figure that a table has of a method; NaN where it has none."""
    found = _table(source, table)
    own = found.loc[(found["method"] == method) & (found["metric"] == metric), "value"]
    return float(own.item()) if len(own) else float("nan")


def _table(source: str, table: str) -> pd.DataFrame:
    every = all_figures()
    found = every[(every["source"] == source) & (every["table"] == table)]
    if found.empty:
        raise ValueError(f"No figures of table {table} of source {source} are known.")
    return found.drop(columns=["source", "table"])
