import pytest
from desk_in_memory import Desk
from desk_web import WebDesk


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)


@pytest.fixture
def web(tmp_path):
    desk = WebDesk(tmp_path)
    yield desk
    desk.close()
