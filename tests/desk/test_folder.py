import os
import subprocess
import sys
from itertools import count

import psycopg
import pytest
from databases import postgresql_url
from desk.databases import KINDS
from desk.entries import entry

from rarefind.desk import Schema
from rarefind.desk.database import DatabaseUnavailable
from rarefind.desk.folder import DeskFolder

TEXT = """
name = "cards"
[transaction]
id = "id"
time = "time"
amount = "amount"
[transaction.columns]
country = "text"
[entities.card]
column = "card"
[alerts]
entity = "card"
"""
SCHEMA = Schema.from_text(TEXT)
_numbers = count()


@pytest.fixture(params=KINDS)
def url(request):
    """No address for SQLite, and that of an empty database of the tests' own server."""
    if request.param == "sqlite":
        return None
    name = f"desk{next(_numbers)}"
    with psycopg.connect(postgresql_url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return postgresql_url().replace("/postgres?", f"/{name}?")


def change(path, old, new):
    text = (path / "desk.toml").read_text()
    assert old in text
    (path / "desk.toml").write_text(text.replace(old, new))


def test_a_desk_is_made_and_opened_again(tmp_path, url):
    with DeskFolder.create(tmp_path / "desk", SCHEMA, url) as made:
        assert made.models.is_dir()
        assert made.snapshots.is_dir()
        assert len(made.secret) == 32
        made.open_ledger("process").append([entry(1)])
    with DeskFolder(tmp_path / "desk", url) as again:
        assert again.schema == SCHEMA
        assert again.secret == made.secret
        assert again.read_ledger().read(0, 10) == [entry(1)]
        again.open_ledger("disk").append([entry(2)])
        assert again.read_ledger().last.sequence == 2


def test_the_ledger_of_a_desk_that_never_ran_is_empty(tmp_path, url):
    with DeskFolder.create(tmp_path / "desk", SCHEMA, url) as made:
        assert made.read_ledger().read(0, 10) == []
        made.open_ledger().append([entry(1)])


def test_a_second_decision_process_is_refused(tmp_path, url):
    with DeskFolder.create(tmp_path / "desk", SCHEMA, url) as first:
        first.open_ledger()
        with (
            DeskFolder(tmp_path / "desk", url) as second,
            pytest.raises(ValueError, match="Another decision process works in"),
        ):
            second.open_ledger()
    with DeskFolder(tmp_path / "desk", url) as third:
        third.open_ledger()


def test_the_lock_ends_with_its_process(tmp_path):
    DeskFolder.create(tmp_path / "desk", SCHEMA).close()
    code = (
        "import os, sys; from pathlib import Path; from rarefind.desk.folder import DeskFolder\n"
        "DeskFolder(Path(sys.argv[1])).open_ledger(); os.kill(os.getpid(), 9)"
    )
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path / "desk")], check=False)
    assert run.returncode == -9
    with DeskFolder(tmp_path / "desk") as desk:
        desk.open_ledger()


def test_columns_can_be_added(tmp_path, url):
    DeskFolder.create(tmp_path / "desk", SCHEMA, url).close()
    change(tmp_path / "desk", 'country = "text"', 'country = "text"\nchannel = "text"')
    with DeskFolder(tmp_path / "desk", url) as desk:
        assert "channel" in desk.schema.columns
        desk.open_ledger().append([entry(1)])
    change(tmp_path / "desk", '\nchannel = "text"', "")
    with pytest.raises(ValueError, match="Column 'channel' is gone"):
        DeskFolder(tmp_path / "desk", url)


def test_settings_that_change_nothing_stored_can_change(tmp_path):
    DeskFolder.create(tmp_path / "desk", SCHEMA).close()
    change(tmp_path / "desk", 'entity = "card"', 'entity = "card"\nbudget = 50')
    with DeskFolder(tmp_path / "desk") as desk:
        assert desk.schema.alerts.budget == 50


def test_the_database_of_another_desk_is_told(tmp_path, url):
    DeskFolder.create(tmp_path / "first", SCHEMA, url).close()
    if url is None:
        DeskFolder.create(tmp_path / "second", SCHEMA).close()
        os.replace(tmp_path / "first" / "desk.db", tmp_path / "second" / "desk.db")
        with pytest.raises(ValueError, match="belongs to another desk"):
            DeskFolder(tmp_path / "second")
    else:
        with pytest.raises(ValueError, match="belongs to another desk"):
            DeskFolder.create(tmp_path / "second", SCHEMA, url)


