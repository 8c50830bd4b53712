"""The model file: plain data with a checksum, opened without running any code.

A file is a mark, the SHA-256 of everything behind it, and an uncompressed zip: ``manifest.json``
(the format, the versions it was made with), ``model.json`` (a tree of plain values) and one
``.npy`` an array. Objects in the tree are named by the short names of a fixed list of rarefind's
own types; nothing else is ever built. Parameters that are somebody else's objects, such as a
sampler or a function, are kept as the text they print: a loaded model scores as the saved one, but
to fit it again they must be set again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import math
import platform
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import xgboost

import rarefind
from rarefind._core.files import written_whole
from rarefind.auto import AutoClassifier
from rarefind.auto._member import Member, RankScale
from rarefind.auto._preparation import Preparation
from rarefind.base import RareClassifier
from rarefind.boosting import (
    LambdaMARTClassifier,
    NLBClassifier,
    ProjectionBoostingClassifier,
    RankBoostClassifier,
    SGBAPClassifier,
)
from rarefind.boosting._base import BoostingClassifier
from rarefind.boosting._coding import Coding
from rarefind.boosting._directions import Projection
from rarefind.boosting._network import Network
from rarefind.boosting._trees import Trees
from rarefind.conditions import ConditionClassifier, RuleListClassifier
from rarefind.conditions._listed import Listed
from rarefind.conditions._matrix import Branches
from rarefind.conditions._measures import Measures
from rarefind.data import DriftReference, PositiveAwareBinner, TableEncoder
from rarefind.data.column_reference import ColumnReference
from rarefind.distances import MLFP
from rarefind.metrics import AlertsAtMost, Cost, FBeta, RecallAtLeast
from rarefind.neighbors import (
    ClassWeightedKNNClassifier,
    DistanceWeightedKNNClassifier,
    DuplicatedKNNClassifier,
    GammaKNNClassifier,
    IMLClassifier,
    KRNNClassifier,
    LocalGammaKNNClassifier,
    ME2Classifier,
    MLFPClassifier,
)
from rarefind.neighbors._held_out import PointSet
from rarefind.neighbors._regions import Regions
from rarefind.neighbors.ellipsoids import Ellipsoid, TrainingRows
from rarefind.rules.branches import Combination
from rarefind.search import NeighborSearch
from rarefind.selection.calibration import BetaCalibration, Calibration, Reference
from rarefind.streams import ONLBClassifier, OnlineBoostingClassifier
from rarefind.streams._adwin import Adwin
from rarefind.streams._linear import Votes
from rarefind.streams._nets import Nets
from rarefind.streams._online import OnlineClassifier
from rarefind.streams._spaces import Spaces
from rarefind.streams._stream import Memory, State
from rarefind.streams._waiting import Waiting
from rarefind.streams._watch import Watch
from rarefind.tables import TableModel
from rarefind.tables._estimate import Evidence
from rarefind.trees import MetaAPClassifier, MetaAPForestClassifier, TreeRankClassifier
from rarefind.trees._base import TreeClassifier
from rarefind.trees._prune import HeldOut
from rarefind.trees._ranker import Ranker
from rarefind.trees.graph import Conditions, MetaTree, OuterNodes

__all__ = ["FORMAT", "Unsaved", "load", "save"]

#: The format this version writes. Older ones open, newer ones are refused.
FORMAT = 1

_MARK = b"rarefind\n"
_DIGEST = hashlib.sha256().digest_size
_DEEPEST = 60


@dataclasses.dataclass(frozen=True)
class Unsaved:
    """Stands for a parameter that a model file does not keep."""

    text: str

    def __repr__(self) -> str:
        return f"Unsaved({self.text})"


def save(model: Any, path: str | Path) -> None:
    """Write a fitted model to one file.

    Parameters
    ----------
    model : TableModel or rarefind estimator
        Fitted.
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
    if type(model) not in _SAVED or not isinstance(model, RareClassifier | TableModel):
        raise ValueError(f"{type(model).__name__} is no rarefind model, so it cannot be saved.")
    if not hasattr(model, "classes_"):
        raise ValueError(f"This {type(model).__name__} is not fitted: fit it before it is saved.")
    arrays: list[np.ndarray[Any, Any]] = []
    tree = _encode(model, arrays)
    members = {"manifest.json": _json(_manifest(model)), "model.json": _json(tree)}
    for number, array in enumerate(arrays):
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        members[f"{number}.npy"] = buffer.getvalue()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    body = packed.getvalue()
    with written_whole(Path(path)) as part:
        part.write_bytes(_MARK + hashlib.sha256(body).digest() + body)


