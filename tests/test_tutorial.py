"""The tutorial's commands work when typed, and the page of commands names every option."""

import shlex
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
sys.path.insert(0, str(DOCS))

import commands  # noqa: E402
import estimators  # noqa: E402
import record  # noqa: E402


@pytest.fixture
def typed(preloaded, tmp_path):
    """Type a line: a command of ours without the seconds that its imports take each time."""

    def answer(line):
        program, *arguments = shlex.split(line)
        if preloaded is None or program != "rarefind":
            return record.answer(line, tmp_path)
        result = preloaded.run(arguments, tmp_path)
        assert result.returncode == 0, f"{line}\n{result.stderr}"
        return result.stdout

    return answer


def test_the_commands_of_the_tutorial_work(typed, tmp_path):
    page = record.PAGE.read_text(encoding="utf-8")
    blocks = record.commands(page)
    # A smaller file, and all else as it stands.
    assert "--customers 600" in blocks[0][0]
    blocks[0][0] = blocks[0][0].replace("--customers 600", "--customers 80")
    for block in blocks:
        for command in block:
            typed(command)
    made = {"payments.csv", "week.csv", "payments.rarefind", "compared.svg", "list.csv", "why.svg"}
    assert made <= {path.name for path in tmp_path.iterdir()}
    assert {"report.html", "learned.rules"} <= {path.name for path in tmp_path.iterdir()}
    used = {line.split()[1] for block in blocks for line in block if line.startswith("rarefind")}
    assert used >= {"simulate", "fit", "compare", "rank", "explain", "report", "rules", "monitor"}


def test_the_answers_of_the_tutorial_are_written_down():
    page = record.PAGE.read_text(encoding="utf-8")
    assert "What 3" in page.split("## 3.")[0], "fit says what the budget buys"
    assert "average precision" in page.split("## 3.")[1].split("## 4.")[0]


def test_the_page_of_commands_is_that_of_the_commands():
    written = commands.PAGE.read_text(encoding="utf-8")
    assert written == commands.page(), "write it anew: python docs/commands.py"


def test_the_page_of_estimators_is_that_of_the_registry():
    written = estimators.PAGE.read_text(encoding="utf-8")
    assert written == estimators.page(), "write it anew: python docs/estimators.py"


@pytest.mark.parametrize("command", ["false", "rarefind rank gone.rarefind gone.csv -k 1"])
def test_a_command_of_the_tutorial_that_fails_is_noticed(command, tmp_path):
    with pytest.raises(SystemExit):
        record.answer(command, tmp_path)
