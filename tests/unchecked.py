"""Model files as others may make them: nothing is checked when they are written."""

from unittest.mock import patch

import rarefind

_HOME = "rarefind.persistence._file"


def save_unchecked(model, path):
    """Write a model to a file, whatever is in it; see that ``save`` would have refused it."""
    # A stream is copied while it is saved, which takes a sound one.
    with patch(f"{_HOME}.copy", lambda model: model):
        try:
            rarefind.save(model, path)
        except ValueError as error:
            assert "cannot be saved" in str(error)  # noqa: PT017
        with patch(f"{_HOME}.check_object", lambda model: None):
            rarefind.save(model, path)
