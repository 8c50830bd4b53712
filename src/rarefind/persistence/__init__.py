"""The model file: plain data with a checksum, opened without running any code."""

from rarefind._core.saved import Unsaved
from rarefind.persistence._file import FORMAT, load, read_manifest, save

__all__ = ["FORMAT", "Unsaved", "load", "read_manifest", "save"]