def test_the_ledger_of_another_desk_is_told(tmp_path):
    for name in ("first", "second"):
        with DeskFolder.create(tmp_path / name, SCHEMA) as desk:
            desk.open_ledger().append([entry(1)])
    os.replace(tmp_path / "first" / "ledger.db", tmp_path / "second" / "ledger.db")
    with (
        DeskFolder(tmp_path / "second") as desk,
        pytest.raises(ValueError, match="belongs to another desk"),
    ):
        desk.open_ledger()


def test_a_folder_that_is_not_a_desk_is_told(tmp_path):
    with pytest.raises(ValueError, match=r"is not a desk, since it has no desk\.toml"):
        DeskFolder(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="is not an empty folder"):
        DeskFolder.create(tmp_path, SCHEMA)


def test_a_desk_of_a_newer_version_is_told(tmp_path):
    with DeskFolder.create(tmp_path / "desk", SCHEMA) as desk, desk.open_desk().write() as writer:
        writer.execute("INSERT INTO migrations VALUES ('about', 2)")
    with pytest.raises(ValueError, match="newer version of rarefind"):
        DeskFolder(tmp_path / "desk")


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda path: path.unlink(), "secret is missing"),
        (lambda path: path.write_bytes(b"short"), "does not have 32 bytes"),
        (lambda path: path.chmod(0o644), "can be read by other users"),
    ],
)
def test_a_secret_that_is_missing_or_open_to_others_is_told(tmp_path, spoil, told):
    DeskFolder.create(tmp_path / "desk", SCHEMA).close()
    spoil(tmp_path / "desk" / "secret")
    with pytest.raises(ValueError, match=told):
        DeskFolder(tmp_path / "desk")


def test_a_database_that_is_not_known_or_not_there_is_told(tmp_path):
    DeskFolder.create(tmp_path / "desk", SCHEMA).close()
    with pytest.raises(ValueError, match="not in 'mysql'"):
        DeskFolder(tmp_path / "desk", "mysql://127.0.0.1/rows")
    with pytest.raises(DatabaseUnavailable, match="Look whether the server is running"):
        DeskFolder(tmp_path / "desk", "postgresql://127.0.0.1:1/rows")


def test_a_declaration_may_be_corrected_until_the_first_transaction_is_stored(tmp_path, url):
    DeskFolder.create(tmp_path / "desk", SCHEMA, url).close()
    change(tmp_path / "desk", 'country = "text"', 'country = "number"')
    with DeskFolder(tmp_path / "desk", url) as corrected:
        assert corrected.schema.columns["country"] == "number"
        corrected.open_ledger("process").append([entry(1)])
    change(tmp_path / "desk", 'country = "number"', 'country = "text"')
    with pytest.raises(ValueError, match="'country' was number"):
        DeskFolder(tmp_path / "desk", url)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_only_its_owner_may_look_into_a_desk(tmp_path):
    DeskFolder.create(tmp_path / "desk", SCHEMA).close()
    assert (tmp_path / "desk").stat().st_mode & 0o777 == 0o700


def test_databases_that_are_missing_are_told_and_not_made_anew(tmp_path, url):
    DeskFolder.create(tmp_path / "desk", SCHEMA, url).close()
    if url is None:
        (tmp_path / "desk" / "ledger.db").unlink()
        found = r"has no ledger\.db: if the desk is kept in PostgreSQL"
    else:
        url = url.replace("/desk", "/other")
        with psycopg.connect(postgresql_url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {url.rpartition('?')[0].rpartition('/')[2]}")
        found = "has no desk in it: name the database of the folder"
    with pytest.raises(ValueError, match=found):
        DeskFolder(tmp_path / "desk", url)


def test_a_desk_in_postgresql_is_not_begun_again_in_files_of_its_folder(tmp_path, url):
    if url is None:
        pytest.skip("this desk is in files")
    DeskFolder.create(tmp_path / "desk", SCHEMA, url).close()
    with pytest.raises(ValueError, match=r"has no ledger\.db: .* --database"):
        DeskFolder(tmp_path / "desk")
    assert not (tmp_path / "desk" / "ledger.db").exists()
