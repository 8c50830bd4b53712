"""Tokens, as an administrator of a desk sees them."""

from __future__ import annotations

from typing import Annotated

import msgspec

from rarefind.desk.api.roles import Role
from rarefind.desk.messages._base import Instant, ReadMessage, SentMessage
from rarefind.desk.names import LONGEST_NAME

__all__ = ["MadeToken", "NewToken", "TokenPage", "TokenSummary"]


class NewToken(SentMessage, frozen=True, kw_only=True):
    """Who gets a token, and what it may do."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_NAME)]
    role: Role


class TokenSummary(ReadMessage, frozen=True, kw_only=True):
    """A token as it is listed: whose it is, never the token itself."""

    name: str
    role: Role
    made: Instant
    revoked: Instant | None


class TokenPage(ReadMessage, frozen=True, kw_only=True):
    """Some tokens by their names; ``next`` is the ``after`` of the next page, or null."""

    tokens: list[TokenSummary]
    next: str | None


class MadeToken(ReadMessage, frozen=True, kw_only=True):
    """A new token: it is shown this once."""

    name: str
    role: Role
    token: str
