import os
import signal
import stat
import subprocess
import sys
import threading

import pytest

import rarefind
from rarefind._core.files import atomic_write
from rarefind.neighbors import GammaKNNClassifier

on_unix = pytest.mark.skipif(sys.platform == "win32", reason="of Unix")


def write(path, text="whole"):
    with atomic_write(path) as part:
        part.write_text(text)


def stop_half_way(path):
    with atomic_write(path) as part:
        part.write_text("half")
        raise RuntimeError


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_whole_or_not_there(tmp_path):
    path = tmp_path / "list.csv"
    with atomic_write(path) as part:
        part.write_text("whole")
        assert not path.exists()
    assert path.read_text() == "whole"
    with pytest.raises(RuntimeError):
        stop_half_way(path)
    assert path.read_text() == "whole"
    assert names_in(tmp_path) == ["list.csv"]


def test_the_temporary_name_ends_as_the_file_and_is_never_the_same(tmp_path):
    with (
        atomic_write(tmp_path / "list.csv.gz") as one,
        atomic_write(one.parent / "list.csv.gz") as b,
    ):
        assert one != b
        assert one.name.endswith(".csv.gz")


def test_names_may_be_as_long_as_the_system_allows(tmp_path):
    path = tmp_path / f"{'é' * 120}.{'x' * 10}"
    write(path)
    assert path.read_text() == "whole"


def test_threads_that_save_to_one_path_all_succeed(tmp_path):
    path = tmp_path / "model.rarefind"
    models = [
        GammaKNNClassifier(k=1).fit([[0.0], [1.0], [5.0 + i], [9.0]], [0, 0, 1, 1]) for i in (0, 1)
    ]
    expected = {float(model.priority([[4.0]])[0]) for model in models}
    rarefind.save(models[0], path)
    failed = []

    def save_and_load(model):
        try:
            for _ in range(200):
                rarefind.save(model, path)
                assert float(rarefind.load(path).priority([[4.0]])[0]) in expected
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=save_and_load, args=(model,)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert len(expected) == 2
    assert names_in(tmp_path) == ["model.rarefind"]


@on_unix
def test_a_private_file_stays_private(tmp_path):
    path = tmp_path / "model"
    path.write_text("old")
    path.chmod(0o600)
    with atomic_write(path) as part:
        part.write_text("new")
        assert mode_of(part) == 0o600
    assert mode_of(path) == 0o600
    path.chmod(0o664)
    with atomic_write(path) as part:
        part.write_text("newer")
        assert mode_of(part) == 0o600
    assert mode_of(path) == 0o664


@on_unix
def test_a_new_file_is_for_those_whom_the_umask_lets_read(tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "model")
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "model") == 0o640


@on_unix
def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "today").write_text("old")
    link = tmp_path / "latest"
    link.symlink_to("models/today")
    write(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "models" / "today").read_text() == "new"
    dangling = tmp_path / "next"
    dangling.symlink_to("models/tomorrow")
    write(dangling, "first")
    assert (tmp_path / "models" / "tomorrow").read_text() == "first"
    assert names_in(tmp_path / "models") == ["today", "tomorrow"]


@on_unix
def test_nothing_is_written_through_a_link_that_somebody_laid(tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    drawn = iter(["00", "01"])
    monkeypatch.setattr("rarefind._core.files.secrets.token_hex", lambda _: next(drawn))
    with atomic_write(tmp_path / "model") as part:
        name = part.name
        part.write_text("whole")
    (tmp_path / name).symlink_to(victim)
    drawn = iter(["00", "01"])
    write(tmp_path / "model")
    assert victim.read_text() == "precious"


@on_unix
def test_a_folder_a_device_and_a_pipe_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "pipe", tmp_path / "folder"):
        before = path.stat()
        with pytest.raises(ValueError, match=rf"{path.name} is a .*: name a file"):
            write(path)
        assert path.stat().st_ino == before.st_ino
    (tmp_path / "link").symlink_to("/dev/null")
    with pytest.raises(ValueError, match="link is a device or a pipe"):
        write(tmp_path / "link")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert names_in(tmp_path) == ["folder", "link", "pipe"]


@on_unix
def test_what_a_killed_writer_left_is_removed_and_what_others_write_is_not(tmp_path):
    code = (
        "import os, pathlib, signal\n"
        "from rarefind._core.files import atomic_write\n"
        "with atomic_write(pathlib.Path('model')) as part:\n"
        "    part.write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", code], cwd=tmp_path)
    assert killed.returncode == -signal.SIGKILL
    assert len(names_in(tmp_path)) == 1
    with atomic_write(tmp_path / "model") as part:
        assert names_in(tmp_path) == [part.name]
        part.write_text("first")
        write(tmp_path / "model", "second")
        assert part.read_text() == "first"
    assert (tmp_path / "model").read_text() == "first"
    assert names_in(tmp_path) == ["model"]


def test_errors_name_the_file_that_was_asked_for(tmp_path):
    path = tmp_path / "missing" / "model"
    with pytest.raises(FileNotFoundError) as raised:
        write(path)
    assert raised.value.filename == str(path)


def test_errors_of_other_files_keep_their_names(tmp_path):
    with pytest.raises(FileNotFoundError) as raised, atomic_write(tmp_path / "model"):
        (tmp_path / "other").read_text()
    assert raised.value.filename == str(tmp_path / "other")
    assert names_in(tmp_path) == []
