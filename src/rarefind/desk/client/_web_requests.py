"""What every call of the web process is made of."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from rarefind.desk.client._calls import Call, encode

__all__ = ["WebRequests", "path_of"]


def path_of(*parts: str | int) -> str:
    """Return the path of an address; slashes in a part belong to it."""
    return "".join(f"/{quote(str(part), safe='')}" for part in parts)


class WebRequests:
    """Requests to the web process.

    Parameters
    ----------
    web : str
        Its address.
    """

    def __init__(self, web: str) -> None:
        self.web = web.rstrip("/")

    def _url(self, path: str, **query: str | int | None) -> str:
        found = {name: value for name, value in query.items() if value is not None}
        return f"{self.web}{path}{'?' if found else ''}{urlencode(found)}"

    def _read(self, kind: Any, path: str, **query: str | int | None) -> Call[Any]:
        return Call("GET", self._url(path, **query), msgspec.json.Decoder(kind).decode)

    def _do(
        self, kind: Any, path: str, sent: Any = None, *, method: str = "POST", once: bool = False
    ) -> Call[Any]:
        """Something to do; what is done once is not sent again without an answer."""
        return Call(
            method,
            self.web + path,
            msgspec.json.Decoder(kind).decode,
            encode({} if sent is None else sent),
            is_repeatable=not once,
        )
