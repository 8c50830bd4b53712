"""The language of conditions and reasons: why a row stands where it stands."""

from rarefind.rules._reason import Condition, Reason, Similar

__all__ = ["Condition", "Reason", "Similar"]