def load(path: str | Path) -> Any:
    """Open a model file; no code in it is run.

    Parameters
    ----------
    path : str or Path
        A file written by :func:`save`.

    Returns
    -------
    TableModel or rarefind estimator
        Scores bit for bit as the saved one.
    """
    path = Path(path)
    body = _body(path)
    try:
        return _open(zipfile.ZipFile(io.BytesIO(body)))
    except _RefusedError as error:
        raise ValueError(f"{path} {error}") from None
    except Exception as error:
        # A file made to do harm may fail anywhere; whatever it is, it is no model.
        raise ValueError(
            f"{path} does not hold a whole model ({type(error).__name__}: {error})."
        ) from error


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
    body = _body(Path(path))
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    return {**manifest, "sha256": hashlib.sha256(body).hexdigest()}


def _body(path: Path) -> bytes:
    """What a model file holds behind its mark and its checksum."""
    content = path.read_bytes()
    if not content.startswith(_MARK):
        raise ValueError(f"{path} is no rarefind model file.")
    digest, body = content[len(_MARK) :][:_DIGEST], content[len(_MARK) + _DIGEST :]
    if hashlib.sha256(body).digest() != digest:
        raise ValueError(f"{path} is damaged: it is cut short or was changed after it was saved.")
    return body


class _RefusedError(Exception):
    """What is wrong with a file, to follow its name."""


def _open(archive: zipfile.ZipFile) -> Any:
    # Nothing is compressed, so nothing can grow beyond the size of the file.
    if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
        raise _RefusedError("holds compressed parts, which a model file never does.")
    manifest = json.loads(archive.read("manifest.json"))
    _refuse_newer(manifest)
    model = _decode(json.loads(archive.read("model.json")), lambda n: _array(archive, n))
    if not isinstance(model, TableModel | RareClassifier) or not hasattr(model, "classes_"):
        raise _RefusedError("holds no fitted model.")
    return model


def _refuse_newer(manifest: dict[str, Any]) -> None:
    written = manifest["format"]
    if type(written) is not int or written < 1:
        raise _RefusedError(f"has no known format ({written!r}).")
    if written > FORMAT:
        made_with = manifest.get("versions", {}).get("rarefind", "a later version")
        raise _RefusedError(
            f"has format {written}, made with rarefind {made_with}; this is "
            f"{rarefind.__version__}, which opens formats up to {FORMAT}. Upgrade rarefind."
        )


def _manifest(model: Any) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "kind": type(model).__name__,
        "saved": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
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


def _array(archive: zipfile.ZipFile, number: int) -> Any:
    content = archive.read(f"{int(number)}.npy")
    header = io.BytesIO(content)
    version = np.lib.format.read_magic(header)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, _, dtype = read_header(header)
    # What the header promises must be there: memory is taken by its word.
    if math.prod(shape) * dtype.itemsize != len(content) - header.tell():
        raise _RefusedError("holds an array that is not as long as it says.")
    return np.load(io.BytesIO(content), allow_pickle=False)


# How the state of each type is taken out, and how an object is made of it again.
_Take = Callable[[Any], dict[str, Any]]
_Make = Callable[[dict[str, Any]], Any]


def _attributes(cls: Any) -> tuple[_Take, _Make]:
    def make(state: dict[str, Any]) -> Any:
        made = cls.__new__(cls)
        made.__dict__.update(state)
        return made

    # What scikit-learn keeps for a fit under way, and callbacks, are no part of a model.
    return lambda o: {n: v for n, v in vars(o).items() if not n.startswith("_skl_")}, make


def _fields(cls: Any) -> tuple[_Take, _Make]:
    if dataclasses.is_dataclass(cls):
        names = [field.name for field in dataclasses.fields(cls)]
    else:
        names = list(cls._fields)
    return lambda o: {name: getattr(o, name) for name in names}, lambda state: cls(**state)


def _search() -> tuple[_Take, _Make]:
    names = ("points", "distance", "p", "components", "n_jobs")
    return lambda o: {name: getattr(o, name) for name in names}, lambda s: NeighborSearch(**s)


def _encoder() -> tuple[_Take, _Make]:
    return lambda o: {"state": o.get_state()}, lambda s: TableEncoder.from_state(s["state"])


def _trees() -> tuple[_Take, _Make]:
    return lambda o: {"text": o.text}, lambda s: Trees(np.ascontiguousarray(s["text"], np.uint8))


def _waiting() -> tuple[_Take, _Make]:
    return lambda o: o.get_state(), Waiting.from_state


