import pytest
from desk_in_memory import Desk


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)
