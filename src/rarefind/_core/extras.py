"""Packages that come with an extra: imported when used, and missed in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["MissingExtraError", "extra"]


class MissingExtraError(ImportError):
    """A package is missing that an extra of rarefind installs."""

    def __init__(self, extra: str, what: str, package: str) -> None:
        super().__init__(
            f"{what} needs {package}, which is not installed: pip install 'rarefind[{extra}]'",
            name=package,
        )


@contextmanager
def extra(name: str, what: str) -> Iterator[None]:
    """Import inside what an extra brings; ``what`` names in the sentence who needs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError(name, what, str(error.name).partition(".")[0]) from error