_SAVED: dict[type, tuple[_Take, _Make]] = {
    TableEncoder: _encoder(),
    NeighborSearch: _search(),
    Trees: _trees(),
    Waiting: _waiting(),
    **{
        cls: _attributes(cls)
        for cls in (
            TableModel,
            GammaKNNClassifier,
            LocalGammaKNNClassifier,
            MLFPClassifier,
            ME2Classifier,
            DistanceWeightedKNNClassifier,
            ClassWeightedKNNClassifier,
            DuplicatedKNNClassifier,
            KRNNClassifier,
            IMLClassifier,
            MLFP,
            MetaAPClassifier,
            MetaAPForestClassifier,
            TreeRankClassifier,
            SGBAPClassifier,
            NLBClassifier,
            ONLBClassifier,
            OnlineBoostingClassifier,
            ProjectionBoostingClassifier,
            RankBoostClassifier,
            LambdaMARTClassifier,
            ConditionClassifier,
            RuleListClassifier,
            AutoClassifier,
            PositiveAwareBinner,
        )
    },
    **{
        cls: _fields(cls)
        for cls in (
            PointSet,
            Regions,
            Ellipsoid,
            TrainingRows,
            MetaTree,
            Conditions,
            OuterNodes,
            HeldOut,
            Ranker,
            Calibration,
            BetaCalibration,
            Reference,
            DriftReference,
            ColumnReference,
            Coding,
            Projection,
            Combination,
            Listed,
            Branches,
            Measures,
            Network,
            State,
            Nets,
            Spaces,
            Votes,
            Memory,
            Watch,
            Adwin,
            Member,
            RankScale,
            Preparation,
            FBeta,
            Cost,
            RecallAtLeast,
            AlertsAtMost,
            Unsaved,
            Evidence,
        )
    },
}
# Estimators with compiled code that trusts its arrays, or XGBoost's, which trusts its files.
_CHECKED = (TreeClassifier, BoostingClassifier, OnlineClassifier, ConditionClassifier)
_BY_NAME = {cls.__name__: cls for cls in _SAVED}


def _encode(
    value: Any, arrays: list[np.ndarray[Any, Any]], depth: int = 0, is_parameter: bool = False
) -> Any:
    """A tree of JSON values; what JSON has no word for is an object with a key that begins by $."""
    if depth > _DEEPEST:
        raise ValueError("This model is nested too deeply to be saved.")

    def inner(part: Any) -> Any:
        return _encode(part, arrays, depth + 1, is_parameter)

    if value is None or (isinstance(value, bool | int | float | str) and type(value) in _PLAIN):
        return value
    if type(value) in _SAVED:
        state = _SAVED[type(value)][0](value)
        given = set(value.get_params(deep=False)) if hasattr(value, "get_params") else set()
        return {
            "$": type(value).__name__,
            "state": {n: _encode(v, arrays, depth + 1, n in given) for n, v in state.items()},
        }
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return {
                "$objects": [inner(v) for v in value.ravel().tolist()],
                "shape": list(value.shape),
            }
        arrays.append(value)
        return {"$array": len(arrays) - 1}
    if isinstance(value, np.generic) and value.dtype != object:
        return {"$scalar": inner(value.reshape(1))}
    if type(value) is list:
        return [inner(v) for v in value]
    if type(value) is tuple:
        return {"$tuple": [inner(v) for v in value]}
    if type(value) is dict:
        return {"$dict": [[inner(k), inner(v)] for k, v in value.items()]}
    if is_parameter:
        return {"$unsaved": repr(value)[:1000]}
    # What was learned is kept whole or not at all.
    raise ValueError(f"A {type(value).__name__} cannot be kept in a model file.")


_PLAIN = (bool, int, float, str)


def _has_learned(estimator: Any) -> bool:
    """Whether it holds more than its parameters."""
    return bool(vars(estimator).keys() - estimator.get_params(deep=False).keys())


def _decode(tree: Any, array: Callable[[int], Any]) -> Any:
    def inner(part: Any) -> Any:
        return _decode(part, array)

    if isinstance(tree, list):
        return [inner(v) for v in tree]
    if not isinstance(tree, dict):
        return tree
    if "$" in tree:
        if tree["$"] not in _BY_NAME:
            raise _RefusedError(f"names {tree['$']!r}, which is no type of a rarefind model.")
        make = _SAVED[_BY_NAME[tree["$"]]][1]
        made = make({name: inner(v) for name, v in tree["state"].items()})
        if isinstance(made, _CHECKED) and _has_learned(made):
            made._refuse_malformed()
        return made
    if "$array" in tree:
        return array(tree["$array"])
    if "$scalar" in tree:
        return inner(tree["$scalar"])[0]
    if "$objects" in tree:
        made = np.empty(len(tree["$objects"]), dtype=object)
        made[:] = [inner(v) for v in tree["$objects"]]
        return made.reshape(tree["shape"])
    if "$tuple" in tree:
        return tuple(inner(v) for v in tree["$tuple"])
    if "$dict" in tree:
        return {inner(k): inner(v) for k, v in tree["$dict"]}
    if "$unsaved" in tree:
        return Unsaved(str(tree["$unsaved"]))
    raise _RefusedError("holds a value of an unknown kind.")
