"""Write what a benchmark measured as a Markdown page: the command, the machine, the tables."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

import numpy
import pandas as pd
import sklearn

import rarefind

RESULTS = Path(__file__).parent / "results"


def write(name: str, command: str, parts: list[tuple[str, pd.DataFrame]]) -> None:
    """Save the parts, each a paragraph and a table, as ``results/NAME.md``."""
    lines = [
        f"# {name}",
        "",
        f"`{command}`, {datetime.now(UTC):%Y-%m-%d}, rarefind {rarefind.__version__}, "
        f"Python {platform.python_version()}, scikit-learn {sklearn.__version__}, "
        f"NumPy {numpy.__version__}, {os.cpu_count()} cores. Times compare within this run only.",
    ]
    for text, table in parts:
        lines += ["", text, "", *_markdown(table)]
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(path.read_text(encoding="utf-8"))


def _markdown(table: pd.DataFrame) -> list[str]:
    rows = [[str(v) for v in row] for row in table.to_numpy()]
    head = [str(c) for c in table.columns]
    return [
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
