"""What is asked of a model file, and the verdict: refused, or scored the same twice.

All of this runs in a process of its own, which may crash.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fuzz.verdicts import OTHER_TABLE, REFUSED, SCORED, WrongError, check_sentence, name_of

# Rows of more columns would take more memory than the file.
_MOST_COLUMNS_ASKED = 10_000


def judge_model(path: Path, rows: Any, say: Callable[[str], None]) -> str:
    """The verdict on one file; ``say`` hears what is done next, in case it is the last thing."""
    from rarefind.persistence import load

    warnings.simplefilter("ignore")
    say("read_manifest")
    _check_manifest(path)
    say("load")
    try:
        model = load(path)
    except ValueError as error:
        check_sentence(str(error), path.name)
        return REFUSED
    except BaseException as error:
        raise WrongError(f"load raised {name_of(error)}") from error
    return _score(model, rows, say)


def _check_manifest(path: Path) -> None:
    from rarefind.persistence import read_manifest

    try:
        found = read_manifest(path)
    except ValueError as error:
        check_sentence(str(error), path.name)
    except BaseException as error:
        raise WrongError(f"read_manifest raised {name_of(error)}") from error
    else:
        if not isinstance(found, dict):
            raise WrongError(f"read_manifest returned a {type(found).__name__}")


def _score(model: Any, rows: Any, say: Callable[[str], None]) -> str:
    asked = _rows_for(model, rows)
    if asked is None:
        return OTHER_TABLE
    for method in ("predict_proba", "predict", "priority", "explain", "rank"):
        say(method)
        try:
            if not hasattr(model, method):  # of more than two classes none has a priority
                continue
            first, second = (_ask(model, method, asked) for _ in range(2))
        except BaseException as error:
            if _asks_for_other_columns(error, rows):
                return OTHER_TABLE
            raise WrongError(f"{method} raised {name_of(error)}") from error
        _check_same(method, first, second)
    if hasattr(model, "partial_fit"):
        say("partial_fit")
        try:
            model.partial_fit(asked, [model.classes_[i % 2] for i in range(len(asked))])
            scores = [model.predict_proba(asked) for _ in range(2)]
            _check_same("predict_proba after partial_fit", *scores)
        except WrongError:
            raise
        except BaseException as error:
            raise WrongError(f"partial_fit raised {name_of(error)}") from error
    return SCORED


def _rows_for(model: Any, rows: Any) -> Any:
    """As many columns as the model says it takes: a file may be of a wider or narrower table.

    None for a table so wide that a user would notice.
    """
    from rarefind._core.fields import MOST_COLUMNS

    if isinstance(rows, pd.DataFrame):
        return rows
    width = getattr(model, "n_features_in_", rows.shape[1])
    if type(width) is not int or not 0 < width <= MOST_COLUMNS:
        raise WrongError(f"n_features_in_ is {width!r:.40}")
    if width > _MOST_COLUMNS_ASKED:
        return None
    return np.resize(rows, (len(rows), width)) if width != rows.shape[1] else rows


def _ask(model: Any, method: str, rows: Any) -> Any:
    rows = rows.copy()  # a scaler with copy=False writes to them, as its user wanted
    if method == "rank":
        return model.rank(rows, 2)
    found = getattr(model, method)(rows)
    return [str(reason) for reason in found] if method == "explain" else np.asarray(found)


def _asks_for_other_columns(error: BaseException, rows: Any) -> bool:
    return (
        isinstance(error, ValueError) and isinstance(rows, pd.DataFrame) and "column" in str(error)
    )


def _check_same(method: str, first: Any, second: Any) -> None:
    if isinstance(first, pd.DataFrame):
        if not first.equals(second):
            raise WrongError(f"{method} differs between two calls")
        return
    if isinstance(first, np.ndarray) and first.dtype.kind == "f":
        if not np.isfinite(first).all():
            raise WrongError(f"{method} is not finite")
        if method == "predict_proba" and ((first < -1e-9) | (first > 1 + 1e-9)).any():
            raise WrongError("predict_proba is not between 0 and 1")
    same = first == second if isinstance(first, list) else np.array_equal(first, second)
    if not same:
        raise WrongError(f"{method} differs between two calls")
