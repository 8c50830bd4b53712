"""A desk that is killed under load has all that it has answered, as one that was never killed."""

import os
import sys

import pytest

pytest.importorskip("uvicorn")

from rarefind.desk.torture.kills import findings_of_kills, kill_often
from rarefind.desk.torture.trial_desk import make_trial_desk

#: More by a command: RAREFIND_KILLS=200 pytest tests/desk/torture/test_kill_a_desk.py
KILLS = int(os.environ.get("RAREFIND_KILLS", "2"))


@pytest.mark.skipif(sys.platform == "win32", reason="a process is not killed the same way there")
def test_what_was_answered_is_there_once_and_as_it_was_answered(tmp_path):
    desk = make_trial_desk(tmp_path / "desk")
    result = kill_often(desk, "process", kills=KILLS)
    assert result.kills == KILLS
    assert result.answered > 0
    assert result.verdicts > 0
    assert [str(each) for each in findings_of_kills(result) if not each.holds] == []
