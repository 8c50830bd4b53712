"""The array types that signatures share."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]
Bools: TypeAlias = NDArray[np.bool_]
Array: TypeAlias = NDArray[Any]
# A table is a NumPy array or a pandas or polars frame: scikit-learn takes them all, untyped.
Table: TypeAlias = Any
Label: TypeAlias = Any

__all__ = ["Array", "ArrayLike", "Bools", "Floats", "Ints", "Label", "Table"]
