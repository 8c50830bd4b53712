"""A desk is started and stopped as a whole; a start that cannot be is told in a sentence."""

import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from urllib.request import urlopen

import pytest

pytest.importorskip("uvicorn")

from rarefind.cli._serve import serve
from rarefind.desk import Schema
from rarefind.desk.folder import DeskFolder
from rarefind.desk.processes import _desk

SCHEMA = Schema.from_text(
    """
name = "cards"
[transaction]
id = "id"
time = "time"
amount = "amount"
[entities.card]
column = "card"
[alerts]
entity = "card"
"""
)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "desk"
    DeskFolder.create(path, SCHEMA).close()
    return path


def test_a_desk_is_started_with_all_its_processes_and_stopped(folder):
    with subprocess.Popen(
        [sys.executable, "-m", "rarefind", "serve", str(folder), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        said = []
        try:
            while not said or "ready" not in said[-1]:
                line = process.stdout.readline()
                assert line, process.stderr.read()
                said.append(line.rstrip())
            text = "\n".join(said)
            addresses = dict.fromkeys(re.findall(r"http://127\.0\.0\.1:\d+", text))
            assert len(addresses) == 2
            (link,) = re.findall(r"The first admin does: (http://\S+/desk/welcome/\S+)", text)
            with urlopen(link) as answer:
                assert "You are the first" in answer.read().decode()
            for address in addresses:
                with urlopen(f"{address}/readyz") as answer:
                    assert json.load(answer)["ready"] is True
            assert "survives a loss of power" in text
            assert "There is no model" in text
            assert "Logs go to standard error" in text
        finally:
            process.send_signal(signal.SIGTERM)
        errors = process.communicate(timeout=90)[1]
        assert process.returncode == 0, errors
    events = [json.loads(line) for line in errors.splitlines() if line.startswith("{")]
    found = [(each["process"], each["event"]) for each in events]
    assert ("serve", "ready") in found
    assert found.index(("worker", "stopped")) < found.index(("serve", "stopped"))
    assert not [each for each in events if each["level"] == "error"]


@pytest.fixture
def impatient(monkeypatch):
    """Who starts a desk does not wait for the end of another."""
    monkeypatch.setattr(_desk, "_WAIT", 0.0)


@pytest.mark.usefixtures("impatient")
def test_a_port_that_is_taken(folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=rf"cannot have 127\.0\.0\.1:{port}.*another --port"):
            serve(folder, port=port)


@pytest.mark.usefixtures("impatient")
def test_a_second_start_in_the_same_folder(folder):
    with DeskFolder(folder) as first:
        first.open_ledger()
        with pytest.raises(ValueError, match="Another decision process works in"):
            serve(folder, port=0, only="decision")


def test_a_database_of_another_desk(rarefind, folder, tmp_path):
    other = tmp_path / "other"
    DeskFolder.create(other, SCHEMA).close()
    shutil.copy(other / "desk.db", folder / "desk.db")
    ended = rarefind("serve", folder, "--port", 0)
    assert ended.returncode == 2
    assert "belongs to another desk" in ended.stderr


@pytest.mark.parametrize("room", ["about", "alerts"])
def test_a_database_of_a_newer_version(rarefind, folder, room):
    with sqlite3.connect(folder / "desk.db") as database:
        database.execute("INSERT INTO migrations VALUES (?, 99)", (room,))
    database.close()
    ended = rarefind("serve", folder, "--only", "worker")
    assert ended.returncode == 2
    assert "was written by a newer version of rarefind" in ended.stderr


def test_a_folder_of_a_newer_version(rarefind, folder):
    path = folder / "desk.toml"
    path.write_text(f"format = 2\n{path.read_text()}")
    ended = rarefind("serve", folder, "--port", 0)
    assert ended.returncode == 2
    assert "desk.toml has format 2" in ended.stderr


def test_a_database_that_cannot_be_reached(rarefind, folder):
    pytest.importorskip("psycopg", reason="there is no psycopg for this machine")
    url = "postgresql://ann:secret@127.0.0.1:1/desk"
    ended = rarefind("serve", folder, "--port", 0, "--database", url)
    assert ended.returncode == 2
    assert "Look whether the server is running" in ended.stderr
    assert "secret" not in ended.stderr


def test_a_folder_that_cannot_be_written(monkeypatch, folder):
    # Who runs the tests may be one who can write everywhere.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ValueError, match="make the folder writable for this user"):
        serve(folder, port=0)


def test_a_sqlite_that_is_too_old(monkeypatch, folder):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 0))
    with pytest.raises(ValueError, match=r"The desk needs SQLite 3\.35\.0 or newer"):
        serve(folder, port=0)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [(("--only", "page"), "--only is decision, web, worker"), (("--port", "70000"), "65535")],
)
def test_options_that_do_not_exist(rarefind, folder, arguments, sentence):
    ended = rarefind("serve", folder, *arguments)
    assert ended.returncode == 2
    assert sentence in ended.stderr
