"""Data sets of published experiments: a folder of tables with a manifest."""

from __future__ import annotations

import json
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from rarefind.data._keel import LabelledTable
from rarefind.data.read import read_table

_LABEL = "y"


def list_published(data_dir: str | Path) -> list[str]:
    """Names of the sets in a folder that :func:`load_published` opens.

    Parameters
    ----------
    data_dir : str or Path
        A folder with ``manifest.json``.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> from rarefind.data import list_published
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     manifest = [{"name": "oil", "file": "oil.csv.gz"}]
    ...     _ = Path(folder, "manifest.json").write_text(json.dumps(manifest))
    ...     list_published(folder)
    ['oil']
    """
    return sorted(_manifest(Path(data_dir)))


def load_published(name: str, data_dir: str | Path) -> LabelledTable:
    """Open a set of a folder: a table of features and labels 1 (positive) and 0.

    Parameters
    ----------
    name : str
        One of :func:`list_published`.
    data_dir : str or Path
        A folder with ``manifest.json``: a list of objects with ``name`` and ``file``, and where
        known ``n`` rows and ``positives``, which are checked. The files are of any kind that
        :func:`read_table` reads, with the labels in column ``y``.

    Returns
    -------
    X : DataFrame
    y : Series

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> from rarefind.data import load_published
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     manifest = [{"name": "oil", "file": "oil.csv", "n": 3, "positives": 1}]
    ...     _ = Path(folder, "manifest.json").write_text(json.dumps(manifest))
    ...     _ = Path(folder, "oil.csv").write_text("f0,f1,y\\n1.5,2,0\\n2.5,3,0\\n0.5,9,1\\n")
    ...     X, y = load_published("oil", folder)
    >>> X.shape, int(y.sum())
    ((3, 2), 1)
    """
    folder = Path(data_dir)
    entries = _manifest(folder)
    if name not in entries:
        close = get_close_matches(name, entries, n=3)
        hint = f"did you mean {' or '.join(map(repr, close))}?" if close else "see list_published."
        raise ValueError(f"There is no set {name!r} among the {len(entries)} in {folder}: {hint}")
    entry = entries[name]
    path = folder / entry["file"]
    if path.resolve().parent != folder.resolve():
        raise ValueError(f"The manifest in {folder} names {entry['file']!r}, a file elsewhere.")
    table = read_table(path)
    if _LABEL not in table.columns or not table[_LABEL].isin((0, 1)).all():
        raise ValueError(f"{path} needs a column {_LABEL!r} of labels 0 and 1.")
    y = table[_LABEL].astype("int64")
    _check_counts(entry, path, len(table), int(y.sum()))
    return LabelledTable(table.drop(columns=_LABEL), y)


def _manifest(folder: Path) -> dict[str, dict[str, Any]]:
    path = folder / "manifest.json"
    if not path.is_file():
        raise FileNotFoundError(f"There is no {path}: name the folder with the published sets.")
    try:
        entries = json.loads(path.read_text("utf-8"))
        return {str(entry["name"]): {"file": str(entry["file"]), **entry} for entry in entries}
    except (ValueError, KeyError, TypeError):
        raise ValueError(
            f"{path} is not a list of sets with a name and a file each: restore the file."
        ) from None


def _check_counts(entry: dict[str, Any], path: Path, rows: int, positives: int) -> None:
    """Raise if a file was cut short or exchanged: results would differ silently."""
    for what, found in (("n", rows), ("positives", positives)):
        if entry.get(what, found) != found:
            raise ValueError(
                f"{path} has {found} {'rows' if what == 'n' else what} where the manifest says "
                f"{entry[what]}: fetch the file again."
            )
