"""What people and time have found: verdicts, confirmed claims, and silence that is long enough."""

from rarefind.desk.labels._claims import Claim, ClaimError, Claims, NoSuchClaim, erase_notes
from rarefind.desk.labels._labels import Label, LabelHistory, RipeLabel

__all__ = [
    "Claim",
    "ClaimError",
    "Claims",
    "Label",
    "LabelHistory",
    "NoSuchClaim",
    "RipeLabel",
    "erase_notes",
]
