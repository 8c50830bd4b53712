import pytest
from desk.databases import KINDS, opener

from rarefind.desk.ledger import Ledger


class Ledgers:
    """Opens one ledger again and again, in one kind of database."""

    def __init__(self, kind, folder):
        self.kind = kind
        self._open = opener(kind, folder)
        self._opened = []

    def database(self, **settings):
        if self.kind == "sqlite":
            settings["journal"] = "wal"
        self._opened.append(self._open(**settings))
        return self._opened[-1]

    def writer(self, **settings):
        if self.kind == "postgresql":
            settings["sole"] = True
        return Ledger(self.database(**settings), writes=True)

    def reader(self):
        return Ledger(self.database(read_only=True), writes=False)

    def close(self):
        for database in self._opened:
            database.close()


@pytest.fixture(params=KINDS)
def ledgers(request, tmp_path):
    opened = Ledgers(request.param, tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def sqlite_ledgers(tmp_path):
    opened = Ledgers("sqlite", tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def postgresql_ledgers(tmp_path):
    opened = Ledgers("postgresql", tmp_path)
    yield opened
    opened.close()
