"""By what a receiver knows that a message is this desk's own, and not an old one."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from hashlib import sha256

__all__ = ["is_signed", "sign"]

_NAME = "X-Rarefind-Signature"
#: Seconds: an older message was perhaps recorded by somebody, and sent again.
_TOLERANCE = 300


def sign(secret: str, message: str, body: bytes, now: int) -> dict[str, str]:
    """Return the headers of a message: its identifier, its time in seconds, its signature.

    The signature is the HMAC-SHA256, keyed by the endpoint's secret, of the time, the identifier
    and the body with full stops between them.
    """
    return {
        "X-Rarefind-Id": message,
        "X-Rarefind-Timestamp": str(now),
        _NAME: f"t={now},v1={_digest(secret, message, body, now)}",
    }


def is_signed(
    secret: str, headers: Mapping[str, str], body: bytes, now: int, tolerance: int = _TOLERANCE
) -> bool:
    """Whether a message that was received is from the desk with this secret, and is new.

    Parameters
    ----------
    secret : str
        As it was shown when the endpoint was made.
    headers : mapping
        Of the request; upper and lower case are the same.
    body : bytes
        As it was received.
    now : int
        Seconds since 1970.
    tolerance : int
        A message is refused whose time is farther from now, in seconds.
    """
    found = {name.lower(): value for name, value in headers.items()}
    parts = dict(
        part.split("=", 1) for part in found.get(_NAME.lower(), "").split(",") if "=" in part
    )
    time = parts.get("t", "")
    if not (time.isascii() and time.isdecimal() and len(time) <= 12):
        return False
    wanted = _digest(secret, found.get("x-rarefind-id", ""), body, int(time))
    is_ours = hmac.compare_digest(wanted.encode(), parts.get("v1", "").encode())
    return is_ours and abs(now - int(time)) <= tolerance


def _digest(secret: str, message: str, body: bytes, now: int) -> str:
    signed = f"{now}.{message}.".encode() + body
    return hmac.new(secret.encode(), signed, sha256).hexdigest()
