"""Imports go one way."""

from pathlib import Path

from importlinter.cli import lint_imports


def test_imports_go_one_way():
    assert lint_imports(config_filename=str(Path(__file__).parents[1] / "pyproject.toml")) == 0
