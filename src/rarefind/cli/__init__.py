"""The ``rarefind`` command, one file a command."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rarefind._core.extras import MissingExtraError, extra
from rarefind._core.lazy import lazily

if TYPE_CHECKING:
    from rarefind.cli._app import app

__all__ = ["app", "main"]

__getattr__ = lazily(__name__, {"app": "rarefind.cli._app"})


def main() -> None:
    """Run the command line; bad input ends with one line and exit code 2."""
    try:
        with extra("cli", "The command line"):
            from rarefind.cli._app import app
            from rarefind.cli._run import run
    except MissingExtraError as error:
        print(f"rarefind: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    run(app)
