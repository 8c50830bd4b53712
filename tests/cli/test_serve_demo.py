"""A desk to try: it is made, served and removed by one command."""

import os
import re
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

pytest.importorskip("uvicorn")

import httpx

from rarefind.cli import _demo
from rarefind.cli._serve import serve
from rarefind.desk.folder import DeskFolder

SMALL = ["--cards", "300", "--days", "28"]
PASSWORD = "three grey herons"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A small desk as a person starts it, with what it said; Ctrl-C ends it."""
    place = tmp_path_factory.mktemp("temporary")
    environment = os.environ | {"PYTHONUNBUFFERED": "1", "TMPDIR": str(place)}
    with subprocess.Popen(
        [sys.executable, "-m", "rarefind", "serve", "--demo", "--port", "0", *SMALL],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        said = []
        try:
            while not said or "Ctrl-C" not in said[-1]:
                line = process.stdout.readline()
                assert line, process.stderr.read()
                said.append(line)
            yield SimpleNamespace(process=process, said="".join(said), place=place)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=90)


def links(demo):
    found = re.findall(r"^  (\w+) +(\w+) +(http://127\.0\.0\.1:\d+/desk/welcome/\S+)$",
                       demo.said, re.MULTILINE)  # fmt: skip
    return {role: (name, link) for role, name, link in found}


def token_of(page):
    return re.search(r'name="csrf" value="([^"]+)"', page.text)[1]


def test_there_is_a_link_for_each_role_and_no_password(demo):
    assert set(links(demo)) == {"admin", "investigator", "expert", "scientist", "auditor"}
    assert "each works once, and you choose a password by it" in demo.said


def test_whoever_follows_a_link_finds_a_queue_with_reasons_and_ripe_figures(demo):
    name, link = links(demo)["admin"]
    with httpx.Client(follow_redirects=True) as browser:
        welcome = browser.get(link)
        form = {"csrf": token_of(welcome), "name": name}
        form |= {"password": PASSWORD, "password_again": PASSWORD}
        queue = browser.post(link, data=form)
        assert queue.status_code == 200
        base = link.partition("/desk/")[0]
        cases = re.findall(r'href="(/desk/cases/\d+)"', queue.text)
        assert len(set(cases)) >= 2
        case = browser.get(base + cases[0]).text
        assert "The model of that day" in case
        rules = browser.get(f"{base}/desk/rules").text
        assert all(word in rules for word in ("far from home", "Blocking", "Scoring", "Shadow"))
        models = browser.get(f"{base}/desk/models").text
        assert "Champion" in models
        assert "Challenger" in models
        assert "Average precision" in models
        users = browser.get(f"{base}/desk/users").text
        assert all(person in users for person, _ in links(demo).values())
        again = browser.get(link)
        assert again.status_code >= 400, "a link works once"


def test_payments_keep_coming(demo):
    (path,) = demo.place.glob("rarefind-demo-*")
    with DeskFolder(path) as folder:
        ledger = folder.read_ledger()
        before, end = ledger.last.sequence, time.monotonic() + 60
        while ledger.last.sequence == before:
            assert time.monotonic() < end
            time.sleep(0.05)


def test_ctrl_c_ends_everything_with_a_sentence(demo):
    (folder,) = demo.place.glob("rarefind-demo-*")
    assert (folder / "desk.log").is_file()
    demo.process.send_signal(signal.SIGINT)
    said, errors = demo.process.communicate(timeout=90)
    assert demo.process.returncode == 0
    assert said == "The desk is stopped; nothing of it is left.\n"
    assert errors == ""
    assert not list(demo.place.iterdir())
    address = re.search(r"127\.0\.0\.1:\d+", demo.said)[0]
    with pytest.raises(httpx.TransportError):
        httpx.get(f"http://{address}/desk")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"host": "0.0.0.0"}, "for this machine alone"),
        ({"database": "postgresql://127.0.0.1/desk"}, "for this machine alone"),
        ({"only": "web"}, "for this machine alone"),
    ],
)
def test_the_demo_is_for_this_machine_alone(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        serve(demo=True, **given)


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "mine").touch()
    with pytest.raises(ValueError, match="is not an empty folder"):
        serve(tmp_path, demo=True)
    assert [each.name for each in tmp_path.iterdir()] == ["mine"]


def test_without_a_folder_and_without_demo_there_is_nothing_to_serve():
    with pytest.raises(ValueError, match="or give --demo"):
        serve()


class _Screen:
    def __init__(self, is_terminal):
        self._is_terminal = is_terminal

    def isatty(self):
        return self._is_terminal


@pytest.mark.parametrize(
    ("stdin", "stdout", "ci", "watched"),
    [
        (True, True, "", True),
        (True, True, "true", False),
        (False, True, "", False),
        (True, False, "", False),
    ],
)
def test_a_desk_runs_in_the_end_where_somebody_watches(monkeypatch, stdin, stdout, ci, watched):
    monkeypatch.setenv("CI", ci)
    streams = SimpleNamespace(stdin=_Screen(stdin), stdout=_Screen(stdout))
    monkeypatch.setattr(_demo, "sys", streams)
    assert _demo._somebody_watches() is watched


@pytest.mark.parametrize(
    ("options", "watched", "served"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"serve": False}, True, False),
        ({"serve": True}, False, True),
        ({"as_json": True}, True, False),
    ],
)
def test_the_demo_ends_with_a_desk_unless_told_otherwise(
    monkeypatch, tmp_path, options, watched, served
):
    calls = []
    monkeypatch.setattr(_demo, "run", lambda *_: None)
    monkeypatch.setattr(_demo, "_print", lambda *_: None)
    monkeypatch.setattr(_demo, "_for_machines", lambda *_: {})
    monkeypatch.setattr("rarefind.cli._demo_report.write_page", lambda *_: None)
    monkeypatch.setattr(_demo, "_somebody_watches", lambda: watched)
    monkeypatch.setattr(_demo, "_serve", lambda **_: calls.append("served"))
    _demo.demo(report=tmp_path / "page.html", quiet=True, **options)
    assert calls == ["served"] * served
