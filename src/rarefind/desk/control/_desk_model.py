"""A model file as what decides: checked against a desk, and scoring one record at a time."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rarefind.desk.control._errors import ControlError
from rarefind.desk.schema import Schema

if TYPE_CHECKING:
    from rarefind.row_scorer import RowScorer
    from rarefind.tables import TableModel

__all__ = ["TableDeskModel", "check_fits", "digest_of", "own_threshold"]

_PIECE = 1 << 20
#: What a column of each kind may be to a model, and what the model is said to take it for.
_TAKEN_FOR = {
    "number": (("number", "boolean"), "a number"),
    "boolean": (("boolean", "number"), "a truth"),
    "date": (("time",), "a time"),
    "levels": (("text", "boolean"), "a text"),
}


class TableDeskModel:
    """The model of a table as the model of a desk.

    Its score is the calibrated probability of fraud, which takes about 10 µs more than the priority
    and means the same for every model: weights of rules and thresholds need not change with it.

    Parameters
    ----------
    digest : str
        Of the file.
    model : TableModel
    threshold : float
        The probability from which a transaction is an alert.
    """

    def __init__(self, digest: str, model: TableModel, threshold: float) -> None:
        self.digest, self.model, self.threshold = digest, model, threshold
        self._probability = model.row_scorer().probability

    def score(self, record: Mapping[str, Any]) -> float:
        """Return the probability that a record of columns and features is fraud."""
        return self._probability(record)


def digest_of(path: Path) -> str:
    """Return the digest of a file, which is what a desk calls it by."""
    found = blake2b(digest_size=32)
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            found.update(piece)
    return found.hexdigest()


def own_threshold(model: TableModel, scorer: RowScorer) -> float:
    """Return the model's own threshold, as a probability; a half where it has none."""
    found = scorer.probability_of(model.card().threshold)
    return found if 0 <= found <= 1 else 0.5


def check_fits(model: TableModel, schema: Schema) -> list[str]:
    """Return the columns that a model needs; raise where the desk does not have them so.

    Raises
    ------
    ControlError
        Naming all columns that the desk lacks, or the first that it has as something else.
    """
    known: dict[str, str] = dict.fromkeys(schema.features.names, "number")
    known |= schema.columns
    needed = list(model.encoder_.columns_)
    lacking = [name for name in needed if name not in known]
    if lacking:
        named = ", ".join(repr(name) + _hint(name, known) for name in lacking)
        raise ControlError(
            f"The model needs {named}, which this desk does not have: fit it to columns of "
            "desk.toml and to features, as rarefind desk features writes them."
        )
    for plan in model.encoder_.plans_:
        kinds, taken_for = _TAKEN_FOR.get(plan.kind, _TAKEN_FOR["levels"])
        own = known[plan.column]
        if own not in kinds:
            raise ControlError(
                f"The model takes column {plan.column!r} for {taken_for}, and desk.toml declares "
                f"it as {own}: fit the model to the column as the desk has it."
            )
    return needed


def _hint(name: str, known: Mapping[str, str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
