"""The model file: plain data with a checksum, opened without running any code."""

from rarefind.persistence._codec import Unsaved
from rarefind.persistence._file import FORMAT, load, read_manifest, save

__all__ = ["FORMAT", "Unsaved", "load", "read_manifest", "save"]
