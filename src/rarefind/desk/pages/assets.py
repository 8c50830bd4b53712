"""Style, scripts and pictures: named by what is in them, so that browsers keep them for good."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, NamedTuple

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.api.problems import ProblemError

__all__ = ["asset", "router"]

router = APIRouter(include_in_schema=False)

_AT: Final = "/desk/static/"
_MEDIA: Final = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_FOR_GOOD: Final = "public, max-age=31536000, immutable"


class _Asset(NamedTuple):
    content: bytes
    media: str


def asset(name: str) -> str:
    """The address of a file of ``static/``, which changes whenever the file does."""
    return _AT + _names()[name]


@router.get(_AT + "{name}")
def send_asset(name: str) -> Response:
    """Send a file of ``static/``."""
    found = _assets().get(name)
    if found is None:
        raise ProblemError("not-found", "There is no such file.")
    return Response(
        found.content,
        media_type=f"{found.media}; charset=utf-8",
        headers={"cache-control": _FOR_GOOD},
    )


@cache
def _names() -> Mapping[str, str]:
    """The name with a digest of every file that is sent."""
    found = {}
    for file in _files():
        stem, _, kind = file.name.rpartition(".")
        if kind in _MEDIA:
            digest = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
            found[file.name] = f"{stem}.{digest}.{kind}"
    return found


@cache
def _assets() -> Mapping[str, _Asset]:
    return {
        _names()[file.name]: _Asset(file.read_bytes(), _MEDIA[file.name.rpartition(".")[2]])
        for file in _files()
        if file.name in _names()
    }


def _files() -> Iterator[Traversable]:
    """All files that may be sent; those of pictures are beside what draws them."""
    yield from files("rarefind.desk.pages").joinpath("static").iterdir()
    yield from files("rarefind.desk.charts").iterdir()
