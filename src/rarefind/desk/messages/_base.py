"""What all messages have in common, and bounds that several of them share."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

__all__ = ["Instant", "Note", "ReadMessage", "SentMessage", "TransactionId"]


class ReadMessage(msgspec.Struct, frozen=True, kw_only=True):
    """What the web process answers."""


class SentMessage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a client sends: a field that is not known is an error, and not left out silently."""


#: A time with its zone.
Instant = Annotated[datetime, msgspec.Meta(tz=True)]
#: A person's own words, without the character NUL, which databases do not keep.
Note = Annotated[str, msgspec.Meta(max_length=10_000, pattern="^[^\\x00]*$")]
TransactionId = Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]
