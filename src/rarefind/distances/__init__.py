"""Learned Mahalanobis distances, as transformers into the space where they are Euclidean."""

from rarefind.distances._gmml import GMML
from rarefind.distances._imbml import ImbML
from rarefind.distances._itml import ITML
from rarefind.distances._lmnn import LMNN
from rarefind.distances._rca import RCA
from rarefind.distances.mlfp import MLFP

__all__ = ["GMML", "ITML", "LMNN", "MLFP", "RCA", "ImbML"]
