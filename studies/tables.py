"""Values beside the published ones: differences, means, ranks, wins and Wilcoxon's test."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

# Two values as near as this are equal: published ones have three digits.
_EQUAL = 5e-4
#: A difference with a larger p is within noise, and not judged.
SIGNIFICANT = 0.05


class Beside(NamedTuple):
    """Our means over the runs beside the published values, of one measure and one k.

    All tables have a row a set and a column a method; a value that is not known is NaN.
    """

    ours: pd.DataFrame
    sd: pd.DataFrame
    published: pd.DataFrame
    runs: pd.DataFrame

    @property
    def shared(self) -> list[str]:
        """Sets with our values and published ones."""
        return [name for name in self.ours.index if name in self.published.index]

    def of(self, methods: Iterable[str], sets: Iterable[str] | None = None) -> Beside:
        """The same with a column for each of these methods, run or not, and a row a set."""
        rows = self.ours.index if sets is None else list(sets)
        ours, sd, runs = (
            table.reindex(index=rows, columns=list(methods))
            for table in (self.ours, self.sd, self.runs)
        )
        return Beside(ours, sd, self.published, runs.fillna(0))

    def means(self) -> pd.DataFrame:
        """A line a method: our mean, the published one over the same sets, and their difference."""
        lines = []
        for method in self.ours.columns:
            if method in self.published.columns:
                both = pd.DataFrame(
                    {
                        "ours": self.ours[method].reindex(self.shared),
                        "published": self.published[method].reindex(self.shared),
                    }
                ).dropna()
            else:
                # Over the same sets as its neighbours, or it could not be compared with them.
                sets = self.shared or self.ours.index
                own = self.ours[method].reindex(sets).dropna()
                both = pd.DataFrame({"ours": own, "published": np.nan})
            lines.append(
                {
                    "method": method,
                    "sets": len(both),
                    "published": both["published"].mean(),
                    "ours": both["ours"].mean(),
                    "difference": (both["ours"] - both["published"]).mean(),
                }
            )
        return pd.DataFrame(lines)

    def standing(self, best: str | None = None, larger_is_better: bool = True) -> pd.DataFrame:
        """A line a method, by the sets that all methods were run on.

        Columns are the mean over the sets, the mean rank, the sets on which the method is (also)
        the best and, where ``best`` is named, how often that one is ahead and behind, with
        the p-value (Wilcoxon, two-sided).
        """
        whole = self.ours.dropna()
        signed = whole if larger_is_better else -whole
        ranks = signed.round(9).rank(axis=1, ascending=False)
        top = signed.ge(signed.max(axis=1) - 1e-9, axis=0)
        lines = pd.DataFrame(
            {
                "mean": whole.mean(),
                "mean rank": ranks.mean(),
                "first on": top.sum().astype(int),
            }
        )
        if best in whole.columns:
            against = [compare(signed[best], signed[m]) for m in whole.columns]
            lines[f"{best} ahead"] = [a.ahead for a in against]
            lines["behind"] = [a.behind for a in against]
            lines["Wilcoxon p"] = [a.p for a in against]
        return lines.rename_axis("method").reset_index()

    def listed(self, methods: list[str], digits: int = 3) -> pd.DataFrame:
        """A line a set: of each method the published value and ours ± sd, and their difference."""
        lines = []
        for name in self.ours.index:
            line = {"set": name, "runs": int(self.runs.loc[name].max())}
            for method in methods:
                reported = _at(self.published, name, method)
                own, sd = _at(self.ours, name, method), _at(self.sd, name, method)
                line[f"{method}, published"] = _text(reported, digits)
                spread = "" if np.isnan(sd) else f" ± {sd:.{digits}f}"
                line[f"{method}, ours"] = _text(own, digits) + (spread if own == own else "")
                line["difference" if len(methods) == 1 else f"{method}, difference"] = _text(
                    own - reported, digits, sign=True
                )
            lines.append(line)
        return pd.DataFrame(lines)


class Against(NamedTuple):
    """How two methods stand on the same sets."""

    ahead: int
    behind: int
    p: float

    @property
    def is_significant(self) -> bool:
        """Whether the difference is beyond noise."""
        return self.p < SIGNIFICANT


def compare(one: pd.Series[float], other: pd.Series[float]) -> Against:
    """Sets on which one is ahead of another and behind it, and the p-value of that."""
    gap = (one - other).dropna()
    ahead, behind = int((gap > _EQUAL).sum()), int((gap < -_EQUAL).sum())
    p = float(wilcoxon(gap).pvalue) if (gap.abs() > 0).any() else float("nan")
    return Against(ahead, behind, p)


def standard_error(
    found: pd.DataFrame, method: str, measure: str, k: int, sets: Iterable[str]
) -> float:
    """Of the mean over sets, by how it differs from run to run; NaN of a single run."""
    is_asked = (found["measure"] == measure) & (found["k"] == k) & (found["method"] == method)
    own = found[is_asked & found["dataset"].isin(list(sets))]
    by_run = own.groupby("run")["value"].mean()
    return float(by_run.std() / np.sqrt(len(by_run))) if len(by_run) > 1 else float("nan")


def beside(
    found: pd.DataFrame,
    published: pd.DataFrame,
    measure: str,
    k: int = 0,
    names: dict[str, str] | None = None,
) -> Beside:
    """Results and published figures of one measure and one k.

    ``names`` holds the published names of our methods; those it lacks are called the same. Sets are
    in the order of the published table, others after them.
    """
    own = found[(found["measure"] == measure) & (found["k"] == k)]
    reported = published[(published["metric"] == measure) & (published["k"] == k)]
    renamed = {theirs: ours for ours, theirs in (names or {}).items()}
    reported = reported.assign(method=reported["method"].replace(renamed))
    order = [
        *dict.fromkeys(reported["dataset"]),
        *sorted(set(own["dataset"]) - set(reported["dataset"])),
    ]
    methods = list(dict.fromkeys(own["method"]))
    rows = [name for name in order if name in set(own["dataset"])]

    def by(values: Any) -> pd.DataFrame:
        table = own.pivot_table(index="dataset", columns="method", values="value", aggfunc=values)
        return table.reindex(index=rows, columns=methods)

    theirs = reported.pivot_table(index="dataset", columns="method", values="value")
    return Beside(by("mean"), by("std"), theirs, by("count"))


def rounded(table: pd.DataFrame, digits: int = 3) -> pd.DataFrame:
    """A table as it is shown."""
    shown = table.copy()
    for name in shown.columns:
        if pd.api.types.is_float_dtype(shown[name]):
            signed = str(name).endswith("difference")
            shown[name] = [_text(float(v), digits, sign=signed) for v in shown[name]]
    return shown


def _at(table: pd.DataFrame, row: str, column: str) -> float:
    if row not in table.index or column not in table.columns:
        return float("nan")
    value: Any = table.at[row, column]
    return float(value)


def _text(value: float, digits: int, sign: bool = False) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:{'+' if sign else ''}.{digits}f}"


def means_of(table: pd.DataFrame) -> dict[str, float]:
    """The mean of each column."""
    return {str(name): float(table[name].mean()) for name in table.columns}
