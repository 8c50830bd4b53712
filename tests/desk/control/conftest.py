import pytest
from desk.control.desks import TryDesk
from desk.databases import KINDS, opener


@pytest.fixture(params=KINDS)
def desk(request, tmp_path):
    made = TryDesk(opener(request.param, tmp_path), tmp_path / "models")
    yield made
    made.database.close()


@pytest.fixture
def sqlite_desk(tmp_path):
    made = TryDesk(opener("sqlite", tmp_path), tmp_path / "models")
    yield made
    made.database.close()
