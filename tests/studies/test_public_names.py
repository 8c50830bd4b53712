"""Studies use what any user of rarefind can: its public names."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parents[2] / "studies").glob("*.py"))
# The study nlb scores rows after each round of one fit, which NLBClassifier does not offer.
PRIVATE = {"_asdict", "_replace", "_start_fit", "_is_set", "_grow", "_rows"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_study_uses_public_names_only(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "rarefind":
            assert node.module.count(".") <= 1, node.module
            assert {alias.name for alias in node.names} <= set(import_module(node.module).__all__)
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            assert own or node.attr.startswith("__") or node.attr in PRIVATE, node.attr
