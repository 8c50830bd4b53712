"""Imports go one way, and rooms keep their private modules to themselves."""

import ast
from pathlib import Path

from importlinter.cli import lint_imports

SRC = Path(__file__).parents[1] / "src"


def test_imports_go_one_way(monkeypatch):
    # It configures logging anew, which would disable rarefind's loggers for the tests that follow.
    monkeypatch.setattr("logging.config.dictConfig", lambda config: None)
    assert lint_imports(config_filename=str(Path(__file__).parents[1] / "pyproject.toml")) == 0


def imports(path):
    """All that a module imports, by its whole name; also what is imported inside functions."""
    package = path.relative_to(SRC).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name.split(".") for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else ()
            below = node.module.split(".") if node.module else []
            yield from ([*above, *below, name.name] for name in node.names)


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def across_rooms(path):
    """What a module imports that is private to another room, or to a module of another room.

    Rooms are ``rarefind.trees`` and so on; ``rarefind._core`` is everyone's, not so what is private
    in its modules.
    """
    own = path.relative_to(SRC).with_suffix("").parts[1]
    for first, room, *inside in (parts for parts in imports(path) if len(parts) > 1):
        private = any(map(is_private, inside)) or (is_private(room) and room != "_core")
        if first == "rarefind" and room != own and private:
            yield ".".join((first, room, *inside))


def test_what_is_private_to_a_room_is_imported_by_no_other():
    found = {
        (path.relative_to(SRC / "rarefind").as_posix(), name)
        for path in (SRC / "rarefind").rglob("*.py")
        for name in across_rooms(path)
    }
    assert not found
