"""What may come of a mutant, and what is asked of an error."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

#: The verdicts that are as they should be.
REFUSED, SCORED, OTHER_TABLE, READ = "refused", "scored", "for another table", "read"
FAIR = (REFUSED, SCORED, OTHER_TABLE, READ)
NOT_MADE = "not made"
#: The number of the file as it was before it was changed.
HONEST = -1
# A sentence that says which columns are wanted is right where a file speaks of other columns.
_LONGEST_SENTENCE = 1200


class WrongError(Exception):
    """What a file was able to do."""


class Kind(Protocol):
    """A kind of file: an honest one, how it is changed, and what is asked of it then."""

    @property
    def name(self) -> str:
        """As it is called in tables."""

    @property
    def path(self) -> Path:
        """The honest file."""

    @property
    def group(self) -> str:
        """The kinds that run the same code."""

    def write_mutant(self, seed: int, number: int, path: Path) -> str:
        """Write the mutant with a number, the same for the same seed; what was changed."""

    def judge(self, path: Path, say: Callable[[str], None]) -> str:
        """The verdict; ``say`` hears what is done next, in case it is the last thing."""


def check_sentence(text: str, named: str | None = None) -> None:
    """Raise where an error is not one sentence, with a name in it if one is given."""
    if "MemoryError" in text or "Unable to allocate" in text:
        raise WrongError("refused only for want of memory")
    if (named is not None and named not in text) or not text.endswith((".", "?")):
        raise WrongError(f"refused without a sentence: {text[:80]!r}")
    if "\n" in text or len(text) > _LONGEST_SENTENCE:
        raise WrongError(f"refused with more than a sentence: {text[:80]!r}")


def name_of(error: BaseException) -> str:
    """The error in a line, and where in rarefind it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "rarefind" in frame.filename]
    where = f" ({Path(own[-1].filename).name}:{own[-1].name})" if own else ""
    return f"{type(error).__name__}{where}: {str(error).splitlines()[0] if str(error) else ''}"
