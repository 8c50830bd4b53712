"""Attempts to sign in: so many from one place and on one name, and no more for a while."""

from __future__ import annotations

import hashlib
from typing import Final

from rarefind.data.clock import nanoseconds
from rarefind.desk.clock import DeskClock
from rarefind.desk.database import Database
from rarefind.desk.people._errors import PeopleError

__all__ = ["Attempts"]

_WINDOW: Final = nanoseconds("window", "15min")
_MINUTE: Final = nanoseconds("minute", "1min")
#: Failures within the window on one name from one address; on one name; from one address. The
#: first is the smallest, so that a stranger elsewhere cannot easily shut somebody out.
_MOST: Final = (10, 50, 50)


class Attempts:
    """Counts attempts that failed, in the database, so that a restart does not forget them.

    Parameters
    ----------
    database : Database
    clock : DeskClock
    """

    def __init__(self, database: Database, clock: DeskClock) -> None:
        self._database, self._clock = database, clock

    def begin(self, name: str, address: str) -> None:
        """Count an attempt before it is known to fail; raise where there were too many.

        Counted first, many at once are not more than one after another.
        """
        now = self._clock.now()
        since = now - _WINDOW
        with self._database.write() as writer:
            # Those of the time ahead are there where the clock was set back: nobody must wait
            # until it is there again.
            writer.execute(
                "DELETE FROM attempts WHERE at <= :since OR at > :now", since=since, now=now
            )
            for subject, most in zip(_subjects(name, address), _MOST, strict=True):
                rows = writer.read(
                    "SELECT at FROM attempts WHERE subject = :subject ORDER BY at DESC "
                    "LIMIT 1 OFFSET :most",
                    subject=subject,
                    most=most - 1,
                )
                if rows:
                    # When the oldest of them leaves the window.
                    raise PeopleError("too_many", minutes=-(-(rows[0][0] - since) // _MINUTE))
            writer.executemany(
                "INSERT INTO attempts (subject, at) VALUES (:subject, :now)",
                [{"subject": each, "now": now} for each in _subjects(name, address)],
            )

    def forget(self, name: str, address: str) -> None:
        """Forget the attempts on a name from an address: the last one was right."""
        pair, *_ = _subjects(name, address)
        with self._database.write() as writer:
            writer.execute("DELETE FROM attempts WHERE subject = :subject", subject=pair)


def _subjects(name: str, address: str) -> tuple[str, str, str]:
    """What is counted: as digests, since people type passwords where names belong."""
    texts = (f"both\0{name}\0{address}", f"name\0{name}", f"address\0{address}")
    pair, by_name, by_address = (
        hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() for text in texts
    )
    return pair, by_name, by_address
