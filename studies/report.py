"""A report: text, tables and pictures, as Markdown and as a page that needs no network."""

from __future__ import annotations

import html
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
from markdown_it import MarkdownIt

import rarefind
from rarefind._core.files import written_whole

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;display:block;overflow-x:auto;font-size:.9rem}"
    "td,th{border-bottom:1px solid #ccc;padding:.2rem .6rem;text-align:right}"
    "td:first-child,th:first-child{text-align:left}svg{max-width:100%;height:auto}"
    "code{background:#f2f2f2;padding:0 .2rem}"
)


class Claim(NamedTuple):
    """Something that the publication says, whether it holds here, and what shows it."""

    statement: str
    #: None where the sets at hand, or the runs so far, cannot tell.
    holds: bool | None
    shown: str

    @property
    def verdict(self) -> str:
        """Whether it holds, in words."""
        return {True: "Holds", False: "Does not hold", None: "Cannot be told"}[self.holds]

    def judged_if(self, enough: bool, otherwise: str) -> Claim:
        """The same where there is enough to judge it by; else left open, and why is said first."""
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
) -> tuple[Path, Path]:
    """Write ``NAME.md`` with its pictures beside it, and ``NAME.html`` with them inside.

    ``found`` are the values that it rests on.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {}
    for kind, what in report.blocks:
        if kind == "picture":
            pictures[what[0]] = _svg(what[2])
            _write(folder / f"{name}-{what[0]}.svg", pictures[what[0]])
    page = _markdown(report, name, command, _rests_on(found))
    _write(folder / f"{name}.md", page)
    _write(folder / f"{name}.html", _html(report.title, page, name, pictures))
    return folder / f"{name}.md", folder / f"{name}.html"


def _write(path: Path, text: str) -> None:
    with written_whole(path) as part:
        Path(part).write_text(text, encoding="utf-8")


def _markdown(report: Report, name: str, command: str, rests_on: str) -> str:
    made = (
        f"`{command}`, {datetime.now(UTC):%Y-%m-%d}, rarefind {rarefind.__version__}, "
        f"Python {platform.python_version()}, scikit-learn {sklearn.__version__}, "
        f"NumPy {np.__version__}, {os.cpu_count()} cores. {rests_on}"
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


def _rests_on(found: pd.DataFrame) -> str:
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


def _html(title: str, page: str, name: str, pictures: dict[str, str]) -> str:
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(page)
    for picture, svg in pictures.items():
        start = body.index(f'<img src="{name}-{picture}.svg"')
        end = body.index("/>", start) + 2
        body = body[:start] + svg[svg.index("<svg") :] + body[end:]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}'
        '</title><meta name="viewport" content="width=device-width">'
        f"<style>{_STYLE}</style></head><body>{body}</body></html>\n"
    )


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
