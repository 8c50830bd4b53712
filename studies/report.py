"""A report: text, tables and pictures, as Markdown."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import sklearn

import rarefind
from studies.files import atomic_write


class Claim(NamedTuple):
    """Something that the publication says, whether it holds here, and what shows it."""

    statement: str
    #: None where the sets at hand, or the runs so far, do not decide it.
    holds: bool | None
    shown: str

    @property
    def verdict(self) -> str:
        """Whether it holds, in words."""
        return {True: "Holds", False: "Does not hold", None: "Undecided"}[self.holds]

    def judged_if(self, enough: bool, otherwise: str) -> Claim:
        """The same where there is enough to judge it by; else left open, with the reason first."""
        return self if enough else self._replace(holds=None, shown=f"{otherwise} {self.shown}")


def judged_from(fewest: int, found: pd.DataFrame, claims: list[Claim]) -> list[Claim]:
    """Claims, all left open while there are fewer runs."""
    enough = found["run"].nunique() >= fewest
    return [claim.judged_if(enough, f"Fewer than {fewest} runs so far.") for claim in claims]


@dataclass
class Report:
    """The parts of a report, in their order."""

    title: str
    #: What it is about: the source, the protocol, and how far ours is that.
    intro: str
    claims: list[Claim] = field(default_factory=list)
    #: Why what does not hold does not, in plain words.
    why: str = ""
    blocks: list[tuple[str, Any]] = field(default_factory=list)

    def text(self, paragraph: str) -> None:
        """Add a paragraph of Markdown."""
        self.blocks.append(("text", paragraph))

    def table(self, caption: str, table: pd.DataFrame) -> None:
        """Add a table under its caption; its values are shown as they are."""
        self.blocks.append(("table", (caption, table)))

    def picture(self, name: str, caption: str, draw: Callable[[Any], None]) -> None:
        """Add a picture, drawn on a Matplotlib figure of 8 by 4.5 inches."""
        self.blocks.append(("picture", (name, caption, draw)))


def write_report(
    report: Report, name: str, folder: Path, command: str, found: pd.DataFrame
) -> Path:
    """Write ``NAME.md`` with its pictures beside it, and return its path.

    ``found`` are the values that it rests on.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for kind, what in report.blocks:
        if kind == "picture":
            _write(folder / f"{name}-{what[0]}.svg", _svg(what[2]))
    page = folder / f"{name}.md"
    _write(page, markdown(report, name, command, summary_of(found)))
    return page


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8")


def markdown(report: Report, name: str, command: str, summary: str) -> str:
    """The page of a report; ``command`` writes it, and ``summary`` says what it rests on."""
    made = (
        f"`{command}`, {datetime.now(UTC):%Y-%m-%d}, rarefind {rarefind.__version__}, "
        f"Python {platform.python_version()}, scikit-learn {sklearn.__version__}, "
        f"NumPy {np.__version__}, {os.cpu_count()} cores. {summary}"
    )
    lines = [f"# {report.title}", "", report.intro, "", made, ""]
    if report.claims:
        lines += ["## What holds and what does not", ""]
        for claim in report.claims:
            shown = re.sub(r"[+-]?\bnan\b", "–", claim.shown)  # what is not known
            lines.append(f"- **{claim.verdict}:** {claim.statement} {shown}")
        lines.append("")
    if report.why:
        lines += [report.why, ""]
    for kind, what in report.blocks:
        if kind == "text":
            lines += [what, ""]
        elif kind == "table":
            lines += [f"**{what[0]}**", "", *_table(what[1]), ""]
        else:
            lines += [f"![{what[1]}]({name}-{what[0]}.svg)", "", f"*{what[1]}*", ""]
    return "\n".join(lines).rstrip() + "\n"


def summary_of(found: pd.DataFrame) -> str:
    """How many runs a report rests on, in a sentence."""
    runs = found.groupby("dataset")["run"].nunique()
    spread = str(runs.min()) if runs.min() == runs.max() else f"{runs.min()} to {runs.max()}"
    parts = found.groupby(["dataset", "run", "what"]).ngroups
    return (
        f"It rests on {spread} run{'' if spread == '1' else 's'} of each of {len(runs)} sets: "
        f"{len(found):,} values of {parts:,} parts."
    )


def _table(table: pd.DataFrame) -> list[str]:
    def cell(value: Any) -> str:
        return str(value).replace("|", "\\|").replace("\n", " ")

    head = [cell(name) for name in table.columns]
    return [
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(map(cell, row))} |" for row in table.itertuples(index=False)),
    ]


def _svg(draw: Callable[[Any], None]) -> str:
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "rarefind", "svg.fonttype": "path"}):
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure)
        text = StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()
