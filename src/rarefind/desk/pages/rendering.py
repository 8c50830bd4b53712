"""Templates: found in ``templates/``, every value escaped, a name that is missing an error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from starlette.responses import HTMLResponse

from rarefind import __version__
from rarefind.desk.names import LONGEST_NAME
from rarefind.desk.pages.assets import asset

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["compile_templates", "render"]

#: What a page may load, and who may show it: nothing of other sites, nothing written in the page.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


def render(template: str, status: int, shown: Mapping[str, Any]) -> HTMLResponse:
    """A page from its template."""
    text = _environment().get_template(template).render(**shown)
    # Its own forms tell the desk which page they come from; nobody else is told.
    headers = {"content-security-policy": POLICY, "referrer-policy": "same-origin"}
    return HTMLResponse(text, status, headers=headers)


def compile_templates() -> None:
    """Have all templates at hand: compiling one takes longer than writing a page."""
    for file in files("rarefind.desk.pages").joinpath("templates").iterdir():
        _environment().get_template(file.name)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    folder = files("rarefind.desk.pages").joinpath("templates")

    def load(name: str) -> str | None:
        # Only names from our own code come here.
        file = folder.joinpath(name)
        return file.read_text(encoding="utf-8") if file.is_file() else None

    environment = Environment(
        loader=FunctionLoader(load),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "asset": asset,
        "version": __version__,
        "choices": _choices,
        "longest_name": LONGEST_NAME,
    }
    environment.filters["segment"] = _segment
    return environment


def _choices(values: Iterable[str], tell: Callable[[str], str]) -> list[tuple[str, str]]:
    """Values as a choice whose texts they are themselves, in the language of a reader."""
    return [(value, tell(value)) for value in values]


def _segment(name: str) -> str:
    """A name as one part of an address, whatever is in it."""
    return quote(name, safe="")
