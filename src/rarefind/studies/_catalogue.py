"""The studies by name."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rarefind.studies._study import Study

_HOMES = {
    "gamma-knn": "_gamma_knn",
    "local-gamma": "_local_gamma",
    "mlfp": "_mlfp",
    "me2": "_me2",
    "metaap": "_metaap",
    "sgbap": "_sgbap",
    "nlb": "_nlb",
    "onlb": "_onlb",
    "sampling": "_sampling",
    "ap-fbeta": "_ap_fbeta",
    "projections": "_projections",
}

#: The studies there are.
STUDY_NAMES = tuple(_HOMES)


def get_study(name: str) -> Study:
    """A study by its name; no other one is imported."""
    if name not in _HOMES:
        close = get_close_matches(name, _HOMES, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(_HOMES)}."
        raise ValueError(f"There is no study {name!r}: {hint}")
    found: Study = import_module(f"rarefind.studies.{_HOMES[name]}").STUDY
    return found
