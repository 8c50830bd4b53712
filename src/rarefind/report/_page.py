"""The HTML page: figures and pictures in the template, everything escaped."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from rarefind._core.extras import extra
from rarefind.data.clock import PERIODS


def render(figures: dict[str, Any], pictures: dict[str, Any]) -> str:
    """The HTML of a report; every number comes from ``figures`` and has its key beside it."""
    with extra("cli", "A report"):
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup

    def number(key: str, kind: str = "count") -> Markup:
        value = look_up(figures, key)
        if value is None:
            return Markup('<span class="none">–</span>')
        text = shown(value, kind)
        attributes = (key, json.dumps(value), text)
        return Markup('<span data-key="{}" data-value="{}">{}</span>').format(*attributes)

    template = files("rarefind.report").joinpath("report.html").read_text(encoding="utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals.update(n=number, calendar=PERIODS)
    # Only a tag could end the block of data.
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
    return _KINDS[kind](float(value))


def _count(value: float) -> str:
    """A whole number, or one decimal for a small expected count."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.1f}".removesuffix(".0")


def _percent(share: float) -> str:
    """Two significant digits of the share or of the rest: 0.052 %, 8.2 %, 34 %, 99.97 %."""
    rest = min(share, 1 - share)
    if rest <= 0 or rest >= 0.1:
        return f"{100 * share:.0f} %"
    first = math.floor(math.log10(100 * rest))
    digits = max(1, -first) if share > 0.5 else 1 - first
    return f"{100 * share:.{digits}f}".rstrip("0").rstrip(".") + " %"


def _probability(share: float) -> str:
    """A probability without the digits that no fit can know."""
    if share > 0.99:
        return "> 99 %"
    return "< 0.1 %" if share < 0.001 else _percent(share)


_KINDS: dict[str, Callable[[float], str]] = {
    "count": _count,
    "percent": _percent,
    "probability": _probability,
    "plain": lambda value: f"{value:.0f}",
    "edge": lambda share: f"{100 * share:g} %",
    "whole": lambda share: f"{100 * share:.0f} %",
    "signed": lambda value: f"{value:+,.0f}" if round(value) else "0",
    "decimal": lambda value: f"{value:.3f}" if abs(value) < 100 else f"{value:,.1f}",
    "money": lambda value: f"{value:,.0f}",
}
