import pytest

from rarefind._core.files import atomic_write


def stop_half_way(path):
    with atomic_write(path) as part:
        part.write_text("half")
        raise RuntimeError


def test_a_file_is_whole_or_not_there(tmp_path):
    path = tmp_path / "list.csv"
    with atomic_write(path) as part:
        part.write_text("whole")
        assert not path.exists()
    assert path.read_text() == "whole"
    with pytest.raises(RuntimeError):
        stop_half_way(path)
    assert path.read_text() == "whole"
    assert [p.name for p in tmp_path.iterdir()] == ["list.csv"]
