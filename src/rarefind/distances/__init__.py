"""Learned Mahalanobis distances, as transformers into the space where they are Euclidean."""

from typing import TYPE_CHECKING

from rarefind._core.lazy import lazily

if TYPE_CHECKING:
    from rarefind.distances._gmml import GMML
    from rarefind.distances._imbml import ImbML
    from rarefind.distances._itml import ITML
    from rarefind.distances._lmnn import LMNN
    from rarefind.distances._rca import RCA
    from rarefind.distances.mlfp import MLFP

__all__ = ["GMML", "ITML", "LMNN", "MLFP", "RCA", "ImbML"]

__getattr__ = lazily(
    __name__,
    {
        "GMML": "rarefind.distances._gmml",
        "ITML": "rarefind.distances._itml",
        "ImbML": "rarefind.distances._imbml",
        "LMNN": "rarefind.distances._lmnn",
        "MLFP": "rarefind.distances.mlfp",
        "RCA": "rarefind.distances._rca",
    },
)
