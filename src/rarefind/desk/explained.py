"""What a model says of a stored transaction: a probability, a sentence, and its parts."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import datetime
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rarefind.desk.control import digest_of, model_path
from rarefind.desk.records import Value

if TYPE_CHECKING:
    from rarefind.tables import TableModel

__all__ = ["Because", "Explanation", "OpenModels", "explain_record", "read_parts", "write_parts"]

#: So many models are kept open.
_MODELS = 3


class Because(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of a reason, as it was when the reason was found.

    ``value`` is that of the transaction; ``text`` the condition in the model's own words; ``share``
    its part of the reason; ``lowers`` says that it speaks against an alert.
    """

    feature: str
    text: str
    share: float
    value: str | float | bool | None = None
    lowers: bool = False


class Explanation(msgspec.Struct, frozen=True):
    """The calibrated probability, the reason as a sentence, and its parts, the heaviest first."""

    probability: float
    sentence: str
    parts: tuple[Because, ...]


class OpenModels:
    """Model files of a desk, which are opened when they are needed.

    Parameters
    ----------
    folder : Path
        Of files named by their digests.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._models: OrderedDict[str, TableModel] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, digest: str) -> TableModel | None:
        """Return the model of a digest; None where its file is gone or cannot be read."""
        with self._lock:
            if digest in self._models:
                self._models.move_to_end(digest)
                return self._models[digest]
            found = _open(model_path(self._folder, digest), digest)
            if found is not None:  # one that is gone may come back
                self._models[digest] = found
                if len(self._models) > _MODELS:
                    self._models.popitem(last=False)
            return found


def explain_record(model: TableModel, record: Mapping[str, Value]) -> Explanation:
    """Explain a transaction by what was stored of it."""
    row = dict(record)
    column = list(model.classes_).index(model.positive_)
    probability = float(model.predict_proba(row)[0, column])
    (reason,) = model.explain(row)
    parts = [
        Because(each.feature, str(each), each.weight, _plain(row.get(each.feature)), each.lowers)
        for each in (*reason.raising, *reason.lowering)
    ]
    return Explanation(probability, str(reason), tuple(parts))


def write_parts(parts: Sequence[Because]) -> str:
    """The parts of a reason as they are stored."""
    return msgspec.json.encode(parts).decode()


def read_parts(text: str | None) -> tuple[Because, ...]:
    """The parts of a reason that were stored; none where there are none."""
    return msgspec.json.decode(text, type=tuple[Because, ...]) if text else ()


def _open(path: Path, digest: str) -> TableModel | None:
    """A model file, if it is there and is the one that decided."""
    from rarefind.tables import open_model

    try:
        return open_model(path) if digest.isalnum() and digest_of(path) == digest else None
    except (OSError, ValueError):
        return None


def _plain(value: Value) -> str | float | bool | None:
    if isinstance(value, datetime):
        return value.isoformat()
    return None if isinstance(value, float) and not isfinite(value) else value
