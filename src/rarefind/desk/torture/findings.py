"""What was found of each thing that a desk should stand."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """One thing that a desk should stand, and whether it did.

    Attributes
    ----------
    trial : str
        ``kills``, ``full disk``, ``clock`` or ``load``.
    what : str
        The sentence that should be true.
    holds : bool or None
        None if it could not be tried on this machine.
    detail : str
        Numbers, or why it does not hold.
    """

    trial: str
    what: str
    holds: bool | None
    detail: str

    def __str__(self) -> str:
        mark = {True: "✓", False: "✗", None: "–"}[self.holds]
        return f"{mark} {self.what} ({self.detail})" if self.detail else f"{mark} {self.what}"
