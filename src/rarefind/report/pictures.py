"""Pictures inside a page, and in files of their own."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import TYPE_CHECKING

from rarefind._core.extras import extra
from rarefind._core.files import atomic_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def axes(width: float = 6.4, height: float = 4.2) -> tuple[Figure, Axes]:
    """A figure of its own: no window system and no global state."""
    with extra("cli", "A report"):
        from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def picture(figure: Figure) -> str:
    """The figure as text for an ``img``: the same bytes every time."""
    import matplotlib as mpl

    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "rarefind"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode()


def save_picture(figure: Figure, path: Path) -> None:
    """Write a figure by the ending of its name, whole or not at all: the same bytes every time."""
    import matplotlib as mpl

    kind = path.suffix[1:].lower()
    with mpl.rc_context({"svg.hashsalt": "rarefind"}), atomic_write(path) as part:
        figure.savefig(part, format=kind, metadata={"Date": None} if kind == "svg" else None)
