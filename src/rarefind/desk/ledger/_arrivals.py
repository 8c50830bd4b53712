"""How many transactions have arrived since a time, found without reading them."""

from __future__ import annotations

from rarefind.desk.database import Database

__all__ = ["arrived_since"]

_ARRIVED = """
SELECT arrived FROM entries WHERE sequence <= :sequence ORDER BY sequence DESC LIMIT 1
"""


def arrived_since(database: Database, time: int, last: int) -> tuple[int, int]:
    """Return how many transactions up to the last row arrived since a time, and the row before.

    Rows are numbered without gaps in the order in which they arrived, and labels are few: the
    first row is found by halving, and all after it but the labels are transactions.
    """
    rows = database.read("SELECT min(sequence) FROM entries")
    if rows[0][0] is None:
        return 0, last
    before, known = int(rows[0][0]) - 1, last
    while before < known:  # the rows up to `before` are older, those after `known` are not
        middle = (before + known + 1) // 2
        found = database.read(_ARRIVED, sequence=middle)
        if found and found[0][0] < time:
            before = middle
        else:
            known = middle - 1
    ((labels,),) = database.read(
        "SELECT count(*) FROM labels WHERE sequence > :before AND sequence <= :last",
        before=before,
        last=last,
    )
    return last - before - int(labels), before
