"""What is known of a card is exported and erased from the command line, and a snapshot made."""

import json

import pytest

pytest.importorskip("uvicorn")

from desk_running import payment, running

from rarefind.desk.control import Control
from rarefind.desk.folder import DeskFolder


@pytest.fixture
def desk(tmp_path, monkeypatch):
    with running(tmp_path / "desk", monkeypatch) as desk:
        desk.start()
        desk.post([payment(n, card="c9") for n in range(3)])
        desk.post([payment(n) for n in range(3, 5)])
        yield desk


def audit(path):
    with DeskFolder(path) as folder:
        return [
            (row.person, row.action, row.subject, row.detail)
            for row in Control.of(folder).audit.read()
        ]


def test_a_card_is_exported_and_the_audit_log_knows_it(desk, rarefind, tmp_path):
    shown = rarefind("desk", "export", desk.path, "card", "c9", "--by", "anna")
    assert shown.returncode == 0, shown.stderr
    assert [row["id"] for row in json.loads(shown.stdout)] == ["p0", "p1", "p2"]
    written = rarefind("desk", "export", desk.path, "card", "c9", "-o", tmp_path / "c9.json")
    assert "has 3 transactions" in written.stdout
    assert json.loads((tmp_path / "c9.json").read_text()) == json.loads(shown.stdout)
    first = audit(desk.path)[0]
    assert first == ("anna", "export", "card", {"rows": 3, "first": 1, "last": 3})
    assert rarefind("desk", "export", desk.path, "person", "c9").returncode == 2


def test_a_desk_that_runs_erases_by_itself(desk, rarefind):
    ended = rarefind("desk", "erase", desk.path, "card", "c9", "--by", "anna")
    assert ended.stdout == "3 transactions were erased (order 1).\n", ended.stderr
    assert [row.entities for row in desk.rows()[:3]] == [()] * 3


def test_a_desk_that_is_stopped_is_erased_from_at_once(desk, rarefind):
    made = rarefind("desk", "snapshot", desk.path)
    assert "is written" in made.stdout, made.stderr
    assert "already" in rarefind("desk", "snapshot", desk.path).stdout
    desk.stop()
    assert list(desk.people.snapshots.iterdir())
    ended = rarefind("desk", "erase", desk.path, "card", "c9", "--by", "anna")
    assert ended.stdout == "3 transactions were erased (order 1).\n", ended.stderr
    assert not list(desk.people.snapshots.iterdir())
    assert [each[:3] for each in audit(desk.path)] == [
        ("anna", "order erasure", "order 1"),
        ("anna", "erase", "order 1"),
    ]
    assert rarefind("desk", "verify", desk.path).returncode == 0
    desk.start()
    assert desk.post(payment(9, card="c9")).json()["decision"] == "accept"


def test_a_second_person_approves_by_typing_it_too(desk, rarefind):
    desk.stop()
    declared = desk.path / "desk.toml"
    text = declared.read_text()
    declared.write_text(text.replace("[alerts]", "[alerts]\nsecond_person = true"))
    for _ in range(2):
        asked = rarefind("desk", "erase", desk.path, "card", "c9", "--by", "anna")
        assert asked.stdout == "Order 1 waits for another than anna.\n", asked.stderr
    done = rarefind("desk", "erase", desk.path, "card", "c9", "--by", "bert")
    assert done.stdout == "3 transactions were erased (order 1).\n", done.stderr
