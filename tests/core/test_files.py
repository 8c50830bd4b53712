import pytest

from rarefind._core.files import written_whole


def stop_half_way(path):
    with written_whole(path) as part:
        part.write_text("half")
        raise RuntimeError


def test_a_file_is_whole_or_not_there(tmp_path):
    path = tmp_path / "list.csv"
    with written_whole(path) as part:
        part.write_text("whole")
        assert not path.exists()
    assert path.read_text() == "whole"
    with pytest.raises(RuntimeError):
        stop_half_way(path)
    assert path.read_text() == "whole"
    assert [p.name for p in tmp_path.iterdir()] == ["list.csv"]
