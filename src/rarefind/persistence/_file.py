"""Writing and opening model files.

A file is a mark, the SHA-256 of everything behind it, and an uncompressed zip: ``manifest.json``
(the format, the versions it was made with), ``model.json`` (a tree of plain values) and one
``.npy`` an array.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import copy
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import xgboost

import rarefind
from rarefind._core.fields import StateError
from rarefind._core.files import MARK, atomic_write
from rarefind._core.saved import SavedType, check_object, saved_type, type_of_tag
from rarefind.persistence import _format_1
from rarefind.persistence._archive import Archive
from rarefind.persistence._codec import Decoder, Encoder, RefusedError

__all__ = ["FORMAT", "load", "read_manifest", "save"]

#: The format this version writes. Older ones open, newer ones are refused.
FORMAT = 2

# Where classes that are kept in files live. A file says which of their modules it needs, to spare
# the others; nothing outside of these rooms is imported for it.
_ROOMS = (
    "metrics",
    "data",
    "selection",
    "rules",
    "search",
    "distances",
    "neighbors",
    "trees",
    "boosting",
    "streams",
    "conditions",
    "auto",
    "tables",
    "persistence",
)
#: What only pipelines need, which import more of scikit-learn.
_OF_PIPELINES = (
    "pipeline",
    "standard-scaler",
    "min-max-scaler",
    "robust-scaler",
    "max-abs-scaler",
)
_MODULE = re.compile(rf"rarefind\.({'|'.join(_ROOMS)})(\._?[a-z][a-z0-9_]*)?")


def save(model: Any, path: str | Path) -> None:
    """Write a fitted model to one file.

    Parameters
    ----------
    model : TableModel, rarefind estimator or Pipeline
        Fitted. A pipeline has scikit-learn's ``StandardScaler``, ``MinMaxScaler``, ``RobustScaler``
        or ``MaxAbsScaler`` before one of our estimators.
    path : str or Path
        Where to; a file that is there is replaced when the new one is whole.

    Examples
    --------
    >>> import tempfile, rarefind
    >>> from pathlib import Path
    >>> from rarefind.neighbors import GammaKNNClassifier
    >>> model = GammaKNNClassifier(k=1).fit([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])
    >>> path = Path(tempfile.mkdtemp()) / "model.rarefind"
    >>> rarefind.save(model, path)
    >>> bool((rarefind.load(path).priority([[4.0]]) == model.priority([[4.0]])).all())
    True
    """
    kind, model = type(model).__name__, _as_saved(model)
    try:
        check_object(model)  # what would be refused when it is opened is not written
    except StateError as error:
        raise ValueError(f"This {kind} cannot be saved ({error}).") from None
    encoder = Encoder()
    tree = encoder.encode(model)
    members = {
        "manifest.json": _json(_manifest(kind, encoder.modules)),
        "model.json": _json(tree),
    }
    for number, array in enumerate(encoder.arrays):
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        members[f"{number}.npy"] = buffer.getvalue()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    body = packed.getvalue()
    with atomic_write(Path(path)) as part:
        part.write_bytes(MARK + hashlib.sha256(body).digest() + body)


def _as_saved(model: Any) -> Any:
    """What is written for a model; raises where it is not one of ours, or not fitted."""
    is_pipeline = type(model).__module__ == "sklearn.pipeline"
    if not is_pipeline and not _is_model(type(model)):
        raise ValueError(f"{type(model).__name__} is not a rarefind model, so it cannot be saved.")
    if is_pipeline:
        from rarefind.persistence._pipeline import SavedPipeline

        made: Any = SavedPipeline.of(model)
    if not hasattr(model, "classes_"):
        raise ValueError(f"This {type(model).__name__} is not fitted: fit it before it is saved.")
    # That of a stream may go on learning in another thread.
    return made._replace(model=copy(made.model)) if is_pipeline else copy(model)


def load(path: str | Path) -> Any:
    """Open a model file; no code in it is run.

    Everything that scoring will read is checked first, against what each class says of its state:
    a file opens, and then scores, or is refused.

    Parameters
    ----------
    path : str or Path
        A file written by :func:`save`.

    Returns
    -------
    TableModel, rarefind estimator or Pipeline
        Scores bit for bit as the saved one.

    Raises
    ------
    ValueError
        Where the file is not a model file, is damaged, or holds what no model would.
    """
    with _refusing(Path(path)) as archive:
        return _open(archive)


def read_manifest(path: str | Path) -> dict[str, Any]:
    """What a model file says of itself.

    Parameters
    ----------
    path : str or Path
        A file written by :func:`save`.

    Returns
    -------
    dict
        ``format``, ``kind``, ``saved`` (when), ``versions`` it was made with, and ``sha256`` of
        what it holds.
    """
    with _refusing(Path(path)) as archive:
        return {**archive.manifest(), "sha256": archive.sha256}


@contextmanager
def _refusing(path: Path) -> Iterator[Archive]:
    """A model file to be read; whatever goes wrong is said of the file, in one sentence."""
    with path.open("rb") as file:
        try:
            yield Archive(file)
        except RefusedError as error:
            raise ValueError(f"{path} {_in_one_line(str(error))}") from None
        except Exception as error:
            # A file made to do harm may fail anywhere; whatever it is, it is not a model.
            what = _in_one_line(f"{type(error).__name__}: {error}")
            raise ValueError(f"{path} does not hold a whole model ({what}).") from error


def _in_one_line(text: str) -> str:
    """A message without line breaks, and without the middle of a long value of a file."""
    line = " ".join(text.split())
    return line if len(line) <= 500 else f"{line[:300]} … {line[-150:]}"


def _open(archive: Archive) -> Any:
    manifest = archive.manifest()
    _check_format(manifest)
    _import_modules(manifest.get("modules", ()))
    find = _type_of_name if manifest["format"] == 1 else _type_of_tag
    decoder = Decoder(archive.array, find)
    model = decoder.decode(archive.json("model.json"))
    if hasattr(model, "pipeline"):
        model = model.pipeline()
    elif not _is_model(type(model)) or not hasattr(model, "classes_"):
        raise RefusedError("does not hold a fitted model.")
    if decoder.arrays != set(range(archive.n_arrays)):
        raise RefusedError("holds arrays that its model does not refer to.")
    return model


def _import_modules(names: Any) -> None:
    """Import the modules that a file's classes lived in, and no others; some may have moved."""
    for name in names:
        if isinstance(name, str) and _MODULE.fullmatch(name):
            with suppress(ModuleNotFoundError):
                import_module(name)


