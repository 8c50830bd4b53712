"""The model of a table, from its file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rarefind._core.files import MARK

if TYPE_CHECKING:
    from rarefind.tables._model import TableModel


def open_model(path: str | Path) -> TableModel:
    """Open the model of a table; another kind of file is refused before anything is imported.

    Parameters
    ----------
    path : str or Path
        A file that ``rarefind fit`` or :func:`rarefind.save` wrote.

    Returns
    -------
    TableModel
    """
    path = Path(path)
    with path.open("rb") as file:
        if file.read(len(MARK)) != MARK:
            raise ValueError(f"{path} is not a rarefind model file.")
    from rarefind.persistence import load
    from rarefind.tables import TableModel

    model = load(path)
    if not isinstance(model, TableModel):
        raise ValueError(
            f"{path} holds a {type(model).__name__} without its table's columns: "
            "fit it by `rarefind fit`, or as a TableModel."
        )
    return model
