"""The page: figures and pictures put into the template, everything escaped."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from rarefind.plots._axes import percent


def render(figures: dict[str, Any], pictures: dict[str, Any]) -> str:
    """The HTML of a report; every number on it comes from ``figures`` and carries its key."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    def number(key: str, kind: str = "count") -> Markup:
        value = look_up(figures, key)
        if value is None:
            return Markup('<span class="none">–</span>')
        text = shown(value, kind)
        attributes = (key, json.dumps(value), text)
        return Markup('<span data-key="{}" data-value="{}">{}</span>').format(*attributes)

    template = files("rarefind.cli").joinpath("report.html").read_text(encoding="utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals["n"] = number
    # In a block of data only the end of a tag could end it.
    safe = json.dumps(figures, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    return environment.from_string(template).render(f=figures, pictures=pictures, data=Markup(safe))


def look_up(figures: Any, key: str) -> Any:
    """The figure that a key such as ``cases.0.probability`` names."""
    for part in key.split("."):
        figures = figures[int(part) if isinstance(figures, list) else part]
    return figures


def shown(value: Any, kind: str) -> str:
    """A figure as people read it."""
    if isinstance(value, str):
        return value
    if kind == "percent":
        return percent(float(value), 1 if abs(value) < 0.1 else 0)
    if kind == "chance":
        return percent(float(value), 0 if abs(value) >= 0.01 else 1)
    if kind == "decimal":
        return f"{value:.3f}" if abs(value) < 100 else f"{value:,.1f}"
    if kind == "money" or abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:,.1f}"
