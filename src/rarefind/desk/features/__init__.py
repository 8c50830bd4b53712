"""What a desk knows of a transaction's card and terminal when it arrives."""

from rarefind.desk.features._file import describe_file
from rarefind.desk.features._state import FeatureState

__all__ = ["FeatureState", "describe_file"]
