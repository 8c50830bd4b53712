"""Studies use what any user of rarefind can: its public names."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parents[2] / "studies").glob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_study_imports_public_names_only(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "rarefind":
            public = import_module(node.module).__all__
            assert {alias.name for alias in node.names} <= set(public), node.module
            assert node.module.count(".") <= 1, node.module
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            allowed = {"_asdict", "_replace", "_fields"}
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            assert own or node.attr.startswith("__") or node.attr in allowed, node.attr
