import pytest
from desk_pages import PagesDesk


@pytest.fixture
def web(tmp_path):
    desk = PagesDesk(tmp_path)
    yield desk
    desk.close()
