"""What is wrong with a ledger is seen: torture that finds nothing has looked."""

import msgspec
import pytest

from rarefind.desk.clock import ManualClock
from rarefind.desk.database import SqliteDatabase
from rarefind.desk.folder import DeskFolder
from rarefind.desk.intake import Intake
from rarefind.desk.torture.made_up import MadeUpTransactions
from rarefind.desk.torture.trial_desk import make_trial_desk
from rarefind.desk.torture.unbroken import check_ledger, in_process_decider
from rarefind.desk.torture.verdicts import Verdicts

NOON = 1_769_860_800 * 10**9  # 2026-01-31T12:00:00Z


@pytest.fixture
def written(tmp_path):
    """A desk that has decided 40 transactions, and what it has answered."""
    desk = make_trial_desk(tmp_path / "desk")
    times = [NOON + n * 10**9 for n in range(40)]
    intake, clock = Intake(desk.schema), ManualClock(NOON)
    bodies = MadeUpTransactions(desk.schema, keys=4).bodies(times)
    answers = {}
    with DeskFolder(desk.path) as folder:
        decider = in_process_decider(folder, folder.open_ledger(), clock)
        for body in bodies:
            (answer,) = decider.decide(intake.decode(body).transactions)
            answers[answer.id] = msgspec.json.encode(answer)
            clock.advance("1s")
            if len(answers) % 10 == 0:
                decider.add_labels([(answer.id, True, "verdict")])
    return desk, answers


def check(desk, answers):
    with DeskFolder(desk.path) as folder:
        return check_ledger(folder, answers)


def change(desk, sql):
    database = SqliteDatabase(desk.path / "ledger.db", journal="wal")
    with database.write() as writer:
        writer.execute(sql)
    database.close()


def test_a_ledger_that_is_right_has_nothing_wrong(written):
    desk, answers = written
    assert check(desk, answers) == (40, 0, 0, "", 0)


def test_answers_that_are_not_there_or_otherwise_are_counted(written):
    desk, answers = written
    answers["0-3"] = answers["0-3"].replace(b'"id":"0-3"', b'"id":"0-3","more":1')
    found = check(desk, answers | {"lost": b"{}"})
    assert (found.missing, found.contradicted, found.different) == (1, 1, 0)


def test_what_was_changed_in_the_file_is_seen(written):
    desk, answers = written
    change(desk, "DELETE FROM members WHERE sequence = 7")
    assert check(desk, answers).broken == "40 transactions of 2 entities have 78 places."
    change(desk, "UPDATE entries SET features = zeroblob(length(features)) WHERE sequence = 5")
    found = check(desk, answers)
    assert "row 5 does not fit its digest" in found.broken
    assert found.different == 1


def test_a_ledger_written_with_other_features_differs_though_it_is_whole(written):
    """As after a restart that has forgotten a transaction."""
    desk, answers = written
    with DeskFolder(desk.path) as folder:
        decider = in_process_decider(folder, folder.open_ledger(), ManualClock(NOON + 10**11))
        # It has not read the ledger: what it knows of each card begins here.
        body = next(MadeUpTransactions(desk.schema, keys=1, seed=9).bodies([NOON + 10**11]))
        body = body.replace(b'"card":"card-0"', b'"card":"card-1"')
        decider.decide(Intake(desk.schema).decode(body).transactions)
    found = check(desk, answers)
    assert (found.broken, found.different) == ("", 1)


def test_verdicts_that_are_missing_or_in_another_order_are_counted(written):
    desk, _ = written
    with DeskFolder(desk.path) as folder, Verdicts(folder) as people:
        ledger = folder.read_ledger()
        assert people.missing(ledger) == 4  # of the ledger, which nobody has given
        people.give(["0-9", "0-19"], fraud=True)
        assert people.missing(ledger) == 2
        people.give(["0-39", "0-29"], fraud=True)
        assert people.missing(ledger) == 2
