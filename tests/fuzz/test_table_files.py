"""The short form of ``make fuzz ARGS="--what readers"``, and of ``--what rules``."""

import pytest

from fuzz.rule_files import rule_kinds
from fuzz.table_files import table_kinds
from fuzz.test_model_files import fuzz, pytestmark  # noqa: F401 (where there is no fork)

pytest.importorskip("xlsxwriter")
pytest.importorskip("python_calamine")


@pytest.mark.parametrize(("what", "count"), [("readers", "42"), ("rules", "20")])
def test_mutated_files_are_read_or_refused(what, count):
    found = fuzz("--what", what, "--count", count)
    assert found.returncode == 0, found.stdout + found.stderr
    assert f"| all | {count} |" in found.stdout


@pytest.mark.parametrize("kinds", [table_kinds, rule_kinds])
def test_a_mutant_is_the_same_when_it_is_made_again(tmp_path, kinds):
    made = []
    for copy in ("a", "b"):
        folder = tmp_path / copy
        folder.mkdir()
        for kind in kinds(folder):
            for number in range(4):
                what = kind.write_mutant(7, number, tmp_path / "mutant")
                made.append((kind.name, what, (tmp_path / "mutant").read_bytes()))
    half = len(made) // 2
    assert made[:half] == made[half:]
    assert len({what for _, what, _ in made}) > half / 2