def _type_of_tag(tag: Any) -> SavedType | None:
    """The class with a tag; all rooms are searched for one that lives elsewhere than it did."""
    found = type_of_tag(tag)
    if found is None and isinstance(tag, str) and tag in _OF_PIPELINES:
        import_module("rarefind.persistence._pipeline")
        return type_of_tag(tag)
    if found is None:
        for room in _ROOMS:
            module = import_module(f"rarefind.{room}")
            for name in module.__all__:
                getattr(module, name)  # some are imported when they are first asked for
        found = type_of_tag(tag)
    return found


def _type_of_name(name: Any) -> SavedType | None:
    tag = _format_1.TAGS.get(name) if isinstance(name, str) else None
    return None if tag is None else _type_of_tag(tag)


def _is_model(cls: type) -> bool:
    return saved_type(cls) is not None and hasattr(cls, "priority")


def _check_format(manifest: dict[str, Any]) -> None:
    written = manifest.get("format")
    if type(written) is not int or written < 1:
        raise RefusedError(f"has no known format ({written!r:.60}).")
    if written > FORMAT:
        versions = manifest.get("versions")
        made_with = versions.get("rarefind") if isinstance(versions, dict) else "a later version"
        raise RefusedError(
            f"has format {written}, made with rarefind {made_with!s:.60}; this is "
            f"{rarefind.__version__}, which opens formats up to {FORMAT}. Upgrade rarefind."
        )


def _manifest(kind: str, modules: set[str]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "kind": kind,
        "saved": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "modules": sorted(modules),
        "versions": {
            "rarefind": rarefind.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
            "xgboost": xgboost.__version__,
        },
    }


def _json(tree: Any) -> bytes:
    return json.dumps(tree, ensure_ascii=False, separators=(",", ":")).encode()
