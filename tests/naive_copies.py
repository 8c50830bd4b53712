"""The definition of what rows get that are copies of known ones, for the tests of neighbours."""

import numpy as np


def copies_at(x, X, positive):
    """How many positives and how many negatives equal the row."""
    same = (x == X).all(axis=1)
    return int((same & positive).sum()), int((same & ~positive).sum())


def score_of_copies(x, X, positive, q, r):
    """The priority of a row that is a copy of both classes, and of enough of one; else None.

    Too few positives, or too few negatives, to decide the vote go first.
    """
    here, others = copies_at(x, X, positive)
    mixed = here > 0 and others > 0 and (here >= q or others >= r)
    if not mixed or positive.sum() < q or (~positive).sum() < r:
        return None
    odds = (here + 0.5) * r / ((others + 0.5) * q)
    return odds ** (1 / np.sqrt(X.shape[1]))
