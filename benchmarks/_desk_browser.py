"""As much of a browser as a benchmark needs: it signs in, opens pages, sends forms, keeps time."""

from __future__ import annotations

import http.client
import re
import time
from http.cookies import SimpleCookie
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from rarefind.desk.clock import DeskClock
from rarefind.desk.control import Control
from rarefind.desk.folder import DeskFolder
from rarefind.desk.people import People

PERSON, PASSWORD = "benchmark", "three grey herons in a row"
_TOKEN = re.compile(r'name="csrf" value="([^"]+)"')
_PATIENCE = 60.0


class Page(NamedTuple):
    """What was answered, and after how many milliseconds."""

    status: int
    text: str
    location: str
    milliseconds: float


def add_person(path: Path, name: str = PERSON) -> None:
    """Let somebody sign in at the desk of a folder who may do everything."""
    with DeskFolder(path) as folder:
        database, clock = folder.open_desk(), DeskClock()
        people = People(database, Control.of(folder).audit, clock)
        link = people.first_link() or people.invite(name, "admin", PERSON)
        people.follow(link, name, PASSWORD, "127.0.0.1", "a browser")


class Browser:
    """A browser in which somebody may sign in.

    Parameters
    ----------
    address : tuple of str and int
        Where the web process of a desk answers.
    """

    def __init__(self, address: tuple[str, int]) -> None:
        self.address = address
        self.cookies: dict[str, str] = {}
        self._connection: http.client.HTTPConnection | None = None
        self._token = ""

    def sign_in(self, name: str = PERSON) -> None:
        """Begin a session."""
        self.get("/desk/sign-in")
        page = self.post("/desk/sign-in", name=name, password=PASSWORD)
        assert page.status == 303, page

    def get(self, path: str) -> Page:
        """Open a page."""
        page = self._ask("GET", path)
        found = _TOKEN.search(page.text)
        if found is not None:
            self._token = found[1]
        return page

    def post(self, path: str, **fields: str) -> Page:
        """Send a form of the page that was opened last."""
        return self._ask("POST", path, urlencode(fields | {"csrf": self._token}))

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _ask(self, method: str, path: str, body: str | None = None) -> Page:
        headers = {"cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        if body is not None:
            headers["content-type"] = "application/x-www-form-urlencoded"
        if self._connection is None:
            self._connection = http.client.HTTPConnection(*self.address, timeout=_PATIENCE)
            self._connection.connect()
        begin = time.perf_counter()
        try:
            self._connection.request(method, path, body, headers)
            answer = self._connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        milliseconds = 1e3 * (time.perf_counter() - begin)
        for kept in answer.headers.get_all("set-cookie") or ():
            for name, morsel in SimpleCookie(kept).items():
                self.cookies[name] = morsel.value
        return Page(answer.status, text, answer.headers.get("location", ""), milliseconds)
