"""Getting tables in."""

from rarefind.data._keel import list_keel, load_keel

__all__ = ["list_keel", "load_keel"]
