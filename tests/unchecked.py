"""Model files as others may make them: nothing is checked when they are written."""

from unittest.mock import patch

import rarefind


def save_unchecked(model, path):
    """Write a model to a file, whatever is in it; see that ``save`` would have refused it."""
    try:
        rarefind.save(model, path)
    except ValueError as error:
        assert "cannot be saved" in str(error)  # noqa: PT017
    with patch("rarefind.persistence._file.check_object", lambda model: None):
        rarefind.save(model, path)
