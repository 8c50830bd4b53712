"""A desk is copied while it works, and the copy is a desk."""

import os
import threading

import pytest
from desk.entries import entry
from desk.test_folder import SCHEMA

from rarefind.desk.alerts import Cases
from rarefind.desk.backup import back_up
from rarefind.desk.clock import DeskClock
from rarefind.desk.database import DatabaseUnavailable
from rarefind.desk.folder import DeskFolder
from rarefind.desk.labels import LabelHistory


@pytest.fixture
def desk(tmp_path):
    with DeskFolder.create(tmp_path / "desk", SCHEMA) as made:
        yield made


def cases_of(folder):
    database, clock = folder.open_desk(), DeskClock()
    return Cases(database, folder.schema, LabelHistory(database, folder.schema, clock), clock)


def test_a_copy_of_a_desk_that_works_is_of_one_time(desk, tmp_path):
    ledger, cases = desk.open_ledger("process"), cases_of(desk)
    stop, some_are_there = threading.Event(), threading.Event()

    def work():
        number = 0
        while not stop.is_set():
            number += 1
            ledger.append([entry(number, alert="risk")])
            cases.add(ledger.read(number - 1, 10), number)
            if number == 50:
                some_are_there.set()
            stop.wait(0.002)  # SQLite has no queue: who never pauses lets nobody else write

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert some_are_there.wait(60)
        for number in range(3):
            with DeskFolder(desk.path) as beside:
                back_up(beside, tmp_path / f"copy {number}")
    finally:
        stop.set()
        thread.join()
    for number in range(3):
        with DeskFolder(tmp_path / f"copy {number}") as copy:
            found = copy.open_ledger()
            assert found.verify().is_whole
            read_up_to = cases_of(copy).read_up_to
            assert 50 <= read_up_to <= found.last.sequence
            found.append([entry(found.last.sequence + 1)])


def test_a_copy_has_what_belongs_to_a_desk_and_no_one_else_may_read_it(desk, tmp_path):
    desk.open_ledger().append([entry(1)])
    (desk.models / "abc.rarefind").write_bytes(b"model")
    back_up(desk, tmp_path / "copies" / "monday")
    copy = tmp_path / "copies" / "monday"
    assert {each.name for each in copy.iterdir()} == {
        *("desk.toml", "secret", "models", "snapshots", "desk.db", "ledger.db")
    }
    assert (copy / "models" / "abc.rarefind").read_bytes() == b"model"
    assert (copy / "secret").read_bytes() == desk.secret
    if os.name == "posix":
        assert not any((copy / name).stat().st_mode & 0o077 for name in ("secret", "ledger.db"))


def test_a_copy_replaces_nothing_and_leaves_nothing_half(desk, tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(ValueError, match="is there already"):
        back_up(desk, tmp_path / "taken")
    (desk.path / "ledger.db").write_bytes(b"no database" * 1_000)
    with pytest.raises(DatabaseUnavailable, match="cannot be copied"):
        back_up(desk, tmp_path / "new")
    assert {each.name for each in tmp_path.iterdir()} == {"desk", "taken"}
