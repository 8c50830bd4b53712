"""Cookies and the tokens of forms: who a browser belongs to, and that a form came from a page."""

from __future__ import annotations

import hmac
import secrets
from hashlib import blake2b
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

if TYPE_CHECKING:
    from rarefind.desk.api.door import WebDoor

__all__ = [
    "forget_session",
    "form_token",
    "is_from_here",
    "is_right_token",
    "keep_session",
    "keep_visitor",
    "session_token",
    "visitor_of",
]

_WEEK: Final = 7 * 86_400


def session_token(request: Request) -> str:
    """The token of the session that a browser says it has; empty if none."""
    return request.cookies.get(_name(request, "session"), "")


def keep_session(request: Request, response: Response, token: str) -> None:
    """Have a browser keep a session."""
    _keep(request, response, "session", token, _WEEK)


def forget_session(request: Request, response: Response) -> None:
    """Have a browser forget its session."""
    _keep(request, response, "session", "", 0)


def visitor_of(request: Request) -> str:
    """What a browser is known by before anybody has signed in; empty if it has not been here."""
    return request.cookies.get(_name(request, "visitor"), "")


def keep_visitor(request: Request, response: Response, visitor: str) -> None:
    """Have a browser keep what it is known by, until it is closed."""
    _keep(request, response, "visitor", visitor, None)


def new_visitor() -> str:
    """What a browser will be known by."""
    return secrets.token_urlsafe(16)


def form_token(secret: bytes, owner: str) -> str:
    """What every form of a page carries, so that other sites cannot send it.

    ``owner`` is the token of the session, or what a visitor is known by.
    """
    key = blake2b(secret, digest_size=32, person=b"rarefind forms").digest()
    return blake2b(owner.encode("utf-8", "replace"), digest_size=32, key=key).hexdigest()


def is_right_token(secret: bytes, owner: str, sent: str) -> bool:
    """Whether a form was sent from a page that was shown to the same browser."""
    if not owner:
        return False
    expected = form_token(secret, owner).encode()
    return hmac.compare_digest(expected, sent.encode("utf-8", "replace"))


def is_from_here(request: Request) -> bool:
    """Whether a browser says that a request was begun by a page of this desk; old ones do not."""
    site = request.headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        return False
    origin = request.headers.get("origin")
    if origin is None:
        return True
    if origin == "null":
        # So browsers say it that do not tell a page's address to anybody.
        return site is not None
    return urlsplit(origin).netloc == request.headers.get("host", "")


def _keep(request: Request, response: Response, kind: str, value: str, age: int | None) -> None:
    response.set_cookie(
        _name(request, kind),
        value,
        max_age=age,
        path="/",
        httponly=True,
        samesite="lax",
        secure=_is_secure(request),
    )


def _name(request: Request, kind: str) -> str:
    """The name of a cookie: cookies do not know ports, and desks of one machine must not share."""
    door: WebDoor = request.app.state.door
    desk = blake2b(door.secret, digest_size=4, person=b"rarefind cookie").hexdigest()
    return f"{'__Host-' if _is_secure(request) else ''}rarefind-{kind}-{desk}"


def _is_secure(request: Request) -> bool:
    # A proxy on this machine says by which scheme a browser has come; see uvicorn's proxy headers.
    return request.url.scheme == "https"
